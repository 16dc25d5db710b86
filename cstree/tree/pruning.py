"""Make a tree smaller on its training cases: by support, and by what a split is worth."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cstree.costs.bound import BoundCosts
from cstree.encoding.dataset import Dataset
from cstree.tree.evaluation import TIE, relabel
from cstree.tree.tree import Tree

__all__ = ["prune_by_cost", "prune_by_support"]

Rows = NDArray[np.intp]


def prune_by_cost(tree: Tree, dataset: Dataset, costs: BoundCosts) -> Tree:
    """Turn into a leaf, root first, each split that does not lower the misclassification cost.

    Raises neither objective on these cases (specification, section 5).

    Parameters
    ----------
    tree : Tree
    dataset : Dataset
    costs : BoundCosts

    Returns
    -------
    Tree
        Labelled on the cases of ``dataset``.
    """
    tree = relabel(tree, dataset, costs)
    own = tree.label_cost.min(axis=1)
    below = own.copy()
    for node in range(tree.n_nodes - 1, -1, -1):
        if tree.feature[node] >= 0:
            below[node] = below[tree.children(node)].sum()
    weighted = dataset.case_costs(costs.matrix) * dataset.weights()[:, None]
    slack = TIE * float(np.abs(weighted).max(axis=1).sum())
    becomes_leaf = (tree.feature >= 0) & (own <= below + slack)
    return _with_leaves(tree, becomes_leaf) if becomes_leaf.any() else tree


def _with_leaves(tree: Tree, becomes_leaf: NDArray[np.bool_]) -> Tree:
    """Return the tree in which the marked nodes are leaves."""
    kept: list[int] = []
    node = 0
    while node < tree.n_nodes:
        kept.append(node)
        node += int(tree.size[node]) if becomes_leaf[node] else 1
    nodes = np.array(kept)
    cut = becomes_leaf[nodes]
    parts = _Parts()
    for i, old in enumerate(kept):
        parts.add(tree, old, leaf=bool(cut[i]))
    return parts.build(tree, nodes)


@dataclass
class _Parts:
    """Node columns of a tree in the making."""

    columns: dict[str, list[Any]] = field(
        default_factory=lambda: {
            name: [] for name in ("feature", "threshold", "n_branches", "missing_branch", "table_start")
        }
    )
    table: list[NDArray[np.int32]] = field(default_factory=list)
    length: int = 0

    def add(
        self,
        tree: Tree,
        node: int,
        *,
        leaf: bool = False,
        n_branches: int | None = None,
        missing: int | None = None,
    ) -> None:
        """Append a node with the split of ``tree``'s node, or a leaf."""
        branches = int(tree.n_branches[node]) if n_branches is None else n_branches
        values = {
            "feature": -1 if leaf else int(tree.feature[node]),
            "threshold": np.nan if leaf else float(tree.threshold[node]),
            "n_branches": 0 if leaf else branches,
            "missing_branch": 0 if leaf else int(tree.missing_branch[node]) if missing is None else missing,
            "table_start": -1,
        }
        for name, value in values.items():
            self.columns[name].append(value)

    def add_table(self, table: NDArray[np.int32]) -> None:
        """Give the last node a branch per category."""
        self.columns["table_start"][-1] = self.length
        self.table.append(table)
        self.length += len(table)

    def build(self, tree: Tree, nodes: NDArray[np.intp]) -> Tree:
        """Return the tree; statistics come from ``nodes`` of the old one, tables are copied along."""
        for i, old in enumerate(nodes):
            if (
                self.columns["feature"][i] >= 0
                and tree.table_start[old] >= 0
                and self.columns["table_start"][i] < 0
            ):
                start = int(tree.table_start[old])
                table = tree.branch_of_category[start : start + _table_length(tree, int(old))]
                self.columns["table_start"][i] = self.length
                self.table.append(table)
                self.length += len(table)
        branches = np.array(self.columns["n_branches"])
        return Tree(
            **{name: np.array(values) for name, values in self.columns.items()},
            size=_sizes(branches),
            branch_of_category=np.concatenate(self.table) if self.table else np.empty(0, dtype=np.int32),
            answer=tree.answer[nodes],
            support=tree.support[nodes],
            class_weight=tree.class_weight[nodes],
            label_cost=tree.label_cost[nodes],
        )


def _table_length(tree: Tree, node: int) -> int:
    """Categories of a categorical split: up to where the next table begins."""
    start = int(tree.table_start[node])
    later = tree.table_start[tree.table_start > start]
    return int(later.min() if len(later) else len(tree.branch_of_category)) - start


