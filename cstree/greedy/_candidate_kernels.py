"""Tabulate candidate splits: what the cases of each branch weigh and cost.

Two fillings lead to the same cells, one row of *channels* per code of a feature. Channels are the
weights of the K classes and, where costs differ by case, the K regrets as well.

- Small nodes fill the cells of one feature at a time from their cases; occupied cells are found
  through a bit set, so the work is proportional to the cases, not to the bins.
- Large nodes keep integer histograms of all features, from which the cells are copied.

Positions are unsigned wherever the compiler could not know that they are not negative: it would
otherwise check each of them for Python's way of counting from the end (measured: three times slower).
"""

from __future__ import annotations

import numpy as np

from cstree._numba import kernel, trailing_zeros
from cstree.greedy._categorical_kernels import (
    EXHAUSTIVE,
    MULTIWAY,
    NUMERIC,
    SUBSET,
    multiway_branches,
    subset_candidates,
)

# Columns of groups of candidates, and sides that are no branch of a multiway split.
NODE, FEATURE, END, BRANCHES, SIDE, WIDE = range(6)
HEAVIER, IN_CUT = -1, -2
# So few cases stay in the fastest cache while all their features are read.
FEW = 2048
_ONE = np.uint64(1)
_SIX = np.uint64(6)
_LOW6 = np.uint64(63)
_64 = np.uint64(64)


@kernel
def count_capacities(sizes, features, n_channels, capacities):  # type: ignore[no-untyped-def]
    """Bound the candidates, and the branches of multiway candidates, of nodes with so many cases.

    Parameters
    ----------
    sizes : int64 (m,)
    features : int64 (F, 3)
        As in :func:`tabulate`.
    n_channels : int
    capacities : int64 (m, 2), filled
    """
    for i in range(sizes.shape[0]):
        candidates, branches = 0, 0
        for j in range(features.shape[0]):
            kind, n_known, holes = features[j]
            present = min(n_known, sizes[i])
            if kind == NUMERIC:
                candidates += present * (1 + holes)
            elif kind == MULTIWAY:
                candidates += 1
                branches += present
            else:
                candidates += max(2 << min(present, EXHAUSTIVE), 2 * n_channels * present)
        capacities[i, 0] = candidates
        capacities[i, 1] = branches


@kernel
def _fill_cells(flat, offset, places, labels, weight, regret, n, cells, words, blocks):  # type: ignore[no-untyped-def]
    """Add the cases of one node to the cells of one feature and mark the occupied ones.

    Code of case ``i``: ``flat[places[i] + offset]``. ``words`` has a bit for each cell, ``blocks`` a
    bit for each word if there is more than one block.
    """
    weighted, by_case, deep = weight.shape[0] > 0, regret.shape[0] > 0, blocks.shape[0] > 1
    if not (weighted or by_case or deep):
        for i in range(n):
            code = np.uint64(flat[places[i] + offset])
            cells[code, labels[i]] += 1.0
            words[code >> _SIX] |= _ONE << (code & _LOW6)
        return
    n_classes = np.uint64(regret.shape[1])
    for i in range(n):
        code = np.uint64(flat[places[i] + offset])
        cells[code, labels[i]] += weight[i] if weighted else 1.0
        if by_case:
            for k in range(regret.shape[1]):
                cells[code, n_classes + np.uint64(k)] += regret[i, k]
        word = code >> _SIX
        words[word] |= _ONE << (code & _LOW6)
        if deep:
            blocks[word >> _SIX] |= _ONE << (word & _LOW6)


@kernel
def _copy_cells(histogram, cells, words):  # type: ignore[no-untyped-def]
    """Copy the histogram of one feature, (B, K), to the cells and mark the occupied ones."""
    for code in range(histogram.shape[0]):
        total = 0
        for k in range(histogram.shape[1]):
            total += histogram[code, k]
        if total:
            for k in range(histogram.shape[1]):
                cells[code, k] = histogram[code, k]
            words[np.uint64(code) >> _SIX] |= _ONE << (np.uint64(code) & _LOW6)


