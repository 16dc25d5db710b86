"""What a committee's tests cost, and how much asking in turn saves without changing an answer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

from cstree.costs.model import CostModel, FeatureTest
from cstree.datasets import load_heart, load_hepatitis
from cstree.encoding.columns import Columns
from cstree.ensemble import AdaBoostDBClassifier, CGAdaClassifier, CSB2Classifier, Stump
from cstree.ensemble.test_cost import committee_test_cost, vote_partially
from cstree.evolution.classifier import ParetoTreeClassifier
from cstree.greedy.classifier import GreedyTreeClassifier
from cstree.metrics import test_cost as average_test_cost
from tests.reference.boosting import plain_committee_cost


def steps_of(model: Any) -> list[list[tuple[str, float]]]:
    costs = model.costs_
    return [
        [(costs.step_names[step], price) for step, price in costs.newly_paid(j)]
        for j in range(costs.n_features)
    ]


def asked_by(model: Any, X: Any) -> list[list[list[int]]]:
    """Features that each member asks of each case, read from decision paths."""
    n = len(X)
    asked = []
    for member in model.estimators_:
        if hasattr(member, "tree_"):
            path = member.decision_path(X)
            tree = member.tree_
            asked.append(
                [[int(tree.feature[v]) for v in path[i].indices if tree.feature[v] >= 0] for i in range(n)]
            )
        elif hasattr(member, "feature"):
            asked.append([[member.feature] if member.feature >= 0 else []] * n)
        else:
            asked.append([list(range(model.n_features_in_))] * n)
    return asked


@pytest.fixture(scope="module")
def heart() -> Any:
    return load_heart()


@pytest.fixture(scope="module")
def committees(heart: Any) -> list[Any]:
    """Fitted committees of stumps, of trees that are trained, and of trees from a front."""
    X, y, costs = heart.data, heart.target, heart.costs
    prices = CostModel([[0, 50], [50, 0]], tests=costs.tests, operations=costs.operations)
    front = ParetoTreeClassifier(costs, generations=3, random_state=0).fit(X, y).front_
    made = [
        CGAdaClassifier(costs, n_estimators=12),
        AdaBoostDBClassifier(costs, n_estimators=12, random_state=0),
        CSB2Classifier(costs, n_estimators=12),
        CGAdaClassifier(costs, estimator=GreedyTreeClassifier(prices, max_depth=3), n_estimators=5),
        AdaBoostDBClassifier(costs, pool=front, n_estimators=6, random_state=0),
    ]
    return [model.fit(X, y) for model in made]


def test_each_test_is_paid_once_per_case(heart: Any, committees: list[Any]) -> None:
    for model in committees:
        paid = model.test_cost(heart.data)
        assert paid.tolist() == pytest.approx(
            plain_committee_cost(asked_by(model, heart.data), steps_of(model))
        )
        assert average_test_cost(model, heart.data) == pytest.approx(paid.mean())
        singles = [
            committee_test_cost([member], Columns(heart.data), model.costs_) for member in model.estimators_
        ]
        assert (paid <= np.sum(singles, axis=0) + 1e-9).all()
        assert (paid >= np.max(singles, axis=0) - 1e-9).all()


@pytest.mark.parametrize("order", ["price", "weight"])
def test_asking_in_turn_saves_and_answers_the_same(heart: Any, committees: list[Any], order: str) -> None:
    for model in committees:
        found = model.partial_vote(heart.data, order=order)
        assert np.array_equal(found.labels, model.predict(heart.data))
        assert (found.test_cost <= found.full_test_cost + 1e-9).all()
        assert found.full_test_cost == pytest.approx(model.test_cost(heart.data))
        assert (found.n_consulted <= len(model.estimators_)).all()
        assert sorted(found.order.tolist()) == list(range(len(model.estimators_)))
        if len(model.estimators_) > 3:
            assert found.n_consulted.mean() < len(model.estimators_)
            assert 0 <= found.saving < 1
        check_stops(model, found, heart.data)


def check_stops(model: Any, found: Any, X: Any) -> None:
    """No case stopped before its answer was certain, nor went on after."""
    table, threshold = model._table(X), model._threshold(len(model.estimators_))
    said = {t: model.estimator_weights_[t] * (2 * model._answers(t, table) - 1) for t in found.order}
    groups = groups_of(model, found.order.tolist())
    f, asked, open_ = np.zeros(len(X)), np.zeros(len(X), dtype=int), np.ones(len(X), dtype=bool)
    for g, group in enumerate(groups):
        rest = [extremes(model, later) for later in groups[g:]]
        least, most = (sum(ends) for ends in zip(*rest, strict=True))
        open_ &= (f + least <= threshold + 1e-9) & (f + most >= threshold - 1e-9)
        asked += len(group) * open_
        f = f + sum(said[t] for t in group)
    assert np.array_equal(found.n_consulted, asked)


def groups_of(model: Any, order: list[int]) -> list[list[int]]:
    """Neighbours in the order that are stumps on one feature."""
    groups: list[list[int]] = []
    for t in order:
        feature = getattr(model.estimators_[t], "feature", None)
        last = getattr(model.estimators_[groups[-1][0]], "feature", None) if groups else None
        if feature is not None and feature == last:
            groups[-1].append(t)
        else:
            groups.append([t])
    return groups


def extremes(model: Any, group: list[int]) -> tuple[float, float]:
    """Least and greatest vote of some members; stumps on one feature see the same value."""
    weights, members = model.estimator_weights_[group], [model.estimators_[t] for t in group]
    if not isinstance(members[0], Stump):
        return -weights.sum(), weights.sum()
    feature = max(members[0].feature, 0)
    if model.schema_[feature].kind == "numeric":
        cuts = sorted(member.cut for member in members if np.isfinite(member.cut))
        values = [*cuts, (cuts or [0.0])[-1] + 1, np.nan]
    else:
        values = [*model.schema_[feature].categories, None]
    rows = load_heart().data.iloc[[0] * len(values)].reset_index(drop=True)
    name = model.schema_[feature].name
    rows[name] = pd.Series(values, dtype=rows[name].dtype if None in values else "float64")
    sums = sum(
        w * (2 * member.answer(model.schema_, Columns(rows)) - 1)
        for w, member in zip(weights, members, strict=True)
    )
    return float(np.min(sums)), float(np.max(sums))


def test_order_by_price_and_by_weight(heart: Any, committees: list[Any]) -> None:
    model = committees[0]
    for order in ("price", "weight"):
        groups = groups_of(model, model.partial_vote(heart.data, order=order).order.tolist())
        swings = {id(group): np.ptp(extremes(model, group)) for group in groups}
        assert len({model.estimators_[group[0]].feature for group in groups}) == len(groups)
        paid: set[int] = set()
        for at, group in enumerate(groups):
            keys = {
                id(later): -swings[id(later)]
                if order == "weight"
                else price_of(model, later, paid) / max(swings[id(later)], 1e-300)
                for later in groups[at:]
            }
            assert keys[id(group)] == pytest.approx(min(keys.values()))
            if model.estimators_[group[0]].feature >= 0:
                paid.update(step for step, _ in model.costs_.newly_paid(model.estimators_[group[0]].feature))
    with pytest.raises(ValueError, match="order must be one of 'price', 'weight'; got 'name'"):
        model.partial_vote(heart.data, order="name")


def price_of(model: Any, group: list[int], paid: set[int]) -> float:
    feature = model.estimators_[group[0]].feature
    return model.costs_.price(feature, paid) if feature >= 0 else 0.0


def test_several_classes_stop_only_when_certain() -> None:
    X, y = load_iris(return_X_y=True)
    prices = {
        "x0": 1.0,
        "x1": 2.0,
        "x2": FeatureTest(1, needs=("look",)),
        "x3": FeatureTest(2, needs=("look",)),
    }
    for matrix in (None, [[0, 1, 2], [4, 0, 1], [1, 9, 0]]):
        costs = CostModel(matrix, tests=prices, operations={"look": 3})
        model = CGAdaClassifier(costs, n_estimators=25).fit(X, y)
        for order in ("price", "weight"):
            found = model.partial_vote(X, order=order)
            assert np.array_equal(found.labels, model.predict(X))
            assert found.n_consulted.mean() < len(model.estimators_)
        assert "members asked, test cost" in repr(found)


def test_prices_of_another_day_and_members_that_ask_everything() -> None:
    table = load_hepatitis()
    model = CGAdaClassifier(n_estimators=6).fit(table.data, table.target)
    assert model.test_cost(table.data).tolist() == [0.0] * len(table.data)
    assert model.partial_vote(table.data).saving == 0.0
    priced = CostModel(tests=dict.fromkeys(table.data.columns, 2.0))
    used = {stump.feature for stump in model.estimators_ if stump.feature >= 0}
    assert set(model.test_cost(table.data, costs=priced)) == {2.0 * len(used)}
    with pytest.raises(TypeError, match=r"wrap prices as CostModel\(tests=\.\.\.\)"):
        model.test_cost(table.data, costs={"age": 2})
    numbers = table.data.select_dtypes("number").fillna(0)
    regression = LogisticRegression(max_iter=5000).fit(numbers / numbers.max(), table.target)
    model = CGAdaClassifier(CostModel(tests=dict.fromkeys(numbers.columns, 2.0)), pool=[regression])
    model.fit(numbers, table.target)
    assert set(model.test_cost(numbers)) == {2.0 * numbers.shape[1]}


def test_members_of_some_columns_and_committees_within_committees(heart: Any) -> None:
    X, y = heart.data, heart.target
    costs = heart.costs.bind(tuple(X.columns), np.unique(y).tolist())
    some = np.array([7, 2, 11])
    tree = GreedyTreeClassifier(max_depth=3).fit(X.iloc[:, some], y)
    stumps = CGAdaClassifier(n_estimators=5).fit(X, y)
    paid = committee_test_cost([tree, stumps], Columns(X), costs, [some, np.arange(X.shape[1])])
    asked = asked_by(stumps, X)
    path, inner = tree.decision_path(X.iloc[:, some]), tree.tree_
    asked.insert(
        0,
        [
            [int(some[inner.feature[v]]) for v in path[i].indices if inner.feature[v] >= 0]
            for i in range(len(X))
        ],
    )
    steps = [[(str(s), price) for s, price in costs.newly_paid(j)] for j in range(costs.n_features)]
    assert paid.tolist() == pytest.approx(plain_committee_cost(asked, steps))


def test_a_wrong_rule_of_decision_is_noticed() -> None:
    X = np.zeros((4, 1))
    costs = CostModel().bind(("x0",), (0, 1))
    with pytest.raises(RuntimeError, match="taken as decided"):
        vote_partially(
            [LogisticRegression()] * 2,
            Columns(X),
            costs,
            weights=np.ones(2),
            votes=lambda t: np.tile([1.0, 0.0] if t == 0 else [0.0, 3.0], (4, 1)),
            decide=lambda votes, low, high: np.where(votes.sum(axis=1) > 0, votes.argmax(axis=1), -1),
            answers=np.ones(4, dtype=np.intp),
        )
