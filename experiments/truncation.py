"""All depth limits and prunings of one tree, evaluated without growing or building another.

Growth from the top does not know the depth limit, so the tree of depth at most d is the deep tree cut off at
d; cost pruning turns splits into leaves. Either way a case stops at an ancestor of the leaf it would reach.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cstree.costs.bound import BoundCosts
from cstree.encoding.dataset import Dataset
from cstree.tree.evaluation import TIE, path_costs, training_leaves
from cstree.tree.tree import Tree

__all__ = ["Outcome", "Shapes"]


class Outcome(NamedTuple):
    """Averages per case of one shape of a tree on some cases."""

    misclassification_cost: float
    test_cost: float
    accuracy: float
    n_leaves: int

    @property
    def total_cost(self) -> float:
        """Sum of both costs."""
        return self.misclassification_cost + self.test_cost


class Shapes:
    """One tree, to be cut off and pruned.

    Parameters
    ----------
    tree : Tree
        With the label costs of the training cases.
    costs : BoundCosts
    """

    def __init__(self, tree: Tree, costs: BoundCosts) -> None:
        self.tree, self.costs = tree, costs
        self.parent = tree.parents()
        depth = np.zeros(tree.n_nodes, dtype=np.int64)
        for node in range(1, tree.n_nodes):
            depth[node] = depth[self.parent[node]] + 1
        self.depth = depth
        self.levels = [np.flatnonzero(depth == level) for level in range(int(depth.max()) + 1)]
        self.own = tree.label_cost[np.arange(tree.n_nodes), tree.answer]
        self.slack = TIE * float(tree.class_weight[0] @ np.abs(costs.matrix).max(axis=1))
        self.paid = path_costs(tree, costs)
        self.spent = self.paid * tree.class_weight.sum(axis=1)

    def ends(self, max_depth: int, pruning: str) -> NDArray[np.bool_]:
        """Mask of the nodes at which cases stop that have come so far.

        Parameters
        ----------
        max_depth : int
        pruning : {"none", "cost", "total"}
            "cost": splits that do not lower misclassification cost on the training cases are leaves;
            "total": splits that do not lower misclassification and test cost together, leaves first.
        """
        ends = self.tree.is_leaf | (self.depth >= max_depth)
        if pruning == "none":
            return ends
        value = self.own + (self.spent if pruning == "total" else 0.0)
        below = np.where(ends, value, 0.0)
        for nodes in reversed(self.levels[1 : max_depth + 1]):
            worth = np.minimum(below[nodes], value[nodes]) if pruning == "total" else below[nodes]
            np.add.at(below, self.parent[nodes], worth)
        # A node at the limit was counted as a leaf; what lies deeper was never added.
        return ends | (value <= below + self.slack)

    def stops(self, max_depth: int, pruning: str) -> NDArray[np.int64]:
        """Node at which a case stops that would reach each node of the whole tree."""
        ends = self.ends(max_depth, pruning)
        stop = np.arange(self.tree.n_nodes)
        for nodes in self.levels[1:]:
            above = stop[self.parent[nodes]]
            stop[nodes] = np.where(ends[above], above, nodes)
        return stop

    def evaluate(self, dataset: Dataset, shapes: list[tuple[int, str]]) -> list[Outcome]:
        """Averages over the cases of a dataset for each depth and pruning."""
        leaf = training_leaves(self.tree, dataset)
        results = []
        for max_depth, pruning in shapes:
            stop = self.stops(max_depth, pruning)
            node = stop[leaf]
            answer = self.tree.answer[node]
            results.append(
                Outcome(
                    float(self.costs.matrix[dataset.y, answer].mean()),
                    float(self.paid[node].mean()),
                    float((answer == dataset.y).mean()),
                    len(np.unique(stop[self.tree.is_leaf])),
                )
            )
        return results
