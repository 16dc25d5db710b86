"""The nodes of a tree while it grows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cstree.encoding.dataset import Dataset
from cstree.greedy._kernels import collapse, preorder
from cstree.tree.evaluation import least_costly
from cstree.tree.tree import Tree

__all__ = ["Nodes"]


class Nodes:
    """Growing arrays, one entry per node; children of a node have consecutive numbers.

    Attributes
    ----------
    span : ndarray of shape (capacity, 2), int64
        Cases of each node: a slice of the tabulator's rows.
    depth, slot, feature, cut, missing_branch, n_branches, first_child, table_start, table_size : ndarray
        ``slot``: histogram, -1: none. ``feature``: of the split that was chosen, -1: none.
    reduction, price : ndarray of shape (capacity,)
        Of the chosen split: reduction of expected cost less test cost; price of its test on the path.
    class_weight, regret, cost : ndarray of shape (capacity, n_classes)
    paid : ndarray of shape (capacity, n_steps), bool
    used_up : ndarray of shape (capacity, n_features or 0), bool
    tables : list of ndarray
        Branches of categories, one array per categorical split.
    """

    def __init__(self, n_classes: int, n_steps: int, n_features: int) -> None:
        def integers(*shape: int) -> NDArray[np.int64]:
            return np.empty((0, *shape), dtype=np.int64)

        self.n = 0
        self.tables: list[NDArray[np.int32]] = []
        self.n_table_entries = 0
        self.span = integers(2)
        self.depth, self.slot = integers(), integers()
        self.feature, self.cut = integers(), integers()
        self.missing_branch, self.n_branches, self.first_child = integers(), integers(), integers()
        self.table_start, self.table_size = integers(), integers()
        self.reduction, self.price = np.empty(0), np.empty(0)
        self.class_weight = np.empty((0, n_classes))
        self.regret = np.empty((0, n_classes))
        self.cost = np.empty((0, n_classes))
        self.paid = np.empty((0, n_steps), dtype=np.bool_)
        self.used_up = np.empty((0, n_features), dtype=np.bool_)

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
        self.slot[new] = self.feature[new] = self.table_start[new] = -1
        return new

    def add_table(self, node: int, table: NDArray[np.int32]) -> None:
        """Keep the branches of categories of a node's split."""
        self.table_start[node] = self.n_table_entries
        self.table_size[node] = len(table)
        self.n_table_entries += len(table)
        self.tables.append(table)

    def all_tables(self) -> NDArray[np.int32]:
        """Branches of categories of all splits, end to end."""
        if len(self.tables) > 1:
            self.tables = [np.concatenate(self.tables)]
        return self.tables[0] if self.tables else np.empty(0, dtype=np.int32)

    def prune(
        self, own: NDArray[np.float64], extra: NDArray[np.float64], per_leaf: float, slack: float
    ) -> None:
        """Turn splits that do not pay into leaves.

        Parameters
        ----------
        own : ndarray of shape (n,)
            Cost of each node as a leaf.
        extra : ndarray of shape (n,)
            Cost of each node's test.
        per_leaf : float
            What every leaf beyond the first must save.
        slack : float
            Savings up to this are rounding.
        """
        collapse(self.first_child[: self.n], self.n_branches[: self.n], own, extra, per_leaf, slack)

    def places(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the nodes that are not below a leaf in preorder, and the sizes of their subtrees."""
        position, size = np.empty(self.n, dtype=np.int64), np.empty(self.n, dtype=np.int64)
        n = preorder(self.first_child[: self.n], self.n_branches[: self.n], position, size)
        order = np.empty(n, dtype=np.int64)
        kept = np.flatnonzero(position >= 0)
        order[position[kept]] = kept
        return order, size[order]

    def to_tree(self, dataset: Dataset) -> Tree:
        """Return the tree in preorder; nodes without branches are leaves."""
        order, size = self.places()
        n_branches = self.n_branches[order]
        inner = n_branches > 0
        feature = np.where(inner, self.feature[order], -1)
        threshold = np.full(len(order), np.nan)
        for j in np.unique(feature[inner]):
            if dataset.schema[int(j)].kind == "numeric":
                own = np.flatnonzero(feature == j)
                threshold[own] = dataset.schema[int(j)].cuts[self.cut[order[own]]]
        table_start, tables = self._tables_of(order, inner)
        cost = self.cost[order]
        return Tree(
            feature=feature.astype(np.int32),
            threshold=threshold,
            n_branches=n_branches.astype(np.int32),
            size=size.astype(np.int32),
            missing_branch=np.where(inner, self.missing_branch[order], 0).astype(np.int32),
            table_start=table_start,
            branch_of_category=tables,
            answer=least_costly(cost),
            support=self.span[order, 1] - self.span[order, 0],
            class_weight=self.class_weight[order],
            label_cost=cost,
        )

    def _tables_of(
        self, order: NDArray[np.int64], inner: NDArray[np.bool_]
    ) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Branches of categories of the inner nodes in ``order``, and where each node's begin."""
        start = np.full(len(order), -1, dtype=np.int32)
        all_ = self.all_tables()
        own = np.flatnonzero(inner & (self.table_start[order] >= 0))
        kept, n = [np.empty(0, dtype=np.int32)], 0
        for i in own.tolist():
            first = int(self.table_start[order[i]])
            kept.append(all_[first : first + int(self.table_size[order[i]])])
            start[i] = n
            n += len(kept[-1])
        return start, np.concatenate(kept)
