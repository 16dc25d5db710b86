"""Cost curves: what classifiers cost at every operating point, drawn; needs matplotlib."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError

from cstree._io import replacing
from cstree.metrics.curve import CostCurve, cost_curve, threshold_cost_curves
from cstree.metrics.envelope import LowerEnvelope, lower_envelope
from cstree.tree.evaluation import leaves_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["CostCurveDisplay", "cost_curve_figure", "model_cost_curves", "save_figure"]

KINDS = ("auto", "answers", "thresholds", "front")
_GREY = "#7b8794"


def model_cost_curves(
    model: Any, X: Any, y: Any, *, kind: str = "auto", pos_label: Any = None, sample_weight: Any = None
) -> list[CostCurve]:
    """Return the cost curves of a fitted classifier on some cases; no drawing library is needed.

    Parameters
    ----------
    model : fitted classifier
        With a ``front_`` it has a curve for each tree.
    X : DataFrame or array-like of shape (n_samples, n_features)
        Cases.
    y : array-like of shape (n_samples,)
        The truth.
    kind : {"auto", "answers", "thresholds", "front"}, default="auto"
        "answers": one curve, of what ``predict`` answers. "thresholds": one for each threshold on the
        probabilities (or scores). "front": one for each tree of ``front_``, in its order. "auto": those of
        the front, if there is one, else the answers'.
    pos_label : label, optional
        The positive class; all others are negative. By default the second of two.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the cases.

    Returns
    -------
    list of CostCurve
        Their :func:`~cstree.metrics.lower_envelope` is what the best of them costs at each operating point.

    Raises
    ------
    ValueError
        There are not two classes and ``pos_label`` is not given, the cases lack a class, or an unknown kind.
    NotFittedError
        There is no front.
    """
    if kind not in KINDS:
        raise ValueError(f"kind is {kind!r}; choose one of {', '.join(map(repr, KINDS))}")
    if kind == "auto":
        kind = "front" if getattr(model, "front_", None) is not None else "answers"
    known = getattr(model, "classes_", None)
    labels = None if known is None or len(known) != 2 else known
    options = {"pos_label": pos_label, "labels": labels, "sample_weight": sample_weight}
    if kind == "answers":
        curves = [cost_curve(y, model.predict(X), **options)]
    elif kind == "thresholds":
        curves = threshold_cost_curves(y, _scores(model, X, pos_label), **options)
    else:
        curves = [cost_curve(y, answers, **options) for answers in _answers_of_front(model, X)]
    return _known(curves)


def _answers_of_front(model: Any, X: Any) -> list[NDArray[Any]]:
    """Labels that each tree of a front answers."""
    if getattr(model, "front_", None) is None:
        raise NotFittedError(f"this {type(model).__name__} has no front_: fit a ParetoTreeClassifier")
    columns = model._prediction_columns(X)
    classes = model.classes_
    return [classes[tree.answer[leaves_of(tree, model.schema_, columns)]] for tree in model.front_]


def _scores(model: Any, X: Any, pos_label: Any) -> NDArray[np.float64]:
    """Probability or score of the positive class."""
    classes = np.asarray(model.classes_).tolist()
    if pos_label is None and len(classes) != 2:
        raise ValueError(
            f"there should be two classes, but there are {len(classes)}: name the one that matters with "
            "pos_label"
        )
    if pos_label is not None and pos_label not in classes:
        raise ValueError(f"pos_label {pos_label!r} is not among the classes of the model: {classes}")
    positive = 1 if pos_label is None else classes.index(pos_label)
    if hasattr(model, "predict_proba"):
        return np.asarray(model.predict_proba(X)[:, positive])
    if not hasattr(model, "decision_function"):
        raise TypeError(
            f"{type(model).__name__} has neither predict_proba nor decision_function, so no thresholds: "
            "use kind='answers'"
        )
    score = np.asarray(model.decision_function(X))
    return score[:, positive] if score.ndim == 2 else score if positive else -score


def _known(curves: Sequence[CostCurve]) -> list[CostCurve]:
    """Refuse curves without a slope."""
    for curve in curves:
        if not np.isfinite([curve.false_negative_rate, curve.false_positive_rate]).all():
            raise ValueError(
                "the cases lack a class, so that the rate of its mistakes is unknown: take cases of both"
            )
    return list(curves)


class CostCurveDisplay:
    """Cost curve of one classifier, as scikit-learn's displays have it.

    Make it with :meth:`from_estimator` or :meth:`from_predictions`. Several may share axes: give the second
    the ``ax_`` of the first.

    Parameters
    ----------
    curves : sequence of CostCurve
        One is drawn as the straight line that it is; of several (thresholds, a front) the lower envelope,
        with the lines themselves thin behind it.
    name : str, optional
        Name of the classifier in the legend.

    Attributes
    ----------
    envelope_ : LowerEnvelope
        Of the curves and the two constant answers.
    area_ : float
        Area below it: 0 is perfect, 0.25 what constant answers reach.
    line_ : matplotlib Line2D
    single_lines_ : matplotlib LineCollection or None
        The thin lines.
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from cstree.metrics import CostCurve
    >>> display = CostCurveDisplay([CostCurve(0.2, 0.1)], name="tree").plot()
    >>> display.line_.get_xydata().tolist(), round(display.area_, 4)
    ([[0.0, 0.1], [1.0, 0.2]], 0.1263)
    """

    def __init__(self, curves: Sequence[CostCurve], *, name: str | None = None) -> None:
        self.curves = _known(curves)
        self.name = name
        self.envelope_: LowerEnvelope = lower_envelope(self.curves)
        self.area_ = self.envelope_.area

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        kind: str = "auto",
        pos_label: Any = None,
        sample_weight: Any = None,
        name: str | None = None,
        ax: Axes | None = None,
        **line_kw: Any,
    ) -> CostCurveDisplay:
        """Plot a fitted classifier on some cases.

        Parameters
        ----------
        estimator : fitted classifier
            With a ``front_`` its trees are drawn as one envelope.
        X : DataFrame or array-like of shape (n_samples, n_features)
            Cases.
        y : array-like of shape (n_samples,)
            The truth.
        kind : {"auto", "answers", "thresholds", "front"}, default="auto"
            As in :func:`model_cost_curves`.
        pos_label : label, optional
            The positive class; by default the second of two.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the cases.
        name : str, optional
            Name in the legend; by default the estimator's class.
        ax : matplotlib Axes, optional
            Where to plot; by default a new figure.
        **line_kw : dict
            Passed on to matplotlib's ``plot``.

        Returns
        -------
        CostCurveDisplay
        """
        curves = model_cost_curves(
            estimator, X, y, kind=kind, pos_label=pos_label, sample_weight=sample_weight
        )
        return cls(curves, name=type(estimator).__name__ if name is None else name).plot(ax=ax, **line_kw)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_pred: Any,
        *,
        kind: str = "answers",
        pos_label: Any = None,
        labels: Any = None,
        sample_weight: Any = None,
        name: str | None = None,
        ax: Axes | None = None,
        **line_kw: Any,
    ) -> CostCurveDisplay:
        """Plot answers or scores.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            The truth.
        y_pred : array-like of shape (n_samples,)
            Answers; or, with ``kind="thresholds"``, scores of the positive class.
        kind : {"answers", "thresholds"}, default="answers"
            What ``y_pred`` is.
        pos_label, labels, sample_weight
            As in :func:`~cstree.metrics.cost_curve`.
        name : str, optional
            Name in the legend.
        ax : matplotlib Axes, optional
            Where to plot; by default a new figure.
        **line_kw : dict
            Passed on to matplotlib's ``plot``.

        Returns
        -------
        CostCurveDisplay
        """
        options = {"pos_label": pos_label, "labels": labels, "sample_weight": sample_weight}
        if kind == "thresholds":
            curves = threshold_cost_curves(y_true, y_pred, **options)
        elif kind == "answers":
            curves = [cost_curve(y_true, y_pred, **options)]
        else:
            raise ValueError(f"kind is {kind!r}; choose 'answers' or 'thresholds'")
        return cls(curves, name=name).plot(ax=ax, **line_kw)

    def plot(
        self, *, ax: Axes | None = None, constant_answers: bool = True, **line_kw: Any
    ) -> CostCurveDisplay:
        """Plot the curve.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to plot; by default a new figure.
        constant_answers : bool, default=True
            Also draw, once per axes, what answering always negative or always positive costs.
        **line_kw : dict
            Passed on to matplotlib's ``plot``.

        Returns
        -------
        CostCurveDisplay
            Itself, with ``line_``, ``single_lines_``, ``ax_`` and ``figure_``.

        Raises
        ------
        ImportError
            matplotlib is not installed.
        """
        if ax is None:
            _, ax = _pyplot().subplots(layout="constrained")
        if constant_answers and not any(line.get_gid() == "constant" for line in ax.lines):
            ax.plot(
                [0, 0.5, 1], [0, 0.5, 0], color=_GREY, linestyle=":", linewidth=1.2, gid="constant", zorder=1
            )
        below = lower_envelope(self.curves, trivial=False)
        label = f"area {self.area_:.3f}" if self.name is None else f"{self.name} (area {self.area_:.3f})"
        options = {"label": label, **line_kw}
        self.line_: Any = ax.plot(below.probability_cost, below.normalized_expected_cost, **options)[0]
        self.single_lines_: Any = self._thin_lines(ax) if len(self.curves) > 1 else None
        ax.set(xlim=(0, 1), ylim=(0, 1.05 * max(ax.dataLim.y1, 0.1)))  # the thin lines may leave the frame
        ax.set(xlabel="probability cost", ylabel="normalised expected cost")
        ax.grid(alpha=0.25, linewidth=0.6)
        ax.spines[["top", "right"]].set_visible(False)
        ax.legend(frameon=False)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _thin_lines(self, ax: Axes) -> Any:
        """Draw all curves behind their envelope."""
        from matplotlib.collections import LineCollection

        ends = [[(0, c.false_positive_rate), (1, c.false_negative_rate)] for c in self.curves]
        alpha = min(0.5, max(0.03, 3 / len(ends)))
        lines = LineCollection(ends, colors=[self.line_.get_color()], linewidths=0.6, alpha=alpha, zorder=1)
        return ax.add_collection(lines, autolim=False)


def cost_curve_figure(
    models: Any,
    X: Any,
    y: Any,
    *,
    kind: str | Mapping[str, str] = "auto",
    operating_point: float | None = None,
    pos_label: Any = None,
    sample_weight: Any = None,
) -> Figure:
    """Plot what classifiers cost at every operating point, on one set of axes; needs matplotlib.

    Parameters
    ----------
    models : fitted classifier, or mapping of name to such
        Those with a ``front_`` are drawn as one envelope each.
    X : DataFrame or array-like of shape (n_samples, n_features)
        Cases that the models have not seen.
    y : array-like of shape (n_samples,)
        The truth.
    kind : str or mapping of name to str, default="auto"
        "auto", "answers", "thresholds" or "front", as in :func:`model_cost_curves`; for all, or by name
        ("auto" for those that are not named).
    operating_point : float, optional
        Where your costs and class frequencies are, see :func:`~cstree.metrics.probability_cost`: marked by
        a line.
    pos_label : label, optional
        The positive class; by default the second of two.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the cases.

    Returns
    -------
    matplotlib.figure.Figure
        A line for each model; grey and dotted what constant answers cost.

    Raises
    ------
    ImportError
        matplotlib is not installed.
    ValueError
        No model, an operating point outside 0 to 1, or as :func:`model_cost_curves`.
    """
    named = models if isinstance(models, Mapping) else {type(models).__name__: models}
    if not named:
        raise ValueError("there is no model to plot: the mapping is empty")
    if operating_point is not None and not 0 <= operating_point <= 1:
        raise ValueError(f"operating_point is {operating_point!r}: it lies between 0 and 1")
    kinds = kind if isinstance(kind, Mapping) else dict.fromkeys(named, kind)
    for name in kinds:
        if name not in named:
            raise ValueError(
                f"kind names {name!r}, which is none of the models: {', '.join(map(repr, named))}"
            )
    displays = [
        CostCurveDisplay(
            model_cost_curves(
                model, X, y, kind=kinds.get(name, "auto"), pos_label=pos_label, sample_weight=sample_weight
            ),
            name=str(name),
        )
        for name, model in named.items()
    ]
    figure, ax = _pyplot().subplots(layout="constrained")
    for display in displays:
        display.plot(ax=ax)
    if operating_point is not None:
        ax.axvline(operating_point, color=_GREY, linewidth=1.0, zorder=0)
        ax.annotate(
            f"{operating_point:.2f}",
            (operating_point, 1),
            xycoords=("data", "axes fraction"),
            xytext=(3, -2),
            textcoords="offset points",
            va="top",
            color=_GREY,
            fontsize="small",
        )
    return figure


def save_figure(figure: Figure, path: str | os.PathLike[str]) -> Path:
    """Write a figure to a file, whole or not at all, and close it.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        What :func:`cost_curve_figure` returned.
    path : str or path
        The suffix says the format: .svg, .png, .pdf, ...

    Returns
    -------
    Path
        The file.

    Raises
    ------
    ValueError
        The suffix says no format that can be written.
    """
    target = Path(path)
    formats = figure.canvas.get_supported_filetypes()
    if target.suffix[1:].lower() not in formats:
        known = ", ".join(f".{name}" for name in sorted(formats))
        raise ValueError(f"{str(path)!r} does not say a format that can be written; the suffixes are {known}")
    with replacing(target) as temporary:
        figure.savefig(temporary)
    _pyplot().close(figure)
    return target


def _pyplot() -> Any:
    """Return ``matplotlib.pyplot``, or say how to get it."""
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError(
            "matplotlib, which draws cost curves, is not installed: run `pip install matplotlib` or "
            "`pip install cstree[plot]`"
        ) from error
    return pyplot
