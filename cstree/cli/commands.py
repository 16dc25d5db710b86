"""What each command does."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from cstree.cli.tables import (
    UsageError,
    one_line,
    print_front,
    print_model,
    read_table,
    require_columns,
    split_names,
    write_csv,
)
from cstree.costs.model import CostModel
from cstree.datasets.loaders import load_heart
from cstree.evolution.classifier import ParetoTreeClassifier
from cstree.greedy.classifier import GreedyTreeClassifier
from cstree.pareto.front import Front
from cstree.persistence import load_model, save_model
from cstree.plot.page import explore_front
from cstree.plot.tree import render_tree

__all__ = ["INTERRUPTED", "demo", "draw", "fit", "front", "predict"]

INTERRUPTED = 130
UNMET = 2
_COMPILES = "The first run after an installation compiles the search first, which takes some seconds."


def demo(arguments: argparse.Namespace) -> int:
    """Fit the heart table and write everything that shows the outcome."""
    folder = Path(arguments.output)
    folder.mkdir(parents=True, exist_ok=True)
    heart = load_heart()
    print(
        f"Heart disease: {len(heart.data)} patients, {heart.data.shape[1]} tests with prices, and two kinds\n"
        f"of mistakes with theirs. Searching trees that no other beats in both costs.\n{_COMPILES}",
        flush=True,
    )
    # Short paths of well-filled branches are easy to read; random first trees spare compiling the grower.
    options = {"max_depth": 4, "min_support": 5, "seeds": None}
    model, status = _fit_pareto(heart.data, heart.target, heart.costs, arguments, **options)
    written = [folder / "front.csv", folder / "model.json"]
    write_csv(model.front_.to_frame(), written[0])
    save_model(model, written[1])
    written += _draw_what_can_be(model, folder, "Heart disease: what mistakes and tests cost")
    print_model(model)
    print("\nWritten:")
    for path in written:
        print(f"  {path}")
    if folder / "front.html" in written:
        print(f"Open {folder / 'front.html'} in a browser and click a point.")
    return status


def _draw_what_can_be(model: Any, folder: Path, title: str) -> list[Path]:
    """Write the page and the drawing; what lacks a package is said, and the rest goes on."""
    written = []
    for name, drawing in (
        ("front.html", lambda path: explore_front(model, path, title=title)),
        ("tree.svg", lambda path: render_tree(model, path)),
    ):
        try:
            written.append(drawing(folder / name))
        except (ImportError, RuntimeError) as error:
            print(f"cstree: {name} is not written: {one_line(error)}", file=sys.stderr)
    return written


def fit(arguments: argparse.Namespace) -> int:
    """Fit a CSV table and save the model."""
    _require_folder(arguments.output)
    table = read_table(arguments.table)
    ignored = split_names(arguments.ignore, table)
    require_columns(table, [arguments.target, *ignored], arguments.table)
    X = table.drop(columns=[arguments.target, *ignored])
    if X.shape[1] == 0:
        raise UsageError(f"{arguments.table}: no column is left besides the target {arguments.target!r}")
    y = table[arguments.target]
    if y.isna().any():
        row = int(y.isna().to_numpy().argmax()) + 1
        raise UsageError(
            f"{arguments.table}: row {row} has no {arguments.target!r}; fill it in or drop the row"
        )
    categorical = split_names(arguments.categorical, X)
    require_columns(X, categorical, arguments.table)
    for name in categorical:
        X[name] = X[name].astype("category")
    costs = CostModel.from_toml(arguments.costs) if arguments.costs else None
    if arguments.method == "greedy":
        _refuse(arguments, ("select", "validation", "seconds"), "nnia")
        model, status = _fit_greedy(X, y, costs, arguments), 0
    else:
        _refuse(arguments, ("criterion",), "greedy")
        print(_COMPILES, file=sys.stderr, flush=True)
        model, status = _fit_pareto(
            X,
            y,
            costs,
            arguments,
            **_given(
                select=read_rule(arguments.select),
                validation=arguments.validation,
                max_depth=arguments.max_depth,
                min_support=arguments.min_support,
            ),
        )
    save_model(model, arguments.output)
    print_model(model)
    print(f"\nWritten: {arguments.output}")
    return status


def _fit_greedy(X: pd.DataFrame, y: pd.Series, costs: CostModel | None, arguments: argparse.Namespace) -> Any:
    options = _given(
        criterion=arguments.criterion, max_depth=arguments.max_depth, min_support=arguments.min_support
    )
    return GreedyTreeClassifier(costs, random_state=arguments.seed, **options).fit(X, y)


def _given(**options: Any) -> dict[str, Any]:
    """Options that were given; the others keep the estimator's defaults."""
    return {name: value for name, value in options.items() if value is not None}


