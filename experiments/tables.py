"""The sets of a study: a table, its classes and its costs."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cstree.costs.bound import BoundCosts
from cstree.costs.model import CostModel, FeatureTest
from cstree.datasets import load_bupa, load_heart, load_hepatitis, load_pima

__all__ = ["DataAbsentError", "Table", "load_table", "read_table", "standard_cost"]

_BUNDLED: dict[str, Any] = {
    "heart": load_heart,
    "hepatitis": load_hepatitis,
    "pima": load_pima,
    "bupa": load_bupa,
}
_KEYS = {"bundled", "table", "prices", "classes", "leave_out", "attributes", "misclassification"}


class DataAbsentError(Exception):
    """The folder of data, or a file in it, is not there."""


@dataclass(frozen=True, eq=False)
class Table:
    """Cases, class indices and costs.

    Attributes
    ----------
    name : str
    X : DataFrame
    y : ndarray of shape (n,), int32
    costs : BoundCosts
        Bound to the columns and classes of the table.
    model : CostModel
        The same costs, for estimators; labels of classes are those of ``costs``.
    """

    name: str
    X: pd.DataFrame
    y: NDArray[np.int32]
    costs: BoundCosts
    model: CostModel


def standard_cost(table: Table) -> float:
    """Turney's standard cost: ``T + (1 - share of the largest class) * max C``.

    ``T`` is the price of all tests of one case, shared steps once.
    """
    paid: set[int] = set()
    price = 0.0
    for feature in range(table.costs.n_features):
        for step, amount in table.costs.newly_paid(feature, paid):
            price += amount
            paid.add(step)
    largest = np.bincount(table.y).max() / len(table.y)
    return price + (1 - largest) * float(table.costs.matrix.max())


def load_table(name: str, sets_file: Path, level: str, data: Path) -> Table:
    """Load one set of a study.

    Parameters
    ----------
    name : str
        A table of ``sets_file``.
    sets_file : path
        TOML; see ``studies/greedy_sets.toml``.
    level : {"low", "middle", "high"}
    data : path
        Folder of the tables that are not bundled.

    Returns
    -------
    Table

    Raises
    ------
    DataAbsentError
        A file of ``data`` is not there.
    ValueError
        The set is unknown or its entry does not fit the table.
    """
    entries = tomllib.loads(sets_file.read_text(encoding="utf-8"))
    if name not in entries:
        raise ValueError(f"{sets_file.name} has no set {name!r}")
    entry = entries[name]
    unknown = sorted(set(entry) - _KEYS)
    if unknown:
        raise ValueError(f"{sets_file.name}: set {name!r} has the unknown key {unknown[0]!r}")
    if "bundled" in entry:
        bunch = _BUNDLED[entry["bundled"]](level)
        return _table(name, bunch.data, bunch.target, bunch.costs, list(bunch.target_names))
    meta = _read_toml(data / f"{entry['table']}.toml")
    X, target = read_table(entry["table"], data, entry.get("leave_out", []))
    if "prices" in entry:
        prices = _read_toml(data / entry["prices"])
        X, costs = _with_prices_of(prices, entry, X, level)
    else:
        costs = _with_own_prices(meta, entry, level)
    classes = [label for label in entry["classes"] if label not in entry.get("leave_out", [])]
    return _table(name, X, target, costs, classes)


def _table(name: str, X: pd.DataFrame, target: pd.Series, costs: CostModel, classes: list[Any]) -> Table:
    y = pd.Index(classes).get_indexer(pd.Index(target))
    if (y < 0).any():
        raise ValueError(f"set {name!r}: the class {target[y < 0].iloc[0]!r} is not among {classes}")
    bound = costs.bind(list(X.columns), classes)
    return Table(name, X.reset_index(drop=True), y.astype(np.int32), bound, costs)


def _read_toml(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise DataAbsentError(str(path))
    return tomllib.loads(path.read_text(encoding="utf-8"))


def read_table(table: str, data: Path, leave_out: Sequence[str] = ()) -> tuple[pd.DataFrame, pd.Series]:
    """Read features and labels of a table of the data folder; categories and labels are text.

    Parameters
    ----------
    table : str
        Reads ``table.toml``, and ``table.csv`` or ``table.csv.gz``.
    data : path
    leave_out : sequence of str
        Labels whose cases are left out.

    Returns
    -------
    X : DataFrame
    labels : Series

    Raises
    ------
    DataAbsentError
        A file is not there.
    """
    meta = _read_toml(data / f"{table}.toml")
    path = data / f"{table}.csv"
    if not path.is_file():
        path = path.with_name(path.name + ".gz")
    if not path.is_file():
        raise DataAbsentError(str(path.with_suffix("")))
    text: dict[str, Any] = dict.fromkeys([*meta["categorical"], meta["target"]], "str")
    frame = pd.read_csv(path, dtype=text, keep_default_na=False, na_values=[""])
    frame = frame[~frame[meta["target"]].isin(leave_out)]
    return frame[[*meta["numeric"], *meta["categorical"]]], frame[meta["target"]]


def _with_prices_of(
    prices: Mapping[str, Any], entry: Mapping[str, Any], X: pd.DataFrame, level: str
) -> tuple[pd.DataFrame, CostModel]:
    """Keep the columns that the price file knows, in its order; the first test of a group costs more."""
    attributes: Mapping[str, str] = entry["attributes"]
    known = prices["attributes"]
    for attribute, column in attributes.items():
        if attribute not in known or column not in X.columns:
            raise ValueError(f"{attribute!r} = {column!r} maps no attribute of {prices['name']} to a column")
    full: dict[str, float] = {}
    discount: dict[str, float] = {}
    groups: dict[str, list[str]] = {}
    for attribute, price in known.items():
        if attribute not in attributes:
            raise ValueError(f"attribute {attribute!r} of {prices['name']} is mapped to no column")
        column = attributes[attribute]
        full[column] = price["cost"]
        if "group" in price:
            discount[column] = price["discount"]
            groups.setdefault(f"group {price['group']}", []).append(column)
    matrix = np.array(prices["misclassification"][level], dtype=np.float64)
    kept = [i for i, label in enumerate(entry["classes"]) if label not in entry.get("leave_out", [])]
    kept = [i for i in kept if i < len(matrix)]
    costs = CostModel.from_groups(
        full,
        discount,
        groups,
        misclassification=matrix[np.ix_(kept, kept)],
        classes=[entry["classes"][i] for i in kept],
    )
    return X[list(full)], costs


def _with_own_prices(meta: Mapping[str, Any], entry: Mapping[str, Any], level: str) -> CostModel:
    """Costs of the table's own file; a derived column costs the tests that it is computed from."""
    if "misclassification" in entry:
        rows = np.array(entry["misclassification"][level], dtype=np.float64)
        matrix = np.repeat(rows[:, None], len(rows), axis=1)
        np.fill_diagonal(matrix, 0)
    else:
        matrix = np.array(meta["misclassification"]["matrix"], dtype=np.float64)
    prices = meta.get("test_costs")
    if prices is None:
        return CostModel(matrix, classes=entry["classes"])
    model = CostModel.from_groups(
        prices["full"],
        {c: prices["discount"][c] for columns in prices["groups"].values() for c in columns},
        prices["groups"],
    )
    assert isinstance(model.tests, Mapping)
    tests = dict(model.tests)
    operations: dict[str, Any] = dict(model.operations)
    for derived, sources in prices.get("derived", {}).items():
        for source in sources:
            if tests[source].price:
                step = f"{source} measured"
                operations[step] = (tests[source].price, tests[source].needs)
                tests[source] = FeatureTest(0, needs=(step,))
        tests[derived] = FeatureTest(0, needs=tuple(f"{source} measured" for source in sources))
    return CostModel(matrix, tests=tests, operations=operations, classes=entry["classes"])
