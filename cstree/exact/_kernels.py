"""The recursion of complete fronts, on a stack that can stop and go on at any split.

``c`` are the ``CaseArrays``, ``t`` the ``PriceArrays`` of a problem (``arrays.py``); ``f`` the ``Frames``,
``d`` the ``Descent``, ``g`` the ``Fronts`` that grow, ``s`` the ``GatherRoom``, ``r`` the ``PairRoom``, ``x``
the ``Control`` and ``v`` the ``Solved`` of a search (``state.py``).
"""

from __future__ import annotations

import numpy as np

from cstree._lanes import natural
from cstree._numba import inlined_kernel, lean_kernel
from cstree.exact._front_kernels import (
    CODE,
    F1,
    F2,
    KIDS,
    insert,
    is_beaten,
    last_not_dearer,
    start_front,
)
from cstree.exact._layout_kernels import (
    BLOCKS,
    CASES,
    CURSOR,
    LANES_USED,
    OFFSET,
    PANELS,
    WEIGHT,
    WORDS,
    gather,
    list_splitting,
    mask_child,
)
from cstree.exact._pair_kernels import (
    LEAF_CODE,
    LEFT_AT,
    NODES_AT,
    TEST_AT,
    best_by_price,
    count_pairs,
    insert_roots,
    name_tests,
    price_after,
    sort_by_price,
)

# Columns of the counters.
TOP, DEPTH, ROOT, WORK, ENTRIES, USED, USED_KIDS, SOLVED = range(8)
N_COUNTERS = 8
# What a call of ``advance`` ends with.
MORE, DONE, NEEDS_SOLVED, NEEDS_POINTS = range(4)
# Columns of ``x.side``.
START, LENGTH, ENTRY = range(3)
LEAF = -1

# Two children, and the root when the search is stopped.
ENTRIES_A_STEP = 3
_MOST_NODES = 2047
_KEY_A, _KEY_B = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD6E8FEB86659FD93)
_SHIFT_A, _SHIFT_B = np.uint64(32), np.uint64(29)


@lean_kernel
def advance(problem, state, work):  # type: ignore[no-untyped-def]
    """Go on with the search until it is done, needs room, or has done about ``work`` units.

    A step is a split of the node at level ``counters[TOP]``: its children's fronts are looked up or solved,
    then joined. A child of more than depth two becomes the node at work; the split is tried again later.
    At level 0 the only child is the root.

    Parameters
    ----------
    problem : ExactArrays
    state : State
        ``control.counters[DEPTH]`` is the depth limit.
    work : int

    Returns
    -------
    int
        MORE, DONE (``counters[ROOT]`` is the entry of the root's front, -1 if it is a leaf),
        NEEDS_SOLVED or NEEDS_POINTS (call again after making those arrays larger).
    """
    c, t = problem
    f, d, g, s, r, x, v = state
    stop = x.counters[WORK] + work
    while x.counters[WORK] < stop:
        x.counters[WORK] += 1
        if is_short(g, x, v):
            return NEEDS_SOLVED
        level = natural(x.counters[TOP])
        below = level + 1
        lane = next_lane(f, d, g, level)
        if lane < 0 and level > 0:
            keep_front(d, g, x, v, level, True)
            x.counters[TOP] -= 1
            continue
        base, first = np.int64(0), 0
        if level > 0:
            base = f.size[level, WEIGHT] * d.pay[level, natural(f.panel[level, natural(lane)])]
            first = np.int64(2 * f.support[level, natural(lane)] > f.size[level, CASES])
        wanted = True
        for turn in range(2 if level > 0 else 1):
            branch = natural(first ^ turn)
            depth = x.counters[DEPTH] - level
            n_lanes = look_up(c, t, f, d, g, s, x, v, level, lane, branch, depth)
            if n_lanes > 0:
                open_child(c, t, f, d, s, x, level, lane, branch, n_lanes, depth)
                if depth > 2:
                    break
                if depth == 2:
                    count_pairs(c, f, r, below)
                n_prices = best_by_price(c, f, d, r, below, depth == 2)
                insert_roots(t, f, d, r, g, below, natural(n_prices), np.int64(f.total[below, c.n_answers]))
                if g.full[0] != 0:
                    break
                name_tests(f, d, r, g, below)
                x.side[branch, ENTRY] = keep_front(d, g, x, v, below, False)
                x.side[branch, START] = v.start[natural(x.side[branch, ENTRY])]
                x.side[branch, LENGTH] = g.n_points[below]
            if level > 0 and turn == 0 and all_beaten(g, x, v, level, branch, base):
                wanted = False
                break
        if x.counters[TOP] == level and g.full[0] == 0:
            if level == 0:
                x.counters[ROOT] = x.side[0, ENTRY]
                return DONE
            if wanted:
                join(f, g, x, v, level, lane, base)
            f.size[level, OFFSET] += 1 - g.full[0]
        if g.full[0] != 0:
            g.full[0] = 0
            return NEEDS_POINTS
    return MORE


