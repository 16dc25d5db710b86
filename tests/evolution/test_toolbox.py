"""DEAP over this package's trees: operators, individuals, own operators, DEAP's algorithms."""

from __future__ import annotations

import copy
import pickle
import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from deap import algorithms, tools

from cstree.evolution.genetic import NSGA2, SPEA2
from cstree.evolution.nnia import MUTATIONS
from cstree.evolution.operators import TreeOperators
from cstree.evolution.toolbox import Fitness, Individual, TreeToolbox
from cstree.tree.problem import TreeProblem
from cstree.tree.search import tree_objectives
from tests import reference as ref
from tests.evolution.test_nnia import assert_sound
from tests.problems import random_preorder, random_problem

SEARCHES = [NSGA2, SPEA2]


def sixty_cases() -> TreeProblem:
    """A problem with room for trade-offs."""
    return random_problem(np.random.default_rng(8), n_rows=(60, 60), n_features=(4, 4))[0]


def evaluated(toolbox: TreeToolbox, n: int) -> list[Individual]:
    people = toolbox.population(n)
    for one in people:
        one.fitness.values = toolbox.evaluate(one)
    return people


def quick(search: type = NSGA2, **options: Any) -> Any:
    """A small search."""
    return search(**{"population_size": 20, "generations": 15, **options})


def apply_operators(seed: int) -> int:
    """Vary a few trees of a random problem in random ways; return how many trees were checked."""
    rng = np.random.default_rng(seed)
    problem, _ = random_problem(rng, categories=(2, 9))
    bound = float(sum(problem.costs.prices)) / 4 if seed % 4 == 0 else np.inf
    problem = TreeProblem(problem.dataset, problem.costs, seed % 5, 1 + seed % 3, 1 + seed % 7, bound)
    toolbox = TreeToolbox(problem, rng)
    people = evaluated(toolbox, 8)
    applied = 0
    for _ in range(40):
        one, other = (toolbox.clone(people[i]) for i in rng.integers(0, 8, 2))
        before = one.test.copy()
        name = str(rng.choice([*MUTATIONS, "mutate", "mate", "polish", "offspring"]))
        if name == "mate":
            changed: Sequence[Individual] = toolbox.mate(one, other)
        elif name == "polish":
            changed = toolbox.polish(one, people)
        elif name == "offspring":
            changed = toolbox.offspring([one, other])
        else:
            changed = getattr(toolbox, name)(one)
        assert (changed[0] is one) == (name != "offspring")
        for each in changed:
            assert_sound(each.test, each.mask, problem)
            assert (each.mask[each.test < 0] == 0).all()
            each.fitness.values = toolbox.evaluate(each)
            assert_sound(each.test, each.mask, problem)
            applied += 1
        if name == "prune":
            assert len(one) <= len(before)
        people[int(rng.integers(8))] = changed[0]
    for one in people:
        tree = toolbox.tree(one)
        assert tree.support.min() >= min(problem.min_support, problem.dataset.n_samples)
        found = tree_objectives(tree, problem, toolbox.objectives)
        assert found == pytest.approx(list(one.fitness.values), abs=1e-9)
        assert tree_objectives(tree, problem, ["worst_test_cost"])[0] <= bound * (1 + 1e-9)
    return applied


def test_operators_keep_every_limit() -> None:
    assert sum(map(apply_operators, range(30))) > 1200


@pytest.mark.slow
def test_operators_keep_every_limit_ten_thousand_times() -> None:
    assert sum(map(apply_operators, range(30, 270))) > 10_000


def test_what_compiled_code_accepts_is_what_is_a_tree() -> None:
    """The check in the kernel and the one that explains agree, whatever the arrays hold."""
    seen = {True: 0, False: 0}
    for seed in range(15):
        rng = np.random.default_rng(seed)
        problem, _ = random_problem(rng, n_rows=(40, 60), categories=(2, 12))
        operators = TreeOperators(problem, rng, ("misclassification_cost", "test_cost"))
        n_tests = len(problem.arrays.bits) + 2 * len(problem.arrays.subset_feature)
        for test, mask in operators.grow(20):
            for _ in range(int(rng.integers(0, 3))):
                test[rng.integers(len(test))] = rng.integers(-2, n_tests + 2)
                mask[rng.integers(len(mask))] = rng.integers(0, 5)
            test, mask = (array[: len(test) - int(rng.random() < 0.1)] for array in (test, mask))
            try:
                operators.check((test, mask))
                sound = True
                operators.prune([(test, mask)])
            except ValueError:
                sound = False
                with pytest.raises(ValueError, match=r"node|tree"):
                    operators.prune([(test, mask)])
            seen[sound] += 1
    assert min(seen.values()) > 50


