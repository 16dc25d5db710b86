"""Costs of answers and tests, beside sums over single cases in plain Python."""

from __future__ import annotations

import math
import re
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cstree import metrics
from cstree.costs.model import CostModel, FeatureTest
from cstree.greedy.classifier import GreedyTreeClassifier
from tests import reference
from tests.handmade import clinic
from tests.problems import cost_model
from tests.strategies import random_cost_words, random_table

LABELS: list[tuple[Any, ...]] = [
    ("ill", "well"),
    (0, 1, 2),
    (False, True),
    ("a", "b", "c", "d", "e"),
    (-1.0, 1.0),
    ("年龄", 'say "hi"', "two\nlines"),
]


@st.composite
def answered(draw: st.DrawFn) -> dict[str, Any]:
    """Truths, answers, a matrix, weights and costs by case; small numbers, exact sums."""
    classes = draw(st.sampled_from(LABELS))
    n, k = draw(st.integers(1, 20)), len(classes)
    index = st.integers(0, k - 1)
    cost = st.integers(-8, 40).map(lambda value: value / 4)
    return {
        "classes": classes,
        "true": draw(st.lists(index, min_size=n, max_size=n)),
        "predicted": draw(st.lists(index, min_size=n, max_size=n)),
        "matrix": draw(st.lists(st.lists(cost, min_size=k, max_size=k), min_size=k, max_size=k)),
        "weight": draw(
            st.none() | st.lists(st.sampled_from([0.0, 0.5, 1.0, 3.0]), min_size=n, max_size=n).filter(any)
        ),
        "example_cost": draw(
            st.none() | st.lists(st.lists(cost, min_size=k, max_size=k), min_size=n, max_size=n)
        ),
    }


def plain_average(case: dict[str, Any], answers: list[int]) -> float:
    rows = case["example_cost"] or [case["matrix"][t] for t in case["true"]]
    weight = case["weight"] or [1.0] * len(answers)
    paid = math.fsum(w * row[z] for w, row, z in zip(weight, rows, answers, strict=True))
    return paid / math.fsum(weight)


def as_labels(case: dict[str, Any], index: list[int]) -> np.ndarray:
    return np.array([case["classes"][k] for k in index])


@given(answered())
@pytest.mark.filterwarnings("ignore::UserWarning")  # any matrix will do, also an odd one
def test_costs_and_savings_are_those_of_single_cases(case: dict[str, Any]) -> None:
    arguments = (as_labels(case, case["true"]), as_labels(case, case["predicted"]), case["matrix"])
    options = {
        "labels": case["classes"],
        "sample_weight": case["weight"],
        "example_cost": case["example_cost"],
    }
    expected = plain_average(case, case["predicted"])
    assert metrics.misclassification_cost(*arguments, **options) == pytest.approx(expected, abs=1e-12)
    n, k = len(case["true"]), len(case["classes"])
    best = min(plain_average(case, [answer] * n) for answer in range(k))
    savings = metrics.savings_score(*arguments, **options)
    if best <= 0:
        assert math.isnan(savings)
    else:
        assert savings == pytest.approx(1 - expected / best, rel=1e-12, abs=1e-12)


