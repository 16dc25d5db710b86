"""Measure tabulated candidates: information, expected cost, answered cost of all branches.

Binary candidates come as the channels of their left branch, channel by channel; the right branch is
what the node has beyond that. Loops over candidates are innermost, so that they vectorise.
"""

from __future__ import annotations

import numpy as np

from cstree._numba import kernel


@kernel
def _bits(count, table, scale):  # type: ignore[no-untyped-def]
    """``count * log2(count)`` in units of ``1 / scale``."""
    if count < table.shape[0]:
        return table[count]
    return np.int64(np.rint(count * np.log2(count) * scale))


@kernel
def count_gains(left, class_weight, starts, small, large, scales, gain, split_info):  # type: ignore[no-untyped-def]
    """Gain and SplitInfo from integer counts, summed as integers: no order of cases or classes matters.

    Parameters
    ----------
    left : float64 (K or more, n_candidates)
        Cases of each class in the left branch.
    class_weight : float64 (m, K)
        Cases of each class at each node.
    starts : int64 (m + 1,)
        Candidates of each node.
    small, large : int64
        ``n log2 n`` of small numbers times ``scales[0]``, for nodes of fewer cases; of larger ones
        times ``scales[1]``.
    scales : float64 (2,)
    gain, split_info : float64 (n_candidates,), filled
    """
    n_classes = class_weight.shape[1]
    most = 0
    for node in range(class_weight.shape[0]):
        most = max(most, starts[node + 1] - starts[node])
    inner = np.empty(most, dtype=np.int64)
    size = np.empty(most, dtype=np.int64)
    for node in range(class_weight.shape[0]):
        first, n = starts[node], starts[node + 1] - starts[node]
        total = np.int64(class_weight[node].sum())
        few = total < small.shape[0]
        table = small if few else large
        scale = scales[0] if few else scales[1]
        own = _bits(total, table, scale)
        inner[:n] = 0
        size[:n] = 0
        for k in range(n_classes):
            whole = np.int64(class_weight[node, k])
            own -= _bits(whole, table, scale)
            if total < table.shape[0]:
                for c in range(n):
                    count = np.int64(left[k, first + c])
                    size[c] += count
                    inner[c] += table[count] + table[whole - count]
            else:
                for c in range(n):
                    count = np.int64(left[k, first + c])
                    size[c] += count
                    inner[c] += _bits(count, table, scale) + _bits(whole - count, table, scale)
        unit = 1.0 / (scale * total)
        for c in range(n):
            branches = _bits(size[c], table, scale) + _bits(total - size[c], table, scale)
            gain[first + c] = (own - branches + inner[c]) * unit
            split_info[first + c] = (_bits(total, table, scale) - branches) * unit


@kernel
def _weight_bits(weight):  # type: ignore[no-untyped-def]
    return weight * np.log2(weight) if weight > 0.0 else 0.0


@kernel
def weight_gains(left, class_weight, starts, gain, split_info):  # type: ignore[no-untyped-def]
    """Gain and SplitInfo from weights; shapes as in :func:`count_gains`."""
    n_classes = class_weight.shape[1]
    for node in range(class_weight.shape[0]):
        total = class_weight[node].sum()
        own = 0.0
        for k in range(n_classes):
            own -= _weight_bits(class_weight[node, k] / total)
        for c in range(starts[node], starts[node + 1]):
            inner, size = 0.0, 0.0
            for k in range(n_classes):
                share = left[k, c] / total
                size += share
                inner += _weight_bits(share) + _weight_bits(class_weight[node, k] / total - share)
            branches = _weight_bits(size) + _weight_bits(1.0 - size)
            gain[c] = own - branches + inner
            split_info[c] = -branches


