"""The recursion of complete fronts, on a stack that can stop and go on at any split."""

from __future__ import annotations

import numpy as np

from cstree._lanes import natural
from cstree._numba import inlined_kernel, lean_kernel
from cstree.exact._front_kernels import (
    CODE,
    F1,
    F2,
    FULL,
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
    POINTS,
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
TOP, DEPTH, ROOT, WORK, _, ENTRIES, USED, USED_KIDS, SOLVED = range(9)
N_COUNTERS = 9
# What a call of ``advance`` ends with.
MORE, DONE, NEEDS_SOLVED, NEEDS_POINTS = range(4)
# Columns of ``s.side``.
START, LENGTH, ENTRY = range(3)
LEAF = -1

# Two children, and the root when the search is stopped.
ENTRIES_A_STEP = 3
_MOST_NODES = 2047
_KEY_A, _KEY_B = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD6E8FEB86659FD93)
_SHIFT_A, _SHIFT_B = np.uint64(32), np.uint64(29)


@lean_kernel
def advance(p, f, s, v, work):  # type: ignore[no-untyped-def]
    """Go on with the search until it is done, needs room, or has done about ``work`` units.

    A step is a split of the node at level ``counters[TOP]``: its children's fronts are looked up or solved,
    then joined. A child of more than depth two becomes the node at work; the split is tried again later.
    At level 0 the only child is the root.

    Parameters
    ----------
    p : ExactArrays
    f : Frames
    s : Scratch
        ``counters[DEPTH]`` is the depth limit.
    v : Solved
    work : int

    Returns
    -------
    int
        MORE, DONE (``counters[ROOT]`` is the entry of the root's front, -1 if it is a leaf),
        NEEDS_SOLVED or NEEDS_POINTS (call again after making those arrays larger).
    """
    stop = s.counters[WORK] + work
    while s.counters[WORK] < stop:
        s.counters[WORK] += 1
        if is_short(f, s, v):
            return NEEDS_SOLVED
        level = natural(s.counters[TOP])
        below = level + 1
        lane = next_lane(f, level)
        if lane < 0 and level > 0:
            keep_front(f, s, v, level, True)
            s.counters[TOP] -= 1
            continue
        base, first = np.int64(0), 0
        if level > 0:
            base = f.size[level, WEIGHT] * f.pay[level, natural(f.panel[level, natural(lane)])]
            first = np.int64(2 * f.support[level, natural(lane)] > f.size[level, CASES])
        wanted = True
        for turn in range(2 if level > 0 else 1):
            branch = natural(first ^ turn)
            depth = s.counters[DEPTH] - level
            n_lanes = look_up(p, f, s, v, level, lane, branch, depth)
            if n_lanes > 0:
                open_child(p, f, s, level, lane, branch, n_lanes, depth)
                if depth > 2:
                    break
                if depth == 2:
                    count_pairs(p, f, s, below)
                n_prices = best_by_price(p, f, s, below, depth == 2)
                insert_roots(p, f, s, below, natural(n_prices))
                if s.counters[FULL] != 0:
                    break
                name_tests(f, s, below)
                s.side[branch, ENTRY] = keep_front(f, s, v, below, False)
                s.side[branch, START] = v.start[natural(s.side[branch, ENTRY])]
                s.side[branch, LENGTH] = f.size[below, POINTS]
            if level > 0 and turn == 0 and all_beaten(f, s, v, level, branch, base):
                wanted = False
                break
        if s.counters[TOP] == level and s.counters[FULL] == 0:
            if level == 0:
                s.counters[ROOT] = s.side[0, ENTRY]
                return DONE
            if wanted:
                join(f, s, v, level, lane, base)
            f.size[level, OFFSET] += 1 - s.counters[FULL]
        if s.counters[FULL] != 0:
            s.counters[FULL] = 0
            return NEEDS_POINTS
    return MORE


@lean_kernel
def keep_root(f, s, v):  # type: ignore[no-untyped-def]
    """Store what the root's front holds so far; return its entry."""
    return keep_front(f, s, v, 1, True)


@inlined_kernel
def is_short(f, s, v):  # type: ignore[no-untyped-def]
    """Whether the next step might not find room for the fronts it solves, and the root's after it."""
    room = 3 * f.front.shape[1]
    return (
        s.counters[ENTRIES] + ENTRIES_A_STEP > v.length.shape[0]
        or s.counters[USED] + room > v.points.shape[0]
        or s.counters[USED_KIDS] + room > v.kids.shape[0]
    )