@kernel
def _list_bits(words, word, at, occupied):  # type: ignore[no-untyped-def]
    """Append the cells that are marked in one word, clear it, return how many are listed."""
    bits = words[word]
    words[word] = 0
    while bits:
        occupied[at] = np.uint32((word << _SIX) + np.uint64(trailing_zeros(bits)))
        bits &= bits - _ONE
        at += _ONE
    return at


@kernel
def _list_occupied(words, blocks, occupied):  # type: ignore[no-untyped-def]
    """List the marked cells in ascending order, clear the marks, return how many there are."""
    at = np.uint64(0)
    if blocks.shape[0] == 1:
        for word in range(words.shape[0]):
            at = _list_bits(words, np.uint64(word), at, occupied)
        return np.int64(at)
    for block in range(blocks.shape[0]):
        pending = blocks[block]
        blocks[block] = 0
        while pending:
            word = np.uint64(block) * _64 + np.uint64(trailing_zeros(pending))
            pending &= pending - _ONE
            at = _list_bits(words, word, at, occupied)
    return np.int64(at)


@kernel
def _numeric_candidates(cells, occupied, n, last_cut, absent, any_hole, left, cuts, at, run):  # type: ignore[no-untyped-def]
    """Every cut that parts the node's cases; of cuts that part them alike, the lowest. Clears the cells.

    ``any_hole``: the node has missing values, which go left, then right; of the number written for a cut the
    lowest bit says so.
    """
    run[:] = 0
    if any_hole and n and occupied[0] > 0:
        for c in range(run.shape[0]):
            left[c, at] = absent[c]
        cuts[at] = 0
        at += _ONE
    for i in range(n):
        code = np.uint64(occupied[i])
        if i:
            for c in range(run.shape[0]):
                left[c, at] = run[c] + absent[c]
            cuts[at] = np.int32(occupied[i - 1]) << 1
            at += _ONE
            if any_hole:
                for c in range(run.shape[0]):
                    left[c, at] = run[c]
                cuts[at] = (np.int32(occupied[i - 1]) << 1) | 1
                at += _ONE
        for c in range(run.shape[0]):
            run[c] += cells[code, c]
            cells[code, c] = 0.0
    if any_hole and n and np.int64(occupied[n - 1]) <= last_cut:
        for c in range(run.shape[0]):
            left[c, at] = run[c]
        cuts[at] = (np.int32(occupied[n - 1]) << 1) | 1
        at += _ONE
    return at


@kernel
def _gather_cases(  # type: ignore[no-untyped-def]
    rows, start, end, stride, labels, weight, regret, places, own_label, own_weight, own_regret
):
    """Copy what the filling of every feature needs of a node's cases."""
    for i in range(end - start):
        row = np.uint64(rows[start + i])
        places[i] = row * np.uint64(stride)
        own_label[i] = labels[row]
        if weight.shape[0]:
            own_weight[i] = weight[row]
        for k in range(own_regret.shape[1] if regret.shape[0] else 0):
            own_regret[i, k] = regret[row, k]


