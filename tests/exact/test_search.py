"""Complete fronts against brute force, the plain recursion, and themselves."""

from __future__ import annotations

import itertools
import pickle
import signal
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cstree.exact.search as search_room
from cstree.costs.model import CostModel
from cstree.encoding import Dataset, FeatureSchema
from cstree.exact.arrays import build_exact_arrays
from cstree.exact.search import ExactSearch
from cstree.pareto.front import Front
from cstree.tree.evaluation import evaluate
from cstree.tree.problem import TreeProblem
from cstree.tree.search import Progress, SearchInterrupted
from cstree.tree.tree import Tree
from tests import reference as ref
from tests.exact.plain import PlainFront
from tests.problems import PlainCases, random_problem


def plain_splits(problem: TreeProblem) -> list[ref.PlainSplit]:
    """The candidate tests as the twins want them."""
    _, _, candidates = build_exact_arrays(problem, 511)
    splits = []
    for test, mask in zip(candidates.test, candidates.mask, strict=True):
        tree = problem.skeleton(np.array([test, -1, -1], np.int32), np.array([mask, 0, 0], np.uint64))
        splits.append(ref.plain_tree(tree))
    return splits


def twin_cases(problem: TreeProblem, plain: PlainCases) -> tuple[Any, ...]:
    rows = ref.plain_rows(plain.frame, problem.dataset.schema)
    return rows, plain.y, ref.plain_costs(problem.costs)


def with_limits(problem: TreeProblem, depth: int, min_support: int) -> TreeProblem:
    return TreeProblem(problem.dataset, problem.costs, depth, min_support, 2**depth)


def assert_same(front: Front[Tree], wanted: list[Any]) -> None:
    points = np.array([tuple(point)[:2] for point in wanted])
    assert front.objectives.shape == points.shape
    assert front.objectives == pytest.approx(points, abs=1e-9)


def assert_sound(front: Front[Tree], problem: TreeProblem) -> None:
    """Every tree keeps the limits and costs what its point says."""
    for tree, point in zip(front.trees, front.objectives, strict=True):
        assert [*evaluate(tree, problem.dataset, problem.costs)] == pytest.approx(list(point), abs=1e-9)
        assert tree.depth <= problem.max_depth
        assert tree.support.min() >= min(max(1, problem.min_support), problem.dataset.n_samples)


