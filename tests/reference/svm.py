"""The 2C-SVM in the most obvious way: sums over cases, pairs with four boxes, a quadratic program."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.optimize import minimize


def objective(
    X: np.ndarray,
    y: Sequence[float],
    bound: Sequence[float],
    margin: Sequence[float],
    w: np.ndarray,
    b: float,
) -> float:
    """``0.5 ||w||^2 + sum U_i (p_i - y_i (w.x_i + b))_+``."""
    loss = sum(
        u * max(0.0, p - label * (float(w @ x) + b))
        for x, label, u, p in zip(X, y, bound, margin, strict=True)
    )
    return 0.5 * float(w @ w) + loss


def dual(X: np.ndarray, y: Sequence[float], margin: Sequence[float], alpha: Sequence[float]) -> float:
    """``p'alpha - 0.5 alpha'Q alpha``."""
    n = len(y)
    quadratic = sum(
        alpha[i] * alpha[j] * y[i] * y[j] * float(X[i] @ X[j]) for i in range(n) for j in range(n)
    )
    return sum(p * a for p, a in zip(margin, alpha, strict=True)) - 0.5 * quadratic


def best_bias(
    X: np.ndarray, y: Sequence[float], bound: Sequence[float], margin: Sequence[float], w: np.ndarray
) -> float:
    """Least loss over all places where the loss bends; its value."""
    places = [label * p - float(w @ x) for x, label, p in zip(X, y, margin, strict=True)]
    return min(objective(X, y, bound, margin, w, b) for b in places)


def box(yi: float, yj: float, ai: float, aj: float, ui: float, uj: float) -> tuple[float, float]:
    """Range of ``alpha_i`` for each of the four pairs of labels."""
    if yi == yj:
        return max(0.0, ai + aj - uj), min(ui, ai + aj)
    return max(0.0, ai - aj), min(ui, uj + ai - aj)


def pair_step(
    X: np.ndarray,
    y: Sequence[float],
    bound: Sequence[float],
    margin: Sequence[float],
    alpha: list[float],
    i: int,
    j: int,
) -> None:
    """Move two coefficients to the minimum between them, ``w`` computed anew from all of them."""
    low, high = box(y[i], y[j], alpha[i], alpha[j], bound[i], bound[j])
    if high - low <= 1e-15 * (bound[i] + bound[j]):
        return
    w = sum(a * label * x for a, label, x in zip(alpha, y, X, strict=True))
    gi = y[i] * float(w @ X[i]) - margin[i]
    gj = y[j] * float(w @ X[j]) - margin[j]
    s = gi - y[i] * y[j] * gj
    difference = X[i] - X[j]
    eta = float(difference @ difference)
    if eta > 1e-12 * float(X[i] @ X[i] + X[j] @ X[j]):
        new = min(max(alpha[i] - s / eta, low), high)
    else:
        new = high if s < 0 else low if s > 0 else alpha[i]
    alpha[j] = min(max(alpha[j] - y[i] * y[j] * (new - alpha[i]), 0.0), bound[j])
    alpha[i] = new


def single_epoch(
    X: np.ndarray,
    y: Sequence[float],
    bound: Sequence[float],
    margin: Sequence[float],
    alpha: list[float],
    order: Sequence[int],
    b: float,
    rho: float,
) -> None:
    """One coefficient after the other, the rows centred, with multiplier ``b`` and penalty ``rho``."""
    Z = X - X.mean(axis=0)
    for i in order:
        w = sum(a * label * z for a, label, z in zip(alpha, y, Z, strict=True))
        total = sum(a * label for a, label in zip(alpha, y, strict=True))
        gradient = y[i] * (float(w @ Z[i]) + b + rho * total) - margin[i]
        alpha[i] = min(max(alpha[i] - gradient / (float(Z[i] @ Z[i]) + rho), 0.0), bound[i])


def quadratic_program(
    X: np.ndarray, y: Sequence[float], bound: Sequence[float], margin: Sequence[float]
) -> tuple[np.ndarray, float]:
    """``w`` and the least objective, by SciPy from the dual."""
    y, p = np.asarray(y), np.asarray(margin)
    Z = y[:, None] * X
    Q = Z @ Z.T
    alpha = np.zeros(len(y))
    for _ in range(5):  # SciPy's search stops early; it is started again where it stopped
        alpha = minimize(
            lambda a: 0.5 * a @ Q @ a - p @ a,
            alpha,
            jac=lambda a: Q @ a - p,
            method="SLSQP",
            bounds=[(0.0, u) for u in bound],
            constraints={"type": "eq", "fun": lambda a: y @ a, "jac": lambda _: y},
            options={"ftol": 1e-15, "maxiter": 1000},
        ).x
    return Z.T @ alpha, float(p @ alpha - 0.5 * alpha @ Q @ alpha)
