"""The recursion of complete fronts, on a stack that can stop and go on at any split."""

from __future__ import annotations

import numpy as np

from cstree._lanes import natural
from cstree._numba import inlined_kernel, lean_kernel
from cstree.exact._front_kernels import FULL, insert, is_beaten, last_not_dearer, start_front
from cstree.exact._layout_kernels import (
    BLOCKS,
    CASES,
    CURSOR,
    PANELS,
    LANES_USED,
    OFFSET,
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
    depth_two,
    most_saved,
    price_after,
    sort_by_price,
)

# Columns of the counters.
TOP, DEPTH, ROOT, WORK, _, ENTRIES, USED, USED_KIDS, SOLVED = range(9)
N_COUNTERS = 9
# What a call of ``advance`` ends with.
MORE, DONE, NEEDS_SOLVED, NEEDS_POINTS = range(4)
# What stands for the front of a child instead of an entry.
LEAF, PUSHED = -1, -2

# Two children, and the root when the search is stopped.
ENTRIES_A_STEP = 3
_MOST_NODES = 2047
_KEY_A, _KEY_B = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD6E8FEB86659FD93)
_SHIFT_A, _SHIFT_B = np.uint64(32), np.uint64(29)


@lean_kernel
def advance(p, f, s, v, work):  # type: ignore[no-untyped-def]
    """Go on with the search until it is done, needs room, or has done about ``work`` units.

    Parameters
    ----------
    p : ExactArrays
    f : Frames
    s : Scratch
        ``counters[TOP]`` is the level at work, ``counters[DEPTH]`` the depth limit.
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
        lane = -1
        if level > 0:
            lane = next_lane(f, level)
            if lane < 0:
                keep_front(f, s, v, level, True)
                s.counters[TOP] -= 1
                continue
        finished = try_split(p, f, s, v, level, lane)
        if s.counters[FULL] != 0:
            s.counters[FULL] = 0
            return NEEDS_POINTS
        if finished:
            if level == 0:
                s.counters[ROOT] = s.side[0, 2]
                return DONE
            f.size[level, OFFSET] += 1
    return MORE


@lean_kernel
def keep_root(f, s, v):  # type: ignore[no-untyped-def]
    """Store what the root's front holds so far; return its entry."""
    return keep_front(f, s, v, 1, True)


@inlined_kernel
def is_short(f, s, v):  # type: ignore[no-untyped-def]
    """Whether the next step might not find room for the fronts it solves, and the root's after it."""
    room = 3 * f.f1.shape[1]
    return (
        s.counters[ENTRIES] + ENTRIES_A_STEP > v.length.shape[0]
        or s.counters[USED] + room > v.f1.shape[0]
        or s.counters[USED_KIDS] + room > v.kids.shape[0]
    )


@inlined_kernel
def next_lane(f, level):  # type: ignore[no-untyped-def]
    """The candidate that a frame tries next, cheap panels first; -1: all that can matter are tried."""
    while f.size[level, CURSOR] < f.size[level, PANELS]:
        i = natural(f.order[level, natural(f.size[level, CURSOR])])
        lane = natural(f.first[level, i] + f.size[level, OFFSET])
        if lane < f.first[level, i + 1]:
            base = f.size[level, WEIGHT] * f.pay[level, natural(f.alive[level, i])]
            at = last_not_dearer(f, level, base, 0)
            if is_beaten(f, level, at, 0, base):
                return np.int64(-1)
            return np.int64(lane)
        f.size[level, CURSOR] += 1
        f.size[level, OFFSET] = 0
    return np.int64(-1)


@inlined_kernel
def try_split(p, f, s, v, level, lane):  # type: ignore[no-untyped-def]
    """Solve the children of a split and join their fronts; False if a child was pushed to be solved first.

    At level 0 the only child is the root.
    """
    base = np.int64(0)
    first = 0
    if level > 0:
        base = f.size[level, WEIGHT] * f.pay[level, natural(f.panel[level, lane])]
        first = np.int64(2 * f.support[level, lane] > f.size[level, CASES])
    for turn in range(2 if level > 0 else 1):
        branch = natural(first ^ turn)
        n_cases, cost = leaf_below(p, f, s, level, lane, branch)
        entry = LEAF
        if cost > 0 and n_cases >= 2 * p.minimum:
            entry = solve_child(p, f, s, v, level, lane, branch, n_cases)
            if entry == PUSHED:
                return False
        if entry == LEAF:
            v.f1[branch] = cost
            s.side[branch, 0] = branch
            s.side[branch, 1] = 1
        else:
            s.side[branch, 0] = v.start[entry]
            s.side[branch, 1] = v.length[entry]
        s.side[branch, 2] = entry
        if level > 0 and turn == 0 and all_beaten(f, s, v, level, branch, base):
            return True
    if level > 0:
        join(f, s, v, level, lane, base)
    return True


