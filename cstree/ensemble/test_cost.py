"""What a committee's tests cost: each once per case, whoever asks; and asking no more than the vote needs.

Of each case a member asks the tests on its way down a tree, a stump its one feature, and any other classifier
all columns that it was trained on. What one member has paid for, no other pays again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.frozen import FrozenEstimator

from cstree.costs.bound import BoundCosts
from cstree.encoding.columns import Columns
from cstree.ensemble._kernels import pay_steps
from cstree.ensemble.stumps import Stump
from cstree.tree.classifier import TreeClassifier
from cstree.tree.evaluation import leaves_of
from cstree.tree.tree import Tree

__all__ = ["ORDERS", "PartialVote", "committee_test_cost", "vote_partially"]

Floats = NDArray[np.float64]
# One member, and the columns of the table that it was trained on (None: all).
Member = tuple[Any, NDArray[np.intp] | None]

ORDERS = ("price", "weight")


class _Asked(NamedTuple):
    """What a member asks: the profile of each case, and the features of each profile, in order."""

    profile: NDArray[np.intp]
    features: list[list[int]]


class _Account:
    """What cases have paid so far.

    Parameters
    ----------
    costs : BoundCosts
    n_samples : int
    """

    def __init__(self, costs: BoundCosts, n_samples: int) -> None:
        self._costs = costs
        self._paid = np.zeros((n_samples, costs.n_steps), dtype=np.bool_)
        self.total = np.zeros(n_samples)

    def pay(self, rows: NDArray[np.intp], asked: _Asked) -> None:
        """Let some cases pay for what a member asks."""
        bought = [_entries(self._costs, features) for features in asked.features]
        flat = [entry for entries in bought for entry in entries]
        pay_steps(
            rows,
            asked.profile,
            np.cumsum([0, *map(len, bought)], dtype=np.int64),
            np.array([step for step, _ in flat], dtype=np.int64),
            np.array([price for _, price in flat], dtype=np.float64),
            self._paid,
            self.total,
        )


def _entries(costs: BoundCosts, features: Sequence[int]) -> list[tuple[int, float]]:
    """List steps and prices of testing some features one after the other."""
    paid: set[int] = set()
    found = []
    for feature in features:
        bought = costs.newly_paid(feature, paid)
        paid.update(step for step, _ in bought)
        found += bought
    return found


def _single_members(members: Sequence[Any], features: Sequence[NDArray[np.intp]] | None) -> Iterator[Member]:
    """Members and their columns; committees among them by their own members."""
    for i, member in enumerate(members):
        columns = None if features is None else np.asarray(features[i], dtype=np.intp)
        inner = member.estimator if isinstance(member, FrozenEstimator) else member
        below = getattr(inner, "estimators_", None)
        if isinstance(below, list) and hasattr(inner, "test_cost"):
            for single, own in _single_members(below, getattr(inner, "estimators_features_", None)):
                yield single, own if columns is None else columns if own is None else columns[own]
        else:
            yield inner, columns


def _asked(member: Member, table: Columns) -> _Asked:
    """Find what a single member asks of each case."""
    model, own = member
    everybody = np.zeros(table.n_samples, dtype=np.intp)
    if isinstance(model, Stump):
        return _Asked(everybody, [_of_table([model.feature] if model.feature >= 0 else [], own)])
    if not isinstance(model, TreeClassifier):
        return _Asked(everybody, [list(range(table.n_features)) if own is None else own.tolist()])
    tree = model.tree_
    leaf = leaves_of(tree, model.schema_, table if own is None else _columns_of(table, own))
    reached, profile = np.unique(leaf, return_inverse=True)
    paths = _path_features(tree)
    return _Asked(profile.astype(np.intp), [_of_table(paths[node], own) for node in reached.tolist()])


def _columns_of(table: Columns, own: NDArray[np.intp]) -> Columns:
    if table.frame is not None:
        return Columns(table.frame.iloc[:, own])
    assert table.array is not None
    return Columns(table.array[:, own])


def _of_table(features: Sequence[int], own: NDArray[np.intp] | None) -> list[int]:
    """Positions in the table of a member's features."""
    return list(features) if own is None else own[list(features)].tolist()


def _path_features(tree: Tree) -> list[list[int]]:
    """Features that are tested above each node, in order."""
    found: list[list[int]] = [[]]
    for node, parent in enumerate(tree.parents().tolist()):
        if node:
            tested = int(tree.feature[parent])
            above = found[parent]
            found.append(above if tested in above else [*above, tested])
    return found


