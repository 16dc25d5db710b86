"""Search objects made of the parameters of a :class:`ParetoTreeClassifier`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from numbers import Real
from typing import Any

from cstree.evolution.fitting import at_least
from cstree.evolution.nnia import NNIA, OBJECTIVES
from cstree.evolution.seeds import Encoded, exact_seeds, greedy_seeds, prunings
from cstree.exact.search import ExactSearch
from cstree.tree.problem import TreeProblem
from cstree.tree.tree import Tree

__all__ = ["leaf_limit", "make_search", "make_starts", "path_bound"]

_LEAVES = 64


def leaf_limit(model: Any, depth: int) -> int:
    """Most leaves of a tree of that depth."""
    if model.max_leaf_nodes is not None:
        return at_least("max_leaf_nodes", model.max_leaf_nodes, 1)
    # A complete front has no limit but the depth.
    return int(2 ** min(depth, 30)) if model.search == "exact" else _LEAVES


def path_bound(max_test_cost: Any) -> float:
    """Most that the tests on a path may cost."""
    if max_test_cost is None:
        return float("inf")
    if isinstance(max_test_cost, bool) or not isinstance(max_test_cost, Real):
        raise TypeError(f"max_test_cost must be a number or None, got {max_test_cost!r}.")
    if not float(max_test_cost) >= 0:
        raise ValueError(f"max_test_cost must not be negative, got {max_test_cost}.")
    return float(max_test_cost)


def make_starts(model: Any, problem: TreeProblem) -> dict[str, Any]:
    """Seed trees for the search, where it takes some."""
    if model.search not in ("nnia", "nsga2", "spea2") or model.seeds is None:
        return {}
    if isinstance(model.seeds, Iterable) and not isinstance(model.seeds, str):
        trees = list(model.seeds)
        if all(isinstance(tree, Tree) for tree in trees):
            return {"seeds": _encoded(problem, trees)}
    if not isinstance(model.seeds, str) or model.seeds not in ("greedy", "exact"):
        raise ValueError(
            f"seeds must be 'greedy', 'exact', None or a sequence of trees; got {model.seeds!r}."
        )
    seeds = _encoded(problem, greedy_seeds(problem))
    if model.search == "nnia" and model.polish > 0:  # only then is there an archive to keep them all
        seeds += prunings(problem, seeds)
    if model.seeds == "exact":
        seeds += _encoded(problem, exact_seeds(problem, model.time_budget))
    return {"seeds": seeds}


def _encoded(problem: TreeProblem, trees: Sequence[Tree]) -> list[Encoded]:
    """Return tests and masks of the trees that fit the problem."""
    return [found for found in map(problem.encode_tree, trees) if found is not None]


def make_search(model: Any) -> Any:
    """Return the search that a model's parameters describe.

    Raises
    ------
    TypeError, ValueError
        They describe none; the error names the parameter.
    """
    if not isinstance(model.search, str):
        if not callable(getattr(model.search, "run", None)):
            raise TypeError("search must be 'nnia' or an object with run(problem, rng, callback) -> Front.")
        return model.search
    if model.search == "exact":
        if tuple(model.objectives) != ("misclassification_cost", "test_cost"):
            raise ValueError("search='exact' knows the objectives misclassification_cost and test_cost only.")
        return ExactSearch(time_budget=model.time_budget)
    if model.search not in ("nnia", "nsga2", "spea2"):
        raise ValueError(
            f"unknown search {model.search!r}; known are 'nnia', 'nsga2', 'spea2' and 'exact', or give a "
            "search object."
        )
    for name in model.objectives:
        if name not in OBJECTIVES:
            raise ValueError(f"unknown objective {name!r}; known are {list(OBJECTIVES)}.")
    if model.search != "nnia":
        return _genetic_search(model)
    return NNIA(
        dominant_size=model.dominant_size,
        active_size=model.active_size,
        clone_size=model.clone_size,
        generations=model.generations,
        time_budget=model.time_budget,
        patience=model.patience,
        mutations=model.mutations,
        recombination=model.recombination,
        polish=model.polish,
        restart=model.restart,
        islands=model.islands,
        n_jobs=model.n_jobs,
        checkpoint=model.checkpoint,
        objectives=tuple(model.objectives),
    )


def _genetic_search(model: Any) -> Any:
    from cstree.evolution.genetic import NSGA2, SPEA2  # loads DEAP, which others need not wait for

    kind = NSGA2 if model.search == "nsga2" else SPEA2
    return kind(
        population_size=model.dominant_size,
        generations=model.generations,
        time_budget=model.time_budget,
        patience=model.patience,
        mutations=model.mutations,
        recombination=model.recombination,
        polish=model.polish,
        objectives=tuple(model.objectives),
    )