@lean_kernel
def keep_root(state):  # type: ignore[no-untyped-def]
    """Store what the root's front holds so far; return its entry."""
    _, d, g, _, _, x, v = state
    return keep_front(d, g, x, v, 1, True)


@inlined_kernel
def is_short(g, x, v):  # type: ignore[no-untyped-def]
    """Whether the next step might not find room for the fronts it solves, and the root's after it."""
    room = 3 * g.front.shape[1]
    return (
        x.counters[ENTRIES] + ENTRIES_A_STEP > v.length.shape[0]
        or x.counters[USED] + room > v.points.shape[0]
        or x.counters[USED_KIDS] + room > v.kids.shape[0]
    )


@inlined_kernel
def next_lane(f, d, g, level):  # type: ignore[no-untyped-def]
    """Candidate that a frame tries next, cheap panels first; -1: all that can matter are tried."""
    while f.size[level, CURSOR] < f.size[level, PANELS]:
        i = natural(d.order[level, natural(f.size[level, CURSOR])])
        lane = natural(f.first[level, i] + f.size[level, OFFSET])
        if lane < f.first[level, i + 1]:
            base = f.size[level, WEIGHT] * d.pay[level, natural(f.alive[level, i])]
            if is_beaten(g, level, last_not_dearer(g, level, base, 0), 0, base):
                return np.int64(-1)
            return np.int64(lane)
        f.size[level, CURSOR] += 1
        f.size[level, OFFSET] = 0
    return np.int64(-1)


@inlined_kernel
def look_up(c, t, f, d, g, s, x, v, level, lane, branch, depth):  # type: ignore[no-untyped-def]
    """Find the front of a child and write where it is to ``x.side``.

    Returns 0; or, if it must be solved first, the number of candidates that split the child, after
    listing them and filling in what the frame below needs to know.
    """
    below, M = level + 1, c.n_answers
    for m in range(M + 1):
        saved = f.saved[level, m, natural(lane)] if lane >= 0 else f.total[level, m]
        x.child_total[m] = saved if branch == 0 else f.total[level, m] - saved
    most = x.child_total[0]
    for m in range(1, M):
        most = max(most, x.child_total[m])
    cost = np.int64(x.child_total[M] - most)
    n_cases = np.int64(f.support[level, natural(lane)]) if lane >= 0 else f.size[level, CASES]
    n_cases = n_cases if branch == 0 else f.size[level, CASES] - n_cases
    v.points[branch, F1] = cost
    x.side[branch, START] = branch
    x.side[branch, LENGTH] = 1
    x.side[branch, ENTRY] = LEAF
    if cost == 0 or depth == 0 or n_cases < 2 * c.minimum:
        return np.int64(0)
    mask_child(f, s, level, lane, branch)
    n_lanes = list_splitting(f, s, level, n_cases, c.minimum)
    if n_lanes == 0:
        return np.int64(0)
    make_key(c, t, f, d, s, x, level, lane, branch, n_lanes, depth)
    entry = find_entry(d, v, below)
    if entry >= 0:
        x.side[branch, START] = v.start[entry]
        x.side[branch, LENGTH] = v.length[entry]
        x.side[branch, ENTRY] = entry
        return np.int64(0)
    f.size[below, CASES] = n_cases
    weight = f.weight[level, natural(lane)] if lane >= 0 else f.size[level, WEIGHT]
    f.size[below, WEIGHT] = weight if branch == 0 else f.size[level, WEIGHT] - weight
    start_front(g, below, cost, LEAF_CODE)
    return n_lanes


