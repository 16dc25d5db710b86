"""What a fitted classifier says, as a margin that an adaptation can add to."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

__all__ = ["check_adaptable", "hinge_scale", "is_fitted", "margins", "node_margins"]

# Shares of a class are taken as this at least: a logarithm of 0 could never be adapted.
LEAST_SHARE = 1e-3
# What the scale of a margin is measured on: at least, and at most, so many cases of the first call.
FEWEST, MOST = 10, 1000


def is_fitted(thing: Any) -> bool:
    """Whether an estimator or transformer is fitted, or is none of scikit-learn's kind and cannot say."""
    if not hasattr(thing, "__sklearn_tags__") or not hasattr(thing, "fit"):
        return True
    try:
        check_is_fitted(thing)
    except NotFittedError:
        return False
    return True


def check_adaptable(estimator: Any) -> None:
    """Refuse what cannot be adapted.

    Parameters
    ----------
    estimator : object
        What was given as ``estimator``.

    Raises
    ------
    TypeError
        It answers nothing.
    NotFittedError
        It has not been fitted.
    """
    if isinstance(estimator, type) or not hasattr(estimator, "predict"):
        raise TypeError(
            f"estimator must be a fitted classifier or None; got {estimator!r}, which has no predict method."
        )
    if not is_fitted(estimator) or not hasattr(estimator, "classes_"):
        raise NotFittedError(
            f"the estimator, a {type(estimator).__name__}, is not fitted: fit it first, under the old costs; "
            "the stream only adapts it."
        )


def margins(estimator: Any, X: Any) -> NDArray[np.float64]:
    """Give the margin ``f_0`` of a fitted classifier.

    A tree of cstree gives the logarithm of what its answers cost in the leaf; other classifiers their
    ``decision_function``, else the log-odds of their ``predict_proba``, else 1 for the class that they
    predict.

    Parameters
    ----------
    estimator : fitted classifier
    X : table
        As the estimator wants it.

    Returns
    -------
    ndarray of shape (n,) for two classes, else (n, K)
        Positive where the second class is answered; the greatest stands for the answer.
    """
    n_classes = len(estimator.classes_)
    if hasattr(getattr(estimator, "tree_", None), "label_cost"):
        return node_margins(estimator)[estimator.apply(X)]
    if hasattr(estimator, "decision_function"):
        scores = np.asarray(estimator.decision_function(X), dtype=np.float64)
        if scores.ndim == 1:
            return scores.copy()
    elif hasattr(estimator, "predict_proba"):
        scores = np.log(np.clip(np.asarray(estimator.predict_proba(X), dtype=np.float64), LEAST_SHARE, 1.0))
    else:
        scores = (np.asarray(estimator.predict(X))[:, None] == np.asarray(estimator.classes_)).astype(float)
    if scores.shape[1:] != (n_classes,):
        raise ValueError(
            f"the scores of the estimator, a {type(estimator).__name__}, have {scores.shape[1]} columns for "
            f"{n_classes} classes; use one score per class (decision_function_shape='ovr')."
        )
    return _of_classes(scores)


def _of_classes(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Take scores of two classes as one, that of the second."""
    return np.ascontiguousarray(scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores)


def node_margins(estimator: Any) -> NDArray[np.float64]:
    """Margin at each node of a tree of cstree: minus the logarithm of what each answer costs there.

    The least is what the tree answers, at its own costs. Every answer is given the average cost of one more
    mistake: so the logarithm exists, and leaves that few cases have reached say less.

    Parameters
    ----------
    estimator : fitted classifier with a tree of cstree

    Returns
    -------
    ndarray of shape (n_nodes,) for two classes, else (n_nodes, K)
    """
    tree, costs = estimator.tree_, estimator.costs_
    regret = tree.label_cost - (tree.class_weight @ costs.matrix.min(axis=1))[:, None]
    parent = tree.parents()
    for node in np.flatnonzero(tree.class_weight.sum(axis=1) <= 0):
        if node > 0:
            regret[node] = regret[parent[node]]  # it answers as its nearest ancestor that cases reached
    mistakes = costs.regrets[costs.regrets > 0]
    return _of_classes(-np.log(np.maximum(regret, 0.0) + (mistakes.mean() if len(mistakes) else 1.0)))


def hinge_scale(scores: NDArray[np.float64], target: NDArray[np.integer[Any]]) -> float:
    """Find the factor ``s`` with the least hinge loss ``sum_i (1 - s m_i)_+`` of margins ``m``.

    Parameters
    ----------
    scores : ndarray of shape (n,) or (n, K)
        Margins ``f_0`` of the first cases of a stream.
    target : ndarray of shape (n,)
        Class indices.

    Returns
    -------
    float
        Positive: where no factor helps, the one that makes the greatest margin 1.

    Raises
    ------
    ValueError
        There are too few cases to measure it on.
    """
    if len(scores) < FEWEST:
        raise ValueError(
            f"f0_scale='hinge' is measured on the cases of the first call, and these are {len(scores)}: "
            f"begin with {FEWEST} or more, or give a number."
        )
    scores, target = scores[:MOST], target[:MOST]
    if scores.ndim == 1:
        margin = np.where(target == 1, scores, -scores)
    else:
        own = scores[np.arange(len(scores)), target]
        others = scores.copy()
        others[np.arange(len(scores)), target] = -np.inf
        margin = own - others.max(axis=1)
    if not margin.any():
        return 1.0
    if margin.sum() <= 0:
        return float(1.0 / np.abs(margin).max())
    # The slope at s is minus the sum of the margins with s m < 1: it rises by m at every s = 1 / m.
    bends = np.sort(margin[margin > 0])[::-1]
    rises = np.flatnonzero(np.cumsum(bends) >= margin.sum())
    return float(1.0 / bends[rises[0] if len(rises) else -1])
