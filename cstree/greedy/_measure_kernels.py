"""Measure tabulated candidates: information, expected cost, answered cost of all branches.

Binary candidates come as the channels of their left branch, channel by channel; the right branch is
what the node has beyond that. Loops over candidates are innermost, so that they vectorise.
"""

from __future__ import annotations

import numpy as np

from cstree._numba import kernel

# Candidates measured together: their sums stay in the fastest cache.
_BLOCK = 256


@kernel
def _bits(count, table, scale):  # type: ignore[no-untyped-def]
    """``count * log2(count)`` in units of ``1 / scale``."""
    if count < np.uint64(table.shape[0]):
        return table[count]
    return np.int64(np.rint(np.float64(count) * np.log2(np.float64(count)) * scale))


@kernel
def count_gains(left, class_weight, starts, small, large, scales, gain):  # type: ignore[no-untyped-def]
    """Gain from integer counts, summed as integers: no order of cases or classes matters.

    Parameters
    ----------
    left : float64 (K or more, n_candidates or more)
        Cases of each class in the left branch.
    class_weight : float64 (m, K)
        Cases of each class at each node.
    starts : int64 (m + 1,)
        Candidates of each node.
    small, large : int64
        ``n log2 n`` of small numbers times ``scales[0]``, for nodes of fewer cases; of larger ones
        times ``scales[1]``.
    scales : float64 (2,)
    gain : float64 (n_candidates,), filled
    """
    n_classes = class_weight.shape[1]
    inner = np.empty(_BLOCK, dtype=np.int64)
    size = np.empty(_BLOCK, dtype=np.uint64)
    for node in range(class_weight.shape[0]):
        total = np.uint64(class_weight[node].sum())
        few = total < np.uint64(small.shape[0])
        table = small if few else large
        scale = scales[0] if few else scales[1]
        listed = total < np.uint64(table.shape[0])
        own = _bits(total, table, scale)
        for k in range(n_classes):
            own -= _bits(np.uint64(class_weight[node, k]), table, scale)
        unit = 1.0 / (scale * np.float64(total))
        for first in range(starts[node], starts[node + 1], _BLOCK):
            n = min(_BLOCK, starts[node + 1] - first)
            inner[:n] = own
            size[:n] = 0
            for k in range(n_classes):
                counts = left[k, first : first + n]
                whole = np.uint64(class_weight[node, k])
                if listed:
                    for c in range(n):
                        count = np.uint64(np.int64(counts[c]))
                        size[c] += count
                        inner[c] += table[count] + table[whole - count]
                else:
                    for c in range(n):
                        count = np.uint64(np.int64(counts[c]))
                        size[c] += count
                        inner[c] += _bits(count, table, scale) + _bits(whole - count, table, scale)
            if listed:
                for c in range(n):
                    gain[first + c] = (inner[c] - table[size[c]] - table[total - size[c]]) * unit
            else:
                for c in range(n):
                    branches = _bits(size[c], table, scale) + _bits(total - size[c], table, scale)
                    gain[first + c] = (inner[c] - branches) * unit


@kernel
def _weight_bits(weight):  # type: ignore[no-untyped-def]
    return weight * np.log2(weight) if weight > 0.0 else 0.0


@kernel
def weight_gains(left, class_weight, starts, gain):  # type: ignore[no-untyped-def]
    """Gain from weights; shapes as in :func:`count_gains`."""
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
            gain[c] = own + inner - (_weight_bits(size) + _weight_bits(1.0 - size))


@kernel
def split_infos(left, class_weight, starts, result):  # type: ignore[no-untyped-def]
    """SplitInfo of binary candidates; shapes as in :func:`count_gains`."""
    n_classes = class_weight.shape[1]
    for node in range(class_weight.shape[0]):
        total = class_weight[node].sum()
        for c in range(starts[node], starts[node + 1]):
            size = 0.0
            for k in range(n_classes):
                size += left[k, c]
            result[c] = -(_weight_bits(size / total) + _weight_bits((total - size) / total))


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
def _regrets_of_block(left, rest, common, first, n, answer, result):  # type: ignore[no-untyped-def]
    """``L[p]`` of ``n`` left branches for one answer ``p``, from class weights or as tabulated."""
    n_classes = rest.shape[0]
    by_case = left.shape[0] > n_classes
    for c in range(n):
        result[c] = left[n_classes + answer, first + c] if by_case else common[c]
    for t in range(0 if by_case else n_classes):
        cost = rest[t, answer]
        if cost != 0.0:
            for c in range(n):
                result[c] += left[t, first + c] * cost


