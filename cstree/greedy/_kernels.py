"""Count, price and part the cases of growing nodes."""

from __future__ import annotations

import numpy as np

from cstree._numba import kernel


@kernel
def interleave(codes, labels, table):  # type: ignore[no-untyped-def]
    """Copy codes case by case, each case's label behind them: one cache line holds one case.

    Parameters
    ----------
    codes : unsigned integer (F, n)
    labels : int32 (n,)
    table : unsigned integer (n, F + 1), filled
    """
    n_features, n = codes.shape
    for first in range(0, n, 256):
        last = min(first + 256, n)
        for j in range(n_features):
            for i in range(first, last):
                table[i, j] = codes[j, i]
        for i in range(first, last):
            table[i, n_features] = labels[i]


@kernel
def count_histograms(table, rows, spans, histograms):  # type: ignore[no-untyped-def]
    """Count the cases of some nodes by feature, code and class.

    Parameters
    ----------
    table : unsigned integer (n, F + 1)
        Codes and label of each case.
    rows : int32 (n,)
        Cases, grouped by node.
    spans : int64 (m, 3)
        First and last (excluded) position in ``rows``, and slot to fill.
    histograms : int32 (n_slots, F, B, K), changed
    """
    n_features = table.shape[1] - 1
    for s in range(spans.shape[0]):
        slot = spans[s, 2]
        histograms[slot] = 0
        for i in range(spans[s, 0], spans[s, 1]):
            row = rows[i]
            label = table[row, n_features]
            for j in range(n_features):
                histograms[slot, j, table[row, j], label] += 1


@kernel
def subtract_histogram(histograms, whole, part):  # type: ignore[no-untyped-def]
    """Turn the histogram of a node into that of the cases which are not in ``part``."""
    n_features, n_bins, n_classes = histograms.shape[1:]
    for j in range(n_features):
        for b in range(n_bins):
            for k in range(n_classes):
                histograms[whole, j, b, k] -= histograms[part, j, b, k]


@kernel
def sum_nodes(labels, weight, regret, cost, rows, spans, class_weight, label_regret, label_cost):  # type: ignore[no-untyped-def]
    """Sum class weights and, where costs differ by case, weighted regrets and costs of some nodes.

    Parameters
    ----------
    labels : int32 (n,)
    weight : float64 (n,), or (0,) when every case weighs 1
    regret, cost : float64 (n, K), weighted; (0, K) when the matrix rules
    rows : int32 (n,)
    spans : int64 (m, 2)
    class_weight, label_regret, label_cost : float64 (m, K), filled
    """
    for s in range(spans.shape[0]):
        class_weight[s] = 0
        for i in range(spans[s, 0], spans[s, 1]):
            row = rows[i]
            class_weight[s, labels[row]] += weight[row] if weight.shape[0] else 1.0
        if cost.shape[0]:
            label_regret[s] = 0
            label_cost[s] = 0
            for i in range(spans[s, 0], spans[s, 1]):
                row = rows[i]
                for k in range(cost.shape[1]):
                    label_regret[s, k] += regret[row, k]
                    label_cost[s, k] += cost[row, k]


@kernel
def price_tests(paid, step_start, steps, prices, result):  # type: ignore[no-untyped-def]
    """Price of every feature at every node: the steps that are not paid yet, ``TA(a | D)``.

    Parameters
    ----------
    paid : bool (m, n_steps)
    step_start : int32 (F + 1,)
    steps : int32 (n_entries,)
    prices : float64 (n_entries,)
    result : float64 (m, F), filled
    """
    for i in range(paid.shape[0]):
        for j in range(result.shape[1]):
            price = 0.0
            for e in range(step_start[j], step_start[j + 1]):
                if not paid[i, steps[e]]:
                    price += prices[e]
            result[i, j] = price


