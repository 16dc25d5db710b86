"""NNIA: the nondominated-neighbour immune search over decision trees."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cstree.evolution._kernels import evolve
from cstree.evolution._mutation_kernels import N_OPERATORS
from cstree.evolution.population import Pool, Settings, make_fill_work, make_pool
from cstree.pareto._kernels import hypervolume_2d
from cstree.pareto.front import Front
from cstree.tree._bit_kernels import LEAVES, MISCLASSIFICATION, TEST_COST, WORST_TEST_COST
from cstree.tree.evaluation import evaluate, path_costs
from cstree.tree.problem import TreeProblem
from cstree.tree.search import Progress, SearchInterrupted, reference_point
from cstree.tree.tree import Tree

__all__ = ["MUTATIONS", "NNIA", "OBJECTIVES", "Progress", "SearchInterrupted"]

MUTATIONS = ("regrow", "prune", "move_cut", "change_test", "split_leaf")
OBJECTIVES = {
    "misclassification_cost": MISCLASSIFICATION,
    "test_cost": TEST_COST,
    "n_leaves": LEAVES,
    "worst_test_cost": WORST_TEST_COST,
}

# A compiled call runs about this long, so that progress and Ctrl-C are seldom late.
_SECONDS_PER_CALL = 0.1


@dataclass
class NNIA:
    """Nondominated-neighbour immune algorithm over binary decision trees.

    Parameters
    ----------
    dominant_size : int, default=100
        Most trees on the front (N_D).
    active_size : int, default=20
        Least crowded trees that are cloned (N_A).
    clone_size : int, default=100
        Clones of a generation (N_C).
    generations : int or None, default=500
        Generations to run; None: until another limit.
    time_budget : float or None, default=None
        Seconds, compiling not counted.
    patience : int or None, default=200
        Stop after so many generations in which the front did not change.
    mutations : "all" or sequence of str, default="all"
        From "regrow", "prune", "move_cut", "change_test", "split_leaf".
    recombination : float, default=0.5
        Probability that a clone first swaps a subtree with another active tree.
    polish : float, default=0.1
        Probability that a clone is polished instead: a part of it rebuilt from optimal subtrees of
        depth two. 0 is the published algorithm.
    leaf_chance : float, default=0.4
        Probability that a node of a random tree, below its root, is a leaf.
    prune_by_cost : bool, default=True
        Turn splits that do not pay for themselves in misclassification cost into leaves.
    objectives : sequence of str
        From "misclassification_cost", "test_cost", "n_leaves", "worst_test_cost".
    """

    dominant_size: int = 100
    active_size: int = 20
    clone_size: int = 100
    generations: int | None = 500
    time_budget: float | None = None
    patience: int | None = 200
    mutations: str | Sequence[str] = "all"
    recombination: float = 0.5
    polish: float = 0.1
    leaf_chance: float = 0.4
    prune_by_cost: bool = True
    objectives: Sequence[str] = ("misclassification_cost", "test_cost")
    history_: list[Progress] = field(default_factory=list, init=False, repr=False)

    def run(
        self,
        problem: TreeProblem,
        rng: np.random.Generator,
        callback: Callable[[Progress], None] | None = None,
        *,
        seeds: Sequence[tuple[NDArray[np.int32], NDArray[np.uint64]]] = (),
    ) -> Front[Tree]:
        """Search and return the front.

        Parameters
        ----------
        problem : TreeProblem
        rng : numpy.random.Generator
            The only source of randomness: the same state gives the same front.
        callback : callable, optional
            Called with a :class:`Progress` several times a second.
        seeds : sequence of (tests, masks), optional
            Trees to start from, as :meth:`TreeProblem.encode_tree` gives them.

        Returns
        -------
        Front

        Raises
        ------
        SearchInterrupted
            On Ctrl-C; its ``front`` holds what was found.
        ValueError
            A parameter is out of range; the error names it.
        """
        self._validate()
        self.history_ = []
        run = _Run(self, problem, rng, seeds)
        try:
            run.search(callback)
        except KeyboardInterrupt:
            if run.state[0] == 0:
                raise
            raise SearchInterrupted(run.front(interrupted=True)) from None
        return run.front(interrupted=False)

    def _validate(self) -> None:
        for name in ("dominant_size", "active_size", "clone_size"):
            if int(getattr(self, name)) < 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)}.")
        for name in ("generations", "patience"):
            value = getattr(self, name)
            if value is not None and value < 0:
                raise ValueError(f"{name} must not be negative, got {value}.")
        if self.time_budget is not None and not self.time_budget >= 0:
            raise ValueError(f"time_budget must not be negative, got {self.time_budget}.")
        if self.generations is None and self.time_budget is None and self.patience is None:
            raise ValueError(
                "give at least one of generations, time_budget and patience, or the search never ends."
            )
        for name in ("recombination", "polish", "leaf_chance"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name} is a probability in [0, 1], got {getattr(self, name)}.")
        for name in self.objectives:
            if name not in OBJECTIVES:
                raise ValueError(f"unknown objective {name!r}; known are {list(OBJECTIVES)}.")
        self.operator_share()

    def operator_share(self) -> NDArray[np.float64]:
        """Cumulated probability of each operator, shape (5,)."""
        chosen = MUTATIONS if isinstance(self.mutations, str) and self.mutations == "all" else self.mutations
        chosen = [chosen] if isinstance(chosen, str) else list(chosen)
        if not chosen:
            raise ValueError(f"mutations is empty; name some of {list(MUTATIONS)}.")
        weight = np.zeros(N_OPERATORS)
        for name in chosen:
            if name not in MUTATIONS:
                raise ValueError(f"unknown mutation {name!r}; known are 'all' and {list(MUTATIONS)}.")
            weight[MUTATIONS.index(name)] += 1
        return np.cumsum(weight / weight.sum())


class _Run:
    """One search under way."""

    def __init__(
        self,
        search: NNIA,
        problem: TreeProblem,
        rng: np.random.Generator,
        seeds: Sequence[tuple[NDArray[np.int32], NDArray[np.uint64]]],
    ) -> None:
        self.search_settings = search
        self.problem = problem
        self.rng = rng
        self.settings = Settings(
            max_depth=problem.max_depth,
            max_nodes=problem.max_nodes,
            min_support=problem.min_support,
            prune_by_cost=search.prune_by_cost,
            dominant_size=int(search.dominant_size),
            active_size=int(search.active_size),
            clone_size=int(search.clone_size),
            recombination=float(search.recombination),
            leaf_chance=float(search.leaf_chance),
            polish=float(search.polish) if len(problem.candidates) else 0.0,
        )
        self.fill_work = make_fill_work(problem)
        self.kinds = np.array([OBJECTIVES[name] for name in search.objectives], dtype=np.int64)
        self.pool: Pool = make_pool(problem, self.settings, len(self.kinds))
        self.state = np.zeros(5, dtype=np.int64)
        self.workspace = problem.workspace()
        self.state[4] = min(len(seeds), self.settings.dominant_size)
        for slot, (test, mask) in enumerate(seeds[: self.state[4]]):
            self.pool.n_nodes[slot] = len(test)
            self.pool.test[slot, : len(test)] = test
            self.pool.mask[slot, : len(test)] = mask
        self.reference = (
            reference_point(problem) if list(self.kinds) == [MISCLASSIFICATION, TEST_COST] else None
        )
        self.seconds = 0.0

    def search(self, callback: Callable[[Progress], None] | None) -> None:
        limits = self.search_settings
        generations = limits.generations
        if len(self.problem.arrays.choice_feature) == 0 or self.settings.max_depth == 0:
            generations = 0
            self._start_with_a_leaf()
        else:
            self._evolve(0)  # the first population; compiles, so that the clock counts searching alone
        begin = time.perf_counter()
        batch = 1
        while True:
            self.seconds = time.perf_counter() - begin
            progress = self.progress(generations)
            self.search_settings.history_.append(progress)
            if callback is not None:
                callback(progress)
            left = self._generations_left(generations)
            if left <= 0 or (limits.time_budget is not None and self.seconds >= limits.time_budget):
                return
            batch = min(batch, left)
            started = time.perf_counter()
            self._evolve(batch)
            batch = self._next_batch(batch, time.perf_counter() - started, begin)

    def _generations_left(self, generations: int | None) -> int:
        left = 2**40 if generations is None else generations - int(self.state[2])
        patience = self.search_settings.patience
        if patience is not None:
            left = min(left, patience - int(self.state[2] - self.state[3]))
        return left

    def _next_batch(self, batch: int, seconds: float, begin: float) -> int:
        allowed = _SECONDS_PER_CALL
        budget = self.search_settings.time_budget
        if budget is not None:
            allowed = min(allowed, max(budget - (time.perf_counter() - begin), 0.0))
        return max(1, min(int(batch * allowed / max(seconds, 1e-6)), 2 * batch))

    def _evolve(self, n_generations: int) -> None:
        evolve(
            self.problem.arrays,
            self.workspace,
            self.fill_work,
            self.pool,
            self.state,
            self.rng,
            self.settings,
            self.kinds,
            self.search_settings.operator_share(),
            n_generations,
        )

    def _start_with_a_leaf(self) -> None:
        self.pool.test[0, 0] = -1
        self.pool.n_nodes[0] = 1
        self.state[0] = 1
        self.pool.objectives[0] = self._objectives(
            self.problem.tree(self.pool.test[0, :1], self.pool.mask[0, :1])
        )

    def progress(self, generations: int | None) -> Progress:
        """Where the search stands now."""
        members = self.pool.slots[: self.state[0]]
        share = np.nan
        if self.reference is not None:
            volume = hypervolume_2d(np.ascontiguousarray(self.pool.objectives[members]), self.reference)
            box = float(self.reference.prod())
            share = volume / box if box > 0 else np.nan
        return Progress(
            int(self.state[2]),
            int(self.state[1]),
            int(self.state[0]),
            float(share),
            self.seconds,
            generations,
        )

    def front(self, *, interrupted: bool) -> Front[Tree]:
        """Labelled trees of the dominant members with their objectives, evaluated afresh."""
        trees = []
        for slot in self.pool.slots[: self.state[0]]:
            n = self.pool.n_nodes[slot]
            trees.append(self.problem.tree(self.pool.test[slot, :n], self.pool.mask[slot, :n]))
        objectives = np.array([self._objectives(tree) for tree in trees])
        info: dict[str, Any] = {
            "search": "nnia",
            "generations": int(self.state[2]),
            "evaluations": int(self.state[1]),
            "seconds": self.seconds,
            "interrupted": interrupted,
        }
        return Front(objectives, trees, objective_names=tuple(self.search_settings.objectives), info=info)

    def _objectives(self, tree: Tree) -> list[float]:
        costs = evaluate(tree, self.problem.dataset, self.problem.costs)
        values = {
            MISCLASSIFICATION: costs.misclassification_cost,
            TEST_COST: costs.test_cost,
            LEAVES: float(tree.n_leaves),
            WORST_TEST_COST: float(path_costs(tree, self.problem.costs).max()),
        }
        return [values[int(kind)] for kind in self.kinds]
