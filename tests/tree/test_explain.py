"""Explanations say what the twin's walk does, in words and in numbers."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from sklearn.exceptions import NotFittedError

from tests import reference
from tests.handmade import AWKWARD, clinic
from tests.strategies import Problem, tree_problems
from tests.tree.hand import HandTree, as_case, clinic_model, random_model
from tests.tree.test_export import rows_to_follow

TEXT = """\
1. test pain, pay 1.00: missing (pain in {mild, none} or missing)
2. test age, free: 71 (age > 55.5)
3. test sugar, pay 5.20 (sugar 3.10 + blood draw 2.10): 5.79 (sugar > 5.005)
4. test chol, pay 5.17, blood draw already paid: missing (chol <= 240.25 or missing)
answer well: tests 11.37 EUR, expected misclassification cost 10.00 EUR
of 9 training cases like this: ill 11.1 %, well 88.9 %
expected cost of each answer: ill 53.33, well 10.00"""


@pytest.fixture(scope="module")
def model() -> HandTree:
    return clinic_model()


def test_text(model: HandTree) -> None:
    case = {"age": 71, "sugar": 5.79}
    assert str(model.explain(case)) == TEXT
    rough = str(model.explain(case, decimals=0)).splitlines()
    assert rough[2] == "3. test sugar, pay 5 (sugar 3 + blood draw 2): 5.79 (sugar > 5.005)"
    unknown = str(model.explain({"pain": "phantom", "age": 20})).splitlines()
    assert (
        unknown[0]
        == "1. test pain, pay 1.00: phantom, not seen here in training (pain in {mild, none} or missing)"
    )


def test_a_single_leaf_is_explained_by_its_cases() -> None:
    leaf = clinic_model(None)
    assert str(leaf.explain({})).splitlines() == [
        "answer ill: tests 0.00 EUR, expected misclassification cost 32.00 EUR",
        "of 60 training cases like this: ill 46.7 %, well 53.3 %",
        "expected cost of each answer: ill 32.00, well 42.00",
    ]


@given(tree_problems(max_depth=4))
def test_explanations_follow_the_twin(problem: tuple[Problem, reference.PlainNode]) -> None:
    model = random_model(*problem)
    plain, costs = reference.plain_tree(model.tree_), problem[0].costs
    positions = [id(node) for node in reference.preorder(plain)]
    statistics = reference.node_statistics(plain, *problem[0].cases)
    parents = model.tree_.parents()
    for row in rows_to_follow(problem[0]):
        path, leaf = reference.follow(plain, row)
        explained = model.explain(as_case(model, row))
        assert [step.node for step in explained.steps] == [positions.index(id(split)) for split in path]
        assert [step.branch for step in explained.steps] == [
            reference.branch_of(split, row) for split in path
        ]
        assert explained.answer == model.costs_.classes[leaf.answer]
        assert explained.test_cost == pytest.approx(reference.case_test_cost(plain, row, costs), abs=1e-12)
        assert explained.test_cost == pytest.approx(sum(step.price for step in explained.steps), abs=1e-12)
        paid: set[Any] = set()
        for step, split in zip(explained.steps, path, strict=True):
            assert step.price == pytest.approx(reference.price(costs, split.feature, paid), abs=1e-12)
            every = {name for name, _ in reference.newly_paid(costs, split.feature)}
            assert set(step.asked.already_paid) == {str(name) for name in every & paid}
            paid |= every
        # The figures are those of the nearest node that cases reach.
        node = explained.recommendation.node
        assert node == positions.index(id(leaf))
        while node > 0 and not any(statistics[node].class_weight):
            node = int(parents[node])
        total = sum(statistics[node].class_weight)
        found = explained.recommendation
        assert list(found.shares.values()) == pytest.approx(
            [w / total for w in statistics[node].class_weight]
        )
        assert list(found.expected_costs.values()) == pytest.approx(
            [c / total for c in statistics[node].label_cost], abs=1e-12
        )
        assert found.support == statistics[node].support


def test_explanations_agree_with_the_table_methods(model: HandTree) -> None:
    X, _, _ = clinic(300, seed=1)
    answers, paid, leaves, shares = (
        model.predict(X),
        model.test_cost(X),
        model.apply(X),
        model.predict_proba(X),
    )
    for i in range(len(X)):
        explained = model.explain(X.iloc[i])
        assert explained.answer == answers[i]
        assert explained.test_cost == paid[i]
        assert explained.recommendation.node == leaves[i]
        assert list(explained.recommendation.shares) == model.classes_.tolist()
        assert list(explained.recommendation.shares.values()) == shares[i].tolist()


def test_a_case_in_each_shape(model: HandTree) -> None:
    X, _, _ = clinic()
    expected = str(model.explain(X.iloc[3]))
    assert str(model.explain(X.iloc[[3]])) == expected
    assert str(model.explain(X.iloc[3].to_dict())) == expected
    nullable = X.convert_dtypes()
    for i in (0, 3, 11, 13):
        assert str(model.explain(nullable.iloc[[i]])) == str(model.explain(X.iloc[i]))
    numbers = HandTree(nested=("x1", 0.5, None, None)).fit(np.array([[0, 0], [0, 1]] * 3), [0, 1] * 3)
    assert numbers.explain([[9, 1]]).answer == numbers.explain({"x1": "1"}).answer == 1
    assert numbers.explain(np.array([[9, 0]])).answer == 0
    assert numbers.explain({"x1": np.float32(0.5)}).answer == 0


def test_plain_values(model: HandTree) -> None:
    plain = model.explain({"age": np.int64(71), "sugar": 5.79, "pain": "phantom"}).to_dict()
    text = json.dumps(plain, allow_nan=False)
    assert json.loads(text) == plain
    assert plain["answer"] == "well"
    assert plain["test_cost"] == pytest.approx(11.37)
    assert plain["expected_cost"] == pytest.approx(10.0)
    assert [step["value"] for step in plain["steps"]] == ["phantom", 71.0, 5.79, None]
    assert [step["unknown"] for step in plain["steps"]] == [True, False, False, False]
    assert plain["steps"][3]["pays"] == {"chol": 5.17}
    assert plain["steps"][3]["already_paid"] == ["blood draw"]
    assert plain["answers"][0] == {
        "label": "ill",
        "share": pytest.approx(1 / 9),
        "expected_cost": pytest.approx(480 / 9),
    }
    endless = model.explain({"age": np.inf, "pain": pd.Timestamp("2020-01-01")}).to_dict()
    assert [step["value"] for step in endless["steps"][:2]] == ["2020-01-01 00:00:00", "inf"]
    json.dumps(endless, allow_nan=False)


@pytest.mark.parametrize("name", AWKWARD)
def test_awkward_names_stay_on_their_line(name: str) -> None:
    X = pd.DataFrame({name: [1.0, 2.0, 3.0, 4.0], "free": ["a", "b", "a", "b"]})
    model = HandTree(nested=(name, 2.5, None, None)).fit(X, [name, name, "b", "b"])
    lines = str(model.explain({name: 1})).split("\n")
    assert len(lines) == 4
    assert lines[0].isprintable() or not name.isprintable()


ERRORS: list[tuple[Any, str]] = [
    ({"agee": 3}, "the case has a value for 'agee', which is no feature (did you mean 'age'?)"),
    ({"age": "old"}, "feature 'age' is numeric, but the case has 'old'"),
    ({"age": [1, 2]}, "feature 'age' has [1, 2]; give one number, text or boolean"),
    (clinic()[0], "this is a table of 60 cases; give one, such as X.iloc[0]"),
    (clinic()[0].iloc[:0], "Found array with 0 sample(s)"),
]


@pytest.mark.parametrize(("case", "message"), ERRORS, ids=[message for _, message in ERRORS])
def test_errors(model: HandTree, case: Any, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        model.explain(case)


def test_an_unfitted_model_explains_nothing() -> None:
    for call in (HandTree().explain, HandTree().consult, HandTree().decision_path):
        with pytest.raises(NotFittedError):
            call(clinic()[0])
