"""Tables in and out, and what is printed of a model."""

from __future__ import annotations

import gzip
import io
import sys
import warnings
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from cstree._io import write_text
from cstree.tree.words import cost_decimals, shown_cost

__all__ = [
    "UsageError",
    "one_line",
    "print_front",
    "print_model",
    "read_table",
    "require_columns",
    "split_names",
    "write_csv",
]

_SHOWN_ROWS = 24


class UsageError(Exception):
    """Something the user asked for cannot be done; the text says what and how to mend it."""


def one_line(error: BaseException) -> str:
    """Return what an error says without line breaks."""
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"{error.filename}: {error.strerror}"
    return " ".join(str(error).split()) or type(error).__name__


def read_table(path: str) -> pd.DataFrame:
    """Read a CSV file (.gz is unpacked): an empty cell is missing, and nothing else is."""
    try:
        with open(path, "rb") as file:
            data = file.read()
        text = (gzip.decompress(data) if path.endswith(".gz") else data).decode("utf-8-sig")
        table = _parse(text)
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: the file is not in UTF-8 ({error.reason}); convert it") from error
    except pd.errors.EmptyDataError:
        raise UsageError(f"{path}: the file is empty; the first line must name the columns") from None
    except (pd.errors.ParserError, pd.errors.ParserWarning) as error:
        raise UsageError(f"{path}: no CSV table ({one_line(error)})") from error
    except (OSError, EOFError, zlib.error) as error:
        said = error.strerror if isinstance(error, OSError) else None
        raise UsageError(f"{path}: {said or one_line(error)}") from error
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from None
    if len(table) == 0:
        raise UsageError(f"{path}: the table has a header but no rows")
    return table


def _parse(text: str) -> pd.DataFrame:
    """Parse a table, refusing what pandas would quietly mend: names and rows that do not fit."""
    options: dict[str, Any] = {"keep_default_na": False, "na_values": [""], "index_col": False}
    names = pd.read_csv(io.StringIO(text), header=None, nrows=1, dtype=str, **options).iloc[0].tolist()
    for number, name in enumerate(names, start=1):
        if not isinstance(name, str):
            raise UsageError(f"column {number} has no name; write one into the first line")
        if names.count(name) > 1:
            raise UsageError(f"two columns are called {name!r}; rename one")
    with warnings.catch_warnings():
        warnings.simplefilter("error", pd.errors.ParserWarning)  # rows longer than the header
        return pd.read_csv(io.StringIO(text), low_memory=False, **options)


def require_columns(table: pd.DataFrame, names: Sequence[str], path: str) -> None:
    """Refuse names that are no columns."""
    for name in names:
        if name not in table.columns:
            shown = ", ".join(repr(column) for column in list(table.columns)[:12])
            more = f" and {table.shape[1] - 12} more" if table.shape[1] > 12 else ""
            raise UsageError(f"{path}: there is no column {name!r}; the columns are {shown}{more}")


def split_names(text: str | None, table: pd.DataFrame) -> list[str]:
    """Return the column names in a list with commas; a single name may itself hold commas."""
    if not text:
        return []
    return [text] if text in table.columns else [name.strip() for name in text.split(",") if name.strip()]


def print_model(model: Any) -> None:
    """Print the front, if there is one, and the chosen tree."""
    if getattr(model, "front_", None) is not None:
        print()
        print_front(model)
        if getattr(model, "validation_", None) is not None:
            _print_candidates(model)
        print("\nThe chosen tree:\n")
    print(model.export_text())


def _print_candidates(model: Any) -> None:
    """Print what choices with so many prior cases a leaf cost on held-out cases."""
    decimals = cost_decimals(model.costs_)
    print("\nOn held-out cases, choices cost, by the prior cases with which each leaf is judged:")
    frame = model.validation_.drop(columns="selected")
    frame["prior_cases"] = [f"{value:g}" for value in frame["prior_cases"]]
    frame[" "] = ["<- taken" if taken else "" for taken in model.validation_["selected"]]
    print(frame.to_string(index=False, float_format=lambda value: shown_cost(value, decimals)))


def print_front(model: Any, frame: pd.DataFrame | None = None) -> None:
    """Print the points of a model's front, or a table of them; thinned out evenly where there are many."""
    frame = model.front_.to_frame() if frame is None else frame
    n, decimals = len(frame), cost_decimals(model.costs_)
    frame[" "] = ["<- chosen" if i == model.selected_ else "" for i in range(n)]
    every = -(-n // _SHOWN_ROWS)
    shown = frame[[i % every == 0 or i in (model.selected_, n - 1) for i in range(n)]]
    print(f"{n} {'tree' if n == 1 else 'trees'}; costs are averages per case:")
    print(shown.to_string(float_format=lambda value: shown_cost(value, decimals)))
    if every > 1:
        print(f"({len(shown)} of {n} rows)")


def write_csv(frame: pd.DataFrame, target: str | Path | None, index: bool = True) -> None:
    """Write a table to a file; None and "-" print it."""
    text = frame.to_csv(index=index, lineterminator="\n")
    if target is None or target == "-":
        sys.stdout.write(text)
        sys.stdout.flush()
    else:
        write_text(target, text)
