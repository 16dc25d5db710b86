"""What a search begins with: greedy trees, their prunings, and more seeds than a population has room for."""

from __future__ import annotations

import signal
from itertools import product
from typing import Any

import numpy as np
import pytest

from cstree import GreedyTreeClassifier, ParetoTreeClassifier
from cstree.datasets import load_heart, load_pima
from cstree.evolution import seeds as module
from cstree.evolution.nnia import NNIA
from cstree.evolution.seeds import Encoded, exact_seeds, greedy_seeds, prunings
from cstree.exact import search as exact
from cstree.exact.arrays import build_exact_arrays
from cstree.greedy.criteria import CRITERIA
from cstree.pareto._kernels import nondominated
from cstree.tree.problem import TreeProblem
from tests.problems import to_problem
from tests.strategies import random_table


def every_pruning(test: list[int], mask: list[int]) -> list[tuple[list[int], list[int]]]:
    """All trees that come of turning splits into leaves, by recursion over the preorder."""
    leaf = ([-1], [0])
    if test[0] < 0:
        return [leaf]
    end, open_ = 1, 1
    while open_:
        open_ += 1 if test[end] >= 0 else -1
        end += 1
    left, right = every_pruning(test[1:end], mask[1:end]), every_pruning(test[end:], mask[end:])
    split = [(test[:1] + a + c, mask[:1] + b + d) for (a, b), (c, d) in product(left, right)]
    return [leaf, *split]


def points_of(problem: TreeProblem, trees: list[Encoded]) -> np.ndarray:
    return np.array([problem.prune_and_evaluate(test, mask, prune=False)[2] for test, mask in trees])


@pytest.mark.parametrize("seed", range(6))
def test_prunings_are_the_front_of_all_prunings(seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem, _ = to_problem(random_table(rng), rng, max_depth=3)
    encoded = [found for found in map(problem.encode_tree, greedy_seeds(problem)) if found is not None]
    every = [
        (np.array(test, np.int32), np.array(mask, np.uint64))
        for tests, masks in encoded
        for test, mask in every_pruning(tests.tolist(), masks.tolist())
    ]
    found, wanted = points_of(problem, prunings(problem, encoded)), points_of(problem, every)
    scale = np.abs(wanted).max(axis=0) + 1e-300
    assert (np.diff(found[:, 0]) > 0).all() and (np.diff(found[:, 1]) < 0).all()
    for some, others in ((wanted[nondominated(wanted)], found), (found, wanted)):
        assert all((others <= point + 1e-12 * scale).all(axis=1).any() for point in some)


def test_no_seed_is_lost_where_there_are_more_than_a_population_holds() -> None:
    rng = np.random.default_rng(3)
    problem, _ = to_problem(random_table(rng), rng, max_depth=3, min_support=0)
    encoded = [found for found in map(problem.encode_tree, greedy_seeds(problem)) if found is not None]
    seeds = prunings(problem, encoded)[::-1] * 3
    assert len(seeds) > 3
    search = NNIA(dominant_size=3, active_size=2, clone_size=3, generations=0)
    front = search.run(problem, np.random.default_rng(0), seeds=seeds).objectives
    scale = front.max(axis=0)
    for point in points_of(problem, seeds):
        assert (front <= point + 1e-12 * scale).all(axis=1).any()


def test_no_greedy_tree_beats_the_front_that_a_search_begins_with() -> None:
    table = load_pima()
    limits = {"max_depth": 4, "max_bins": 16}
    model = ParetoTreeClassifier(
        table.costs, generations=0, dominant_size=5, min_support=1, random_state=0, **limits
    ).fit(table.data, table.target)
    front = model.front_.objectives
    for name, too_dear, pruning in product(CRITERIA, ("stop", "next"), ("none", "cost", 0.1)):
        greedy = GreedyTreeClassifier(
            table.costs, criterion=name, too_dear=too_dear, pruning=pruning, **limits
        ).fit(table.data, table.target)
        tree = greedy.tree_
        mistakes = tree.label_cost[tree.is_leaf].min(axis=1).sum() / len(table.target)
        point = np.array([mistakes, greedy.test_cost(table.data).mean()])
        assert (front <= point * (1 + 1e-9)).all(axis=1).any(), (name, too_dear, pruning)


@pytest.mark.parametrize("seed", range(12))
def test_tables_that_are_too_large_to_enumerate_have_no_small_trees(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(seed)
    problem, _ = to_problem(random_table(rng), rng, max_depth=3)
    arrays, _, tests = build_exact_arrays(problem, 511)
    pair_words, n_bytes = len(tests.test) * arrays.cases.bits.size, 6 * arrays.cases.bits.nbytes
    assert len(tests.test) > 0
    for name, needed in (("_MOST_PAIR_WORDS", pair_words), ("_MOST_MEMORY", n_bytes)):
        with monkeypatch.context() as patch:
            patch.setattr(module, name, needed)
            assert not module._is_too_large(problem, 3)
            patch.setattr(module, name, needed - 1)
            assert module._is_too_large(problem, 3) and exact_seeds(problem) == []


@pytest.mark.parametrize("search", ["nnia", "nsga2"])
def test_ctrl_c_while_small_trees_are_enumerated_leaves_nothing_behind(
    search: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    heart = load_heart()
    advance = exact.advance

    def interrupted(problem: Any, state: Any, work: int) -> int:
        if work:
            signal.raise_signal(signal.SIGINT)
        return int(advance(problem, state, work))

    monkeypatch.setattr(exact, "advance", interrupted)
    model = ParetoTreeClassifier(heart.costs, search=search, max_test_cost=5.0, max_bins=4)
    with pytest.raises(KeyboardInterrupt):
        model.fit(heart.data, heart.target)
    assert not hasattr(model, "front_")


@pytest.mark.parametrize("seeds", [3, [1], "small", b"exact"])
def test_what_are_no_seeds(seeds: Any) -> None:
    with pytest.raises(ValueError, match="seeds must be 'greedy', 'exact', None or a sequence of trees; got"):
        ParetoTreeClassifier(seeds=seeds).fit([[0.0], [1.0]], [0, 1])
