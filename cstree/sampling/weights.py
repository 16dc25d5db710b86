"""What a case weighs when costs become weights: per class, per case, and by Elkan's theorem."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

__all__ = [
    "case_costs",
    "class_costs",
    "class_weights",
    "consistent_weights",
    "mistake_costs",
    "rebalance_factor",
    "undo_weights",
]

# Singular values below this share of the greatest count as zero, entries below it as none.
_RANK_TOLERANCE = 1e-10
_ENTRY_TOLERANCE = 1e-12


def mistake_costs(matrix: NDArray[np.float64], classes: Sequence[Any]) -> NDArray[np.float64]:
    """Return what each wrong answer costs more than the right one, ``C[i, j] - C[i, i]``.

    Parameters
    ----------
    matrix : ndarray of shape (K, K)
        ``C[true, predicted]``.
    classes : sequence of K labels
        Names for the error.

    Returns
    -------
    ndarray of shape (K, K)
        Zero diagonal, all entries 0 or more. Decisions do not depend on what was subtracted.

    Raises
    ------
    ValueError
        A wrong answer is cheaper than the right one: no weight of the class can say that.
    """
    excess = matrix - np.diag(matrix)[:, None]
    if (excess < 0).any():
        true, predicted = (classes[k] for k in np.argwhere(excess < 0)[0])
        raise ValueError(
            f"answering {predicted!r} when the truth is {true!r} is cheaper than the right answer, which "
            "weights of classes and cases cannot express: use MinimumCostClassifier, which takes any costs"
        )
    return excess


def class_costs(matrix: NDArray[np.float64], classes: Sequence[Any]) -> NDArray[np.float64]:
    """One cost for each class, ``Cost[k] = sum_j C[k, j]`` over its mistakes.

    Zhou and Liu (2006); Ting (2002). With two classes it is the cost of the one mistake.

    Parameters
    ----------
    matrix : ndarray of shape (K, K)
        ``C[true, predicted]``.
    classes : sequence of K labels
        Names for the error.

    Returns
    -------
    ndarray of shape (K,)
        Positive costs.

    Raises
    ------
    ValueError
        Mistakes on a class cost nothing, or less than nothing.
    """
    costs = np.asarray(mistake_costs(matrix, classes).sum(axis=1))
    if len(classes) > 1 and (costs <= 0).any():
        raise ValueError(
            f"mistakes on class {classes[int(np.argmin(costs))]!r} cost nothing, so none of its cases would "
            "count: give them a small cost, or use MinimumCostClassifier"
        )
    return costs


def consistent_weights(matrix: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """Weights of the classes by which rescaling meets every pair of mistakes, if there are some.

    ``w_i / w_j = C[i, j] / C[j, i]`` for all pairs (Zhou and Liu, 2010): a null vector of one sign of the
    matrix with a row for each pair, ``C[j, i]`` in column ``i`` and ``-C[i, j]`` in column ``j``.

    Parameters
    ----------
    matrix : ndarray of shape (K, K)
        Costs of mistakes, 0 or more.

    Returns
    -------
    ndarray of shape (K,) or None
        Weights, the least of them 1; None when the costs are inconsistent. Classes that no costs tie together
        (both mistakes of each pair between them are free) are scaled on their own.

    Examples
    --------
    >>> import numpy as np
    >>> consistent_weights(np.array([[0, 1, 2], [3, 0, 6], [1, 1, 0]])).round(9).tolist()
    [2.0, 6.0, 1.0]
    >>> consistent_weights(np.array([[0, 1, 2], [3, 0, 5], [1, 1, 0]])) is None
    True
    """
    n_classes = len(matrix)
    tied = (matrix > 0) | (matrix.T > 0)
    weights = np.ones(n_classes)
    n_groups, group = connected_components(tied, directed=False)
    for g in range(n_groups):
        members = np.flatnonzero(group == g)
        if len(members) == 1:
            continue
        null = _null_vector(matrix[np.ix_(members, members)])
        if null is None:
            return None
        weights[members] = null / null.min()
    return weights


def _null_vector(matrix: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """Positive null vector of the coefficients of connected classes, or None."""
    n_classes = len(matrix)
    rows = []
    for i in range(n_classes):
        for j in range(i + 1, n_classes):
            greater = max(matrix[i, j], matrix[j, i])
            if greater > 0:
                row = np.zeros(n_classes)
                row[i], row[j] = matrix[j, i] / greater, -matrix[i, j] / greater
                rows.append(row)
    _, singular, vectors = np.linalg.svd(np.array(rows))
    rank = int((singular > _RANK_TOLERANCE * singular[0]).sum())
    null = vectors[-1] * np.sign(vectors[-1].sum())
    return null if rank < n_classes and (null > _ENTRY_TOLERANCE).all() else None


def class_weights(matrix: NDArray[np.float64], classes: Sequence[Any]) -> NDArray[np.float64]:
    """Weights of the classes: consistent ones if there are some, else the sums of :func:`class_costs`.

    Parameters
    ----------
    matrix : ndarray of shape (K, K)
        ``C[true, predicted]``.
    classes : sequence of K labels
        Names for errors.

    Returns
    -------
    ndarray of shape (K,)
        Positive weights; the least is 1.

    Raises
    ------
    ValueError
        As :func:`class_costs`.
    """
    sums = class_costs(matrix, classes)
    if len(classes) == 1:
        return np.ones(1)
    weights = consistent_weights(mistake_costs(matrix, classes))
    return np.asarray(sums / sums.min()) if weights is None else weights


def case_costs(
    y: NDArray[np.integer[Any]], matrix: NDArray[np.float64], example_cost: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Return what a mistake on each case costs, ``c_i``: over all wrong answers, compared to the right one.

    Parameters
    ----------
    y : ndarray of shape (n,), int
        Class indices.
    matrix : ndarray of shape (K, K)
        ``C[true, predicted]``.
    example_cost : ndarray of shape (n, K), optional
        Cost of each answer for each case; replaces the matrix.

    Returns
    -------
    ndarray of shape (n,)
        ``sum_j C[y_i, j] - C[y_i, y_i]``: with two classes the cost of the one mistake.

    Raises
    ------
    ValueError
        A case's wrong answers together are cheaper than its right one, or no mistake costs anything.
    """
    rows = matrix[y] if example_cost is None else example_cost
    costs = (rows - rows[np.arange(len(y)), y][:, None]).sum(axis=1)
    if (costs < 0).any():
        raise ValueError(
            f"the wrong answer to case {int(np.argmax(costs < 0))} is cheaper than the right one, which the "
            "weight of a case cannot express: use MinimumCostClassifier, which takes any costs"
        )
    if len(rows.T) > 1 and not costs.any():
        raise ValueError("no mistake costs anything, so no case would count: give mistakes a cost")
    return np.asarray(costs)


