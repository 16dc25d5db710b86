"""Rates, operating points and normalised costs, beside counts by hand and identities."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cstree import metrics
from cstree.costs.model import CostModel

bits = st.integers(0, 1)
costs_of_two = st.tuples(*[st.integers(0, 400).map(lambda value: value / 8)] * 4).map(
    lambda c: [
        [c[0], c[0] + c[1]],
        [c[2] + c[3], c[2]],
    ]  # a wrong answer costs as much as the right one or more
)


@st.composite
def binary(draw: st.DrawFn) -> tuple[list[int], list[int], list[float]]:
    n = draw(st.integers(2, 30))
    several = st.lists(bits, min_size=n, max_size=n)
    weight = st.lists(st.sampled_from([0.25, 1.0, 2.0]), min_size=n, max_size=n)
    return draw(several), draw(several), draw(st.just([1.0] * n) | weight)


def rate(true: list[int], predicted: list[int], weight: list[float], of: int) -> float:
    """Share of a class's weight that is answered otherwise."""
    members = [i for i, label in enumerate(true) if label == of]
    if not members:
        return math.nan
    return math.fsum(weight[i] for i in members if predicted[i] != of) / math.fsum(weight[i] for i in members)


@given(binary(), costs_of_two)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_cost_is_normalised_cost_times_scale(data: Any, matrix: list[list[float]]) -> None:
    true, predicted, weight = data
    c_n, c_p = matrix[0][1] - matrix[0][0], matrix[1][0] - matrix[1][1]
    assume(len(set(true)) == 2 and c_n + c_p > 0)
    prior = math.fsum(w for w, t in zip(weight, true, strict=True) if t) / math.fsum(weight)
    options = {"labels": [0, 1], "sample_weight": weight}
    nec = metrics.normalized_expected_cost(true, predicted, matrix, **options)
    assert -1e-12 <= nec <= 1 + 1e-12
    average = metrics.misclassification_cost(true, predicted, matrix, **options)
    right = (1 - prior) * matrix[0][0] + prior * matrix[1][1]
    assert average == pytest.approx(right + nec * (prior * c_p + (1 - prior) * c_n), rel=1e-12, abs=1e-12)


@given(binary(), st.floats(0, 1))
def test_curve_holds_the_rates(data: Any, point: float) -> None:
    true, predicted, weight = data
    curve = metrics.cost_curve(true, predicted, labels=[0, 1], sample_weight=weight)
    missed, false = rate(true, predicted, weight, 1), rate(true, predicted, weight, 0)
    same = pytest.approx(missed, abs=1e-12, nan_ok=True)
    assert curve.false_negative_rate == same
    assert curve.false_positive_rate == pytest.approx(false, abs=1e-12, nan_ok=True)
    found = metrics.recognition_rate(true, predicted, labels=[0, 1], sample_weight=weight)
    assert found == pytest.approx(1 - missed, abs=1e-12, nan_ok=True)
    assert curve(point) == pytest.approx(missed * point + false * (1 - point), abs=1e-12, nan_ok=True)
    assert curve([0.0, 1.0]).tolist() == pytest.approx([false, missed], abs=1e-12, nan_ok=True) or math.isnan(
        missed + false
    )
    # The other class as the positive one turns the line round.
    turned = metrics.cost_curve(true, predicted, pos_label=0, labels=[0, 1], sample_weight=weight)
    assert turned.false_negative_rate == pytest.approx(false, abs=1e-12, nan_ok=True)
    assert turned.false_positive_rate == same


def test_a_class_that_is_absent() -> None:
    curve = metrics.cost_curve([0, 0, 0], [0, 1, 0], labels=[0, 1])
    assert math.isnan(curve.false_negative_rate)
    assert curve.false_positive_rate == pytest.approx(1 / 3)
    assert math.isnan(metrics.recognition_rate([0, 0], [0, 1]))
    costs = [[0, 1], [5, 0]]
    assert math.isnan(metrics.normalized_expected_cost([0, 0], [0, 1], costs))
    assert math.isnan(metrics.normalized_expected_cost([1, 1], [0, 1], costs))
    assert metrics.misclassification_cost([0, 0], [0, 1], costs) == 0.5


def test_one_class_against_several_others() -> None:
    true, predicted = ["a", "b", "c", "a", "b", "c"], ["a", "a", "c", "b", "c", "b"]
    assert metrics.recognition_rate(true, predicted, pos_label="a") == 0.5
    curve = metrics.cost_curve(true, predicted, pos_label="a")
    assert (curve.false_negative_rate, curve.false_positive_rate) == (0.5, 0.25)


