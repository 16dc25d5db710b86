"""The search's operators as a DEAP toolbox: the one file that knows DEAP.

DEAP (Fortin et al. 2012) writes evolutionary algorithms as loops over a ``Toolbox`` of exchangeable
operators. Here is one whose individuals are this package's trees and whose operators are its compiled ones.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from deap import base
from numpy.typing import NDArray

from cstree.evolution.nnia import MUTATIONS
from cstree.evolution.operators import Points, Preorder, TreeOperators
from cstree.evolution.selection import parents_nsga2, points_of, select_nsga2
from cstree.pareto.front import Front
from cstree.tree.problem import TreeProblem
from cstree.tree.search import tree_objectives
from cstree.tree.tree import Tree

__all__ = ["Fitness", "Individual", "TreeToolbox"]


class Fitness(base.Fitness):
    """Two objectives, both minimised."""

    weights: tuple[float, ...] = (-1.0, -1.0)


class OneObjective(Fitness):
    """One objective, minimised."""

    weights = (-1.0,)


class ThreeObjectives(Fitness):
    """Three objectives, all minimised."""

    weights = (-1.0,) * 3


class FourObjectives(Fitness):
    """Four objectives, all minimised."""

    weights = (-1.0,) * 4


_FITNESS = {1: OneObjective, 2: Fitness, 3: ThreeObjectives, 4: FourObjectives}


class Individual:
    """A tree as DEAP's algorithms want it: genes and a fitness.

    Parameters
    ----------
    test : int32 (n,)
        Tests of the nodes in preorder (root, branch 0, branch 1); -1 is a leaf, other numbers are rows of
        ``problem.candidates``, or codes of a category subset without a row.
    mask : uint64 (n,)
        For subsets without a row the category groups that take branch 0; 0 elsewhere.
    fitness : deap.base.Fitness
        Invalid until the tree is evaluated.
    """

    def __init__(self, test: NDArray[np.int32], mask: NDArray[np.uint64], fitness: base.Fitness) -> None:
        self.test = test
        self.mask = mask
        self.fitness = fitness

    def __len__(self) -> int:
        return len(self.test)

    def __eq__(self, other: object) -> bool:
        """Whether both are the same tree; the fitness does not matter."""
        if not isinstance(other, Individual):
            return NotImplemented
        return np.array_equal(self.test, other.test) and bool(
            np.array_equal(self.mask[self.test >= 0], other.mask[other.test >= 0])
        )

    __hash__ = None  # type: ignore[assignment]

    def __deepcopy__(self, memo: dict[int, Any]) -> Individual:
        new = object.__new__(type(self))
        for name, value in self.__dict__.items():
            new.__dict__[name] = value.copy() if type(value) is np.ndarray else copy.deepcopy(value, memo)
        return new

    @property
    def genes(self) -> Preorder:
        """Tests and masks."""
        return self.test, self.mask

    @genes.setter
    def genes(self, genes: Preorder) -> None:
        self.test, self.mask = genes

    def __repr__(self) -> str:
        values = ", ".join(f"{value:.4g}" for value in self.fitness.values)
        return f"Individual({len(self)} nodes, fitness ({values}))"

    def subtree(self, node: int) -> slice:
        """Return the nodes of the subtree that begins at a node."""
        end, open_nodes = node, 1
        while open_nodes:
            open_nodes += 1 if self.test[end] >= 0 else -1
            end += 1
        return slice(node, end)


class TreeToolbox(base.Toolbox):
    """A DEAP toolbox over a tree problem, with the search's own operators registered.

    Parameters
    ----------
    problem : TreeProblem
        Training cases, costs and limits.
    rng : numpy.random.Generator
        The only source of randomness of the operators registered here.
    objectives : sequence of str, default=("misclassification_cost", "test_cost")
        From "misclassification_cost", "test_cost", "n_leaves", "worst_test_cost".
    mutations : "all" or sequence of str, default="all"
        What ``mutate`` draws from.
    leaf_chance : float, default=0.4
        Probability that a node of a random tree, below its root, is a leaf.
    prune_by_cost : bool, default=True
        Whether ``evaluate`` turns splits that do not pay for themselves in misclassification cost into
        leaves.

    Attributes
    ----------
    problem : TreeProblem
    rng : numpy.random.Generator
    objectives : tuple of str

    Notes
    -----
    Registered, and to be replaced with ``register`` at will:

    - ``individual()``, ``population(n)``: random trees; ``encode(tree)``: an individual of a :class:`Tree`;
    - ``mutate(individual)``: one of the mutations below, drawn for a leaf by how badly it does;
    - ``regrow``, ``prune``, ``move_cut``, ``change_test``, ``split_leaf``: each mutation by itself;
    - ``mate(first, second)``: each gets a subtree of the other;
    - ``polish(individual, population=())``: a part rebuilt from optimal subtrees of depth two;
    - ``offspring(parents, recombination=0.5, polish=0.1)``: a child of each parent by ``clone`` and
      ``polish``, or ``mate`` and ``mutate``; one compiled call as long as none of these was replaced;
    - ``prune_by_support``, ``prune_by_cost``: each pruning by itself;
    - ``evaluate(individual)``: prunes by support and cost **in place**, as NNIA does, and returns the
      objectives; through ``map`` a whole population in one compiled call;
    - ``select(individuals, k)``: survival of NSGA-II; ``parents(individuals, k)``: its mating tournament;
    - ``tree(individual)``: a labelled :class:`Tree`; ``front(individuals)``: a :class:`Front` of them.

    Variation acts in place, as DEAP has it: ``clone`` first. Mutations return a tuple of one. DEAP's own
    algorithms and operators draw from Python's ``random``; seed that, too, when you use them.

    References
    ----------
    F.-A. Fortin, F.-M. De Rainville, M.-A. Gardner, M. Parizeau, C. Gagné, *DEAP: evolutionary algorithms
    made easy*, Journal of Machine Learning Research 13, 2171-2175, 2012.
    """

    def __init__(
        self,
        problem: TreeProblem,
        rng: np.random.Generator,
        *,
        objectives: Sequence[str] = ("misclassification_cost", "test_cost"),
        mutations: str | Sequence[str] = "all",
        leaf_chance: float = 0.4,
        prune_by_cost: bool = True,
    ) -> None:
        super().__init__()
        self.problem = problem
        self.rng = rng
        self.objectives = tuple(objectives)
        self._operators = TreeOperators(
            problem, rng, self.objectives, mutations=mutations, leaf_chance=leaf_chance
        )
        self._fitness = _FITNESS[len(self.objectives)]
        self._register_operators(prune_by_cost)
        self._own = {name: getattr(self, name) for name in ("clone", "mate", "mutate", "polish", "evaluate")}

    def _register_operators(self, prune_by_cost: bool) -> None:
        self.register("individual", self._individual)
        self.register("population", self._population)
        self.register("encode", self._encode)
        self.register("mutate", self._mutate)
        for name in MUTATIONS:
            self.register(name, self._mutate, name=name)
        self.register("mate", self._mate)
        self.register("polish", self._polish)
        self.register("offspring", self._offspring)
        self.register("prune_by_support", self._prune, by_support=True, by_cost=False)
        self.register("prune_by_cost", self._prune, by_support=False, by_cost=True)
        self.register("evaluate", self._evaluate, by_cost=prune_by_cost)
        self.register("map", self._map)
        self.register("select", select_nsga2)
        self.register("parents", parents_nsga2, rng=self.rng)
        self.register("tree", self._tree)
        self.register("front", self._front)

    def warm_up(self, *, polish: bool = True) -> None:
        """Compile what the operators call, without drawing from ``rng``."""
        self._operators.warm_up(polish=polish)

    def _is_own(self, *names: str) -> bool:
        """Whether operators are still those that were registered here."""
        return all(getattr(self, name) is self._own[name] for name in names)

    def _individual(self) -> Individual:
        """Return a random tree with a split at its root."""
        return self._population(1)[0]

    def _population(self, n: int) -> list[Individual]:
        """Return ``n`` random trees."""
        return [Individual(*genes, self._fitness()) for genes in self._operators.grow(n)]

    def _encode(self, tree: Tree | Preorder) -> Individual:
        """Return an individual of a tree, or of tests and masks."""
        genes = self.problem.encode_tree(tree) if isinstance(tree, Tree) else tree
        if genes is None:
            raise ValueError(
                "the tree does not fit the problem: it needs binary splits at the problem's cuts, within "
                f"max_depth {self.problem.max_depth} and {self.problem.max_leaf_nodes} leaves."
            )
        self._operators.check(genes)
        return Individual(np.array(genes[0], np.int32), np.array(genes[1], np.uint64), self._fitness())

    def _mutate(self, individual: Individual, name: str | None = None) -> tuple[Individual]:
        """Change an individual by a mutation, in place."""
        individual.genes = self._operators.mutate(individual.genes, name)
        return (individual,)

    def _mate(self, first: Individual, second: Individual) -> tuple[Individual, Individual]:
        """Give each of two individuals a subtree of the other, in place."""
        first.genes, second.genes = self._operators.recombine(first.genes, second.genes)
        return first, second

    def _polish(
        self, individual: Individual, population: Iterable[Individual] | Points = ()
    ) -> tuple[Individual]:
        """Rebuild a part of an individual, in place; the population says what a mistake is worth."""
        genes, points = self._operators.prune([individual.genes], by_support=False, by_cost=False)
        beside = population if isinstance(population, np.ndarray) else points_of(list(population))
        individual.genes = self._operators.polish(genes[0], points[0], beside if len(beside) else None)
        return (individual,)

    def _offspring(
        self, parents: Sequence[Individual], recombination: float = 0.5, polish: float = 0.1
    ) -> list[Individual]:
        """Return a child of each parent; the parent before it is its mate."""
        drawn = self.rng.random((2, len(parents)))
        polished, mated = drawn[0] < polish, drawn[1] < recombination
        points = points_of(parents)
        if not self._is_own("clone", "mate", "mutate", "polish"):
            return [
                self._child(parents, i, bool(polished[i]), bool(mated[i]), points)
                for i in range(len(parents))
            ]
        children = [Individual(parent.test, parent.mask, self._fitness()) for parent in parents]
        mates = np.where(mated, np.arange(len(parents)) - 1, -1)
        mates[0] = len(parents) - 1 if mated[0] else -1
        bred = self._operators.breed([parent.genes for parent in parents], mates.tolist())
        for i, child in enumerate(children):
            if polished[i]:
                self._polish(child, points)
            else:
                child.genes = bred[i]
        return children

    def _child(
        self, parents: Sequence[Individual], i: int, polished: bool, mated: bool, points: Points
    ) -> Individual:
        """Return a child of a parent, made by the operators that are registered now."""
        child = self.clone(parents[i])
        if polished:
            (child,) = self.polish(child, points)
        else:
            if mated:
                child, _ = self.mate(child, self.clone(parents[i - 1]))
            (child,) = self.mutate(child)
        del child.fitness.values
        return child

    def _prune(self, individual: Individual, by_support: bool, by_cost: bool) -> tuple[Individual]:
        """Prune an individual, in place."""
        genes, _ = self._operators.prune([individual.genes], by_support=by_support, by_cost=by_cost)
        individual.genes = genes[0]
        return (individual,)

    def _evaluate(self, individual: Individual, by_cost: bool) -> tuple[float, ...]:
        """Prune an individual in place and return its objectives."""
        return self._evaluate_all([individual], by_cost)[0]

    def _evaluate_all(self, individuals: Sequence[Individual], by_cost: bool) -> list[tuple[float, ...]]:
        pruned, objectives = self._operators.prune([one.genes for one in individuals], by_cost=by_cost)
        for individual, genes in zip(individuals, pruned, strict=True):
            individual.genes = genes
        return list(map(tuple, objectives.tolist()))

    def _map(self, function: Callable[..., Any], *iterables: Iterable[Any]) -> Iterable[Any]:
        """Apply a function as ``map`` does; the toolbox's own ``evaluate`` in one compiled call."""
        if function is self._own["evaluate"] and len(iterables) == 1:
            return self._evaluate_all(list(iterables[0]), **function.keywords)
        return map(function, *iterables)

    def _tree(self, individual: Individual) -> Tree:
        """Return the tree of an individual, labelled on the training cases."""
        self._operators.check(individual.genes)
        return self.problem.tree(*individual.genes)

    def _front(self, individuals: Iterable[Individual], **info: Any) -> Front[Tree]:
        """Return the front of individuals, their objectives computed afresh."""
        trees = [self._tree(individual) for individual in individuals]
        points = [tree_objectives(tree, self.problem, self.objectives) for tree in trees]
        return Front(points, trees, objective_names=self.objectives, info=info)
