"""The front as a scatter: misclassification cost against test cost."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

import numpy as np

from cstree.pareto.evaluation import FrontEvaluation
from cstree.pareto.selection import MISCLASSIFICATION_COST, TEST_COST
from cstree.plot.data import FrontData, front_data
from cstree.tree.words import cost_decimals, shown_cost, shown_name

if TYPE_CHECKING:
    import plotly.graph_objects as go

__all__ = ["axis_ranges", "front_figure", "import_plotly"]

ACCENT = "#0072B2"
NEW = "#009E73"
_NAMES_SHOWN = 6


def front_figure(
    model: Any,
    *,
    selected: int | None = None,
    decimals: int | None = None,
    evaluation: FrontEvaluation | None = None,
) -> go.Figure:
    """Plot the front of a fitted model; needs plotly.

    Parameters
    ----------
    model : fitted classifier with a tree
        One without a front is shown as a single point.
    selected : int, optional
        Point that is marked, with the line of equal total cost through it; by default that of ``tree_``.
    decimals : int, optional
        Decimals of costs; by default 2, and more where mistakes cost less than 10.
    evaluation : FrontEvaluation, optional
        What ``model.front_.evaluate(X, y)`` gave: the points on those cases stand beside those of training.

    Returns
    -------
    plotly.graph_objects.Figure
        Traces: the staircase below which no tree was found, the line of equal total cost, the points (in the
        order of the front), the mark of the selected one. With an evaluation: the points that survive, with
        bars of one standard error; the others; and the way of the selected one.

    Raises
    ------
    ImportError
        plotly is not installed.
    ValueError
        There is no such point, or the evaluation is that of another front, or not of both costs.
    """
    data = front_data(model)
    chosen = data.selected if selected is None else selected
    if not 0 <= chosen < len(data.trees):
        raise ValueError(f"point {chosen} is not on the front, whose points are 0 to {len(data.trees) - 1}")
    figure = draw_front(data, chosen, decimals)
    if evaluation is not None:
        _add_evaluation(figure, data, evaluation, chosen, cost_decimals(data.costs, decimals))
    return figure


def draw_front(data: FrontData, selected: int, decimals: int | None = None) -> go.Figure:
    """Draw gathered data; see :func:`front_figure`."""
    go = import_plotly()
    decimals = cost_decimals(data.costs, decimals)
    x, y = data.test_cost.tolist(), data.misclassification_cost.tolist()
    rising = np.argsort(data.test_cost, kind="stable").tolist()
    across, along = axis_ranges(data)
    total = x[selected] + y[selected]
    unit = f" ({html.escape(shown_name(data.costs.unit))})" if data.costs.unit else ""
    figure = go.Figure(
        [
            go.Scatter(
                x=[x[i] for i in rising],
                y=[y[i] for i in rising],
                mode="lines",
                line={"shape": "hv", "width": 1.5, "color": ACCENT},
                opacity=0.45,
                hoverinfo="skip",
                name="front",
            ),
            go.Scatter(
                x=across,
                y=[total - bound for bound in across],
                mode="lines",
                line={"width": 1.2, "dash": "dot", "color": "#7b8794"},
                hoverinfo="skip",
                name="same total cost",
            ),
            go.Scatter(
                x=x,
                y=y,
                mode="markers",
                marker={"size": 9, "color": ACCENT, "line": {"width": 1, "color": "#ffffff"}},
                text=[_hover(data, i, decimals) for i in range(len(x))],
                hovertemplate="%{text}<extra></extra>",
                name="trees",
            ),
            go.Scatter(
                x=[x[selected]],
                y=[y[selected]],
                mode="markers",
                marker={"size": 17, "color": "rgba(0,0,0,0)", "line": {"width": 3, "color": "#D55E00"}},
                hoverinfo="skip",
                name="selected",
            ),
        ]
    )
    figure.update_layout(
        template="none",
        showlegend=False,
        hovermode="closest",
        margin={"l": 64, "r": 16, "t": 16, "b": 52},
        xaxis={"title": {"text": f"test cost per case{unit}"}, "range": across, "zeroline": False},
        yaxis={
            "title": {"text": f"misclassification cost per case{unit}"},
            "range": along,
            "zeroline": False,
        },
    )
    return figure


def _add_evaluation(
    figure: go.Figure, data: FrontData, evaluation: FrontEvaluation, selected: int, decimals: int
) -> None:
    """Add the points of a front on other cases; those of training fade."""
    go = import_plotly()
    if len(evaluation) != len(data.trees) or any(
        mine is not other and not mine.same_as(other)
        for mine, other in zip(data.trees, evaluation, strict=True)
    ):
        raise ValueError("the evaluation is that of another front: give model.front_.evaluate(X, y)")
    names = evaluation.objective_names
    if not {MISCLASSIFICATION_COST, TEST_COST} <= set(names):
        raise ValueError(f"the evaluation must have both costs to be drawn; it has {', '.join(names)}")
    columns = [names.index(TEST_COST), names.index(MISCLASSIFICATION_COST)]
    points, errors = evaluation.objectives[:, columns], np.nan_to_num(evaluation.standard_errors[:, columns])
    texts = [_hover_new(evaluation, i, points[i], errors[i], decimals) for i in range(len(points))]
    figure.data[2].update(opacity=0.35, name="training cases")
    figure.data[0].update(name="training cases, staircase", showlegend=False)
    figure.data[1].showlegend = figure.data[3].showlegend = False
    for survives, name, color in ((False, "new cases, beaten", "#9aa5b1"), (True, "new cases", NEW)):
        kept = np.flatnonzero(evaluation.survives == survives)
        bars = {"thickness": 1, "width": 0, "color": NEW, "visible": survives}
        figure.add_trace(
            go.Scatter(
                x=points[kept, 0].tolist(),
                y=points[kept, 1].tolist(),
                mode="markers",
                marker={
                    "size": 9 if survives else 6,
                    "symbol": "diamond" if survives else "diamond-open",
                    "color": color,
                },
                error_x={"array": errors[kept, 0].tolist(), **bars},
                error_y={"array": errors[kept, 1].tolist(), **bars},
                text=[texts[i] for i in kept],
                hovertemplate="%{text}<extra></extra>",
                name=name,
            )
        )
    old = (float(data.test_cost[selected]), float(data.misclassification_cost[selected]))
    figure.add_trace(
        go.Scatter(
            x=[old[0], float(points[selected, 0])],
            y=[old[1], float(points[selected, 1])],
            mode="lines",
            line={"width": 1.5, "color": "#D55E00"},
            hoverinfo="skip",
            name="the chosen tree",
        )
    )
    across, along = axis_ranges(data, points, errors)
    total = sum(old)
    figure.data[1].update(x=across, y=[total - bound for bound in across])
    figure.update_layout(
        showlegend=True,
        legend={
            "x": 0.99,
            "y": 0.99,
            "xanchor": "right",
            "yanchor": "top",
            "bgcolor": "rgba(255,255,255,0.7)",
        },
        xaxis_range=across,
        yaxis_range=along,
    )


def _hover_new(evaluation: FrontEvaluation, index: int, point: Any, error: Any, decimals: int) -> str:
    """Text of a point on other cases."""
    lines = [f"<b>point {index}</b> on {evaluation.n_samples} new cases"]
    for what, value, spread in (
        ("misclassification", point[1], error[1]),
        ("tests", point[0], error[0]),
        ("total", evaluation.total_cost[index], np.nan_to_num(evaluation.total_cost_error[index])),
    ):
        lines.append(f"{what} {shown_cost(float(value), decimals)} ± {shown_cost(float(spread), decimals)}")
    return "<br>".join(lines if evaluation.survives[index] else [*lines, "beaten by another tree"])


def _axis(title: str, limits: list[float]) -> dict[str, Any]:
    return {"title": {"text": title, "standoff": 14}, "range": limits, "zeroline": False, "automargin": True}


def axis_ranges(data: FrontData, points: Any = None, errors: Any = None) -> tuple[list[float], list[float]]:
    """Ranges of both axes with room around the points, and around others with their errors."""
    ranges = []
    for axis, values in enumerate((data.test_cost, data.misclassification_cost)):
        if points is not None:
            ends = (points[:, axis] - errors[:, axis], points[:, axis] + errors[:, axis])
            values = np.concatenate([values, *ends])
        low, high = float(values.min()), float(values.max())
        room = 0.07 * (high - low) or 0.1 * abs(high) or 1.0
        ranges.append([low - room, high + room])
    return ranges[0], ranges[1]


def _hover(data: FrontData, index: int, decimals: int) -> str:
    """Text of a point; plotly reads tags in it, so names are escaped."""
    tree = data.trees[index]
    names = [shown_name(data.schema[j].name) for j in tree.used_features()]
    if len(names) > _NAMES_SHOWN:
        names = [*names[:_NAMES_SHOWN], f"{len(names) - _NAMES_SHOWN} more"]
    leaves = "1 leaf" if tree.n_leaves == 1 else f"{tree.n_leaves} leaves"
    return "<br>".join(
        [
            f"<b>point {index}</b>: {leaves}",
            f"misclassification {shown_cost(float(data.misclassification_cost[index]), decimals)}",
            f"tests {shown_cost(float(data.test_cost[index]), decimals)}",
            f"total {shown_cost(float(data.total_cost[index]), decimals)}",
            f"uses {html.escape(', '.join(names), quote=False)}" if names else "uses no test",
        ]
    )


def import_plotly() -> Any:
    """Return ``plotly.graph_objects``, or say how to get it."""
    try:
        import plotly.graph_objects as go
    except ImportError as error:
        raise ImportError(
            "plotly, which draws the front, is not installed: run `pip install plotly` or "
            "`pip install cstree[plot]`"
        ) from error
    return go