def test_operating_point() -> None:
    matrix = [[0, 1], [9, 0]]
    assert metrics.probability_cost(matrix, 0.5) == 0.9  # the asymmetry
    assert metrics.probability_cost(matrix, [0.0, 0.1, 1.0]).tolist() == [0.0, 0.5, 1.0]
    # What counts is how much more mistakes cost than right answers.
    assert metrics.probability_cost([[2, 3], [11, 2]], 0.1) == 0.5
    assert metrics.probability_cost(matrix, 0.9, pos_label=0) == pytest.approx(0.5)
    assert metrics.probability_cost(None, 0.3) == 0.3
    model = CostModel.binary(false_positive=1, false_negative=9, classes=("well", "ill"))
    assert metrics.probability_cost(model, 0.5) == 0.9  # "ill" is the second of the two that it names
    assert metrics.probability_cost(model, 0.5, pos_label="well") == pytest.approx(0.1)
    assert metrics.probability_cost(model, 0.5, labels=["ill", "well"]) == pytest.approx(0.1)
    with pytest.warns(UserWarning, match="never dearer"):
        free = CostModel([[0, 0], [5, 0]])
    assert math.isnan(metrics.probability_cost(free, 0.0))


def test_normalised_cost_at_another_prior() -> None:
    true, predicted = [0, 0, 0, 0, 1, 1], [0, 0, 0, 1, 1, 0]
    costs = [[0, 1], [9, 0]]
    assert metrics.normalized_expected_cost(true, predicted, costs, positive_prior=0.5) == pytest.approx(
        0.5 * 0.9 + 0.25 * 0.1
    )
    assert metrics.normalized_expected_cost(true, [0] * 6, costs, positive_prior=0.1) == 0.5
    assert metrics.normalized_expected_cost(true, true, costs) == 0.0
    assert metrics.normalized_expected_cost(true, [1 - label for label in true], costs) == 1.0
    names = np.array(["well", "ill"])
    model = CostModel.binary(false_positive=1, false_negative=9, classes=("well", "ill"))
    assert metrics.normalized_expected_cost(names[true], names[predicted], model) == pytest.approx(
        metrics.normalized_expected_cost(true, predicted, costs)
    )


@given(binary(), st.data())
def test_curves_of_thresholds(data: Any, draw: st.DataObject) -> None:
    true, _, weight = data
    assume(len(set(true)) == 2)
    n = len(true)
    score = draw.draw(st.lists(st.integers(-3, 3).map(lambda s: s / 4), min_size=n, max_size=n))
    curves = metrics.threshold_cost_curves(true, score, sample_weight=weight)
    assert [curve.threshold for curve in curves] == [math.inf, *sorted(set(score), reverse=True)]
    for curve in curves:
        predicted = [int(s >= curve.threshold) for s in score]
        assert curve.false_negative_rate == pytest.approx(rate(true, predicted, weight, 1), abs=1e-12)
        assert curve.false_positive_rate == pytest.approx(rate(true, predicted, weight, 0), abs=1e-12)
    assert (curves[0].false_negative_rate, curves[0].false_positive_rate) == (1.0, 0.0)
    assert (curves[-1].false_negative_rate, curves[-1].false_positive_rate) == (0.0, 1.0)


ERRORS: list[tuple[Any, str]] = [
    (lambda: metrics.cost_curve(["a", "b", "c"], ["a", "b", "c"]), "there are 3 classes"),
    (
        lambda: metrics.cost_curve(["a", "b", "c"], ["a", "b", "c"]),
        "name the one that matters with pos_label",
    ),
    (
        lambda: metrics.recognition_rate(["a"], ["a"]),
        "1 class: 'a'; name both with labels=[negative, positive]",
    ),
    (lambda: metrics.cost_curve(["a", "b"], ["a", "b"], labels=["a", "c"]), "class 'b' is not among labels"),
    (
        lambda: metrics.cost_curve(["a", "b"], ["a", "b"], labels=["a", "b"], pos_label="c"),
        "pos_label 'c' is not among labels",
    ),
    (lambda: metrics.cost_curve([0, 1], [0]), "y_true has 2 labels, y_pred 1"),
    (
        lambda: metrics.normalized_expected_cost([0, 1, 2], [0, 1, 2], 1 - np.eye(3), pos_label=1),
        "there are 3 classes: 0, 1, 2; savings_score takes any number",
    ),
    (lambda: metrics.normalized_expected_cost([0, 1], [0, 1], pos_label=2), "pos_label 2 is no class"),
    (lambda: metrics.probability_cost(1 - np.eye(3), 0.5), "there are 3 classes"),
    (lambda: metrics.probability_cost([[0, 1], [9, 0]], 1.5), "positive_prior is 1.5"),
    (lambda: metrics.probability_cost([[0, 1], [9, 0]], math.nan), "positive_prior is nan"),
    (lambda: metrics.probability_cost([[0, 1], [9, 0]], 0.5, pos_label="ill"), "pos_label 'ill' is no class"),
    (lambda: metrics.probability_cost([[0, -1], [9, 0]], 0.5), "a wrong answer costs 9 more"),
    (lambda: metrics.probability_cost([[1, 1], [2, 2]], 0.5), "and not both 0"),
    (lambda: metrics.threshold_cost_curves([0, 1], [0.5]), "y_score has shape (1,) for 2 cases"),
    (lambda: metrics.threshold_cost_curves([0, 1], [0.5, math.nan]), "y_score of case 1 is NaN"),
]


@pytest.mark.parametrize(("call", "message"), ERRORS, ids=[message for _, message in ERRORS])
@pytest.mark.filterwarnings("ignore::UserWarning")  # of matrices that are odd
def test_errors(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        call()
