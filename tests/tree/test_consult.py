"""Step by step a case comes to the leaf of `predict`, and pays what it has not paid."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import reference
from tests.handmade import clinic
from tests.strategies import Problem, tree_problems
from tests.tree.hand import HandTree, as_case, clinic_model, random_model
from tests.tree.test_export import rows_to_follow


@pytest.fixture(scope="module")
def model() -> HandTree:
    return clinic_model()


def test_step_by_step(model: HandTree) -> None:
    start = model.consult()
    asked = start.next_test
    assert asked is not None
    assert (asked.feature, asked.test, asked.price, asked.needs) == ("pain", "pain", 1.0, ())
    assert asked.categories == ("mild", "none", "severe")
    assert asked.branches == ("pain = severe", "pain in {mild, none} or missing")
    assert (start.done, start.spent, start.steps) == (False, 0.0, ())
    assert (start.recommendation.answer, start.recommendation.expected_cost) == ("ill", pytest.approx(32.0))

    second = start.answer("severe")
    assert start.next_test is not None and start.next_test.feature == "pain"  # the old state stays
    asked = second.next_test
    assert asked is not None
    assert (asked.feature, asked.needs, asked.already_paid) == ("chol", ("blood draw",), ())
    assert asked.paid == (("chol", 5.17), ("blood draw", 2.1))
    assert asked.price == pytest.approx(7.27)
    assert asked.branches == ("chol <= 200.5", "chol > 200.5 or missing")
    assert second.spent == 1.0
    assert (
        str(second).splitlines()
        == [
            "1. test pain, pay 1.00: severe (pain = severe)",
            "next: test chol, pay 7.27 (chol 5.17 + blood draw 2.10); spent so far 1.00 EUR",
            "if you stop now: ill, expected misclassification cost 14.29 EUR",
            "of 21 training cases like this: ill 76.2 %, well 23.8 %",
            "expected cost of each answer: ill 14.29, well 68.57",
        ]
        or str(second).count("\n") == 4
    )
    end = second.answer()  # the test came to nothing
    assert end.done and end.next_test is None
    assert end.spent == pytest.approx(8.27)
    assert end.recommendation.answer == "ill"
    assert str(end) == str(end.explanation()) == str(model.explain({"pain": "severe"}))
    assert repr(end) == "<Consultation: 2 tests taken, spent 8.27, done>"
    assert repr(start) == "<Consultation: 0 tests taken, spent 0, next test 'pain'>"


def test_known_values_are_free_and_their_operations_not_done(model: HandTree) -> None:
    state = model.consult({"chol": 230.0, "pain": "mild"}).answer(60)
    asked = state.next_test
    assert asked is not None and asked.feature == "sugar"
    assert asked.price == pytest.approx(5.2)  # with the blood draw
    end = state.answer(6.0)
    assert end.done
    assert end.spent == pytest.approx(5.2)
    assert end.paid_before == 0.0
    assert [step.known for step in end.steps] == [True, False, False, True]
    assert str(end).splitlines()[:4] == [
        "1. pain is known: mild (pain in {mild, none} or missing)",
        "2. test age, free: 60 (age > 55.5)",
        "3. test sugar, pay 5.20 (sugar 3.10 + blood draw 2.10): 6 (sugar > 5.005)",
        "4. chol is known: 230 (chol <= 240.25 or missing)",
    ]


def test_known_values_that_were_paid_have_done_their_operations(model: HandTree) -> None:
    state = model.consult({"chol": 230.0, "pain": "mild"}, known_paid=True)
    assert state.paid_before == pytest.approx(5.17 + 2.1 + 1.0)
    state = state.answer(60)
    asked = state.next_test
    assert asked is not None
    assert (asked.paid, asked.already_paid) == ((("sugar", 3.1),), ("blood draw",))
    end = state.answer(6.0)
    assert end.spent == pytest.approx(3.1)
    assert str(end).splitlines()[3:5] == [
        "4. test chol, already paid: 230 (chol <= 240.25 or missing)",
        "answer well: tests 3.10 EUR and 8.27 EUR before, expected misclassification cost 10.00 EUR",
    ]


def test_all_known_is_done_at_once(model: HandTree) -> None:
    X, _, _ = clinic(100, seed=2)
    answers = model.predict(X)
    for i in range(len(X)):
        state = model.consult(X.iloc[i])
        assert state.done
        assert state.spent == 0.0
        assert state.recommendation.answer == answers[i]
        assert model.consult(X.iloc[[i]], known_paid=True).spent == 0.0
    assert model.consult({"pain": None, "age": None, "sugar": None}).done  # known to be missing


@given(tree_problems(max_depth=4), st.data())
def test_what_is_paid_agrees_with_plain_sums(problem: tuple[Problem, reference.PlainNode], data: Any) -> None:
    model = random_model(*problem)
    plain, costs = reference.plain_tree(model.tree_), problem[0].costs
    row = data.draw(st.sampled_from(rows_to_follow(problem[0])))
    case = as_case(model, row)
    known = data.draw(st.sets(st.integers(0, problem[0].table.n_features - 1)))
    given_ = {f"x{j}": case[f"x{j}"] for j in sorted(known)}
    path, leaf = reference.follow(plain, row)
    for known_paid in (False, True):
        paid: set[Any] = set()
        before = spent = 0.0
        if known_paid:
            for j in sorted(known):
                before += reference.price(costs, j, paid)
                paid |= {step for step, _ in reference.newly_paid(costs, j)}
        state = model.consult(given_, known_paid=known_paid)
        asked = []
        while state.next_test is not None:
            asked.append(state.next_test.feature)
            following = state.answer(case[state.next_test.feature])
            assert following.spent - state.spent == pytest.approx(state.next_test.price, abs=1e-12)
            state = following
        for split in path:
            if split.feature in known and not known_paid:
                continue
            spent += reference.price(costs, split.feature, paid)
            paid |= {step for step, _ in reference.newly_paid(costs, split.feature)}
        assert state.spent == pytest.approx(spent, abs=1e-12)
        assert state.paid_before == pytest.approx(before, abs=1e-12)
        # Each unknown feature is asked for once, in the order of the path.
        wanted = dict.fromkeys(f"x{split.feature}" for split in path if split.feature not in known)
        assert asked == list(wanted)
        assert state.recommendation.answer == model.costs_.classes[leaf.answer]
        assert [step.node for step in state.steps] == [step.node for step in model.explain(case).steps]


def test_errors(model: HandTree) -> None:
    with pytest.raises(ValueError, match=re.escape("'colour', which is no feature")):
        model.consult({"colour": "red"})
    with pytest.raises(ValueError, match="feature 'chol' is numeric, but the case has 'high'"):
        model.consult().answer("severe").answer("high")
    with pytest.raises(ValueError, match="no test is left"):
        model.consult({"pain": "severe", "chol": 1}).answer(3)