def test_single_mutations_do_what_their_names_say() -> None:
    toolbox = TreeToolbox(sixty_cases(), np.random.default_rng(0))
    seen = dict.fromkeys(MUTATIONS, 0)
    for _ in range(300):
        parent = evaluated(toolbox, 1)[0]
        for name in MUTATIONS:
            child = getattr(toolbox, name)(toolbox.clone(parent))[0]
            seen[name] += child != parent
            if name in ("move_cut", "change_test"):
                assert np.array_equal(child.test < 0, parent.test < 0)
            if name == "move_cut":
                old, new = (toolbox.problem.skeleton(one.test, one.mask).feature for one in (parent, child))
                assert np.array_equal(old, new)
            if name == "split_leaf":
                assert len(child) in (len(parent), len(parent) + 2)
            if name == "prune":
                assert len(child) < len(parent) or len(parent) == 1
    assert min(seen.values()) > 30


def test_mate_exchanges_subtrees() -> None:
    toolbox = TreeToolbox(sixty_cases(), np.random.default_rng(0))
    different = 0
    for _ in range(200):
        first, second = toolbox.population(2)
        tests = set(first.test.tolist()) | set(second.test.tolist())
        a, b = toolbox.mate(toolbox.clone(first), toolbox.clone(second))
        assert set(a.test.tolist()) | set(b.test.tolist()) <= tests
        different += a != first
    assert different > 100


def test_pruning_alone_prunes_alone() -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        problem, _ = random_problem(rng)
        toolbox = TreeToolbox(problem, rng)
        genes = random_preorder(problem, rng)
        both = toolbox.encode(genes)
        values = toolbox.evaluate(both)
        support, cost = (toolbox.encode(genes) for _ in range(2))
        assert toolbox.prune_by_support(support) == (support,)
        assert toolbox.tree(support).support.min() >= min(problem.min_support, problem.dataset.n_samples)
        toolbox.prune_by_cost(cost)
        assert len(cost) <= len(genes[0])
        toolbox.prune_by_cost(support)
        assert support == both
        assert tuple(problem.prune_and_evaluate(*genes)[2]) == values


def test_evaluation_without_pruning_by_cost_keeps_splits_that_do_not_pay() -> None:
    toolbox = TreeToolbox(sixty_cases(), np.random.default_rng(0), prune_by_cost=False)
    pruned = TreeToolbox(toolbox.problem, toolbox.rng)
    sizes = []
    for one in toolbox.population(50):
        other = toolbox.clone(one)
        toolbox.evaluate(one)
        pruned.evaluate(other)
        sizes.append((len(one), len(other)))
    assert all(a >= b for a, b in sizes)
    assert any(a > b for a, b in sizes)


def test_individuals_are_copied_pickled_and_compared() -> None:
    toolbox = TreeToolbox(sixty_cases(), np.random.default_rng(0))
    for one in evaluated(toolbox, 10):
        one.age = [3]  # type: ignore[attr-defined]
        for again in (pickle.loads(pickle.dumps(one)), copy.deepcopy(one), toolbox.clone(one)):
            assert again == one
            assert again.fitness.values == one.fitness.values
            assert again.age == [3]
            again.age.append(4)
            again.test[0] = -1
            assert one.age == [3]
            assert one.test[0] != -1 or len(one) == 1
    assert isinstance(one.fitness, Fitness)
    assert one != "a tree"
    assert "nodes" in repr(one)
    again = pickle.loads(pickle.dumps(toolbox))
    assert again.population(2) == toolbox.population(2)


def test_subtrees_are_slices() -> None:
    one = Individual(np.array([4, 2, -1, -1, 3, -1, -1], np.int32), np.zeros(7, np.uint64), Fitness())
    assert [one.subtree(node) for node in (0, 1, 2, 4)] == [
        slice(0, 7),
        slice(1, 4),
        slice(2, 3),
        slice(4, 7),
    ]


def test_trees_become_individuals_and_back() -> None:
    rng = np.random.default_rng(4)
    problem = sixty_cases()
    toolbox = TreeToolbox(problem, rng)
    for one in evaluated(toolbox, 30):
        again = toolbox.encode(toolbox.tree(one))
        assert toolbox.tree(again).same_as(toolbox.tree(one))
    shallow = TreeToolbox(TreeProblem(problem.dataset, problem.costs, 1), rng)
    deep = next(one for one in toolbox.population(100) if toolbox.tree(one).depth > 1)
    with pytest.raises(ValueError, match="does not fit the problem"):
        shallow.encode(toolbox.tree(deep))


