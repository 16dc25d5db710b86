"""Splits of categorical features: a branch for each category, or subsets of them."""

from __future__ import annotations

import numpy as np

from cstree._numba import kernel

NUMERIC, MULTIWAY, SUBSET = 0, 1, 2
# Categories up to which all subsets are tried when there is no order that is known to be exact.
EXHAUSTIVE = 10
_ONE = np.uint64(1)


@kernel
def multiway_branches(cells, occupied, n, n_classes, absent, wide, wide_at):  # type: ignore[no-untyped-def]
    """Write a branch for each category at the node; missing values join the heaviest, which is returned."""
    heaviest, most = 0, -1.0
    for i in range(n):
        total = 0.0
        for c in range(wide.shape[1]):
            wide[wide_at + i, c] = cells[np.int64(occupied[i]), c]
            total += wide[wide_at + i, c] if c < n_classes else 0.0
        if total > most * (1 + 1e-12):
            heaviest, most = i, total
    for c in range(wide.shape[1]):
        wide[wide_at + heaviest, c] += absent[c]
    return heaviest


@kernel
def _order_categories(cells, occupied, n, channel, n_classes, order):  # type: ignore[no-untyped-def]
    """Sort the categories at a node by the share of one channel among its kind, ties by code.

    ``channel`` is a class, or ``n_classes`` plus an answer whose regrets are compared.
    """
    share = np.empty(n)
    first = 0 if channel < n_classes else n_classes
    for i in range(n):
        code = np.int64(occupied[i])
        total = 0.0
        for c in range(first, first + n_classes):
            total += cells[code, c]
        share[i] = cells[code, channel] / total if total > 0 else 0.0
    _sort_stably(share, n, order)
    for i in range(n):
        order[i] = occupied[np.int64(order[i])]


@kernel
def _sort_stably(keys, n, order):  # type: ignore[no-untyped-def]
    """Write the positions of the first ``n`` keys, keys ascending: runs are merged into ever longer ones."""
    spare = np.empty(n, dtype=np.uint32)
    for i in range(n):
        order[i] = i
    width = 1
    while width < n:
        for start in range(0, n, 2 * width):
            middle, end = min(start + width, n), min(start + 2 * width, n)
            a, b = start, middle
            for i in range(start, end):
                if a < middle and (b >= end or keys[np.int64(order[a])] <= keys[np.int64(order[b])]):
                    spare[i] = order[a]
                    a += 1
                else:
                    spare[i] = order[b]
                    b += 1
        for i in range(n):
            order[i] = spare[i]
        width *= 2


@kernel
def subset_candidates(cells, occupied, n, n_classes, absent, any_hole, left, cuts, at, run, order):  # type: ignore[no-untyped-def]
    """Binary splits by subsets of categories.

    All subsets that hold the first category, by ascending bits of the others; with two classes and one
    cost matrix, or too many categories, prefixes of orders: by the share of class 1, or of each channel.
    """
    n_channels = run.shape[0]
    exact_order = n_classes == 2 and n_channels == 2
    every = n <= EXHAUSTIVE and not exact_order
    first = 1 if exact_order else 0
    for channel in range(first, first + 1 if every else n_channels):
        if not every:
            _order_categories(cells, occupied, n, channel, n_classes, order)
            run[:] = 0
        n_steps = 1 << max(n - 1, 0) if every else n
        for step in range(n_steps if n else 0):
            if every:
                run[:] = 0
                for i in range(n):
                    if i == 0 or (step >> (i - 1)) & 1:
                        for c in range(n_channels):
                            run[c] += cells[np.int64(occupied[i]), c]
            else:
                for c in range(n_channels):
                    run[c] += cells[np.int64(order[step]), c]
            number = np.int32(step if every else channel * n + step) << 1
            whole = step + 1 == n_steps
            if not whole:
                for c in range(n_channels):
                    left[c, at] = run[c] + absent[c]
                cuts[at] = number
                at += _ONE
            # All known categories on one side part the cases once, whatever the order.
            if any_hole and (not whole or every or channel + 1 == n_channels):
                for c in range(n_channels):
                    left[c, at] = run[c]
                cuts[at] = number | 1
                at += _ONE
    return at


@kernel
def branch_table(codes, rows, start, end, labels, weight, regret, kind, n_known, chosen, cells, table):  # type: ignore[no-untyped-def]
    """Write the branch of each category for a chosen categorical split; -1: not seen at the node.

    Parameters
    ----------
    codes : unsigned integer (n,)
        The feature's codes.
    rows : int32 (n,)
    start, end : int
        Span of the node in ``rows``.
    labels : int32 (n,)
    weight : float64 (n,) or (0,)
    regret : float64 (n, K) or (0, K), weighted
    kind, n_known : int
        Kind and number of categories of the feature.
    chosen : int
        Prefix or subset, as tabulated.
    cells : float64 (most codes, n_channels)
        Zero before and after.
    table : int32 (n_known,), filled
    """
    n_channels = cells.shape[1]
    by_case = regret.shape[0] > 0
    n_classes = n_channels // 2 if by_case else n_channels
    for i in range(start, end):
        row = rows[i]
        code = codes[row]
        cells[code, labels[row]] += weight[row] if weight.shape[0] else 1.0
        for k in range(n_classes if by_case else 0):
            cells[code, n_classes + k] += regret[row, k]
    occupied = np.empty(n_known, dtype=np.uint32)
    n = 0
    for code in range(n_known):
        if cells[code, :n_classes].sum() > 0:
            occupied[n] = code
            n += 1
    cells[n_known] = 0
    table[:] = -1
    if kind == MULTIWAY:
        for i in range(n):
            table[occupied[i]] = i
    elif n <= EXHAUSTIVE and not (n_classes == 2 and n_channels == 2):
        for i in range(n):
            table[occupied[i]] = 0 if i == 0 or (chosen >> (i - 1)) & 1 else 1
    else:
        order = np.empty(n, dtype=np.uint32)
        _order_categories(cells, occupied, n, chosen // n, n_classes, order)
        for i in range(n):
            table[order[i]] = 0 if i <= chosen % n else 1
    for i in range(n):
        cells[np.int64(occupied[i])] = 0
