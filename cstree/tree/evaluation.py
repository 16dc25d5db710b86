"""What a tree costs: by node, by case, on average."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cstree.costs.bound import BoundCosts
from cstree.encoding.columns import Columns
from cstree.encoding.dataset import Dataset
from cstree.encoding.schema import FeatureSchema
from cstree.tree._kernels import add_to_parents, find_leaves
from cstree.tree.tree import Tree

__all__ = [
    "Evaluation",
    "average_costs",
    "evaluate",
    "leaves_of",
    "path_costs",
    "relabel",
    "training_leaves",
]

# Two label costs within this relative distance tie; the lower class index answers.
TIE = 1e-12


class Evaluation(NamedTuple):
    """Average costs per case, in the unit of the prices."""

    misclassification_cost: float
    test_cost: float

    @property
    def total_cost(self) -> float:
        """Sum of both."""
        return self.misclassification_cost + self.test_cost


def leaves_of(tree: Tree, schema: FeatureSchema, X: Any) -> NDArray[np.int32]:
    """Node index of the leaf that each case of a raw table reaches, shape (n_samples,)."""
    columns = X if isinstance(X, Columns) else Columns(X)
    used = tree.used_features()
    leaf = np.zeros(columns.n_samples, dtype=np.int32)
    if not used:
        return leaf
    flat = columns.flat()
    if flat is not None and all(schema[j].kind == "numeric" for j in used):
        _walk(tree, tree.feature, tree.threshold, flat, leaf)
        return leaf
    for start, stop, values in schema.blocks(columns, used):
        _walk(
            tree, np.searchsorted(used, tree.feature), tree.threshold, _by_columns(values), leaf[start:stop]
        )
    return leaf


def training_leaves(tree: Tree, dataset: Dataset) -> NDArray[np.int32]:
    """Node index of the leaf that each encoded case reaches, shape (n_samples,)."""
    used = tree.used_features()
    leaf = np.zeros(dataset.n_samples, dtype=np.int32)
    if not used:
        return leaf
    # On codes the comparison `code <= c` stands for `x <= cuts[c]`.
    threshold = np.full(tree.n_nodes, np.nan)
    for node in np.flatnonzero((tree.feature >= 0) & (tree.table_start < 0)):
        cuts = dataset.schema[int(tree.feature[node])].cuts
        threshold[node] = np.searchsorted(cuts, tree.threshold[node], side="right") - 1
    missing = np.array([dataset.schema[j].missing_code for j in used])[:, None]
    for start in range(0, dataset.n_samples, 8192):
        stop = min(start + 8192, dataset.n_samples)
        codes = dataset.codes[used, start:stop]
        values = np.where(codes == missing, np.nan, codes)
        _walk(tree, np.searchsorted(used, tree.feature), threshold, _by_columns(values), leaf[start:stop])
    return leaf


def _by_columns(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], int, int]:
    """Lay out a block ``(columns, cases)`` as :meth:`Columns.flat` does a table."""
    block = values if values.base is None else values.base
    if block.ndim != 2 or not block.flags.c_contiguous:
        block = np.ascontiguousarray(values)
    return block.reshape(-1), 1, block.shape[1]


def _walk(
    tree: Tree,
    column: NDArray[np.integer[Any]],
    threshold: NDArray[np.float64],
    flat: tuple[NDArray[np.float64], int, int],
    leaf: NDArray[np.int32],
) -> None:
    """Walk cases whose values stand in ``flat``; ``column`` is where those of each node's feature are."""
    stay = np.flatnonzero(tree.is_leaf)
    child = tree.child_table.astype(np.uint32)
    child[stay] = stay[:, None]
    find_leaves(
        *flat,
        np.where(tree.is_leaf, column[0], column).astype(np.uint32),
        np.ascontiguousarray(threshold),
        tree.missing_branch,
        tree.table_start,
        tree.branch_of_category,
        child,
        tree.depth,
        leaf,
    )


