"""What every search over trees reports, and how it ends when it is interrupted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cstree.pareto.front import Front
from cstree.tree.problem import TreeProblem
from cstree.tree.tree import Tree

__all__ = ["Progress", "SearchInterrupted", "reference_point"]


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