@kernel
def gini_gains(left, class_weight, starts, gain):  # type: ignore[no-untyped-def]
    """Decrease of the Gini impurity; shapes as in :func:`count_gains`."""
    n_classes = class_weight.shape[1]
    for node in range(class_weight.shape[0]):
        total = class_weight[node].sum()
        own = 0.0
        for k in range(n_classes):
            own += class_weight[node, k] ** 2
        for c in range(starts[node], starts[node + 1]):
            size, squares, others = 0.0, 0.0, 0.0
            for k in range(n_classes):
                weight = left[k, c]
                size += weight
                squares += weight * weight
                others += (class_weight[node, k] - weight) ** 2
            gain[c] = (squares / size + others / (total - size) - own / total) / total


@kernel
def label_regrets(left, matrix, result):  # type: ignore[no-untyped-def]
    """``L[p]`` of each left branch from its class weights, ``sum_t weight[t] matrix[t, p]``.

    Parameters
    ----------
    left : float64 (K, n_candidates)
    matrix : float64 (K, K)
    result : float64 (K, n_candidates), filled
    """
    n_classes, n = result.shape
    for p in range(n_classes):
        result[p] = 0.0
        for t in range(n_classes):
            cost = matrix[t, p]
            if cost != 0.0:
                for c in range(n):
                    result[p, c] += left[t, c] * cost


@kernel
def cost_reductions(regret, node_regret, starts, dmc, answer):  # type: ignore[no-untyped-def]
    """Reduction of the expected cost (7) and of the answer's cost by each binary candidate.

    ``E(S) = sum_p P[p] L[p]`` with (9) is ``2 sum_{q < p} L[q] L[p] / ((K - 1) sum_p L[p])``, which
    subtracts nothing.

    Parameters
    ----------
    regret : float64 (K, n_candidates)
        ``L[p]`` of the left branch.
    node_regret : float64 (m, K)
    starts : int64 (m + 1,)
    dmc, answer : float64 (n_candidates,), filled
    """
    n_classes = node_regret.shape[1]
    factor = 2.0 / (n_classes - 1) if n_classes > 1 else 0.0
    most = 0
    for node in range(node_regret.shape[0]):
        most = max(most, starts[node + 1] - starts[node])
    sums = np.empty((6, most))
    for node in range(node_regret.shape[0]):
        first, n = starts[node], starts[node + 1] - starts[node]
        sums[:4, :n] = 0.0
        sums[4:, :n] = np.inf
        own_sum, own_pairs, own_least = 0.0, 0.0, np.inf
        for p in range(n_classes):
            whole = node_regret[node, p]
            own_pairs += own_sum * whole
            own_sum += whole
            own_least = min(own_least, whole)
            for c in range(n):
                here = regret[p, first + c]
                there = max(whole - here, 0.0)
                sums[1, c] += sums[0, c] * here
                sums[0, c] += here
                sums[3, c] += sums[2, c] * there
                sums[2, c] += there
                sums[4, c] = min(sums[4, c], here)
                sums[5, c] = min(sums[5, c], there)
        own = factor * own_pairs / own_sum if own_sum > 0.0 else 0.0
        for c in range(n):
            here = factor * sums[1, c] / sums[0, c] if sums[0, c] > 0.0 else 0.0
            there = factor * sums[3, c] / sums[2, c] if sums[2, c] > 0.0 else 0.0
            dmc[first + c] = own - (here + there)
            answer[first + c] = own_least - (sums[4, c] + sums[5, c])


@kernel
def best_candidates(scores, starts, best):  # type: ignore[no-untyped-def]
    """First candidate of each node whose score is the greatest up to 1e-12 of it; -1 where there is none.

    Parameters
    ----------
    scores : float64 (n_candidates,)
    starts : int64 (m + 1,)
    best : int64 (m,), filled
    """
    for node in range(best.shape[0]):
        best[node] = -1
        greatest = -np.inf
        for c in range(starts[node], starts[node + 1]):
            greatest = max(greatest, scores[c])
        if greatest == -np.inf:
            continue
        bound = greatest - 1e-12 * abs(greatest) if greatest < np.inf else greatest
        for c in range(starts[node], starts[node + 1]):
            if scores[c] >= bound:
                best[node] = c
                break
