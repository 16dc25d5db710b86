"""Problems of many classes as problems of two, in which each case pulls to one side as much as it matters."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

__all__ = ["by_costs", "by_shares", "pair_votes"]

Floats = NDArray[np.float64]


def by_costs(prices: Floats, one_vs_one: bool) -> Floats:
    """How strongly costs pull each case of each problem, towards the second side where positive.

    Parameters
    ----------
    prices : ndarray of shape (n, K)
        What each answer costs each case more than the cheapest.
    one_vs_one : bool
        A problem for each pair of classes: a case, of whatever class, pulls towards the answer that is
        cheaper for it, by the difference. Otherwise one for each class: towards it by what the cheapest
        other answer would cost, away from it by what it costs itself.

    Returns
    -------
    ndarray of shape (n, n_problems)
        One problem for two classes.
    """
    n_classes = prices.shape[1]
    if one_vs_one or n_classes == 2:
        return np.column_stack([prices[:, a] - prices[:, b] for a, b in combinations(range(n_classes), 2)])
    others = [np.delete(prices, k, axis=1).min(axis=1) for k in range(n_classes)]
    return np.column_stack(others) - prices


def by_shares(
    y: NDArray[np.integer], weight: Floats, n_classes: int, one_vs_one: bool, asymmetry: float | None
) -> Floats:
    """How strongly each case pulls where one side of each problem counts ``asymmetry``, the other the rest.

    Parameters
    ----------
    y : ndarray of shape (n,), int
        Class indices.
    weight : ndarray of shape (n,)
    n_classes : int
    one_vs_one : bool
        A problem for each pair of classes, or one for each class.
    asymmetry : float or None
        Share of the second side. None: the share of the cases on the first one, so that both weigh as much;
        a half, if one of them has none.

    Returns
    -------
    ndarray of shape (n, n_problems)
        One problem for two classes; a case counts 1 on average of both sides.
    """
    if one_vs_one or n_classes == 2:
        sides = [(y == b, y == a) for a, b in combinations(range(n_classes), 2)]
    else:
        sides = [(y == k, y != k) for k in range(n_classes)]
    columns = []
    for positive, negative in sides:
        share = asymmetry
        if share is None:
            first, second = weight[negative].sum(), weight[positive].sum()
            share = first / (first + second) if first > 0 and second > 0 else 0.5
        columns.append(2.0 * share * positive - 2.0 * (1.0 - share) * negative)
    return np.column_stack(columns)


def pair_votes(scores: Floats, n_classes: int) -> Floats:
    """Duels that each class wins; of equally many, scores decide.

    Parameters
    ----------
    scores : ndarray of shape (n, K (K - 1) / 2)
        Positive for the second class of a pair.
    n_classes : int

    Returns
    -------
    ndarray of shape (n, K)
        Wins, plus the sum of the scores squeezed to less than half a win.
    """
    wins = np.zeros((len(scores), n_classes))
    strength = np.zeros_like(wins)
    for column, (a, b) in enumerate(combinations(range(n_classes), 2)):
        second = scores[:, column] > 0
        wins[:, a] += ~second
        wins[:, b] += second
        strength[:, a] -= scores[:, column]
        strength[:, b] += scores[:, column]
    return wins + strength / (3.0 * (np.abs(strength) + 1.0))
