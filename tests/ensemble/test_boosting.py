"""Boosting methods against their twins, and what all of them hold to."""

from __future__ import annotations

import math
import pickle
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification
from sklearn.ensemble import AdaBoostClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from cstree.costs.model import CostModel
from cstree.datasets import load_hepatitis, make_bayes
from cstree.ensemble import (
    AdaBoostDBClassifier,
    AdaC1Classifier,
    AdaC2Classifier,
    AdaC3Classifier,
    AdaCostClassifier,
    CGAdaClassifier,
    CSAdaBoostClassifier,
    CSB0Classifier,
    CSB1Classifier,
    CSB2Classifier,
    Stump,
)
from cstree.greedy.classifier import GreedyTreeClassifier
from cstree.metrics import make_cost_scorer
from tests.reference.boosting import PlainRound, plain_adaboost, plain_variant

VARIANTS = {
    "cgada": CGAdaClassifier,
    "adacost": AdaCostClassifier,
    "csb0": CSB0Classifier,
    "csb1": CSB1Classifier,
    "csb2": CSB2Classifier,
    "adac1": AdaC1Classifier,
    "adac2": AdaC2Classifier,
    "adac3": AdaC3Classifier,
}
EVERY = [*VARIANTS.values(), AdaBoostDBClassifier, CSAdaBoostClassifier]
BINARY = [kind for kind in EVERY if kind is not CGAdaClassifier]
COSTS = CostModel.binary(false_positive=1, false_negative=4)


def odd_costs(matrix: list[list[float]]) -> CostModel:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it says what is odd
        return CostModel(matrix)


@pytest.fixture(scope="module")
def bayes() -> tuple[np.ndarray, np.ndarray]:
    X, y = make_bayes(48, random_state=1)
    return X.round(1), y


def signs(y: np.ndarray) -> list[int]:
    return np.where(y == 1, 1, -1).tolist()


def assert_same_rounds(model: Any, rounds: Iterable[PlainRound]) -> None:
    rounds = list(rounds)
    assert len(rounds) == len(model.estimators_)
    for plain, stump, alpha in zip(rounds, model.estimators_, model.estimator_weights_, strict=True):
        above = 1 if stump.answers[1] == 1 else -1
        assert plain.stump == (stump.feature, stump.cut, above)
        assert alpha == pytest.approx(plain.alpha, rel=1e-10, abs=1e-12)


@pytest.mark.parametrize(
    ("name", "select"),
    [(name, "D") for name in VARIANTS] + [(name, "cD") for name in ("adac1", "adac2", "adac3")],
)
def test_method_equals_its_twin(name: str, select: str, bayes: Any) -> None:
    options = {"select_weights": select} if name in ("adac1", "adac2", "adac3") else {}
    X, y = bayes
    for false_positive, false_negative in ((1, 1), (1, 4), (3, 1)):
        costs = CostModel.binary(false_positive=false_positive, false_negative=false_negative)
        model = VARIANTS[name](costs, n_estimators=8, max_bins=None, **options).fit(X, y)
        of_cases = np.where(y == 1, false_negative, false_positive).astype(float).tolist()
        assert_same_rounds(model, plain_variant(name, X.tolist(), signs(y), of_cases, 8, select=select))


@pytest.mark.parametrize(
    "kind", [CGAdaClassifier, AdaBoostDBClassifier, CSAdaBoostClassifier, CSB2Classifier]
)
def test_equal_costs_make_adaboost(kind: Any, bayes: Any) -> None:
    X, y = bayes
    rounds = list(plain_adaboost(X.tolist(), signs(y), 10))
    model = kind(CostModel.binary(false_positive=7, false_negative=7), n_estimators=10, max_bins=None).fit(
        X, y
    )
    assert_same_rounds(model, rounds)
    assert np.allclose(model.estimator_weights_, [r.alpha for r in rounds], rtol=0, atol=1e-12)
    # The weights under which each round chose, from the votes before it.
    before = [np.zeros(len(y)), *model.staged_decision_function(X)]
    for f, plain in zip(before, rounds, strict=False):
        weights = np.exp(-np.array(signs(y)) * f)
        assert np.allclose(weights / weights.sum(), plain.weights, rtol=0, atol=1e-12)


