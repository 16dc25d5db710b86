"""Trees written by hand as nested tuples, with the statistics of real cases."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from cstree.costs.bound import BoundCosts
from cstree.costs.model import CostModel
from cstree.encoding.dataset import Dataset
from cstree.encoding.schema import FeatureSchema
from cstree.pareto.front import Front
from cstree.tree.evaluation import evaluate, relabel
from cstree.tree.tree import Tree

# A leaf is None. A numeric split is (name, cut, below, above[, missing branch]), a categorical one
# (name, {category: branch}, [children][, missing branch]); categories left out travel as missing.
Nested = Any

AWKWARD = [
    "say \"hi\" and 'bye'",
    "<b>bold</b>",
    "a & b &amp; c &lt; &#65;",
    "{brace|pipe}",
    "back\\slash \\n \\N \\G \\l \\",
    "two\nlines",
    "年龄",
    "😀👨\u200d👩\u200d👧",
    "</script><script>alert(1)</script>",
    "<!-- x ]]>",
    "trailing\\",
    "<html>",
    "cut <= 3 {a, b}",
    "${x} {{y}} %s %(z)s __DATA__",
    "\u202ereversed",
]


def build_tree(nested: Nested, dataset: Dataset, costs: BoundCosts) -> Tree:
    schema = dataset.schema
    rows: list[dict[str, Any]] = []
    table: list[int] = []

    def add(node: Nested) -> int:
        here = len(rows)
        row = {"feature": -1, "threshold": np.nan, "n_branches": 0, "missing_branch": 0, "table_start": -1}
        rows.append(row)
        if node is not None:
            name, test, *rest = node
            row["feature"] = schema.names.index(name)
            if isinstance(test, dict):
                children, *missing = rest
                row["table_start"] = len(table)
                table.extend(test.get(c, -1) for c in schema[row["feature"]].categories)
            else:
                row["threshold"] = test
                children, missing = rest[:2], rest[2:]
            row["n_branches"] = len(children)
            row["missing_branch"] = missing[0] if missing else 0
            for child in children:
                add(child)
        row["size"] = len(rows) - here
        return here

    add(nested)
    n, k = len(rows), dataset.n_classes
    bare = Tree(
        **{name: np.array([row[name] for row in rows]) for name in rows[0]},
        branch_of_category=np.array(table, dtype=np.int32),
        answer=np.zeros(n),
        support=np.zeros(n),
        class_weight=np.zeros((n, k)),
        label_cost=np.zeros((n, k)),
    )
    return relabel(bare, dataset, costs)


@dataclass
class HandModel:
    """What plots and exports ask of a fitted estimator."""

    tree_: Tree
    schema_: FeatureSchema
    costs_: BoundCosts
    classes_: np.ndarray
    front_: Front | None = None


def encode(
    X: pd.DataFrame, y: Any, model: CostModel, weight: Any = None
) -> tuple[Dataset, BoundCosts, np.ndarray]:
    classes, index = np.unique(np.asarray(y), return_inverse=True)
    schema = FeatureSchema.infer(X)
    dataset = Dataset(schema, schema.encode(X), index.astype(np.int32), len(classes), weight)
    return dataset, model.bind(schema.names, classes.tolist()), classes


def make_model(
    X: pd.DataFrame, y: Any, model: CostModel, nested: list[Nested], weight: Any = None
) -> HandModel:
    """Return a model whose front is made of the trees (dominated ones drop out); ``tree_`` is the first."""
    dataset, costs, classes = encode(X, y, model, weight)
    trees = [build_tree(tree, dataset, costs) for tree in nested]
    objectives = [evaluate(tree, dataset, costs) for tree in trees]
    return HandModel(trees[0], dataset.schema, costs, classes, Front(np.array(objectives), trees))


def clinic(n: int = 60, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray, CostModel]:
    """A small table with numbers, categories, missing values, and tests that share a blood draw."""
    from cstree.costs.model import FeatureTest

    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "age": rng.integers(20, 80, n).astype(float),
            "pain": rng.choice(["none", "mild", "severe"], n),
            "chol": rng.normal(220, 40, n).round(1),
            "sugar": rng.normal(5, 1, n).round(2),
        }
    )
    X.loc[::11, "chol"] = np.nan
    X.loc[::13, "pain"] = None
    high = X["chol"].fillna(300)
    ill = np.where(
        X["pain"] == "severe",
        high > 200.5,
        (X["age"] > 55.5) & ((X["sugar"] <= 5.005) | (high > 240.25) & X["chol"].notna()),
    )
    y = np.where(ill ^ (rng.random(n) < 0.08), "ill", "well")  # some are not as their tests say
    costs = CostModel(
        {("ill", "well"): 90.0, ("well", "ill"): 60.0},
        tests={
            "age": 0.0,
            "pain": 1.0,
            "chol": FeatureTest(5.17, needs=("blood draw",)),
            "sugar": FeatureTest(3.1, needs=("blood draw",)),
        },
        operations={"blood draw": 2.1},
        unit="EUR",
    )
    return X, y, costs


CLINIC_TREES: list[Nested] = [
    (
        "pain",
        {"severe": 0, "mild": 1, "none": 1},
        [
            ("chol", 200.5, None, None, 1),
            ("age", 55.5, None, ("sugar", 5.005, None, ("chol", 240.25, None, None))),
        ],
        1,
    ),
    ("pain", {"severe": 0, "mild": 1, "none": 1}, [None, ("age", 55.5, None, None)], 1),
    ("age", 55.5, None, None),
    None,
]
