"""AdaBoostDB and CS-AdaBoost: their twins, and the invariants of their derivation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cstree.costs.model import CostModel
from cstree.datasets import make_bayes
from cstree.ensemble import AdaBoostDBClassifier, CSAdaBoostClassifier
from tests.ensemble.test_boosting import assert_same_rounds, signs
from tests.reference.boosting import plain_cs_adaboost, plain_double_base

RATIOS = ((4, 1), (1, 1.7), (1, 19))


@pytest.fixture(scope="module")
def bayes() -> tuple[np.ndarray, np.ndarray]:
    X, y = make_bayes(40, random_state=2)
    return X.round(1), y


def asymmetric(missed: float, alarm: float) -> CostModel:
    return CostModel.binary(false_positive=alarm, false_negative=missed)


@pytest.mark.parametrize(("missed", "alarm"), RATIOS)
def test_double_base_equals_its_twin(missed: float, alarm: float, bayes: Any) -> None:
    X, y = bayes
    half = (missed + alarm) / 2
    rounds = list(plain_double_base(X.tolist(), signs(y), 7, missed / half, alarm / half))
    settings: dict[str, Any] = {"n_estimators": 7, "max_bins": None, "random_state": 0}
    costs = asymmetric(missed, alarm)
    for search in ("conditional", "exhaustive", "batch"):
        assert_same_rounds(AdaBoostDBClassifier(costs, search=search, **settings).fit(X, y), rounds)
    if missed != 1:
        assert_same_rounds(AdaBoostDBClassifier(costs, solver="poly", **settings).fit(X, y), rounds)
    # The weights of each class, from the votes before the round.
    model = AdaBoostDBClassifier(costs, **settings).fit(X, y)
    exponents = np.where(y == 1, missed, alarm) / half
    for f, plain in zip([np.zeros(len(y)), *model.staged_decision_function(X)], rounds, strict=False):
        weights = np.exp(-exponents * np.array(signs(y)) * f)
        weights /= np.bincount(y, weights=weights)[y]
        assert np.allclose(weights, plain.weights, rtol=0, atol=1e-12)


@pytest.mark.parametrize(("missed", "alarm"), RATIOS)
def test_cs_adaboost_equals_its_twin_and_the_least_loss(missed: float, alarm: float, bayes: Any) -> None:
    X, y = bayes
    half = (missed + alarm) / 2
    rounds = list(plain_cs_adaboost(X.tolist(), signs(y), 7, missed / half, alarm / half))
    settings: dict[str, Any] = {"n_estimators": 7, "max_bins": None, "random_state": 0}
    costs = asymmetric(missed, alarm)
    for search in ("conditional", "exhaustive"):
        assert_same_rounds(CSAdaBoostClassifier(costs, search=search, **settings).fit(X, y), rounds)
    for search in ("conditional", "exhaustive", "batch"):
        model = AdaBoostDBClassifier(costs, search=search, select="loss", **settings).fit(X, y)
        assert_same_rounds(model, rounds)


@pytest.mark.parametrize("select", ["alpha", "loss"])
def test_bounds_and_errors_on_the_way(select: str) -> None:
    X, y = make_bayes(300, n_angles=8, random_state=0)
    weight = np.random.default_rng(0).random(300)
    costs = asymmetric(5, 1)
    model = AdaBoostDBClassifier(costs, n_estimators=40, select=select, random_state=0).fit(X, y, weight)
    exponents, s = np.where(y == 1, 5, 1) / 3, np.array(signs(y))
    D1 = weight / weight.sum()
    before = 1.0
    for stump, f, bound in zip(
        model.estimators_, model.staged_decision_function(X), model.bounds_, strict=True
    ):
        raised = D1 * np.exp(-exponents * s * f)
        assert bound == pytest.approx(raised.sum(), rel=0, abs=1e-12)
        assert bound <= before + 1e-12
        before = bound
        assert D1[(f > 0) != (y == 1)].sum() <= bound
        # Right after its round a weak learner is wrong about half of the weight in the slope of the bound.
        slope = exponents * raised
        wrong = stump.answer(model.schema_, model._columns(X)) != y
        assert slope[wrong].sum() / slope.sum() == pytest.approx(0.5, rel=0, abs=1e-12)
    assert (model.estimator_errors_ < 0.5).all()


def test_least_loss_lowers_the_bound_most() -> None:
    X, y = make_bayes(300, n_angles=8, random_state=1)
    first = {
        select: AdaBoostDBClassifier(asymmetric(9, 1), n_estimators=1, select=select, random_state=0).fit(
            X, y
        )
        for select in ("alpha", "loss")
    }
    # The loss that CS-AdaBoost lowers is that of D_1; both begin with it.
    assert first["loss"].bounds_[0] <= first["alpha"].bounds_[0] + 1e-12
    assert first["alpha"].estimator_weights_[0] >= first["loss"].estimator_weights_[0] - 1e-12


def test_searches_make_the_same_committee_with_few_roots() -> None:
    X, y = make_bayes(400, n_angles=36, random_state=0)
    assert AdaBoostDBClassifier(n_estimators=1, max_bins=61).fit(X, y).n_contributing_[0] > 2000
    for select in ("alpha", "loss"):
        settings: dict[str, Any] = {"n_estimators": 25, "max_bins": 61, "select": select, "random_state": 0}
        full, fast, batch = (
            AdaBoostDBClassifier(asymmetric(3, 1), search=search, **settings).fit(X, y)
            for search in ("exhaustive", "conditional", "batch")
        )
        assert full.estimators_ == fast.estimators_ == batch.estimators_
        assert np.allclose(full.estimator_weights_, fast.estimator_weights_, rtol=0, atol=1e-12)
        assert np.allclose(full.estimator_weights_, batch.estimator_weights_, rtol=0, atol=1e-12)
        assert (full.n_roots_ == full.n_contributing_).all()
        assert (fast.n_contributing_ == full.n_contributing_).all()
        assert fast.n_roots_.sum() <= 0.005 * full.n_roots_.sum()
        assert batch.n_roots_.sum() <= fast.n_roots_.sum()
        assert (fast.n_evaluations_ >= fast.n_contributing_ - 1).all()
        assert full.search_seconds_ > 0


def test_unit_of_costs_does_not_matter(bayes: Any) -> None:
    X, y = bayes
    fits = [
        AdaBoostDBClassifier(asymmetric(4 * k, k), n_estimators=8, random_state=0).fit(X, y)
        for k in (1, 250, 1e-3)
    ]
    for model in fits[1:]:
        assert model.estimators_ == fits[0].estimators_
        assert np.allclose(model.estimator_weights_, fits[0].estimator_weights_, rtol=1e-14)


@pytest.mark.parametrize("kind", [AdaBoostDBClassifier, CSAdaBoostClassifier])
def test_other_names_of_the_classes_turn_the_vote_around(kind: Any, bayes: Any) -> None:
    X, y = bayes
    ours = kind(asymmetric(4, 1), n_estimators=8, random_state=0).fit(X, y)
    turned = kind(asymmetric(1, 4), n_estimators=8, random_state=0).fit(X, 1 - y)
    assert np.allclose(turned.decision_function(X), -ours.decision_function(X), rtol=0, atol=1e-12)


def test_balanced_classes_begin_equal() -> None:
    X, y = make_bayes(200, random_state=0)
    X, y = X[(y == 0) | (np.arange(200) % 4 == 0)], y[(y == 0) | (np.arange(200) % 4 == 0)]
    weight = 1 / np.bincount(y)[y]
    balanced = AdaBoostDBClassifier(asymmetric(2, 1), n_estimators=8, balanced=True, random_state=0).fit(X, y)
    weighted = AdaBoostDBClassifier(asymmetric(2, 1), n_estimators=8, random_state=0).fit(X, y, weight)
    assert [str(stump) for stump in balanced.estimators_] == [str(stump) for stump in weighted.estimators_]
    assert np.allclose(balanced.estimator_weights_, weighted.estimator_weights_)
    plain = AdaBoostDBClassifier(asymmetric(2, 1), n_estimators=8, random_state=0).fit(X, y)
    assert (balanced.predict(X) == 1).sum() > (plain.predict(X) == 1).sum()


def test_probability_is_the_threshold_where_the_vote_is_zero() -> None:
    X, y = make_bayes(200, random_state=0)
    model = AdaBoostDBClassifier(asymmetric(3, 1), n_estimators=20, random_state=0).fit(X, y)
    f, P = model.decision_function(X), model.predict_proba(X)[:, 1]
    assert np.allclose(P, np.exp(2 * f) / (3 + np.exp(2 * f)))
    assert model._probabilities(np.zeros(1), 20)[0, 1] == pytest.approx(1 / 4)


def test_large_ratios_of_costs() -> None:
    X, y = make_bayes(200, random_state=0)
    for missed, alarm in ((1e6, 1), (1, 1e6)):
        model = AdaBoostDBClassifier(asymmetric(missed, alarm), n_estimators=30, random_state=0).fit(X, y)
        assert np.isfinite(model.decision_function(X)).all()
        assert (model.predict(X)[y == (missed > alarm)] == (missed > alarm)).all()
