"""The front as a scatter: misclassification cost against test cost."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

import numpy as np

from cstree.plot.data import FrontData, front_data
from cstree.tree.words import cost_decimals, shown_cost, shown_name

if TYPE_CHECKING:
    import plotly.graph_objects as go

__all__ = ["axis_ranges", "front_figure", "import_plotly"]

ACCENT = "#0072B2"
_NAMES_SHOWN = 6


def front_figure(model: Any, *, selected: int | None = None, decimals: int | None = None) -> go.Figure:
    """Plot the front of a fitted model; needs plotly.

    Parameters
    ----------
    model : fitted classifier with a tree
        One without a front is shown as a single point.
    selected : int, optional
        Point that is marked, with the line of equal total cost through it; by default that of ``tree_``.
    decimals : int, optional
        Decimals of costs; by default 2, and more where mistakes cost less than 10.

    Returns
    -------
    plotly.graph_objects.Figure
        Traces: the staircase below which no tree was found, the line of equal total cost, the points (in the
        order of the front), the mark of the selected one.

    Raises
    ------
    ImportError
        plotly is not installed.
    ValueError
        There is no such point.
    """
    data = front_data(model)
    chosen = data.selected if selected is None else selected
    if not 0 <= chosen < len(data.trees):
        raise ValueError(f"point {chosen} is not on the front, whose points are 0 to {len(data.trees) - 1}")
    return draw_front(data, chosen, decimals)


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


def _axis(title: str, limits: list[float]) -> dict[str, Any]:
    return {"title": {"text": title, "standoff": 14}, "range": limits, "zeroline": False, "automargin": True}


def axis_ranges(data: FrontData) -> tuple[list[float], list[float]]:
    """Ranges of both axes with room around the points."""
    ranges = []
    for values in (data.test_cost, data.misclassification_cost):
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
