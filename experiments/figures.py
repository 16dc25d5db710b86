"""Small figures for the pages of studies: panels of lines with one legend, the same bytes every time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cstree._io import write_text
from experiments.kinds import Pages

__all__ = ["Panel", "draw"]

# Told apart by colour and by dashes (colours of Okabe and Ito).
COLOURS = ("#0072B2", "#D55E00", "#999999", "#009E73", "#CC79A7", "#000000", "#56B4E9", "#E69F00")
DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), "-", (0, (1, 1)), "-.", (0, (3, 1, 1, 1)), "--", ":")

Line = tuple[Sequence[float], Sequence[float]]


@dataclass(frozen=True)
class Panel:
    """One set of axes.

    Attributes
    ----------
    title, x, y : str
    lines : mapping of str to (x values, y values)
        By name; lines of one name look alike in all panels.
    thin : sequence of (x values, y values)
        Drawn thinly behind them.
    top : float or None
        Upper end of the y axis, which begins at 0.
    logarithmic : bool
        Both axes are.
    """

    title: str
    x: str
    y: str
    lines: Mapping[str, Line]
    thin: Sequence[Line] = ()
    top: float | None = None
    logarithmic: bool = False


def draw(pages: Pages, name: str, panels: Sequence[Panel], *, columns: int) -> None:
    """Draw panels row by row into ``name.svg`` of the figures' folder.

    Parameters
    ----------
    pages : Pages
        With a folder for figures.
    name : str
    panels : sequence of Panel
    columns : int
    """
    import matplotlib as mpl
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    assert pages.figures is not None
    columns = min(columns, len(panels))
    rows = -(-len(panels) // columns)
    names = list(dict.fromkeys(key for panel in panels for key in panel.lines))
    legend_rows = -(-len(names) // (2 if columns == 1 else 3))
    height = 2.4 * rows + 0.25 * legend_rows + 0.2
    with mpl.rc_context({"svg.hashsalt": name, "svg.fonttype": "none", "font.size": 8}):
        figure = Figure(figsize=(max(min(3.6, 10.4 / columns) * columns, 4.6), height), layout="constrained")
        canvas = FigureCanvasSVG(figure)
        for place, panel in enumerate(panels):
            _fill(figure.add_subplot(rows, columns, place + 1), panel, names)
        handles = {h.get_label(): h for ax in figure.axes for h in ax.get_lines()}
        shown = [handles[key] for key in names]
        figure.legend(shown, names, loc="outside lower center", ncols=2 if columns == 1 else 3, frameon=False)
        pages.figures.mkdir(parents=True, exist_ok=True)
        write_text(pages.figures / f"{name}.svg", _svg(canvas))


def _svg(canvas: Any) -> str:
    from io import StringIO

    buffer = StringIO()
    canvas.print_svg(buffer, metadata={"Date": None, "Creator": None})
    return "\n".join(line.rstrip() for line in buffer.getvalue().splitlines()) + "\n"


def _fill(ax: Any, panel: Panel, names: Sequence[str]) -> None:
    for x, y in panel.thin:
        ax.plot(x, y, color="#bbbbbb", linewidth=0.5, label="_thin")
    for key, (x, y) in panel.lines.items():
        style = names.index(key) % len(COLOURS)
        ax.plot(x, y, color=COLOURS[style], linestyle=DASHES[style], linewidth=1.3, label=key)
    if panel.logarithmic:
        ax.set_xscale("log")
        ax.set_yscale("log")
    else:
        ax.set_ylim(0, panel.top)
    ax.set_title(panel.title)
    ax.set_xlabel(panel.x)
    ax.set_ylabel(panel.y)
    ax.grid(color="#e5e5e5", linewidth=0.5)
    ax.set_axisbelow(True)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