@pytest.mark.parametrize(
    ("test", "message"),
    [
        ([10**6, -1, -1], "holds test 1000000"),
        ([-2], "holds test -2"),
        ([0, -1], "1 branches are missing"),
        ([-1, -1], "ends before node 1"),
        ([0] * 200 + [-1] * 201, "more than the"),
        ([0, 0, 0, 0, 0, -1, -1, -1, -1, -1, -1], "but max_depth is 4"),
        ([], "one mask per test"),
    ],
)
def test_what_is_no_tree_is_refused_before_compiled_code_reads_it(test: list[int], message: str) -> None:
    toolbox = TreeToolbox(sixty_cases(), np.random.default_rng(0))
    broken = Individual(np.array(test, np.int32), np.zeros(len(test), np.uint64), Fitness())
    for operator in (toolbox.evaluate, toolbox.mutate, toolbox.polish, toolbox.prune, toolbox.tree):
        with pytest.raises(ValueError, match=message):
            operator(broken)
    with pytest.raises(ValueError, match=message):
        toolbox.mate(broken, toolbox.individual())


def test_subsets_of_many_categories_are_checked_too() -> None:
    rng = np.random.default_rng(0)
    while True:
        problem, _ = random_problem(rng, n_rows=(60, 60), categories=(9, 12))
        if len(problem.arrays.subset_feature):
            break
    toolbox = TreeToolbox(problem, rng)
    code = len(problem.arrays.bits)
    with pytest.raises(ValueError, match="its mask lies between 1 and"):
        toolbox.encode((np.array([code, -1, -1], np.int32), np.zeros(3, np.uint64)))


def test_statistics_logbook_halls_of_fame_and_deap_algorithms() -> None:
    toolbox = TreeToolbox(sixty_cases(), np.random.default_rng(0))
    stats = tools.Statistics(lambda one: one.fitness.values)
    stats.register("least", np.min, axis=0)
    best, front = tools.HallOfFame(5), tools.ParetoFront()
    random.seed(0)
    people, logbook = algorithms.eaMuPlusLambda(
        toolbox.population(20), toolbox, 20, 20, 0.4, 0.5, 10, stats=stats, halloffame=front, verbose=False
    )
    least = np.array(logbook.select("least"))
    assert (np.diff(least, axis=0) <= 0).all()
    assert len(people) == 20
    algorithms.eaSimple(people, toolbox, 0.5, 0.5, 3, halloffame=best, verbose=False)
    assert len(best) == 5
    points = sorted({one.fitness.values for one in front})  # DEAP keeps different trees at the same point
    assert all(ref.nondominated(points))
    assert toolbox.front(front).objectives == pytest.approx(np.array(points))
    assert len(pickle.loads(pickle.dumps(front))) == len(front)


def nudge(individual: Individual, problem: TreeProblem, rng: np.random.Generator) -> tuple[Individual]:
    """A user's mutation: move a cut to its neighbour."""
    node = int(rng.choice(np.flatnonzero(individual.test >= 0), 1)[0]) if len(individual) > 1 else 0
    row = int(individual.test[node]) + int(rng.choice([-1, 1]))
    feature = problem.candidates.feature
    if len(individual) > 1 and 0 <= row < len(feature) and feature[row] == feature[individual.test[node]]:
        individual.test[node] = row
    return (individual,)


def least_total(individuals: list[Individual], k: int) -> list[Individual]:
    """A user's selection."""
    return sorted(individuals, key=lambda one: sum(one.fitness.values))[:k]


@pytest.mark.parametrize("search", SEARCHES)
def test_own_operators_are_the_ones_that_are_called(search: type) -> None:
    calls = {"mutate": 0, "select": 0}

    def own(toolbox: TreeToolbox) -> None:
        def counted(individual: Individual) -> tuple[Individual]:
            calls["mutate"] += 1
            return nudge(individual, toolbox.problem, toolbox.rng)

        def selected(individuals: list[Individual], k: int) -> list[Individual]:
            calls["select"] += 1
            return least_total(individuals, k)

        toolbox.register("mutate", counted)
        toolbox.register("select", selected)

    problem = sixty_cases()
    front = quick(search, setup=own, polish=0, patience=None).run(problem, np.random.default_rng(0))
    assert calls == {"mutate": 15 * 20, "select": 15}
    assert len(front) > 0
    plain = quick(search, polish=0, patience=None).run(problem, np.random.default_rng(0))
    assert not np.array_equal(plain.objectives, front.objectives)