def rebalance_factor(threshold: float, base_threshold: float = 0.5) -> float:
    """Factor on the number of negative cases that moves a learner's threshold (Elkan 2001, theorem 1).

    Parameters
    ----------
    threshold : float
        Probability of the positive class from which it should be answered: with costs,
        ``C_N / (C_P + C_N)``; in (0, 1).
    base_threshold : float, default=0.5
        Probability from which the learner answers it.

    Returns
    -------
    float
        ``p* / (1 - p*) * (1 - p0) / p0``.

    Raises
    ------
    ValueError
        A threshold is not between 0 and 1.

    Examples
    --------
    >>> rebalance_factor(0.2)
    0.25
    """
    for name, value in (("threshold", threshold), ("base_threshold", base_threshold)):
        if not 0 < value < 1:
            raise ValueError(f"{name} is {value!r}: a threshold on a probability lies between 0 and 1")
    return threshold / (1 - threshold) * (1 - base_threshold) / base_threshold


def undo_weights(proba: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Probabilities before classes were weighted, ``P_k = (P'_k / w_k) / sum_j (P'_j / w_j)``.

    Parameters
    ----------
    proba : ndarray of shape (n, K)
        Class probabilities that a learner estimated from weighted cases.
    weights : ndarray of shape (K,)
        Positive weights of the classes.

    Returns
    -------
    ndarray of shape (n, K)
        Rows that sum to 1.
    """
    odds = proba / weights
    return np.asarray(odds / odds.sum(axis=1, keepdims=True))
