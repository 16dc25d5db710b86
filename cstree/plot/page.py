"""One HTML file in which a front is explored: click a point, see its tree, its rules, what it buys."""

from __future__ import annotations

import html
import json
import os
import re
from importlib import resources
from pathlib import Path
from typing import Any

from cstree._io import write_text
from cstree.plot.data import front_data, page_data
from cstree.plot.front import draw_front, import_plotly

__all__ = ["explore_front", "page_text"]


def explore_front(
    model: Any,
    path: str | os.PathLike[str],
    *,
    title: str = "What mistakes and tests cost",
    decimals: int | None = None,
) -> Path:
    """Write a page on which the front of a fitted model is explored; needs plotly.

    The file is complete in itself: opening it loads nothing from the network. ``page.html#point=3`` opens it
    with a point selected.

    Parameters
    ----------
    model : fitted classifier with a tree
        One without a front gives a page with a single point.
    path : str or path
        The file to make or to replace.
    title : str, optional
        Headline of the page.
    decimals : int, optional
        Decimals of costs; by default 2, and more where mistakes cost less than 10.

    Returns
    -------
    Path
        The file that was written.

    Raises
    ------
    ImportError
        plotly is not installed.
    """
    text = page_text(model, title=title, decimals=decimals)
    write_text(path, text)
    return Path(path)


def page_text(model: Any, *, title: str = "What mistakes and tests cost", decimals: int | None = None) -> str:
    """Return the page of :func:`explore_front` as text.

    Parameters
    ----------
    model : fitted classifier with a tree
    title : str, optional
    decimals : int, optional

    Returns
    -------
    str
    """
    import_plotly()
    from plotly.offline import get_plotlyjs

    data = front_data(model)
    figure = draw_front(data, data.selected, decimals)
    shown = page_data(model, title=title, decimals=decimals)
    shown["figure"] = json.loads(figure.to_json())
    parts = {
        "title": html.escape(title),
        "style": _template("page.css"),
        "data": _inline_json(shown),
        "plotly": get_plotlyjs(),
        "script": _template("page.js"),
    }
    # One pass: what a part holds is never taken for a place to fill.
    return re.sub(r"@(\w+)@", lambda found: parts[found[1]], _template("page.html"))


def _template(name: str) -> str:
    return resources.files("cstree.plot").joinpath("templates", name).read_text(encoding="utf-8")


def _inline_json(values: dict[str, Any]) -> str:
    """Return JSON that cannot end the element it stands in: no tag can begin in it."""
    text = json.dumps(values, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