@inlined_kernel
def open_child(c, t, f, d, s, x, level, lane, branch, n_lanes, depth):  # type: ignore[no-untyped-def]
    """Fill the frame below; make it the one at work if the child has more than depth two."""
    below = level + 1
    for m in range(c.n_answers + 1):
        f.total[below, m] = x.child_total[m]
    for w in range(c.words.shape[0]):
        d.words[below, w] = x.child_words[w]
    price_child(t, f, d, level, lane)
    gather(c, f, s, level, n_lanes, depth > 2)
    sort_by_price(f, d, below)
    x.counters[SOLVED] += 1
    x.counters[WORK] += f.size[below, LANES_USED] * f.size[below, BLOCKS] * (f.size[below, WORDS] + 8)
    if depth > 2:
        f.size[below, CURSOR] = 0
        f.size[below, OFFSET] = 0
        x.counters[TOP] = below


@inlined_kernel
def price_child(t, f, d, level, lane):  # type: ignore[no-untyped-def]
    """List the steps paid at a child, and what each panel costs there."""
    below = level + 1
    for a in range(d.pay.shape[1]):
        d.pay[below, a] = d.pay[level, a]
    for w in range(d.paid.shape[1]):
        d.paid[below, w] = d.paid[level, w]
    if lane >= 0:
        panel = f.panel[level, lane]
        for e in range(t.sharer_start[panel], t.sharer_start[panel + 1]):
            d.pay[below, t.sharer[e]] = price_after(t, d, level, t.sharer[e], panel)
        for w in range(d.paid.shape[1]):
            d.paid[below, w] |= t.pays[panel, w]


@inlined_kernel
def make_key(c, t, f, d, s, x, level, lane, branch, n_lanes, depth):  # type: ignore[no-untyped-def]
    """Two hashes of a child's cases, of the steps paid that still matter to it, and of its depth.

    A step matters if a panel that can still split the cases would pay for it.
    """
    a = (_KEY_A ^ np.uint64(depth)) * _KEY_B
    b = (_KEY_B ^ np.uint64(depth)) * _KEY_A
    flip = np.uint64(0) - np.uint64(branch)
    for w in range(c.words.shape[0]):
        word = d.words[level, w]
        if lane >= 0:
            word &= c.bits[natural(f.candidate[level, natural(lane)]), w] ^ flip
        x.child_words[w] = word
        a = (a ^ word) * _KEY_A
        a ^= a >> _SHIFT_A
        b = (b ^ word) * _KEY_B
        b ^= b >> _SHIFT_B
    for w in range(d.paid.shape[1]):
        matters = np.uint64(0)
        for i in range(n_lanes):
            matters |= t.cares[natural(f.panel[level, natural(s.lane[natural(i)])]), w]
        word = d.paid[level, w]
        if lane >= 0:
            word |= t.pays[f.panel[level, lane], w]
        word &= matters
        a = (a ^ word) * _KEY_A
        a ^= a >> _SHIFT_A
        b = (b ^ word) * _KEY_B
        b ^= b >> _SHIFT_B
    d.key[level + 1, 0] = a
    d.key[level + 1, 1] = b


