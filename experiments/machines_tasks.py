"""Tasks of the studies of support vector machines: tables of two classes, in training and test parts."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.compose import make_column_transformer
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from experiments.folds import generator, stratified_sample
from experiments.study import check_keys
from experiments.tables import DataAbsentError, read_table

if TYPE_CHECKING:
    from experiments.study import Study

__all__ = ["Part", "Task", "describe", "load_tasks", "make_part"]

TEST_SHARE = 0.3
_KEYS = {"table", "test_table", "train_rows", "positive", "negative", "by_repeat", "divide", "max_train"}

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Task:
    """A table as it is read.

    Attributes
    ----------
    name : str
    X : DataFrame
    labels : ndarray of str
    train_rows : int or None
        The first so many cases are the training part, the others the test part. None: parts are drawn, 70:30.
    positive : tuple of tuple of str
        Labels of the positive class, in one repeat after the other.
    divide : float or None
        What numbers are divided by. None: they are standardised.
    max_train : int or None
        As many training cases are drawn, in each repeat others.
    """

    name: str
    X: pd.DataFrame
    labels: Array
    train_rows: int | None
    positive: tuple[tuple[str, ...], ...]
    divide: float | None = None
    max_train: int | None = None


@dataclass(frozen=True, eq=False)
class Part:
    """Training and test cases as a machine reads them; 1 is the positive class."""

    X: Any
    y: NDArray[np.int64]
    new: Any
    truth: NDArray[np.int64]


def load_tasks(study: Study, data: Path) -> list[Task]:
    """Read the tables of a study; those that are absent are skipped, which stderr says."""
    entries = tomllib.loads(study.sets_file.read_text(encoding="utf-8"))
    tasks = []
    for name in study.sets:
        if name not in entries:
            raise ValueError(f"{study.sets_file.name} has no set {name!r}")
        check_keys(entries[name], _KEYS, f"set {name!r}")
        try:
            tasks.append(_read_task(name, entries[name], data))
        except DataAbsentError as error:
            print(f"skipped {name}: {error} is not there; say where with --data", file=sys.stderr)
    return tasks


def _read_task(name: str, entry: Mapping[str, Any], data: Path) -> Task:
    X, labels = read_table(entry["table"], data)
    train_rows = entry.get("train_rows")
    if "test_table" in entry:
        train_rows = len(X)
        X_test, labels_test = read_table(entry["test_table"], data)
        X = pd.concat([X, X_test], ignore_index=True)
        labels = pd.concat([labels, labels_test], ignore_index=True)
    return Task(
        name,
        X,
        labels.to_numpy(dtype=str),
        train_rows,
        _positive(name, entry, sorted(set(labels))),
        entry.get("divide"),
        entry.get("max_train"),
    )


def _positive(name: str, entry: Mapping[str, Any], classes: list[str]) -> tuple[tuple[str, ...], ...]:
    """Labels of the positive class by repeat: those listed, all but those listed, or one by one."""
    given = [key for key in ("positive", "negative", "by_repeat") if key in entry]
    if len(given) != 1:
        raise ValueError(f"set {name!r} must have one of positive, negative and by_repeat")
    listed = entry[given[0]]
    unknown = sorted(set(listed) - set(classes))
    if unknown:
        raise ValueError(f"set {name!r} has no class {unknown[0]!r}; it has {', '.join(classes)}")
    if given[0] == "by_repeat":
        return tuple((label,) for label in listed)
    if given[0] == "negative":
        return (tuple(label for label in classes if label not in listed),)
    return (tuple(listed),)


def describe(task: Task) -> dict[str, Any]:
    """Line of results about a task; features and sizes are those of its first repeat."""
    part = make_part(task, 0, 0)
    filled = np.count_nonzero(part.X) if isinstance(part.X, np.ndarray) else part.X.nnz
    return {
        "set": task.name,
        "rows": len(part.y),
        "test": len(part.truth),
        "features": part.X.shape[1],
        "filled": round(float(filled / (len(part.y) * part.X.shape[1])), 4),
        "positive": round(float(part.y.mean()), 4),
        "positive of test": round(float(part.truth.mean()), 4),
    }


@lru_cache(maxsize=1)
def make_part(task: Task, seed: int, repeat: int) -> Part:
    """Training and test cases of a repeat; how they are encoded is learnt from those for training."""
    y = np.isin(task.labels, task.positive[repeat % len(task.positive)]).astype(np.int64)
    rng = generator(seed, task.name, repeat)
    rows = np.arange(len(y))
    if task.train_rows is None:
        state = int(rng.integers(2**31))
        train, test = train_test_split(rows, test_size=TEST_SHARE, stratify=y, random_state=state)
    else:
        train, test = rows[: task.train_rows], rows[task.train_rows :]
    train = train[stratified_sample(y[train], task.max_train, rng)]
    encode = _encoder(task, task.X.iloc[train])
    X, new = encode.fit_transform(task.X.iloc[train]), encode.transform(task.X.iloc[test])
    return Part(_plain(X, task.divide), y[train], _plain(new, task.divide), y[test])


def _encoder(task: Task, X: pd.DataFrame) -> Any:
    """Columns by category; numbers of more than two values standardised, in sparse tables not centred."""
    text = list(X.select_dtypes(exclude="number").columns)
    numbers = [c for c in X.columns.difference(text, sort=False) if X[c].nunique() > 2]
    return make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), text),
        (StandardScaler(with_mean=not text) if task.divide is None else "passthrough", numbers),
        remainder="passthrough",
        sparse_threshold=1.0 if text else 0.0,
    )


def _plain(X: Any, divide: float | None) -> Any:
    X = X.astype(np.float64)
    if not isinstance(X, np.ndarray):
        X = X.tocsr()
        X.sort_indices()
    return X if divide is None else X / divide
