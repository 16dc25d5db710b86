"""Trees that a search starts from."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cstree.exact.search import ExactSearch
from cstree.greedy.grower import grow
from cstree.tree.problem import TreeProblem
from cstree.tree.tree import Tree

__all__ = ["exact_seeds", "greedy_seeds"]

# Words that counting all combinations of tests may take, some seconds' worth; a combination takes at least
# the time of as many words as are counted for it.
_MOST_WORDS = 2e9
_LEAST_WORDS = 8

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


def exact_seeds(problem: TreeProblem) -> list[Tree]:
    """Return the complete front of the deepest trees for which that takes seconds, three tests at most.

    Empty where it would take longer even for trees of depth one, or no test has a row of bits.
    """
    n_tests, n_words = len(problem.candidates), problem.arrays.bits.shape[1]
    depth = min(problem.max_depth, 3)
    while depth > 0 and n_tests**depth * max(n_words, _LEAST_WORDS) > _MOST_WORDS:
        depth -= 1
    if n_tests == 0 or depth == 0 or problem.max_leaf_nodes < 2**depth:
        return []
    small = replace(problem, max_depth=depth, max_leaf_nodes=2**depth, max_test_cost=np.inf)
    return list(ExactSearch().run(small))
