"""Insert points into a front: sorted by the second objective, which rises while the first falls."""

from __future__ import annotations

from cstree._lanes import natural
from cstree._numba import inlined_kernel
from cstree.exact._layout_kernels import POINTS

# Place of ``FULL`` among the counters: a front needs more room.
FULL = 4


@inlined_kernel
def start_front(f, level, x1, code):  # type: ignore[no-untyped-def]
    """The front of a leaf: its point is free."""
    f.size[level, POINTS] = 1
    f.f1[level, 0] = x1
    f.f2[level, 0] = 0
    f.code[level, 0] = code
    f.kids[level, 0] = 0


@inlined_kernel
def last_not_dearer(f, level, x2, start):  # type: ignore[no-untyped-def]
    """Index of the last point with a second objective of at most ``x2``, from ``start`` on."""
    at = natural(start)
    n = f.size[level, POINTS]
    while at + 1 < n and f.f2[level, at + 1] <= x2:
        at = natural(at + 1)
    return at


@inlined_kernel
def is_beaten(f, level, at, x1, x2):  # type: ignore[no-untyped-def]
    """Whether point ``at``, the last not dearer, dominates (x1, x2); an equal one does not."""
    found = f.f1[level, at]
    return found < x1 or (found == x1 and f.f2[level, at] < x2)


@inlined_kernel
def insert(f, s, level, at, x1, x2, code, kids):  # type: ignore[no-untyped-def]
    """Insert a point behind ``at``, the last not dearer, unless dominated; return its place, or ``at``.

    Of equal points the one with the lesser code stays: codes begin with the number of nodes.
    """
    at = natural(at)
    found = f.f1[level, at]
    if found <= x1:
        if found == x1 and f.f2[level, at] == x2 and code < f.code[level, at]:
            f.code[level, at] = code
            f.kids[level, at] = kids
        return at
    first = at if f.f2[level, at] == x2 else at + 1
    n = f.size[level, POINTS]
    last = first
    while last < n and f.f1[level, last] >= x1:
        last = natural(last + 1)
    if last == first and n == f.f1.shape[1]:
        s.counters[FULL] = 1
        return at
    move(f, level, last, first + 1, n)
    f.size[level, POINTS] = n + first + 1 - last
    f.f1[level, first] = x1
    f.f2[level, first] = x2
    f.code[level, first] = code
    f.kids[level, first] = kids
    return first


@inlined_kernel
def move(f, level, source, target, n):  # type: ignore[no-untyped-def]
    """Move the points from ``source`` to ``n`` so that they begin at ``target``."""
    if source < target:
        for i in range(n - 1, source - 1, -1):
            copy(f, level, i, i + 1)
    elif source > target:
        for i in range(source, n):
            copy(f, level, i, i + target - source)


@inlined_kernel
def copy(f, level, source, target):  # type: ignore[no-untyped-def]
    """Copy a point."""
    source, target = natural(source), natural(target)
    f.f1[level, target] = f.f1[level, source]
    f.f2[level, target] = f.f2[level, source]
    f.code[level, target] = f.code[level, source]
    f.kids[level, target] = f.kids[level, source]
