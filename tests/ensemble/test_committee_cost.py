"""What a committee's tests cost, and how much asking in turn saves without changing an answer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

from cstree.costs.model import CostModel, FeatureTest
from cstree.datasets import load_heart, load_hepatitis
from cstree.encoding.columns import Columns
from cstree.ensemble import AdaBoostDBClassifier, CGAdaClassifier, CSB2Classifier
from cstree.ensemble.test_cost import committee_test_cost, consultation_order, vote_partially
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
    weights = model.estimator_weights_
    f = np.zeros(len(X))
    asked = np.zeros(len(X), dtype=int)
    open_ = np.ones(len(X), dtype=bool)
    threshold = model._threshold(len(weights))
    table = model._table(X)
    left = weights.sum()
    for t in found.order:
        asked += open_
        f += weights[t] * (2 * model._answers(t, table) - 1)
        left -= weights[t]
        open_ &= np.abs(f - threshold) <= left + 1e-9
    assert np.array_equal(found.n_consulted, asked)


def test_order_by_price_takes_free_riders_first(heart: Any) -> None:
    model = CGAdaClassifier(heart.costs, n_estimators=15).fit(heart.data, heart.target)
    order = consultation_order(model.estimators_, model.estimator_weights_, model.costs_)
    paid: set[int] = set()
    left = list(range(len(order)))
    for t in order.tolist():
        rates = {
            s: model.costs_.price(model.estimators_[s].feature, paid) / model.estimator_weights_[s]
            if model.estimators_[s].feature >= 0
            else 0.0
            for s in left
        }
        assert rates[t] == pytest.approx(min(rates.values()))
        if model.estimators_[t].feature >= 0:
            paid.update(step for step, _ in model.costs_.newly_paid(model.estimators_[t].feature, paid))
        left.remove(t)
    by_weight = consultation_order(model.estimators_, model.estimator_weights_, model.costs_, "weight")
    assert (np.diff(model.estimator_weights_[by_weight]) <= 0).all()
    with pytest.raises(ValueError, match="order must be one of 'price', 'weight'; got 'name'"):
        model.partial_vote(heart.data, order="name")


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
            decide=lambda votes, remaining: np.where(votes.sum(axis=1) > 0, votes.argmax(axis=1), -1),
            answers=np.ones(4, dtype=np.intp),
        )
