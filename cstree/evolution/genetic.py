"""NSGA-II and SPEA2 over decision trees, as loops over a toolbox whose operators can be exchanged."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from cstree.evolution.nnia import NNIA
from cstree.evolution.progress import History
from cstree.evolution.selection import parents_spea2, points_of, select_spea2
from cstree.evolution.toolbox import Individual, TreeToolbox
from cstree.pareto._kernels import crowding_distance, hypervolume_2d, nondominated
from cstree.pareto.front import Front
from cstree.tree.problem import TreeProblem
from cstree.tree.search import Progress, SearchInterrupted, reference_point
from cstree.tree.tree import Tree

__all__ = ["NSGA2", "SPEA2"]

# Progress is reported about so often.
_SECONDS_PER_REPORT = 0.1


class Archive:
    """The nondominated trees of all that were offered; of equal points the smallest tree, then the first."""

    def __init__(self, n_objectives: int) -> None:
        # One tuple: Ctrl-C finds either the old state or the new one.
        self._kept: tuple[NDArray[np.float64], list[Individual]] = (np.empty((0, n_objectives)), [])

    @property
    def points(self) -> NDArray[np.float64]:
        """Objectives, (n, m)."""
        return self._kept[0]

    @property
    def individuals(self) -> list[Individual]:
        """The trees, copies of those that were offered."""
        return self._kept[1]

    def update(self, offered: Sequence[Individual]) -> bool:
        """Take in evaluated individuals; return whether one of them is a new point or a smaller tree."""
        old_points, old = self._kept
        points = np.concatenate([old_points, points_of(offered)])
        sizes = [len(individual) for individual in (*old, *offered)]
        small_first = np.argsort(sizes, kind="stable")
        kept = np.sort(small_first[nondominated(points[small_first])]).tolist()
        individuals = [old[i] if i < len(old) else copy.deepcopy(offered[i - len(old)]) for i in kept]
        self._kept = points[kept], individuals
        return kept[-1] >= len(old)


@dataclass
class _GeneticSearch:
    """What NSGA-II and SPEA2 share: a population that varies, and an archive of all that was found."""

    population_size: int = 100
    generations: int | None = 500
    time_budget: float | None = None
    patience: int | None = 200
    mutations: str | Sequence[str] = "all"
    recombination: float = 0.5
    polish: float = 0.1
    leaf_chance: float = 0.4
    prune_by_cost: bool = True
    objectives: Sequence[str] = ("misclassification_cost", "test_cost")
    setup: Callable[[TreeToolbox], None] | None = None
    history_: History = field(default_factory=History, init=False, repr=False)

    name: ClassVar[str]

    def run(
        self,
        problem: TreeProblem,
        rng: np.random.Generator,
        callback: Callable[[Progress], None] | None = None,
        *,
        seeds: Sequence[tuple[NDArray[np.int32], NDArray[np.uint64]]] = (),
    ) -> Front[Tree]:
        """Search and return the front of all trees that were evaluated.

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
        ValueError, TypeError
            A parameter is out of range; the error names it.
        """
        self._validate()
        evolution = Evolution(self, self.make_toolbox(problem, rng))
        self.history_ = evolution.history
        try:
            evolution.search(seeds, callback)
        except KeyboardInterrupt:
            if not evolution.archive.individuals:
                raise
            raise SearchInterrupted(evolution.front(interrupted=True)) from None
        return evolution.front(interrupted=False)

    def make_toolbox(self, problem: TreeProblem, rng: np.random.Generator) -> TreeToolbox:
        """Return the toolbox that the search runs on, after ``setup`` had its say.

        Parameters
        ----------
        problem : TreeProblem
        rng : numpy.random.Generator

        Returns
        -------
        TreeToolbox
        """
        toolbox = TreeToolbox(
            problem,
            rng,
            objectives=self.objectives,
            mutations=self.mutations,
            leaf_chance=self.leaf_chance,
            prune_by_cost=self.prune_by_cost,
        )
        self._register(toolbox)
        if self.setup is not None:
            self.setup(toolbox)
        return toolbox

    def _register(self, toolbox: TreeToolbox) -> None:
        """Register what is special to the algorithm."""

    def _validate(self) -> None:
        size = self.population_size
        if not isinstance(size, Integral) or isinstance(size, bool):
            raise TypeError(f"population_size must be a whole number, got {size!r}.")
        if size < 1:
            raise ValueError(f"population_size must be at least 1, got {size}.")
        if self.setup is not None and not callable(self.setup):
            raise TypeError(f"setup must be a function of the toolbox or None, got {self.setup!r}.")
        # What both searches have is checked in one place.
        shared = ("generations", "time_budget", "patience", "mutations", "recombination", "polish")
        names = (*shared, "leaf_chance", "prune_by_cost", "objectives")
        NNIA(**{name: getattr(self, name) for name in names})._validate()


@dataclass
class NSGA2(_GeneticSearch):
    """Nondominated sorting genetic algorithm II (Deb et al. 2002) over binary decision trees.

    Parents are drawn in tournaments by front and crowding distance, varied with the operators of
    :class:`~cstree.evolution.nnia.NNIA`, and the best of parents and offspring survive.

    Parameters
    ----------
    population_size : int, default=100
        Trees in the population, and offspring of a generation.
    generations : int or None, default=500
        Generations to run; None: until another limit.
    time_budget : float or None, default=None
        Seconds, compiling not counted.
    patience : int or None, default=200
        Stop after so many generations in which the front did not change.
    mutations : "all" or sequence of str, default="all"
        From "regrow", "prune", "move_cut", "change_test", "split_leaf".
    recombination : float, default=0.5
        Probability that a child first gets a subtree of another parent.
    polish : float or bool, default=0.1
        Probability that a child is polished instead: a part of it rebuilt from optimal subtrees of
        depth two; True: 0.1, False: 0.
    leaf_chance : float, default=0.4
        Probability that a node of a random tree, below its root, is a leaf.
    prune_by_cost : bool, default=True
        Turn splits that do not pay for themselves in misclassification cost into leaves.
    objectives : sequence of str
        From "misclassification_cost", "test_cost", "n_leaves", "worst_test_cost".
    setup : callable or None, default=None
        Called with the :class:`~cstree.evolution.toolbox.TreeToolbox` before the search begins, to register
        other operators, such as ``toolbox.register("select", ...)``. The search calls ``population``,
        ``evaluate`` through ``map``, ``parents``, ``offspring`` (which calls ``clone``, ``mate``,
        ``mutate`` and ``polish``) and ``select``.

    Notes
    -----
    The front that is returned holds every nondominated tree that was evaluated, not only the last
    population. Of trees with equal objectives the population keeps one as long as there are others.

    References
    ----------
    K. Deb, A. Pratap, S. Agarwal, T. Meyarivan, *A fast and elitist multiobjective genetic algorithm:
    NSGA-II*, IEEE Transactions on Evolutionary Computation 6(2), 182-197, 2002.
    """

    name = "nsga2"


@dataclass
class SPEA2(_GeneticSearch):
    """Strength Pareto evolutionary algorithm 2 (Zitzler et al. 2001) over binary decision trees.

    As :class:`NSGA2` in all but selection: by how many trees a tree's dominators dominate, then by the
    distance to its neighbours. The population is the paper's archive.

    Parameters
    ----------
    population_size : int, default=100
        Trees in the population, and offspring of a generation.
    generations : int or None, default=500
        Generations to run; None: until another limit.
    time_budget : float or None, default=None
        Seconds, compiling not counted.
    patience : int or None, default=200
        Stop after so many generations in which the front did not change.
    mutations : "all" or sequence of str, default="all"
        From "regrow", "prune", "move_cut", "change_test", "split_leaf".
    recombination : float, default=0.5
        Probability that a child first gets a subtree of another parent.
    polish : float or bool, default=0.1
        Probability that a child is polished instead: a part of it rebuilt from optimal subtrees of
        depth two; True: 0.1, False: 0.
    leaf_chance : float, default=0.4
        Probability that a node of a random tree, below its root, is a leaf.
    prune_by_cost : bool, default=True
        Turn splits that do not pay for themselves in misclassification cost into leaves.
    objectives : sequence of str
        From "misclassification_cost", "test_cost", "n_leaves", "worst_test_cost".
    setup : callable or None, default=None
        Called with the :class:`~cstree.evolution.toolbox.TreeToolbox` before the search begins, to register
        other operators; see :class:`NSGA2`.

    Notes
    -----
    The fitness by which parents are drawn is computed among the survivors, where the paper keeps that of the
    union before selection; so ``select`` can be exchanged alone.

    References
    ----------
    E. Zitzler, M. Laumanns, L. Thiele, *SPEA2: improving the strength Pareto evolutionary algorithm*,
    TIK report 103, ETH Zürich, 2001.
    """

    name = "spea2"

    def _register(self, toolbox: TreeToolbox) -> None:
        toolbox.register("select", select_spea2)
        toolbox.register("parents", parents_spea2, rng=toolbox.rng)


class Evolution:
    """One search under way."""

    def __init__(self, settings: _GeneticSearch, toolbox: TreeToolbox) -> None:
        self.settings = settings
        self.toolbox = toolbox
        self.rng = toolbox.rng
        self.archive = Archive(len(toolbox.objectives))
        self.history = History()
        self.generation = self.evaluations = self.last_change = 0
        self.seconds = 0.0
        both = toolbox.objectives == ("misclassification_cost", "test_cost")
        self.reference = reference_point(toolbox.problem) if both else None

    def search(
        self,
        seeds: Sequence[tuple[NDArray[np.int32], NDArray[np.uint64]]],
        callback: Callable[[Progress], None] | None,
    ) -> None:
        """Run until a limit is reached."""
        size = int(self.settings.population_size)
        polish = 0.1 if self.settings.polish is True else float(self.settings.polish)
        shares = {"recombination": self.settings.recombination, "polish": polish}
        self._warm_up(polish)
        population = [self.toolbox.encode(seed) for seed in seeds[:size]]
        population += self.toolbox.population(size - len(population))
        begin = time.perf_counter()
        self._evaluate(population)
        self._report(callback)
        reported = 0.0
        while not self._is_over():
            offspring = self.toolbox.offspring(self.toolbox.parents(population, size), **shares)
            self._evaluate(offspring)
            population = self.toolbox.select(_distinct_first([*population, *offspring], size), size)
            self.generation += 1
            self.seconds = time.perf_counter() - begin
            if self.seconds - reported >= _SECONDS_PER_REPORT:
                self._report(callback)
                reported = self.seconds
        if self.history[-1].generation < self.generation:
            self._report(callback)

    def _warm_up(self, polish: float) -> None:
        """Compile what is compiled, so that the clock counts searching alone."""
        self.toolbox.warm_up(polish=polish > 0)
        points = np.zeros((1, len(self.toolbox.objectives)))
        nondominated(points)
        crowding_distance(points)
        if self.reference is not None:
            hypervolume_2d(points, self.reference)

    def _evaluate(self, individuals: Sequence[Individual]) -> None:
        """Evaluate individuals and keep the nondominated."""
        values = self.toolbox.map(self.toolbox.evaluate, individuals)
        for individual, value in zip(individuals, values, strict=True):
            individual.fitness.values = value
        self.evaluations += len(individuals)
        if self.archive.update(individuals):
            self.last_change = self.generation

    def _is_over(self) -> bool:
        settings = self.settings
        stalled = self.generation - self.last_change
        return (
            (settings.generations is not None and self.generation >= settings.generations)
            or (settings.patience is not None and stalled >= settings.patience)
            or (settings.time_budget is not None and self.seconds >= settings.time_budget)
        )

    def _report(self, callback: Callable[[Progress], None] | None) -> None:
        share = np.nan
        if self.reference is not None and self.reference.prod() > 0:
            volume = hypervolume_2d(self.archive.points, self.reference)
            share = float(volume / self.reference.prod())
        progress = Progress(
            self.generation,
            self.evaluations,
            len(self.archive.individuals),
            share,
            self.seconds,
            self.settings.generations,
        )
        self.history(progress)
        if callback is not None:
            callback(progress)

    def front(self, *, interrupted: bool) -> Front[Tree]:
        """Labelled trees of the archive with their objectives, evaluated afresh."""
        info: dict[str, Any] = {
            "search": self.settings.name,
            "generations": self.generation,
            "evaluations": self.evaluations,
            "seconds": self.seconds,
            "interrupted": interrupted,
        }
        front: Front[Tree] = self.toolbox.front(self.archive.individuals, **info)
        return front


def _distinct_first(individuals: list[Individual], least: int) -> list[Individual]:
    """Leave out individuals whose objectives another one has, as long as ``least`` are left."""
    seen: set[tuple[float, ...]] = set()
    distinct: list[Individual] = []
    copies: list[Individual] = []
    for individual in individuals:
        known = individual.fitness.wvalues in seen
        seen.add(individual.fitness.wvalues)
        (copies if known else distinct).append(individual)
    return distinct + copies[: max(least - len(distinct), 0)]