@pytest.mark.parametrize("kind", [AdaC1Classifier, AdaC2Classifier, AdaC3Classifier])
def test_adac_at_equal_costs_is_adaboost(kind: Any, bayes: Any) -> None:
    X, y = bayes
    ours = kind(n_estimators=10).fit(X, y)
    adaboost = CGAdaClassifier(n_estimators=10).fit(X, y)
    assert ours.estimators_ == adaboost.estimators_
    assert np.allclose(ours.estimator_weights_, adaboost.estimator_weights_, rtol=0, atol=1e-9)


def test_adacost_keeps_its_bound_and_begins_as_cgada(bayes: Any) -> None:
    X, y = bayes
    cost = np.where(y == 1, 4.0, 1.0)
    for scale in (1.0, 0.5, 0.1):
        model = AdaCostClassifier(COSTS, n_estimators=10, cost_scale=scale).fit(X, y)
        if (model.estimator_weights_ == 1.0).all():
            continue  # it ended before the first round
        c = scale * cost / 4
        bound = total = c.sum()
        D = c / total
        for stump, alpha in zip(model.estimators_, model.estimator_weights_, strict=True):
            ok = np.array(signs(y)) * (2 * answers(model, stump, X) - 1)
            beta = (1 - ok * c) / 2
            raised = D * np.exp(-alpha * ok * beta)
            r = (D * ok * beta).sum()
            assert raised.sum() <= math.sqrt(1 - r**2) + 1e-12
            bound *= raised.sum()
            D = raised / raised.sum()
        assert c[model.predict(X) != y].sum() <= bound + 1e-12
    small = AdaCostClassifier(COSTS, n_estimators=8, cost_scale=1e-6).fit(X, y)
    assert small.estimators_[0] == CGAdaClassifier(COSTS, n_estimators=1).fit(X, y).estimators_[0]
    # Without c beta is 1/2, and r is 1/2 - eps.
    assert np.allclose(small.estimator_weights_, np.arctanh(0.5 - small.estimator_errors_), rtol=1e-4)


def answers(model: Any, stump: Stump, X: np.ndarray) -> np.ndarray:
    return stump.answer(model.schema_, model._columns(X))


def test_adac2_does_not_depend_on_the_unit(bayes: Any) -> None:
    X, y = bayes
    for factor in (1e-3, 250.0):
        scaled = CostModel.binary(false_positive=factor, false_negative=4 * factor)
        models = [kind.fit(X, y) for kind in (AdaC2Classifier(COSTS), AdaC2Classifier(scaled))]
        assert np.array_equal(models[0].estimator_weights_, models[1].estimator_weights_)


def test_weak_learners_of_scikit_learn_boost_as_there(bayes: Any) -> None:
    X, y = make_classification(300, n_classes=3, n_informative=5, random_state=0)
    tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    theirs = AdaBoostClassifier(tree, n_estimators=10, random_state=0).fit(X, y)
    ours = CGAdaClassifier(estimator=tree, n_estimators=10, random_state=0).fit(X, y)
    assert np.allclose(ours.estimator_errors_, theirs.estimator_errors_)
    assert np.allclose(ours.estimator_weights_, 4 / 3 * theirs.estimator_weights_)
    assert np.array_equal(ours.predict(X), theirs.predict(X))
    share = ours.decision_function(X) / ours.estimator_weights_.sum()
    assert np.allclose(share, theirs.decision_function(X))