@inlined_kernel
def next_lane(f, level):  # type: ignore[no-untyped-def]
    """Candidate that a frame tries next, cheap panels first; -1: all that can matter are tried."""
    while f.size[level, CURSOR] < f.size[level, PANELS]:
        i = natural(f.order[level, natural(f.size[level, CURSOR])])
        lane = natural(f.first[level, i] + f.size[level, OFFSET])
        if lane < f.first[level, i + 1]:
            base = f.size[level, WEIGHT] * f.pay[level, natural(f.alive[level, i])]
            if is_beaten(f, level, last_not_dearer(f, level, base, 0), 0, base):
                return np.int64(-1)
            return np.int64(lane)
        f.size[level, CURSOR] += 1
        f.size[level, OFFSET] = 0
    return np.int64(-1)


@inlined_kernel
def look_up(p, f, s, v, level, lane, branch, depth):  # type: ignore[no-untyped-def]
    """Find the front of a child and write where it is to ``s.side``.

    Returns 0; or, if it must be solved first, the number of candidates that split the child, after
    listing them and filling in what the frame below needs to know.
    """
    below, M = level + 1, p.n_answers
    for m in range(M + 1):
        saved = f.saved[level, m, natural(lane)] if lane >= 0 else f.total[level, m]
        s.child_total[m] = saved if branch == 0 else f.total[level, m] - saved
    most = s.child_total[0]
    for m in range(1, M):
        most = max(most, s.child_total[m])
    cost = np.int64(s.child_total[M] - most)
    n_cases = np.int64(f.support[level, natural(lane)]) if lane >= 0 else f.size[level, CASES]
    n_cases = n_cases if branch == 0 else f.size[level, CASES] - n_cases
    v.points[branch, F1] = cost
    s.side[branch, START] = branch
    s.side[branch, LENGTH] = 1
    s.side[branch, ENTRY] = LEAF
    if cost == 0 or depth == 0 or n_cases < 2 * p.minimum:
        return np.int64(0)
    mask_child(f, s, level, lane, branch)
    n_lanes = list_splitting(p, f, s, level, n_cases)
    if n_lanes == 0:
        return np.int64(0)
    make_key(p, f, s, level, lane, branch, n_lanes, depth)
    entry = find_entry(f, v, below)
    if entry >= 0:
        s.side[branch, START] = v.start[entry]
        s.side[branch, LENGTH] = v.length[entry]
        s.side[branch, ENTRY] = entry
        return np.int64(0)
    f.size[below, CASES] = n_cases
    weight = f.weight[level, natural(lane)] if lane >= 0 else f.size[level, WEIGHT]
    f.size[below, WEIGHT] = weight if branch == 0 else f.size[level, WEIGHT] - weight
    start_front(f, below, cost, LEAF_CODE)
    return n_lanes


@inlined_kernel
def open_child(p, f, s, level, lane, branch, n_lanes, depth):  # type: ignore[no-untyped-def]
    """Fill the frame below; make it the one at work if the child has more than depth two."""
    below = level + 1
    for m in range(p.n_answers + 1):
        f.total[below, m] = s.child_total[m]
    for w in range(p.words.shape[0]):
        f.words[below, w] = s.child_words[w]
    price_child(p, f, level, lane)
    gather(p, f, s, level, n_lanes, depth > 2)
    sort_by_price(f, below)
    s.counters[SOLVED] += 1
    s.counters[WORK] += f.size[below, LANES_USED] * f.size[below, BLOCKS] * (f.size[below, WORDS] + 8)
    if depth > 2:
        f.size[below, CURSOR] = 0
        f.size[below, OFFSET] = 0
        s.counters[TOP] = below


@inlined_kernel
def price_child(p, f, level, lane):  # type: ignore[no-untyped-def]
    """Steps paid at a child, and what each panel costs there."""
    below = level + 1
    for a in range(f.pay.shape[1]):
        f.pay[below, a] = f.pay[level, a]
    for w in range(f.paid.shape[1]):
        f.paid[below, w] = f.paid[level, w]
    if lane >= 0:
        panel = f.panel[level, lane]
        for e in range(p.sharer_start[panel], p.sharer_start[panel + 1]):
            f.pay[below, p.sharer[e]] = price_after(p, f, level, p.sharer[e], panel)
        for w in range(f.paid.shape[1]):
            f.paid[below, w] |= p.pays[panel, w]


