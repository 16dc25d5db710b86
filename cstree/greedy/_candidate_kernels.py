"""Tabulate candidate splits: what the cases of each branch weigh and cost.

Two fillings lead to the same cells, one row of *channels* per code of a feature. Channels are the
weights of the K classes and, where costs differ by case, the K regrets as well.

- Small nodes fill the cells of one feature at a time from their rows; occupied cells are found
  through a bit set, so the work is proportional to the cases, not to the bins.
- Large nodes keep integer histograms of all features, from which the cells are copied.
"""

from __future__ import annotations

import numpy as np

from cstree._numba import kernel, trailing_zeros

NUMERIC, MULTIWAY, SUBSET = 0, 1, 2
# Categories up to which all subsets are tried when there is no order that is known to be exact.
EXHAUSTIVE = 10
# So few cases stay in the fastest cache while all their features are read.
FEW = 2048
_ONE = np.uint64(1)
_LOW6 = np.uint64(63)


@kernel
def _fill_cells(codes, first, stride, rows, start, end, labels, weight, regret, cells, words, blocks):  # type: ignore[no-untyped-def]
    """Add the cases of one node to the cells of one feature and mark the occupied ones.

    Code of case ``i``: ``codes[first + i * stride]``. ``words`` has a bit for each cell, ``blocks``
    a bit for each word.
    """
    n_channels = cells.shape[1]
    n_classes = n_channels - regret.shape[1] if regret.shape[0] else n_channels
    for i in range(start, end):
        row = rows[i]
        code = np.int64(codes[first + row * stride])
        cells[code, labels[row]] += weight[row] if weight.shape[0] else 1.0
        if n_channels > n_classes:
            for k in range(n_classes):
                cells[code, n_classes + k] += regret[row, k]
        word = code >> 6
        words[word] |= _ONE << (np.uint64(code) & _LOW6)
        blocks[word >> 6] |= _ONE << (np.uint64(word) & _LOW6)


@kernel
def _copy_cells(histogram, cells, words, blocks):  # type: ignore[no-untyped-def]
    """Copy the histogram of one feature, (B, K), to the cells and mark the occupied ones."""
    for code in range(histogram.shape[0]):
        total = 0
        for k in range(histogram.shape[1]):
            total += histogram[code, k]
        if total:
            for k in range(histogram.shape[1]):
                cells[code, k] = histogram[code, k]
            word = code >> 6
            words[word] |= _ONE << (np.uint64(code) & _LOW6)
            blocks[word >> 6] |= _ONE << (np.uint64(word) & _LOW6)


@kernel
def _list_occupied(words, blocks, occupied):  # type: ignore[no-untyped-def]
    """List the marked cells in ascending order, clear the marks, return how many there are."""
    n = 0
    for block in range(blocks.shape[0]):
        pending = blocks[block]
        blocks[block] = 0
        while pending:
            word = block * 64 + trailing_zeros(pending)
            pending &= pending - _ONE
            bits = words[word]
            words[word] = 0
            while bits:
                occupied[n] = word * 64 + trailing_zeros(bits)
                bits &= bits - _ONE
                n += 1
    return n


@kernel
def _emit(left, place, at, feature, cut, side, first, second, both):  # type: ignore[no-untyped-def]
    """Write one binary candidate; its left branch holds ``first`` and, if ``both``, ``second``."""
    for c in range(left.shape[0]):
        left[c, at] = first[c] + second[c] if both else first[c]
    place[0, at] = feature
    place[1, at] = cut
    place[2, at] = side
    place[3, at] = 2
    place[4, at] = -1


@kernel
def _numeric_candidates(cells, occupied, n, last_cut, absent, holes, any_hole, feature, left, place, at, run):  # type: ignore[no-untyped-def]
    """Every cut that parts the node's cases; of cuts that part them alike, the lowest.

    ``holes``: the training column has missing values, both sides compete for them; ``any_hole``:
    so has the node.
    """
    side = 0 if holes else -1
    run[:] = 0
    if any_hole and n and occupied[0] > 0:
        _emit(left, place, at, feature, 0, 0, absent, run, False)
        at += 1
    for i in range(n):
        code = occupied[i]
        for c in range(run.shape[0]):
            run[c] += cells[code, c]
        if i + 1 < n:
            _emit(left, place, at, feature, code, side, run, absent, any_hole)
            at += 1
        if any_hole and code <= last_cut:
            _emit(left, place, at, feature, code, 1, run, absent, False)
            at += 1
    return at


