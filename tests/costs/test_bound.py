from __future__ import annotations

import json
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cstree.costs.bound import BoundCosts
from cstree.costs.model import CostModel, FeatureTest
from tests import reference
from tests.costs.strategies import LABELS, Told, told_costs


def bind(told: Told, columns: list[str] | None = None) -> BoundCosts:
    """Bind without the warning about free columns, which told costs may have."""
    columns = told.columns if columns is None else columns
    free = [column for column in columns if column not in told.test_of]
    if free:
        with pytest.warns(UserWarning, match="taken as free"):
            return told.model.bind(columns, ["flu", "well"])
    return told.model.bind(columns, ["flu", "well"])


@given(told_costs(), st.lists(st.integers(0, 20), max_size=8))
def test_prices_on_a_path_are_those_of_the_oracle(told: Told, walk: list[int]) -> None:
    bound = bind(told)
    paid: set[int] = set()
    names: set[str] = set()
    for turn in walk:
        feature = turn % len(told.columns)
        column = told.columns[feature]
        assert bound.price(feature, paid) == told.price(column, names)
        steps = bound.newly_paid(feature, paid)
        assert {bound.step_names[s]: p for s, p in steps if p} == {
            step: price for step, price in told.steps(column).items() if step not in names and price
        }
        assert sum(price for _, price in steps) == bound.price(feature, paid)
        paid |= {step for step, _ in steps}
        names |= set(told.steps(column))
        assert bound.price(feature, paid) == 0  # another cut of the same feature is free


@given(told_costs(), st.data())
def test_price_for_any_set_of_paid_steps(told: Told, data: st.DataObject) -> None:
    bound = bind(told)
    paid = data.draw(st.sets(st.sampled_from(range(bound.n_steps)))) if bound.n_steps else set()
    names = {bound.step_names[s] for s in paid}
    for feature, column in enumerate(told.columns):
        assert bound.price(feature, paid) == told.price(column, names)
        assert bound.price(feature, list(paid)) == bound.price(feature, paid)
        # the plain twin that judges the kernels reads the same from the arrays
        assert reference.price(reference.plain_costs(bound), feature, paid) == bound.price(feature, paid)


@given(told_costs(), st.randoms(use_true_random=False))
def test_order_of_columns_does_not_matter(told: Told, random) -> None:
    shuffled = random.sample(told.columns, len(told.columns))
    first, second = bind(told), bind(told, shuffled)
    assert sorted(first.step_names) == sorted(second.step_names)
    paid_first: set[int] = set()
    paid_second: set[int] = set()
    for column in random.choices(told.columns, k=6):
        i, j = told.columns.index(column), shuffled.index(column)
        assert first.test_names[i] == second.test_names[j]
        assert first.price(i, paid_first) == second.price(j, paid_second)
        paid_first |= {step for step, _ in first.newly_paid(i, paid_first)}
        paid_second |= {step for step, _ in second.newly_paid(j, paid_second)}


@given(told_costs())
def test_arrays_keep_their_promises(told: Told) -> None:
    bound = bind(told)
    assert bound.step_start.dtype == bound.steps.dtype == np.int32
    assert bound.prices.dtype == bound.matrix.dtype == np.float64
    assert bound.step_start.shape == (bound.n_features + 1,)
    assert bound.step_start[0] == 0 and bound.step_start[-1] == len(bound.steps) == len(bound.prices)
    assert set(bound.steps.tolist()) == set(range(bound.n_steps))
    for feature in range(bound.n_features):
        steps = bound.steps[bound.step_start[feature] : bound.step_start[feature + 1]].tolist()
        assert len(set(steps)) == len(steps)
        own = bound.test_names[feature]
        assert bool(own) == bool(steps)
        if own in bound.step_names:
            assert bound.step_names[steps[0]] == own
    # a step is there only if it costs something with at least one feature
    dearest = [max(bound.prices[bound.steps == step]) for step in range(bound.n_steps)]
    assert all(price > 0 for price in dearest)


def test_panel_shares_its_own_step() -> None:
    tests = {"panel": FeatureTest(9, "draw", ("na", "k")), "age": 1}
    bound = CostModel(tests=tests, operations={"draw": 2}).bind(["na", "age", "k"], [0, 1])
    assert bound.test_names == ("panel", "age", "panel")
    assert bound.newly_paid(0) == bound.newly_paid(2) == [(0, 9.0), (1, 2.0)]
    assert bound.price(2, [0, 1]) == 0
    assert bound.step_names == ("panel", "draw", "age")


