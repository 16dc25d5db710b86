"""A search under way: islands, clock, progress, checkpoints."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from cstree.evolution._kernels import DUPLICATES, EVALUATIONS, GENERATIONS, MERGED
from cstree.evolution.checkpoint import Checkpoint
from cstree.evolution.island import Island, best_members
from cstree.evolution.population import Settings
from cstree.evolution.progress import History
from cstree.pareto._kernels import hypervolume_2d
from cstree.pareto.front import Front
from cstree.tree._bit_kernels import MISCLASSIFICATION, TEST_COST
from cstree.tree.problem import TreeProblem
from cstree.tree.search import Progress, reference_point, tree_objectives
from cstree.tree.tree import Tree

__all__ = ["Limits", "Run"]

# A compiled call runs about this long, so that progress and Ctrl-C are seldom late.
_SECONDS_PER_CALL = 0.1


class Limits:
    """When a search ends."""

    def __init__(self, generations: int | None, time_budget: float | None, patience: int | None) -> None:
        self.generations = generations
        self.time_budget = time_budget
        self.patience = patience


class Run:
    """One search under way.

    Islands advance in step: between two migrations each runs the same generations, so the outcome does
    not depend on how many threads there are, nor on where a call or a checkpoint falls.
    """

    def __init__(
        self,
        problem: TreeProblem,
        islands: Sequence[Island],
        settings: Settings,
        limits: Limits,
        objective_names: Sequence[str],
        *,
        migration: int = 100,
        n_jobs: int = 1,
        checkpoint: Checkpoint | None = None,
    ) -> None:
        self.problem = problem
        self.islands = list(islands)
        self.settings = settings
        self.limits = limits
        self.objective_names = tuple(objective_names)
        self.migration = migration
        self.n_jobs = n_jobs
        self.checkpoint = checkpoint
        self.kinds = self.islands[0].objective_kind
        both = list(self.kinds) == [MISCLASSIFICATION, TEST_COST]
        self.reference = reference_point(problem) if both else None
        self.history = History()
        self.seconds = 0.0

    @property
    def generation(self) -> int:
        """Generations that every island has run."""
        return int(self.islands[0].state[GENERATIONS])

    @property
    def has_members(self) -> bool:
        """Whether there is a front to speak of."""
        return all(len(island.found().n_nodes) > 0 for island in self.islands)

    def search(self, callback: Callable[[Progress], None] | None) -> None:
        """Run until a limit is reached."""
        generations = self.limits.generations
        if len(self.problem.arrays.choice_feature) == 0 or self.settings.max_depth == 0:
            generations = 0
            self._start_with_a_leaf()
        elif self.checkpoint is None or not self.checkpoint.load(self.islands):
            for island in self.islands:
                island.evolve(0)  # the first population; compiles, so that the clock counts searching alone
        begin = time.perf_counter()
        batch = 1
        with ThreadPoolExecutor(self.n_jobs) as threads:
            while True:
                self.seconds = time.perf_counter() - begin
                self._report(generations, callback)
                left = self._generations_left(generations)
                budget = self.limits.time_budget
                if left <= 0 or (budget is not None and self.seconds >= budget):
                    break
                started = time.perf_counter()
                batch = self._advance(min(batch, left), threads)
                if self.checkpoint is not None:
                    self.checkpoint.save_when_due(self.islands)
                batch = self._next_batch(batch, time.perf_counter() - started, begin)
        if self.checkpoint is not None:
            self.checkpoint.save(self.islands)

    def _advance(self, batch: int, threads: ThreadPoolExecutor) -> int:
        """Run a batch that ends at the next migration at the latest; return its generations."""
        if len(self.islands) == 1:
            self.islands[0].evolve(batch)
            return batch
        batch = min(batch, self.migration - self.generation % self.migration)
        list(threads.map(lambda island: island.evolve(batch), self.islands))
        if self.generation % self.migration == 0:
            best = best_members(self.islands, self.settings.dominant_size)
            for island in self.islands:
                # A population that began anew stays alone until it is stuck.
                if island.state[MERGED]:
                    island.settle(best)
        return batch

    def _generations_left(self, generations: int | None) -> int:
        left = 2**40 if generations is None else generations - self.generation
        if self.limits.patience is not None:
            last_change = max(island.last_change for island in self.islands)
            left = min(left, self.limits.patience - (self.generation - last_change))
        return left

    def _next_batch(self, batch: int, seconds: float, begin: float) -> int:
        allowed = _SECONDS_PER_CALL
        if self.limits.time_budget is not None:
            allowed = min(allowed, max(self.limits.time_budget - (time.perf_counter() - begin), 0.0))
        return max(1, min(int(batch * allowed / max(seconds, 1e-6)), 2 * batch))

    def _start_with_a_leaf(self) -> None:
        leaf = self.problem.tree(np.array([-1], np.int32), np.zeros(1, np.uint64))
        objectives = tree_objectives(leaf, self.problem, self.objective_names)
        for island in self.islands:
            island.pool.test[0, 0] = -1
            island.pool.n_nodes[0] = 1
            island.state[0] = 1
            island.pool.objectives[0] = objectives

    def _report(self, generations: int | None, callback: Callable[[Progress], None] | None) -> None:
        points = best_members(self.islands).objectives
        share = np.nan
        if self.reference is not None and self.reference.prod() > 0:
            volume = hypervolume_2d(np.ascontiguousarray(points), self.reference)
            share = float(volume / self.reference.prod())
        evaluations = sum(int(island.state[EVALUATIONS]) for island in self.islands)
        progress = Progress(self.generation, evaluations, len(points), share, self.seconds, generations)
        self.history(progress)
        if callback is not None:
            callback(progress)

    def front(self, *, interrupted: bool) -> Front[Tree]:
        """Labelled trees of the dominant members with their objectives, from the labelled figures."""
        members = best_members(self.islands)
        trees = [
            self.problem.tree(members.test[i, :n], members.mask[i, :n])
            for i, n in enumerate(members.n_nodes.tolist())
        ]
        names = self.objective_names
        objectives = np.array([tree_objectives(tree, self.problem, names, labelled=True) for tree in trees])
        info: dict[str, Any] = {
            "search": "nnia",
            "generations": self.generation,
            "evaluations": sum(int(island.state[EVALUATIONS]) for island in self.islands),
            "duplicates": sum(int(island.state[DUPLICATES]) for island in self.islands),
            "islands": len(self.islands),
            "seconds": self.seconds,
            "interrupted": interrupted,
        }
        return Front(objectives, trees, objective_names=self.objective_names, info=info)