@kernel
def tabulate(  # type: ignore[no-untyped-def]
    codes,
    table,
    labels,
    weight,
    regret,
    rows,
    nodes,
    features,
    usable,
    histograms,
    cells,
    left,
    wide,
    cuts,
    groups,
    ends,
):
    """Tabulate all candidate splits of some nodes, in the order in which ties are broken.

    Parameters
    ----------
    codes : unsigned integer (F, n)
    table : unsigned integer (n, F + 1)
        The same case by case, or no rows.
    labels : int32 (n,)
    weight : float64 (n,) or (0,)
    regret : float64 (n, K) or (0, K), weighted
    rows : int32 (n,)
    nodes : int64 (m, 3)
        Span of each node in ``rows`` and the slot of its histogram, -1: none.
    features : int64 (F, 3)
        Kind, number of codes for known values, whether the training column had missing values.
    usable : bool (m, F)
    histograms : int32 (n_slots, F, B, K)
    cells : float64 (most codes, n_channels)
        Zero before and after.
    left : float64 (n_channels, capacity), filled
        Channels of the left branch of each binary candidate.
    wide : float64 (wide capacity, n_channels), filled
        Channels of every branch of multiway candidates.
    cuts : int32 (capacity,), filled
        Twice the cut, prefix or subset; plus one where missing values go right.
    groups : int64 (group capacity, 6), filled
        For all candidates of a feature at a node: node, feature, end, branches, side, first row in ``wide``.
        Side: ``IN_CUT``, ``HEAVIER`` when the training column has none missing, or a branch.
    ends : int64 (m,), filled
        End of each node's candidates.

    Returns
    -------
    (int, int)
        Number of groups, and of rows of ``wide`` in use.
    """
    n_channels = cells.shape[1]
    by_case = regret.shape[0] > 0
    n_classes = n_channels // 2 if by_case else n_channels
    by_feature, by_table = codes.reshape(-1), table.reshape(-1)
    words = np.zeros((cells.shape[0] >> 6) + 1, dtype=np.uint64)
    blocks = np.zeros(((words.shape[0] - 1) >> 6) + 1, dtype=np.uint64)
    occupied = np.empty(cells.shape[0], dtype=np.uint32)
    order = np.empty(cells.shape[0], dtype=np.uint32)
    absent, run = np.zeros(n_channels), np.zeros(n_channels)
    most = 0
    for node in range(nodes.shape[0]):
        if nodes[node, 2] < 0:
            most = max(most, nodes[node, 1] - nodes[node, 0])
    places = np.empty(most, dtype=np.uint64)
    own_label = np.empty(most, dtype=np.uint32)
    own_weight = np.empty(most if weight.shape[0] else 0)
    own_regret = np.empty((most if by_case else 0, n_classes))
    at, group, wide_at = np.uint64(0), 0, 0
    for node in range(nodes.shape[0]):
        start, end, slot = nodes[node]
        few = end - start <= FEW and table.shape[0] > 0
        if slot < 0:
            stride = table.shape[1] if few else 1
            _gather_cases(
                rows, start, end, stride, labels, weight, regret, places, own_label, own_weight, own_regret
            )
        for j in range(features.shape[0]):
            kind, n_known, holes = features[j]
            if not usable[node, j] or n_known < 2:
                continue
            if slot >= 0:
                _copy_cells(histograms[slot, j], cells, words)
            elif few:
                _fill_cells(
                    by_table, np.uint64(j), places, own_label, own_weight, own_regret, end - start,
                    cells, words, blocks,
                )  # fmt: skip
            else:
                _fill_cells(
                    by_feature, np.uint64(j * codes.shape[1]), places, own_label, own_weight, own_regret,
                    end - start, cells, words, blocks,
                )  # fmt: skip
            n = _list_occupied(words, blocks, occupied)
            any_hole = n > 0 and np.int64(occupied[n - 1]) == n_known
            absent[:] = 0
            if any_hole:
                n -= 1
                for c in range(n_channels):
                    absent[c] = cells[n_known, c]
                    cells[n_known, c] = 0
            first = at
            n_branches, side, wide_start = 2, IN_CUT if holes else HEAVIER, -1
            if kind == NUMERIC:
                at = _numeric_candidates(
                    cells, occupied, n, n_known - 2, absent, any_hole, left, cuts, at, run
                )
                n = 0
            elif kind == SUBSET:
                at = subset_candidates(
                    cells, occupied, n, n_classes, absent, any_hole, left, cuts, at, run, order
                )
            elif n > 1:
                n_branches, wide_start = n, wide_at
                side = multiway_branches(cells, occupied, n, n_classes, absent, wide, wide_at)
                wide_at += n
                cuts[at] = 0
                for c in range(n_channels):
                    left[c, at] = 0.0
                at += _ONE
            for i in range(n):
                code = np.uint64(occupied[i])
                for c in range(n_channels):
                    cells[code, c] = 0.0
            if at > first:
                groups[group, NODE], groups[group, FEATURE], groups[group, END] = node, j, np.int64(at)
                groups[group, BRANCHES], groups[group, SIDE], groups[group, WIDE] = (
                    n_branches,
                    side,
                    wide_start,
                )
                group += 1
        ends[node] = np.int64(at)
    return group, wide_at