@inlined_kernel
def make_key(p, f, s, level, lane, branch, n_lanes, depth):  # type: ignore[no-untyped-def]
    """Two hashes of a child's cases, of the steps paid that still matter to it, and of its depth.

    A step matters if a panel that can still split the cases would pay for it.
    """
    a = (_KEY_A ^ np.uint64(depth)) * _KEY_B
    b = (_KEY_B ^ np.uint64(depth)) * _KEY_A
    flip = np.uint64(0) - np.uint64(branch)
    for w in range(p.words.shape[0]):
        word = f.words[level, w]
        if lane >= 0:
            word &= p.bits[natural(f.candidate[level, natural(lane)]), w] ^ flip
        s.child_words[w] = word
        a = (a ^ word) * _KEY_A
        a ^= a >> _SHIFT_A
        b = (b ^ word) * _KEY_B
        b ^= b >> _SHIFT_B
    for w in range(f.paid.shape[1]):
        matters = np.uint64(0)
        for i in range(n_lanes):
            matters |= p.cares[natural(f.panel[level, natural(s.lane[natural(i)])]), w]
        word = f.paid[level, w]
        if lane >= 0:
            word |= p.pays[f.panel[level, lane], w]
        word &= matters
        a = (a ^ word) * _KEY_A
        a ^= a >> _SHIFT_A
        b = (b ^ word) * _KEY_B
        b ^= b >> _SHIFT_B
    f.key[level + 1, 0] = a
    f.key[level + 1, 1] = b


@inlined_kernel
def find_entry(f, v, level):  # type: ignore[no-untyped-def]
    """Entry with the key of a frame, or -1."""
    most = np.uint64(v.table.shape[0] - 1)
    slot = f.key[level, 0] & most
    while v.table[slot] >= 0:
        entry = natural(v.table[slot])
        if v.key[entry, 0] == f.key[level, 0] and v.key[entry, 1] == f.key[level, 1]:
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
def keep_front(f, s, v, level, with_kids):  # type: ignore[no-untyped-def]
    """Store the front of a frame; return its entry."""
    entry = s.counters[ENTRIES]
    start = natural(s.counters[USED])
    n = f.size[level, POINTS]
    v.key[entry, 0] = f.key[level, 0]
    v.key[entry, 1] = f.key[level, 1]
    v.start[entry] = start
    v.length[entry] = n
    v.kid_start[entry] = s.counters[USED_KIDS] if with_kids else -1
    for i in range(n):
        i = natural(i)
        for column in range(3):
            v.points[start + i, column] = f.front[level, i, column]
    if with_kids:
        for i in range(n):
            v.kids[natural(s.counters[USED_KIDS] + i)] = f.front[level, natural(i), KIDS]
        s.counters[USED_KIDS] += n
    s.counters[USED] += n
    s.counters[ENTRIES] += 1
    add_to_table(v, entry)
    return entry


@inlined_kernel
def all_beaten(f, s, v, level, branch, base):  # type: ignore[no-untyped-def]
    """Whether one child's front, were the other child free and without mistakes, is dominated already."""
    at = 0
    start = natural(s.side[branch, START])
    for i in range(s.side[branch, LENGTH]):
        i = natural(i)
        x2 = base + v.points[start + i, F2]
        at = last_not_dearer(f, level, x2, at)
        if not is_beaten(f, level, at, v.points[start + i, F1], x2):
            return False
    return True


@inlined_kernel
def join(f, s, v, level, lane, base):  # type: ignore[no-untyped-def]
    """Insert every sum of a point of the left front and one of the right."""
    left_start, n_left = natural(s.side[0, START]), s.side[0, LENGTH]
    right_start, n_right = natural(s.side[1, START]), s.side[1, LENGTH]
    least = v.points[natural(right_start + n_right - 1), F1]
    test = np.int64(f.candidate[level, natural(lane)] + 1)
    kids = (s.side[0, ENTRY] + 1) << 32 | (s.side[1, ENTRY] + 1)
    at = 0
    for left in range(n_left):
        left = natural(left)
        x1 = v.points[left_start + left, F1]
        x2 = base + v.points[left_start + left, F2]
        at = last_not_dearer(f, level, x2, at)
        if is_beaten(f, level, at, x1 + least, x2):
            continue
        place = at
        for right in range(n_right):
            right = natural(right)
            y1 = x1 + v.points[right_start + right, F1]
            y2 = x2 + v.points[right_start + right, F2]
            place = last_not_dearer(f, level, y2, place)
            if f.front[level, place, F1] >= y1:
                nodes = v.points[left_start + left, CODE] >> NODES_AT
                nodes = min(1 + nodes + (v.points[right_start + right, CODE] >> NODES_AT), _MOST_NODES)
                code = nodes << NODES_AT | test << TEST_AT | left << LEFT_AT | right
                place = insert(f, s, level, place, y1, y2, code, kids)
