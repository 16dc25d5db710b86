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

__all__ = ["ORDERS", "PartialVote", "committee_test_cost", "consultation_order", "vote_partially"]

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
        Members in the order in which they were asked.
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


def consultation_order(
    members: Sequence[Any],
    weights: Floats,
    costs: BoundCosts,
    order: str = "price",
    features: Sequence[NDArray[np.intp]] | None = None,
) -> NDArray[np.intp]:
    """Order in which members of a committee are asked.

    Parameters
    ----------
    members : sequence of Stump or fitted classifiers
    weights : ndarray of shape (n_members,)
        How much each can move the vote.
    costs : BoundCosts
    order : {"price", "weight"}, default="price"
        "weight": the heaviest first. "price": the least price per weight first, counting only tests that no
        member before asks; a tree counts all tests that it may ask.
    features : sequence of arrays of int, optional
        Columns of the table that each member was trained on.

    Returns
    -------
    ndarray of shape (n_members,), intp

    Raises
    ------
    ValueError
        An unknown order.
    """
    if order not in ORDERS:
        raise ValueError(f"order must be one of {', '.join(map(repr, ORDERS))}; got {order!r}.")
    by_weight = np.argsort(-weights, kind="stable")
    if order == "weight" or costs.n_steps == 0:
        return by_weight
    prices = np.zeros((len(members), costs.n_steps))
    needs = np.zeros(prices.shape, dtype=np.bool_)
    for t, member in enumerate(members):
        own = None if features is None else [features[t]]
        for single in _single_members([member], own):
            for step, price in _entries(costs, _may_ask(single, costs.n_features)):
                prices[t, step] = max(prices[t, step], price)
                needs[t, step] = True
    found: list[int] = []
    left, unpaid = by_weight.tolist(), np.ones(costs.n_steps)
    with np.errstate(divide="ignore", invalid="ignore"):
        while left:
            rate = np.nan_to_num(prices[left] @ unpaid / weights[left], nan=np.inf, posinf=np.inf)
            chosen = left.pop(int(rate.argmin()))
            unpaid[needs[chosen]] = 0.0
            found.append(chosen)
    return np.array(found, dtype=np.intp)


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
    decide: Callable[[Floats, float], NDArray[np.intp]],
    answers: NDArray[np.intp],
    order: str = "price",
    features: Sequence[NDArray[np.intp]] | None = None,
) -> tuple[NDArray[np.int64], Floats, Floats, NDArray[np.intp]]:
    """Ask the members of a committee one by one, of each case until the rest cannot change its answer.

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
        ``decide(votes, remaining)``: class index that no spread of the remaining weight can change, or -1,
        for the votes so far, (m, n_classes).
    answers : ndarray of shape (n_samples,), int
        Class index that the whole committee answers.
    order : {"price", "weight"}, default="price"
        See :func:`consultation_order`.
    features : sequence of arrays of int, optional
        Columns of the table that each member was trained on.

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
    sequence = consultation_order(members, weights, costs, order, features)
    account, whole = _Account(costs, table.n_samples), _Account(costs, table.n_samples)
    consulted = np.zeros(table.n_samples, dtype=np.int64)
    everybody = np.arange(table.n_samples)
    n_classes = len(costs.classes)
    given, remaining = np.zeros((table.n_samples, n_classes)), float(weights.sum())
    open_ = everybody[decide(given, remaining) < 0]
    for t in sequence.tolist():
        if costs.n_steps:
            own = None if features is None else [features[t]]
            for single in _single_members([members[t]], own):
                asked = _asked(single, table)
                account.pay(open_, asked)
                whole.pay(everybody, asked)
        consulted[open_] += 1
        given += votes(t)
        remaining = max(remaining - float(weights[t]), 0.0)
        decided = decide(given[open_], remaining)
        if (decided != answers[open_])[decided >= 0].any():
            raise RuntimeError("a vote was taken as decided that was not")
        open_ = open_[decided < 0]
    return consulted, account.total, whole.total, sequence
