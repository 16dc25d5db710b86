"""Fronts seen with caution: leaves with few cases promise less than they show."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cstree.pareto.front import Front
from cstree.pareto.selection import MISCLASSIFICATION_COST
from cstree.tree.tree import Tree

__all__ = ["cautious_cost", "cautious_front"]


def cautious_cost(tree: Tree, prior_cases: float) -> float:
    """Average misclassification cost on the training cases, each leaf judged with cases of the whole table.

    A leaf of weight ``W`` that pays ``L`` for its answer counts ``(L + m q) / (W + m)`` per unit of weight,
    where ``q`` is what the same answer would cost per unit of weight over all cases, and ``m`` the weight of
    ``prior_cases`` average cases.

    Parameters
    ----------
    tree : Tree
        With the statistics of its training cases.
    prior_cases : float
        0 gives the plain average; with infinitely many every tree would look no better than its answers
        given at random.

    Returns
    -------
    float

    Notes
    -----
    The m-estimate of Cestnik, "Estimating probabilities: a crucial task in machine learning" (1990), of the
    classes' shares in a leaf, weighed with the costs of its answer.
    """
    leaf = tree.leaves()
    answer = tree.answer[leaf]
    weight = tree.class_weight[leaf].sum(axis=1)
    total = tree.class_weight[0].sum()
    prior = prior_cases * total / tree.support[0]
    overall = tree.label_cost[0, answer] / total
    judged = (tree.label_cost[leaf, answer] + prior * overall) / np.maximum(
        weight + prior, np.finfo(np.float64).tiny
    )
    return float(weight @ judged / total)


def cautious_front(fronts: Sequence[Front[Tree]], prior_cases: float) -> Front[Tree]:
    """Put the trees of some fronts on one front, on which caution has raised misclassification costs.

    Parameters
    ----------
    fronts : sequence of Front
        With the same objectives.
    prior_cases : float
        See :func:`cautious_cost`; 0 takes objectives as they are.

    Returns
    -------
    Front
        Trees that are dominated now are not on it.
    """
    names = fronts[0].objective_names
    points = np.concatenate([front.objectives for front in fronts])
    trees = [tree for front in fronts for tree in front]
    if prior_cases > 0 and MISCLASSIFICATION_COST in names:
        points[:, names.index(MISCLASSIFICATION_COST)] = [cautious_cost(tree, prior_cases) for tree in trees]
    return Front(points, trees, objective_names=names, info=fronts[-1].info)
