"""A classifier whose tree is written by hand, or taken from a random problem of the slow twins."""

from __future__ import annotations

from typing import Any

import numpy as np

from cstree.costs.model import CostModel
from cstree.tree.classifier import TreeClassifier
from tests import reference
from tests.handmade import CLINIC_TREES, Nested, build_tree, clinic
from tests.strategies import Problem
from tests.tree.test_export import realise


class HandTree(TreeClassifier):
    """Fitting gives the tree the statistics of the cases."""

    def __init__(self, costs: CostModel | None = None, nested: Nested = None) -> None:
        self.costs = costs
        self.nested = nested

    def fit(self, X: Any, y: Any) -> HandTree:
        dataset = self._training_data(X, y)
        self.tree_ = build_tree(self.nested, dataset, self.costs_)
        return self


def clinic_model(nested: Nested = CLINIC_TREES[0]) -> HandTree:
    X, y, costs = clinic()
    return HandTree(costs, nested).fit(X, y)


def random_model(problem: Problem, plain: reference.PlainNode) -> HandTree:
    model = HandTree()
    model.tree_, model.schema_, model.costs_ = realise(problem, plain)
    model.classes_ = np.array(model.costs_.classes)
    model.n_features_in_ = len(model.schema_)
    model.feature_names_in_ = np.array(model.schema_.names, dtype=object)
    return model


def as_case(model: HandTree, row: list[Any]) -> dict[str, Any]:
    """A raw row of the twins, with the categories of `random_model`."""
    case = {}
    for feature, value in zip(model.schema_, row, strict=True):
        known = not reference.is_missing(value)
        case[feature.name] = (
            f"c{value}" if known and feature.kind == "categorical" else value if known else None
        )
    return case
