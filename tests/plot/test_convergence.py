"""How a search got on, drawn."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from cstree import ParetoTreeClassifier
from cstree.datasets import load_heart
from cstree.plot import ConvergenceDisplay, convergence_figure

pyplot = pytest.importorskip("matplotlib.pyplot", reason="the lines need the extra `plot`")


@pytest.fixture(autouse=True)
def _close() -> Iterator[None]:
    yield
    pyplot.close("all")


def model(volumes: list[float], sizes: list[int]) -> Any:
    n = len(volumes)
    history = pd.DataFrame(
        {
            "generation": range(n),
            "evaluations": [100 * i for i in range(n)],
            "seconds": [0.1 * i for i in range(n)],
            "front_size": sizes,
            "hypervolume": volumes,
        }
    )
    return SimpleNamespace(history_=history)


def test_lines_are_those_of_the_history() -> None:
    heart = load_heart()
    fitted = ParetoTreeClassifier(heart.costs, generations=5, seeds=None, random_state=0)
    display = ConvergenceDisplay.from_estimator(
        fitted.fit(heart.data, heart.target), x="seconds", name="ours"
    )
    x, y = display.line_.get_data()
    assert x.tolist() == fitted.history_["seconds"].tolist()
    assert y.tolist() == fitted.history_["hypervolume"].tolist()
    assert display.figure_ is display.ax_.figure
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == ["ours"]
    assert "seconds" in display.ax_.get_xlabel()
    assert ConvergenceDisplay(fitted.history_).plot(ax=display.ax_, color="red").ax_ is display.ax_


def test_searches_are_shown_side_by_side() -> None:
    models = {"one": model([0.1, 0.5, 0.7], [1, 4, 3]), "two": model([0.2, 0.3], [2, 2])}
    figure = convergence_figure(models, x="generation")
    above, below = figure.axes
    assert [line.get_label() for line in above.lines] == ["one", "two"]
    assert below.lines[0].get_ydata().tolist() == [1, 4, 3]
    assert (above.get_xlabel(), below.get_xlabel()) == ("", "generation")
    assert above.get_legend() is not None
    assert below.get_legend() is None


def test_without_a_hypervolume_there_is_the_size_alone() -> None:
    (only,) = convergence_figure(model([np.nan, np.nan], [1, 2])).axes
    assert only.lines[0].get_ydata().tolist() == [1, 2]
    assert only.get_legend() is None
    (only,) = convergence_figure(model([], [])).axes
    assert len(only.lines[0].get_ydata()) == 0


def test_what_cannot_be_drawn_is_said() -> None:
    with pytest.raises(NotFittedError, match="has no history_: fit a ParetoTreeClassifier"):
        convergence_figure(ParetoTreeClassifier())
    with pytest.raises(ValueError, match="x is 'time'; choose one of 'evaluations'"):
        convergence_figure(model([0.1], [1]), x="time")
    with pytest.raises(ValueError, match="y is 'size'"):
        ConvergenceDisplay(model([0.1], [1]).history_).plot(y="size")
    with pytest.raises(ValueError, match="the mapping is empty"):
        convergence_figure({})
