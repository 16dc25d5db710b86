"""Threshold moving: probabilities times the costs of the classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cstree.costs.model import CostModel
from cstree.ensemble.meta import CostMetaClassifier, probabilities, train
from cstree.ensemble.prices import blind_tree
from cstree.sampling.weights import class_costs

__all__ = ["ThresholdMovingClassifier"]

_SAME = 1e-12


class ThresholdMovingClassifier(CostMetaClassifier):
    """Multiply a blind classifier's probabilities by the costs of the classes, and answer the greatest.

    Parameters
    ----------
    costs : CostModel or None, default=None
        What mistakes cost. None: all the same.
    estimator : classifier or None, default=None
        Estimates class probabilities, blind to costs. None: a ``GreedyTreeClassifier`` that does not
        split fewer than 25 cases, and to which all mistakes cost the same, and tests what they cost.

    Attributes
    ----------
    estimator_ : classifier
        The fitted learner.
    class_costs_ : ndarray of shape (n_classes,)
        ``Cost[k] = sum_j C[k, j]``, over the mistakes on each class.
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    costs_ : BoundCosts
        Costs bound to features and classes.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X had string names.

    See Also
    --------
    MinimumCostClassifier : The same for two classes; with more it uses each single cost, not their sums.

    Notes
    -----
    Zhou and Liu (2006): the answer is the greatest ``O*_k = O_k Cost[k] / sum_l O_l Cost[l]``. With two
    classes this is the answer of least expected cost. With more it is a rule of thumb, which can be
    dearer.

    References
    ----------
    Z.-H. Zhou, X.-Y. Liu, Training cost-sensitive neural networks with methods addressing the class imbalance
    problem, IEEE Transactions on Knowledge and Data Engineering 18(1), 2006.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from cstree import CostModel, ThresholdMovingClassifier
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0, 0, 1, 0, 1, 1]
    >>> costs = CostModel.binary(false_positive=1, false_negative=9)
    >>> model = ThresholdMovingClassifier(costs, estimator=GaussianNB()).fit(X, y)
    >>> model.predict([[1.5]]).tolist(), model.moved_proba([[1.5]]).round(2).tolist()
    ([1], [[0.33, 0.67]])
    """

    def __init__(self, costs: CostModel | None = None, *, estimator: Any = None) -> None:
        self.costs = costs
        self.estimator = estimator

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> ThresholdMovingClassifier:
        """Train the learner.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)
            What the learner takes.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), optional
            Weights; cases of weight 0 are left out.

        Returns
        -------
        ThresholdMovingClassifier
            The fitted estimator itself.

        Raises
        ------
        ValueError
            A wrong answer is cheaper than the right one or costs nothing at all, or the data cannot be used.
        TypeError
            The learner gives no probabilities.
        """
        cases = self._cases(X, y, sample_weight)
        self.class_costs_ = class_costs(self.costs_.matrix, self.classes_.tolist())
        learner = self.estimator
        if learner is None:
            learner = blind_tree(self.costs, self.costs_, cases)
        self.estimator_ = train(learner, cases)
        probabilities(self.estimator_, cases.X[:1], self.classes_)
        return self

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the learner's class probabilities, before costs move them.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``.
        """
        table = self._rows(X)
        return probabilities(self.estimator_, table, self.classes_)

    def moved_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probabilities after costs moved them, ``O*``.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Rows that sum to 1.
        """
        moved = self.predict_proba(X) * self._factors()
        return np.asarray(moved / moved.sum(axis=1, keepdims=True))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the label of the greatest moved probability for each case.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels from ``classes_``; of equal ones the dearest class's.
        """
        moved = self.moved_proba(X)
        dearest = np.argsort(-self._factors(), kind="stable")
        near = moved.max(axis=1, keepdims=True) * (1 - _SAME)
        return self._labels(dearest[(moved[:, dearest] >= near).argmax(axis=1)])

    def _factors(self) -> NDArray[np.float64]:
        return self.class_costs_ if len(self.class_costs_) > 1 else np.ones(1)