def _sizes(n_branches: NDArray[np.int64]) -> NDArray[np.int32]:
    """Subtree sizes of a preorder, given the number of branches of each node."""
    size = np.ones(len(n_branches), dtype=np.int32)
    for node in range(len(n_branches) - 1, -1, -1):
        child = node + 1
        for _ in range(int(n_branches[node])):
            size[node] += size[child]
            child += int(size[child])
    return size


def prune_by_support(tree: Tree, dataset: Dataset, costs: BoundCosts, min_support: int) -> Tree:
    """Remove branches that hold fewer than ``min_support`` cases, from the root down.

    Binary split: both branches too small, it becomes a leaf; one, the node gives way to the other
    branch's subtree, which then receives all its cases. Multiway split: small branches fold into the
    branch of missing values; where one branch is left, it replaces the node (specification, section 5).

    Parameters
    ----------
    tree : Tree
    dataset : Dataset
    costs : BoundCosts
    min_support : int
        Counted in cases, whatever they weigh.

    Returns
    -------
    Tree
        Labelled on the cases of ``dataset``.
    """
    pruner = _SupportPruner(tree, dataset, min_support)
    pruner.place(0, np.arange(dataset.n_samples))
    nodes = np.array(pruner.nodes)
    return relabel(pruner.parts.build(tree, nodes), dataset, costs)


class _SupportPruner:
    """Rebuilds a tree in preorder; each node is decided on the cases that really reach it."""

    def __init__(self, tree: Tree, dataset: Dataset, min_support: int) -> None:
        self.tree = tree
        self.dataset = dataset
        self.minimum = min_support
        self.parts = _Parts()
        self.nodes: list[int] = []

    def place(self, root: int, rows: Rows) -> None:
        """Append the pruned subtree of a node whose cases are ``rows``."""
        pending = [(root, rows)]
        while pending:
            node, rows = pending.pop()
            kept = self._kept_branches(node, rows)
            while len(kept) == 1:
                node = self.tree.children(node)[kept[0]]
                kept = self._kept_branches(node, rows)
            self.nodes.append(node)
            if not kept:
                self.parts.add(self.tree, node, leaf=True)
                continue
            branch = self._add_split(node, rows, kept)
            children = self.tree.children(node)
            pending.extend((children[kept[b]], rows[branch == b]) for b in range(len(kept) - 1, -1, -1))

    def _kept_branches(self, node: int, rows: Rows) -> list[int]:
        """Branches with enough cases; none for a leaf."""
        if self.tree.feature[node] < 0:
            return []
        branch, _ = self._branches(node, rows)
        count = np.bincount(branch, minlength=int(self.tree.n_branches[node]))
        return [int(b) for b in np.flatnonzero(count >= self.minimum)]

    def _add_split(self, node: int, rows: Rows, kept: list[int]) -> NDArray[np.int32]:
        """Append a split, its small branches folded; return the new branch of each case.

        They fold into the branch of missing values, or into the heaviest where that one is small itself.
        """
        branch, table = self._branches(node, rows)
        target = int(self.tree.missing_branch[node])
        if target not in kept:
            weight = np.bincount(branch, weights=self.dataset.weights()[rows], minlength=int(max(kept)) + 1)
            target = max(kept, key=lambda b: (weight[b], -b))
        number = np.full(int(self.tree.n_branches[node]), kept.index(target), dtype=np.int32)
        number[kept] = np.arange(len(kept))
        self.parts.add(self.tree, node, n_branches=len(kept), missing=int(number[target]))
        if table is not None:
            self.parts.add_table(np.where(table >= 0, number[table], -1).astype(np.int32))
        return np.asarray(number[branch])

    def _branches(self, node: int, rows: Rows) -> tuple[NDArray[np.int32], NDArray[np.int32] | None]:
        """Branch that each row takes, and a categorical split's branch per category."""
        j = int(self.tree.feature[node])
        feature = self.dataset.schema[j]
        codes = self.dataset.codes[j, rows].astype(np.int64)
        known = codes != feature.missing_code
        missing = int(self.tree.missing_branch[node])
        start = int(self.tree.table_start[node])
        if start < 0:
            cut = np.searchsorted(feature.cuts, self.tree.threshold[node], side="right") - 1
            return np.where(known, (codes > cut).astype(np.int32), missing).astype(np.int32), None
        table = self.tree.branch_of_category[start : start + feature.n_bins]
        found = table[np.where(known, codes, 0)] if len(table) else np.full(len(codes), -1)
        return np.where(known & (found >= 0), found, missing).astype(np.int32), table
