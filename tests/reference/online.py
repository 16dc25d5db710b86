"""Online learners case by case, as written in the papers: plain lists, no shared code."""

from __future__ import annotations

import math
from collections.abc import Sequence

__all__ = ["PlainCsogd", "PlainOcsca", "PlainOcscaMany", "plain_average"]

Row = Sequence[float]


def dot(a: Row, b: Row) -> float:
    return math.fsum(x * z for x, z in zip(a, b, strict=True))


class PlainOcsca:
    """Two classes: ``w += tau y x``, ``tau = min(alpha C, l / ||x||^2)``; ``x`` has a constant feature.

    With ``scaled``, lengths are measured in the stream's own unit: ``x`` is divided by the root of the mean
    of ``||x||^2`` so far (without the constant). Costs are divided by ``unit``; None: by their mean so far.
    """

    def __init__(self, d: int, alpha: float, constant: float = 0.0, scaled: bool = False) -> None:
        self.unit: float | None = 1.0
        self.w = [0.0] * d
        self.b = 0.0
        self.alpha, self.constant, self.scaled = alpha, constant, scaled
        self.squares: list[float] = []
        self.costs: list[tuple[float, float]] = []
        self.history: list[list[float]] = []

    def score(self, x: Row, f0: float = 0.0) -> float:
        return f0 + dot(self.w, x) + self.b

    def learn(self, x: Row, y: int, cost: float, f0: float = 0.0, weight: float = 1.0) -> tuple[float, float]:
        """Learn one case; give its score before, and tau."""
        score = self.score(x, f0)
        loss = 1 - y * score
        square = dot(x, x)
        self.squares.append(square)
        self.costs.append((weight, cost))
        length = math.fsum(self.squares) / len(self.squares) if self.scaled else 1.0
        length, unit = length or 1.0, self.unit
        if unit is None:
            paid = math.fsum(w * c for w, c in self.costs) / math.fsum(w for w, _ in self.costs)
            unit = paid if paid > 0 else 1.0
        cap = self.alpha * weight * cost / (unit * length)
        constant = self.constant**2 * length
        tau = 0.0
        if loss > 0:
            square += constant
            tau = min(cap, loss / square) if square > 0 else cap
            self.w = [a + tau * y * v for a, v in zip(self.w, x, strict=True)]
            self.b += tau * y * constant
        self.history.append([*self.w, self.b])
        return score, tau


class PlainOcscaMany:
    """Any number of classes: the rival whose constraint is violated at the greatest price moves."""

    def __init__(self, n_classes: int, n_features: int, alpha: float, constant: float = 0.0) -> None:
        self.W = [[0.0] * n_features for _ in range(n_classes)]
        self.b = [0.0] * n_classes
        self.alpha, self.constant = alpha, constant

    def score(self, x: Row, f0: Row) -> list[float]:
        return [f + dot(w, x) + b for f, w, b in zip(f0, self.W, self.b, strict=True)]

    def learn(self, x: Row, y: int, costs: Row, f0: Row) -> list[float]:
        """Learn one case; ``costs`` is its row of the matrix. Gives its scores before."""
        F = self.score(x, f0)
        priced = [(costs[k] * max(0.0, 1 - (F[y] - F[k])), -k) for k in range(len(F)) if k != y]
        worst, minus = max(priced)
        if worst <= 0:
            return F
        r = -minus
        margin = 1 - (F[y] - F[r])
        square = dot(x, x) + self.constant**2
        tau = self.alpha * costs[r] / 2
        if square > 0:
            tau = min(tau, margin / (2 * square))
        for k, sign in ((y, 1), (r, -1)):
            self.W[k] = [a + sign * tau * v for a, v in zip(self.W[k], x, strict=True)]
            self.b[k] += sign * tau * self.constant**2
        return F


class PlainCsogd:
    """CSOGD-I and II, with ``rho`` given at each case."""

    def __init__(self, n_features: int, variant: str) -> None:
        self.w = [0.0] * n_features
        self.variant = variant
        self.losses: list[float] = []
        self.squares: list[float] = []

    def learn(self, x: Row, y: int, rho: float, step: float) -> float:
        """Learn one case; give its score before. Keeps loss and squared length of the gradient."""
        c = rho if y > 0 else 1.0
        score = dot(self.w, x)
        target, slope = (c, 1.0) if self.variant == "I" else (1.0, c)
        loss = max(0.0, target - y * score)
        self.losses.append(slope * loss)
        self.squares.append(slope**2 * dot(x, x) if loss > 0 else 0.0)
        if loss > 0:
            self.w = [a + step * slope * y * v for a, v in zip(self.w, x, strict=True)]
        return score

    def loss_of(self, u: Row, x: Row, y: int, rho: float) -> float:
        """Loss of fixed weights."""
        c = rho if y > 0 else 1.0
        return max(0.0, c - y * dot(u, x)) if self.variant == "I" else c * max(0.0, 1 - y * dot(u, x))


def plain_average(history: Sequence[Row]) -> list[float]:
    """Mean of the weights after each case of the last whole window and the open one.

    Windows end after 1, 2, 4, 8, ... cases.
    """
    n = len(history)
    end = 1
    while 2 * end <= n:
        end *= 2
    start = end // 2
    part = history[start:]
    return [math.fsum(column) / len(part) for column in zip(*part, strict=True)]
