"""One population under way, and how several of them share what they found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cstree.evolution._kernels import (
    ARCHIVE_CHANGE,
    ARCHIVED,
    DUPLICATES,
    EVALUATIONS,
    GENERATIONS,
    LAST_CHANGE,
    MEMBERS,
    MERGED,
    SEEDS,
    evolve,
)
from cstree.evolution.population import (
    Archive,
    Pool,
    Settings,
    make_archive,
    make_fill_work,
    make_pool,
)
from cstree.pareto._kernels import crowding_distance, nondominated
from cstree.tree.problem import TreeProblem

__all__ = ["Island", "Members", "best_members"]

N_COUNTERS = DUPLICATES + 1


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
    archive : Archive
    state : int64 (9,)
        Counters; see :func:`cstree.evolution._kernels.evolve`.
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
        self.archive: Archive = make_archive(problem, settings, len(objective_kind))
        self.state = np.zeros(N_COUNTERS, dtype=np.int64)
        self.state[MERGED] = 1
        self.workspace = problem.workspace()
        self.fill_work = make_fill_work(problem)
        self.seeds = seeds if settings.archive_size else seeds[: settings.dominant_size]

    def evolve(self, n_generations: int) -> None:
        """Run generations; the first call also makes the first population."""
        if not self.state[EVALUATIONS]:
            self._sow()
        self._run(n_generations)

    def _sow(self) -> None:
        """Make the first population of seeds and random trees.

        More seeds than it has room for come in turns; the archive keeps what is good among them.
        """
        room = self.settings.dominant_size
        for start in range(0, max(len(self.seeds), 1), room):
            self._plant(self.seeds[start : start + room])
            self._run(0)
        if len(self.seeds) > room:
            self.settle(_least_crowded(self.found(), room))
        self.seeds = ()

    def _plant(self, seeds: Sequence[tuple[NDArray[np.int32], NDArray[np.uint64]]]) -> None:
        """Let seeds wait in the first slots for a first population."""
        self.pool.slots[:] = np.arange(len(self.pool.slots))
        self.state[MEMBERS], self.state[SEEDS] = 0, len(seeds)
        for slot, (test, mask) in enumerate(seeds):
            self.pool.n_nodes[slot] = len(test)
            self.pool.test[slot, : len(test)] = test
            self.pool.mask[slot, : len(test)] = mask

    def _run(self, n_generations: int) -> None:
        last = self.state[GENERATIONS] + n_generations
        while True:
            restart = self.settings.restart
            if restart and self.state[GENERATIONS] - self.state[LAST_CHANGE] >= restart:
                self._start_anew()
            evolve(
                self.problem.arrays,
                self.workspace,
                self.fill_work,
                self.pool,
                self.archive,
                self.state,
                self.rng,
                self.settings,
                self.objective_kind,
                self.operator_share,
                last - self.state[GENERATIONS],
            )
            if self.state[GENERATIONS] >= last:
                return

    def _start_anew(self) -> None:
        """Leave a population that is stuck: for a random one, or, if it is one, for the archive's trees."""
        self.state[LAST_CHANGE] = self.state[GENERATIONS]
        self.archive.seen[:] = 0  # what was seen is wanted again
        self.state[MERGED] = 1 - self.state[MERGED]
        if self.state[MERGED]:
            self.settle(_least_crowded(self.found(), self.settings.dominant_size))
        else:
            self.state[MEMBERS] = self.state[SEEDS] = 0

    @property
    def last_change(self) -> int:
        """Generation in which something new was found last."""
        return int(self.state[ARCHIVE_CHANGE if self.settings.archive_size else LAST_CHANGE])

    def found(self) -> Members:
        """Copy all nondominated trees that were found."""
        if not self.settings.archive_size:
            return self.members()
        count = self.state[ARCHIVED]
        return Members(*(getattr(self.archive, name)[:count].copy() for name in Members._fields))

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
    every = [island.found() for island in islands]
    together = Members(*(np.concatenate(arrays) for arrays in zip(*every, strict=True)))
    together = together.take(np.argsort(together.n_nodes, kind="stable"))
    together = together.take(np.flatnonzero(nondominated(np.ascontiguousarray(together.objectives))))
    return together if most is None else _least_crowded(together, most)


def _least_crowded(members: Members, most: int) -> Members:
    """Take the ``most`` members that are farthest from their neighbours."""
    if len(members.n_nodes) <= most:
        return members
    distance = crowding_distance(np.ascontiguousarray(members.objectives))
    return members.take(np.sort(np.argsort(-distance, kind="stable")[:most]))
