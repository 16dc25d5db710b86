"""Several training sets with all rare cases and a part of the others each, and their committee."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from cstree.base import as_generator
from cstree.costs.model import CostModel
from cstree.ensemble.committee import Committee, Draw, Member, train_committee
from cstree.ensemble.meta import Cases, CostMetaClassifier, cheapest, probabilities, train
from cstree.ensemble.prices import blind_tree
from cstree.sampling.subsets import deal_subsets
from cstree.sampling.weights import class_costs, undo_weights

__all__ = ["MultiSubsetClassifier"]

COMBINE = ("mean", "vote", "stacking")


class MultiSubsetClassifier(CostMetaClassifier):
    """Deal the majority class into parts, train a learner on each part with all of the minority.

    For two classes. No case of the rare class is copied, and none of the frequent one is lost.

    Parameters
    ----------
    costs : CostModel or None, default=None
        What mistakes cost. None: all the same.
    estimator : classifier or None, default=None
        Learner, blind to costs. None: a ``GreedyTreeClassifier`` that does not split fewer than 25
        cases, and to which all mistakes cost the same, and tests what they cost.
    minority_share : float or None, default=None
        Share of the minority in each subset, as 0.5 for balanced ones. None: that at which a blind
        learner's answers are those of the costs, ``x C_X / (x C_X + y C_Y)`` for shares ``x``, ``y`` and
        costs ``C_X``, ``C_Y``.
    combine : {"mean", "vote", "stacking"}, default="mean"
        Average the members' probabilities; count their answers; or train ``final_estimator`` on what they
        say of cases that are held out.
    final_estimator : classifier or None, default=None
        For stacking. None: ``LogisticRegression()``.
    held_out : float, default=0.25
        Share of the cases that stacking holds out.
    n_jobs : int or None, default=None
        Threads; the result does not depend on it.
    random_state : int, Generator or None, default=None
        Deals and holds out cases, and seeds learners.

    Attributes
    ----------
    estimators_ : list of classifiers
        The members.
    estimators_samples_ : list of ndarray
        Training cases that each member was shown (among those of weight above 0).
    minority_class_ : label
        The class with fewer cases; of equally many the dearer one.
    final_estimator_ : classifier
        What combines, when stacking.
    classes_ : ndarray of shape (2,)
        Class labels.
    costs_ : BoundCosts
        Costs bound to features and classes.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X had string names.

    See Also
    --------
    cstree.sampling.deal_subsets : The subsets alone.

    Notes
    -----
    Chan and Stolfo (1998): from shares ``x : y`` to ``u : v`` there are ``(y / x) (u / v)`` subsets; at
    the cost-based share, as many as the minority's mistakes are dearer than the majority's. Probabilities
    of the members speak of the subsets; those returned are set back to the shares of the training cases,
    and weighed with costs.

    References
    ----------
    P. K. Chan, S. J. Stolfo, Toward scalable learning with non-uniform class and cost distributions: a
    case study in credit card fraud detection, KDD 1998.

    Examples
    --------
    >>> import numpy as np
    >>> from cstree import CostModel, MultiSubsetClassifier
    >>> X, y = np.arange(100).reshape(-1, 1), np.arange(100) % 5 == 0
    >>> model = MultiSubsetClassifier(CostModel.binary(false_positive=1, false_negative=4), random_state=0)
    >>> [len(rows) for rows in model.fit(X, y).estimators_samples_]
    [40, 40, 40, 40]
    """

    _trained: ClassVar[str] = "_committee"

    def __init__(
        self,
        costs: CostModel | None = None,
        *,
        estimator: Any = None,
        minority_share: float | None = None,
        combine: str = "mean",
        final_estimator: Any = None,
        held_out: float = 0.25,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.costs = costs
        self.estimator = estimator
        self.minority_share = minority_share
        self.combine = combine
        self.final_estimator = final_estimator
        self.held_out = held_out
        self.n_jobs = n_jobs
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that there are two classes."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> MultiSubsetClassifier:
        """Deal the cases and train a member on each subset.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)
            What the learner takes.
        y : array-like of shape (n_samples,)
            Labels of two classes.
        sample_weight : array-like of shape (n_samples,), optional
            Weights, handed on to the learners; subsets are dealt by numbers of cases. Cases of weight 0 are
            left out.

        Returns
        -------
        MultiSubsetClassifier
            The fitted estimator itself.

        Raises
        ------
        ValueError
            A parameter is out of range, there are not two classes, or the data cannot be used.
        """
        if self.combine not in COMBINE:
            raise ValueError(f"combine is {self.combine!r}; choose one of {', '.join(map(repr, COMBINE))}")
        cases = self._cases(X, y, sample_weight)
        if self.n_classes_ > 2:
            raise ValueError(
                "Only binary classification is supported. The type of the target is multiclass: "
                f"{self.n_classes_} classes; CostOverSampler and CostUnderSampler take any number."
            )
        rng, rng_split = as_generator(self.random_state).spawn(2)
        judged = None
        if self.combine == "stacking":
            cases, judged = _split(cases, self.held_out, rng_split)
        self._committee = self._train(cases, rng)
        self._factors = _shown_share(cases, self._committee)
        probabilities(self._committee.members[0].learner, cases.X[:1], self.classes_)
        if judged is not None:
            self._stack(judged)
        return self

    def _stack(self, judged: Cases) -> None:
        """Train what combines the members on what they say of cases they have not seen."""
        final = self.final_estimator
        if final is None:
            from sklearn.linear_model import LogisticRegression  # on use: it takes a while to load

            final = LogisticRegression()
        said = self._said_by_each(judged.X)
        self.final_estimator_ = train(final, replace(judged, X=said))

    def _train(self, cases: Cases, rng: np.random.Generator) -> Committee:
        counts = np.bincount(cases.y, minlength=self.n_classes_)
        rows = [np.flatnonzero(cases.y == k) for k in range(len(counts))]
        if (counts == 0).any() or len(counts) < 2:  # nothing to deal
            self.minority_class_ = self.classes_[int(counts.argmin())]
            parts = [np.arange(len(cases))]
        else:
            costs = class_costs(self.costs_.matrix, self.classes_.tolist())
            few = int(np.lexsort((-costs, counts))[0])
            self.minority_class_ = self.classes_[few]
            odds = self._odds(counts[few] * costs[few] / (counts[1 - few] * costs[1 - few]))
            parts = deal_subsets(rows[few], rows[1 - few], odds, rng)
        learner = blind_tree(self.costs, self.costs_, cases) if self.estimator is None else self.estimator
        draws = [Draw(part) for part in parts]
        return train_committee(learner, cases, draws, rng.spawn(len(draws)), self.costs_, n_jobs=self.n_jobs)

    def _odds(self, by_costs: float) -> float:
        share = self.minority_share
        if share is None:
            return float(by_costs)
        if isinstance(share, bool) or not isinstance(share, int | float) or not 0 < share < 1:
            raise ValueError(f"minority_share is {share!r}: give a share between 0 and 1, or None")
        return share / (1 - share)

    def _members(self) -> tuple[list[Any], list[NDArray[np.intp]] | None]:
        return self.estimators_, None

    @property
    def estimators_(self) -> list[Any]:
        """The members' learners."""
        return [member.learner for member in self._committee.members]

    @property
    def estimators_samples_(self) -> list[NDArray[np.intp]]:
        """Training cases that each member was shown; numbered among those not held out, when stacking."""
        return [draw.rows for draw in self._committee.draws]

    def _said_by_each(self, X: Any) -> NDArray[np.float64]:
        """Probability of the second class according to each member, shape (n, n_members)."""
        return np.column_stack([member.probabilities(X)[:, -1] for member in self._committee.members])

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return class probabilities at the shares of the training cases.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``; with ``combine="vote"``, shares of the members' answers.
        """
        table = self._rows(X)
        if self.combine == "stacking":
            return probabilities(self.final_estimator_, self._said_by_each(table), self.classes_)
        if self.combine == "vote":
            return self._committee.average(table, self._answers)
        return undo_weights(self._committee.average(table, Member.probabilities), self._factors)

    def _answers(self, member: Member, X: Any) -> NDArray[np.float64]:
        """Vote of a member for its answer of least expected cost."""
        proba = undo_weights(member.probabilities(X), self._factors)
        return np.eye(self.n_classes_)[cheapest(proba @ self.costs_.matrix)]

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the label of least expected cost, or that of most votes, for each case.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels from ``classes_``; of equal ones the first.
        """
        proba = self.predict_proba(X)
        votes = self.combine == "vote"
        return self._labels(cheapest(-proba if votes else proba @ self.costs_.matrix))


def _shown_share(cases: Cases, committee: Committee) -> NDArray[np.float64]:
    """How much of each class's weight a member is shown, on average; shape (K,)."""
    whole = cases.class_weight()
    shown = sum(cases.take(draw.rows).class_weight() for draw in committee.draws) / len(committee.draws)
    return np.divide(shown, whole, out=np.ones(len(whole)), where=whole > 0)


def _split(cases: Cases, share: float, rng: np.random.Generator) -> tuple[Cases, Cases]:
    """Hold out a share of each class."""
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0 < share < 1:
        raise ValueError(f"held_out is {share!r}: give a share between 0 and 1")
    if (np.bincount(cases.y, minlength=2) < 2).any():
        raise ValueError(
            "stacking holds out cases of both classes, and one has fewer than two: combine='mean'"
        )
    from sklearn.model_selection import StratifiedShuffleSplit  # on use: it takes a while to load

    splitter = StratifiedShuffleSplit(1, test_size=share, random_state=int(rng.integers(2**31)))
    kept, judged = next(splitter.split(np.zeros((len(cases), 1)), cases.y))
    return cases.take(np.sort(kept)), cases.take(np.sort(judged))