@inlined_kernel
def leaf_below(p, f, s, level, lane, branch):  # type: ignore[no-untyped-def]
    """Number of cases in a branch and their cost in a leaf; fills ``s.child_total`` and ``s.child_weight``."""
    M = p.n_answers
    for m in range(M + 1):
        saved = f.saved[level, m, lane] if lane >= 0 else f.total[level, m]
        s.child_total[m] = saved if branch == 0 else f.total[level, m] - saved
    most = s.child_total[0]
    for m in range(1, M):
        most = max(most, s.child_total[m])
    n_cases = np.int64(f.support[level, lane]) if lane >= 0 else f.size[level, CASES]
    return n_cases if branch == 0 else f.size[level, CASES] - n_cases, np.int64(s.child_total[M] - most)


@inlined_kernel
def solve_child(p, f, s, v, level, lane, branch, n_cases):  # type: ignore[no-untyped-def]
    """Entry of a child's front: found, or solved now (depth two), or PUSHED as a frame; LEAF if nothing splits it."""
    below = level + 1
    depth = s.counters[DEPTH] - level
    mask_child(f, s, level, lane, branch)
    n_lanes = list_splitting(p, f, s, level, n_cases)
    if n_lanes == 0 or depth == 0:
        return LEAF
    make_key(p, f, s, level, lane, branch, n_lanes, depth)
    entry = find_entry(f, v, below)
    if entry >= 0:
        return entry
    f.size[below, CASES] = n_cases
    weight = f.weight[level, lane] if lane >= 0 else f.size[level, WEIGHT]
    f.size[below, WEIGHT] = weight if branch == 0 else f.size[level, WEIGHT] - weight
    for m in range(p.n_answers + 1):
        f.total[below, m] = s.child_total[m]
    for w in range(p.words.shape[0]):
        f.words[below, w] = s.child_words[w]
    price_child(p, f, level, lane)
    gather(p, f, s, level, n_lanes, depth > 2)
    s.counters[SOLVED] += 1
    if depth > 2:
        worst = np.int64(f.total[below, p.n_answers])
        start_front(f, below, worst - most_saved(p, f, below), LEAF_CODE)
        sort_by_price(f, below)
        f.size[below, CURSOR] = 0
        f.size[below, OFFSET] = 0
        s.counters[TOP] = below
        return PUSHED
    depth_two(p, f, s, below, depth == 2)
    if s.counters[FULL] != 0:
        return LEAF
    s.counters[WORK] += f.size[below, LANES_USED] * f.size[below, BLOCKS] * (f.size[below, WORDS] + 8)
    return keep_front(f, s, v, below, False)


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
        v.f1[start + i] = f.f1[level, i]
        v.f2[start + i] = f.f2[level, i]
        v.code[start + i] = f.code[level, i]
    if with_kids:
        for i in range(n):
            v.kids[s.counters[USED_KIDS] + i] = f.kids[level, i]
        s.counters[USED_KIDS] += n
    s.counters[USED] += n
    s.counters[ENTRIES] += 1
    add_to_table(v, entry)
    return entry


@inlined_kernel
def all_beaten(f, s, v, level, branch, base):  # type: ignore[no-untyped-def]
    """Whether one child's front, were the other child free and without mistakes, is dominated already."""
    at = 0
    for i in range(s.side[branch, 0], s.side[branch, 0] + s.side[branch, 1]):
        i = natural(i)
        x2 = base + v.f2[i]
        at = last_not_dearer(f, level, x2, at)
        if not is_beaten(f, level, at, v.f1[i], x2):
            return False
    return True


@inlined_kernel
def join(f, s, v, level, lane, base):  # type: ignore[no-untyped-def]
    """Insert every sum of a point of the left front and one of the right."""
    left_start, n_left = natural(s.side[0, 0]), s.side[0, 1]
    right_start, n_right = natural(s.side[1, 0]), s.side[1, 1]
    least = v.f1[right_start + n_right - 1]
    test = np.int64(f.candidate[level, lane] + 1)
    kids = (s.side[0, 2] + 1) << 32 | (s.side[1, 2] + 1)
    at = 0
    for left in range(n_left):
        left = natural(left)
        x1 = v.f1[left_start + left]
        x2 = base + v.f2[left_start + left]
        at = last_not_dearer(f, level, x2, at)
        if is_beaten(f, level, at, x1 + least, x2):
            continue
        place = at
        for right in range(n_right):
            right = natural(right)
            y1 = x1 + v.f1[right_start + right]
            y2 = x2 + v.f2[right_start + right]
            place = last_not_dearer(f, level, y2, place)
            if f.f1[level, place] >= y1:
                nodes = v.code[left_start + left] >> NODES_AT
                nodes = min(1 + nodes + (v.code[right_start + right] >> NODES_AT), _MOST_NODES)
                code = nodes << NODES_AT | test << TEST_AT | np.int64(left) << LEFT_AT | np.int64(right)
                place = insert(f, s, level, place, y1, y2, code, kids)
