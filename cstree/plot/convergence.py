"""How a search got on: hypervolume and size of the front, against work or time; needs matplotlib."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd
from sklearn.exceptions import NotFittedError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["ConvergenceDisplay", "convergence_figure"]

_ACROSS = {
    "evaluations": "trees evaluated",
    "seconds": "seconds",
    "generation": "generation",
}
_ALONG = {
    "hypervolume": "hypervolume (share of the box)",
    "front_size": "trees on the front",
}


class ConvergenceDisplay:
    """Line of one search, as scikit-learn's displays have it.

    Make it with :meth:`from_estimator`.

    Parameters
    ----------
    history : DataFrame
        Reports of the search, such as ``history_`` of a fitted
        :class:`~cstree.evolution.classifier.ParetoTreeClassifier`.
    name : str, optional
        Name of the search in a legend.

    Attributes
    ----------
    line_ : matplotlib Line2D
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    """

    def __init__(self, history: pd.DataFrame, *, name: str | None = None) -> None:
        self.history = history
        self.name = name

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        x: str = "evaluations",
        y: str = "hypervolume",
        name: str | None = None,
        ax: Axes | None = None,
        **line_kw: Any,
    ) -> ConvergenceDisplay:
        """Plot the history of a fitted classifier.

        Parameters
        ----------
        estimator : fitted classifier with a ``history_``
            Whose search is shown.
        x : "evaluations", "seconds" or "generation"
            What it is plotted against.
        y : "hypervolume" or "front_size"
            What is plotted.
        name : str, optional
            Name in the legend.
        ax : matplotlib Axes, optional
            Where to plot; by default a new figure.
        **line_kw : dict
            Passed on to matplotlib's ``plot``.

        Returns
        -------
        ConvergenceDisplay
        """
        return cls(_history(estimator), name=name).plot(x=x, y=y, ax=ax, **line_kw)

    def plot(
        self, *, x: str = "evaluations", y: str = "hypervolume", ax: Axes | None = None, **line_kw: Any
    ) -> ConvergenceDisplay:
        """Plot the line.

        Parameters
        ----------
        x, y, ax, **line_kw
            As :meth:`from_estimator`.

        Returns
        -------
        ConvergenceDisplay
            Itself, with ``line_``, ``ax_`` and ``figure_``.

        Raises
        ------
        ImportError
            matplotlib is not installed.
        ValueError
            There is no such column.
        """
        for what, value, known in (("x", x, _ACROSS), ("y", y, _ALONG)):
            if value not in known:
                raise ValueError(f"{what} is {value!r}; choose one of {', '.join(map(repr, known))}")
        if ax is None:
            _, ax = _pyplot().subplots(layout="constrained")
        options = {"label": self.name, "drawstyle": "steps-post", **line_kw}
        self.line_: Any = ax.plot(self.history[x].to_numpy(), self.history[y].to_numpy(), **options)[0]
        ax.set_xlabel(_ACROSS[x])
        ax.set_ylabel(_ALONG[y])
        ax.grid(alpha=0.25, linewidth=0.6)
        ax.spines[["top", "right"]].set_visible(False)
        if self.name is not None:
            ax.legend(frameon=False)
        self.ax_, self.figure_ = ax, ax.figure
        return self


def convergence_figure(models: Any, *, x: str = "evaluations") -> Figure:
    """Plot how the front of a search grew, or those of several searches; needs matplotlib.

    Parameters
    ----------
    models : fitted classifier with a ``history_``, or mapping of name to such
        Whose searches are shown.
    x : "evaluations", "seconds" or "generation"
        What they are plotted against.

    Returns
    -------
    matplotlib.figure.Figure
        Hypervolume above, where a search reports it, and size of the front below.

    Raises
    ------
    ImportError
        matplotlib is not installed.
    NotFittedError
        A model has no history.
    ValueError
        ``x`` is no such column.
    """
    named = models if isinstance(models, Mapping) else {None: models}
    histories = {name: _history(model) for name, model in named.items()}
    if not histories:
        raise ValueError("there is no model to plot: the mapping is empty")
    shown = [y for y in _ALONG if any(history[y].notna().any() for history in histories.values())]
    rows = shown or ["front_size"]
    figure, axes = _pyplot().subplots(
        len(rows), 1, sharex=True, squeeze=False, layout="constrained", figsize=(6.4, 2.4 + 1.6 * len(rows))
    )
    for y, ax in zip(rows, axes[:, 0], strict=True):
        for name, history in histories.items():
            ConvergenceDisplay(history, name=name if ax is axes[0, 0] else None).plot(x=x, y=y, ax=ax)
        if ax is not axes[-1, 0]:
            ax.set_xlabel("")
    return figure


def _history(model: Any) -> pd.DataFrame:
    history = getattr(model, "history_", None)
    if not isinstance(history, pd.DataFrame):
        raise NotFittedError(
            f"this {type(model).__name__} has no history_: fit a ParetoTreeClassifier (models that were read "
            "from a file have none)"
        )
    return history


def _pyplot() -> Any:
    """Return ``matplotlib.pyplot``, or say how to get it."""
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError(
            "matplotlib, which draws the search, is not installed: run `pip install matplotlib` or "
            "`pip install cstree[plot]`"
        ) from error
    return pyplot
