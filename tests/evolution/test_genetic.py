"""NSGA-II and SPEA2: fronts, limits, interruptions, and the classifier that searches with them."""

from __future__ import annotations

import copy
import random
import signal
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from cstree import ParetoTreeClassifier
from cstree.datasets import load_heart
from cstree.evolution.genetic import NSGA2, Archive
from cstree.evolution.nnia import Progress, SearchInterrupted
from cstree.evolution.toolbox import Fitness, Individual, TreeToolbox
from cstree.tree.problem import TreeProblem
from cstree.tree.search import tree_objectives
from tests import reference as ref
from tests.evolution.test_toolbox import SEARCHES, quick, sixty_cases
from tests.problems import random_preorder, random_problem
from tests.test_conformance import expected_failures


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("seed", range(8))
def test_fronts_say_what_their_trees_cost(search: type, seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem, plain = random_problem(rng, categories=(2, 8) if seed % 3 == 0 else None)
    front = quick(search).run(problem, rng)
    cases = (ref.plain_rows(plain.frame, problem.dataset.schema), plain.y, ref.plain_costs(problem.costs))
    for tree, point in zip(front.trees, front.objectives, strict=True):
        found = ref.evaluate(tree, *cases, plain.weights, plain.example_cost)
        assert [found.f1, found.f2] == pytest.approx(list(point), abs=1e-9)
        assert tree.depth <= problem.max_depth
        assert tree.n_leaves <= problem.max_leaf_nodes
        assert tree.support.min() >= min(problem.min_support, problem.dataset.n_samples)
    assert all(ref.nondominated(front.objectives.tolist()))


@pytest.mark.parametrize("search", SEARCHES)
def test_any_objectives_any_limits(search: type) -> None:
    problem = sixty_cases()
    for names in (
        ("misclassification_cost",),
        ("n_leaves", "misclassification_cost"),
        ("misclassification_cost", "n_leaves", "worst_test_cost"),
        ("misclassification_cost", "test_cost", "n_leaves", "worst_test_cost"),
    ):
        front = quick(search, objectives=names).run(problem, np.random.default_rng(0))
        assert front.objective_names == names
        for tree, point in zip(front.trees, front.objectives, strict=True):
            assert tree_objectives(tree, problem, names) == list(point)
    for tiny in (
        TreeProblem(problem.dataset, problem.costs, 0),
        TreeProblem(problem.dataset, problem.costs, 3, 2, 1),
    ):
        front = quick(search).run(tiny, np.random.default_rng(0))
        assert [tree.n_nodes for tree in front] == [1]
    alone = quick(search, population_size=1).run(problem, np.random.default_rng(0))
    assert len(alone) > 0


@pytest.mark.parametrize("search", SEARCHES)
def test_same_seed_same_front_whatever_the_random_module_holds(search: type) -> None:
    problem = sixty_cases()
    fronts = []
    for seed in (0, 1):
        random.seed(seed)
        np.random.seed(seed)
        fronts.append(quick(search).run(problem, np.random.default_rng(3)))
    first, second = fronts
    assert np.array_equal(first.objectives, second.objectives)
    assert all(a.same_as(b) for a, b in zip(first.trees, second.trees, strict=True))
    assert first.info["search"] == search.name
    again = copy.deepcopy(quick(search)).run(problem, np.random.default_rng(3))
    assert np.array_equal(first.objectives, again.objectives)


@pytest.mark.parametrize("search", SEARCHES)
def test_the_front_holds_all_that_was_found(search: type) -> None:
    """Nothing that was evaluated beats the front, though the population forgets."""
    seen: list[tuple[float, ...]] = []

    def watched(toolbox: TreeToolbox) -> None:
        evaluate = toolbox.evaluate

        def noted(individual: Individual) -> tuple[float, ...]:
            seen.append(evaluate(individual))
            return seen[-1]

        toolbox.register("evaluate", noted)

    front = quick(search, population_size=4, generations=40, setup=watched).run(
        sixty_cases(), np.random.default_rng(0)
    )
    assert front.objectives == pytest.approx(np.unique(ref_front(seen), axis=0))


def ref_front(points: list[tuple[float, ...]]) -> list[tuple[float, ...]]:
    return [point for point, kept in zip(points, ref.nondominated(points), strict=True) if kept]


def test_of_equal_points_the_archive_keeps_the_smaller_tree() -> None:
    small = Individual(np.array([-1], np.int32), np.zeros(1, np.uint64), Fitness((1.0, 1.0)))
    large = Individual(np.array([0, -1, -1], np.int32), np.zeros(3, np.uint64), Fitness((1.0, 1.0)))
    archive = Archive(2)
    assert archive.update([large])
    assert not archive.update([copy.deepcopy(large)])
    large.test[0] = 1
    assert archive.individuals[0].test[0] == 0  # a copy
    assert archive.update([small, large])
    assert archive.individuals == [small]
    assert archive.points.tolist() == [[1.0, 1.0]]
    assert not archive.update([large])


@pytest.mark.parametrize("search", SEARCHES)
def test_stops_and_reports(search: type) -> None:
    problem = sixty_cases()
    run = quick(search, generations=7)
    seen: list[Progress] = []
    run.run(problem, np.random.default_rng(0), seen.append)
    assert list(run.history_) == seen
    assert (seen[0].generation, seen[-1].generation, seen[-1].evaluations) == (0, 7, 8 * 20)
    assert seen[-1].hypervolume >= seen[0].hypervolume
    run = quick(search, generations=None, patience=5)
    run.run(problem, np.random.default_rng(0))
    assert run.history_[-1].generation < 2000
    run = quick(search, generations=None, patience=None, time_budget=0.2)
    run.run(problem, np.random.default_rng(0))
    assert run.history_[-1].seconds >= 0.2
    assert [p.seconds for p in run.history_] == sorted(p.seconds for p in run.history_)


@pytest.mark.parametrize("search", SEARCHES)
def test_ctrl_c_keeps_what_was_found(search: type) -> None:
    run = quick(search, generations=None, patience=None, time_budget=60.0)

    def on_first(progress: Progress) -> None:
        if progress.generation > 0:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(SearchInterrupted) as caught:
        run.run(sixty_cases(), np.random.default_rng(0), on_first)
    assert len(caught.value.front) > 0
    assert caught.value.front.info["interrupted"]


def test_seeds_are_on_the_front_or_beaten() -> None:
    rng = np.random.default_rng(8)
    problem = sixty_cases()
    test, mask, objectives = problem.prune_and_evaluate(*random_preorder(problem, rng))
    front = quick(generations=0).run(problem, rng, seeds=[(test, mask)])
    assert (front.objectives <= objectives + 1e-9).all(axis=1).any()


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"population_size": 0}, "population_size must be at least 1"),
        ({"population_size": 2.5}, "population_size must be a whole number"),
        ({"generations": -1}, "generations"),
        ({"generations": None, "patience": None}, "never ends"),
        ({"recombination": 1.5}, "recombination"),
        ({"polish": "a"}, "polish"),
        ({"mutations": ["shrink"]}, "shrink"),
        ({"objectives": ("size",)}, "size"),
        ({"setup": 3}, "setup must be a function"),
    ],
)
def test_bad_parameters_are_named(options: dict[str, Any], named: str) -> None:
    with pytest.raises((ValueError, TypeError), match=named):
        quick(**options).run(sixty_cases(), np.random.default_rng(0))


