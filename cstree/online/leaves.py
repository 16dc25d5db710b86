"""A tree of cstree whose leaves an adaptation labels anew."""

from __future__ import annotations

import copy
import dataclasses
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.frozen import FrozenEstimator

from cstree.costs.bound import BoundCosts
from cstree.costs.model import CostModel

__all__ = ["adapted_tree", "relabels_a_tree"]


def relabels_a_tree(learner: Any) -> bool:
    """Whether a learner adapts a tree of cstree by its leaves."""
    tree = getattr(learner.estimator, "tree_", None)
    return isinstance(learner.features, str) and learner.features == "leaf" and hasattr(tree, "label_cost")


def adapted_tree(
    estimator: Any, answers: NDArray[np.intp], costs: BoundCosts, model: CostModel | None
) -> Any:
    """Copy a fitted tree's classifier with other answers at its leaves.

    Parameters
    ----------
    estimator : fitted classifier with a tree of cstree
    answers : ndarray of shape (n_nodes,)
        Class indices; those of leaves count. Inner nodes answer at least cost, by the training cases.
    costs : BoundCosts
        Costs from now on; where they price no tests, the tree's prices stay.
    model : CostModel or None
        What they were bound from.

    Returns
    -------
    classifier
    """
    made = copy.copy(estimator.estimator if isinstance(estimator, FrozenEstimator) else estimator)
    tree = made.tree_
    label_cost = tree.class_weight @ costs.matrix
    made.tree_ = dataclasses.replace(
        tree, label_cost=label_cost, answer=np.where(tree.is_leaf, answers, label_cost.argmin(axis=1))
    )
    priced = model is not None and model.tests is not None
    made.costs_ = costs if priced else dataclasses.replace(made.costs_, matrix=costs.matrix, unit=costs.unit)
    made.costs = model
    vars(made).pop("front_", None)  # this tree is none of the front's
    return made
