"""Comparing methods over sets: ranks, Friedman, Wilcoxon with Holm's correction, a test within one set."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import stats

__all__ = ["friedman", "holm", "mean_ranks", "resampled_t", "wilcoxon"]

Array = NDArray[np.float64]


def mean_ranks(costs: Array) -> Array:
    """Mean rank of each method, 1 for the least cost, ties shared.

    Parameters
    ----------
    costs : ndarray of shape (n_sets, n_methods)

    Returns
    -------
    ndarray of shape (n_methods,)
    """
    return stats.rankdata(np.round(costs, 9), axis=1).mean(axis=0)


def friedman(costs: Array) -> tuple[float, float]:
    """Friedman's chi-squared and p that all methods rank alike; (0, 1) where they tie on every set."""
    rounded = np.round(costs, 9)
    if (rounded == rounded[:, :1]).all():
        return 0.0, 1.0
    result = stats.friedmanchisquare(*rounded.T)
    return float(result.statistic), float(result.pvalue)


def wilcoxon(first: Array, second: Array) -> float:
    """Two-sided p of Wilcoxon's signed-rank test; sets without a difference are left out."""
    difference = np.round(np.asarray(first) - np.asarray(second), 9)
    difference = difference[difference != 0]
    return float(stats.wilcoxon(difference).pvalue) if len(difference) else 1.0


def holm(p: Sequence[float]) -> list[float]:
    """Adjust p values for their number, step by step from the least (Holm, 1979)."""
    order = np.argsort(p, kind="stable")
    adjusted = np.empty(len(p))
    least = 0.0
    for i, position in enumerate(order):
        least = max(least, min(1.0, (len(p) - i) * p[position]))
        adjusted[position] = least
    return adjusted.tolist()


def resampled_t(differences: Array, folds: int) -> float:
    """Two-sided p of the corrected resampled t-test (Nadeau and Bengio, 2003).

    Training parts of folds overlap, so the variance of the mean is that of the differences times
    ``1 / J + 1 / (folds - 1)`` for ``J`` differences, not ``1 / J``.

    Parameters
    ----------
    differences : ndarray of shape (J,)
        One per outer fold, all repeats together.
    folds : int
        Folds of a repeat.

    Returns
    -------
    float
    """
    n = len(differences)
    mean, variance = float(np.mean(differences)), float(np.var(differences, ddof=1)) if n > 1 else 0.0
    if variance < 1e-18:
        return 1.0 if abs(mean) < 1e-9 else 0.0
    t = mean / math.sqrt((1 / n + 1 / (folds - 1)) * variance)
    return float(2 * stats.t.sf(abs(t), n - 1))
