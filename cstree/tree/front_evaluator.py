"""Measure the trees of a front on new cases: what `Front.evaluate` calls on the front of a classifier."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cstree.base import CostSensitiveClassifier, check_sample_weight
from cstree.costs.bound import BoundCosts
from cstree.costs.labels import listed
from cstree.encoding.columns import Columns
from cstree.encoding.schema import Feature, FeatureSchema
from cstree.metrics.answers import read_answers, read_labels
from cstree.pareto.evaluation import FrontEvaluation
from cstree.pareto.front import Front
from cstree.pareto.selection import MISCLASSIFICATION_COST, TEST_COST
from cstree.tree.evaluation import leaves_of, path_costs
from cstree.tree.tree import Tree

__all__ = ["Cases", "FrontEvaluator", "Payments"]

# Objectives of a tree that are the same whatever cases it meets.
_WITHOUT_CASES = ("n_leaves", "worst_test_cost")

Floats = NDArray[np.float64]


class FrontEvaluator:
    """Features, classes and costs of the table that a front was searched on.

    Fronts of fitted classifiers have one; :meth:`Front.attach` gives one to another front.

    Parameters
    ----------
    schema : FeatureSchema
        How the trees read a table.
    costs : BoundCosts
        Costs of classes and features; names the classes.
    named_features : bool, default=True
        Whether the trees were fitted to a frame, whose columns new tables must have by name.
    """

    def __init__(self, schema: FeatureSchema, costs: BoundCosts, *, named_features: bool = True) -> None:
        self.schema = schema
        self.costs = costs
        self._table = CostSensitiveClassifier()  # checks tables as the estimators do
        self._table.n_features_in_ = len(schema)
        if named_features:
            self._table.feature_names_in_ = np.array(schema.names, dtype=object)

    def __call__(
        self, front: Front[Tree], X: Any, y: Any, sample_weight: Any = None, example_cost: Any = None
    ) -> FrontEvaluation:
        """Evaluate a front; see :meth:`Front.evaluate`."""
        cases = self._read(front, X, y, sample_weight, example_cost)
        found = [Payments.of(tree, cases, self.costs).means() for tree in front]
        means, errors = np.array([mean for mean, _ in found]), np.array([error for _, error in found])
        objectives, standard_errors = front.objectives.copy(), np.full(front.objectives.shape, np.nan)
        for j, name in enumerate(front.objective_names):
            if name in (MISCLASSIFICATION_COST, TEST_COST):
                column = 0 if name == MISCLASSIFICATION_COST else 1
                objectives[:, j], standard_errors[:, j] = means[:, column], errors[:, column]
            elif name in _WITHOUT_CASES:
                standard_errors[:, j] = 0.0
        return FrontEvaluation(
            objectives=objectives,
            standard_errors=standard_errors,
            total_cost=means[:, 2].copy(),
            total_cost_error=errors[:, 2].copy(),
            training=front.objectives,
            n_samples=int(np.count_nonzero(cases.weight)),
            objective_names=front.objective_names,
            trees=front.trees,
        )

    def _read(self, front: Front[Tree], X: Any, y: Any, sample_weight: Any, example_cost: Any) -> Cases:
        """Check new cases."""
        columns = self._table._columns(X)
        classes = self.costs.classes
        codes, labels = read_labels(y, "y")
        if len(codes) != columns.n_samples:
            raise ValueError(f"X has {columns.n_samples} cases, y {len(codes)} labels: give one per case.")
        new = [label for label in labels if label not in classes]
        if new:
            raise ValueError(
                f"y holds class {new[0]!r}, which no training case had, so that no tree can answer it; the "
                f"classes are {listed(classes)}. Leave such cases out, or fit with some of them."
            )
        weight = check_sample_weight(sample_weight, columns.n_samples)
        answers = read_answers(y, y, self.costs, example_cost=example_cost)
        return Cases.of(front, self.schema, columns, answers.true, weight, answers.example_cost)


@dataclass(frozen=True, eq=False)
class Cases:
    """Cases ready to be walked down many trees: no column is translated twice.

    Attributes
    ----------
    columns : Columns
        Numbers; categories as codes, missing and unknown ones as NaN.
    schema : FeatureSchema
        Reads these columns.
    y : ndarray of shape (n,)
        Class indices.
    weight : ndarray of shape (n,)
        0 or more.
    example_cost : ndarray of shape (n, K) or None
    """

    columns: Columns
    schema: FeatureSchema
    y: NDArray[np.integer[Any]]
    weight: Floats
    example_cost: Floats | None

    @classmethod
    def of(
        cls,
        trees: Iterable[Tree],
        schema: FeatureSchema,
        columns: Columns,
        y: NDArray[np.integer[Any]],
        weight: Floats | None,
        example_cost: Floats | None,
    ) -> Cases:
        """Read the features that some tree tests."""
        weight = np.ones(len(y)) if weight is None else weight
        used = sorted({feature for tree in trees for feature in tree.used_features()})
        if columns.flat() is not None and all(schema[j].kind == "numeric" for j in used):
            return cls(columns, schema, y, weight, example_cost)
        values = np.empty((len(schema), len(y)))  # what is never written takes no memory
        for start, stop, block in schema.blocks(columns, used) if used else ():
            values[used, start:stop] = block[: len(used)]
        numbers = FeatureSchema(tuple(Feature(name, "numeric") for name in schema.names))
        return cls(Columns(values.T), numbers, y, weight, example_cost)


@dataclass(frozen=True, eq=False)
class Payments:
    """What groups of cases pay with a tree.

    A group is a class in a leaf; where answers have a cost by case, each case is its own.

    Attributes
    ----------
    paid : ndarray of shape (2, g)
        Misclassification and test cost of a case of each group.
    weight, square : ndarray of shape (g,)
        Sums of the weights of its cases, and of their squares.
    n_samples : int
        Cases of positive weight.
    """

    paid: Floats
    weight: Floats
    square: Floats
    n_samples: int

    @classmethod
    def of(cls, tree: Tree, cases: Cases, costs: BoundCosts) -> Payments:
        """Walk the cases down a tree, whose answers are taken as they are."""
        if cases.example_cost is not None:
            return cls.by_case(tree, cases, costs)
        leaf = leaves_of(tree, cases.schema, cases.columns)
        price = path_costs(tree, costs)
        n = int(np.count_nonzero(cases.weight))
        K = costs.n_classes
        group = leaf.astype(np.int64) * K + cases.y
        weight, square = (
            np.bincount(group, weights=each, minlength=tree.n_nodes * K).astype(np.float64, copy=False)
            for each in (cases.weight, cases.weight**2)
        )
        wrong = costs.matrix.T[tree.answer].reshape(-1)
        return cls(np.vstack([wrong, price.repeat(K)]), weight, square, n)

    @classmethod
    def by_case(cls, tree: Tree, cases: Cases, costs: BoundCosts) -> Payments:
        """Do the same with each case as a group of its own, so that trees can be compared case by case."""
        leaf = leaves_of(tree, cases.schema, cases.columns)
        answer = tree.answer[leaf]
        if cases.example_cost is None:
            wrong = costs.matrix[cases.y, answer]
        else:
            wrong = cases.example_cost[np.arange(len(leaf)), answer]
        n = int(np.count_nonzero(cases.weight))
        return cls(np.vstack([wrong, path_costs(tree, costs)[leaf]]), cases.weight, cases.weight**2, n)

    def minus(self, other: Payments) -> Payments:
        """Return what each case pays more than with another tree; both by case, and of the same cases."""
        return Payments(self.paid - other.paid, self.weight, self.square, self.n_samples)

    def means(self, rate: float = 1.0) -> tuple[Floats, Floats]:
        """Averages per unit of weight, and their standard errors over cases.

        Parameters
        ----------
        rate : float, default=1.0
            What a unit of test cost counts in the last entry.

        Returns
        -------
        mean, error : ndarray of shape (3,)
            Of misclassification cost, test cost, and misclassification + rate * test cost; see the notes of
            :class:`~cstree.pareto.evaluation.FrontEvaluation`. The error of a single case is NaN.
        """
        values = np.vstack([self.paid, self.paid[0] + rate * self.paid[1]])
        n, total = self.n_samples, self.weight.sum()
        mean = values @ self.weight / total
        if n < 2:
            return mean, np.full(3, np.nan)
        squares = (values - mean[:, None]) ** 2 @ self.square
        return mean, np.sqrt(n / (n - 1) * squares) / total

    @classmethod
    def together(cls, parts: Sequence[Payments]) -> Payments:
        """Put the groups of several parts side by side."""
        return cls(
            np.hstack([part.paid for part in parts]),
            np.concatenate([part.weight for part in parts]),
            np.concatenate([part.square for part in parts]),
            sum(part.n_samples for part in parts),
        )
