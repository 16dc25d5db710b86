"""MetaCost: labels are replaced by the answers that cost least, then a blind learner is trained."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing, check_scalar

from cstree.base import as_generator
from cstree.costs.model import CostModel
from cstree.ensemble.committee import Committee, Draw, Drawing, Member, count_of, train_committee
from cstree.ensemble.meta import Cases, CostMetaClassifier, answers_of, cheapest, probabilities, train
from cstree.ensemble.prices import blind_tree

__all__ = ["MetaCostClassifier"]


class MetaCostClassifier(CostMetaClassifier):
    """Relabel the training cases by what a committee finds cheapest, and train a blind learner on them.

    Any learner becomes cost-sensitive, and the result is one model of its kind: a single tree, for instance.

    Parameters
    ----------
    costs : CostModel or None, default=None
        What mistakes cost. None: all the same.
    estimator : classifier or None, default=None
        Learner, blind to costs. None: a ``GreedyTreeClassifier`` that does not split fewer than 25
        cases, and to which all mistakes cost the same, and tests what they cost.
    n_estimators : int, default=10
        Members of the committee; 50 in the publication.
    n_sub : int or float, default=1.0
        Cases drawn for each member, with replacement, or their share.
    p : bool, default=True
        Average the members' probabilities. False: count the members to which a class is the most probable
        one.
    q : bool, default=True
        Ask all members about a case. False: those only that were not shown it (all, if all were).
    n_jobs : int or None, default=None
        Threads; the result does not depend on it.
    random_state : int, Generator or None, default=None
        Draws cases, and seeds learners.

    Attributes
    ----------
    estimator_ : classifier
        The final learner, trained on the new labels.
    y_relabelled_ : ndarray
        New label of each training case (of those whose weight is not 0).
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
    Domingos (1999), table 1: ``P(j|x)`` is the average over the members, the new label ``argmin_k sum_j
    P(j|x) C[j, k]``. Weights are chances of being drawn, and are handed to the final learner. With costs
    by case, trees find the cheapest answer by what answers cost on average in their leaves.

    References
    ----------
    P. Domingos, MetaCost: a general method for making classifiers cost-sensitive, KDD 1999.

    Examples
    --------
    >>> from cstree import MetaCostClassifier
    >>> from cstree.datasets import load_heart
    >>> from cstree.metrics import misclassification_cost
    >>> table = load_heart()
    >>> model = MetaCostClassifier(table.costs, random_state=0).fit(table.data, table.target)
    >>> int((model.y_relabelled_ != table.target).sum()), model.estimator_.get_n_leaves()
    (57, 9)
    """

    def __init__(
        self,
        costs: CostModel | None = None,
        *,
        estimator: Any = None,
        n_estimators: int = 10,
        n_sub: float = 1.0,
        p: bool = True,
        q: bool = True,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.costs = costs
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.n_sub = n_sub
        self.p = p
        self.q = q
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None, example_cost: Any = None) -> MetaCostClassifier:
        """Train the committee, relabel the cases, and train the final learner.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)
            What the learner takes.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), optional
            Chances of being drawn, up to a factor, and weights for the final learner. Cases of weight 0 are
            left out.
        example_cost : array-like of shape (n_samples, n_classes), optional
            Cost of each answer for each case, in the order of ``classes_``; replaces the cost matrix. For
            trees only.

        Returns
        -------
        MetaCostClassifier
            The fitted estimator itself.

        Raises
        ------
        ValueError
            A parameter is out of range, or the data cannot be used.
        TypeError
            The learner gives no probabilities, and ``p`` is True.
        """
        n_members = check_scalar(self.n_estimators, "n_estimators", Integral, min_val=1)
        cases = self._cases(X, y, sample_weight, example_cost)
        drawing = Drawing(count_of(self.n_sub, len(cases), "n_sub", more=True))
        learner = blind_tree(self.costs, self.costs_, cases) if self.estimator is None else self.estimator
        *children, last = as_generator(self.random_state).spawn(n_members + 1)
        committee = train_committee(
            learner,
            cases,
            [Draw.make(drawing, cases, child) for child in children],
            children,
            self.costs_,
            hand_on_weights=False,
            hand_on_costs=False,
            n_jobs=self.n_jobs,
        )
        relabelled = cheapest(self._expected_cost(committee, cases)).astype(np.int32)
        self.y_relabelled_ = self._labels(relabelled)
        self.estimator_ = train(learner, replace(cases, y=relabelled, example_cost=None), last)
        return self

    def _expected_cost(self, committee: Committee, cases: Cases) -> NDArray[np.float64]:
        """Cost that the committee expects of each answer to each training case."""
        by_case = cases.example_cost is not None
        ask = Member.costs if by_case else Member.probabilities if self.p else Member.votes
        if self.q:
            said = committee.average(cases.X, ask)
        else:
            said, asked = committee.out_of_bag(cases, ask)
            everywhere = np.flatnonzero(asked == 0)
            if len(everywhere):
                said[everywhere] = committee.average(_safe_indexing(cases.X, everywhere), ask)
        return said if by_case else said @ self.costs_.matrix

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the final learner's answer, which costs were built into.

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
        """Return how sure the final learner is that an answer is the cheapest.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Its class probabilities over the new labels, in the order of ``classes_``: not those of the truth.
        """
        table = self._rows(X)
        return probabilities(self.estimator_, table, self.classes_)
