"""The Bayes rule over class probabilities to which training never showed a cost."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cstree.costs.labels import listed
from cstree.costs.model import CostModel
from cstree.metrics.answers import cost_table
from cstree.svm.cases import NumericClassifier

__all__ = ["PosteriorClassifier", "cheapest", "read_priors"]

Floats = NDArray[np.float64]

# Expected costs this near to one another, as a share of the greatest, are the same.
_SAME = 1e-12


def cheapest(proba: Floats, matrix: Floats) -> NDArray[np.intp]:
    """Answer of least expected cost for each case, ``argmin_k sum_j P(j|x) C[j, k]``; the first of several.

    Parameters
    ----------
    proba : ndarray of shape (n, K)
        Class probabilities.
    matrix : ndarray of shape (K, K)
        ``C[true, predicted]``.

    Returns
    -------
    ndarray of shape (n,), int
        Class indices.
    """
    expected = proba @ (matrix - matrix.min(axis=1, keepdims=True))  # what every answer costs decides nothing
    near = expected.min(axis=1) + _SAME * expected.max(axis=1)
    return np.asarray((expected <= near[:, None]).argmax(axis=1))


def read_priors(priors: Any, classes: NDArray[Any]) -> Floats | None:
    """Shares of classes where the classifier will be used, summing to 1; None for those of the training.

    Parameters
    ----------
    priors : {label: share}, array-like of shape (K,) or None
        In the order of the classes, if it is no mapping.
    classes : ndarray of shape (K,)
        Class labels.

    Returns
    -------
    ndarray of shape (K,) or None

    Raises
    ------
    ValueError
        Not one positive number for each class.
    """
    if priors is None:
        return None
    labels = classes.tolist()
    if isinstance(priors, Mapping):
        if set(priors) != set(labels):
            raise ValueError(f"priors names {listed(list(priors))}, but the classes are {listed(labels)}.")
        priors = [priors[label] for label in labels]
    try:
        share = np.asarray(priors, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"priors holds something that is not a number ({error}).") from error
    if share.shape != (len(labels),):
        raise ValueError(f"priors has shape {share.shape}; give one share for each of {listed(labels)}.")
    if not (np.isfinite(share) & (share > 0)).all():
        raise ValueError("priors holds a share that is not a positive number.")
    return share / share.sum()


class PosteriorClassifier(NumericClassifier, ABC):
    """Base of classifiers that estimate class probabilities without costs and answer by the Bayes rule."""

    @abstractmethod
    def predict_proba(self, X: Any) -> Floats:
        """Give class probabilities; subclasses say how."""

    def expected_cost(self, X: Any, costs: CostModel | None = None) -> Floats:
        """Return what each answer is expected to cost.

        Parameters
        ----------
        X : DataFrame, array-like or sparse matrix of shape (n_samples, n_features)
            Cases.
        costs : CostModel, optional
            Other costs than those of the constructor.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            ``sum_j P(j|x) C[j, k]`` for each answer ``k``.

        Raises
        ------
        TypeError, ValueError
            They are no costs, or not for these classes.
        """
        proba = self.predict_proba(X)
        return proba @ self._matrix(costs)

    def predict(self, X: Any, costs: CostModel | None = None) -> NDArray[Any]:
        """Return the label of least expected cost for each case.

        Parameters
        ----------
        X : DataFrame, array-like or sparse matrix of shape (n_samples, n_features)
            Cases.
        costs : CostModel, optional
            Other costs than those of the constructor: training did not see any.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels from ``classes_``; of equally cheap answers the first.

        Raises
        ------
        TypeError, ValueError
            They are no costs, or not for these classes.
        """
        proba = self.predict_proba(X)
        return self._labels(cheapest(proba, self._matrix(costs)))

    def predict_cost_sweep(self, X: Any, costs_list: Iterable[CostModel]) -> NDArray[Any]:
        """Answer cases under many costs; their probabilities are computed once.

        Parameters
        ----------
        X : DataFrame, array-like or sparse matrix of shape (n_samples, n_features)
            Cases.
        costs_list : iterable of CostModel
            Cost settings.

        Returns
        -------
        ndarray of shape (n_settings, n_samples)
            Row ``s`` is ``predict(X, costs_list[s])``.

        Raises
        ------
        TypeError, ValueError
            One of them is no CostModel, or not for these classes.
        """
        if isinstance(costs_list, CostModel):
            raise TypeError("costs_list is one CostModel: give a list of them, or use predict(X, costs).")
        proba = self.predict_proba(X)
        index = [cheapest(proba, self._matrix(costs)) for costs in costs_list]
        return self._labels(np.array(index, dtype=np.intp).reshape(len(index), len(proba)))

    def _matrix(self, costs: CostModel | None) -> Floats:
        if costs is None:
            return self.costs_.matrix
        if not isinstance(costs, CostModel):
            raise TypeError(
                f"costs must be a CostModel or None, got {type(costs).__name__}: "
                "wrap a cost matrix as CostModel(matrix)."
            )
        return cost_table(costs, labels=self.classes_.tolist())[1]
