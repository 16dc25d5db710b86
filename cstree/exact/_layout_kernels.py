"""Gather the cases of a node into few words, and count what its candidates split.

``c`` are the ``CaseArrays`` (``arrays.py``), ``f`` the ``Frames``, ``s`` the ``GatherRoom`` (``state.py``).
Kernels take few arrays each: every array costs time to compile.
"""

from __future__ import annotations

import numpy as np

from cstree._lanes import blend, broadcast, convert, load, natural, ones_at, popcount_lanes, spread, store
from cstree._numba import inlined_kernel, popcount, trailing_zeros

# Columns of ``Frames.size``.
WORDS, LANES_USED, BLOCKS, PANELS, CASES, WEIGHT, CURSOR, OFFSET = range(8)
N_SIZES = 8
GROUPED = 0
_ONE = np.uint64(1)
# Lanes that a candidate is compared with, to find those that split alike.
_COMPARED = 64


@inlined_kernel
def mask_child(f, s, level, lane, branch):  # type: ignore[no-untyped-def]
    """Write the cases of a node that take a branch to ``s.mask``; all of them where ``lane`` is -1."""
    n_words = f.size[level, WORDS]
    if lane < 0:
        for w in range(n_words):
            s.mask[natural(w)] = f.valid[level, natural(w)]
    elif branch == 0:
        for w in range(n_words):
            s.mask[natural(w)] = f.bits[level, natural(w), natural(lane)]
    else:
        for w in range(n_words):
            s.mask[natural(w)] = f.valid[level, natural(w)] & ~f.bits[level, natural(w), natural(lane)]


@inlined_kernel
def list_splitting(f, s, level, n_cases, minimum):  # type: ignore[no-untyped-def]
    """List in ``s.lane`` the candidates that still split the cases in ``s.mask``; return their number."""
    for block in range(f.size[level, BLOCKS]):
        count = spread(0, s.support)
        for w in range(f.size[level, WORDS]):
            both = load(f.bits, (level, w, 16 * block)) & broadcast(s.mask, (w,))
            count = count + convert(popcount_lanes(both), s.support)
        store(s.support, (16 * block,), count)
    n = 0
    most = n_cases - minimum
    for lane in range(f.size[level, LANES_USED]):
        n = natural(n)
        s.lane[n] = lane
        count_here = s.support[natural(lane)]
        n += np.int64((count_here >= minimum) and (count_here <= most))
    return n


@inlined_kernel
def gather(c, f, s, level, n_lanes, keep_rows):  # type: ignore[no-untyped-def]
    """Build the frame below ``level`` of the cases in ``s.mask`` and the candidates in ``s.lane``."""
    below = level + 1
    if keep_rows or c.kind != GROUPED or pays_to_gather(f, s, level, n_lanes):
        gather_cases(f, s, level, below)
    else:
        drop_empty_words(f, s, level, below)
    gather_candidates(f, s, level, below, n_lanes)
    add_up_candidates(c, f, below)
    if keep_rows:
        for w in range(f.size[below, WORDS]):
            for k in range(popcount(np.uint64(f.valid[below, w]))):
                for block in range(f.size[below, BLOCKS]):
                    f.rows[below, 32 * w + k, block] = ones_at(load(f.bits, (below, w, 16 * block)), k)