def _fit_pareto(
    X: pd.DataFrame, y: Any, costs: CostModel | None, arguments: argparse.Namespace, **options: Any
) -> tuple[Any, int]:
    """Search; return the model and the exit code: also after Ctrl-C, or where no tree meets the rule."""
    model = ParetoTreeClassifier(costs, random_state=arguments.seed, **options)
    if arguments.seconds is not None:  # the clock alone ends the search
        model.set_params(time_budget=arguments.seconds, generations=None, patience=None)
    model.set_params(verbose=int(sys.stderr.isatty()))
    status = 0
    try:
        model.fit(X, y)
    except KeyboardInterrupt:
        if not hasattr(model, "front_"):
            raise
        print("cstree: interrupted; writing what was found", file=sys.stderr)
        status = INTERRUPTED
    except ValueError as error:
        if not hasattr(model, "front_"):
            raise
        # The search is done, only no tree meets the rule: its front is not thrown away.
        print(f"cstree: {one_line(error)} The tree of least total cost is taken instead.", file=sys.stderr)
        model, status = model.choose("total_cost"), UNMET
    return model.set_params(verbose=0), status  # the same file, whatever the terminal


def predict(arguments: argparse.Namespace) -> int:
    """Write predictions for a CSV table."""
    model = load_model(arguments.model)
    table = read_table(arguments.table)
    names = list(model.schema_.names)
    require_columns(table, names, arguments.table)
    X = table[names]
    columns: dict[str, Any] = {"prediction": model.predict(X)}
    shares = model.predict_proba(X)
    for k, label in enumerate(model.classes_.tolist()):
        columns[f"probability_{label}"] = shares[:, k]
    columns["test_cost"] = model.test_cost(X)
    write_csv(pd.DataFrame(columns), arguments.output, index=False)
    return 0


def front(arguments: argparse.Namespace) -> int:
    """Print a front, or write it as a table or a page."""
    if (arguments.on is None) != (arguments.target is None):
        raise UsageError("--on and --target belong together: other cases, and the column with their classes")
    model = load_model(arguments.model)
    if arguments.html:
        print(f"Written: {explore_front(model, arguments.html, title=arguments.title)}")
    if not arguments.html or arguments.output or arguments.on:
        points = _front_of(model, arguments.model)
        frame = points.to_frame() if arguments.on is None else _evaluate(model, arguments)
        if arguments.output:
            write_csv(frame, arguments.output)
            if arguments.output != "-":
                print(f"Written: {arguments.output}")
        else:
            print_front(model, frame)
    return 0


def _evaluate(model: Any, arguments: argparse.Namespace) -> pd.DataFrame:
    """Costs of the trees of a front on the cases of a CSV table."""
    table = read_table(arguments.on)
    names = list(model.schema_.names)
    require_columns(table, [*names, arguments.target], arguments.on)
    return model.front_.evaluate(table[names], table[arguments.target]).to_frame()


def _front_of(model: Any, path: str) -> Front[Any]:
    front: Front[Any] | None = getattr(model, "front_", None)
    if front is None:
        raise UsageError(f"{path}: a {type(model).__name__} holds one tree and no front")
    return front


def draw(arguments: argparse.Namespace) -> int:
    """Write the picture of a tree."""
    model = load_model(arguments.model)
    path = render_tree(model, arguments.output, arguments.point, direction=arguments.direction)
    print(f"Written: {path}")
    return 0


def _require_folder(path: str) -> None:
    """Refuse a target in a folder that is not there, before anything takes time."""
    folder = Path(path).resolve().parent
    if not folder.is_dir():
        raise UsageError(f"{path}: the folder {folder} does not exist; make it first")


def _refuse(arguments: argparse.Namespace, options: Sequence[str], method: str) -> None:
    for option in options:
        if getattr(arguments, option) is not None:
            raise UsageError(f"--{option} belongs to --method {method}")


def read_rule(text: str | None) -> str | dict[str, float] | None:
    """Read a rule: a name, or name=number."""
    if text is None or "=" not in text:
        return text
    name, _, number = text.partition("=")
    try:
        return {name.strip(): float(number)}
    except ValueError:
        raise UsageError(f"--select {text}: {number!r} is no number") from None
