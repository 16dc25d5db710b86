"""Bagging with a vote that weighs costs."""

from __future__ import annotations

import warnings
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_scalar

from cstree.base import as_generator
from cstree.costs.model import CostModel
from cstree.ensemble.committee import Draw, Drawing, Member, count_of, train_committee
from cstree.ensemble.meta import Cases, CostMetaClassifier, cheapest, readable_columns
from cstree.ensemble.test_cost import PartialVote, vote_partially
from cstree.greedy.classifier import GreedyTreeClassifier

__all__ = ["CostBaggingClassifier"]

VOTES = ("soft", "hard")
# A lead in a vote that roundings cannot make, as a share of the greatest cost.
_SAME = 1e-9


class CostBaggingClassifier(CostMetaClassifier):
    """Train a committee on bootstrap samples; it answers what costs least by its average probabilities.

    Parameters
    ----------
    costs : CostModel or None, default=None
        What mistakes and tests cost. None: a mistake costs 1, tests are free.
    estimator : classifier or None, default=None
        What is trained. None: ``GreedyTreeClassifier(costs)``. A learner of your own gets costs only if you
        give it some.
    n_estimators : int, default=50
        Members.
    max_samples : int or float, default=1.0
        Cases drawn for each member, or their share.
    max_features : int or float, default=1.0
        Columns drawn for each member, or their share: the random subspace method, if below all.
    bootstrap : bool, default=True
        Draw cases with replacement. False: without; with all of them, members differ by their columns only.
    vote : {"soft", "hard"}, default="soft"
        Average the members' probabilities; or count, as probability of a class, the members to which it is
        the most probable one.
    oob_cost : bool, default=False
        Also answer each training case by the members that were not shown it, and tell what that costs.
    n_jobs : int or None, default=None
        Threads; the result does not depend on it.
    random_state : int, Generator or None, default=None
        Draws cases and columns, and seeds learners.

    Attributes
    ----------
    estimators_ : list of classifiers
        The members' learners.
    estimators_features_ : list of ndarray
        Positions of the columns that each member reads.
    estimators_samples_ : list of ndarray
        Training cases that each member was shown (among those of weight above 0).
    oob_cost_ : float
        Average misclassification cost of the training cases' answers by members that were not shown them,
        with ``oob_cost=True``.
    oob_proba_ : ndarray of shape (n_samples, n_classes)
        What these members say, with ``oob_cost=True``; NaN for cases that all members were shown.
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
    Breiman (1996): members are trained on ``n`` cases drawn with replacement; Ho (1998): on random
    columns. The answer is ``argmin_k sum_j P(j|x) C[j, k]`` for the average ``P``. A member that was
    shown cases of one class only is sure of it. Weights are chances of being drawn. With costs by case
    each leaf of a tree knows what answers cost in it on average; the committee averages these.

    References
    ----------
    L. Breiman, Bagging predictors, Machine Learning 24, 1996. · T. K. Ho, The random subspace method for
    constructing decision forests, IEEE Transactions on Pattern Analysis and Machine Intelligence 20(8),
    1998.

    Examples
    --------
    >>> from cstree import CostBaggingClassifier
    >>> from cstree.datasets import load_heart
    >>> table = load_heart()
    >>> model = CostBaggingClassifier(table.costs, n_estimators=20, oob_cost=True, random_state=0)
    >>> model = model.fit(table.data, table.target)
    """

    _trained: ClassVar[str] = "_committee"

    def __init__(
        self,
        costs: CostModel | None = None,
        *,
        estimator: Any = None,
        n_estimators: int = 50,
        max_samples: float = 1.0,
        max_features: float = 1.0,
        bootstrap: bool = True,
        vote: str = "soft",
        oob_cost: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.costs = costs
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.max_features = max_features
        self.bootstrap = bootstrap
        self.vote = vote
        self.oob_cost = oob_cost
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, example_cost: Any = None
    ) -> CostBaggingClassifier:
        """Draw for each member and train it.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)
            What the learner takes.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), optional
            Chances of being drawn, up to a factor; with ``bootstrap=False`` handed on to the learner. Cases
            of weight 0 are left out.
        example_cost : array-like of shape (n_samples, n_classes), optional
            Cost of each answer for each case, in the order of ``classes_``; replaces the cost matrix. For
            trees only.

        Returns
        -------
        CostBaggingClassifier
            The fitted estimator itself.

        Raises
        ------
        ValueError
            A parameter is out of range, or the data cannot be used.
        TypeError
            The learner gives no probabilities, which a soft vote averages.
        """
        if self.vote not in VOTES:
            raise ValueError(f"vote is {self.vote!r}; choose one of {', '.join(map(repr, VOTES))}")
        n_members = check_scalar(self.n_estimators, "n_estimators", Integral, min_val=1)
        cases = self._cases(X, y, sample_weight, example_cost)
        if example_cost is not None and self.vote == "hard":
            raise ValueError(
                "example_cost goes with vote='soft': members say what answers cost, not which class"
            )
        n_columns = count_of(self.max_features, self.n_features_in_, "max_features")
        drawing = Drawing(
            count_of(self.max_samples, len(cases), "max_samples", more=bool(self.bootstrap)),
            bool(self.bootstrap),
            None if n_columns == self.n_features_in_ else n_columns,
        )
        learner = GreedyTreeClassifier(self.costs) if self.estimator is None else self.estimator
        children = as_generator(self.random_state).spawn(n_members)
        draws = [Draw.make(drawing, cases, child) for child in children]
        self._committee = train_committee(
            learner,
            cases,
            draws,
            children,
            self.costs_,
            hand_on_weights=not drawing.bootstrap,
            n_jobs=self.n_jobs,
        )
        self._by_case = example_cost is not None
        self._ask(self._committee.members[0], cases.X[:1])
        if self.oob_cost:
            self._judge_out_of_bag(cases)
        return self

    def _ask(self, member: Member, X: Any) -> NDArray[np.float64]:
        """Ask a member for the probabilities that it counts with."""
        return member.votes(X) if self.vote == "hard" else member.probabilities(X)

    def _judge_out_of_bag(self, cases: Cases) -> None:
        said, asked = self._committee.out_of_bag(cases, self._ask)
        known = asked > 0
        self.oob_proba_ = np.where(known[:, None], said, np.nan)
        if not known.all():
            warnings.warn(
                f"{int((~known).sum())} cases were shown to all members and do not count in oob_cost_: "
                "take more members",
                UserWarning,
                stacklevel=3,
            )
        if not known.any():
            self.oob_cost_ = float("nan")
            return
        if self._by_case:
            expected, _ = self._committee.out_of_bag(cases, Member.costs)
            paid = cases.example_cost
        else:
            expected, paid = said @ self.costs_.matrix, self.costs_.matrix[cases.y]
        assert paid is not None
        cost = paid[np.arange(len(cases)), cheapest(expected)]
        self.oob_cost_ = float(np.average(cost[known], weights=cases.weights()[known]))

    def _members(self) -> tuple[list[Any], list[NDArray[np.intp]] | None]:
        return self.estimators_, self.estimators_features_

    @property
    def estimators_(self) -> list[Any]:
        """Learners of the members."""
        return [member.learner for member in self._committee.members]

    @property
    def estimators_features_(self) -> list[NDArray[np.intp]]:
        """Positions of the columns that each member reads."""
        every = np.arange(self.n_features_in_)
        return [every if draw.columns is None else draw.columns for draw in self._committee.draws]

    @property
    def estimators_samples_(self) -> list[NDArray[np.intp]]:
        """Training cases that each member was shown."""
        return [draw.rows for draw in self._committee.draws]

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the average of the members' class probabilities, or their shares of the votes.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``. Costs do not enter.
        """
        table = self._rows(X)
        return self._committee.average(table, self._ask)

    def expected_cost(self, X: Any) -> NDArray[np.float64]:
        """Return what each answer is expected to cost.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            ``sum_j P(j|x) C[j, k]`` for each answer ``k``; with costs by case, the average over the leaves.
        """
        table = self._rows(X)
        if self._by_case:
            return self._committee.average(table, Member.costs)
        return self._committee.average(table, self._ask) @ self.costs_.matrix

    def partial_vote(self, X: Any, *, order: str = "price", costs: CostModel | None = None) -> PartialVote:
        """Answer by asking members one by one, until the rest cannot change the answer.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)
        order : {"price", "weight"}, default="price"
            The cheapest member first, counting only tests that have not been taken; or in the order of
            training, as all weigh the same.
        costs : CostModel, optional
            Other prices of tests than those of the committee.

        Returns
        -------
        PartialVote
            The labels of `predict`, what each case paid, and how much was saved.

        Raises
        ------
        ValueError
            The committee was trained with costs by case, which no vote bounds.
        """
        labels = self.predict(X)
        if self._by_case:
            raise ValueError("members that were trained with costs by case are all asked: use predict")
        table = self._rows(X)
        members, features = self._asked()
        share = 1.0 / len(members)
        n_consulted, paid, full, sequence = vote_partially(
            members,
            readable_columns(table),
            self._prices(costs),
            weights=np.full(len(members), share),
            votes=lambda t: share * self._ask(self._committee.members[t], table),
            decide=self._decide,
            answers=np.searchsorted(self.classes_, labels),
            order=order,
            features=features,
        )
        return PartialVote(labels, n_consulted, paid, full, sequence)

    def _decide(
        self, votes: NDArray[np.float64], low: NDArray[np.float64], high: NDArray[np.float64]
    ) -> NDArray[np.intp]:
        """Class index that the rest of the members cannot change, or -1.

        Answer ``k`` is cheaper than ``j`` by ``sum_i P_i (C[i, j] - C[i, k])``. The rest may give all that
        it has left, ``high`` of any class, to the one where this is least.
        """
        matrix = self.costs_.matrix
        close = _SAME * max(float(np.abs(matrix).max()), 1e-300)
        decided = np.full(len(votes), -1, dtype=np.intp)
        for k in range(self.n_classes_):
            dearer = np.delete(matrix, k, axis=1) - matrix[:, [k]]
            lead = votes @ dearer + high.max() * dearer.min(axis=0)
            decided[(lead > close).all(axis=1)] = k
        return decided

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the label of least expected cost for each case.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels from ``classes_``; of equally cheap answers the first.
        """
        return self._labels(cheapest(self.expected_cost(X)))