@pytest.mark.parametrize("kind", EVERY)
def test_answers_fit_together(kind: Any) -> None:
    X, y = make_bayes(150, random_state=0)
    labels = np.array(["healthy", "ill"])[y]
    costs = CostModel({("ill", "healthy"): 5.0, ("healthy", "ill"): 1.0}, tests={"x0": 1, "x1": 2})
    model = kind(costs, n_estimators=7, random_state=0).fit(X, labels)
    P, f = model.predict_proba(X), model.decision_function(X)
    assert np.allclose(P.sum(axis=1), 1)
    risk = P @ model.costs_.matrix
    clear = np.abs(risk[:, 0] - risk[:, 1]) > 1e-9
    assert np.array_equal(model.predict(X)[clear], model.classes_[risk.argmin(axis=1)][clear])
    assert np.array_equal(model.predict(X), model.classes_[(f > 0).astype(int)])
    *_, last = model.staged_decision_function(X)
    assert np.array_equal(last, f)
    *_, last_label = model.staged_predict(X)
    assert np.array_equal(last_label, model.predict(X))
    *_, last_share = model.staged_predict_proba(X)
    assert np.array_equal(last_share, P)
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.decision_function(X), f)
    assert clone(model).fit(X, labels).estimators_ == model.estimators_


@pytest.mark.parametrize("kind", EVERY)
def test_weight_three_is_three_copies(kind: Any, bayes: Any) -> None:
    X, y = bayes
    weight = np.random.default_rng(0).integers(0, 4, len(y))
    weighted = kind(COSTS, n_estimators=8, random_state=0).fit(X, y, weight.astype(float))
    copied = kind(COSTS, n_estimators=8, random_state=0).fit(
        np.repeat(X, weight, axis=0), np.repeat(y, weight)
    )
    assert weighted.estimators_ == copied.estimators_
    assert np.allclose(weighted.estimator_weights_, copied.estimator_weights_, rtol=0, atol=1e-11)


@pytest.mark.parametrize("name", VARIANTS)
def test_costs_by_case_take_the_place_of_the_matrix(name: str, bayes: Any) -> None:
    X, y = bayes
    matrix = np.array([[0.0, 1.0], [4.0, 0.0]])
    by_class = VARIANTS[name](COSTS, n_estimators=6).fit(X, y)
    by_case = VARIANTS[name](n_estimators=6).fit(X, y, example_cost=matrix[y])
    assert by_class.estimators_ == by_case.estimators_
    assert np.array_equal(by_class.predict(X), by_case.predict(X))
    dear = np.where(np.arange(len(y))[:, None] < 24, 10.0, 1.0) * matrix[y]
    c = dear.sum(axis=1).tolist()
    model = VARIANTS[name](n_estimators=6, max_bins=None).fit(X, y, example_cost=dear)
    assert_same_rounds(model, plain_variant(name, X.tolist(), signs(y), c, 6))


def test_several_classes_weigh_by_costs() -> None:
    X, y = load_iris(return_X_y=True)
    names = np.array(["a", "b", "c"])[y]
    dear = CostModel([[0, 1, 1], [1, 0, 1], [1, 9, 0]])
    equal = CGAdaClassifier(n_estimators=15).fit(X, names)
    costly = CGAdaClassifier(dear, n_estimators=15).fit(X, names)
    assert equal.score(X, names) > 0.95
    assert equal.decision_function(X).shape == (150, 3)
    assert np.allclose(equal.decision_function(X).sum(axis=1), 0, atol=1e-9)
    assert np.array_equal(costly.class_costs_, [1, 1, 5])
    missed = [(m.predict(X)[y == 2] == "b").sum() for m in (equal, costly)]
    assert missed[1] <= missed[0]
    risk = costly.predict_proba(X) @ costly.costs_.matrix
    assert np.array_equal(costly.predict(X), names[[0, 50, 100]][risk.argmin(axis=1)])


def test_shares_of_the_vote_decide_csb() -> None:
    X, y = make_bayes(100, random_state=3)
    model = CSB2Classifier(COSTS, n_estimators=9).fit(X, y)
    total = model.estimator_weights_.sum()
    f = sum(
        alpha * (2 * answers(model, stump, X) - 1)
        for stump, alpha in zip(model.estimators_, model.estimator_weights_, strict=True)
    )
    assert np.allclose(model.predict_proba(X)[:, 1], (1 + f / total) / 2)
    assert np.array_equal(model.predict(X) == 1, f > total * (1 - 4) / (1 + 4))
    sign = CSB2Classifier(COSTS, n_estimators=9, decision="sign").fit(X, y)
    assert np.array_equal(sign.predict(X) == 1, f > 0)