@inlined_kernel
def find_entry(d, v, level):  # type: ignore[no-untyped-def]
    """Entry with the key of a frame, or -1."""
    most = np.uint64(v.table.shape[0] - 1)
    slot = d.key[level, 0] & most
    while v.table[slot] >= 0:
        entry = natural(v.table[slot])
        if v.key[entry, 0] == d.key[level, 0] and v.key[entry, 1] == d.key[level, 1]:
            return np.int64(entry)
        slot = (slot + np.uint64(1)) & most
    return np.int64(-1)


@inlined_kernel
def add_to_table(v, entry):  # type: ignore[no-untyped-def]
    """Let an entry be found."""
    most = np.uint64(v.table.shape[0] - 1)
    slot = v.key[entry, 0] & most
    while v.table[slot] >= 0:
        slot = (slot + np.uint64(1)) & most
    v.table[slot] = entry


@lean_kernel
def fill_table(v, n_entries):  # type: ignore[no-untyped-def]
    """Enter all entries in a new, empty table."""
    for entry in range(n_entries):
        add_to_table(v, entry)


@inlined_kernel
def keep_front(d, g, x, v, level, with_kids):  # type: ignore[no-untyped-def]
    """Store the front of a frame; return its entry."""
    entry = x.counters[ENTRIES]
    start = natural(x.counters[USED])
    n = g.n_points[level]
    v.key[entry, 0] = d.key[level, 0]
    v.key[entry, 1] = d.key[level, 1]
    v.start[entry] = start
    v.length[entry] = n
    v.kid_start[entry] = x.counters[USED_KIDS] if with_kids else -1
    for i in range(n):
        i = natural(i)
        for column in range(3):
            v.points[start + i, column] = g.front[level, i, column]
    if with_kids:
        for i in range(n):
            v.kids[natural(x.counters[USED_KIDS] + i)] = g.front[level, natural(i), KIDS]
        x.counters[USED_KIDS] += n
    x.counters[USED] += n
    x.counters[ENTRIES] += 1
    add_to_table(v, entry)
    return entry


@inlined_kernel
def all_beaten(g, x, v, level, branch, base):  # type: ignore[no-untyped-def]
    """Whether one child's front, were the other child free and without mistakes, is dominated already."""
    at = 0
    start = natural(x.side[branch, START])
    for i in range(x.side[branch, LENGTH]):
        i = natural(i)
        x2 = base + v.points[start + i, F2]
        at = last_not_dearer(g, level, x2, at)
        if not is_beaten(g, level, at, v.points[start + i, F1], x2):
            return False
    return True


@inlined_kernel
def join(f, g, x, v, level, lane, base):  # type: ignore[no-untyped-def]
    """Insert every sum of a point of the left front and one of the right."""
    left_start, n_left = natural(x.side[0, START]), x.side[0, LENGTH]
    right_start, n_right = natural(x.side[1, START]), x.side[1, LENGTH]
    least = v.points[natural(right_start + n_right - 1), F1]
    test = np.int64(f.candidate[level, natural(lane)] + 1)
    kids = (x.side[0, ENTRY] + 1) << 32 | (x.side[1, ENTRY] + 1)
    at = 0
    for left in range(n_left):
        left = natural(left)
        x1 = v.points[left_start + left, F1]
        x2 = base + v.points[left_start + left, F2]
        at = last_not_dearer(g, level, x2, at)
        if is_beaten(g, level, at, x1 + least, x2):
            continue
        place = at
        for right in range(n_right):
            right = natural(right)
            y1 = x1 + v.points[right_start + right, F1]
            y2 = x2 + v.points[right_start + right, F2]
            place = last_not_dearer(g, level, y2, place)
            if g.front[level, place, F1] >= y1:
                nodes = v.points[left_start + left, CODE] >> NODES_AT
                nodes = min(1 + nodes + (v.points[right_start + right, CODE] >> NODES_AT), _MOST_NODES)
                code = nodes << NODES_AT | test << TEST_AT | left << LEFT_AT | right
                place = insert(g, level, place, y1, y2, code, kids)
