"""One population under way, and how several of them share what they found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cstree.evolution._kernels import evolve
from cstree.evolution.population import Pool, Settings, make_fill_work, make_pool
from cstree.pareto._kernels import crowding_distance, nondominated
from cstree.tree.problem import TreeProblem

__all__ = ["Island", "Members", "best_members"]

MEMBERS, EVALUATIONS, GENERATIONS, LAST_CHANGE, SEEDS = range(5)


class Members(NamedTuple):
    """Trees taken out of a pool, row by row."""

    test: NDArray[np.int32]
    mask: NDArray[np.uint64]
    size: NDArray[np.int32]
    badness: NDArray[np.float64]
    n_nodes: NDArray[np.int32]
    regret: NDArray[np.float64]
    objectives: NDArray[np.float64]

    def take(self, rows: NDArray[np.intp]) -> Members:
        """Return the given rows."""
        return Members._make(array[rows] for array in self)


class Island:
    """A population with its own randomness, workspace and counters.

    Attributes
    ----------
    pool : Pool
    state : int64 (5,)
        Members, evaluations, generations, generation of the last change, seeds.
    """

    def __init__(
        self,
        problem: TreeProblem,
        settings: Settings,
        objective_kind: NDArray[np.int64],
        operator_share: NDArray[np.float64],
        rng: np.random.Generator,
        seeds: Sequence[tuple[NDArray[np.int32], NDArray[np.uint64]]] = (),
    ) -> None:
        self.problem = problem
        self.settings = settings
        self.objective_kind = objective_kind
        self.operator_share = operator_share
        self.rng = rng
        self.pool: Pool = make_pool(problem, settings, len(objective_kind))
        self.state = np.zeros(5, dtype=np.int64)
        self.workspace = problem.workspace()
        self.fill_work = make_fill_work(problem)
        self.state[SEEDS] = min(len(seeds), settings.dominant_size)
        for slot, (test, mask) in enumerate(seeds[: self.state[SEEDS]]):
            self.pool.n_nodes[slot] = len(test)
            self.pool.test[slot, : len(test)] = test
            self.pool.mask[slot, : len(test)] = mask

    def evolve(self, n_generations: int) -> None:
        """Run generations; the first call also makes the first population."""
        evolve(
            self.problem.arrays,
            self.workspace,
            self.fill_work,
            self.pool,
            self.state,
            self.rng,
            self.settings,
            self.objective_kind,
            self.operator_share,
            n_generations,
        )

    def members(self) -> Members:
        """Copy the dominant trees."""
        slots = self.pool.slots[: self.state[MEMBERS]]
        return Members(*(getattr(self.pool, name)[slots] for name in Members._fields))

    def settle(self, members: Members) -> None:
        """Put these trees in the place of the dominant ones."""
        count = len(members.n_nodes)
        self.pool.slots[:] = np.arange(len(self.pool.slots))
        for name in Members._fields:
            getattr(self.pool, name)[:count] = getattr(members, name)
        self.state[MEMBERS] = count


def best_members(islands: Sequence[Island], most: int | None = None) -> Members:
    """Nondominated trees of all islands, one a point; at most the ``most`` least crowded."""
    every = [island.members() for island in islands]
    together = Members(*(np.concatenate(arrays) for arrays in zip(*every, strict=True)))
    small_first = np.argsort(together.n_nodes, kind="stable")
    together = together.take(small_first)
    kept = np.flatnonzero(nondominated(np.ascontiguousarray(together.objectives)))
    if most is not None and len(kept) > most:
        distance = crowding_distance(np.ascontiguousarray(together.objectives[kept]))
        kept = kept[np.sort(np.argsort(-distance, kind="stable")[:most])]
    return together.take(kept)
