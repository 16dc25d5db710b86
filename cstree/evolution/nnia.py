"""NNIA: the nondominated-neighbour immune search over decision trees."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cstree.evolution._mutation_kernels import N_OPERATORS
from cstree.evolution.checkpoint import Checkpoint
from cstree.evolution.island import Island
from cstree.evolution.population import Settings
from cstree.evolution.progress import History
from cstree.evolution.run import Limits, Run
from cstree.pareto.front import Front
from cstree.tree._bit_kernels import LEAVES, MISCLASSIFICATION, TEST_COST, WORST_TEST_COST
from cstree.tree.problem import TreeProblem
from cstree.tree.search import Progress, SearchInterrupted
from cstree.tree.tree import Tree

__all__ = ["MUTATIONS", "NNIA", "OBJECTIVES", "Progress", "SearchInterrupted"]

MUTATIONS = ("regrow", "prune", "move_cut", "change_test", "split_leaf")
OBJECTIVES = {
    "misclassification_cost": MISCLASSIFICATION,
    "test_cost": TEST_COST,
    "n_leaves": LEAVES,
    "worst_test_cost": WORST_TEST_COST,
}


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
    polish : float or bool, default=0.1
        Probability that a clone is polished instead: a part of it rebuilt from optimal subtrees of
        depth two; True: 0.1. False or 0 is the published algorithm: no polish, no archive, no restarts.
    restart : int or None, default=20
        Generations without change after which a population is stuck and begins anew: with random trees,
        and when these are stuck too, with the best of all found. None: never.
    archive_size : int, default=1000
        Most nondominated trees that are kept beside the population, which has room for ``dominant_size``.
    leaf_chance : float, default=0.4
        Probability that a node of a random tree, below its root, is a leaf.
    prune_by_cost : bool, default=True
        Turn splits that do not pay for themselves in misclassification cost into leaves.
    objectives : sequence of str
        From "misclassification_cost", "test_cost", "n_leaves", "worst_test_cost".
    islands : int, default=1
        Populations that search apart and share their fronts every ``migration`` generations.
    migration : int, default=100
    n_jobs : int or None, default=None
        Threads for the islands; None: 1, -1: one per island. The outcome is the same for any number.
    checkpoint : str, Path or None, default=None
        File that keeps the state of the search. Where it exists already, the search goes on from it: a
        run that was killed and resumed ends with the same front as one that was not.
    checkpoint_seconds : float, default=30
        Least time between two states.
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
    restart: int | None = 20
    archive_size: int = 1000
    leaf_chance: float = 0.4
    prune_by_cost: bool = True
    objectives: Sequence[str] = ("misclassification_cost", "test_cost")
    islands: int = 1
    migration: int = 100
    n_jobs: int | None = None
    checkpoint: str | Path | None = None
    checkpoint_seconds: float = 30.0
    history_: History = field(default_factory=History, init=False, repr=False)

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
        run = self.start(problem, rng, seeds)
        self.history_ = run.history
        try:
            run.search(callback)
        except KeyboardInterrupt:
            if not run.has_members:
                raise
            if run.checkpoint is not None:
                run.checkpoint.save(run.islands)
            raise SearchInterrupted(run.front(interrupted=True)) from None
        return run.front(interrupted=False)

    def start(
        self,
        problem: TreeProblem,
        rng: np.random.Generator,
        seeds: Sequence[tuple[NDArray[np.int32], NDArray[np.uint64]]] = (),
    ) -> Run:
        """Prepare a search without running it; see :meth:`run`."""
        has_tests = problem.max_depth > 0 and len(problem.arrays.choice_feature) > 0
        beyond_published = has_tests and self.polish > 0
        settings = Settings(
            max_depth=problem.max_depth,
            max_nodes=problem.max_nodes,
            min_support=problem.min_support,
            prune_by_cost=self.prune_by_cost,
            dominant_size=int(self.dominant_size),
            active_size=int(self.active_size),
            clone_size=int(self.clone_size),
            recombination=float(self.recombination),
            leaf_chance=float(self.leaf_chance),
            polish=(0.1 if self.polish is True else float(self.polish)) if len(problem.candidates) else 0.0,
            restart=int(self.restart or 0) if beyond_published else 0,
            archive_size=int(self.archive_size) if beyond_published else 0,
        )
        kinds = np.array([OBJECTIVES[name] for name in self.objectives], dtype=np.int64)
        generators = [rng] if self.islands == 1 else rng.spawn(self.islands)
        islands = [
            Island(problem, settings, kinds, self.operator_share(), generator, seeds)
            for generator in generators
        ]
        threads = len(islands) if self.n_jobs == -1 else min(self.n_jobs or 1, len(islands))
        keeper = None if self.checkpoint is None else Checkpoint(self.checkpoint, self.checkpoint_seconds)
        return Run(
            problem,
            islands,
            settings,
            Limits(self.generations, self.time_budget, self.patience),
            self.objectives,
            migration=int(self.migration),
            n_jobs=threads,
            checkpoint=keeper,
        )

    def _validate(self) -> None:
        self._validate_kinds()
        for name in ("dominant_size", "active_size", "clone_size", "islands", "migration"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)}.")
        if self.archive_size < 0:
            raise ValueError(f"archive_size must not be negative, got {self.archive_size}.")
        if self.restart is not None and self.restart < 1:
            raise ValueError(f"restart must be at least 1 or None, got {self.restart}.")
        if self.restart is not None and self.archive_size == 0 and self.polish > 0:
            raise ValueError("restart needs an archive: give archive_size, or restart=None.")
        for name in ("generations", "patience"):
            value = getattr(self, name)
            if value is not None and value < 0:
                raise ValueError(f"{name} must not be negative, got {value}.")
        if self.time_budget is not None and not self.time_budget >= 0:
            raise ValueError(f"time_budget must not be negative, got {self.time_budget}.")
        if self.n_jobs is not None and self.n_jobs != -1 and self.n_jobs < 1:
            raise ValueError(f"n_jobs must be at least 1, -1 or None, got {self.n_jobs}.")
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
        if not self.objectives or len(set(self.objectives)) < len(self.objectives):
            raise ValueError(f"objectives must be one or more different names, got {tuple(self.objectives)}.")
        self.operator_share()

    def _validate_kinds(self) -> None:
        """Whole numbers where something is counted, numbers elsewhere, before any of them is compared."""
        for name in ("dominant_size", "active_size", "clone_size", "islands", "migration", "archive_size"):
            if not _is_a(Integral, getattr(self, name)):
                raise TypeError(f"{name} must be a whole number, got {getattr(self, name)!r}.")
        for name in ("generations", "patience", "n_jobs", "restart"):
            if getattr(self, name) is not None and not _is_a(Integral, getattr(self, name)):
                raise TypeError(f"{name} must be a whole number or None, got {getattr(self, name)!r}.")
        for name in ("recombination", "leaf_chance", "checkpoint_seconds"):
            if not _is_a(Real, getattr(self, name)):
                raise TypeError(f"{name} must be a number, got {getattr(self, name)!r}.")
        if not isinstance(self.polish, Real):
            raise TypeError(f"polish must be a probability, True or False, got {self.polish!r}.")
        if self.time_budget is not None and not _is_a(Real, self.time_budget):
            raise TypeError(f"time_budget must be a number of seconds or None, got {self.time_budget!r}.")

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


def _is_a(kind: type, value: Any) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)
