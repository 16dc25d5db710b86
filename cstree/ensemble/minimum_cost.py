"""The Bayes rule on top of any classifier that gives probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted

from cstree.costs.model import CostModel
from cstree.ensemble.meta import CostMetaClassifier, cheapest, probabilities, train
from cstree.ensemble.prices import costs_of_columns
from cstree.greedy.classifier import GreedyTreeClassifier
from cstree.metrics.answers import cost_table

__all__ = ["MinimumCostClassifier"]


class MinimumCostClassifier(CostMetaClassifier):
    """Answer what costs least, by the probabilities of any classifier.

    Parameters
    ----------
    costs : CostModel or None, default=None
        What mistakes (and, for a tree, tests) cost. None: a mistake costs 1.
    estimator : classifier or None, default=None
        Estimates class probabilities. None: ``GreedyTreeClassifier(costs)``. A fitted one is used as it is
        inside scikit-learn's ``FrozenEstimator``.
    calibration : {"sigmoid", "isotonic", "temperature"} or None, default=None
        Correct its probabilities by scikit-learn's ``CalibratedClassifierCV``, which also makes
        probabilities of the scores of classifiers that have none, such as support vector machines.
    cv : int, cross-validation generator or None, default=None
        Folds of the calibration; None: 5.

    Attributes
    ----------
    estimator_ : classifier
        The fitted learner, calibrated if that was asked for.
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    costs_ : BoundCosts
        Costs bound to features and classes.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X had string names.

    Notes
    -----
    The answer is ``argmin_k sum_j P(j|x) C[j, k]``; with two classes, positive from ``P(+|x) = C_N / (C_P
    + C_N)``. Any finite costs will do. Costs do not enter the training of ``estimator``, unless it has
    its own; so they may change at prediction.

    References
    ----------
    C. Elkan, The foundations of cost-sensitive learning, IJCAI 2001.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from cstree import CostModel, MinimumCostClassifier
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]])
    >>> y = ["well", "well", "ill", "well", "ill", "ill"]
    >>> dear = CostModel({("ill", "well"): 9, ("well", "ill"): 1})
    >>> model = MinimumCostClassifier(dear, estimator=LogisticRegression()).fit(X, y)
    >>> model.predict([[1.5]]).tolist(), model.predict([[1.5]], costs=CostModel()).tolist()
    (['ill'], ['well'])
    >>> model.expected_cost([[1.5]]).round(2).tolist()  # of answering ill, of answering well
    [[0.68, 2.85]]
    """

    def __init__(
        self,
        costs: CostModel | None = None,
        *,
        estimator: Any = None,
        calibration: str | None = None,
        cv: Any = None,
    ) -> None:
        self.costs = costs
        self.estimator = estimator
        self.calibration = calibration
        self.cv = cv

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> MinimumCostClassifier:
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
        MinimumCostClassifier
            The fitted estimator itself.

        Raises
        ------
        ValueError
            The data or the costs cannot be used, or there are weights and the learner takes none.
        TypeError
            The learner gives no probabilities.
        """
        frozen = isinstance(self.estimator, FrozenEstimator)
        if frozen:
            check_is_fitted(self.estimator)
        known = np.asarray(self.estimator.classes_) if frozen else None
        cases = self._cases(X, y, sample_weight, known=known)
        learner = GreedyTreeClassifier(self._complete_costs()) if self.estimator is None else self.estimator
        if self.calibration is not None:
            from sklearn.calibration import CalibratedClassifierCV  # on use: it takes a while to load

            learner = CalibratedClassifierCV(learner, method=self.calibration, cv=self.cv)
        self.estimator_ = train(learner, cases)
        probabilities(self.estimator_, cases.X[:1], self.classes_)
        return self

    def _complete_costs(self) -> CostModel | None:
        """Costs that say of free columns that they are free, so that no second warning tells it."""
        if self.costs is None or self.costs.tests is None:
            return self.costs
        return costs_of_columns(self.costs, self.costs_.feature_names)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the learner's class probabilities.

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

    def expected_cost(self, X: Any, costs: Any = None) -> NDArray[np.float64]:
        """Return what each answer is expected to cost.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)
        costs : CostModel or array-like of shape (n_samples, n_classes, n_classes), optional
            Other costs than those of the constructor; an array has a matrix ``C[true, predicted]`` for each
            case, as a loan has its own amount.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            ``sum_j P(j|x) C[j, k]`` for each answer ``k``.

        Raises
        ------
        TypeError, ValueError
            The costs cannot be read, or do not fit the classes.
        """
        proba = self.predict_proba(X)
        if costs is None:
            return proba @ self.costs_.matrix
        if isinstance(costs, CostModel):
            return proba @ cost_table(costs, labels=self.classes_.tolist())[1]
        return np.einsum("nj,njk->nk", proba, _matrices(costs, *proba.shape))

    def predict(self, X: Any, costs: Any = None) -> NDArray[Any]:
        """Return the label of least expected cost for each case.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)
        costs : CostModel or array-like of shape (n_samples, n_classes, n_classes), optional
            Other costs than those of the constructor, as in :meth:`expected_cost`.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels from ``classes_``; of equally cheap answers the first.
        """
        return self._labels(cheapest(self.expected_cost(X, costs)))


def _matrices(costs: Any, n_samples: int, n_classes: int) -> NDArray[np.float64]:
    """Read a cost matrix for each case."""
    try:
        matrices = np.asarray(costs, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"costs must be a CostModel or one matrix of numbers per case, got {type(costs).__name__}."
        ) from error
    if matrices.shape != (n_samples, n_classes, n_classes):
        raise ValueError(
            f"costs has shape {matrices.shape}; it wants a matrix C[true, predicted] for each case: "
            f"({n_samples}, {n_classes}, {n_classes}). Wrap one for all cases as CostModel(matrix)."
        )
    if not np.isfinite(matrices).all():
        case = int(np.flatnonzero(~np.isfinite(matrices).all(axis=(1, 2)))[0])
        raise ValueError(f"costs of case {case} hold a number that is not finite.")
    return matrices
