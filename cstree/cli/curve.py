"""The command that compares models at every operating point."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from cstree.cli.tables import UsageError, read_table, require_columns
from cstree.metrics.curve import CostCurve, probability_cost
from cstree.metrics.envelope import LowerEnvelope, lower_envelope
from cstree.persistence import load_model
from cstree.plot.cost_curve import cost_curve_figure, model_cost_curves, save_figure

__all__ = ["curve"]


def curve(arguments: argparse.Namespace) -> int:
    """Print what models cost at every operating point on the cases of a CSV table, and draw it."""
    models = {name: load_model(path) for name, path in _names(arguments.models).items()}
    table = read_table(arguments.on)
    first = next(iter(models.values()))
    for model in models.values():
        require_columns(table, [*model.schema_.names, arguments.target], arguments.on)
        if model.classes_.tolist() != first.classes_.tolist():
            raise UsageError("the models do not answer the same classes, so that no curve compares them")
    y = table[arguments.target]
    if y.isna().any():
        row = int(y.isna().to_numpy().argmax()) + 1
        raise UsageError(f"{arguments.on}: row {row} has no {arguments.target!r}; fill it in or drop the row")
    positive = _label(arguments.positive, first.classes_.tolist())
    point = _operating_point(first, y, positive)
    views = {name: _OnTable(model) for name, model in models.items()}
    for name, view in views.items():
        curves = model_cost_curves(view, table, y, kind=arguments.kind, pos_label=positive)
        _print(name, curves, positive)
    if point is not None:
        print(f"\nYour costs, at the class frequencies of this table, are at {point:.3f}.")
    if arguments.output:
        figure = cost_curve_figure(
            views, table, y, kind=arguments.kind, operating_point=point, pos_label=positive
        )
        print(f"Written: {save_figure(figure, arguments.output)}")
    return 0


class _OnTable:
    """A model that picks its own columns out of a table."""

    def __init__(self, model: Any) -> None:
        self._model = model
        self.classes_ = model.classes_
        self.front_ = getattr(model, "front_", None)
        self.schema_ = model.schema_

    def _own(self, X: pd.DataFrame) -> pd.DataFrame:
        return X[list(self.schema_.names)]

    def predict(self, X: pd.DataFrame) -> Any:
        return self._model.predict(self._own(X))

    def predict_proba(self, X: pd.DataFrame) -> Any:
        return self._model.predict_proba(self._own(X))

    def _prediction_columns(self, X: pd.DataFrame) -> Any:
        return self._model._prediction_columns(self._own(X))


def _names(paths: list[str]) -> dict[str, str]:
    """Short names of model files; whole paths where the short ones are not different."""
    short = {Path(path).stem: path for path in paths}
    return short if len(short) == len(paths) else {path: path for path in paths}


def _label(text: str | None, classes: list[Any]) -> Any:
    """Class that is written so; by default the second of two."""
    if text is None:
        if len(classes) != 2:
            shown = ", ".join(map(str, classes))
            raise UsageError(
                f"there are {len(classes)} classes: name the one that matters with --positive: {shown}"
            )
        return classes[1]
    for label in classes:
        if str(label) == text:
            return label
    raise UsageError(f"--positive {text}: the classes are {', '.join(map(str, classes))}")


def _operating_point(model: Any, y: pd.Series, positive: Any) -> float | None:
    """Return where the model's own costs are at the class frequencies of a table, for two classes."""
    if len(model.classes_) != 2:
        return None
    try:
        return float(probability_cost(model.costs_, float((y == positive).mean()), pos_label=positive))
    except ValueError:  # costs for which there is none
        return None


def _print(name: str, curves: list[CostCurve], positive: Any) -> None:
    """Print area and pieces of the lower envelope of a model's curves."""
    envelope = lower_envelope(curves)
    print(f"\n{name}: area {envelope.area:.4f} (0 is perfect, 0.25 what constant answers reach)")
    points, heights = envelope.probability_cost, envelope.normalized_expected_cost
    frame = pd.DataFrame(
        {
            "from": points[:-1],
            "to": points[1:],
            "at most": np.maximum(heights[:-1], heights[1:]),
            "best": [
                _what(index, piece, len(curves), positive)
                for index, piece in zip(envelope.best.tolist(), envelope.pieces, strict=True)
            ],
        }
    )
    print(frame.to_string(index=False, float_format=lambda value: f"{value:.3f}"))


def _what(index: int, piece: CostCurve, n_curves: int, positive: Any) -> str:
    """Say what a piece of an envelope stands for."""
    if index == LowerEnvelope.ALL_NEGATIVE:
        return f"never answer {positive}"
    if index == LowerEnvelope.ALL_POSITIVE:
        return f"always answer {positive}"
    if piece.threshold is not None:
        return f"answer {positive} from probability {piece.threshold:.3f}"
    return "the model's answers" if n_curves == 1 else f"tree {index} of the front"