@kernel
def _common_of_block(left, shared, first, n, common):  # type: ignore[no-untyped-def]
    """Sum what every answer costs in ``n`` left branches, ``sum_t weight[t] shared[t]``."""
    common[:n] = 0.0
    for t in range(shared.shape[0]):
        if shared[t] != 0.0:
            for c in range(n):
                common[c] += left[t, first + c] * shared[t]


@kernel
def _add_pairs(here, n, total, pairs):  # type: ignore[no-untyped-def]
    """Add an answer's cost to the total, and its products with those before.

    A loop over few arrays: the compiler gives up vectorising where too many could overlap.
    """
    for c in range(n):
        pairs[c] += total[c] * here[c]
        total[c] += here[c]


@kernel
def _expected(total, pairs, factor):  # type: ignore[no-untyped-def]
    return factor * pairs / total if total > 0.0 else 0.0


@kernel
def expected_costs(regret, result):  # type: ignore[no-untyped-def]
    """``E(S) = sum_p P[p] L[p]`` with (9), written as ``2 sum_{q < p} L[q] L[p] / ((K - 1) sum_p L[p])``.

    Nothing is subtracted, so that small figures beside large ones keep their digits.

    Parameters
    ----------
    regret : float64 (m, K)
        ``L[p]`` of each node.
    result : float64 (m,), filled
    """
    n_classes = regret.shape[1]
    factor = 2.0 / (n_classes - 1) if n_classes > 1 else 0.0
    for i in range(regret.shape[0]):
        total, pairs = 0.0, 0.0
        for p in range(n_classes):
            pairs += total * regret[i, p]
            total += regret[i, p]
        result[i] = _expected(total, pairs, factor)


@kernel
def cost_reductions(left, shared, rest, node_regret, node_expected, starts, dmc):  # type: ignore[no-untyped-def]
    """Reduction of the expected cost by each binary candidate, equation (7).

    Parameters
    ----------
    left : float64 (K or 2 K, n_candidates or more)
        Class weights of the left branch; then ``L[p]``, where costs differ by case.
    shared, rest : float64 (K,), (K, K)
        Regrets of the cost matrix: ``shared[t]`` for every answer, and ``rest[t, p]`` beside it.
    node_regret : float64 (m, K)
    node_expected : float64 (m,)
        ``E(S)`` of each node.
    starts : int64 (m + 1,)
    dmc : float64 (n_candidates,), filled
    """
    n_classes = node_regret.shape[1]
    factor = 2.0 / (n_classes - 1) if n_classes > 1 else 0.0
    common, here, total, pairs = np.empty(_BLOCK), np.empty(_BLOCK), np.empty(_BLOCK), np.empty(_BLOCK)
    other_total, other_pairs = np.empty(_BLOCK), np.empty(_BLOCK)
    for node in range(node_regret.shape[0]):
        for first in range(starts[node], starts[node + 1], _BLOCK):
            n = min(_BLOCK, starts[node + 1] - first)
            total[:n] = 0.0
            pairs[:n] = 0.0
            other_total[:n] = 0.0
            other_pairs[:n] = 0.0
            _common_of_block(left, shared, first, n, common)
            for p in range(n_classes):
                _regrets_of_block(left, rest, common, first, n, p, here)
                whole = node_regret[node, p]
                _add_pairs(here, n, total, pairs)
                for c in range(n):
                    here[c] = max(whole - here[c], 0.0)
                _add_pairs(here, n, other_total, other_pairs)
            for c in range(n):
                branches = _expected(total[c], pairs[c], factor) + _expected(
                    other_total[c], other_pairs[c], factor
                )
                dmc[first + c] = node_expected[node] - branches


@kernel
def answer_reductions(left, shared, rest, node_regret, starts, reduction):  # type: ignore[no-untyped-def]
    """Reduction of the cost of the best answers, ``min L_S - sum_v min L_{S_v}``; shapes as above."""
    n_classes = node_regret.shape[1]
    common, here = np.empty(_BLOCK), np.empty(_BLOCK)
    least, other_least = np.empty(_BLOCK), np.empty(_BLOCK)
    for node in range(node_regret.shape[0]):
        own = node_regret[node].min()
        for first in range(starts[node], starts[node + 1], _BLOCK):
            n = min(_BLOCK, starts[node + 1] - first)
            least[:n] = np.inf
            other_least[:n] = np.inf
            _common_of_block(left, shared, first, n, common)
            for p in range(n_classes):
                _regrets_of_block(left, rest, common, first, n, p, here)
                whole = node_regret[node, p]
                for c in range(n):
                    least[c] = min(least[c], here[c])
                for c in range(n):
                    other_least[c] = min(other_least[c], max(whole - here[c], 0.0))
            for c in range(n):
                reduction[first + c] = own - (least[c] + other_least[c])


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