@kernel
def part_rows(codes, rows, splits, n_known, tables, spare, ends):  # type: ignore[no-untyped-def]
    """Sort the cases of split nodes by branch, keeping their order.

    Parameters
    ----------
    codes : unsigned integer (F, n)
    rows : int32 (n,), changed
    splits : int64 (m, 7)
        Span in ``rows``; feature; cut; start in ``tables`` or -1; missing branch; number of branches.
    n_known : int64 (F,)
        Number of codes for known values.
    tables : int32
        Branch of each category.
    spare : int32 (n,)
    ends : int64 (m, most branches), filled
        End of each branch in ``rows``.
    """
    for s in range(splits.shape[0]):
        start, end, feature, cut, first, missing, n_branches = splits[s]
        known = n_known[feature]
        n_kept = start
        n_moved = 0
        if first < 0 or n_branches == 2:
            for i in range(start, end):
                row = rows[i]
                code = np.int64(codes[feature, row])
                if code == known:
                    branch = missing
                elif first < 0:
                    branch = np.int64(code > cut)
                else:
                    branch = np.int64(tables[first + code])
                    branch = missing if branch < 0 else branch
                # Both writes always happen, only one pointer moves: no branch to mispredict.
                rows[n_kept] = row
                spare[n_moved] = row
                n_kept += 1 - branch
                n_moved += branch
            for i in range(n_moved):
                rows[n_kept + i] = spare[i]
            ends[s, 0] = n_kept
            ends[s, 1] = end
            continue
        counts = np.zeros(n_branches + 1, dtype=np.int64)
        for i in range(start, end):
            code = np.int64(codes[feature, rows[i]])
            branch = missing if code == known else np.int64(tables[first + code])
            counts[branch + 1] += 1
        for b in range(n_branches):
            counts[b + 1] += counts[b]
            ends[s, b] = start + counts[b + 1]
        for i in range(start, end):
            code = np.int64(codes[feature, rows[i]])
            branch = missing if code == known else np.int64(tables[first + code])
            spare[counts[branch]] = rows[i]
            counts[branch] += 1
        for i in range(end - start):
            rows[start + i] = spare[i]


@kernel
def collapse(first_child, n_branches, own, extra, per_leaf, slack):  # type: ignore[no-untyped-def]
    """Turn into leaves, deepest first, the splits that do not pay for themselves.

    Parameters
    ----------
    first_child : int64 (n,)
        Children have consecutive numbers, greater than their parent's.
    n_branches : int64 (n,), changed
    own : float64 (n,)
        Cost of each node if it were a leaf.
    extra : float64 (n,)
        Cost of its test.
    per_leaf : float
        What every leaf beyond the first must save.
    slack : float
        Savings up to this are rounding.
    """
    n = own.shape[0]
    below = own.copy()
    leaves = np.ones(n, dtype=np.int64)
    for node in range(n - 1, -1, -1):
        if n_branches[node] == 0:
            continue
        cost = extra[node]
        count = 0
        for child in range(first_child[node], first_child[node] + n_branches[node]):
            cost += below[child]
            count += leaves[child]
        if own[node] <= cost + per_leaf * (count - 1) + slack:
            n_branches[node] = 0
        else:
            below[node] = cost
            leaves[node] = count


@kernel
def preorder(first_child, n_branches, position, size):  # type: ignore[no-untyped-def]
    """Place of each node in preorder and size of its subtree; parents come before children.

    Parameters
    ----------
    first_child : int64 (n,)
        Children have consecutive numbers.
    n_branches : int64 (n,)
    position : int64 (n,), filled
        -1 for nodes below a leaf.
    size : int64 (n,), filled

    Returns
    -------
    int
        Number of nodes with a place.
    """
    n = first_child.shape[0]
    for node in range(n - 1, -1, -1):
        size[node] = 1
        position[node] = -1
        for b in range(n_branches[node]):
            size[node] += size[first_child[node] + b]
    position[0] = 0
    for node in range(n):
        if position[node] >= 0:
            here = position[node] + 1
            for b in range(n_branches[node]):
                child = first_child[node] + b
                position[child] = here
                here += size[child]
    return size[0]
