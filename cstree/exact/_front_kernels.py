"""Insert points into a front: sorted by the second objective, which rises while the first falls.

``f.front[level, i]`` is point ``i`` of the front of a level: both objectives, a code that says which tree
it is (see ``_pair_kernels``), and the entries of the children that the code refers to.
"""

from __future__ import annotations

from cstree._lanes import natural
from cstree._numba import inlined_kernel
from cstree.exact._layout_kernels import POINTS

# Columns of a point.
F1, F2, CODE, KIDS = range(4)
# Place among the counters of the sign that a front needs more room.
FULL = 4


@inlined_kernel
def start_front(f, level, x1, code):  # type: ignore[no-untyped-def]
    """Begin with the front of a leaf, whose only point is free."""
    f.size[level, POINTS] = 1
    f.front[level, 0, F1] = x1
    f.front[level, 0, F2] = 0
    f.front[level, 0, CODE] = code
    f.front[level, 0, KIDS] = 0


@inlined_kernel
def last_not_dearer(f, level, x2, start):  # type: ignore[no-untyped-def]
    """Index of the last point with a second objective of at most ``x2``, from ``start`` on."""
    at = natural(start)
    n = f.size[level, POINTS]
    while at + 1 < n and f.front[level, at + 1, F2] <= x2:
        at = natural(at + 1)
    return at


@inlined_kernel
def is_beaten(f, level, at, x1, x2):  # type: ignore[no-untyped-def]
    """Whether point ``at``, the last not dearer, dominates (x1, x2); an equal one does not."""
    found = f.front[level, natural(at), F1]
    return found < x1 or (found == x1 and f.front[level, natural(at), F2] < x2)


@inlined_kernel
def insert(f, s, level, at, x1, x2, code, kids):  # type: ignore[no-untyped-def]
    """Insert a point behind ``at``, the last not dearer, unless dominated; return its place, or ``at``.

    Of equal points the one with the lesser code stays: codes begin with the number of nodes.
    """
    place = natural(at)
    found, price = f.front[level, place, F1], f.front[level, place, F2]
    if found < x1 or (found == x1 and (price < x2 or code >= f.front[level, place, CODE])):
        return place
    n = natural(f.size[level, POINTS])
    if price < x2:
        place = natural(place + 1)
    last = place
    while last < n and f.front[level, last, F1] >= x1:
        last = natural(last + 1)
    if last == place:
        if n == f.front.shape[1]:
            s.counters[FULL] = 1
            return natural(at)
        for i in range(n, place, -1):
            for column in range(4):
                f.front[level, natural(i), column] = f.front[level, natural(i - 1), column]
    elif last > place + 1:
        for i in range(last, n):
            for column in range(4):
                f.front[level, natural(i + place + 1 - last), column] = f.front[level, natural(i), column]
    f.size[level, POINTS] = n + place + 1 - last
    f.front[level, place, F1] = x1
    f.front[level, place, F2] = x2
    f.front[level, place, CODE] = code
    f.front[level, place, KIDS] = kids
    return place