@kernel
def _multiway_candidate(cells, occupied, n, n_classes, absent, feature, left, place, at, wide, wide_at):  # type: ignore[no-untyped-def]
    """One branch for each category at the node; missing values join the heaviest."""
    left[:, at] = 0
    heaviest, most = 0, -1.0
    for i in range(n):
        total = 0.0
        for c in range(wide.shape[1]):
            wide[wide_at + i, c] = cells[occupied[i], c]
            total += cells[occupied[i], c] if c < n_classes else 0.0
        if total > most * (1 + 1e-12):
            heaviest, most = i, total
    for c in range(wide.shape[1]):
        wide[wide_at + heaviest, c] += absent[c]
    place[0, at] = feature
    place[1, at] = 0
    place[2, at] = heaviest
    place[3, at] = n
    place[4, at] = wide_at
    return at + 1


@kernel
def order_categories(cells, occupied, n, channel, n_classes, order):  # type: ignore[no-untyped-def]
    """Sort the categories at a node by the share of one channel among its kind, ties by code.

    Parameters
    ----------
    cells : float64 (n_codes, n_channels)
    occupied : int64, the first ``n`` are the categories at the node
    channel : int
        A class, or ``n_classes`` plus an answer whose regrets are compared.
    order : int64, the first ``n`` entries are filled
    """
    share = np.empty(n)
    first = 0 if channel < n_classes else n_classes
    for i in range(n):
        total = 0.0
        for c in range(first, first + n_classes):
            total += cells[occupied[i], c]
        share[i] = cells[occupied[i], channel] / total if total > 0 else 0.0
    rank = np.argsort(share, kind="mergesort")
    for i in range(n):
        order[i] = occupied[rank[i]]


@kernel
def _subset_candidates(
    cells, occupied, n, n_classes, absent, holes, any_hole, feature, left, place, at, run, order
):  # type: ignore[no-untyped-def]
    """Binary splits by subsets of categories.

    All subsets that hold the first category, by ascending bits of the others; with two classes and one
    cost matrix, or too many categories, prefixes of orders: by the share of class 1, or of each channel.
    """
    n_channels = run.shape[0]
    side = 0 if holes else -1
    exact_order = n_classes == 2 and n_channels == 2
    if n <= EXHAUSTIVE and not exact_order:
        for mask in range(1 << max(n - 1, 0) if n else 0):
            run[:] = 0
            for i in range(n):
                if i == 0 or (mask >> (i - 1)) & 1:
                    for c in range(n_channels):
                        run[c] += cells[occupied[i], c]
            if mask + 1 < 1 << (n - 1):
                _emit(left, place, at, feature, mask, side, run, absent, any_hole)
                at += 1
            if any_hole:
                _emit(left, place, at, feature, mask, 1, run, absent, False)
                at += 1
        return at
    for channel in range(1 if exact_order else 0, n_channels):
        order_categories(cells, occupied, n, channel, n_classes, order)
        run[:] = 0
        for i in range(n):
            for c in range(n_channels):
                run[c] += cells[order[i], c]
            if i + 1 < n:
                _emit(left, place, at, feature, channel * n + i, side, run, absent, any_hole)
                at += 1
            if any_hole and (i + 1 < n or channel + 1 == n_channels):
                _emit(left, place, at, feature, channel * n + i, 1, run, absent, False)
                at += 1
    return at


