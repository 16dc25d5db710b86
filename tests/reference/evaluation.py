"""Trees of a front on new cases, one case at a time; and how trees are judged with prior cases."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from .costs import case_costs, case_weights, plain_costs
from .pareto import dominates
from .tree import case_test_cost, follow

__all__ = ["Measured", "cautious_cost", "measure", "survivors"]


class Measured(NamedTuple):
    """Averages over cases and their standard errors (nan from one case)."""

    misclassification: float
    test: float
    total: float
    misclassification_error: float
    test_error: float
    total_error: float


def _average(values: Sequence[float], weights: Sequence[float]) -> tuple[float, float]:
    """Weighted average and its standard error, that of a ratio of sums."""
    counted = [(x, w) for x, w in zip(values, weights, strict=True) if w > 0]
    n, total = len(counted), math.fsum(w for _, w in counted)
    mean = math.fsum(w * x for x, w in counted) / total
    if n == 1:
        return mean, math.nan
    squares = math.fsum((w * (x - mean)) ** 2 for x, w in counted)
    return mean, math.sqrt(n / (n - 1) * squares) / total


def measure(
    tree: Any,
    rows: Sequence[Any],
    y: Sequence[int],
    costs: Any,
    weights: Any = None,
    example_cost: Any = None,
) -> Measured:
    """Walk every case; the tree's answers are taken as they are."""
    costs = plain_costs(costs)
    by_answer = case_costs(y, costs, example_cost)
    w = case_weights(y, weights)
    wrong = []
    for i, row in enumerate(rows):
        answer = follow(tree, row)[1].answer
        assert answer is not None
        wrong.append(by_answer[i][answer])
    paid = [case_test_cost(tree, row, costs) for row in rows]
    both = [a + b for a, b in zip(wrong, paid, strict=True)]
    averages = [_average(values, w) for values in (wrong, paid, both)]
    return Measured(*(mean for mean, _ in averages), *(error for _, error in averages))


def survivors(points: Sequence[Sequence[float]], digits: int = 9) -> list[bool]:
    """Points that no other dominates; points which differ by rounding alone are equal."""
    rounded = [tuple(round(value, digits) for value in point) for point in points]
    return [not any(dominates(other, point) for other in rounded) for point in rounded]


def cautious_cost(tree: Any, prior_cases: float) -> float:
    """Average misclassification cost of a flat ``Tree``, each leaf judged with cases of the whole table."""
    weight = [math.fsum(row) for row in tree.class_weight.tolist()]
    per_case = weight[0] / int(tree.support[0])
    shares = []
    for leaf in range(len(weight)):
        if int(tree.feature[leaf]) >= 0:
            continue
        answer = int(tree.answer[leaf])
        prior = prior_cases * per_case
        cost = float(tree.label_cost[leaf][answer]) + prior * float(tree.label_cost[0][answer]) / weight[0]
        if weight[leaf] > 0:
            shares.append(weight[leaf] / weight[0] * cost / (weight[leaf] + prior))
    return math.fsum(shares)