def path_costs(tree: Tree, costs: BoundCosts) -> NDArray[np.float64]:
    """Price of the tests on the path above each node, shape (n_nodes,).

    For a leaf this is what every case that ends there pays: TR(r) of the rule, each step once.
    """
    result = np.zeros(tree.n_nodes)
    pending: list[tuple[int, float, frozenset[int]]] = [(0, 0.0, frozenset())]
    while pending:
        node, price, paid = pending.pop()
        result[node] = price
        if tree.feature[node] < 0:
            continue
        feature = int(tree.feature[node])
        bought = costs.newly_paid(feature, paid)
        below = price + sum(amount for _, amount in bought)
        steps = paid.union(step for step, _ in bought)
        pending.extend((child, below, steps) for child in tree.children(node))
    return result


def least_costly(label_cost: NDArray[np.float64]) -> NDArray[np.int32]:
    """Index of the least entry of each row, ties (1e-12 relative) to the lowest; shape (n,)."""
    least = label_cost.min(axis=1, keepdims=True)
    slack = TIE * np.abs(label_cost).max(axis=1, keepdims=True)
    return (label_cost <= least + slack).argmax(axis=1).astype(np.int32)


def relabel(tree: Tree, dataset: Dataset, costs: BoundCosts, leaf: NDArray[np.int32] | None = None) -> Tree:
    """Return the tree with supports, class weights, label costs and answers of these cases.

    A node that no case reaches answers as its nearest ancestor that cases reach.
    """
    leaf = training_leaves(tree, dataset) if leaf is None else leaf
    n, K = tree.n_nodes, dataset.n_classes
    totals = np.zeros((n, 1 + 2 * K))
    totals[:, 0] = np.bincount(leaf, minlength=n)
    cell = leaf.astype(np.int64) * K + dataset.y
    class_weight = np.bincount(cell, weights=dataset.weight, minlength=n * K).reshape(n, K)
    totals[:, 1 : 1 + K] = class_weight
    if dataset.example_cost is None:
        totals[:, 1 + K :] = class_weight @ costs.matrix
    else:
        weighted = dataset.example_cost * dataset.weights()[:, None]
        for k in range(K):
            totals[:, 1 + K + k] = np.bincount(leaf, weights=weighted[:, k], minlength=n)
    parent = tree.parents()
    add_to_parents(parent, totals)
    answer = least_costly(totals[:, 1 + K :])
    for node in np.flatnonzero(totals[:, 0] == 0):
        if node > 0:
            answer[node] = answer[parent[node]]
    return dataclasses.replace(
        tree,
        support=totals[:, 0].astype(np.int64),
        class_weight=totals[:, 1 : 1 + K].copy(),
        label_cost=totals[:, 1 + K :].copy(),
        answer=answer,
    )


def average_costs(tree: Tree, costs: BoundCosts) -> Evaluation:
    """Average costs on the cases that the tree was labelled on, from the figures that it holds."""
    leaf = tree.leaves()
    weight = tree.class_weight[leaf].sum(axis=1)
    total = float(weight.sum())
    if total <= 0:
        return Evaluation(0.0, 0.0)
    wrong = float(tree.label_cost[leaf, tree.answer[leaf]].sum())
    return Evaluation(wrong / total, float(path_costs(tree, costs)[leaf] @ weight) / total)


def evaluate(tree: Tree, dataset: Dataset, costs: BoundCosts) -> Evaluation:
    """Average misclassification and test cost of a tree's answers on encoded cases.

    ``f1`` and ``f2`` of the two objectives; the tree's answers are taken as they are.
    """
    leaf = training_leaves(tree, dataset)
    n, K = tree.n_nodes, dataset.n_classes
    cell = leaf.astype(np.int64) * K + dataset.y
    class_weight = np.bincount(cell, weights=dataset.weight, minlength=n * K).reshape(n, K)
    if dataset.example_cost is None:
        wrong = float((class_weight * costs.matrix[:, tree.answer].T).sum())
    else:
        wrong = float(dataset.example_cost[np.arange(len(leaf)), tree.answer[leaf]] @ dataset.weights())
    total = dataset.total_weight
    return Evaluation(wrong / total, float(path_costs(tree, costs) @ class_weight.sum(axis=1)) / total)
