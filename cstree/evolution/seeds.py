"""Trees that a search starts from."""

from __future__ import annotations

from cstree.greedy.grower import grow
from cstree.tree.problem import TreeProblem
from cstree.tree.tree import Tree

__all__ = ["greedy_seeds"]

# Accuracy first, cost first, and both weighed: far ends of the front and its middle.
_GROWTH: tuple[tuple[str, float | str], ...] = (
    ("secsdt_mc", "heuristic"),
    ("secsdt_mc", 0.0),
    ("secsdt_mc", 1.0),
    ("pm", "heuristic"),
    ("cost", "heuristic"),
    ("gain", "heuristic"),
)


def greedy_seeds(problem: TreeProblem) -> list[Tree]:
    """Grow trees by several criteria within the problem's limits."""
    return [
        grow(
            problem.dataset,
            problem.costs,
            criterion,
            alpha=alpha,
            max_depth=problem.max_depth,
            max_leaf_nodes=problem.max_leaf_nodes if 2**problem.max_depth > problem.max_leaf_nodes else None,
            min_support=max(problem.min_support, 1),
            categorical_split="subset",
        )
        for criterion, alpha in _GROWTH
    ]
