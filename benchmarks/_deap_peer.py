"""The peer: a search for decision trees written with DEAP alone, in DEAP's ordinary way.

Trees are ``deap.gp.PrimitiveTree`` objects whose primitives are the candidate tests and whose only terminal
is a leaf; they vary by DEAP's own crossover and mutations under its depth limit, and survive by its NSGA-II.
A tree is evaluated by sending index arrays of cases down its nodes, on which it is pruned as the compiled
search prunes: where a branch has too few cases, and where a split saves nothing.

Without more the population soon holds hardly anything but copies of a few stumps, which are fast to
evaluate. So of trees with equal objectives one survives, as in the compiled searches; ``copies=True`` leaves
that out.
"""

from __future__ import annotations

import itertools
import operator
import random
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from deap import algorithms, base, creator, gp, tools
from numpy.typing import NDArray

from cstree.tree.problem import TreeProblem

creator.create("PeerFitness", base.Fitness, weights=(-1.0, -1.0))
creator.create("PeerTree", gp.PrimitiveTree, fitness=creator.PeerFitness)


@dataclass
class Outcome:
    """What a run of the peer came to."""

    evaluations: int
    seconds: float
    objectives: NDArray[np.float64]
    mean_nodes: float


class DeapSearch:
    """NSGA-II over decision trees on a table without missing values, weights or shared operations."""

    def __init__(self, problem: TreeProblem, *, nd: str = "standard", copies: bool = False) -> None:
        self.copies = copies
        dataset, candidates = problem.dataset, problem.candidates
        self.y = dataset.y
        self.matrix = problem.costs.matrix
        self.goes_left = dataset.codes[candidates.feature] <= candidates.cut[:, None]
        self.feature = candidates.feature.tolist()
        self.price = [problem.costs.price(j) for j in range(len(dataset.schema))]
        self.min_support = problem.min_support
        self.primitives = gp.PrimitiveSet("tree", 0)
        for row in range(len(candidates)):
            self.primitives.addPrimitive(_never_called, 2, name=f"test{row}")
        self.primitives.addTerminal(0, name="leaf")
        self.leaf = self.primitives.mapping["leaf"]
        self.row = {f"test{row}": row for row in range(len(candidates))}
        self.toolbox = self._make_toolbox(problem.max_depth, nd)

    def _make_toolbox(self, max_depth: int, nd: str) -> base.Toolbox:
        toolbox = base.Toolbox()
        grown: dict[str, Any] = {"pset": self.primitives, "min_": 1, "max_": 3}
        toolbox.register("expression", gp.genHalfAndHalf, **grown)
        toolbox.register("individual", tools.initIterate, creator.PeerTree, toolbox.expression)
        toolbox.register("population", tools.initRepeat, list, toolbox.individual)
        toolbox.register("evaluate", self.evaluate)
        toolbox.register("mate", gp.cxOnePoint)
        toolbox.register("regrow", gp.mutUniform, expr=toolbox.expression, pset=self.primitives)
        toolbox.register("replace", gp.mutNodeReplacement, pset=self.primitives)
        toolbox.register("mutate", self.mutate)
        toolbox.register("select", tools.selNSGA2, nd=nd)
        limit = gp.staticLimit(key=operator.attrgetter("height"), max_value=max_depth)
        toolbox.decorate("mate", limit)
        toolbox.decorate("mutate", limit)
        return toolbox

    def mutate(self, individual: Any) -> Any:
        """Apply one of three mutations."""
        drawn = random.random()
        if drawn < 0.4:
            return self.toolbox.regrow(individual)
        return self.toolbox.replace(individual) if drawn < 0.8 else gp.mutShrink(individual)

    def evaluate(self, individual: Any) -> tuple[float, float]:
        """Prune an individual in place and return its average costs."""
        nodes, wrong, tests = self._visit(individual, 0, np.arange(len(self.y)), frozenset())
        individual[0:] = nodes
        return wrong / len(self.y), tests / len(self.y)

    def _visit(
        self, tree: Any, node: int, cases: NDArray[np.intp], paid: frozenset[int]
    ) -> tuple[list[Any], float, float]:
        """Pruned nodes, cost of mistakes and price of tests of a subtree, summed over its cases."""
        own = float((np.bincount(self.y[cases], minlength=len(self.matrix)) @ self.matrix).min())
        if tree[node].arity == 0:
            return [tree[node]], own, 0.0
        row = self.row[tree[node].name]
        left_node = node + 1
        right_node = tree.searchSubtree(left_node).stop
        goes_left = self.goes_left[row, cases]
        left, right = cases[goes_left], cases[~goes_left]
        few_left, few_right = len(left) < self.min_support, len(right) < self.min_support
        if few_left and few_right:
            return [self.leaf], own, 0.0
        if few_left or few_right:
            return self._visit(tree, right_node if few_left else left_node, cases, paid)
        feature = self.feature[row]
        below = paid | {feature}
        left_nodes, left_wrong, left_tests = self._visit(tree, left_node, left, below)
        right_nodes, right_wrong, right_tests = self._visit(tree, right_node, right, below)
        if own <= left_wrong + right_wrong + 1e-9:
            return [self.leaf], own, 0.0
        price = 0.0 if feature in paid else self.price[feature] * len(cases)
        nodes = [tree[node], *left_nodes, *right_nodes]
        return nodes, left_wrong + right_wrong, price + left_tests + right_tests

    def run(self, seconds: float, seed: int, size: int = 100) -> Outcome:
        """Search for so many seconds."""
        random.seed(seed)
        toolbox = self.toolbox
        population = toolbox.population(size)
        begin = time.perf_counter()
        evaluations = self._evaluate_new(population)
        population = toolbox.select(population, size)
        while time.perf_counter() - begin < seconds:
            parents = tools.selTournamentDCD(population, size)
            offspring = algorithms.varAnd(parents, toolbox, cxpb=0.5, mutpb=1.0)
            evaluations += self._evaluate_new(offspring)
            population = toolbox.select(self._candidates(population + offspring, size), size)
        taken = time.perf_counter() - begin
        points = np.array([individual.fitness.values for individual in population])
        return Outcome(evaluations, taken, points, float(np.mean([len(each) for each in population])))

    def _candidates(self, population: list[Any], size: int) -> list[Any]:
        """Leave out copies of a point, as long as there are enough others."""
        if self.copies:
            return population
        first = {individual.fitness.values: individual for individual in reversed(population)}
        chosen = list(first.values())
        kept = set(map(id, chosen))
        rest = (individual for individual in population if id(individual) not in kept)
        return chosen + list(itertools.islice(rest, max(size - len(chosen), 0)))

    def _evaluate_new(self, population: list[Any]) -> int:
        new = [individual for individual in population if not individual.fitness.valid]
        for individual, values in zip(new, self.toolbox.map(self.toolbox.evaluate, new), strict=True):
            individual.fitness.values = values
        return len(new)

    def preorder(self, individual: Any) -> NDArray[np.int32]:
        """Tests of an individual as :meth:`TreeProblem.tree` takes them."""
        return np.array([self.row.get(node.name, -1) for node in individual], np.int32)


def _never_called(*_: object) -> None:
    """Stand behind the primitives: trees are read, not called."""
