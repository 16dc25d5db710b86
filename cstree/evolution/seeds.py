"""Trees that a search starts from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from cstree.exact.search import ExactSearch
from cstree.greedy.grower import grow
from cstree.pareto._kernels import crowding_distance, nondominated
from cstree.tree.evaluation import path_costs
from cstree.tree.problem import TreeProblem
from cstree.tree.search import SearchInterrupted
from cstree.tree.tree import Tree

__all__ = ["Encoded", "exact_seeds", "greedy_seeds", "prunings"]

# Tests and masks of a tree, as TreeProblem.encode_tree gives them.
Encoded = tuple[NDArray[np.int32], NDArray[np.uint64]]

# What the exact search may take: units of work, a tenth of a second to two seconds; bytes; and words that
# counting all pairs of tests takes, which it does in one go.
_MOST_WORK = 100_000_000
_MOST_MEMORY = 1e9
_SHARE_OF_TIME = 0.1
_WORK_A_SECOND = 50_000_000
_MOST_PAIR_WORDS = 1e9
# More groups of categories have more subsets than the exact search takes.
_MOST_CATEGORIES = 10

# Criterion, alpha and omega: every criterion, from accuracy to cost where a parameter weighs the two. What
# too_dear="stop" grows is a pruning of these.
_GROWTH: tuple[tuple[str, float | str, float], ...] = (
    ("secsdt_mc", "heuristic", 1.0),
    ("secsdt_mc", 1.0, 1.0),
    ("secsdt_mc", 0.5, 1.0),
    ("mincost", "heuristic", 1.0),
    ("pm", "heuristic", 1.0),
    ("pm", "heuristic", 0.5),
    ("cost", "heuristic", 1.0),
    ("eg2", "heuristic", 1.0),
    ("eg2", "heuristic", 0.5),
    ("cs_id3", "heuristic", 1.0),
    ("idx", "heuristic", 1.0),
    ("gain", "heuristic", 1.0),
    ("gain_ratio", "heuristic", 1.0),
    ("gini", "heuristic", 1.0),
)

# Most prunings kept of a subtree. Trees of 64 leaves seldom have more than 300 on their front.
_MOST_PRUNINGS = 1000


def greedy_seeds(problem: TreeProblem) -> list[Tree]:
    """Grow trees by every criterion within the problem's limits."""
    return [
        grow(
            problem.dataset,
            problem.costs,
            criterion,
            alpha=alpha,
            omega=omega,
            max_depth=problem.max_depth,
            max_leaf_nodes=problem.max_leaf_nodes if 2**problem.max_depth > problem.max_leaf_nodes else None,
            min_support=max(problem.min_support, 1),
            too_dear="next",
            categorical_split="subset",
        )
        for criterion, alpha, omega in _GROWTH
    ]


def exact_seeds(problem: TreeProblem, seconds: float | None = None) -> list[Tree]:
    """Return the front of small trees, complete to the depth that a second's work reaches.

    The work is counted, not timed: the outcome is the same on every machine. Where the search that these
    trees are for has a time budget of so many ``seconds``, it is what takes about a tenth of them. Empty
    where there is nothing to enumerate, or even trees of two tests are too many.
    """
    depth = min(problem.max_depth, problem.max_leaf_nodes.bit_length() - 1)
    if depth == 0 or _is_too_large(problem, depth):
        return []
    small = replace(problem, max_depth=depth, max_leaf_nodes=2**depth, max_test_cost=np.inf)
    work = _MOST_WORK if seconds is None else min(_MOST_WORK, int(_SHARE_OF_TIME * seconds * _WORK_A_SECOND))
    search = ExactSearch(work_limit=work, memory_budget=_MOST_MEMORY)
    try:
        return list(search.run(small))
    except SearchInterrupted:
        # Its front heeds neither the bound on paths nor the objectives of the search that was to follow.
        raise KeyboardInterrupt from None


