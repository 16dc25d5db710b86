"""What every search over trees reports, and how it ends when it is interrupted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cstree.pareto.front import Front
from cstree.tree.evaluation import average_costs, evaluate, path_costs
from cstree.tree.problem import TreeProblem
from cstree.tree.tree import Tree

__all__ = ["OBJECTIVE_NAMES", "Progress", "SearchInterrupted", "reference_point", "tree_objectives"]

OBJECTIVE_NAMES = ("misclassification_cost", "test_cost", "n_leaves", "worst_test_cost")


class SearchInterrupted(KeyboardInterrupt):
    """Ctrl-C during a search; ``front`` holds what was found."""

    def __init__(self, front: Front[Tree]) -> None:
        super().__init__("the search was interrupted; its front holds what was found")
        self.front = front


@dataclass(frozen=True)
class Progress:
    """Where a search stands.

    Attributes
    ----------
    generation, evaluations, front_size : int
        Of the exact search: root tests that are done, and subproblems solved.
    hypervolume : float
        Share of the box between the origin and the reference (best cost without tests, price of
        all tests) that the front dominates; NaN for other objectives than these two.
    seconds : float
    generations : int or None
        Where it will stop at the latest.
    """

    generation: int
    evaluations: int
    front_size: int
    hypervolume: float
    seconds: float
    generations: int | None


def reference_point(problem: TreeProblem) -> NDArray[np.float64]:
    """Best misclassification cost without tests, and the price of buying every test of the table."""
    dataset = problem.dataset
    answers = dataset.weights() @ dataset.case_costs(problem.costs.matrix)
    paid: set[int] = set()
    price = 0.0
    for feature in range(len(dataset.schema)):
        for step, amount in problem.costs.newly_paid(feature, paid):
            price += amount
            paid.add(step)
    return np.array([answers.min() / dataset.total_weight, price])


def tree_objectives(
    tree: Tree, problem: TreeProblem, names: Sequence[str], *, labelled: bool = False
) -> list[float]:
    """Objectives of a labelled tree on the training cases.

    Parameters
    ----------
    tree : Tree
    problem : TreeProblem
    names : sequence of str
        From ``OBJECTIVE_NAMES``.
    labelled : bool, default=False
        The tree was labelled on these cases, as by :meth:`TreeProblem.tree`: take the figures that it holds.

    Returns
    -------
    list of float
        The costs are averages per case, the worst test cost is that of the dearest path.
    """
    costs = average_costs(tree, problem.costs) if labelled else evaluate(tree, problem.dataset, problem.costs)
    worst = float(path_costs(tree, problem.costs).max())
    values = (costs.misclassification_cost, costs.test_cost, float(tree.n_leaves), worst)
    value_of = dict(zip(OBJECTIVE_NAMES, values, strict=True))
    return [value_of[name] for name in names]
