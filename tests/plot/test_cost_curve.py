"""Cost curves, drawn: of answers, of thresholds, of a front, of several side by side."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from cstree import ParetoTreeClassifier
from cstree.metrics import (
    CostCurve,
    cost_curve,
    lower_envelope,
    normalized_expected_cost,
    threshold_cost_curves,
)
from cstree.plot import CostCurveDisplay, cost_curve_figure, model_cost_curves
from cstree.plot.cost_curve import save_figure
from tests.handmade import clinic

pyplot = pytest.importorskip("matplotlib.pyplot", reason="the lines need the extra `plot`")


@pytest.fixture(autouse=True)
def _close() -> Iterator[None]:
    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def model() -> ParetoTreeClassifier:
    X, y, costs = clinic(200, seed=3)
    return ParetoTreeClassifier(costs, generations=10, seeds=None, random_state=0).fit(X, y)


@pytest.fixture(scope="module")
def cases() -> tuple[Any, Any]:
    X, y, _ = clinic(200, seed=8)
    return X, y


def ends(line: Any) -> list[list[float]]:
    return np.round(line.get_xydata(), 12).tolist()


def test_answers_are_one_line(model: ParetoTreeClassifier, cases: Any) -> None:
    X, y = cases
    positive = model.classes_.tolist()[1]
    display = CostCurveDisplay.from_estimator(model, X, y, kind="answers", name="ours", color="red")
    curve = cost_curve(y, model.predict(X), pos_label=positive)
    assert ends(display.line_) == [
        [0, round(curve.false_positive_rate, 12)],
        [1, round(curve.false_negative_rate, 12)],
    ]
    assert display.area_ == lower_envelope([curve]).area
    assert display.line_.get_color() == "red"
    assert display.single_lines_ is None
    (label,) = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert label == f"ours (area {display.area_:.3f})"
    same = CostCurveDisplay.from_predictions(y, model.predict(X), ax=display.ax_)
    assert same.ax_ is display.ax_ and same.figure_ is display.figure_
    assert ends(same.line_) == ends(display.line_)
    assert len([line for line in display.ax_.lines if line.get_gid() == "constant"]) == 1


def test_a_front_is_one_envelope_of_its_trees(model: ParetoTreeClassifier, cases: Any) -> None:
    X, y = cases
    front = model.front_
    assert len(front) > 2
    curves = [cost_curve(y, model.choose(i).predict(X)) for i in range(len(front))]
    display = CostCurveDisplay.from_estimator(model, X, y)
    assert display.curves == curves == model_cost_curves(model, X, y, kind="front")
    assert len(display.single_lines_.get_segments()) == len(front)
    at = np.linspace(0, 1, 101)
    drawn = np.interp(at, *display.line_.get_xydata().T)
    np.testing.assert_allclose(drawn, np.min([curve(at) for curve in curves], axis=0), atol=1e-12)


@pytest.mark.parametrize("learner", [LogisticRegression(), LinearSVC()], ids=str)
@pytest.mark.parametrize("labels", [(0, 1), ("no", "yes")])
@pytest.mark.parametrize("first", [False, True])
def test_thresholds_fit_each_operating_point(learner: Any, labels: Any, first: bool) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2))
    y = np.array(labels)[(X[:, 0] + rng.normal(size=120) > 0.7).astype(int)]
    learner.fit(X, y)
    positive = labels[0] if first else labels[1]
    curves = model_cost_curves(learner, X, y, kind="thresholds", pos_label=positive if first else None)
    score = learner.decision_function(X) * (-1 if first else 1)
    same = threshold_cost_curves(y, score, pos_label=positive)
    assert [(c.false_negative_rate, c.false_positive_rate) for c in curves] == [
        (c.false_negative_rate, c.false_positive_rate) for c in same
    ]
    display = CostCurveDisplay.from_predictions(y, score, kind="thresholds", pos_label=positive)
    assert display.area_ == pytest.approx(lower_envelope(curves).area)


def test_several_models_share_axes(model: ParetoTreeClassifier, cases: Any) -> None:
    X, y = cases
    figure = cost_curve_figure(
        {"front": model, "tree": model}, X, y, kind={"tree": "answers"}, operating_point=0.3
    )
    (ax,) = figure.axes
    names = [text.get_text().split(" (")[0] for text in ax.get_legend().get_texts()]
    assert names == ["front", "tree"]
    (mark,) = [line for line in ax.lines if list(line.get_xdata()) == [0.3, 0.3]]
    assert mark.get_ydata() is not None
    drawn = [line for line in ax.lines if line.get_label().startswith(("front", "tree"))]
    assert all(line.get_ydata().max() <= ax.get_ylim()[1] for line in drawn)
    at = 0.3
    cost = normalized_expected_cost(
        y, model.predict(X), [[0, at], [1 - at, 0]], positive_prior=0.5, labels=model.classes_.tolist()
    )
    (tree,) = [line for line in drawn if line.get_label().startswith("tree")]
    assert np.interp(1 - at, *tree.get_xydata().T) == pytest.approx(cost)
    (alone,) = cost_curve_figure(model, X, y).axes
    assert alone.get_legend().get_texts()[0].get_text().startswith("ParetoTreeClassifier (area")


def test_one_class_against_the_others() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 2))
    y = np.repeat(["a", "b", "c"], 30)
    learner = LogisticRegression().fit(X, y)
    (curve,) = model_cost_curves(learner, X, y, pos_label="b")
    assert curve == cost_curve(y, learner.predict(X), pos_label="b")
    assert len(model_cost_curves(learner, X, y, kind="thresholds", pos_label="b")) == 91


def test_figures_are_written_by_their_suffix(model: ParetoTreeClassifier, cases: Any, tmp_path: Path) -> None:
    for name, start in (("curve.svg", b"<?xml"), ("curve.png", b"\x89PNG"), ("curve.PDF", b"%PDF")):
        assert save_figure(cost_curve_figure(model, *cases), tmp_path / name).read_bytes().startswith(start)
    with pytest.raises(ValueError, match=r"'curve.docx' does not say a format .* \.png"):
        save_figure(cost_curve_figure(model, *cases), "curve.docx")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["curve.PDF", "curve.png", "curve.svg"]


def test_what_cannot_be_drawn_is_said(model: ParetoTreeClassifier, cases: Any) -> None:
    X, y = cases
    learner = LogisticRegression().fit([[0.0], [1.0], [2.0]], ["a", "b", "c"])
    for wrong, message in (
        (lambda: cost_curve_figure({}, X, y), "the mapping is empty"),
        (lambda: cost_curve_figure(model, X, y, operating_point=2), "operating_point is 2"),
        (lambda: cost_curve_figure(model, X, y, kind="all"), "kind is 'all'; choose one of 'auto'"),
        (lambda: cost_curve_figure({"a": model}, X, y, kind={"b": "front"}), "kind names 'b'"),
        (lambda: CostCurveDisplay.from_predictions(y, y, kind="front"), "choose 'answers' or 'thresholds'"),
        (lambda: CostCurveDisplay([CostCurve(float("nan"), 0.1)]), "the cases lack a class"),
        (lambda: model_cost_curves(learner, [[1.0]], ["a"], kind="thresholds"), "pos_label"),
        (lambda: model_cost_curves(learner, [[1.0]], ["a"], kind="thresholds", pos_label="d"), "not among"),
    ):
        with pytest.raises(ValueError, match=message):
            wrong()
    one = [k for k, label in enumerate(y) if label == y[0]]
    with pytest.raises(ValueError, match="the cases lack a class"):
        model_cost_curves(model, X.iloc[one], np.asarray(y)[one])
    with pytest.raises(NotFittedError, match="LogisticRegression has no front_"):
        model_cost_curves(learner, [[1.0]], ["a"], kind="front")
