"""The scorer in scikit-learn's hands."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cstree import metrics
from cstree.costs.model import CostModel
from cstree.greedy.classifier import GreedyTreeClassifier
from tests.handmade import clinic

X, Y, COSTS = clinic(240)
FOLDS = StratifiedKFold(4)


def by_hand(model, scorer_costs, include=True, weight=None, example_cost=None) -> list[float]:
    """Fit and judge fold by fold."""
    scores = []
    for train, test in FOLDS.split(X, Y):
        fitted = clone(model).fit(X.iloc[train], Y[train])
        own = None if weight is None else weight[test]
        rows = None if example_cost is None else example_cost[test]
        cost = metrics.misclassification_cost(
            Y[test], fitted.predict(X.iloc[test]), scorer_costs, sample_weight=own, example_cost=rows
        )
        if include:
            cost += np.average(fitted.test_cost(X.iloc[test], costs=scorer_costs), weights=own)
        scores.append(-cost)
    return scores


@pytest.mark.parametrize("include", [True, False])
def test_cross_validation_is_minus_the_money(include: bool) -> None:
    model = GreedyTreeClassifier(COSTS, max_depth=3)
    scorer = metrics.make_cost_scorer(COSTS, include_test_cost=include)
    scores = cross_val_score(model, X, Y, scoring=scorer, cv=FOLDS)
    assert scores == pytest.approx(by_hand(model, COSTS, include), rel=1e-12)
    assert (scores < 0).all()
    both = cross_validate(model, X, Y, scoring={"money": scorer, "accuracy": "accuracy"}, cv=FOLDS)
    assert both["test_money"].tolist() == scores.tolist()


def test_search_finds_the_cheapest_depth() -> None:
    scorer = metrics.make_cost_scorer(COSTS)
    search = GridSearchCV(
        GreedyTreeClassifier(COSTS), {"max_depth": [0, 1, 4]}, scoring=scorer, cv=FOLDS
    ).fit(X, Y)
    expected = [np.mean(by_hand(GreedyTreeClassifier(COSTS, max_depth=d), COSTS)) for d in (0, 1, 4)]
    assert search.cv_results_["mean_test_score"] == pytest.approx(expected, rel=1e-12)
    assert search.best_params_ == {"max_depth": [0, 1, 4][int(np.argmax(expected))]}
    assert search.score(X, Y) == pytest.approx(-metrics.total_cost(search, X, Y), rel=1e-12)


def test_search_over_costs_is_judged_by_the_scorers_prices() -> None:
    cheap = CostModel(COSTS.misclassification, classes=COSTS.classes, tests=[0, 0, 0, 0])
    scorer = metrics.make_cost_scorer(COSTS)
    search = GridSearchCV(
        GreedyTreeClassifier(max_depth=3), {"costs": [COSTS, cheap]}, scoring=scorer, cv=FOLDS
    ).fit(X, Y)
    expected = [np.mean(by_hand(GreedyTreeClassifier(c, max_depth=3), COSTS)) for c in (COSTS, cheap)]
    assert search.cv_results_["mean_test_score"] == pytest.approx(expected, rel=1e-12)


def test_matrix_mapping_and_nothing() -> None:
    model = GreedyTreeClassifier(COSTS, max_depth=3).fit(X, Y)
    paid = model.test_cost(X).mean()
    matrix = np.array([[0.0, 90.0], [60.0, 0.0]])
    expected = -metrics.misclassification_cost(Y, model.predict(X), COSTS) - paid
    for costs in (matrix, matrix.tolist(), {("ill", "well"): 90, ("well", "ill"): 60}):
        assert metrics.make_cost_scorer(costs)(model, X, Y) == pytest.approx(expected, rel=1e-12)
    assert metrics.make_cost_scorer(None)(model, X, Y) == pytest.approx(
        model.score(X, Y) - 1 - paid, rel=1e-12
    )


def test_a_fold_may_lack_a_class() -> None:
    model = GreedyTreeClassifier(COSTS, max_depth=3).fit(X, Y)
    ill = Y == "ill"
    score = metrics.make_cost_scorer([[0, 90], [60, 0]], include_test_cost=False)(model, X[ill], Y[ill])
    assert score == pytest.approx(-90 * np.mean(model.predict(X[ill]) == "well"), rel=1e-12)


def test_other_classifiers_and_pipelines() -> None:
    table = X[["age", "chol", "sugar"]].fillna(0)
    costs = CostModel(
        COSTS.misclassification, classes=COSTS.classes, tests={"age": 0.0, "chol": 5.0, "sugar": 3.0}
    )
    scorer = metrics.make_cost_scorer(costs)
    pipe = make_pipeline(StandardScaler(), LogisticRegression()).fit(table, Y)
    wrong = metrics.misclassification_cost(Y, pipe.predict(table), costs)
    assert scorer(pipe, table, Y) == pytest.approx(-wrong - 8.0, rel=1e-12)
    scaler = StandardScaler().set_output(transform="pandas")
    tree = make_pipeline(scaler, GreedyTreeClassifier(costs, max_depth=2)).fit(table, Y)
    assert scorer(tree, table, Y) == pytest.approx(-metrics.total_cost(tree, table, Y), rel=1e-12)
    assert metrics.make_cost_scorer([[0, 90], [60, 0]])(DummyClassifier().fit(X, Y), X, Y) < 0


def test_weights_and_costs_by_case_are_routed() -> None:
    weight = np.random.default_rng(0).integers(1, 5, len(Y)).astype(float)
    rows = np.where(Y[:, None] == ["ill", "well"], 0.0, weight[:, None] * [[1.0, 2.0]])
    with sklearn.config_context(enable_metadata_routing=True):
        model = GreedyTreeClassifier(COSTS, max_depth=3).set_fit_request(
            sample_weight=False, example_cost=False
        )
        scorer = metrics.make_cost_scorer(COSTS)
        scorer.set_score_request(sample_weight=True, example_cost=True)
        result = cross_validate(
            model, X, Y, scoring=scorer, cv=FOLDS, params={"sample_weight": weight, "example_cost": rows}
        )
        search = GridSearchCV(model, {"max_depth": [3]}, scoring=scorer, cv=FOLDS)
        search.fit(X, Y, sample_weight=weight, example_cost=rows)
        kept = pickle.loads(pickle.dumps(clone(scorer)))
        assert kept.get_metadata_routing().score.requests == {"sample_weight": True, "example_cost": True}
        unasked = metrics.make_cost_scorer(COSTS).get_metadata_routing().score.requests
        assert set(unasked) == {"sample_weight", "example_cost"}
    expected = by_hand(GreedyTreeClassifier(COSTS, max_depth=3), COSTS, True, weight, rows)
    assert result["test_score"] == pytest.approx(expected, rel=1e-12)
    assert search.cv_results_["mean_test_score"] == pytest.approx([np.mean(expected)], rel=1e-12)
    assert expected != pytest.approx(by_hand(GreedyTreeClassifier(COSTS, max_depth=3), COSTS), rel=1e-3)


def test_without_routing_a_search_hands_the_weights_on_or_not_but_works() -> None:
    scorers = {"money": metrics.make_cost_scorer(COSTS), "accuracy": "accuracy"}
    search = GridSearchCV(
        GreedyTreeClassifier(COSTS), {"max_depth": [2]}, scoring=scorers, refit="money", cv=FOLDS
    )
    search.fit(X, Y, sample_weight=np.ones(len(Y)))
    unweighted = cross_val_score(
        GreedyTreeClassifier(COSTS, max_depth=2), X, Y, scoring=scorers["money"], cv=FOLDS
    )
    assert search.cv_results_["mean_test_money"] == pytest.approx([unweighted.mean()], rel=1e-12)


def test_copies() -> None:
    scorer = metrics.make_cost_scorer(COSTS, include_test_cost=False)
    model = GreedyTreeClassifier(COSTS, max_depth=2).fit(X, Y)
    for other in (pickle.loads(pickle.dumps(scorer)), clone(scorer)):
        assert other(model, X, Y) == scorer(model, X, Y)
        assert other.get_params() == {"costs": COSTS, "include_test_cost": False}
    assert "CostScorer" in repr(scorer)


def test_costs_are_checked_when_the_scorer_is_made() -> None:
    with pytest.raises(ValueError, match=r"shape \(1, 2\)"):
        metrics.make_cost_scorer([[0, 1]])
    with pytest.raises(ValueError, match="no costs"):
        strange = pd.Series(["ill", "odd"] * (len(Y) // 2))
        metrics.make_cost_scorer(COSTS)(GreedyTreeClassifier(COSTS, max_depth=0).fit(X, Y), X, strange)
