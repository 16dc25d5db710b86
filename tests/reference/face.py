"""mckNN, the rule of mcKLR and the SVM of Lee, Lin and Wahba in the most obvious way, case by case."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy.optimize import minimize


def recognition_rule(
    log_odds: Sequence[float], false_acceptance: float, false_rejection: float, misidentification: float
) -> int:
    """Equations 13 to 19 of the paper: the position of the answer, impostors being last.

    ``log_odds[m] = ln(P(G_m) / P(I))``. Taken only where exponentials stay in range.
    """
    kappa = (false_rejection + false_acceptance - misidentification) / misidentification
    delta = (false_rejection - misidentification) / misidentification
    argument = kappa - delta * (1.0 + sum(math.exp(f) for f in log_odds))
    impostor = math.log(argument) if argument > 0 else -math.inf
    best = max(range(len(log_odds)), key=lambda m: log_odds[m])
    return len(log_odds) if impostor > log_odds[best] else best


def expected_costs(proba: Sequence[float], matrix: Sequence[Sequence[float]]) -> list[float]:
    """What each answer is expected to cost."""
    return [sum(p * row[k] for p, row in zip(proba, matrix, strict=True)) for k in range(len(proba))]


def nearest(distances: Sequence[float], k: int, leave_out: int | None = None) -> list[int]:
    """Positions of the k least distances, the first of equal ones, without one position."""
    others = [i for i in range(len(distances)) if i != leave_out]
    return sorted(others, key=lambda i: (distances[i], i))[:k]


def label_table(
    distance: np.ndarray, y: Sequence[int], n_classes: int, k: int, s: float
) -> list[list[float]]:
    """``T[a][b]`` of mckNN."""
    k = min(k, len(y) - 1)
    table = []
    for a in range(n_classes):
        seen = [y[j] for i in range(len(y)) if y[i] == a for j in nearest(distance[i], k, leave_out=i)]
        total = k * list(y).count(a) + s * n_classes
        table.append([(seen.count(b) + s) / total for b in range(n_classes)])
    return table


def neighbor_posterior(
    distances: Sequence[float], y: Sequence[int], table: list[list[float]], prior: Sequence[float], k: int
) -> list[float]:
    """Class probabilities of one case; the prior where every class is ruled out."""
    labels = [y[j] for j in nearest(distances, min(k, len(y) - 1))]
    weight = [p * math.prod(row[b] for b in labels) for p, row in zip(prior, table, strict=True)]
    total = sum(weight)
    return [w / total for w in weight] if total > 0 else list(prior)


def multicategory_svm(
    kernel: np.ndarray, y: Sequence[int], costs: np.ndarray, strength: float
) -> tuple[np.ndarray, float]:
    """Functions of the training cases, and the objective, of the SVM whose intercepts are in the kernel.

    Least of ``mean_i sum_{j != y_i} C[y_i, j] (f_ij + 1 / (K - 1))_+ + strength / 2 sum_j ||f_j||^2``, where
    ``sum_j f_j = 0``; by its dual, written down as a quadratic program with bounds and given to SciPy.
    """
    n, n_classes = len(y), len(costs)
    pairs = [(i, j) for i in range(n) for j in range(n_classes) if j != y[i]]
    hessian = (
        np.array([[kernel[i, k] * ((j == m) - 1 / n_classes) for k, m in pairs] for i, j in pairs]) / strength
    )
    linear = np.full(len(pairs), 1 / (n_classes - 1))
    upper = [costs[y[i], j] / n for i, j in pairs]
    a = np.zeros(len(pairs))
    for _ in range(20):  # SciPy's search stops early; it is started again where it stopped
        a = minimize(
            lambda x: (0.5 * x @ hessian @ x - linear @ x, hessian @ x - linear),
            a,
            jac=True,
            method="L-BFGS-B",
            bounds=[(0, u) for u in upper],
            options={"ftol": 1e-16, "gtol": 1e-12, "maxiter": 5000, "maxfun": 50000},
        ).x
    v = np.zeros((n, n_classes))
    for (i, j), value in zip(pairs, a, strict=True):
        v[i, j] += value
        v[i] -= value / n_classes
    return -kernel @ v / strength, float(linear @ a - 0.5 * a @ hessian @ a)