@given(answered(), st.randoms(use_true_random=False))
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_costs_are_looked_up_by_label_not_by_position(case: dict[str, Any], random: Any) -> None:
    classes, matrix = case["classes"], np.array(case["matrix"])
    order = list(range(len(classes)))
    random.shuffle(order)
    true, predicted = as_labels(case, case["true"]), as_labels(case, case["predicted"])
    expected = plain_average(case | {"example_cost": None, "weight": None}, case["predicted"])
    shuffled = [classes[k] for k in order]
    model = CostModel(matrix[np.ix_(order, order)], classes=shuffled)
    pairs = {(a, b): matrix[i, j] for i, a in enumerate(classes) for j, b in enumerate(classes)}
    frame = pd.DataFrame(matrix[np.ix_(order, order)], index=shuffled, columns=shuffled)
    for costs in (model, pairs, frame, model.bind([], classes)):
        assert metrics.misclassification_cost(true, predicted, costs) == pytest.approx(expected, abs=1e-12)
    # Labels choose a part of the model and an order of the columns of costs by case.
    some = [classes[k] for k in order if k in {*case["true"], *case["predicted"]}]
    assert metrics.misclassification_cost(list(true), list(predicted), model, labels=some) == pytest.approx(
        expected, abs=1e-12
    )
    if case["example_cost"] is not None:
        rows = np.array(case["example_cost"])[:, order]
        own = metrics.misclassification_cost(true, predicted, model, example_cost=rows)
        assert own == pytest.approx(plain_average(case | {"weight": None}, case["predicted"]), abs=1e-12)


def test_numbers_by_hand() -> None:
    true, predicted = ["ill", "ill", "well", "well"], ["ill", "well", "well", "ill"]
    costs = {("ill", "well"): 90, ("well", "ill"): 10}
    assert metrics.misclassification_cost(true, predicted, costs) == 25.0
    assert metrics.misclassification_cost(true, predicted, costs, sample_weight=[1, 3, 0, 0]) == 67.5
    assert metrics.misclassification_cost(true, predicted) == 0.5  # 0/1
    assert metrics.savings_score(true, predicted, costs) == 1 - 25 / 5
    assert metrics.savings_score(true, ["ill"] * 4, costs) == 0.0  # the best constant answer
    assert metrics.savings_score(true, true, costs) == 1.0
    assert math.isnan(metrics.savings_score(["ill"] * 2, ["ill", "well"], costs, labels=["ill", "well"]))
    # A class that the test set lacks: the average is defined all the same.
    assert metrics.misclassification_cost(["ill"], ["well"], CostModel(costs)) == 90.0


def test_labels_in_all_their_containers() -> None:
    costs = CostModel({("ill", "well"): 90, ("well", "ill"): 10})
    for wrap in (list, np.array, pd.Series, pd.Categorical, lambda y: np.array(y, dtype=object)[:, None]):
        assert metrics.misclassification_cost(wrap(["ill", "well"]), wrap(["well", "well"]), costs) == 45.0
    nullable = pd.array([1, 2, 2], dtype="Int64")
    assert metrics.misclassification_cost(nullable, np.array([1.0, 1.0, 2.0]), [[0, 1], [6, 0]]) == 2.0


COSTS = CostModel({("ill", "well"): 90, ("well", "ill"): 10})
ERRORS: list[tuple[dict[str, Any], str]] = [
    ({"y_true": ["ill"]}, "y_true has 1 labels, y_pred 2"),
    ({"y_true": []}, "y_true is empty"),
    ({"y_true": [["ill", "well"]]}, "y_true has shape (1, 2)"),
    ({"y_pred": ["ill", None]}, "y_pred lacks the label of case 1"),
    (
        {"y_true": ["ill", "wel"]},
        "y_true holds class 'wel', for which there are no costs (did you mean 'well'?)",
    ),
    ({"y_pred": ["ill", "dead"]}, "y_pred holds class 'dead'"),
    (
        {"costs": [[0, 1, 1], [1, 0, 1], [1, 1, 0]]},
        "costs has 3 rows, but there are 2 classes: 'ill', 'well'",
    ),
    ({"labels": ["ill", "healthy"]}, "labels holds class 'healthy'"),
    ({"labels": ["ill", "ill"]}, "class 'ill' stands twice in labels"),
    ({"sample_weight": [1]}, "sample_weight has shape (1,) for 2 cases"),
    ({"sample_weight": [1, -1]}, "sample_weight of case 1 is -1.0"),
    ({"sample_weight": [np.nan, 1]}, "sample_weight of case 0 is nan"),
    ({"sample_weight": [0, 0]}, "sample_weight is zero for every case"),
    ({"example_cost": [[1, 2, 3]] * 2}, "example_cost has shape (2, 3)"),
    ({"example_cost": [[1, 2], [np.inf, 3]]}, "example_cost of case 1 holds a number that is not finite"),
    ({"costs": [[0, np.nan], [1, 0]]}, "is nan; costs are finite numbers"),
]


