"""Members of a bagged committee: what each is shown, how it is trained, and what all say together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.utils import _safe_indexing
from sklearn.utils.parallel import Parallel, delayed

from cstree.costs.bound import BoundCosts
from cstree.costs.model import CostModel
from cstree.encoding.columns import Columns
from cstree.ensemble.meta import Cases, answers_of, name_of, probabilities, train
from cstree.ensemble.prices import costs_of_columns

__all__ = [
    "Committee",
    "Draw",
    "Drawing",
    "Member",
    "count_of",
    "train_committee",
]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Drawing:
    """How the cases and columns of each member are drawn.

    Attributes
    ----------
    n_samples : int
        Cases drawn for a member.
    bootstrap : bool
        With replacement, by weight; False: without, and weights are handed on.
    n_columns : int or None
        Columns drawn without replacement; None: all, in their order.
    """

    n_samples: int
    bootstrap: bool = True
    n_columns: int | None = None


@dataclass(frozen=True, eq=False)
class Draw:
    """What one member is shown.

    Attributes
    ----------
    rows : ndarray of int
        Sorted; with repetitions if drawn with replacement.
    columns : ndarray of int or None
        Sorted; None for all.
    """

    rows: NDArray[np.intp]
    columns: NDArray[np.intp] | None = None

    @classmethod
    def make(cls, drawing: Drawing, cases: Cases, rng: np.random.Generator) -> Draw:
        """Draw cases and columns.

        Parameters
        ----------
        drawing : Drawing
        cases : Cases
        rng : Generator

        Returns
        -------
        Draw
        """
        n = len(cases)
        if not drawing.bootstrap:
            rows = rng.choice(n, drawing.n_samples, replace=False)
        elif cases.weight is None:
            rows = rng.integers(n, size=drawing.n_samples)
        else:
            rows = rng.choice(n, drawing.n_samples, p=cases.weight / cases.weight.sum())
        columns = None
        if drawing.n_columns is not None:
            columns = np.sort(rng.choice(cases.X.shape[1], drawing.n_columns, replace=False))
        return cls(np.sort(rows).astype(np.intp), columns)

    def left_out(self, n: int) -> NDArray[np.intp]:
        """Rows among ``n`` that were not drawn."""
        seen = np.zeros(n, dtype=np.bool_)
        seen[self.rows] = True
        return np.flatnonzero(~seen)


@dataclass(frozen=True, eq=False)
class Member:
    """One trained learner.

    Attributes
    ----------
    learner : fitted classifier
    classes : ndarray of shape (K,)
        All classes of the committee.
    columns : ndarray of int or None
        The columns that it reads.
    leaf_cost : ndarray of shape (n_nodes, K) or None
        Average cost of each answer over the cases in a leaf, where costs vary by case.
    """

    learner: Any
    classes: NDArray[Any]
    columns: NDArray[np.intp] | None = None
    leaf_cost: Floats | None = None

    def table(self, X: Any) -> Any:
        """Return the columns that the learner reads."""
        return X if self.columns is None else _safe_indexing(X, self.columns, axis=1)

    def probabilities(self, X: Any) -> Floats:
        """Class probabilities, shape (n, K)."""
        return probabilities(self.learner, self.table(X), self.classes)

    def votes(self, X: Any) -> Floats:
        """1 for the most probable class (without probabilities, for the answer), shape (n, K)."""
        if hasattr(self.learner, "predict_proba"):
            best = self.probabilities(X).argmax(axis=1)
        else:
            best = answers_of(self.learner, self.table(X), self.classes)
        return np.eye(len(self.classes))[best]

    def costs(self, X: Any) -> Floats:
        """Average cost of each answer in the leaf of each case, shape (n, K)."""
        assert self.leaf_cost is not None
        if isinstance(self.learner, DummyClassifier):
            return np.repeat(self.leaf_cost, X.shape[0], axis=0)
        return np.asarray(self.leaf_cost[self.learner.apply(self.table(X))])


@dataclass(frozen=True, eq=False)
class Committee:
    """All members, and what each was shown.

    Attributes
    ----------
    members : sequence of Member
    draws : sequence of Draw
    n_jobs : int or None
        Threads that ask the members; what they say together does not depend on it.
    """

    members: Sequence[Member]
    draws: Sequence[Draw]
    n_jobs: int | None = None

    def average(self, X: Any, ask: Callable[[Member, Any], Floats]) -> Floats:
        """Average what all members say.

        Parameters
        ----------
        X : table
            Cases.
        ask : callable
            ``Member.probabilities``, ``Member.votes`` or ``Member.costs``.

        Returns
        -------
        ndarray of shape (n, K)
        """
        total: Any = 0.0
        for said in self._ask((ask, member, X) for member in self.members):
            total = total + said
        return np.asarray(total / len(self.members))

    def out_of_bag(
        self, cases: Cases, ask: Callable[[Member, Any], Floats]
    ) -> tuple[Floats, NDArray[np.intp]]:
        """Average, for each training case, what members say that were not shown it.

        Parameters
        ----------
        cases : Cases
            Training table.
        ask : callable
            As in :meth:`average`.

        Returns
        -------
        ndarray of shape (n, K)
            0 for cases that all members were shown.
        ndarray of shape (n,), int
            Number of members that were asked.
        """
        total, asked = np.zeros((len(cases), cases.n_classes)), np.zeros(len(cases), dtype=np.intp)
        rows = [draw.left_out(len(cases)) for draw in self.draws]
        tasks = (
            (ask, m, _safe_indexing(cases.X, r)) for m, r in zip(self.members, rows, strict=True) if len(r)
        )
        for left_out, said in zip((r for r in rows if len(r)), self._ask(tasks), strict=True):
            total[left_out] += said
            asked[left_out] += 1
        return total / np.maximum(asked, 1)[:, None], asked

    def _ask(self, tasks: Any) -> Any:
        """Run tasks, giving their results in order, so that sums do not depend on the number of threads."""
        pool = Parallel(n_jobs=self.n_jobs, prefer="threads", return_as="generator")
        return pool(delayed(_call)(*task) for task in tasks)


def _call(ask: Callable[[Member, Any], Floats], member: Member, X: Any) -> Floats:
    return ask(member, X)


def train_committee(
    estimator: Any,
    cases: Cases,
    draws: Sequence[Draw],
    children: Sequence[np.random.Generator],
    costs: BoundCosts,
    *,
    hand_on_weights: bool = True,
    hand_on_costs: bool = True,
    n_jobs: int | None = None,
) -> Committee:
    """Train a member on each draw.

    Parameters
    ----------
    estimator : classifier
        What is trained. One with ``costs`` of its own gets the prices of the columns that it is shown.
    cases : Cases
        Training table.
    draws : sequence of Draw
        What each member is shown.
    children : sequence of Generator
        Seed each member.
    costs : BoundCosts
        Name the columns.
    hand_on_weights : bool, default=True
        Whether learners get the weights of cases; not where these were chances of being drawn.
    hand_on_costs : bool, default=True
        Whether learners that can use costs by case get them; leaves know them at any rate.
    n_jobs : int or None, default=None
        Threads; the result does not depend on it.

    Returns
    -------
    Committee

    Raises
    ------
    ValueError
        Costs vary by case, and the learner is no tree.
    """
    names = costs.feature_names
    learners = [_at_these_columns(estimator, cases, names, draw.columns) for draw in draws]
    members = Parallel(n_jobs=n_jobs, prefer="threads")(
        delayed(_train_member)(learner, cases, draw, child, hand_on_weights, hand_on_costs)
        for learner, draw, child in zip(learners, draws, children, strict=True)
    )
    return Committee(members, draws, n_jobs)


def _train_member(
    estimator: Any,
    cases: Cases,
    draw: Draw,
    rng: np.random.Generator,
    hand_on_weights: bool,
    hand_on_costs: bool,
) -> Member:
    shown = cases.take(draw.rows)
    X = shown.X if draw.columns is None else _safe_indexing(shown.X, draw.columns, axis=1)
    weight = shown.weight if hand_on_weights else None
    shown = Cases(X, shown.y, shown.classes, weight, shown.example_cost)
    learner = train(estimator, shown if hand_on_costs else replace(shown, example_cost=None), rng)
    leaf_cost = None if shown.example_cost is None else _costs_of_leaves(learner, shown)
    return Member(learner, cases.classes, draw.columns, leaf_cost)


def _costs_of_leaves(learner: Any, cases: Cases) -> Floats:
    """Average cost of each answer over the cases in each leaf; over all cases for leaves without any."""
    costs, weight = cases.example_cost, cases.weights()
    assert costs is not None
    everywhere = (weight @ costs) / weight.sum()
    if isinstance(learner, DummyClassifier):
        return everywhere[None, :]
    tree = getattr(learner, "tree_", None)
    n_nodes = getattr(tree, "n_nodes", getattr(tree, "node_count", None))
    if n_nodes is None:
        raise ValueError(
            f"example_cost wants trees, whose leaves say what answers cost there; {name_of(learner)} has none"
        )
    leaf = learner.apply(cases.X)
    total, count = np.zeros((n_nodes, cases.n_classes)), np.bincount(leaf, weight, minlength=n_nodes)
    np.add.at(total, leaf, costs * weight[:, None])
    known = count > 0
    total[known] /= count[known, None]
    total[~known] = everywhere
    return total


def _at_these_columns(
    estimator: Any, cases: Cases, names: Sequence[str], columns: NDArray[np.intp] | None
) -> Any:
    """Give a learner with costs of its own the prices of the columns that it is shown."""
    costs = estimator.get_params(deep=False).get("costs")
    if not isinstance(costs, CostModel) or costs.tests is None:
        return estimator
    new_names: Sequence[str] | None = None
    if columns is not None and not issparse(cases.X):
        new_names = Columns(_safe_indexing(cases.X[:1], columns, axis=1)).names
    return clone(estimator).set_params(costs=costs_of_columns(costs, names, columns, new_names))


def count_of(value: Any, total: int, name: str, *, more: bool = False) -> int:
    """Read a number of things, or a share of all.

    Parameters
    ----------
    value : int or float
        A whole number from 1, or a share above 0 and up to 1.
    total : int
        How many there are.
    name : str
        Name of the parameter, for the error.
    more : bool, default=False
        Whether it may be more than there are.

    Returns
    -------
    int
        At least 1.

    Raises
    ------
    ValueError
        Neither of the two.
    """
    if isinstance(value, Integral) and not isinstance(value, bool):
        if 1 <= int(value) and (more or int(value) <= total):
            return int(value)
    elif isinstance(value, Real) and not isinstance(value, bool) and 0 < float(value) <= 1:
        return max(1, round(float(value) * total))
    most = "" if more else f", at most {total},"
    raise ValueError(f"{name} is {value!r}: give a whole number from 1{most} or a share above 0 and up to 1")
