"""The search: its operators, its bookkeeping, and fronts that say the truth."""

from __future__ import annotations

import pickle
import signal
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cstree.evolution._kernels import draw_mutants
from cstree.evolution.island import Island
from cstree.evolution.nnia import MUTATIONS, NNIA, Progress, SearchInterrupted
from cstree.tree.problem import TreeProblem
from tests import reference as ref
from tests.problems import random_preorder, random_problem


def quick(**options: Any) -> NNIA:
    """A small search."""
    return NNIA(**{"dominant_size": 20, "active_size": 6, "clone_size": 20, "generations": 15, **options})


def started(search: NNIA, problem: TreeProblem, rng: np.random.Generator) -> Island:
    """The only island of a search that has run."""
    run = search.start(problem, rng)
    run.search(None)
    return run.islands[0]


def assert_sound(test: Any, mask: Any, problem: TreeProblem) -> None:
    """A preorder of full binary splits within the limits, its tests and subsets valid."""
    open_nodes = [0]
    arrays = problem.arrays
    for node in range(len(test)):
        depth = open_nodes.pop()
        assert depth <= problem.max_depth
        if test[node] < 0:
            continue
        open_nodes += [depth + 1, depth + 1]
        if test[node] >= len(arrays.bits):
            groups = int(arrays.category_count[(int(test[node]) - len(arrays.bits)) >> 1])
            assert 0 < int(mask[node]) < 2**groups - 1
    assert not open_nodes
    assert len(test) <= problem.max_nodes


def assert_supported(test: Any, mask: Any, problem: TreeProblem) -> None:
    """After pruning every branch has its cases, and no split costs nothing less than its leaf."""
    pruned = problem.tree(*problem.prune_and_evaluate(test, mask)[:2])
    assert pruned.support.min() >= min(problem.min_support, problem.dataset.n_samples)
    least = pruned.label_cost.min(axis=1)
    for node in np.flatnonzero(pruned.feature >= 0):
        below = [i for i in range(node, node + pruned.size[node]) if pruned.feature[i] < 0]
        assert least[below].sum() < least[node]


@pytest.mark.parametrize("operator", MUTATIONS)
def test_operators_keep_every_limit(operator: str) -> None:
    drawn = 0
    for seed in range(60):
        if drawn >= 10_000:
            break
        rng = np.random.default_rng(seed)
        problem, _ = random_problem(rng, categories=(2, 9))
        if len(problem.arrays.choice_feature) == 0:
            continue
        problem = TreeProblem(problem.dataset, problem.costs, 3 + seed % 2, 1, max_leaf_nodes=5 + seed % 3)
        run = started(quick(mutations=operator), problem, rng)
        mutants = np.full((250, problem.max_nodes), -1, np.int32)
        masks = np.zeros((250, problem.max_nodes), np.uint64)
        sizes = np.zeros(250, np.int64)
        for slot in run.pool.slots[: min(run.state[0], 5)]:
            draw_mutants(
                problem.arrays,
                run.workspace,
                run.pool,
                slot,
                rng,
                run.settings,
                run.operator_share,
                mutants,
                masks,
                sizes,
            )
            parent = run.pool.test[slot, : run.pool.n_nodes[slot]]
            for size, test, mask in zip(sizes, mutants, masks, strict=True):
                assert_sound(test[:size], mask[:size], problem)
                drawn += 1
                if drawn % 50 == 0:
                    assert_supported(test[:size], mask[:size], problem)
                if operator == "prune":
                    assert size <= len(parent)
                if operator in ("move_cut", "change_test"):
                    assert np.array_equal(test[:size] < 0, parent < 0)
                if operator == "split_leaf":
                    assert size in (len(parent), len(parent) + 2)
    assert drawn >= 10_000


def test_move_cut_keeps_the_feature() -> None:
    rng = np.random.default_rng(2)
    problem, _ = random_problem(rng, n_rows=(60, 60), n_features=(4, 4))
    run = started(quick(mutations="move_cut"), problem, rng)
    slot = max(run.pool.slots[: run.state[0]], key=lambda s: run.pool.n_nodes[s])
    parent = problem.skeleton(run.pool.test[slot, : run.pool.n_nodes[slot]], run.pool.mask[slot])
    mutants = np.full((50, problem.max_nodes), -1, np.int32)
    masks = np.zeros((50, problem.max_nodes), np.uint64)
    sizes = np.zeros(50, np.int64)
    share = run.operator_share
    draw_mutants(
        problem.arrays, run.workspace, run.pool, slot, rng, run.settings, share, mutants, masks, sizes
    )
    for size, test, mask in zip(sizes, mutants, masks, strict=True):
        assert np.array_equal(problem.skeleton(test[:size], mask[:size]).feature, parent.feature)


