"""Prune a tree while the statistics of its growth are at hand: no case is routed anew."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cstree.costs.bound import BoundCosts
from cstree.encoding.dataset import Dataset
from cstree.greedy.nodes import Nodes
from cstree.tree.evaluation import TIE, relabel
from cstree.tree.tree import Tree

__all__ = ["check_pruning", "hold_out", "prune_grown", "prune_held_out"]

NAMES = ("cost", "support", "support+cost", "held_out", "none")

# Share of the cases that judge a tree grown on the others.
_HELD_OUT = 1 / 3


def check_pruning(pruning: Any) -> str | float:
    """Return the name of a pruning, or the strength of cost-complexity pruning.

    Parameters
    ----------
    pruning : str, number or None

    Returns
    -------
    str or float

    Raises
    ------
    ValueError
        An unknown name or a negative number.
    """
    if pruning is None:
        return "none"
    if isinstance(pruning, str) and pruning in NAMES:
        return pruning
    if isinstance(pruning, Real) and not isinstance(pruning, bool) and 0 <= float(pruning) < np.inf:
        return float(pruning)
    raise ValueError(
        f"pruning must be one of {', '.join(map(repr, NAMES))}, None, or what each leaf must save per "
        f"training case (a number from 0 on); got {pruning!r}."
    )


def prune_grown(nodes: Nodes, dataset: Dataset, costs: BoundCosts, per_leaf: float | None = None) -> None:
    """Turn splits that do not pay on the training cases into leaves.

    Parameters
    ----------
    nodes : Nodes
        Changed.
    dataset : Dataset
    costs : BoundCosts
    per_leaf : float, optional
        None: a split pays when it lowers misclassification cost, whatever its tests cost. A number: when
        it lowers total cost by at least this much, averaged over all cases, for every leaf it adds.
    """
    n = nodes.n
    own = nodes.cost[:n].min(axis=1)
    slack = TIE * _largest_cost(nodes, dataset, costs)
    if per_leaf is None:
        nodes.prune(own, np.zeros(n), 0.0, slack)
        return
    weight = nodes.class_weight[:n].sum(axis=1)
    nodes.prune(own, weight * nodes.price[:n], per_leaf * float(weight[0]), slack)


def _largest_cost(nodes: Nodes, dataset: Dataset, costs: BoundCosts) -> float:
    """Add up the worst answers of all cases: the scale of rounding errors."""
    if dataset.example_cost is None:
        return float(nodes.class_weight[0] @ np.abs(costs.matrix).max(axis=1))
    return float(dataset.weights() @ np.abs(dataset.example_cost).max(axis=1))


def hold_out(dataset: Dataset, rng: np.random.Generator) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Draw a third of each class; return the other cases and the drawn ones, both ascending."""
    drawn = np.zeros(dataset.n_samples, dtype=np.bool_)
    for label in range(dataset.n_classes):
        own = rng.permutation(np.flatnonzero(dataset.y == label))
        drawn[own[: int(len(own) * _HELD_OUT)]] = True
    return np.flatnonzero(~drawn), np.flatnonzero(drawn)


def prune_held_out(nodes: Nodes, dataset: Dataset, held_out: Dataset, costs: BoundCosts) -> Tree:
    """Turn splits into leaves that do not lower the total cost of cases which did not grow the tree.

    Parameters
    ----------
    nodes : Nodes
        Grown on ``dataset``; changed.
    dataset, held_out : Dataset
    costs : BoundCosts

    Returns
    -------
    Tree
        Labelled on the cases of ``dataset``.
    """
    grown = nodes.to_tree(dataset)
    order, _ = nodes.places()
    seen = relabel(grown, held_out, costs)
    own, weight = np.zeros(nodes.n), np.zeros(nodes.n)
    own[order] = seen.label_cost[np.arange(grown.n_nodes), grown.answer]
    weight[order] = seen.class_weight.sum(axis=1)
    slack = TIE * float(np.abs(own[0]) + (weight * nodes.price[: nodes.n]).sum())
    nodes.prune(own, weight * nodes.price[: nodes.n], 0.0, slack)
    return nodes.to_tree(dataset)
