"""Rescaling: classes are weighted so that every pair of mistakes counts as the costs say."""

from __future__ import annotations

from itertools import combinations
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from cstree.costs.model import CostModel
from cstree.ensemble.meta import Cases, CostMetaClassifier, cheapest, probabilities, train
from cstree.ensemble.prices import blind_tree
from cstree.ensemble.weighting import cost_weighted
from cstree.sampling.weights import case_costs, class_costs, consistent_weights, mistake_costs, undo_weights

__all__ = ["RescalingClassifier"]

METHODS = ("weights", "thresholds")
FALLBACKS = ("pairwise", "sum")
# Probabilities between two classes are kept from 0 so that they can be divided by.
_LEAST = 1e-12
# Sums of losses this near to one another, as a share, are the same.
_SAME = 1e-12


class RescalingClassifier(CostMetaClassifier):
    """Weigh the classes as the costs of their mistakes relate, after a test whether they can be.

    Parameters
    ----------
    costs : CostModel or None, default=None
        What mistakes cost. None: all the same.
    estimator : classifier or None, default=None
        Estimates class probabilities, blind to costs. None: a ``GreedyTreeClassifier`` that does not
        split fewer than 25 cases, and to which all mistakes cost the same, and tests what they cost.
    method : {"weights", "thresholds"}, default="weights"
        Train with weighted cases, or train without and weigh the probabilities.
    inconsistent : {"pairwise", "sum"}, default="pairwise"
        Where no weights meet all pairs of classes: train a learner for each pair, and let them vote; or
        take the sums of each class's costs for weights.

    Attributes
    ----------
    consistent_ : bool
        Whether weights of the classes meet the costs of all pairs.
    class_weights_ : ndarray of shape (n_classes,) or None
        The weights, the least of them 1; None where pairs vote.
    estimator_ : classifier
        The fitted learner; not where pairs vote.
    estimators_ : list of classifiers
        The learners of the pairs in ``pairs_``, or the one learner.
    pairs_ : list of (int, int)
        Class indices of each pair; empty where there is one learner.
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
    MinimumCostClassifier : Answers of least expected cost for any number of classes.

    Notes
    -----
    Zhou and Liu (2010): weights are right for a pair of classes if ``w_i / w_j = C[i, j] / C[j, i]``. A
    case of class ``k`` then weighs ``N w_k / sum_l N_l w_l``. Where the costs are inconsistent, each pair
    of classes has a learner with weights ``C[i, j]`` and ``C[j, i]``; of classes with equally many votes
    the one wins whose answers would lose least in its duels. With two classes all costs are consistent
    and the answers of least expected cost. With more, consistent weights need not lead to these; they do
    if all mistakes on a class cost the same. Probabilities are those without weights; of pairs they are
    coupled by ``1 / P_k = sum_j 1 / P_kj - (K - 2)``.

    References
    ----------
    Z.-H. Zhou, X.-Y. Liu, On multi-class cost-sensitive learning, Computational Intelligence 26(3), 2010.
    · D. Price, S. Knerr, L. Personnaz, G. Dreyfus, Pairwise neural network classifiers with probabilistic
    outputs, NIPS 1994.

    Examples
    --------
    >>> import numpy as np
    >>> from cstree import CostModel, RescalingClassifier
    >>> X, y = np.arange(90).reshape(-1, 1), np.repeat(["a", "b", "c"], 30)
    >>> consistent = CostModel([[0, 1, 2], [3, 0, 6], [1, 1, 0]], classes=["a", "b", "c"])
    >>> RescalingClassifier(consistent).fit(X, y).class_weights_.round(9).tolist()
    [2.0, 6.0, 1.0]
    >>> other = CostModel([[0, 1, 2], [3, 0, 5], [1, 1, 0]], classes=["a", "b", "c"])
    >>> RescalingClassifier(other).fit(X, y).pairs_
    [(0, 1), (0, 2), (1, 2)]
    """

    _trained: ClassVar[str] = "estimators_"

    def __init__(
        self,
        costs: CostModel | None = None,
        *,
        estimator: Any = None,
        method: str = "weights",
        inconsistent: str = "pairwise",
    ) -> None:
        self.costs = costs
        self.estimator = estimator
        self.method = method
        self.inconsistent = inconsistent

    def fit(self, X: Any, y: Any, sample_weight: Any = None, example_cost: Any = None) -> RescalingClassifier:
        """Test the costs and train the learner, or one for each pair of classes.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)
            What the learner takes.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), optional
            Weights that are there already; those of the classes multiply them. Cases of weight 0 are left
            out.
        example_cost : array-like of shape (n_samples, n_classes), optional
            Cost of each answer for each case, in the order of ``classes_``: with ``method="weights"`` and
            two classes, the cost of its mistake takes the place of the class's weight.

        Returns
        -------
        RescalingClassifier
            The fitted estimator itself.

        Raises
        ------
        ValueError
            A wrong answer is cheaper than the right one or costs nothing at all, the learner takes no
            weights, or the data cannot be used.
        TypeError
            The learner gives no probabilities.
        """
        for name, value, known in (
            ("method", self.method, METHODS),
            ("inconsistent", self.inconsistent, FALLBACKS),
        ):
            if value not in known:
                raise ValueError(f"{name} is {value!r}; choose one of {', '.join(map(repr, known))}")
        cases = self._cases(X, y, sample_weight, example_cost)
        labels = self.classes_.tolist()
        self._excess = mistake_costs(self.costs_.matrix, labels)
        self.class_weights_: Any = None
        self.pairs_: list[tuple[int, int]] = []
        if example_cost is not None:
            self._fit_cases(cases)
            return self
        sums = class_costs(self.costs_.matrix, labels)
        weights = consistent_weights(self._excess) if len(labels) > 1 else np.ones(1)
        self.consistent_ = weights is not None
        if weights is None and self.inconsistent == "pairwise":
            self._fit_pairs(cases)
        else:
            self._fit_one(cases, np.asarray(sums / sums.min()) if weights is None else weights)
        return self

    def _learner(self, cases: Cases) -> Any:
        if self.estimator is not None:
            return self.estimator
        return blind_tree(self.costs, self.costs_, cases)

    def _fit_one(self, cases: Cases, weights: NDArray[np.float64]) -> None:
        self.class_weights_ = weights
        shown = cost_weighted(cases, weights[cases.y])[0] if self.method == "weights" else cases
        self._keep(train(self._learner(cases), shown), cases)

    def _fit_cases(self, cases: Cases) -> None:
        """Costs by case take the place of the class's weight."""
        if self.n_classes_ != 2 or self.method != "weights":
            raise ValueError(
                "example_cost has a meaning here for two classes and method='weights' only; "
                "InstanceWeightingTreeClassifier takes it for any number of classes"
            )
        self.consistent_ = True
        cost = case_costs(cases.y, self.costs_.matrix, cases.example_cost)
        shown, average = cost_weighted(cases, cost)
        self.class_weights_ = average / average.min()
        self._keep(train(self._learner(cases), shown), cases)

    def _keep(self, learner: Any, cases: Cases) -> None:
        probabilities(learner, cases.X[:1], self.classes_)
        self.estimator_, self.estimators_ = learner, [learner]

    def _fit_pairs(self, cases: Cases) -> None:
        """Train a learner for each pair of classes."""
        self.pairs_ = list(combinations(range(self.n_classes_), 2))
        self.estimators_ = []
        self._pair_weights = []
        for i, j in self.pairs_:
            pair = cases.take(np.flatnonzero((cases.y == i) | (cases.y == j)))
            if len(pair) == 0:
                names = f"{self.classes_.tolist()[i]!r} and {self.classes_.tolist()[j]!r}"
                raise ValueError(f"no case of classes {names} has a weight, so that nothing tells them apart")
            weights = np.array([self._excess[i, j], self._excess[j, i]])
            weights = weights if weights.all() and self.method == "weights" else np.ones(2)
            cost = weights[(pair.y == j).astype(np.intp)]
            learner = train(self._learner(cases), cost_weighted(pair, cost)[0])
            probabilities(learner, pair.X[:1], self.classes_)
            self.estimators_.append(learner)
            self._pair_weights.append(weights)

    def _members(self) -> tuple[list[Any], None]:
        return self.estimators_, None

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return class probabilities, from which the weights are taken out again.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``.
        """
        table = self._rows(X)
        if self.pairs_:
            return _couple(self.pairs_, self._duels(table), self.n_classes_)
        proba = probabilities(self.estimator_, table, self.classes_)
        return undo_weights(proba, self.class_weights_) if self.method == "weights" else proba

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the label of the greatest weighted probability, or the winner of the pairs, for each case.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels from ``classes_``.
        """
        table = self._rows(X)
        if self.pairs_:
            return self._labels(self._winners(self._duels(table)))
        proba = probabilities(self.estimator_, table, self.classes_)
        scores = proba if self.method == "weights" else proba * self.class_weights_
        return self._labels(cheapest(-scores))

    def _duels(self, table: Any) -> list[NDArray[np.float64]]:
        """Probabilities of both classes of each pair, without weights, shape (n, 2)."""
        found = []
        for pair, learner, weights in zip(self.pairs_, self.estimators_, self._pair_weights, strict=True):
            proba = probabilities(learner, table, self.classes_)[:, list(pair)]
            found.append(undo_weights(proba, weights))
        return found

    def _winners(self, duels: list[NDArray[np.float64]]) -> NDArray[np.intp]:
        """Class with most votes; of several the one that would lose least money in its duels."""
        every = np.arange(len(duels[0]))
        votes, loss = np.zeros((2, len(every), self.n_classes_))
        for (i, j), proba in zip(self.pairs_, duels, strict=True):
            costs = np.array([self._excess[j, i], self._excess[i, j]])
            lost = proba[:, ::-1] * costs
            # between classes that may be mistaken for one another freely, the more probable one gets the vote
            winner = cheapest(lost if costs.any() else proba[:, ::-1])
            votes[every, np.where(winner == 0, i, j)] += 1
            loss[:, [i, j]] += lost
        loss[votes < votes.max(axis=1, keepdims=True)] = np.inf
        near = loss.min(axis=1, keepdims=True) * (1 + _SAME)
        return np.asarray((loss <= near).argmax(axis=1))


def _couple(
    pairs: list[tuple[int, int]], duels: list[NDArray[np.float64]], n_classes: int
) -> NDArray[np.float64]:
    """Class probabilities from those between pairs: ``1 / P_k = sum_j 1 / P_kj - (K - 2)``."""
    inverse = np.full((len(duels[0]), n_classes), 2.0 - n_classes)
    for pair, proba in zip(pairs, duels, strict=True):
        inverse[:, list(pair)] += 1.0 / np.maximum(proba, _LEAST)
    return undo_weights(1.0 / inverse, np.ones(n_classes))
