"""Insert points into a front: sorted by the second objective, which rises while the first falls.

``g.front[level, i]`` is point ``i`` of the front of a level: both objectives, a code that says which tree
it is (see ``_pair_kernels``), and the entries of the children that the code refers to.
"""

from __future__ import annotations

from cstree._lanes import natural
from cstree._numba import inlined_kernel

# Columns of a point.
F1, F2, CODE, KIDS = range(4)


@inlined_kernel
def start_front(g, level, x1, code):  # type: ignore[no-untyped-def]
    """Begin with the front of a leaf, whose only point is free."""
    g.n_points[level] = 1
    g.front[level, 0, F1] = x1
    g.front[level, 0, F2] = 0
    g.front[level, 0, CODE] = code
    g.front[level, 0, KIDS] = 0


@inlined_kernel
def last_not_dearer(g, level, x2, start):  # type: ignore[no-untyped-def]
    """Index of the last point with a second objective of at most ``x2``, from ``start`` on."""
    at = natural(start)
    n = g.n_points[level]
    while at + 1 < n and g.front[level, at + 1, F2] <= x2:
        at = natural(at + 1)
    return at


@inlined_kernel
def is_beaten(g, level, at, x1, x2):  # type: ignore[no-untyped-def]
    """Whether point ``at``, the last not dearer, dominates (x1, x2); an equal one does not."""
    found = g.front[level, natural(at), F1]
    return found < x1 or (found == x1 and g.front[level, natural(at), F2] < x2)


@inlined_kernel
def insert(g, level, at, x1, x2, code, kids):  # type: ignore[no-untyped-def]
    """Insert a point behind ``at``, the last not dearer, unless dominated; return its place, or ``at``.

    Of equal points the one with the lesser code stays: codes begin with the number of nodes.
    """
    place = natural(at)
    found, price = g.front[level, place, F1], g.front[level, place, F2]
    if found < x1 or (found == x1 and (price < x2 or code >= g.front[level, place, CODE])):
        return place
    n = natural(g.n_points[level])
    if price < x2:
        place = natural(place + 1)
    last = place
    while last < n and g.front[level, last, F1] >= x1:
        last = natural(last + 1)
    if last == place:
        if n == g.front.shape[1]:
            g.full[0] = 1
            return natural(at)
        for i in range(n, place, -1):
            for column in range(4):
                g.front[level, natural(i), column] = g.front[level, natural(i - 1), column]
    elif last > place + 1:
        for i in range(last, n):
            for column in range(4):
                g.front[level, natural(i + place + 1 - last), column] = g.front[level, natural(i), column]
    g.n_points[level] = n + place + 1 - last
    g.front[level, place, F1] = x1
    g.front[level, place, F2] = x2
    g.front[level, place, CODE] = code
    g.front[level, place, KIDS] = kids
    return place
