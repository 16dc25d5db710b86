"""Fronts measured on other cases than those they were searched on."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cstree import Front, ParetoTreeClassifier
from cstree.datasets import load_heart
from cstree.exact.search import ExactSearch
from cstree.metrics import misclassification_cost, test_cost
from cstree.pareto.evaluation import FrontEvaluation
from cstree.persistence import load_model, save_model
from cstree.tree.front_evaluator import FrontEvaluator
from tests import reference as ref
from tests.handmade import CLINIC_TREES, clinic, make_model
from tests.reference import evaluation as twin

MODEL = make_model(*clinic(200, seed=3), CLINIC_TREES)
assert MODEL.front_ is not None
FRONT: Front[Any] = MODEL.front_.attach(FrontEvaluator(MODEL.schema_, MODEL.costs_))


@st.composite
def cases(draw: st.DrawFn) -> dict[str, Any]:
    """New patients: awkward values, labels as text, perhaps weights (some 0), perhaps costs by case."""
    n = draw(st.integers(1, 30))

    def column(values: st.SearchStrategy[Any]) -> list[Any]:
        return draw(st.lists(values, min_size=n, max_size=n))

    table = pd.DataFrame(
        {
            "age": np.array(column(st.sampled_from([20.0, 55.0, 55.5, 56.0, 90.0, np.nan])), dtype=float),
            "pain": pd.Series(
                column(st.sampled_from(["none", "mild", "severe", "unheard of", None])), dtype=object
            ),
            "chol": np.array(
                column(st.sampled_from([100.0, 200.5, 240.25, 300.0, np.nan, np.inf])), dtype=float
            ),
            "sugar": np.array(column(st.sampled_from([4.0, 5.005, 6.0])), dtype=float),
        }
    )
    weights = column(st.sampled_from([0.0, 0.5, 1.0, 3.0])) if draw(st.booleans()) else None
    if weights is not None and not any(weights):
        weights[0] = 1.0
    money = st.floats(-5, 50)
    costs = column(st.lists(money, min_size=2, max_size=2)) if draw(st.booleans()) else None
    return {
        "X": table,
        "y": column(st.sampled_from(["ill", "well"])),
        "sample_weight": weights,
        "example_cost": costs,
    }


@settings(max_examples=60)
@given(cases())
def test_every_point_is_what_its_cases_pay(new: dict[str, Any]) -> None:
    found = FRONT.evaluate(**new)
    rows = ref.plain_rows(new["X"], MODEL.schema_)
    y = [["ill", "well"].index(label) for label in new["y"]]
    weights = new["sample_weight"]
    points = []
    for i, tree in enumerate(FRONT):
        wanted = twin.measure(
            ref.plain_tree(tree), rows, y, ref.plain_costs(MODEL.costs_), weights, new["example_cost"]
        )
        points.append((wanted.misclassification, wanted.test))
        assert found.objectives[i] == pytest.approx(points[-1], abs=1e-9)
        assert found.total_cost[i] == pytest.approx(wanted.total, abs=1e-9)
        errors = (wanted.misclassification_error, wanted.test_error)
        assert found.standard_errors[i] == pytest.approx(errors, abs=1e-9, nan_ok=True)
        assert found.total_cost_error[i] == pytest.approx(wanted.total_error, abs=1e-9, nan_ok=True)
    assert found.survives.tolist() == twin.survivors(points)
    assert found.n_samples == (len(y) if weights is None else sum(w > 0 for w in weights))


def test_on_the_training_cases_it_is_the_front_itself() -> None:
    X, y, _ = clinic(200, seed=3)
    found = FRONT.evaluate(X, y)
    assert found.objectives == pytest.approx(FRONT.objectives, abs=1e-12)
    assert found.survives.all()
    for rule in ("total_cost", "knee", {"max_test_cost": 3.0}, {"exchange_rate": 4.0}):
        assert found.select(rule) == FRONT.select(rule)
    assert found.training is FRONT.objectives


def test_standard_errors_are_those_of_drawing_the_cases_again() -> None:
    X, y, _ = clinic(150, seed=9)
    rng = np.random.default_rng(0)
    weight = rng.choice([0.5, 1.0, 4.0], len(y))
    found = FRONT.evaluate(X, y, sample_weight=weight)
    again = []
    for _ in range(400):
        drawn = rng.integers(0, len(y), len(y))
        once = FRONT.evaluate(X.iloc[drawn], y[drawn], sample_weight=weight[drawn])
        again.append(np.column_stack([once.objectives, once.total_cost]))
    spread = np.std(again, axis=0)
    errors = np.column_stack([found.standard_errors, found.total_cost_error])
    assert errors == pytest.approx(spread, rel=0.15, abs=1e-9)


def test_the_metrics_say_the_same() -> None:
    heart = load_heart()
    model = ParetoTreeClassifier(heart.costs, generations=20, random_state=0)
    model.fit(heart.data[::2], heart.target[::2])
    X, y = heart.data[1::2], heart.target[1::2]
    weight = np.random.default_rng(0).random(len(y))
    found = model.front_.evaluate(X, y, sample_weight=weight)
    for i in range(0, len(model.front_), 5):
        chosen = model.choose(i)
        wrong = misclassification_cost(y, chosen.predict(X), heart.costs, sample_weight=weight)
        assert found.objectives[i] == pytest.approx([wrong, test_cost(chosen, X, sample_weight=weight)])


def test_objectives_that_no_case_changes_stay() -> None:
    heart = load_heart()
    names = ("misclassification_cost", "n_leaves", "worst_test_cost")
    model = ParetoTreeClassifier(heart.costs, objectives=names, select="knee", generations=20, random_state=0)
    front = model.fit(heart.data[::2], heart.target[::2]).front_
    found = front.evaluate(heart.data[1::2], heart.target[1::2])
    assert np.array_equal(found.objectives[:, 1:], front.objectives[:, 1:])
    assert not found.standard_errors[:, 1:].any()
    assert (found.standard_errors[:, 0] > 0).all()
    assert (found.total_cost >= found.objectives[:, 0]).all()
    assert "training_total_cost" not in found.to_frame()


def test_an_objective_that_only_the_search_knows_has_no_error() -> None:
    trees = list(MODEL.front_ or ())
    front = Front(np.arange(len(trees))[:, None] * 0.0, trees, objective_names=["beauty"])
    X, y, _ = clinic(30, seed=1)
    found = front.attach(FrontEvaluator(MODEL.schema_, MODEL.costs_)).evaluate(X, y)
    assert np.isnan(found.standard_errors).all()
    assert np.isfinite(found.total_cost_error).all()


def test_rules_choose_by_the_new_costs() -> None:
    X, y, _ = clinic(400, seed=21)
    found = FRONT.evaluate(X, y)
    assert found.select("total_cost") == int(np.argmin(found.total_cost))
    assert found.survives[found.select("knee")]
    asked: list[FrontEvaluation] = []

    def last(evaluation: FrontEvaluation) -> int:
        asked.append(evaluation)
        return len(evaluation) - 1

    cheapest = found.select(last)
    assert found.objectives[cheapest, 1] == found.objectives[:, 1].min()
    assert asked[0].survives.all()
    assert asked[0][len(asked[0]) - 1] is FRONT[cheapest]
    assert sorted(asked[0].objectives[:, 0].tolist()) == asked[0].objectives[:, 0].tolist()


def test_equal_points_survive_together() -> None:
    trees = list(FRONT)[:2]
    front = Front([[1.0, 2.0], [2.0, 1.0]], trees).attach(FrontEvaluator(MODEL.schema_, MODEL.costs_))
    X = pd.DataFrame({"age": [30.0, 30.0], "pain": ["severe", "severe"], "chol": 100.0, "sugar": 4.0})
    found = front.evaluate(X, ["ill", "well"])
    same = bool((found.objectives[0] == found.objectives[1]).all())
    assert found.survives.all() == same or not found.survives.all()
    again = Front([[1.0, 2.0], [2.0, 1.0]], [trees[0], trees[0]])
    found = again.attach(FrontEvaluator(MODEL.schema_, MODEL.costs_)).evaluate(X, ["ill", "well"])
    assert found.survives.all()


def test_a_fitted_classifier_has_such_a_front_however_it_is_kept(tmp_path: Any) -> None:
    heart = load_heart()
    model = ParetoTreeClassifier(heart.costs, generations=5, random_state=0).fit(heart.data, heart.target)
    wanted = model.front_.evaluate(heart.data, heart.target).to_frame()
    save_model(model, tmp_path / "model.json")
    for kept in (
        pickle.loads(pickle.dumps(model)),
        copy.deepcopy(model),
        load_model(tmp_path / "model.json"),
        model.choose("knee"),
    ):
        again = kept.front_.evaluate(heart.data, heart.target).to_frame()
        pd.testing.assert_frame_equal(again, wanted)
    own = ParetoTreeClassifier(heart.costs, search=ExactSearch(), max_depth=1, max_bins=4, max_leaf_nodes=2)
    assert len(own.fit(heart.data, heart.target).front_.evaluate(heart.data, heart.target))


def test_the_table_names_what_it_shows() -> None:
    X, y, _ = clinic(50, seed=1)
    found = FRONT.evaluate(X, y)
    frame = found.to_frame()
    assert list(frame) == [
        "misclassification_cost",
        "misclassification_cost_se",
        "test_cost",
        "test_cost_se",
        "total_cost",
        "total_cost_se",
        "training_total_cost",
        "survives",
    ]
    assert frame.index.name == "point"
    assert frame["training_total_cost"].tolist() == pytest.approx(FRONT.objectives.sum(axis=1).tolist())
    assert f"of {len(FRONT)} points survive on 50 cases" in repr(found)


def test_what_does_not_fit_is_said() -> None:
    X, y, _ = clinic(10, seed=1)
    with pytest.raises(ValueError, match=r"does not know the features.*fitted ParetoTreeClassifier"):
        Front([[1.0, 2.0]], [FRONT[0]]).evaluate(X, y)
    with pytest.raises(ValueError, match=r"class 'dead', which no training case had.*'ill', 'well'"):
        FRONT.evaluate(X, ["dead", *y[1:]])
    with pytest.raises(ValueError, match="10 cases, y 9 labels"):
        FRONT.evaluate(X, y[1:])
    with pytest.raises(ValueError, match="feature names should match"):
        FRONT.evaluate(X.rename(columns={"age": "years"}), y)
    with pytest.raises(ValueError, match="sample_weight of case 0 is negative"):
        FRONT.evaluate(X, y, sample_weight=-np.ones(10))
    with pytest.raises(ValueError, match="example_cost has shape"):
        FRONT.evaluate(X, y, example_cost=np.ones((10, 3)))
    with pytest.raises(ValueError, match="lacks the label of case 2"):
        FRONT.evaluate(X, [*y[:2], None, *y[3:]])