@pytest.mark.parametrize(("change", "message"), ERRORS, ids=[message for _, message in ERRORS])
@pytest.mark.parametrize("metric", [metrics.misclassification_cost, metrics.savings_score])
def test_errors(metric: Any, change: dict[str, Any], message: str) -> None:
    given_ = {"y_true": ["ill", "well"], "y_pred": ["ill", "well"], "costs": COSTS} | change
    with pytest.raises(ValueError, match=re.escape(message)):
        metric(**given_)


# --- what models cost -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def fitted() -> tuple[pd.DataFrame, np.ndarray, CostModel, GreedyTreeClassifier]:
    X, y, costs = clinic(200)
    return X, y, costs, GreedyTreeClassifier(costs, max_depth=4).fit(X, y)


def test_total_is_the_sum_and_defaults_to_the_models_own_costs(fitted: Any) -> None:
    X, y, costs, model = fitted
    paid = model.test_cost(X)
    assert metrics.test_cost(model, X) == pytest.approx(paid.mean(), rel=1e-12)
    wrong = metrics.misclassification_cost(y, model.predict(X), costs)
    assert metrics.total_cost(model, X, y) == pytest.approx(wrong + paid.mean(), rel=1e-12)
    assert metrics.total_cost(model, X, y) == metrics.total_cost(model, X, y, costs)
    weight = np.arange(len(y)) % 3
    assert metrics.total_cost(model, X, y, sample_weight=weight) == pytest.approx(
        metrics.misclassification_cost(y, model.predict(X), costs, sample_weight=weight)
        + (paid * weight).sum() / weight.sum(),
        rel=1e-12,
    )
    # a matrix, in the order of classes_, says nothing of tests
    matrix = [[0, 1], [3, 0]]
    assert metrics.total_cost(model, X, y, matrix) == pytest.approx(
        metrics.misclassification_cost(y, model.predict(X), matrix) + paid.mean(), rel=1e-12
    )
    rows = np.outer(np.arange(len(y)), [1.0, 2.0])
    answers = np.searchsorted(model.classes_, model.predict(X))
    assert metrics.total_cost(model, X, y, example_cost=rows) == pytest.approx(
        rows[np.arange(len(y)), answers].mean() + paid.mean(), rel=1e-12
    )


def test_other_prices_are_paid_on_the_same_way(fitted: Any) -> None:
    X, _, costs, model = fitted
    dear = CostModel(costs.misclassification, classes=costs.classes, tests=[2.0, 4.0, 8.0, 16.0])
    rows = reference.plain_rows(X, model.schema_)
    tree, plain = (
        reference.plain_tree(model.tree_),
        reference.plain_costs(dear.bind(X.columns, model.classes_)),
    )
    expected = [reference.case_test_cost(tree, row, plain) for row in rows]
    assert model.test_cost(X, costs=dear).tolist() == expected
    assert metrics.test_cost(model, X, dear) == pytest.approx(np.mean(expected), rel=1e-12)
    assert metrics.test_cost(model, X, dear) != metrics.test_cost(model, X)
    assert metrics.test_cost(model, X, CostModel()) == metrics.test_cost(model, X)  # it prices no tests
    with pytest.raises(ValueError, match="sugarr"):
        metrics.test_cost(model, X, CostModel(tests={"sugarr": 1.0}))