@inlined_kernel
def pays_to_gather(f, s, level, n_lanes):  # type: ignore[no-untyped-def]
    """Whether fewer words save more, where pairs are counted, than it costs to gather the cases.

    A case costs about as much to move as a word to count.
    """
    n_words = 0
    for w in range(f.size[level, WORDS]):
        n_words += np.int64(s.mask[natural(w)] != 0)
    n_cases = f.size[level + 1, CASES]
    gathered = n_cases // 32 + f.group_start.shape[1] - 1
    return n_lanes * ((n_lanes + 15) // 16) * (n_words - gathered) > n_cases * f.size[level, BLOCKS]


@inlined_kernel
def drop_empty_words(f, s, level, below):  # type: ignore[no-untyped-def]
    """As :func:`gather_cases`, but leave the cases in their words."""
    n_words = 0
    for g in range(f.group_start.shape[1] - 1):
        f.group_start[below, g] = n_words
        for w in range(f.group_start[level, g], f.group_start[level, g + 1]):
            w = natural(w)
            if s.mask[w] != 0:
                f.valid[below, n_words] = s.mask[w]
                for block in range(f.size[level, BLOCKS]):
                    word = load(f.bits, (level, w, 16 * block)) & broadcast(s.mask, (w,))
                    store(s.wide, (n_words, 16 * block), word)
                n_words += 1
    f.group_start[below, f.group_start.shape[1] - 1] = n_words
    f.size[below, WORDS] = n_words


@inlined_kernel
def gather_cases(f, s, level, below):  # type: ignore[no-untyped-def]
    """Write the bits of all candidates of ``level``, for the cases in ``s.mask`` alone, to ``s.wide``."""
    n_words = 0
    for g in range(f.group_start.shape[1] - 1):
        f.group_start[below, g] = n_words
        slot = 32 * n_words
        for w in range(f.group_start[level, g], f.group_start[level, g + 1]):
            w = natural(w)
            rest = np.uint64(s.mask[w])
            while rest != 0:
                slot = natural(slot)
                source = natural(32 * w + trailing_zeros(rest))
                s.source[slot] = source
                f.case[below, slot] = f.case[level, source]
                slot += 1
                rest &= rest - _ONE
        while 32 * n_words < slot:
            n_words = natural(n_words)
            filled = min(slot - 32 * n_words, 32)
            f.valid[below, n_words] = np.uint32((np.uint64(1) << np.uint64(filled)) - _ONE)
            n_words += 1
    f.group_start[below, f.group_start.shape[1] - 1] = n_words
    f.size[below, WORDS] = n_words
    for w in range(n_words):
        w = natural(w)
        filled = popcount(np.uint64(f.valid[below, w]))
        for block in range(f.size[level, BLOCKS]):
            block = natural(block)
            word = spread(0, s.wide)
            zero = word
            for k in range(filled):
                bit = spread(np.uint32(1) << np.uint32(k), s.wide)
                source = natural(s.source[natural(32 * w + k)])
                word = word | blend(f.rows[level, source, block], bit, zero)
            store(s.wide, (w, 16 * block), word)


@inlined_kernel
def gather_candidates(f, s, level, below, n_lanes):  # type: ignore[no-untyped-def]
    """Keep the candidates in ``s.lane``, but of those of one panel that split alike only the first.

    Free choice among equals; only the last lanes of a panel are compared, as that takes their square.
    """
    n_words = f.size[below, WORDS]
    n, n_panels, last = 0, 0, -1
    for i in range(n_lanes):
        n, n_panels = natural(n), natural(n_panels)
        lane = natural(s.lane[natural(i)])
        panel = f.panel[level, lane]
        if panel != last:
            f.alive[below, n_panels] = panel
            f.first[below, n_panels] = n
            n_panels += 1
            last = panel
        elif splits_alike(f, s, below, lane, max(f.first[below, natural(n_panels - 1)], n - _COMPARED), n):
            continue
        f.panel[below, n] = panel
        f.candidate[below, n] = f.candidate[level, lane]
        f.support[below, n] = s.support[lane]
        for w in range(n_words):
            f.bits[below, natural(w), n] = s.wide[natural(w), lane]
        n += 1
    f.first[below, n_panels] = n
    f.size[below, PANELS] = n_panels
    f.size[below, LANES_USED] = n
    f.size[below, BLOCKS] = (n + 15) // 16
    for i in range(n, 16 * f.size[below, BLOCKS]):
        for w in range(n_words):
            f.bits[below, natural(w), natural(i)] = 0


@inlined_kernel
def splits_alike(f, s, below, lane, first, n):  # type: ignore[no-untyped-def]
    """Whether one of the lanes ``first`` to ``n`` makes the same two branches, in whatever order."""
    count = s.support[lane]
    n_cases = f.size[below, CASES]
    for other in range(first, n):
        other = natural(other)
        if f.support[below, other] == count:
            w = natural(0)
            while w < f.size[below, WORDS] and f.bits[below, w, other] == s.wide[w, lane]:
                w = natural(w + 1)
            if w == f.size[below, WORDS]:
                return True
        if f.support[below, other] == n_cases - count:
            w = natural(0)
            while w < f.size[below, WORDS] and f.bits[below, w, other] ^ s.wide[w, lane] == f.valid[below, w]:
                w = natural(w + 1)
            if w == f.size[below, WORDS]:
                return True
    return False


@inlined_kernel
def add_up_candidates(c, f, level):  # type: ignore[no-untyped-def]
    """Sum savings and weights of the cases in branch 0 of every candidate."""
    n_sums = f.saved.shape[1]
    for block in range(f.size[level, BLOCKS]):
        column = 16 * block
        for m in range(n_sums):
            store(f.saved, (level, m, column), spread(0, f.saved))
        weight = spread(0, f.weight)
        if c.kind == GROUPED:
            for g in range(c.group_weight.shape[0]):
                count = spread(0, f.bits)
                for w in range(f.group_start[level, g], f.group_start[level, g + 1]):
                    count = count + popcount_lanes(load(f.bits, (level, w, column)))
                weight = weight + convert(count, f.weight) * broadcast(c.group_weight, (g,))
                for e in range(c.saving_start[g], c.saving_start[g + 1]):
                    m = c.saving_answer[e]
                    more = convert(count, f.saved) * broadcast(c.saving, (e,))
                    store(f.saved, (level, m, column), load(f.saved, (level, m, column)) + more)
        else:
            for w in range(f.size[level, WORDS]):
                bits = load(f.bits, (level, w, column))
                for k in range(popcount(np.uint64(f.valid[level, w]))):
                    case = f.case[level, 32 * w + k]
                    left = ones_at(bits, k)
                    none = spread(0, f.weight)
                    weight = weight + blend(left, spread(c.case_weight[case], f.weight), none)
                    for m in range(n_sums):
                        sums = load(f.saved, (level, m, column))
                        more = blend(left, spread(c.case_saving[case, m], f.saved), spread(0, f.saved))
                        store(f.saved, (level, m, column), sums + more)
        store(f.weight, (level, column), weight)