@pytest.mark.parametrize("kind", EVERY)
def test_one_class_and_classes_without_weight(kind: Any) -> None:
    X = np.arange(6.0)[:, None]
    alone = kind().fit(X, ["a"] * 6)
    assert alone.predict(X).tolist() == ["a"] * 6
    assert alone.predict_proba(X).tolist() == [[1.0]] * 6
    assert alone.test_cost(X).tolist() == [0.0] * 6
    assert alone.partial_vote(X).labels.tolist() == ["a"] * 6
    without = kind(COSTS).fit(X, [0, 0, 1, 1, 1, 1], [0, 0, 1, 1, 1, 1])
    assert without.classes_.tolist() == [0, 1]
    assert without.predict(X).tolist() == [1] * 6


@pytest.mark.parametrize("kind", EVERY)
def test_ends_of_boosting(kind: Any) -> None:
    X = np.arange(8.0)[:, None]
    perfect = kind(COSTS, random_state=0).fit(X, [0, 0, 0, 0, 1, 1, 1, 1])
    assert len(perfect.estimators_) == 1
    assert perfect.predict(X).tolist() == [0, 0, 0, 0, 1, 1, 1, 1]
    hopeless = kind(random_state=0).fit(np.zeros((8, 1)), [0, 1] * 4)
    assert len(hopeless.estimators_) == 1
    assert hopeless.estimator_weights_.tolist() == [1.0]
    for name in ("bounds_", "n_roots_", "n_contributing_", "n_evaluations_"):
        assert len(getattr(hopeless, name, [0])) == 1
    assert set(hopeless.predict(X)) <= {0, 1}


@pytest.mark.parametrize("kind", BINARY)
def test_more_classes_are_refused(kind: Any) -> None:
    with pytest.raises(ValueError, match=r"Only binary classification is supported.*CGAdaClassifier"):
        kind().fit([[0.0], [1.0], [2.0]], [0, 1, 2])


@pytest.mark.parametrize(
    ("model", "error", "message"),
    [
        (CGAdaClassifier(n_estimators=0), ValueError, "n_estimators must be an integer of at least 1, got 0"),
        (CGAdaClassifier(estimator=LogisticRegression(), pool=[]), ValueError, "estimator or pool, not both"),
        (CGAdaClassifier(estimator=KNeighborsClassifier()), ValueError, "takes no sample_weight in fit"),
        (CGAdaClassifier(estimator="tree"), TypeError, "estimator must be a classifier"),
        (CGAdaClassifier(estimator=DecisionTreeClassifier), TypeError, "estimator must be a classifier"),
        (
            AdaCostClassifier(cost_scale=0),
            ValueError,
            "cost_scale must be a number above 0 and up to 1, got 0",
        ),
        (CSB0Classifier(decision="vote"), ValueError, "decision must be 'mec' or 'sign', got 'vote'"),
        (AdaC1Classifier(select_weights="c"), ValueError, "select_weights must be 'D' or 'cD', got 'c'"),
        (CGAdaClassifier(odd_costs([[0, 0], [0, 0]])), ValueError, "no mistake costs anything"),
        (CGAdaClassifier(odd_costs([[1, 0], [2, 0]])), ValueError, "class 0 a wrong answer costs less than"),
        (CSB1Classifier(odd_costs([[0, 0], [2, 0]])), ValueError, "CSB1Classifier divides by the costs"),
        (AdaC3Classifier(odd_costs([[0, 0], [2, 0]])), ValueError, "AdaC3Classifier divides by the costs"),
        (AdaBoostDBClassifier(odd_costs([[0, 0], [2, 0]])), ValueError, "on class 0 costs nothing"),
        (CSAdaBoostClassifier(odd_costs([[0, 2], [0, 0]])), ValueError, "on class 1 costs nothing"),
        (AdaBoostDBClassifier(search="all"), ValueError, "search must be one of 'conditional', 'exhaustive'"),
        (CSAdaBoostClassifier(search="batch"), ValueError, "search must be 'conditional' or 'exhaustive'"),
        (AdaBoostDBClassifier(select="least"), ValueError, "select must be one of 'alpha', 'loss'"),
        (AdaBoostDBClassifier(balanced="yes"), ValueError, "balanced must be True or False, got 'yes'"),
        (
            AdaBoostDBClassifier(solver="poly", select="loss"),
            ValueError,
            "solver='poly' is for select='alpha'",
        ),
        (
            AdaBoostDBClassifier(CostModel.binary(false_positive=1, false_negative=math.pi), solver="poly"),
            ValueError,
            "ratio of integers up to 100",
        ),
    ],
)
def test_errors_name_the_thing_and_the_remedy(model: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        model.fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])