def test_polish_may_be_true_or_false() -> None:
    problem = sixty_cases()
    for word, number in ((True, 0.1), (False, 0.0)):
        fronts = [quick(polish=value).run(problem, np.random.default_rng(0)) for value in (word, number)]
        assert np.array_equal(fronts[0].objectives, fronts[1].objectives)


@pytest.mark.parametrize("search", ["nsga2", "spea2"])
def test_the_classifier_searches_with_it(search: str) -> None:
    heart = load_heart()
    model = ParetoTreeClassifier(heart.costs, search=search, generations=10, random_state=0)
    front = model.fit(heart.data, heart.target).front_
    assert front.info["search"] == search
    again = clone(model).fit(heart.data, heart.target)
    assert np.array_equal(front.objectives, again.front_.objectives)
    assert model.score(heart.data, heart.target) > 0.7
    bare = clone(model).set_params(seeds=None).fit(heart.data, heart.target)
    assert not np.array_equal(front.objectives, bare.front_.objectives)
    three = clone(model).set_params(objectives=("misclassification_cost", "test_cost", "n_leaves"))
    assert three.fit(heart.data, heart.target).front_.objectives.shape[1] == 3
    own = clone(model).set_params(search=NSGA2(population_size=10, generations=3))
    assert own.fit(heart.data, heart.target).front_.info["generations"] == 3


def test_a_classifier_that_searches_otherwise_does_not_load_deap() -> None:
    code = (
        "import sys, numpy, cstree, cstree.evolution\n"
        "class Leaf:\n"
        "    def run(self, problem, rng, callback):\n"
        "        leaf = problem.tree(numpy.array([-1], numpy.int32), numpy.zeros(1, numpy.uint64))\n"
        "        return cstree.Front([[1.0, 0.0]], [leaf])\n"
        "cstree.ParetoTreeClassifier(search=Leaf()).fit([[0], [1], [2], [3]], [0, 0, 1, 1])\n"
        "assert 'deap' not in sys.modules\n"
        "cstree.evolution.NSGA2, cstree.evolution.TreeToolbox\n"
        "assert 'deap' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@parametrize_with_checks(
    [ParetoTreeClassifier(search="nsga2", generations=3, dominant_size=8, polish=0, random_state=0)],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)
