"""The two-class problem that all solvers share, its bias, and how far a solution is from the optimum."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cstree.svm.rows import combine, scores, squares

__all__ = ["Certificate", "Solution", "TwoClass"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class TwoClass:
    """Find ``w, b`` of least ``0.5 ||w||^2 + sum_i U_i (p_i - y_i (w . x_i + b))_+``.

    Labels are written into the arrays: with ``t = y p``, ``lower = -U`` and ``upper = 0`` where ``y = -1``,
    ``lower = 0`` and ``upper = U`` where ``y = 1``, and the excess ``r = w . x + b - t``, a case loses
    ``upper (-r)_+ - lower (r)_+``. The dual is to maximise ``t . c - 0.5 ||X' c||^2`` over ``lower <= c <=
    upper, sum_i c_i = 0``, where ``c = y alpha``; at the optimum ``w = X' c``.

    Attributes
    ----------
    X : ndarray or CSR matrix of shape (n, d)
    t, lower, upper : ndarray of shape (n,), float64
        ``lower < upper``: cases that weigh nothing are left out.
    """

    X: Any
    t: Floats
    lower: Floats
    upper: Floats

    @classmethod
    def from_labels(cls, X: Any, y: Floats, bound: Floats, margin: Floats | float = 1.0) -> TwoClass:
        """Write labels -1 and 1, upper bounds ``U`` and margins ``p`` as targets and signed bounds."""
        return cls(X, y * margin, np.where(y < 0, -bound, 0.0), np.where(y > 0, bound, 0.0))

    def __len__(self) -> int:
        return len(self.t)

    def primal(self, w: Floats, b: float, f: Floats) -> float:
        """Objective at ``w`` and ``b``, where ``f = X w``."""
        r = f + (b - self.t)
        return float(0.5 * w @ w + self.upper @ np.maximum(-r, 0.0) - self.lower @ np.maximum(r, 0.0))

    def dual(self, c: Floats, w: Floats) -> float:
        """Objective of the dual at ``c``, where ``w = X' c``."""
        return float(self.t @ c - 0.5 * w @ w)

    def bias(self, f: Floats) -> float:
        """Give the ``b`` of least loss for ``f = X w``; the middle, where an interval is equally good.

        The loss is piecewise linear in ``b``: its slope begins with ``-sum upper`` and grows by ``U_i`` at
        ``t_i - f_i``.
        """
        at = self.t - f
        order = np.argsort(at)
        growth = (self.upper - self.lower)[order]
        slope = np.cumsum(growth) - self.upper.sum()
        flat = 1e-12 * growth.sum()
        k = int(np.searchsorted(slope, -flat))
        if k >= len(at) - 1:
            return float(at[order[-1]])
        here = at[order[k]]
        return float(0.5 * (here + at[order[k + 1]]) if slope[k] <= flat else here)

    def without_search(self) -> Solution | None:
        """Give the answer where the features do not matter: one side is empty, or all features are 0."""
        both = self.upper.any() and self.lower.any()
        if both and squares(self.X).max() > 0:
            return None
        w, f = np.zeros(self.X.shape[1]), np.zeros(len(self))
        c = self.balanced(self.upper + self.lower)
        if len(self) == 0:
            return Solution(w, -1.0, c, 0.0, 0.0)
        b = self.bias(f) if both else float(self.t.max() if self.upper.any() else self.t.min())
        return Solution(w, b, c, self.primal(w, b, f), 0.0)

    def balanced(self, c: Floats) -> Floats:
        """Scale the heavier side down, so that the coefficients sum to 0."""
        surplus = float(c.sum())
        if surplus == 0.0:
            return c
        side = np.maximum(c, 0.0) if surplus > 0 else np.minimum(c, 0.0)
        return c - side * (surplus / side.sum())


@dataclass(frozen=True, eq=False)
class Solution:
    """What a solver found.

    Attributes
    ----------
    w : ndarray of shape (d,)
    b : float
    c : ndarray of shape (n,)
        ``y alpha``.
    objective, gap : float
        The least objective is at most ``gap`` below.
    """

    w: Floats
    b: float
    c: Floats
    objective: float
    gap: float


class Certificate:
    """Keeps the best ``(w, b)`` and the best ``c``: the difference of their objectives bounds the error.

    Parameters
    ----------
    problem : TwoClass
    tol : float
        The gap is small enough at ``tol |objective|``.
    """

    def __init__(self, problem: TwoClass, tol: float) -> None:
        self._problem = problem
        self.tol = tol
        self.upper, self.lower = np.inf, -np.inf
        self._w = np.zeros(problem.X.shape[1])
        self._b = 0.0
        self._c = np.zeros(len(problem))

    @property
    def gap(self) -> float:
        """Duality gap so far; never negative."""
        return max(0.0, self.upper - self.lower)

    @property
    def reached(self) -> bool:
        """Whether the gap is small enough."""
        return self.gap <= self.tol * abs(self.upper)

    def add(self, c: Floats, w: Floats | None = None, f: Floats | None = None) -> bool:
        """Judge coefficients, and ``w`` (by default theirs); tell whether the gap is small enough."""
        problem = self._problem
        c = problem.balanced(c)
        own = combine(problem.X, c)
        lower = problem.dual(c, own)
        if lower > self.lower:
            self.lower, self._c = lower, c.copy()
        w = own if w is None else w
        f = scores(problem.X, w) if f is None else f
        b = problem.bias(f)
        upper = problem.primal(w, b, f)
        if upper < self.upper:
            self.upper, self._w, self._b = upper, w.copy(), b
        return self.reached

    def solution(self) -> Solution:
        """Give the best of all that was judged."""
        if not np.isfinite(self.upper):
            self.add(self._c)
        return Solution(self._w, self._b, self._c, self.upper, self.gap)