def test_test_cost_agrees_with_the_twin_on_random_tables() -> None:
    for seed in range(30):
        rng = np.random.default_rng(seed)
        table = random_table(rng, n_rows=(10, 40), n_features=(2, 5), example_costs=False)
        costs = cost_model(random_cost_words(rng, table))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = GreedyTreeClassifier(costs, pruning="none").fit(
                table.frame(), table.y, sample_weight=table.weights
            )
        tree, plain = reference.plain_tree(model.tree_), reference.plain_costs(model.costs_)
        expected = [reference.case_test_cost(tree, row, plain) for row in table.rows]
        weight = table.weights or [1.0] * len(expected)
        mean = math.fsum(w * c for w, c in zip(weight, expected, strict=True)) / math.fsum(weight)
        assert metrics.test_cost(model, table.frame(), sample_weight=weight) == pytest.approx(mean, abs=1e-12)


def test_trees_at_the_end_of_pipelines_and_in_searches(fitted: Any) -> None:
    X, y, costs, _ = fitted
    X, prices = X[["age", "chol", "sugar"]].fillna(0), dict(costs.tests)
    costs = CostModel(
        costs.misclassification,
        classes=costs.classes,
        tests={name: prices[name] for name in X.columns},
        operations=costs.operations,
    )
    scaler = StandardScaler().set_output(transform="pandas")
    pipe = make_pipeline(scaler, GreedyTreeClassifier(costs)).fit(X, y)
    paid = pipe[-1].test_cost(scaler.transform(X)).mean()
    assert paid > 0
    assert metrics.test_cost(pipe, X) == pytest.approx(paid, rel=1e-12)
    assert metrics.total_cost(pipe, X, y) == pytest.approx(
        metrics.misclassification_cost(y, pipe.predict(X), costs) + paid, rel=1e-12
    )
    search = GridSearchCV(pipe, {"greedytreeclassifier__max_depth": [3]}, cv=2).fit(X, y)
    best = search.best_estimator_
    expected = best[-1].test_cost(best[:-1].transform(X)).mean()
    assert metrics.test_cost(search, X) == pytest.approx(expected, rel=1e-12)
    assert metrics.total_cost(search, X, y) > metrics.misclassification_cost(y, search.predict(X), costs)


def test_a_model_that_reads_the_whole_table_pays_for_all_of_it() -> None:
    X, y, _ = clinic(50)
    X = X[["age", "chol", "sugar"]].fillna(0)
    costs = CostModel(
        {("ill", "well"): 90.0, ("well", "ill"): 60.0},
        tests={
            "age": 0.5,
            "chol": FeatureTest(5.17, needs=("blood draw",)),
            "sugar": FeatureTest(3.1, needs=("blood draw",)),
        },
        operations={"blood draw": 2.1},
    )
    model = LogisticRegression(max_iter=1000).fit(X, y)
    assert metrics.test_cost(model, X, costs) == pytest.approx(0.5 + 5.17 + 3.1 + 2.1)
    pipe = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    assert metrics.test_cost(pipe, X, costs) == pytest.approx(10.87)
    assert metrics.test_cost(model, X) == 0.0
    wrong = metrics.misclassification_cost(y, model.predict(X), costs)
    assert metrics.total_cost(model, X, y, costs) == pytest.approx(wrong + 10.87)
    # without costs of its own and without others a mistake costs 1
    assert metrics.total_cost(model, X, y) == pytest.approx(1 - model.score(X, y))
    dummy = DummyClassifier(strategy="constant", constant="ill").fit(X, y)
    assert metrics.total_cost(dummy, X, y, [[0, 90], [60, 0]]) == pytest.approx(60 * np.mean(y == "well"))


def test_costs_by_case_in_a_frame_are_read_by_class() -> None:
    frame = pd.DataFrame({"well": [0.0, 7.0], "ill": [2.0, 0.0]})
    assert metrics.misclassification_cost(["well", "ill"], ["well", "ill"], example_cost=frame) == 0
    assert metrics.misclassification_cost(["well", "ill"], ["ill", "well"], example_cost=frame) == 4.5
