"""The polish operator: subtrees of depth two that are really the best, within every limit."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from cstree.evolution.nnia import NNIA
from cstree.evolution.population import make_fill_work
from cstree.tree.evaluation import training_leaves
from cstree.tree.problem import TreeProblem
from tests.evolution.kernels import draw_polished, find_best_subtree
from tests.evolution.test_nnia import assert_sound, started
from tests.problems import random_problem


def total(problem: TreeProblem, tests: list[int], rate: float) -> float | None:
    """Misclassification plus ``rate`` times test cost of a tree; None where a branch stays empty."""
    test = np.array(tests, dtype=np.int32)
    mask = np.zeros(len(test), dtype=np.uint64)
    if problem.tree(test, mask).support.min() < 1:
        return None
    f1, f2 = problem.prune_and_evaluate(test, mask, prune=False)[2]
    return float(f1 + rate * f2)


def subtree(top: int, left: int, right: int) -> list[int]:
    """Preorder of a tree of depth two; -1 stands for a leaf."""
    if top < 0:
        return [-1]
    return [top, *([left, -1, -1] if left >= 0 else [-1]), *([right, -1, -1] if right >= 0 else [-1])]


@pytest.mark.parametrize("seed", range(25))
def test_the_best_subtree_of_depth_two_is_found(seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem, _ = random_problem(rng, n_rows=(5, 30), n_features=(1, 2))
    problem = replace(problem, max_depth=2, min_support=1, max_leaf_nodes=4)
    n = len(problem.candidates)
    if not 0 < n <= 9:
        return
    rate = float(np.exp(rng.normal()))
    work, workspace = make_fill_work(problem), problem.workspace()
    work.rate[:] = rate
    assert find_best_subtree(problem.arrays, workspace, work, rng, False) == -1
    found = total(problem, subtree(*map(int, work.chosen)), rate)
    every = [
        total(problem, subtree(*tests), rate) for tests in product(range(n), range(-1, n), range(-1, n))
    ] + [total(problem, [-1], rate)]
    assert found == pytest.approx(min(value for value in every if value is not None), abs=1e-9)


@pytest.mark.parametrize("seed", range(12))
def test_polished_trees_keep_every_limit(seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem, _ = random_problem(rng, categories=(2, 9), n_rows=(20, 60))
    problem = TreeProblem(problem.dataset, problem.costs, 2 + seed % 4, 1, max_leaf_nodes=4 + seed % 5)
    if len(problem.candidates) == 0:
        return
    run = started(NNIA(dominant_size=20, clone_size=20, generations=10, polish=0.5), problem, rng)
    trees = np.full((100, problem.max_nodes), -1, np.int32)
    masks = np.zeros((100, problem.max_nodes), np.uint64)
    sizes = np.zeros(100, np.int64)
    for slot in run.pool.slots[: min(int(run.state[0]), 5)]:
        draw_polished(
            problem.arrays, run.workspace, run.fill_work, run.pool, rng, slot, run.state[0], run.settings,
            run.objective_kind, trees, masks, sizes,
        )  # fmt: skip
        for size, test, mask in zip(sizes, trees, masks, strict=True):
            assert_sound(test[:size], mask[:size], problem)


def least_cost(
    problem: TreeProblem, cases: list[int], paid: frozenset[int], depth: int, rate: float
) -> float:
    """Least misclassification plus ``rate`` times test cost of some cases, by trying every tree."""
    dataset = problem.dataset
    weight, costs = dataset.weights()[cases], dataset.case_costs(problem.costs.matrix)[cases]
    least = float((weight[:, None] * costs).sum(axis=0).min())
    for row in range(len(problem.candidates) if depth else 0):
        leaf = problem.tree(np.array([row, -1, -1], np.int32), np.zeros(3, np.uint64))
        left = training_leaves(leaf, dataset) == 1
        sides = [[i for i in cases if left[i] == side] for side in (True, False)]
        if all(sides):
            bought = problem.costs.newly_paid(int(problem.candidates.feature[row]), set(paid))
            price = sum(amount for _, amount in bought) * float(weight.sum())
            now = paid | {step for step, _ in bought}
            below = sum(least_cost(problem, side, now, depth - 1, rate) for side in sides)
            least = min(least, rate * price + below)
    return least


@pytest.mark.parametrize("seed", range(40))
def test_the_best_subtree_of_depth_three_is_found(seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem, _ = random_problem(rng, n_rows=(8, 25), n_features=(1, 2))
    problem = replace(problem, max_depth=3, min_support=1, max_leaf_nodes=8)
    n = len(problem.candidates)
    if not 0 < n <= 5:
        return
    rate = float(np.exp(rng.normal()))
    work, workspace = make_fill_work(problem), problem.workspace()
    work.rate[:] = rate
    top = int(find_best_subtree(problem.arrays, workspace, work, rng, True))
    if top < 0:
        tests = subtree(*map(int, work.chosen))
    else:
        tests = [top, *(test for side in work.below for test in subtree(*map(int, side)))]
    dataset = problem.dataset
    least = least_cost(problem, list(range(dataset.n_samples)), frozenset(), 3, rate) / dataset.total_weight
    assert total(problem, tests, rate) == pytest.approx(least, abs=1e-9)


def test_polish_reaches_what_mutation_misses() -> None:
    problem, _ = random_problem(
        np.random.default_rng(1), n_rows=(60, 60), n_features=(4, 4), categorical=False, weighted=False
    )
    problem = replace(problem, max_depth=3, min_support=1, max_leaf_nodes=8)

    def volume(polish: float) -> float:
        search = NNIA(generations=150, patience=None, polish=polish)
        search.run(problem, np.random.default_rng(0))
        return search.history_[-1].hypervolume

    assert volume(0.1) >= volume(0.0) - 1e-12
