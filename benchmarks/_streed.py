"""The binarised cost-sensitive sets that STreeD was measured on, with their price rule.

Testing a binary column is free if another column of its attribute is paid on the path; it costs the discount
if an attribute of its group is, else the full price. The files are not part of this repository.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cstree.costs.model import CostModel, FeatureTest
from cstree.encoding import Dataset, FeatureSchema
from cstree.tree.problem import TreeProblem

FOLDER = Path(__file__).resolve().parents[2] / "shared" / "data" / "streed"

# Cost level at which each set is measured.
LEVELS = {
    "heart": "high",
    "hepatitis": "high",
    "diabetes": "high",
    "car": "middle",
    "glass": "middle",
    "nursery": "middle",
    "flare": "middle",
}
# Points and hypervolume (reference: best cost without tests, price of all tests) of complete fronts.
KNOWN_FRONTS = {
    ("heart", 3): (32, 0.691),
    ("heart", 4): (67, 0.776),
    ("car", 3): (48, 0.494),
    ("car", 4): (123, 0.633),
    ("hepatitis", 3): (15, 0.763),
    ("hepatitis", 4): (27, 0.865),
    ("diabetes", 3): (24, 0.506),
    ("diabetes", 4): (95, 0.530),
    ("glass", 3): (55, 0.635),
    ("glass", 4): (116, 0.696),
}


@dataclass
class Table:
    """A training table with costs, its columns called x0, x1, ...

    ``attributes`` maps a name to its price, its discount, its group or None, and its columns.
    """

    X: NDArray[np.float64]
    y: NDArray[np.int64]
    matrix: list[list[float]]
    attributes: dict[str, dict[str, Any]]
    max_bins: int | None = None

    def costs(self) -> CostModel:
        """Prices as tests and operations: the first test of a group pays for what the group shares."""
        groups = [about["group"] for about in self.attributes.values()]
        tests, operations = {}, {}
        for name, about in self.attributes.items():
            group, columns = about["group"], tuple(about["columns"])
            if group is None or groups.count(group) == 1:
                tests[name] = FeatureTest(about["cost"], columns=columns)
                continue
            shared = round(about["cost"] - about["discount"], 9)
            operations[group] = shared
            tests[name] = FeatureTest(about["discount"], needs={group: shared}, columns=columns)
        return CostModel(
            self.matrix, tests=tests, operations=operations, classes=list(range(len(self.matrix)))
        )

    def problem(self, max_depth: int) -> TreeProblem:
        """The table encoded for a search; a split needs one case in each branch."""
        schema = FeatureSchema.infer(self.X, max_bins=self.max_bins)
        dataset = Dataset(schema, schema.encode(self.X), self.y.astype(np.int32), len(self.matrix))
        costs = self.costs().bind([f"x{j}" for j in range(self.X.shape[1])], list(range(len(self.matrix))))
        return TreeProblem(dataset, costs, max_depth, 1, 2**max_depth)


def is_there() -> bool:
    """Whether the files are at hand."""
    return FOLDER.is_dir()


def load(name: str, level: str, *, whole: bool = False, folder: Path = FOLDER) -> Table:
    """Training cases of the first split of a set, or all cases."""
    about = tomllib.loads((folder / f"{name}.toml").read_text(encoding="utf-8"))
    frame = pd.read_csv(folder / f"{name}.csv.gz").iloc[: None if whole else about["split"]["train_rows"]]
    y = frame.pop("target").to_numpy()
    place = {column: f"x{j}" for j, column in enumerate(frame.columns)}
    attributes = {
        attribute: {
            "cost": values["cost"],
            "discount": values["discount"],
            "group": values.get("group"),
            "columns": [place[column] for column in values["columns"]],
        }
        for attribute, values in about["attributes"].items()
    }
    return Table(frame.to_numpy(dtype=np.float64), y, about["misclassification"][level], attributes)


def breast_cancer(cuts: int = 3) -> Table:
    """Scikit-learn's table with so many cuts a feature; the prices are made up, 1 to 7 a feature."""
    from sklearn.datasets import load_breast_cancer

    X, y = load_breast_cancer(return_X_y=True)
    prices = [1.0 + 7 * j % 13 / 2 for j in range(X.shape[1])]
    attributes = {
        f"x{j}": {"cost": price, "discount": price, "group": None, "columns": [f"x{j}"]}
        for j, price in enumerate(prices)
    }
    return Table(X, y, [[0.0, 50.0], [200.0, 0.0]], attributes, cuts + 1)
