"""scikit-learn's trees as trees of cstree: one-hot columns become tests of the feature they come from."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier

from cstree.costs.bound import BoundCosts
from cstree.encoding.dataset import Dataset
from cstree.encoding.schema import FeatureSchema
from cstree.tree.evaluation import relabel
from cstree.tree.tree import Tree

__all__ = ["class_weights", "grow_cart", "one_hot"]

# What a column of the table for scikit-learn stands for: a feature, and one of its codes; -1: its number.
Origin = list[tuple[int, int]]


def one_hot(dataset: Dataset) -> tuple[NDArray[np.float32], Origin]:
    """Codes as scikit-learn wants them.

    Numeric features give one column, their codes (which keep the order and all cuts), NaN where missing;
    categorical ones a column per category, and one for missing values where the training column has some.
    """
    columns, origin = [], []
    for j, feature in enumerate(dataset.schema.features):
        codes = dataset.codes[j]
        if feature.kind == "numeric":
            columns.append(np.where(codes == feature.missing_code, np.nan, codes))
            origin.append((j, -1))
            continue
        for code in range(feature.n_bins + feature.has_missing):
            columns.append((codes == code).astype(np.float64))
            origin.append((j, code))
    return np.column_stack(columns).astype(np.float32), origin


def class_weights(dataset: Dataset, costs: BoundCosts) -> NDArray[np.float64]:
    """Weight of each class: the mean cost of missing it, scaled so that the cases weigh 1 on average."""
    K = costs.n_classes
    weight = costs.regrets.sum(axis=1) / (K - 1)
    return weight * dataset.n_samples / weight[dataset.y].sum()


def grow_cart(
    dataset: Dataset, costs: BoundCosts, *, answers: str, max_depth: int, random_state: int = 0
) -> Tree:
    """Grow scikit-learn's tree and return it as a tree of cstree.

    Parameters
    ----------
    dataset : Dataset
    costs : BoundCosts
    answers : {"majority", "weighted", "least cost"}
        What leaves answer: the most frequent class; the class of most weight, where classes are weighted, in
        growth too, by what it costs to miss them; the class of least expected cost.
    max_depth : int
    random_state : int
        Breaks ties between features.

    Returns
    -------
    Tree
        Labelled on the cases of ``dataset``.
    """
    X, origin = one_hot(dataset)
    weight = class_weights(dataset, costs) if answers == "weighted" else np.ones(costs.n_classes)
    model = DecisionTreeClassifier(max_depth=max_depth, random_state=random_state)
    model.fit(X, dataset.y, sample_weight=weight[dataset.y])
    tree = relabel(_converted(model.tree_, origin, dataset.schema, costs.n_classes), dataset, costs)
    if answers == "least cost":
        return tree
    answer = (tree.class_weight * weight).argmax(axis=1)
    return dataclasses.replace(tree, answer=answer.astype(np.int32))


def _converted(fitted: Any, origin: Origin, schema: FeatureSchema, n_classes: int) -> Tree:
    """Rewrite the nodes in preorder; statistics are left at 0."""
    order, flipped = _preorder(fitted)
    n = len(order)
    feature, threshold = np.full(n, -1), np.full(n, np.nan)
    branches, missing = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    start = np.full(n, -1)
    tables: list[NDArray[np.int64]] = [np.empty(0, dtype=np.int64)]
    for i, node in enumerate(order):
        if fitted.children_left[node] < 0:
            continue
        j, code = origin[fitted.feature[node]]
        feature[i], branches[i] = j, 2
        if code >= 0:
            start[i] = sum(map(len, tables))
            tables.append((np.arange(schema[j].n_bins) == code).astype(np.int64))
            missing[i] = int(code == schema[j].missing_code)
        elif flipped[node]:
            threshold[i] = schema[j].cuts[:1].sum() - 1.0
        else:
            threshold[i] = schema[j].cuts[int(np.floor(fitted.threshold[node]))]
            missing[i] = 0 if fitted.missing_go_to_left[node] else 1
    return Tree(
        feature=feature.astype(np.int32),
        threshold=threshold,
        n_branches=branches.astype(np.int32),
        size=_subtree_sizes(branches).astype(np.int32),
        missing_branch=missing.astype(np.int32),
        table_start=start.astype(np.int32),
        branch_of_category=np.concatenate(tables).astype(np.int32),
        answer=np.zeros(n, dtype=np.int32),
        support=np.zeros(n, dtype=np.int64),
        class_weight=np.zeros((n, n_classes)),
        label_cost=np.zeros((n, n_classes)),
    )


def _preorder(fitted: Any) -> tuple[list[int], NDArray[np.bool_]]:
    """Nodes in preorder, and which of them have their branches swapped.

    A split of known from missing values sends the known ones left in scikit-learn; here they all lie above a
    threshold below the first cut, so they go right.
    """
    flipped = np.isposinf(fitted.threshold) & (fitted.children_left >= 0)
    order, pending = [], [0]
    while pending:
        node = pending.pop()
        order.append(node)
        left, right = int(fitted.children_left[node]), int(fitted.children_right[node])
        if left >= 0:
            pending.extend((left, right) if flipped[node] else (right, left))
    return order, flipped


def _subtree_sizes(branches: NDArray[np.int64]) -> NDArray[np.int64]:
    size = np.ones(len(branches), dtype=np.int64)
    for node in np.flatnonzero(branches)[::-1]:
        first = node + 1
        second = first + size[first]
        size[node] += size[first] + size[second]
    return size
