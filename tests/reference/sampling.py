"""Weights of classes and numbers of cases, said as plainly as the publications say them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

__all__ = [
    "bayes_answer",
    "class_cost",
    "majority_parts",
    "over_sizes",
    "pairwise_answer",
    "relabel",
    "scale_of_classes",
    "under_sizes",
]

Matrix = Sequence[Sequence[float]]


def class_cost(matrix: Matrix) -> list[float]:
    """``Cost[k]``: the sum of what mistakes on class ``k`` cost more than the right answer."""
    return [sum(cost - row[k] for cost in row) for k, row in enumerate(matrix)]


def scale_of_classes(matrix: Matrix) -> list[float] | None:
    """Logarithms of consistent weights, walked from class to class, each group of tied classes from 0 up.

    Along every tie ``ln w_j = ln w_i - ln(C[i][j] / C[j][i])``; None when two walks disagree or when a
    mistake is free while its counterpart is not.
    """
    n = len(matrix)
    logs: list[float | None] = [None] * n
    for start in range(n):
        if logs[start] is not None:
            continue
        logs[start], group, pending = 0.0, [start], [start]
        while pending:
            i = pending.pop()
            for j in range(n):
                if i == j or matrix[i][j] == matrix[j][i] == 0:
                    continue
                if matrix[i][j] == 0 or matrix[j][i] == 0:
                    return None
                reached = logs[i] - math.log(matrix[i][j] / matrix[j][i])
                if logs[j] is None:
                    logs[j] = reached
                    group.append(j)
                    pending.append(j)
                elif abs(logs[j] - reached) > 1e-6:
                    return None
        least = min(logs[i] for i in group)
        for i in group:
            logs[i] -= least
    return [value for value in logs if value is not None]


def over_sizes(counts: Sequence[int], costs: Sequence[float]) -> list[int]:
    """Zhou and Liu's sizes for over-sampling, through their class ``lam``."""
    cheapest = min(range(len(costs)), key=lambda k: costs[k])
    lam = min(range(len(costs)), key=lambda j: costs[j] / costs[cheapest] * counts[cheapest] / counts[j])
    return [math.floor(cost / costs[lam] * counts[lam] + 1e-6) for cost in costs]


def under_sizes(counts: Sequence[int], costs: Sequence[float]) -> list[int]:
    """Zhou and Liu's sizes for under-sampling, through their class ``lam``."""
    dearest = max(range(len(costs)), key=lambda k: costs[k])
    lam = max(range(len(costs)), key=lambda j: costs[j] / costs[dearest] * counts[dearest] / counts[j])
    return [math.floor(cost / costs[lam] * counts[lam] + 1e-6) for cost in costs]


def majority_parts(n_minority: int, n_majority: int, u: float, v: float) -> tuple[float, float]:
    """Number of subsets ``(y / x) (u / v)`` and majority cases in each, ``n x v / u``, as on the slide."""
    n = n_minority + n_majority
    x, y = n_minority / n, n_majority / n
    return (y / x) * (u / v), n * x * v / u


def bayes_answer(proba: Sequence[float], matrix: Matrix) -> int:
    """Class of least expected cost, the first of several."""
    expected = [sum(p * matrix[j][k] for j, p in enumerate(proba)) for k in range(len(matrix))]
    return expected.index(min(expected))


def pairwise_answer(duels: dict[tuple[int, int], tuple[float, float]], matrix: Matrix) -> int:
    """Winner of all duels; ``duels[i, j]`` holds the probabilities of ``i`` and ``j`` between the two.

    Of two classes that may be mistaken for one another freely, the more probable one gets the vote. A tie
    goes to the class whose answers would lose least money in its duels, then to the lower one.
    """
    n = len(matrix)
    votes, loss = [0] * n, [0.0] * n
    for (i, j), (p_i, p_j) in duels.items():
        lost_by_i, lost_by_j = p_j * matrix[j][i], p_i * matrix[i][j]
        free = matrix[i][j] == matrix[j][i] == 0
        votes[i if (p_j <= p_i if free else lost_by_i <= lost_by_j) else j] += 1
        loss[i] += lost_by_i
        loss[j] += lost_by_j
    return min(range(n), key=lambda k: (-votes[k], loss[k], k))


def relabel(
    bootstraps: Sequence[Sequence[int]],
    proba: Sequence[Sequence[Sequence[float]]],
    matrix: Matrix,
    *,
    p: bool,
    q: bool,
) -> list[int]:
    """MetaCost's new labels (Domingos 1999, table 1).

    ``bootstraps[m]`` are the cases that model ``m`` saw, ``proba[m][i]`` what it says of case ``i``.
    """
    labels = []
    for i in range(len(proba[0])):
        asked: list[Any] = [m for m, seen in enumerate(bootstraps) if q or i not in seen]
        asked = asked or list(range(len(bootstraps)))
        total = [0.0] * len(matrix)
        for m in asked:
            row = list(proba[m][i])
            if not p:
                best = row.index(max(row))
                row = [float(k == best) for k in range(len(row))]
            total = [a + b for a, b in zip(total, row, strict=True)]
        labels.append(bayes_answer([t / len(asked) for t in total], matrix))
    return labels
