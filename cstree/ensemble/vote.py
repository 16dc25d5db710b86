"""How a committee whose members have weights answers, and what its answers cost."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax
from sklearn.utils.validation import check_is_fitted

from cstree.base import CostSensitiveClassifier
from cstree.costs.bound import BoundCosts
from cstree.costs.model import CostModel
from cstree.ensemble.members import Table, answers_of, class_indices
from cstree.ensemble.stumps import Stump, add_votes
from cstree.ensemble.test_cost import PartialVote, committee_test_cost, vote_partially
from cstree.tree.evaluation import least_costly

__all__ = ["WeightedVote"]

Floats = NDArray[np.float64]


class WeightedVote(CostSensitiveClassifier):
    """Base of classifiers in which weak learners vote with weights.

    Attributes
    ----------
    estimators_ : list of Stump or fitted classifiers
    estimator_weights_ : ndarray of shape (n_members,)
    class_costs_ : ndarray of shape (n_classes,)
        Mean cost of a mistake by class, which the vote has counted.
    """

    estimators_: list[Any]
    estimator_weights_: Floats
    class_costs_: Floats

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the weighted vote of the weak learners.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,), or (n_samples, n_classes) with more than two classes
            Two classes: ``f``, above 0 for ``classes_[1]``. More: the class of the greatest score has the
            most weight, before costs are counted.
        """
        table = self._table(X)
        scores = np.zeros((self._n_scores, table.n_samples))
        members = self.estimators_
        if members and all(isinstance(member, Stump) for member in members):
            votes = np.array([self._vote(t)[:, list(m.answers)].T for t, m in enumerate(members)])
            add_votes(
                members, np.ascontiguousarray(votes.transpose(2, 0, 1)), self.schema_, table.columns, scores
            )
            return self._decision(scores, len(members))
        for t in range(len(members)):
            scores += self._vote(t)[:, self._answers(t, table)]
        return self._decision(scores, len(members))

    def staged_decision_function(self, X: Any) -> Iterator[NDArray[np.float64]]:
        """Yield `decision_function` after each weak learner.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)

        Yields
        ------
        ndarray of shape (n_samples,), or (n_samples, n_classes) with more than two classes
        """
        table = self._table(X)
        scores = np.zeros((self._n_scores, table.n_samples))
        for t in range(len(self.estimators_)):
            scores += self._vote(t)[:, self._answers(t, table)]
            yield self._decision(scores.copy(), t + 1)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the label of least expected cost for each case.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels from ``classes_``.
        """
        return self._labels(self.decision_function(X))

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """Yield `predict` after each weak learner.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)

        Yields
        ------
        ndarray of shape (n_samples,)
        """
        for decision in self.staged_decision_function(X):
            yield self._labels(decision)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return class probabilities.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``. What costs have done to the vote is taken back, so that the
            answer of least expected cost under these probabilities is that of ``predict``.
        """
        return self._probabilities(self.decision_function(X), len(self.estimators_))

    def staged_predict_proba(self, X: Any) -> Iterator[NDArray[np.float64]]:
        """Yield `predict_proba` after each weak learner.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)

        Yields
        ------
        ndarray of shape (n_samples, n_classes)
        """
        for t, decision in enumerate(self.staged_decision_function(X)):
            yield self._probabilities(decision, t + 1)

    def test_cost(self, X: Any, *, costs: CostModel | None = None) -> NDArray[np.float64]:
        """Return what the tests cost that the weak learners ask of each case, each test paid once.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)
        costs : CostModel, optional
            Other prices than those of the committee.

        Returns
        -------
        ndarray of shape (n_samples,)
            In the unit of the prices. Tests share steps over all weak learners: of a tree those on the way of
            the case, of a stump its one feature, of any other classifier all columns.
        """
        table = self._table(X)
        return committee_test_cost(self.estimators_, table.columns, self._prices(costs))

    def partial_vote(self, X: Any, *, order: str = "price", costs: CostModel | None = None) -> PartialVote:
        """Answer by asking weak learners one by one, until the rest cannot change the answer.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)
        order : {"price", "weight"}, default="price"
            What is asked first: the least price for how far it can move the vote, counting only tests that
            have not been taken; or what can move it most. Stumps on one feature are asked together.
        costs : CostModel, optional
            Other prices than those of the committee.

        Returns
        -------
        PartialVote
            The labels of `predict`, what each case paid, and how much was saved.
        """
        table = self._table(X)
        labels = self.predict(X)
        n_consulted, paid, full, sequence = vote_partially(
            self.estimators_,
            table.columns,
            self._prices(costs),
            weights=self.estimator_weights_,
            votes=lambda t: self.estimator_weights_[t] * np.eye(self.n_classes_)[self._answers(t, table)],
            decide=self._decide,
            answers=class_indices(labels, self.classes_, self),
            order=order,
        )
        return PartialVote(labels, n_consulted, paid, full, sequence)

    def _prices(self, costs: CostModel | None) -> BoundCosts:
        if costs is None:
            return self.costs_
        if not isinstance(costs, CostModel):
            raise TypeError(f"costs is a {type(costs).__name__}: wrap prices as CostModel(tests=...)")
        return costs.bind(self.schema_.names, self.classes_.tolist())

    def _decide(self, votes: Floats, low: Floats, high: Floats) -> NDArray[np.intp]:
        """Class index that the rest of the committee cannot change, or -1.

        Parameters
        ----------
        votes : ndarray of shape (m, n_classes)
            Weight that each class has got.
        low, high : ndarray of shape (n_classes,)
            The least and the greatest weight that it will still get.
        """
        slack = 1e-12 * float(self.estimator_weights_.sum())
        K = self.n_classes_
        if K == 1:
            return np.zeros(len(votes), dtype=np.intp)
        if K == 2:
            ahead = votes[:, 1] - votes[:, 0] - self._threshold(len(self.estimators_))
            least, most = ahead + low[1] - high[0], ahead + high[1] - low[0]
            return np.where(least > slack, 1, np.where(most < -slack, 0, -1))
        # P_k is proportional to e^{g v_k} / c_k.
        g, log_cost = K / (K - 1) ** 2, np.log(self._positive_costs())
        last = (votes + high).max(axis=1, keepdims=True)
        least = np.exp(g * (votes + low - slack - last) - log_cost)
        most = np.exp(g * (votes + high + slack - last) - log_cost)
        result = np.full(len(votes), -1, dtype=np.intp)
        for k in range(K):
            # By true class: what answering j costs more than answering k.
            dearer = self.costs_.matrix - self.costs_.matrix[:, [k]]
            gain = least @ np.maximum(dearer, 0.0) + most @ np.minimum(dearer, 0.0)
            gain[:, k] = np.inf
            result[(gain > 1e-9 * most.max(axis=1, keepdims=True)).all(axis=1)] = k
        return result

    def _threshold(self, n_members: int) -> float:
        """Vote above which a case is positive, of two classes."""
        return 0.0

    def _positive_costs(self) -> Floats:
        """Class costs for probabilities; one that is 0 enters no risk, so that any number will do."""
        costs = self.class_costs_
        return np.where(costs > 0, costs, costs[costs > 0].min())

    @property
    def _n_scores(self) -> int:
        return 1 if self.n_classes_ <= 2 else self.n_classes_

    def _table(self, X: Any) -> Table:
        check_is_fitted(self, "estimators_")
        return Table(X, self._columns(X))

    def _answers(self, t: int, table: Table) -> NDArray[np.intp]:
        """Class index that weak learner ``t`` answers for each case."""
        member = self.estimators_[t]
        if isinstance(member, Stump):
            return member.answer(self.schema_, table.columns)
        return answers_of(member, table, self.classes_)

    def _vote(self, t: int) -> Floats:
        """Return what a weak learner adds to each score if it answers each class, (n_scores, n_classes)."""
        alpha = self.estimator_weights_[t]
        if self.n_classes_ == 2:
            return np.array([[-alpha, alpha]])
        K = self.n_classes_
        return alpha * (np.eye(K) * K - 1.0) / (K - 1)

    def _decision(self, scores: Floats, n_members: int) -> Floats:
        """Scores (n_scores, n) as `decision_function` gives them, once ``n_members`` have voted."""
        return scores[0] if self.n_classes_ <= 2 else scores.T

    def _labels(self, decision: Floats) -> NDArray[Any]:
        if self.n_classes_ <= 2:
            return np.asarray(self.classes_[(decision > 0).astype(np.intp)])
        risk = self._probabilities(decision, 0) @ self.costs_.matrix
        return np.asarray(self.classes_[least_costly(risk)])

    def _probabilities(self, decision: Floats, n_members: int) -> Floats:
        """Probabilities of a decision: ``P_k`` is proportional to ``e^{f_k / (K - 1)} / c_k``."""
        K = self.n_classes_
        if K == 1:
            return np.ones((len(decision), 1))
        log_cost = np.log(self._positive_costs())
        if K == 2:
            log_odds = 2 * decision + (log_cost[0] - log_cost[1])
            return np.column_stack([expit(-log_odds), expit(log_odds)])
        return np.asarray(softmax(decision / (K - 1) - log_cost, axis=1))