def committee_test_cost(
    members: Sequence[Any],
    table: Columns,
    costs: BoundCosts,
    features: Sequence[NDArray[np.intp]] | None = None,
) -> Floats:
    """Return what each case pays when all members of a committee are asked.

    Parameters
    ----------
    members : sequence of Stump or fitted classifiers
        Asked in this order: where tests have their own figures for a shared step, the first one sets its
        price.
    table : Columns
        The cases.
    costs : BoundCosts
        Prices, bound to the columns of the table.
    features : sequence of arrays of int, optional
        Columns of the table that each member was trained on; all by default.

    Returns
    -------
    ndarray of shape (n_samples,)
        Every test that any member asks of the case, and every step these tests share, paid once.
    """
    account = _Account(costs, table.n_samples)
    if costs.n_steps:
        rows = np.arange(table.n_samples)
        for member in _single_members(members, features):
            account.pay(rows, _asked(member, table))
    return account.total


@dataclass(frozen=True, eq=False)
class PartialVote:
    """Answers of a committee whose members are asked one by one, until the rest cannot change the answer.

    Attributes
    ----------
    labels : ndarray of shape (n_samples,)
        The answers: those of ``predict``.
    n_consulted : ndarray of shape (n_samples,), int
        How many members each case asked.
    test_cost : ndarray of shape (n_samples,)
        What each case paid for tests.
    full_test_cost : ndarray of shape (n_samples,)
        What it would have paid had it asked all members.
    order : ndarray of shape (n_members,), int
        Members in the order in which they were asked; stumps on one feature together.
    """

    labels: NDArray[Any]
    n_consulted: NDArray[np.int64]
    test_cost: Floats
    full_test_cost: Floats
    order: NDArray[np.intp]

    @property
    def saving(self) -> float:
        """Share of the test cost that was saved, over all cases; 0 where tests are free."""
        full = float(self.full_test_cost.sum())
        return 1.0 - float(self.test_cost.sum()) / full if full > 0 else 0.0

    def __repr__(self) -> str:
        return (
            f"PartialVote({len(self.labels)} cases, {self.n_consulted.mean():.1f} of {len(self.order)} "
            f"members asked, test cost {self.test_cost.mean():g} instead of {self.full_test_cost.mean():g})"
        )


class _Unit(NamedTuple):
    """Members that are asked together: stumps on one feature, or a single member of another kind."""

    members: list[int]
    # The least and the greatest weight that they can give each class, (n_classes,).
    low: Floats
    high: Floats


def _units(
    members: Sequence[Any],
    weights: Floats,
    n_classes: int,
    features: Sequence[NDArray[np.intp]] | None,
) -> list[_Unit]:
    """Group the members of a committee; what is known of one stump's feature is known of all its stumps."""
    by_feature: dict[int, list[int]] = {}
    found = []
    for t, member in enumerate(members):
        if isinstance(member, Stump):
            own = None if features is None else features[t]
            (feature,) = _of_table([member.feature], own) if member.feature >= 0 else (-1,)
            by_feature.setdefault(feature, []).append(t)
        else:
            found.append(_Unit([t], np.zeros(n_classes), np.full(n_classes, weights[t])))
    for listed in by_feature.values():
        votes = _stump_votes([members[t] for t in listed], weights[listed], n_classes)
        found.append(_Unit(listed, votes.min(axis=0), votes.max(axis=0)))
    return found


def _stump_votes(stumps: Sequence[Stump], weights: Floats, n_classes: int) -> Floats:
    """Weight that stumps on one feature give each class, for all values that they tell apart.

    Returns
    -------
    ndarray of shape (n_values, n_classes)
    """
    cuts = np.array([stump.cut for stump in stumps])
    # Every cut (which is not greater than itself), a value beyond all, a category that none names, missing.
    values = np.unique(np.concatenate([cuts, [np.inf, -2.0, np.nan]]))[:, None]
    is_equal = np.array([stump.is_categorical for stump in stumps])
    yes = np.where(is_equal, values == cuts, values > cuts)
    yes = np.where(np.isnan(values), [stump.missing_says_yes for stump in stumps], yes)
    on_no, on_yes = np.array([stump.answers for stump in stumps]).T
    one_hot = np.eye(n_classes)[np.where(yes, on_yes, on_no)]
    return np.einsum("vtk,t->vk", one_hot, weights)


