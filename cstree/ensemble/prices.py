"""Costs as members of a committee get them: for some columns only, or blind to which mistake it is."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cstree.costs.bound import BoundCosts
from cstree.costs.catalogue import tests_of_columns
from cstree.costs.model import CostModel, FeatureTest
from cstree.ensemble.meta import Cases
from cstree.greedy.classifier import GreedyTreeClassifier

__all__ = ["blind_tree", "costs_of_columns"]

# Shares of classes in smaller nodes are no probabilities: in a tree grown to the end they are all 0 or 1, and
# no cost moves those.
_SUPPORT = 25


def costs_of_columns(
    model: CostModel,
    names: Sequence[str],
    columns: NDArray[np.intp] | None = None,
    new_names: Sequence[str] | None = None,
    *,
    misclassification: Any = None,
    classes: Any = None,
) -> CostModel:
    """Restrict costs to some columns of a table, and say of all that are free that they are.

    Steps keep their names, so that what several members test can be counted once.

    Parameters
    ----------
    model : CostModel
        Costs of the whole table.
    names : sequence of F str
        Its columns.
    columns : ndarray of int, optional
        Positions of the columns that are kept; all by default.
    new_names : sequence of str, optional
        What these are called in the smaller table; by default as before.
    misclassification, classes : optional
        Other costs of mistakes than the model's.

    Returns
    -------
    CostModel
    """
    kept = range(len(names)) if columns is None else columns.tolist()
    called = {names[j]: names[j] if new_names is None else new_names[k] for k, j in enumerate(kept)}
    tests, revealed = _tests_by_name(model, tuple(names))
    restricted: dict[str, FeatureTest] | None = None
    if model.tests is not None:
        restricted = {
            name: FeatureTest(test.price, test.needs, tuple(called[c] for c in revealed[name] if c in called))
            for name, test in tests.items()
            if any(column in called for column in revealed[name])
        }
        taken = {column for name in restricted for column in revealed[name]}
        free = tuple(new for old, new in called.items() if old not in taken)
        if free:
            restricted[_unused("free", [*tests, *model.operations])] = FeatureTest(0.0, columns=free)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what is odd about the costs was told when they were made
        return CostModel(
            model.misclassification if misclassification is None else misclassification,
            tests=restricted,
            operations=dict(model.operations),
            classes=model.classes if classes is None else classes,
            unit=model.unit,
        )


def _tests_by_name(
    model: CostModel, names: tuple[str, ...]
) -> tuple[dict[str, FeatureTest], dict[str, list[str]]]:
    """List tests by name, and the columns that each reveals."""
    tests: dict[str, FeatureTest] = {}
    revealed: dict[str, list[str]] = {}
    plain: Any = model.tests if model.tests is None or isinstance(model.tests, tuple) else dict(model.tests)
    for column, (name, test) in tests_of_columns(plain, names, model.operations).items():
        tests[name] = test
        revealed.setdefault(name, []).append(column)
    return tests, revealed


def _unused(name: str, taken: Sequence[str]) -> str:
    while name in taken:
        name += "'"
    return name


def blind_tree(model: CostModel | None, costs: BoundCosts, cases: Cases) -> GreedyTreeClassifier:
    """Make a tree that cannot tell mistakes apart, but weighs them with the prices of tests.

    Parameters
    ----------
    model : CostModel or None
        All costs.
    costs : BoundCosts
        The same, bound to the table.
    cases : Cases
        Training table.

    Returns
    -------
    GreedyTreeClassifier
        Not fitted. Every mistake costs what the mistakes of these cases cost on average.
    """
    if model is None or model.tests is None:
        return GreedyTreeClassifier(min_support=_SUPPORT)
    labels = cases.classes.tolist()
    excess = np.abs(costs.matrix - np.diag(costs.matrix)[:, None])
    count = cases.class_weight()
    mistake = float(count @ excess.sum(axis=1) / count.sum() / max(len(labels) - 1, 1))
    blind = (mistake or 1.0) * (1.0 - np.eye(len(labels)))
    own = costs_of_columns(model, costs.feature_names, misclassification=blind, classes=labels)
    return GreedyTreeClassifier(own, min_support=_SUPPORT)