def test_first_on_the_path_pays_its_own_figure() -> None:
    tests = {"a": FeatureTest(1, {"scan": 4}), "b": FeatureTest(2, {"scan": 0}), "c": FeatureTest(3, "scan")}
    bound = CostModel(tests=tests, operations={"scan": 6}).bind(["a", "b", "c"], [0, 1])
    alone = [bound.price(j) for j in range(3)]
    assert alone == [5, 2, 9]
    for first in range(3):
        paid = [step for step, _ in bound.newly_paid(first)]
        assert bound.step_names.index("scan") in paid  # also when it is paid with nothing
        assert [bound.price(j, paid) for j in range(3) if j != first] == [
            j + 1 for j in range(3) if j != first
        ]


def test_own_figure_holds_for_an_operation_reached_through_another() -> None:
    operations = {"visit": 10, "draw": (2, "visit")}
    tests = {"a": FeatureTest(1, {"draw": 3, "visit": 4}), "b": FeatureTest(1, {"draw": 3})}
    bound = CostModel(tests=tests, operations=operations).bind(["a", "b"], [0, 1])
    assert [bound.price(0), bound.price(1)] == [8, 14]


def test_step_always_free_is_left_out() -> None:
    tests = {"a": FeatureTest(0, ("talk", "draw")), "b": 0, "c": FeatureTest(0, "talk")}
    bound = CostModel(tests=tests, operations={"talk": 0, "draw": 2}).bind(["a", "b", "c"], [0, 1])
    assert bound.step_names == ("draw",)
    assert bound.test_names == ("a", "", "")
    assert [bound.price(j) for j in range(3)] == [2, 0, 0]


@given(told_costs(), LABELS, st.sampled_from(["", "EUR", "€ 价"]))
def test_json_round_trip(told: Told, labels: list, unit: str) -> None:
    tests, operations = told.model.tests, told.model.operations
    columns = sorted(told.test_of)
    matrix = np.arange(len(labels) ** 2, dtype=float).reshape(len(labels), -1) / 3
    np.fill_diagonal(matrix, -1.5)
    model = CostModel(matrix, tests=tests, operations=operations, classes=labels, unit=unit)
    bound = model.bind(columns, labels)
    text = json.dumps(bound.to_dict(), allow_nan=False)
    again = BoundCosts.from_dict(json.loads(text))
    for key in ("feature_names", "classes", "unit", "step_names", "test_names"):
        assert getattr(again, key) == getattr(bound, key)
    assert [type(label) for label in again.classes] == [type(label) for label in labels]
    for key in ("matrix", "step_start", "steps", "prices"):
        assert getattr(again, key).dtype == getattr(bound, key).dtype
        assert np.array_equal(getattr(again, key), getattr(bound, key))
    assert again.to_dict() == bound.to_dict()


def test_without_features_that_cost_the_arrays_are_empty() -> None:
    bound = CostModel().bind(["a", "b"], [0])
    assert bound.steps.dtype == np.int32 and bound.prices.dtype == np.float64
    assert bound.steps.shape == bound.prices.shape == (0,)
    again = BoundCosts.from_dict(json.loads(json.dumps(bound.to_dict())))
    assert again.steps.dtype == np.int32 and again.prices.dtype == np.float64
    assert again.step_start.tolist() == [0, 0, 0]


def test_regrets_are_what_an_answer_costs_beyond_the_best() -> None:
    bound = CostModel([[-5, 1, 2], [20, 3, 4], [9, 9, 0]]).bind(["a"], [0, 1, 2])
    assert bound.regrets.tolist() == [[0, 6, 7], [17, 0, 1], [9, 9, 0]]


def test_features_are_counted_from_zero_and_may_be_numpy_integers() -> None:
    bound = CostModel(tests=[1, 2]).bind(["a", "b"], [0, 1])
    assert bound.price(np.int32(1)) == 2
    for feature in (-1, 2):
        with pytest.raises(IndexError):
            bound.price(feature)
    with pytest.raises(TypeError):
        bound.price(1.0)


def test_bound_costs_survive_pickle() -> None:
    bound = CostModel(tests=[1, 2], unit="EUR").bind(["a", "b"], ["x", "y"])
    again = pickle.loads(pickle.dumps(bound))
    assert again.to_dict() == bound.to_dict()
    assert repr(again) == "BoundCosts(2 classes, 2 features, 2 steps, unit='EUR')"
