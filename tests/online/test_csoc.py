"""CSOGD-I and II against their twin, their regret bound, and what they should reach."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from cstree import CostModel
from cstree.metrics import recognition_rate
from cstree.online import CSOCClassifier
from tests.online.problems import BLIND, FIVE_TO_ONE, random_stream, two_clouds
from tests.reference.online import PlainCsogd

BARE: dict[str, Any] = {"fit_intercept": False, "scale": None, "learning_rate": 0.03}


def ratios(objective: str, y: Any, totals: tuple[int, int] | None) -> list[float]:
    """``rho`` at each case, counted by hand."""
    if objective == "cost":
        return [5.0] * len(y)
    shown, found = [1, 1], []
    for label in y:
        n_negative, n_positive = totals or shown
        found.append(0.7 * n_negative / (0.3 * n_positive))
        shown[label] += 1
    return found


@pytest.mark.parametrize("variant", ["I", "II"])
@pytest.mark.parametrize("objective", ["cost", "sum"])
@pytest.mark.parametrize("decay", ["none", "sqrt"])
@pytest.mark.parametrize("totals", [None, (70, 30)])
def test_steps_equal_the_twin(variant: str, objective: str, decay: str, totals: Any) -> None:
    X, y, _ = random_stream(2, n=80)
    model = CSOCClassifier(
        FIVE_TO_ONE,
        variant=variant,
        objective=objective,
        decay=decay,
        class_totals=totals,
        sensitivity_weight=0.7,
        **BARE,
    )
    for part in np.split(np.arange(80), [1, 7, 50]):
        model.partial_fit(X[part], y[part], classes=[0, 1])
    twin = PlainCsogd(4, variant)
    rho = ratios(objective, y, totals)
    steps = [0.03 / np.sqrt(t + 1) if decay == "sqrt" else 0.03 for t in range(80)]
    scores = [twin.learn(*case) for case in zip(X, 2 * y - 1, rho, steps, strict=True)]
    assert np.allclose(model.coef_[0], twin.w, rtol=1e-11, atol=1e-14)
    assert model.prequential_error_ == pytest.approx(np.mean((np.array(scores) > 0) != y))
    sparse = model.set_params().fit(csr_matrix(X), y)
    assert np.allclose(sparse.coef_[0], twin.w, rtol=1e-11, atol=1e-14)


@pytest.mark.parametrize("variant", ["I", "II"])
@pytest.mark.parametrize("seed", range(6))
def test_regret_is_within_its_bound(variant: str, seed: int) -> None:
    X, y, _ = random_stream(seed, n=150)
    step = 0.05
    twin = PlainCsogd(4, variant)
    for x, t in zip(X, 2 * y - 1, strict=True):
        twin.learn(x, t, 5.0, step)
    model = CSOCClassifier(FIVE_TO_ONE, variant=variant, **(BARE | {"learning_rate": step})).fit(X, y)
    assert np.allclose(model.coef_[0], twin.w)
    u = np.random.default_rng(seed).normal(size=4)
    for fixed in (u, 0 * u, np.array(twin.w)):
        regret = sum(twin.losses) - sum(
            twin.loss_of(fixed, x, t, 5.0) for x, t in zip(X, 2 * y - 1, strict=True)
        )
        assert regret <= fixed @ fixed / (2 * step) + step / 2 * sum(twin.squares) + 1e-9


def test_weighted_sum_is_what_its_ratio_counts() -> None:
    rng = np.random.default_rng(0)
    y, answer = rng.integers(0, 2, 200), rng.integers(0, 2, 200)
    n, p = np.bincount(y)
    weight = 0.3
    rho = weight * n / ((1 - weight) * p)
    missed, alarms = np.sum((y == 1) & (answer == 0)), np.sum((y == 0) & (answer == 1))
    total = weight * recognition_rate(y, answer, pos_label=1)
    total += (1 - weight) * recognition_rate(y, answer, pos_label=0)
    assert total == pytest.approx(1 - (1 - weight) / n * (rho * missed + alarms), abs=1e-15)


def test_costs_weights_and_changes() -> None:
    X, y = two_clouds(4000)
    X_new, y_new = two_clouds(20_000, seed=1)
    price = np.where(y_new == 1, 5, 1)
    costs = []
    model = CSOCClassifier(BLIND, average=True).fit(X, y)
    costs.append(np.mean((model.predict(X_new) != y_new) * price))
    model.set_costs(FIVE_TO_ONE).partial_fit(X, y)
    costs.append(np.mean((model.predict(X_new) != y_new) * price))
    assert costs[0] > 0.44 and costs[1] < 0.34
    stretched = CSOCClassifier(FIVE_TO_ONE, average=True).fit(X * 50, y)
    plain = CSOCClassifier(FIVE_TO_ONE, average=True).fit(X, y)
    assert np.allclose(stretched.decision_function(50 * X), plain.decision_function(X), rtol=1e-9)
    rare = y.copy()
    rare[::5] = 0
    even = CSOCClassifier(objective="sum").fit(X, rare)
    high = CSOCClassifier(objective="sum", sensitivity_weight=0.9).fit(X, rare)
    found = [recognition_rate(y_new, m.predict(X_new), pos_label=1) for m in (even, high)]
    assert found[1] > found[0] + 0.05
    heavy = CSOCClassifier(**BARE).fit(X[:50], y[:50], sample_weight=np.full(50, 2.0))
    assert np.allclose(
        heavy.coef_, CSOCClassifier(**(BARE | {"learning_rate": 0.06})).fit(X[:50], y[:50]).coef_
    )


def test_what_it_refuses() -> None:
    X, y = two_clouds(30)
    for options, message in (
        ({"variant": "III"}, "variant must be 'I' or 'II'"),
        ({"objective": "gmean"}, "objective must be 'cost' or 'sum'"),
        ({"decay": "log"}, "decay must be 'none' or 'sqrt'"),
        ({"learning_rate": 0}, "learning_rate must be greater than 0"),
        ({"sensitivity_weight": 1.0}, "must lie between 0 and 1"),
        ({"class_totals": (0, 3)}, "class_totals must be two numbers"),
        ({"features": "leaf"}, "wants an estimator that is one tree"),
    ):
        with pytest.raises(ValueError, match=message):
            CSOCClassifier(**options).fit(X, y)
    with pytest.warns(UserWarning):
        free = CostModel.binary(false_positive=0, false_negative=5)
    with pytest.raises(ValueError, match="wants both mistakes to cost"):
        CSOCClassifier(free).fit(X, y)
    with pytest.raises(ValueError, match=r"Only binary classification is supported.*OCSCAClassifier"):
        CSOCClassifier().fit(X, np.arange(30) % 3)
    model = CSOCClassifier(FIVE_TO_ONE).fit(X, y)
    with pytest.raises(ValueError, match="wants both"):
        model.set_costs(free)
    assert model.costs is FIVE_TO_ONE and model.costs_.matrix[0, 1] == 1
    assert model.partial_fit(X, y).costs_.matrix[1, 0] == 5
