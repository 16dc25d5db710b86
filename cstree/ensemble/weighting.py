"""Instance weighting: a tree that is shown dear cases with more weight."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cstree.costs.model import CostModel
from cstree.ensemble.meta import Cases, CostMetaClassifier, answers_of, probabilities, train
from cstree.ensemble.prices import blind_tree
from cstree.sampling.weights import case_costs, class_costs, undo_weights

__all__ = ["InstanceWeightingTreeClassifier", "cost_weighted"]


class InstanceWeightingTreeClassifier(CostMetaClassifier):
    """Weigh each case by what a mistake on it costs, and train a tree that minimises mistakes.

    Parameters
    ----------
    costs : CostModel or None, default=None
        What mistakes cost. None: all the same.
    estimator : classifier or None, default=None
        A learner that takes ``sample_weight``, blind to costs. None: a ``GreedyTreeClassifier`` that
        does not split fewer than 25 cases, and to which all mistakes cost the same, and tests what they
        cost.

    Attributes
    ----------
    estimator_ : classifier
        The fitted learner.
    sample_weight_ : ndarray
        Weight of each training case that counts (neither its own weight nor its cost is 0); they sum to the
        number of cases, or to the sum of their own weights.
    class_weights_ : ndarray of shape (n_classes,)
        Average of these weights over the cases of each class.
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
    Ting (2002): a case of class ``j`` weighs ``Cost[j] N / sum_i Cost[i] N_i``, with ``Cost[j] = sum_i
    C[j, i]``; the tree counts by weight, and answers the weighted majority of the leaf. With costs by
    case, these take the place of ``Cost[j]``. Limits on the size of leaves should be in units of weight
    (``min_weight_fraction_leaf`` in scikit-learn); ``min_support`` counts cases.

    References
    ----------
    K. M. Ting, An instance-weighting method to induce cost-sensitive trees, IEEE Transactions on
    Knowledge and Data Engineering 14(3), 2002.

    Examples
    --------
    >>> import numpy as np
    >>> from cstree import CostModel, InstanceWeightingTreeClassifier
    >>> costs = CostModel([[0, 0.5, 0.5], [1.5, 0, 1.5], [5, 5, 0]])
    >>> X, y = np.arange(850).reshape(-1, 1), np.repeat([0, 1, 2], [500, 300, 50])
    >>> model = InstanceWeightingTreeClassifier(costs).fit(X, y)
    >>> model.class_weights_.round(3).tolist(), float(model.sample_weight_.sum().round(9))
    ([0.447, 1.342, 4.474], 850.0)
    """

    def __init__(self, costs: CostModel | None = None, *, estimator: Any = None) -> None:
        self.costs = costs
        self.estimator = estimator

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, example_cost: Any = None
    ) -> InstanceWeightingTreeClassifier:
        """Weigh the cases and train the tree.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)
            What the learner takes.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), optional
            Weights that are there already; costs multiply them. Cases of weight 0 are left out.
        example_cost : array-like of shape (n_samples, n_classes), optional
            Cost of each answer for each case, in the order of ``classes_``; replaces the cost matrix.

        Returns
        -------
        InstanceWeightingTreeClassifier
            The fitted estimator itself.

        Raises
        ------
        ValueError
            A wrong answer is cheaper than the right one or costs nothing at all, the learner takes no
            weights, or the data cannot be used.
        """
        cases = self._cases(X, y, sample_weight, example_cost)
        matrix = self.costs_.matrix
        if example_cost is None:
            cost = class_costs(matrix, self.classes_.tolist())[cases.y]
        else:
            cost = case_costs(cases.y, matrix, cases.example_cost)
        cost = cost if self.n_classes_ > 1 else np.ones(len(cost))
        weighted, self.class_weights_ = cost_weighted(cases, cost)
        self.sample_weight_ = weighted.weights()
        learner = self.estimator
        if learner is None:
            learner = blind_tree(self.costs, self.costs_, cases)
        self.estimator_ = train(learner, weighted)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the weighted majority's label for each case.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels from ``classes_``.
        """
        table = self._rows(X)
        return self._labels(answers_of(self.estimator_, table, self.classes_))

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return class probabilities, from which the weights are taken out again.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``. ``predict`` answers the greatest probability times weight.
        """
        table = self._rows(X)
        return undo_weights(probabilities(self.estimator_, table, self.classes_), self.class_weights_)


def cost_weighted(cases: Cases, cost: NDArray[np.float64]) -> tuple[Cases, NDArray[np.float64]]:
    """Multiply the weights of cases by costs, and scale them to the old sum.

    Parameters
    ----------
    cases : Cases
        Training table.
    cost : ndarray of shape (n,)
        0 or more.

    Returns
    -------
    Cases
        Weighted; those whose costs are 0 are left out.
    ndarray of shape (K,)
        Average factor of each class, 1 for one without cases.
    """
    own, count = cases.weights(), cases.class_weight()
    factor = cost * (own.sum() / (own @ cost))
    total = np.bincount(cases.y, own * factor, minlength=cases.n_classes)
    average = np.divide(total, count, out=np.ones(cases.n_classes), where=(count > 0) & (total > 0))
    return cases.weighted(own * factor), average