def _in_order(
    units: Sequence[_Unit],
    members: Sequence[Any],
    costs: BoundCosts,
    order: str,
    features: Sequence[NDArray[np.intp]] | None,
) -> list[_Unit]:
    """Sort units by how much they can move the vote, or by their price for that."""
    if order not in ORDERS:
        raise ValueError(f"order must be one of {', '.join(map(repr, ORDERS))}; got {order!r}.")
    swing = np.array([float((unit.high - unit.low).max()) for unit in units])
    left = np.argsort(-swing, kind="stable").tolist()
    if order == "weight" or costs.n_steps == 0:
        return [units[u] for u in left]
    prices = np.zeros((len(units), costs.n_steps))
    needs = np.zeros(prices.shape, dtype=np.bool_)
    for u, unit in enumerate(units):
        for single in _of_unit(unit, members, features):
            for step, price in _entries(costs, _may_ask(single, costs.n_features)):
                prices[u, step] = max(prices[u, step], price)
                needs[u, step] = True
    found, unpaid = [], np.ones(costs.n_steps)
    while left:
        rate = prices[left] @ unpaid / np.maximum(swing[left], 1e-300)
        chosen = left.pop(int(rate.argmin()))
        unpaid[needs[chosen]] = 0.0
        found.append(units[chosen])
    return found


def _of_unit(
    unit: _Unit, members: Sequence[Any], features: Sequence[NDArray[np.intp]] | None
) -> list[Member]:
    """Single members of a unit that may ask something; one stump speaks for all on its feature."""
    t = unit.members[0]
    return list(_single_members([members[t]], None if features is None else [features[t]]))


def _may_ask(member: Member, n_features: int) -> list[int]:
    """Features that a member may ask of some case."""
    model, own = member
    if isinstance(model, Stump):
        return _of_table([model.feature] if model.feature >= 0 else [], own)
    if isinstance(model, TreeClassifier):
        return _of_table(list(model.tree_.used_features()), own)
    return list(range(n_features)) if own is None else own.tolist()


def vote_partially(
    members: Sequence[Any],
    table: Columns,
    costs: BoundCosts,
    *,
    weights: Floats,
    votes: Callable[[int], Floats],
    decide: Callable[[Floats, Floats, Floats], NDArray[np.intp]],
    answers: NDArray[np.intp],
    order: str = "price",
    features: Sequence[NDArray[np.intp]] | None = None,
) -> tuple[NDArray[np.int64], Floats, Floats, NDArray[np.intp]]:
    """Ask the members of a committee one by one, of each case until the rest cannot change its answer.

    Stumps on one feature are asked together, and the bound on what they may say counts that they see the
    same value.

    Parameters
    ----------
    members : sequence of Stump or fitted classifiers
    table : Columns
        The cases.
    costs : BoundCosts
    weights : ndarray of shape (n_members,)
        Not negative.
    votes : callable
        ``votes(t)``: how member ``t`` spreads its weight over the classes for each case, (n_samples,
        n_classes).
    decide : callable
        ``decide(votes, low, high)``: class index that the rest cannot change, or -1, for the weight that
        classes have got so far, (m, n_classes), when the rest will give class ``k`` from ``low[k]`` to
        ``high[k]``.
    answers : ndarray of shape (n_samples,), int
        Class index that the whole committee answers.
    order : {"price", "weight"}, default="price"
        "weight": first what can move the vote most. "price": first what has the least price for that,
        counting only tests that have not been taken; a tree counts all tests that it may ask.
    features : sequence of arrays of int, optional
        Columns of the table that each member was trained on; all by default.

    Returns
    -------
    n_consulted, test_cost, full_test_cost, order
        As in :class:`PartialVote`.

    Raises
    ------
    ValueError
        An unknown order.
    RuntimeError
        A decided answer is not that of the whole committee: ``decide`` is wrong.
    """
    n_classes, everybody = len(costs.classes), np.arange(table.n_samples)
    units = _in_order(_units(members, weights, n_classes, features), members, costs, order, features)
    # What the units from each on may still give.
    low, high = (_from_the_end([getattr(u, side) for u in units], n_classes) for side in ("low", "high"))
    account, whole = _Account(costs, table.n_samples), _Account(costs, table.n_samples)
    consulted = np.zeros(table.n_samples, dtype=np.int64)
    given = np.zeros((table.n_samples, n_classes))
    open_ = everybody[decide(given, low[0], high[0]) < 0]
    for u, unit in enumerate(units):
        if costs.n_steps:
            for single in _of_unit(unit, members, features):
                asked = _asked(single, table)
                account.pay(open_, asked)
                whole.pay(everybody, asked)
        consulted[open_] += len(unit.members)
        for t in unit.members:
            given += votes(t)
        decided = decide(given[open_], low[u + 1], high[u + 1])
        if (decided != answers[open_])[decided >= 0].any():
            raise RuntimeError("a vote was taken as decided that was not")
        open_ = open_[decided < 0]
    sequence = np.array([t for unit in units for t in unit.members], dtype=np.intp)
    return consulted, account.total, whole.total, sequence


def _from_the_end(rows: Sequence[Floats], n_classes: int) -> Floats:
    """Return the sums of the rows from each on, and zeros after the last."""
    table = np.vstack([*rows, np.zeros(n_classes)])
    return np.asarray(table[::-1].cumsum(axis=0)[::-1])