@pytest.mark.parametrize("seed", range(40))
def test_fronts_say_what_their_trees_cost(seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem, plain = random_problem(rng, categories=(2, 8) if seed % 3 == 0 else None)
    front = quick().run(problem, rng)
    cases = (ref.plain_rows(plain.frame, problem.dataset.schema), plain.y, ref.plain_costs(problem.costs))
    for tree, point in zip(front.trees, front.objectives, strict=True):
        found = ref.evaluate(tree, *cases, plain.weights, plain.example_cost)
        assert [found.f1, found.f2] == pytest.approx(list(point), abs=1e-9)
        assert tree.depth <= problem.max_depth
        assert tree.n_leaves <= problem.max_leaf_nodes
        assert tree.support.min() >= min(problem.min_support, problem.dataset.n_samples)
    assert all(ref.nondominated(front.objectives.tolist()))


def test_no_tree_beats_the_exact_front() -> None:
    reached = known = 0
    for seed in range(15):
        rng = np.random.default_rng(seed)
        problem, plain = random_problem(rng, n_rows=(5, 25), n_features=(2, 3))
        problem = TreeProblem(problem.dataset, problem.costs, 2, 1, 4)
        cases = (ref.plain_rows(plain.frame, problem.dataset.schema), plain.y, ref.plain_costs(problem.costs))
        splits = [
            ref.plain_tree(problem.skeleton(np.array([r, -1, -1], np.int32), np.zeros(3, np.uint64)))
            for r in range(len(problem.candidates))
        ]
        exact = ref.exact_front(splits, *cases, 2, plain.weights, plain.example_cost)
        found = quick(generations=60).run(problem, rng).objectives
        for f1, f2 in found:
            assert not any(beats((f1, f2), (point.f1, point.f2), 1e-9) for point in exact)
        reached += sum(
            any(abs(f1 - p.f1) < 1e-9 and abs(f2 - p.f2) < 1e-9 for f1, f2 in found) for p in exact
        )
        known += len(exact)
    assert reached >= 0.6 * known


def beats(a: tuple[float, float], b: tuple[float, float], margin: float) -> bool:
    """Whether ``a`` is better than ``b`` by more than rounding and nowhere worse."""
    no_worse = a[0] <= b[0] + margin and a[1] <= b[1] + margin
    return no_worse and (a[0] < b[0] - margin or a[1] < b[1] - margin)


def test_clones_are_in_proportion_to_crowding() -> None:
    from cstree.evolution.population import make_pool
    from tests.evolution.kernels import count_clones

    rng = np.random.default_rng(0)
    problem, _ = random_problem(rng, n_rows=(40, 40))
    for _ in range(30):
        n = int(rng.integers(1, 12))
        run = quick(dominant_size=12, active_size=5, clone_size=17).start(problem, rng).islands[0]
        pool = make_pool(problem, run.settings, 2)
        f1 = np.sort(rng.random(n))
        pool.objectives[:n] = np.column_stack([f1, 1 - f1])
        n_active = count_clones(pool, n, run.settings)
        distance = ref.crowding_distance(pool.objectives[:n].tolist())
        active = sorted(range(n), key=lambda i: (-distance[i], i))[:5]
        assert [int(slot) for slot in pool.active[:n_active]] == active
        assert pool.clones[:n_active].tolist() == ref.clone_counts([distance[i] for i in active], 17)
        assert pool.clones[:n_active].sum() <= 17 + 5


def test_same_seed_same_front() -> None:
    problem, _ = random_problem(np.random.default_rng(8), n_rows=(60, 60), n_features=(4, 4))
    first, second = (quick().run(problem, np.random.default_rng(3)) for _ in range(2))
    assert np.array_equal(first.objectives, second.objectives)
    assert all(a.same_as(b) for a, b in zip(first.trees, second.trees, strict=True))
    other = quick().run(problem, np.random.default_rng(4))
    assert len(other) > 0


def test_objectives_may_be_leaves_and_worst_paths() -> None:
    problem, _ = random_problem(np.random.default_rng(8), n_rows=(60, 60), n_features=(4, 4), weighted=False)
    names = ("misclassification_cost", "n_leaves", "worst_test_cost")
    front = quick(objectives=names).run(problem, np.random.default_rng(0))
    assert front.objective_names == names
    for tree, point in zip(front.trees, front.objectives, strict=True):
        assert point[1] == tree.n_leaves
        prices = ref.rule_prices(ref.plain_tree(tree), ref.plain_costs(problem.costs))
        assert point[2] == pytest.approx(max(prices, default=0.0))


def test_seeds_are_on_the_front_or_beaten() -> None:
    rng = np.random.default_rng(8)
    problem, _ = random_problem(rng, n_rows=(60, 60), n_features=(4, 4))
    test, mask, objectives = problem.prune_and_evaluate(*random_preorder(problem, rng))
    front = quick(generations=0).run(problem, rng, seeds=[(test, mask)])
    assert (front.objectives <= objectives + 1e-9).all(axis=1).any()


def test_stops() -> None:
    problem, _ = random_problem(np.random.default_rng(8), n_rows=(60, 60), n_features=(4, 4))
    search = quick(generations=7)
    search.run(problem, np.random.default_rng(0))
    assert search.history_[-1].generation == 7
    search = quick(generations=None, patience=5)
    search.run(problem, np.random.default_rng(0))
    assert search.history_[-1].generation < 5000
    search = quick(generations=None, patience=None, time_budget=0.2)
    search.run(problem, np.random.default_rng(0))
    assert search.history_[-1].seconds >= 0.2


def test_progress_is_reported_and_the_hypervolume_grows() -> None:
    problem, _ = random_problem(np.random.default_rng(8), n_rows=(60, 60), n_features=(4, 4))
    seen: list[Progress] = []
    quick(generations=200).run(problem, np.random.default_rng(0), seen.append)
    assert [p.generation for p in seen] == sorted(p.generation for p in seen)
    volumes = [p.hypervolume for p in seen]
    assert all(b >= a - 1e-12 for a, b in pairwise(volumes))


def test_ctrl_c_keeps_what_was_found() -> None:
    problem, _ = random_problem(np.random.default_rng(8), n_rows=(60, 60), n_features=(4, 4))
    search = quick(generations=None, patience=None, time_budget=60.0)

    def on_first(progress: Progress) -> None:
        if progress.generation > 0 and not started:
            started.append(True)
            signal.raise_signal(signal.SIGINT)

    started: list[bool] = []
    with pytest.raises(SearchInterrupted) as caught:
        search.run(problem, np.random.default_rng(0), on_first)
    assert isinstance(caught.value, KeyboardInterrupt)
    assert len(caught.value.front) > 0
    assert caught.value.front.info["interrupted"]


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"dominant_size": 0}, "dominant_size"),
        ({"clone_size": 0}, "clone_size"),
        ({"generations": -1}, "generations"),
        ({"time_budget": -1.0}, "time_budget"),
        ({"generations": None, "patience": None}, "never ends"),
        ({"recombination": 1.5}, "recombination"),
        ({"mutations": ["shrink"]}, "shrink"),
        ({"mutations": []}, "empty"),
        ({"objectives": ("size",)}, "size"),
        ({"objectives": ("test_cost", "test_cost")}, "different names"),
        ({"objectives": ()}, "different names"),
        ({"dominant_size": "a"}, "dominant_size must be a whole number"),
        ({"active_size": 2.5}, "active_size must be a whole number"),
        ({"generations": "a"}, "generations must be a whole number or None"),
        ({"generations": 1.5}, "generations must be a whole number or None"),
        ({"patience": True}, "patience must be a whole number or None"),
        ({"time_budget": "a"}, "time_budget must be a number of seconds"),
        ({"recombination": "a"}, "recombination must be a number"),
        ({"polish": None}, "polish must be a probability"),
    ],
)
def test_bad_parameters_are_named(options: dict[str, Any], named: str) -> None:
    problem, _ = random_problem(np.random.default_rng(8))
    with pytest.raises((ValueError, TypeError), match=named):
        quick(**options).run(problem, np.random.default_rng(0))


@given(st.integers(0, 2**32 - 1))
def test_fronts_pickle(seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem, _ = random_problem(rng)
    front = quick(generations=2).run(problem, rng)
    again = pickle.loads(pickle.dumps(front))
    assert all(a.same_as(b) for a, b in zip(front.trees, again.trees, strict=True))