@kernel
def tabulate(
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
    place,
    ends,
):  # type: ignore[no-untyped-def]
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
    place : int32 (5, capacity), filled
        Feature; cut, prefix or subset; side of missing values (-1: the heavier); branches;
        first row in ``wide``.
    ends : int64 (m,), filled
        End of each node's candidates.

    Returns
    -------
    (int, int)
        Number of candidates, and of rows of ``wide`` in use.
    """
    n_channels = cells.shape[1]
    n_classes = n_channels - regret.shape[1] if regret.shape[0] else n_channels
    by_feature, by_case = codes.reshape(-1), table.reshape(-1)
    n_cases = codes.shape[1]
    words = np.zeros((cells.shape[0] >> 6) + 1, dtype=np.uint64)
    blocks = np.zeros((words.shape[0] >> 6) + 1, dtype=np.uint64)
    occupied = np.empty(cells.shape[0], dtype=np.int64)
    order = np.empty(cells.shape[0], dtype=np.int64)
    absent, run = np.zeros(n_channels), np.zeros(n_channels)
    at, wide_at = 0, 0
    for node in range(nodes.shape[0]):
        start, end, slot = nodes[node]
        for j in range(features.shape[0]):
            kind, n_known, holes = features[j]
            if not usable[node, j] or n_known < 2:
                continue
            if slot >= 0:
                _copy_cells(histograms[slot, j], cells, words, blocks)
            elif end - start <= FEW and table.shape[0]:
                _fill_cells(
                    by_case, j, table.shape[1], rows, start, end, labels, weight, regret, cells, words, blocks
                )
            else:
                _fill_cells(
                    by_feature, j * n_cases, 1, rows, start, end, labels, weight, regret, cells, words, blocks
                )
            n = _list_occupied(words, blocks, occupied)
            any_hole = n > 0 and occupied[n - 1] == n_known
            absent[:] = 0
            if any_hole:
                n -= 1
                absent[:] = cells[n_known]
                cells[n_known] = 0
            if kind == NUMERIC:
                at = _numeric_candidates(
                    cells, occupied, n, n_known - 2, absent, holes != 0, any_hole, j, left, place, at, run
                )
            elif kind == SUBSET:
                at = _subset_candidates(
                    cells,
                    occupied,
                    n,
                    n_classes,
                    absent,
                    holes != 0,
                    any_hole,
                    j,
                    left,
                    place,
                    at,
                    run,
                    order,
                )
            elif n > 1:
                at = _multiway_candidate(
                    cells, occupied, n, n_classes, absent, j, left, place, at, wide, wide_at
                )
                wide_at += n
            for i in range(n):
                cells[occupied[i]] = 0
        ends[node] = at
    return at, wide_at


@kernel
def branch_table(codes, rows, start, end, labels, weight, regret, kind, n_known, chosen, cells, table):  # type: ignore[no-untyped-def]
    """Write the branch of each category for a chosen categorical split; -1: not seen at the node.

    Parameters
    ----------
    codes : unsigned integer (n,)
        The feature's codes.
    rows, start, end, labels, weight, regret, cells
        As in :func:`tabulate`.
    kind, n_known : int
        Kind and number of categories of the feature.
    chosen : int
        Prefix or subset, as tabulated.
    table : int32 (n_known,), filled
    """
    n_channels = cells.shape[1]
    n_classes = n_channels - regret.shape[1] if regret.shape[0] else n_channels
    words = np.zeros((cells.shape[0] >> 6) + 1, dtype=np.uint64)
    blocks = np.zeros((words.shape[0] >> 6) + 1, dtype=np.uint64)
    occupied = np.empty(cells.shape[0], dtype=np.int64)
    order = np.empty(cells.shape[0], dtype=np.int64)
    _fill_cells(codes, 0, 1, rows, start, end, labels, weight, regret, cells, words, blocks)
    n = _list_occupied(words, blocks, occupied)
    table[:] = -1
    if n > 0 and occupied[n - 1] == n_known:
        n -= 1
        cells[n_known] = 0
    if kind == MULTIWAY:
        for i in range(n):
            table[occupied[i]] = i
    elif n <= EXHAUSTIVE and not (n_classes == 2 and n_channels == 2):
        for i in range(n):
            table[occupied[i]] = 0 if i == 0 or (chosen >> (i - 1)) & 1 else 1
    else:
        order_categories(cells, occupied, n, chosen // n, n_classes, order)
        for i in range(n):
            table[order[i]] = 0 if i <= chosen % n else 1
    for i in range(n):
        cells[occupied[i]] = 0