@pytest.mark.parametrize("seed", range(40))
def test_depth_two_agrees_with_every_tree_one_by_one(seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem, plain = random_problem(rng, n_rows=(2, 14), n_features=(1, 3))
    problem = only(with_limits(problem, 2, 1), 5)
    wanted = ref.enumerated_front(
        plain_splits(problem), *twin_cases(problem, plain), 2, plain.weights, plain.example_cost
    )
    front = ExactSearch().run(problem)
    assert_same(front, wanted)
    assert front.complete


def only(problem: TreeProblem, n: int) -> TreeProblem:
    """The same problem with its first candidates only."""
    candidates = problem.candidates
    limited = replace(problem)
    kept = {name: getattr(candidates, name)[:n] for name in ("feature", "cut", "subset", "missing_left")}
    limited.__dict__["candidates"] = type(candidates)(**kept)
    return limited


@pytest.mark.parametrize("seed", range(150))
@pytest.mark.parametrize("depth", [1, 2])
def test_shallow_fronts_agree_with_the_recursion_in_exact_fractions(seed: int, depth: int) -> None:
    rng = np.random.default_rng(1000 + seed)
    problem, plain = random_problem(rng, n_rows=(2, 25), n_features=(1, 3))
    problem = with_limits(problem, depth, 1)
    wanted = ref.exact_front(
        plain_splits(problem), *twin_cases(problem, plain), depth, plain.weights, plain.example_cost
    )
    front = ExactSearch().run(problem)
    assert_same(front, wanted)
    assert_sound(front, problem)


@pytest.mark.parametrize("seed", range(150))
def test_deeper_fronts_agree_with_the_plain_recursion(seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem, plain = random_problem(rng, n_rows=(5, 40), n_features=(1, 4))
    problem = with_limits(problem, int(rng.integers(2, 5)), int(rng.integers(0, 4)))
    splits = plain_splits(problem)
    if len(splits) > 24:
        problem = replace(problem, max_depth=2)
    twin = PlainFront(
        splits, *twin_cases(problem, plain), plain.weights, plain.example_cost, problem.min_support
    )
    front = ExactSearch().run(problem)
    assert_same(front, twin.front(problem.max_depth))
    assert_sound(front, problem)
    assert front.complete
    assert front.info["complete_depth"] == problem.max_depth
    assert front.info["candidates"] == len(splits)


@pytest.mark.parametrize("seed", range(30))
def test_trees_built_together_are_those_built_one_by_one(seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem, _ = random_problem(rng, n_rows=(5, 60), weighted=False, example_costs=False, categorical=False)
    problem = with_limits(problem, 3, int(rng.integers(0, 3)))
    front = ExactSearch().run(problem)
    for tree in front.trees:
        found = problem.encode_tree(tree)
        assert found is not None
        again = problem.tree(*found)
        assert tree.depth == again.depth
        assert tree.same_as(again)


@pytest.mark.parametrize("seed", range(12))
def test_subsets_of_many_categories_are_enumerated(seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem, plain = random_problem(rng, categories=(7, 8), n_rows=(15, 40), n_features=(1, 2))
    problem = with_limits(problem, 2, int(rng.integers(0, 3)))
    splits = plain_splits(problem)
    twin = PlainFront(
        splits, *twin_cases(problem, plain), plain.weights, plain.example_cost, problem.min_support
    )
    front = ExactSearch().run(problem)
    assert_same(front, twin.front(2))
    assert_sound(front, problem)


def table_problem(
    rng: np.random.Generator, n: int, *, n_features: int = 4, max_depth: int = 3, n_classes: int = 3
) -> TreeProblem:
    """A numeric table larger than the random ones."""
    X = rng.normal(size=(n, n_features)).round(1)
    y = ((X[:, 0] > 0).astype(int) + (X[:, 1] * X[:, -1] > 0.2) + (rng.random(n) < 0.2)) % n_classes
    schema = FeatureSchema.infer(X, max_bins=6)
    matrix = rng.integers(1, 40, (n_classes, n_classes)) * (1 - np.eye(n_classes))
    model = CostModel(matrix, tests=list(rng.integers(0, 9, n_features) / 4))
    costs = model.bind([f"x{j}" for j in range(n_features)], list(range(n_classes)))
    dataset = Dataset(schema, schema.encode(X), y.astype(np.int32), n_classes)
    return TreeProblem(dataset, costs, max_depth, 2, 2**max_depth)


@pytest.mark.parametrize("seed", range(6))
def test_tables_of_many_words_agree_with_the_plain_recursion(seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem = table_problem(rng, 700, max_depth=3)
    rows = [list(map(float, row)) for row in decoded(problem)]
    twin = PlainFront(
        plain_splits(problem), rows, problem.dataset.y.tolist(), ref.plain_costs(problem.costs), min_support=2
    )
    front = ExactSearch().run(problem)
    assert_same(front, twin.front(3))
    assert_sound(front, problem)


def decoded(problem: TreeProblem) -> np.ndarray[Any, Any]:
    """A value inside the bin of every code."""
    columns = []
    for j, feature in enumerate(problem.dataset.schema):
        middle = [
            feature.cuts[0] - 1.0,
            *((a + b) / 2 for a, b in zip(feature.cuts, feature.cuts[1:], strict=False)),
        ]
        columns.append(np.array([*middle, feature.cuts[-1] + 1.0])[problem.dataset.codes[j]])
    return np.column_stack(columns)


def test_deeper_fronts_weakly_dominate_shallower_ones() -> None:
    problem = table_problem(np.random.default_rng(3), 200)
    fronts = [ExactSearch().run(with_limits(problem, depth, 2)) for depth in range(5)]
    for shallow, deep in itertools.pairwise(fronts):
        for point in shallow.objectives:
            assert (deep.objectives <= point + 1e-12).all(axis=1).any()
    assert len(fronts[0]) == 1
    assert fronts[4].trees[0].depth == 4


@given(st.integers(0, 2**32 - 1))
def test_order_of_features_and_cases_and_names_of_classes_do_not_matter(seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem = table_problem(rng, int(rng.integers(5, 80)))
    front = ExactSearch().run(problem)
    dataset, K = problem.dataset, problem.dataset.n_classes
    rows, features, classes = (rng.permutation(k) for k in (dataset.n_samples, len(dataset.schema), K))
    X = decoded(problem)[rows][:, features]
    schema = FeatureSchema.infer(X)
    model = CostModel(
        problem.costs.matrix[np.ix_(classes, classes)],
        tests=[problem.costs.price(int(j)) for j in features],
    )
    rank = np.argsort(classes).astype(np.int32)
    costs = model.bind([f"x{j}" for j in range(len(features))], list(range(K)))
    shuffled = Dataset(schema, schema.encode(X), rank[dataset.y[rows]], K)
    again = ExactSearch().run(TreeProblem(shuffled, costs, 3, 2, 8))
    assert again.objectives == pytest.approx(front.objectives, abs=1e-9)


def test_doubled_weights_double_nothing_and_doubled_costs_do() -> None:
    rng = np.random.default_rng(5)
    problem = table_problem(rng, 60)
    weight = rng.integers(1, 5, 60) / 4
    dataset = replace(problem.dataset, weight=weight)
    front = ExactSearch().run(replace(problem, dataset=dataset))
    doubled = ExactSearch().run(replace(problem, dataset=replace(dataset, weight=2 * weight)))
    assert doubled.objectives == pytest.approx(front.objectives, abs=1e-12)
    costs = replace(problem.costs, matrix=2 * problem.costs.matrix, prices=2 * problem.costs.prices)
    dearer = ExactSearch().run(replace(problem, dataset=dataset, costs=costs))
    assert dearer.objectives == pytest.approx(2 * front.objectives, abs=1e-12)


def test_repeated_cases_are_weights() -> None:
    rng = np.random.default_rng(6)
    problem = replace(table_problem(rng, 50), min_support=1)
    times = rng.integers(1, 4, 50)
    repeated = problem.dataset.take(np.repeat(np.arange(50), times))
    weighted = replace(problem.dataset, weight=times.astype(float))
    fronts = [ExactSearch().run(replace(problem, dataset=d)).objectives for d in (repeated, weighted)]
    assert fronts[0] == pytest.approx(fronts[1], abs=1e-12)


def test_a_matrix_and_the_same_costs_by_case_give_the_same_front() -> None:
    problem = table_problem(np.random.default_rng(7), 90)
    by_case = replace(problem.dataset, example_cost=problem.costs.matrix[problem.dataset.y])
    front = ExactSearch().run(problem)
    again = ExactSearch().run(replace(problem, dataset=by_case))
    assert again.objectives == pytest.approx(front.objectives, abs=1e-12)


def test_free_tests_have_one_trade_off() -> None:
    problem = table_problem(np.random.default_rng(8), 90)
    costs = replace(problem.costs, prices=np.zeros_like(problem.costs.prices))
    front = ExactSearch().run(replace(problem, costs=costs))
    assert len(front) == 1
    assert front.objectives[0, 1] == 0


def test_figures_that_are_no_decimals_are_evaluated_as_given() -> None:
    rng = np.random.default_rng(9)
    problem = table_problem(rng, 80)
    dataset = replace(problem.dataset, weight=rng.random(80) + 0.1)
    costs = replace(problem.costs, prices=rng.random(len(problem.costs.prices)))
    problem = replace(problem, dataset=dataset, costs=costs)
    front = ExactSearch().run(problem)
    assert front.info["rounded"]
    assert_sound(front, problem)
    twin = PlainFront(
        plain_splits(problem),
        [list(map(float, row)) for row in decoded(problem)],
        dataset.y.tolist(),
        ref.plain_costs(costs),
        dataset.weight.tolist(),  # type: ignore[union-attr]
        min_support=2,
    )
    assert_same(front, twin.front(3))


def test_costs_too_large_for_short_integers() -> None:
    problem = table_problem(np.random.default_rng(10), 80)
    costs = replace(problem.costs, matrix=problem.costs.matrix * 1e7 + 0.25 * (problem.costs.matrix > 0))
    front = ExactSearch().run(replace(problem, costs=costs))
    arrays, _, _ = build_exact_arrays(replace(problem, costs=costs), 1)
    assert arrays.cases.saving.dtype == np.int64
    assert_sound(front, replace(problem, costs=costs))
    plain = ExactSearch().run(problem)
    assert len(front) >= len(plain)


def test_one_tree_per_point_with_the_fewest_nodes() -> None:
    # The second feature repeats the first; testing it again on a path is free and useless.
    rng = np.random.default_rng(11)
    X = np.repeat(rng.integers(0, 2, (40, 1)), 2, axis=1).astype(float)
    schema = FeatureSchema.infer(X)
    y = (X[:, 0] + (rng.random(40) < 0.1) > 0.5).astype(np.int32)
    costs = CostModel(tests=[1.0, 1.0]).bind(["a", "b"], [0, 1])
    front = ExactSearch().run(TreeProblem(Dataset(schema, schema.encode(X), y, 2), costs, 3, 1, 8))
    assert [tree.n_nodes for tree in front] == [3, 1]


@pytest.mark.parametrize("limit", [0, 1])
def test_degenerate_tables(limit: int) -> None:
    X = np.ones((5, 2))
    schema = FeatureSchema.infer(X)
    costs = CostModel(tests=[1.0, 1.0]).bind(["a", "b"], [0, 1])
    for y in ([0, 1, 1, 0, 1], [0, 0, 0, 0, 0]):
        dataset = Dataset(schema, schema.encode(X), np.array(y, np.int32), 2)
        front = ExactSearch().run(TreeProblem(dataset, costs, 4 * limit, limit, 16))
        assert len(front) == 1
        assert front.complete
        assert front[0].n_nodes == 1
        assert front.objectives[0] == pytest.approx([min(sum(y), 5 - sum(y)) / 5, 0.0])


def test_a_time_budget_gives_the_front_so_far() -> None:
    problem = table_problem(np.random.default_rng(12), 400, n_features=6, max_depth=6)
    front = ExactSearch(time_budget=0.02).run(problem)
    assert not front.complete
    assert front.info["stopped_by"] == "time_budget"
    depth = front.info["complete_depth"]
    assert 0 <= depth < 6
    assert 0 <= front.info["root_tests_done"] <= front.info["root_tests"]
    assert_sound(front, problem)
    known = ExactSearch().run(replace(problem, max_depth=depth))
    for point in known.objectives:
        assert (front.objectives <= point + 1e-12).all(axis=1).any()


def test_a_limit_on_work_gives_the_same_front_in_any_portions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    problem = table_problem(np.random.default_rng(12), 400, n_features=6, max_depth=6)
    fronts = []
    for portion in (1 << 20, 1000):
        monkeypatch.setattr(search_room, "_FIRST_WORK", portion)
        fronts.append(ExactSearch(work_limit=200_000).run(problem))
    first, second = fronts
    assert not first.complete
    assert first.info["stopped_by"] == "work_limit"
    assert 2 <= first.info["complete_depth"] < 6
    assert_sound(first, problem)
    assert np.array_equal(first.objectives, second.objectives)
    assert first.info["root_tests_done"] == second.info["root_tests_done"]
    assert ExactSearch(work_limit=10**12).run(replace(problem, max_depth=3)).complete


def test_a_memory_budget_gives_the_front_so_far() -> None:
    problem = table_problem(np.random.default_rng(12), 400, n_features=6, max_depth=5)
    front = ExactSearch(memory_budget=2e6).run(problem)
    assert not front.complete
    assert front.info["stopped_by"] == "memory_budget"
    assert_sound(front, problem)


def test_what_a_stopped_search_says_is_done_misses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cstree.exact.search._FIRST_WORK", 1)
    monkeypatch.setattr("cstree.exact.search._SECONDS_PER_CALL", 0.0)
    problem = table_problem(np.random.default_rng(13), 300, n_features=5, max_depth=4)
    whole = ExactSearch().run(problem)

    seen = [0]

    def stop(progress: Progress) -> None:
        seen.append(progress.generation)
        depths_begun = sum(b < a for a, b in itertools.pairwise(seen))
        if depths_begun == 2 and progress.generation == 9:
            raise KeyboardInterrupt

    with pytest.raises(SearchInterrupted) as caught:
        ExactSearch().run(problem, None, stop)
    front = caught.value.front
    assert front.info["complete_depth"] == 3
    assert front.info["root_tests_done"] == 9 < front.info["root_tests"]
    cheapest = np.argsort([problem.costs.price(j) for j in range(5)], kind="stable")
    n_cuts = [len(problem.dataset.schema[int(j)].cuts) for j in cheapest]
    done = [int(j) for j, end in zip(cheapest, np.cumsum(n_cuts), strict=True) if end <= 9]
    assert done
    for point, tree in zip(whole.objectives, whole.trees, strict=True):
        if tree.depth < 4 or tree.feature[0] in done:
            assert (front.objectives <= point + 1e-12).all(axis=1).any()


def test_ctrl_c_keeps_what_was_found() -> None:
    problem = table_problem(np.random.default_rng(12), 400, n_features=8, max_depth=7)

    def on_first(progress: Progress) -> None:
        if progress.evaluations > 0 and not started:
            started.append(True)
            signal.raise_signal(signal.SIGINT)

    started: list[bool] = []
    with pytest.raises(SearchInterrupted) as caught:
        ExactSearch().run(problem, None, on_first)
    front = caught.value.front
    assert len(front) > 1
    assert not front.complete
    assert_sound(front, problem)


def test_small_pieces_of_work_give_the_same_front(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = table_problem(np.random.default_rng(14), 150, max_depth=4)
    whole = ExactSearch().run(problem)
    monkeypatch.setattr("cstree.exact.search._FIRST_WORK", 1)
    monkeypatch.setattr("cstree.exact.search._SECONDS_PER_CALL", 0.0)
    pieces = ExactSearch().run(problem)
    assert np.array_equal(whole.objectives, pieces.objectives)
    assert all(a.same_as(b) for a, b in zip(whole.trees, pieces.trees, strict=True))


def test_room_that_runs_out_gives_the_same_front(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = table_problem(np.random.default_rng(14), 250, max_depth=4)
    whole = ExactSearch().run(problem)
    monkeypatch.setattr("cstree.exact.state.FIRST_POINTS", 2)
    monkeypatch.setattr("cstree.exact.state.FIRST_ENTRIES", 4)
    cramped = ExactSearch().run(problem)
    assert np.array_equal(whole.objectives, cramped.objectives)
    assert all(a.same_as(b) for a, b in zip(whole.trees, cramped.trees, strict=True))


def test_progress_is_reported_and_the_hypervolume_grows() -> None:
    problem = table_problem(np.random.default_rng(12), 400, n_features=5, max_depth=5)
    seen: list[Progress] = []
    front = ExactSearch().run(problem, None, seen.append)
    volumes = [progress.hypervolume for progress in seen]
    assert all(b >= a - 1e-12 for a, b in itertools.pairwise(volumes))
    assert seen[-1].front_size == len(front)
    assert seen[-1].generation == seen[-1].generations


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"time_budget": -1.0}, "time_budget"),
        ({"work_limit": -1}, "work_limit"),
        ({"memory_budget": 0}, "memory_budget"),
        ({"subset_limit": 0}, "subset"),
    ],
)
def test_bad_parameters_are_named(options: dict[str, Any], named: str) -> None:
    with pytest.raises(ValueError, match=named):
        ExactSearch(**options).run(table_problem(np.random.default_rng(1), 20))


def test_a_limit_on_leaves_that_could_bind_is_an_error() -> None:
    problem = table_problem(np.random.default_rng(1), 20)
    with pytest.raises(ValueError, match="max_leaf_nodes=5 could bind"):
        ExactSearch().run(replace(problem, max_leaf_nodes=5))
    few = replace(problem, max_leaf_nodes=5, min_support=4)  # 20 cases have no more than 5 leaves of 4
    assert ExactSearch().run(few).complete


def test_too_many_subsets_are_an_error_that_names_the_feature() -> None:
    rng = np.random.default_rng(2)
    X = np.array([f"c{k}" for k in range(12)], dtype=object)[rng.integers(0, 12, 200)][:, None]
    schema = FeatureSchema.infer(X)
    costs = CostModel(tests=[1.0]).bind(["colour"], [0, 1])
    dataset = Dataset(schema, schema.encode(X), rng.integers(0, 2, 200).astype(np.int32), 2)
    with pytest.raises(ValueError, match=r"12 categories and so 2047 subsets.*subset_limit"):
        ExactSearch().run(TreeProblem(dataset, costs, 2, 1, 4))
    assert ExactSearch(subset_limit=2047).run(TreeProblem(dataset, costs, 2, 1, 4)).complete


def test_fronts_pickle() -> None:
    front = ExactSearch().run(table_problem(np.random.default_rng(1), 60))
    again = pickle.loads(pickle.dumps(front))
    assert again.complete
    assert all(a.same_as(b) for a, b in zip(front.trees, again.trees, strict=True))