def _is_too_large(problem: TreeProblem, depth: int) -> bool:
    """Whether even trees of two tests take too long, or the exact search too much room, for its tests.

    These are the cuts and every subset of categories; twice as many where missing values go to either side.
    """
    arrays, schema = problem.arrays, problem.dataset.schema
    if (arrays.category_count > _MOST_CATEGORIES).any():
        return True
    sides = [1 + schema[int(j)].has_missing for j in arrays.subset_feature]
    subsets = 2 ** (arrays.category_count.astype(np.int64) - 1) - 1
    n_tests, n_words = len(problem.candidates) + int(subsets @ sides), arrays.bits.shape[1]
    n_bytes = 2 * 8 * n_tests * n_words * max(depth, 2)  # two tables of bits for each level
    return n_tests**2 * n_words > _MOST_PAIR_WORDS or n_bytes > _MOST_MEMORY


def prunings(problem: TreeProblem, seeds: list[Encoded]) -> list[Encoded]:
    """Return what no other pruning of these trees, nor any of them, beats in both costs.

    A pruning turns splits into leaves. The front of a tree's prunings follows from those of its branches: the
    leaf alone, and the split with every pair of what is left and right of it.

    Parameters
    ----------
    problem : TreeProblem
    seeds : list of (tests, masks)

    Returns
    -------
    list of (tests, masks)
        From careful to cheap, one for each point.
    """
    points, rebuild = [np.empty((0, 2))], []
    for test, mask in seeds:
        front, tree_of = _front_of_prunings(problem.tree(test, mask), problem, test, mask)
        points.append(front)
        rebuild += [(tree_of, point) for point in range(len(front))]
    every = np.concatenate(points)
    kept = np.flatnonzero(nondominated(every))
    kept = kept[np.argsort(every[kept, 0], kind="stable")]
    return [tree_of(point) for tree_of, point in (rebuild[i] for i in kept.tolist())]


def _front_of_prunings(
    tree: Tree, problem: TreeProblem, test: NDArray[np.int32], mask: NDArray[np.uint64]
) -> tuple[NDArray[np.float64], Callable[[int], Encoded]]:
    """Return the points of a tree's prunings, summed over cases, and what rebuilds the tree of a point."""
    price = path_costs(tree, problem.costs)
    weight = tree.class_weight.sum(axis=1)
    least = tree.label_cost.min(axis=1)
    fronts: list[NDArray[np.float64]] = [np.array([[cost, 0.0]]) for cost in least]
    # Point of the left and of the right branch; -1: the node is a leaf.
    pairs = [np.array([[-1, -1]])] * tree.n_nodes
    for node in np.flatnonzero(tree.feature >= 0)[::-1].tolist():
        left, right = tree.children(node)
        sums = fronts[left][:, None] + fronts[right]
        sums[:, :, 1] += weight[node] * (price[left] - price[node])
        points = np.concatenate([fronts[node], sums.reshape(-1, 2)])
        kept = _front(points)
        both = np.indices(sums.shape[:2]).reshape(2, -1).T
        fronts[node], pairs[node] = points[kept], np.concatenate([pairs[node], both])[kept]

    def tree_of(point: int) -> Encoded:
        nodes, leaves, pending = [], [], [(0, point)]
        while pending:
            node, chosen = pending.pop()
            left, right = pairs[node][chosen].tolist()
            nodes.append(node)
            leaves.append(left < 0)
            if left >= 0:
                first, second = tree.children(node)
                pending += [(second, right), (first, left)]
        return (
            np.where(leaves, -1, test[nodes]).astype(np.int32),
            np.where(leaves, 0, mask[nodes]).astype(np.uint64),
        )

    return fronts[0], tree_of


def _front(points: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return indices of the nondominated points, the least crowded where there are very many."""
    kept = np.flatnonzero(nondominated(points))
    if len(kept) > _MOST_PRUNINGS:
        distance = crowding_distance(np.ascontiguousarray(points[kept]))
        kept = kept[np.argsort(-distance, kind="stable")[:_MOST_PRUNINGS]]
    return kept
