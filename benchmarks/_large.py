"""Large tables with costs: prices by one rule, mistakes as published or all alike.

Feature number ``j`` costs ``1 + (7 j mod 13) / 2``, 1 to 7. In kdd99 the features that need a connection's
content share an operation of price 3; so do those that need its neighbours of two seconds, and those that
need the last hundred connections to its host.

Mistakes have the published matrix; without one, they cost the same. A wrong attack of the right category,
free in the published matrix of kdd99, costs half of the least mistake there, so that all 23 classes count.
All mistakes are scaled so that the best single answer costs what six tests of average price do.

The files are not part of this repository.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cstree.costs.model import CostModel, FeatureTest
from cstree.encoding import Dataset, FeatureSchema
from cstree.encoding.columns import Columns
from cstree.tree.problem import TreeProblem

FOLDER = Path(__file__).resolve().parents[2] / "shared" / "data"
TABLES = {"german_credit": "german_credit", "spambase": "spambase", "adult": "adult", "kdd99": "kdd99_10pct"}
MAX_DEPTH, MAX_BINS, MIN_SUPPORT = 6, 65, 1

_CONTENT = (
    "hot num_failed_logins logged_in num_compromised root_shell su_attempted num_root num_file_creations "
    "num_shells num_access_files num_outbound_cmds is_host_login is_guest_login"
).split()
_TRAFFIC = (
    "count srv_count serror_rate srv_serror_rate rerror_rate srv_rerror_rate same_srv_rate diff_srv_rate "
    "srv_diff_host_rate"
).split()
_SHARED_PRICE = 3.0


@dataclass
class Table:
    """Features, labels and costs."""

    X: pd.DataFrame
    y: NDArray[np.str_]
    costs: CostModel

    @cached_property
    def problem(self) -> TreeProblem:
        """The table encoded for a search, with the limits that all methods keep."""
        columns = Columns(self.X)
        schema = FeatureSchema.infer(columns, max_bins=MAX_BINS)
        classes, index = np.unique(self.y, return_inverse=True)
        costs = self.costs.bind(columns.names, classes.tolist())
        dataset = Dataset(schema, schema.encode(columns), index.astype(np.int32), len(classes))
        return TreeProblem(dataset, costs, MAX_DEPTH, MIN_SUPPORT, 2**MAX_DEPTH)


def is_there(name: str) -> bool:
    """Whether the files of a table are at hand."""
    return (FOLDER / f"{TABLES[name]}.toml").is_file()


def load(name: str) -> Table:
    """Read a table and make its costs."""
    about = tomllib.loads((FOLDER / f"{TABLES[name]}.toml").read_text(encoding="utf-8"))
    text: dict[str, Any] = dict.fromkeys([*about["categorical"], about["target"]], "str")
    frame = pd.read_csv(FOLDER / about["file"], dtype=text, keep_default_na=False, na_values=[""])
    y = frame.pop(about["target"]).to_numpy()
    X = frame[[*about["numeric"], *about["categorical"]]]
    prices = {column: 1 + 7 * j % 13 / 2 for j, column in enumerate(X)}
    classes, count = np.unique(y, return_counts=True)
    matrix = _mistakes(about, classes.tolist())
    matrix *= MAX_DEPTH * np.mean(list(prices.values())) / ((count / len(y)) @ matrix).min()
    group_of = _groups(X.columns) if name == "kdd99" else {}
    tests = {
        column: FeatureTest(price, needs=(group_of[column],) if column in group_of else ())
        for column, price in prices.items()
    }
    operations = dict.fromkeys(group_of.values(), _SHARED_PRICE)
    return Table(
        X, y, CostModel(np.round(matrix, 2), tests=tests, operations=operations, classes=classes.tolist())
    )


def _mistakes(about: dict[str, Any], classes: list[str]) -> NDArray[np.float64]:
    wrong = ~np.eye(len(classes), dtype=np.bool_)
    if "misclassification" not in about:
        return wrong.astype(np.float64)
    published = about["misclassification"]
    places = [str(label) for label in published["labels"]]
    name_of = published.get("labels_map", {})
    at = [places.index(name_of.get(label, label)) for label in classes]
    matrix = np.array(published["matrix"], dtype=np.float64)[np.ix_(at, at)]
    matrix[wrong & (matrix == 0)] = matrix[matrix > 0].min() / 2
    return matrix


def _groups(columns: Any) -> dict[str, str]:
    host = [column for column in columns if column.startswith("dst_host")]
    return {
        column: group
        for group, members in (("content", _CONTENT), ("traffic", _TRAFFIC), ("host", host))
        for column in members
    }
