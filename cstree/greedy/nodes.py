"""The nodes of a tree while it grows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cstree.encoding.dataset import Dataset
from cstree.greedy._kernels import preorder
from cstree.tree.evaluation import least_costly
from cstree.tree.tree import Tree

__all__ = ["Nodes"]


class Nodes:
    """Growing arrays, one entry per node; children of a node have consecutive numbers.

    Attributes
    ----------
    span : ndarray of shape (capacity, 2), int64
        Cases of each node: a slice of the tabulator's rows.
    depth, slot, feature, cut, missing_branch, n_branches, first_child, table_start : ndarray of int64
        ``slot``: histogram, -1: none. ``feature``: of the split that was chosen, -1: none.
    reduction : ndarray
        Reduction of expected cost less test cost by the chosen split.
    class_weight, regret, cost : ndarray of shape (capacity, n_classes)
    paid : ndarray of shape (capacity, n_steps), bool
    used_up : ndarray of shape (capacity, n_features or 0), bool
    tables : list of ndarray
        Branches of categories, one array per categorical split.
    """

    def __init__(self, n_classes: int, n_steps: int, n_features: int) -> None:
        self.n = 0
        self.tables: list[NDArray[np.int32]] = []
        self.n_table_entries = 0
        self.span = np.empty((0, 2), dtype=np.int64)
        for name in (
            "depth",
            "slot",
            "feature",
            "cut",
            "missing_branch",
            "n_branches",
            "first_child",
            "table_start",
        ):
            setattr(self, name, np.empty(0, dtype=np.int64))
        self.reduction = np.empty(0)
        self.class_weight = np.empty((0, n_classes))
        self.regret = np.empty((0, n_classes))
        self.cost = np.empty((0, n_classes))
        self.paid = np.empty((0, n_steps), dtype=np.bool_)
        self.used_up = np.empty((0, n_features), dtype=np.bool_)

    depth: NDArray[np.int64]
    slot: NDArray[np.int64]
    feature: NDArray[np.int64]
    cut: NDArray[np.int64]
    missing_branch: NDArray[np.int64]
    n_branches: NDArray[np.int64]
    first_child: NDArray[np.int64]
    table_start: NDArray[np.int64]

    def add(self, count: int) -> slice:
        """Append leaves without cases; return their numbers."""
        new = slice(self.n, self.n + count)
        if new.stop > len(self.span):
            capacity = max(2 * len(self.span), new.stop, 64)
            for name, array in vars(self).items():
                if isinstance(array, np.ndarray):
                    larger = np.zeros((capacity, *array.shape[1:]), dtype=array.dtype)
                    larger[: self.n] = array[: self.n]
                    setattr(self, name, larger)
        self.n = new.stop
        for name in ("slot", "feature", "table_start"):
            getattr(self, name)[new] = -1
        return new

    def add_table(self, node: int, table: NDArray[np.int32]) -> None:
        """Keep the branches of categories of a node's split."""
        self.table_start[node] = self.n_table_entries
        self.n_table_entries += len(table)
        self.tables.append(table)

    def all_tables(self) -> NDArray[np.int32]:
        """Branches of categories of all splits, end to end."""
        if len(self.tables) > 1:
            self.tables = [np.concatenate(self.tables)]
        return self.tables[0] if self.tables else np.empty(0, dtype=np.int32)

    def to_tree(self, dataset: Dataset) -> Tree:
        """Return the tree in preorder; nodes without children are leaves."""
        n = self.n
        position, size = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
        n_branches = self.n_branches[:n]
        preorder(self.first_child[:n], n_branches, position, size)
        order = np.empty(n, dtype=np.int64)
        order[position] = np.arange(n)
        inner = n_branches > 0
        feature = np.where(inner, self.feature[:n], -1)
        threshold = np.full(n, np.nan)
        for j in np.unique(feature[inner]):
            if dataset.schema[int(j)].kind == "numeric":
                own = np.flatnonzero(feature == j)
                threshold[own] = dataset.schema[int(j)].cuts[self.cut[own]]
        cost = self.cost[:n][order]
        span = self.span[:n][order]
        return Tree(
            feature=feature[order],
            threshold=threshold[order],
            n_branches=n_branches[order],
            size=size[order],
            missing_branch=np.where(inner, self.missing_branch[:n], 0)[order],
            table_start=np.where(inner, self.table_start[:n], -1)[order],
            branch_of_category=self.all_tables(),
            answer=least_costly(cost),
            support=span[:, 1] - span[:, 0],
            class_weight=self.class_weight[:n][order],
            label_cost=cost,
        )
