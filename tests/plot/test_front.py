"""The scatter of a front."""

from __future__ import annotations

import json

import numpy as np
import pytest

from cstree.plot.data import front_data
from cstree.plot.front import axis_ranges, front_figure
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
