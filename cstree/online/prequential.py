"""Test, then learn: errors and costs of the answers that were given before each case was learnt."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

__all__ = ["Prequential"]


class Prequential:
    """Running totals, and their values at the end of every window.

    Sums go case by case, so they do not depend on how a stream is cut into blocks.

    Parameters
    ----------
    window : int
        Cases per window.
    """

    def __init__(self, window: int) -> None:
        self._window = window
        self._n = 0
        self._totals = np.zeros(3)  # weight, error, cost
        self._ends: list[list[float]] = []

    def add(self, weight: NDArray[np.float64], wrong: NDArray[np.bool_], cost: NDArray[np.float64]) -> None:
        """Count cases, shape (n,) each: their weights, whether the answer was wrong, and what it cost."""
        totals = np.empty((3, len(weight) + 1))
        totals[:, 0] = self._totals
        totals[:, 1:] = weight, weight * wrong, weight * cost
        np.cumsum(totals, axis=1, out=totals)
        first = self._window - self._n % self._window
        self._ends += totals[:, first :: self._window].T.tolist()
        self._n += len(weight)
        self._totals = totals[:, -1].copy()

    @property
    def error(self) -> float:
        """Share of wrong answers, by weight; NaN before the first case."""
        return float(self._totals[1] / self._totals[0]) if self._n else float("nan")

    @property
    def cost(self) -> float:
        """Average cost of the answers, by weight; NaN before the first case."""
        return float(self._totals[2] / self._totals[0]) if self._n else float("nan")

    def curve(self) -> pd.DataFrame:
        """Error and average cost by window; the last one may still be open."""
        ends = [*self._ends]
        numbers = [self._window * (i + 1) for i in range(len(ends))]
        if self._n % self._window:
            ends.append(self._totals.tolist())
            numbers.append(self._n)
        steps = np.diff(np.array([[0.0, 0.0, 0.0], *ends]), axis=0).reshape(-1, 3)
        return pd.DataFrame(
            {"n_cases": numbers, "error": steps[:, 1] / steps[:, 0], "cost": steps[:, 2] / steps[:, 0]}
        )
