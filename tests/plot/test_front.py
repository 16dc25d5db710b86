"""The scatter of a front."""

from __future__ import annotations

import json

import numpy as np
import pytest

from cstree.plot.data import front_data
from cstree.plot.front import axis_ranges, front_figure
from cstree.tree.front_evaluator import FrontEvaluator
from tests.handmade import CLINIC_TREES, HandModel, clinic, make_model

pytest.importorskip("plotly", reason="the scatter needs the extra `plot`")


@pytest.fixture(scope="module")
def model() -> HandModel:
    return make_model(*clinic(300, seed=3), CLINIC_TREES)


def test_points_are_those_of_the_front(model: HandModel) -> None:
    front = model.front_
    assert front is not None
    figure = front_figure(model)
    stairs, iso, points, mark = figure.data
    assert list(points.y) == front.objectives[:, 0].tolist()
    assert list(points.x) == front.objectives[:, 1].tolist()
    assert list(stairs.x) == sorted(points.x)
    chosen = front.trees.index(model.tree_)
    assert (mark.x[0], mark.y[0]) == (points.x[chosen], points.y[chosen])
    totals = np.array(iso.x) + np.array(iso.y)
    assert totals == pytest.approx(front.objectives[chosen].sum())
    assert "EUR" in figure.layout.xaxis.title.text
    for text, tree in zip(points.text, front, strict=True):
        assert f"{tree.n_leaves} lea" in text
        assert ("uses no test" in text) == (tree.n_leaves == 1)


def test_another_point_may_be_marked(model: HandModel) -> None:
    front = model.front_
    assert front is not None
    mark = front_figure(model, selected=0).data[3]
    assert (mark.y[0], mark.x[0]) == tuple(front.objectives[0])
    with pytest.raises(ValueError, match="point 99 is not on the front"):
        front_figure(model, selected=99)


def test_numbers_are_plain_in_json(model: HandModel) -> None:
    plain = json.loads(front_figure(model).to_json())
    assert all(isinstance(trace["x"], list) for trace in plain["data"])


def test_ranges_hold_all_points_and_never_collapse(model: HandModel) -> None:
    data = front_data(model)
    for (low, high), values in zip(
        axis_ranges(data), (data.test_cost, data.misclassification_cost), strict=True
    ):
        assert low < values.min() <= values.max() < high
    single = front_data(HandModel(model.front_[-1], model.schema_, model.costs_, model.classes_))  # type: ignore[index]
    for low, high in axis_ranges(single):
        assert low < high


def test_points_on_other_cases_stand_beside_those_of_training(model: HandModel) -> None:
    assert model.front_ is not None
    front = model.front_.attach(FrontEvaluator(model.schema_, model.costs_))
    X, y, _ = clinic(80, seed=8)
    found = front.evaluate(X, y)
    figure = front_figure(model, evaluation=found)
    beaten, new, way = figure.data[4:]
    assert sorted([*beaten.y, *new.y]) == pytest.approx(sorted(found.objectives[:, 0]))
    kept = found.survives
    assert list(new.x) == pytest.approx(found.objectives[kept, 1].tolist())
    assert list(new.error_y.array) == pytest.approx(found.standard_errors[kept, 0].tolist())
    assert list(new.error_x.array) == pytest.approx(found.standard_errors[kept, 1].tolist())
    assert new.error_y.visible
    assert not beaten.error_y.visible
    chosen = front.trees.index(model.tree_)
    assert (way.x[1], way.y[1]) == pytest.approx(found.objectives[chosen, ::-1].tolist())
    assert "80 new cases" in new.text[0]
    low, high = figure.layout.yaxis.range
    assert low < (found.objectives - found.standard_errors)[:, 0].min()
    assert high > (found.objectives + found.standard_errors)[:, 0].max()


def test_an_evaluation_of_another_front_is_refused(model: HandModel) -> None:
    other = make_model(*clinic(300, seed=4), CLINIC_TREES)
    X, y, _ = clinic(20, seed=8)
    assert other.front_ is not None
    found = other.front_.attach(FrontEvaluator(other.schema_, other.costs_)).evaluate(X, y)
    with pytest.raises(ValueError, match="of another front"):
        front_figure(model, evaluation=found)