def test_a_class_that_costs_nothing_is_given_up() -> None:
    X, y = make_bayes(60, random_state=0)
    model = CGAdaClassifier(odd_costs([[0, 0], [3, 0]]), n_estimators=5).fit(X, y)
    assert (model.predict(X) == 1).all()
    assert np.isfinite(model.predict_proba(X)).all()


def test_tables_with_missing_values_and_categories() -> None:
    table = load_hepatitis()
    numeric = table.data.select_dtypes("number")
    for kind in (CGAdaClassifier, AdaBoostDBClassifier, AdaC1Classifier):
        model = kind(table.costs, n_estimators=30, random_state=0).fit(table.data, table.target)
        assert model.score(table.data, table.target) > 0.8
        assert {stump.is_categorical for stump in model.estimators_} == {False, True}
        assert model.predict(table.data.where(table.data.isna())).shape == (len(table.data),)
        with pytest.raises(ValueError, match="feature"):
            model.predict(numeric)
    assert any(" = " in str(stump) or "missing" in str(stump) for stump in model.estimators_)
    with pytest.raises(ValueError, match="NaN"):
        CGAdaClassifier(estimator=LogisticRegression(), n_estimators=2).fit(numeric, table.target)


def test_trees_of_this_package_are_weak_learners() -> None:
    table = load_hepatitis()
    prices = CostModel([[0, 50], [50, 0]], tests=table.costs.tests, operations=table.costs.operations)
    tree = GreedyTreeClassifier(prices, max_depth=2)
    model = AdaBoostDBClassifier(table.costs, estimator=tree, n_estimators=6, random_state=0)
    model.fit(table.data, table.target)
    assert len(model.estimators_) == 6
    assert all(member.tree_.depth <= 2 for member in model.estimators_)
    assert model.score(table.data, table.target) > 0.8
    search = GridSearchCV(
        model, {"estimator__max_depth": [1, 2]}, cv=2, scoring=make_cost_scorer(table.costs)
    ).fit(table.data, table.target)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_frames_with_nullable_dtypes_and_named_columns() -> None:
    X, y = make_bayes(60, random_state=0)
    frame = pd.DataFrame({"first": pd.array(X[:, 0], dtype="Float64"), "second": X[:, 1]})
    frame.loc[3, "first"] = pd.NA
    model = CGAdaClassifier(n_estimators=5).fit(frame, pd.Series(y, dtype="Int64"))
    assert model.feature_names_in_.tolist() == ["first", "second"]
    assert model.predict(frame).tolist() == model.predict(frame.astype(float)).tolist()


@pytest.mark.parametrize("labels", [(False, True), (3, 7), ("no", "yes")])
@pytest.mark.parametrize("weak", ["stumps", "estimator", "pool"])
def test_labels_keep_their_kind(weak: str, labels: tuple[Any, Any]) -> None:
    X, y = make_bayes(60, random_state=0)
    y = np.where(y == 1, labels[1], labels[0])
    tree = DecisionTreeClassifier(max_depth=1, random_state=0)
    source = {"stumps": {}, "estimator": {"estimator": tree}, "pool": {"pool": [clone(tree).fit(X, y)]}}
    model = CGAdaClassifier(n_estimators=3, random_state=0, **source[weak]).fit(X, pd.Series(y))
    assert model.classes_.tolist() == list(labels)
    said = model.predict(X).tolist()
    assert {type(label) for label in said} == {type(labels[0])}
    assert model.partial_vote(X).labels.tolist() == said
    assert model.score(X, y) > 0.7
