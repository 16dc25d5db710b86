"""Beyond the published search: archive, restarts, duplicates, a bound on what a path may cost."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest

from cstree.evolution._kernels import ARCHIVED, DUPLICATES, MERGED
from cstree.evolution.island import Island
from cstree.evolution.nnia import NNIA
from cstree.tree.evaluation import path_costs
from cstree.tree.problem import TreeProblem
from tests import reference as ref
from tests.evolution.test_polish import subtree
from tests.problems import random_problem


def small(seed: int, **limits: Any) -> TreeProblem | None:
    """A problem whose trees of depth two can all be listed; None where there are too many."""
    problem, _ = random_problem(np.random.default_rng(seed), n_rows=(15, 40), n_features=(2, 3))
    problem = replace(problem, max_depth=2, min_support=1, max_leaf_nodes=4, **limits)
    return problem if 0 < len(problem.candidates) <= 9 and len(problem.arrays.subset_feature) == 0 else None


def every_point(problem: TreeProblem) -> list[tuple[float, float]]:
    """Front of all trees of depth two that keep the bound on their paths."""
    tests = range(-1, len(problem.candidates))
    points = []
    for top, left, right in product(tests, tests, tests):
        test = np.array(subtree(top, left, right), dtype=np.int32)
        tree = problem.tree(test, np.zeros(len(test), np.uint64))
        if tree.support.min() > 0 and path_costs(tree, problem.costs).max() <= problem.max_test_cost + 1e-9:
            found = problem.prune_and_evaluate(test, np.zeros(len(test), np.uint64), prune=False)[2]
            points.append((float(found[0]), float(found[1])))
    rounded = sorted({(round(f1, 9), round(f2, 9)) for f1, f2 in points})
    return [point for point, kept in zip(rounded, ref.nondominated(rounded), strict=True) if kept]


def assert_finds(problem: TreeProblem, points: list[tuple[float, float]], **options: Any) -> None:
    search = NNIA(**{"clone_size": 20, "generations": 300, "patience": None, "restart": 10, **options})
    front = search.run(problem, np.random.default_rng(0))
    assert np.allclose(front.objectives, points, atol=1e-8)


@pytest.mark.parametrize("seed", range(12))
def test_the_archive_holds_what_the_population_has_no_room_for(seed: int) -> None:
    problem = small(seed)
    if problem is not None:
        assert_finds(problem, every_point(problem), dominant_size=3, active_size=2)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("share", [0.0, 0.3, 0.7])
def test_no_path_costs_more_than_the_bound_and_nothing_else_is_lost(seed: int, share: float) -> None:
    problem = small(seed)
    if problem is None:
        return
    dearest = problem.costs.prices.sum() * share
    problem = replace(problem, max_test_cost=float(dearest))
    assert_finds(problem, every_point(problem), dominant_size=30, active_size=10)


@pytest.mark.parametrize("seed", range(10))
def test_bounded_trees_of_any_kind(seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem, _ = random_problem(rng, categories=(2, 9))
    bound = float(problem.costs.prices.sum() * 0.3)
    problem = replace(problem, max_test_cost=bound)
    for tree in NNIA(generations=20, dominant_size=20, clone_size=20).run(problem, rng):
        assert path_costs(tree, problem.costs).max() <= bound * (1 + 1e-9)


def island_of(search: NNIA, problem: TreeProblem) -> Island:
    run = search.start(problem, np.random.default_rng(3))
    run.search(None)
    return run.islands[0]


def sixty_cases() -> TreeProblem:
    return random_problem(np.random.default_rng(8), n_rows=(60, 60), n_features=(4, 4))[0]


def test_a_population_that_is_stuck_begins_anew_and_then_goes_on_from_the_archive() -> None:
    problem = sixty_cases()
    search = NNIA(dominant_size=10, clone_size=20, generations=10, patience=None, restart=4)
    run = search.start(problem, np.random.default_rng(3))
    island, phases, volumes = run.islands[0], [], []
    for _ in range(60):
        island.evolve(10)
        phases.append(int(island.state[MERGED]))
        found = island.found()
        volumes.append(found.objectives[:, 0].min())
        members = island.members()
        for point in members.objectives:  # nothing in the population beats the archive
            assert (found.objectives <= point).all(axis=1).any()
    assert {0, 1} == set(phases)
    assert volumes == sorted(volumes, reverse=True)
    assert island.state[ARCHIVED] == len({tuple(point) for point in found.objectives})


def test_duplicates_are_not_evaluated_again() -> None:
    problem = sixty_cases()
    island = island_of(NNIA(generations=200, patience=None, clone_size=50), problem)
    assert island.state[DUPLICATES] > 100
    published = island_of(NNIA(generations=200, patience=None, clone_size=50, polish=False), problem)
    assert published.state[DUPLICATES] == 0


def test_the_published_search_has_none_of_it() -> None:
    problem = sixty_cases()
    plain = NNIA(dominant_size=8, generations=60, polish=False)
    other = NNIA(dominant_size=8, generations=60, polish=0.0, restart=None, archive_size=0)
    first, second = (search.run(problem, np.random.default_rng(1)) for search in (plain, other))
    assert np.array_equal(first.objectives, second.objectives)
    assert len(first) <= 8
    assert island_of(plain, problem).state[ARCHIVED] == 0


def test_an_archive_may_be_full() -> None:
    problem = sixty_cases()
    search = NNIA(generations=100, archive_size=3, patience=None)
    front = search.run(problem, np.random.default_rng(1))
    assert 1 <= len(front) <= 3
