"""Greedy trees, node for node as the plain twin grows them."""

from __future__ import annotations

import heapq
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cstree.encoding.dataset import Dataset
from cstree.encoding.schema import FeatureSchema
from cstree.greedy import _candidate_kernels, tabulator
from cstree.greedy.criteria import CRITERIA
from cstree.greedy.grower import candidates_at, grow
from tests import reference as ref
from tests.greedy.problems import Encoded, bound, encode
from tests.reference import PlainLeaf, PlainNode, PlainSplit
from tests.strategies import problems, random_costs, random_table

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
MAX_BINS = [None, 3, 255]


def agree(problem: Encoded, criterion: str, alpha: float | str = "heuristic", **limits: Any) -> None:
    """Assert that both growers grow the same tree, and that the flat one's statistics are right."""
    tree = grow(problem.dataset, problem.costs, criterion, alpha=alpha, **limits)
    arguments = problem.arguments
    wanted = ref.grow(criterion=criterion, alpha_value=alpha, **arguments, **limits)
    assert ref.plain_tree(tree) == wanted
    check_statistics(tree, problem)


def check_statistics(tree: Any, problem: Encoded) -> None:
    facts = ref.node_statistics(
        ref.plain_tree(tree), problem.rows, problem.y, problem.plain, problem.weights, problem.example_cost
    )
    assert tree.support.tolist() == [f.support for f in facts]
    np.testing.assert_allclose(tree.class_weight, [f.class_weight for f in facts], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(tree.label_cost, [f.label_cost for f in facts], rtol=1e-12, atol=1e-9)
    assert tree.answer.tolist() == [f.answer for f in facts]


@pytest.mark.parametrize("criterion", CRITERIA)
def test_random_tables(criterion):
    rng = np.random.default_rng(sorted(CRITERIA).index(criterion))
    for number in range(40):
        table = random_table(rng, n_rows=(2, 60) if number % 3 else (40, 120), n_features=(1, 5))
        problem = encode(table, random_costs(rng, table), MAX_BINS[number % 3])
        agree(
            problem,
            criterion,
            alpha=["heuristic", 0.3, 0.0, 1.0][number % 4],
            omega=[1.0, 0.5, 0.0][number % 3],
            purity=[1.0, 0.8, 0.95][number % 3],
            min_support=int(rng.integers(1, 6)),
            min_purity_support=int(rng.integers(1, 4)),
            max_depth=None if number % 2 else int(rng.integers(0, 4)),
            too_dear="next" if number % 4 < 2 else "stop",
        )


@given(problems(n_rows=(2, 25)), st.sampled_from(sorted(CRITERIA)), st.sampled_from(MAX_BINS))
def test_any_small_problem(problem, criterion, max_bins):
    agree(encode(problem.table, problem.costs, max_bins), criterion)


def test_criteria_are_those_of_the_reference():
    assert sorted(CRITERIA) == sorted(ref.CRITERIA)


# --- published tables -----------------------------------------------------------------------------


def published(name: str, priced: bool) -> Encoded:
    path = DATA / f"{name}.csv"
    if not path.exists():
        pytest.skip(f"{path.name} is not here: the tables of ../shared/data are not part of the package")
    frame = pd.read_csv(path)
    target = frame.columns[-1]
    labels = frame.pop(target).astype(str)
    classes, y = np.unique(labels, return_inverse=True)
    for column in frame:
        if not pd.api.types.is_numeric_dtype(frame[column]):
            frame[column] = frame[column].astype("category")
        elif frame[column].nunique() <= 4:
            frame[column] = frame[column].astype("Int64").astype("category")
    schema = FeatureSchema.infer(frame, max_bins=8)
    rng = np.random.default_rng(len(name))
    matrix = rng.integers(1, 12, (len(classes), len(classes))) * 5.0
    np.fill_diagonal(matrix, 0)
    tests = [(float(rng.integers(0, 6)) / 4, {"visit": None} if rng.random() < 0.5 else {}, [j])
             for j in range(len(schema))] if priced else []  # fmt: skip
    costs = ref.describe_costs(matrix.tolist(), len(schema), tests, {"visit": (0.5, [])})
    dataset = Dataset(schema, schema.encode(frame), y.astype(np.int32), len(classes))
    cuts = [f.cuts.tolist() if f.kind == "numeric" else None for f in schema]
    return Encoded(dataset, bound(costs, schema.names), ref.plain_rows(frame, schema), cuts, costs)


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("name", ["heart_cleveland", "hepatitis", "car"])
def test_published_tables(name, criterion):
    for too_dear in ("stop", "next"):
        agree(published(name, priced=True), criterion, max_depth=2 if name == "car" else 3, too_dear=too_dear)


# --- order of growth ------------------------------------------------------------------------------


def grow_best_first(problem: Encoded, criterion: str, max_leaf_nodes: int) -> PlainNode:
    """The twin of best-first growth: of the leaves split the one whose split reduces cost most."""
    arguments = problem.arguments
    data = ref.training(**arguments)
    tree: PlainNode = PlainLeaf()
    waiting: list[Any] = []
    counter = 0

    def consider(members: list[int], paid: set[Any], used: set[int], address: tuple[int, ...]) -> None:
        nonlocal counter
        node = data.summary(members)
        if max(node.class_weight) >= node.weight or len(members) < 2:
            return
        candidates = ref.candidates_at(data, members, paid, used)
        if not candidates:
            return
        best = candidates[ref.best_candidate(criterion, node, candidates)]
        reduction = ref.cost_reduction(node, best.branches, best.price)
        if reduction > 1e-12 * ref.expected_cost(node.regret):
            heapq.heappush(waiting, (-reduction, counter, members, paid, used, address, best.split))
            counter += 1

    def put(node: PlainNode, address: tuple[int, ...], split: PlainSplit) -> PlainNode:
        if not address:
            return replace(split, children=(PlainLeaf(),) * split.n_branches)
        children = list(node.children)
        children[address[0]] = put(children[address[0]], address[1:], split)
        return replace(node, children=tuple(children))

    consider(list(range(len(problem.rows))), set(), set(), ())
    n_leaves = 1
    while waiting:
        _, _, members, paid, used, address, split = heapq.heappop(waiting)
        if n_leaves + split.n_branches - 1 > max_leaf_nodes:
            continue
        n_leaves += split.n_branches - 1
        tree = put(tree, address, split)
        below = paid | {step for step, _ in ref.newly_paid(data.costs, split.feature, paid)}
        gone = used | ({split.feature} if split.cut is None else set())
        for branch in range(split.n_branches):
            part = [i for i in members if ref.branch_of(split, data.rows[i]) == branch]
            consider(part, below, gone, (*address, branch))
    return ref.answered(tree, problem.rows, problem.y, problem.plain, problem.weights, problem.example_cost)


@pytest.mark.parametrize("max_leaf_nodes", [1, 2, 3, 5, 9, 1000])
def test_best_first(max_leaf_nodes):
    rng = np.random.default_rng(max_leaf_nodes)
    for number in range(30):
        table = random_table(rng, n_rows=(5, 60), n_features=(1, 4))
        problem = encode(table, random_costs(rng, table), MAX_BINS[number % 3])
        criterion = ["secsdt_mc", "mincost", "pm"][number % 3]
        tree = grow(problem.dataset, problem.costs, criterion, max_leaf_nodes=max_leaf_nodes)
        assert tree.n_leaves <= max_leaf_nodes
        assert ref.plain_tree(tree) == grow_best_first(problem, criterion, max_leaf_nodes)


def test_enough_leaves_are_no_limit():
    rng = np.random.default_rng(0)
    for _ in range(20):
        table = random_table(rng, n_rows=(5, 80))
        problem = encode(table, random_costs(rng, table))
        free = grow(problem.dataset, problem.costs)
        assert grow(problem.dataset, problem.costs, max_leaf_nodes=free.n_leaves).same_as(free)


# --- subsets of categories ------------------------------------------------------------------------


def every_subset(problem: Encoded, feature: int) -> list[Any]:
    """All ways in which a subset of categories and a side of missing values part the cases."""
    data = ref.training(**problem.arguments)
    members = list(range(len(problem.rows)))
    seen = sorted({row[feature] for row in problem.rows} - {None})
    found = []
    for mask in range(1 << len(seen)):
        table = {code: 0 if mask >> i & 1 else 1 for i, code in enumerate(seen)}
        for side in (0, 1):
            split = PlainSplit(feature, "table", table=table, missing_branch=side)
            parts = [[i for i in members if ref.branch_of(split, data.rows[i]) == b] for b in (0, 1)]
            if all(parts):
                branches = [data.summary(part) for part in parts]
                found.append(ref.Candidate(split, ref.price(data.costs, feature, ()), branches))
    return found


@pytest.mark.parametrize("criterion", ["secsdt_mc", "mincost", "gain", "gini", "cost"])
@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_the_best_subset_is_found(criterion, n_classes):
    rng = np.random.default_rng(n_classes)
    for _ in range(15):
        table = random_table(
            rng, n_rows=(4, 50), n_features=(1, 1), n_classes=(n_classes, n_classes), numeric=False
        )
        problem = encode(table, random_costs(rng, table))
        if problem.dataset.schema[0].n_bins < 2:
            continue
        candidates = every_subset(problem, 0)
        tree = grow(
            problem.dataset, problem.costs, criterion, categorical_split="subset", max_depth=1, alpha=0.4
        )
        check_statistics(tree, problem)
        if tree.n_nodes == 1:
            continue
        node = ref.training(**problem.arguments).summary(range(len(problem.rows)))
        scores = ref.scores(criterion, node, candidates, 0.4)
        split = ref.plain_tree(tree)
        same = [
            score
            for score, candidate in zip(scores, candidates, strict=True)
            if all(ref.branch_of(split, row) == ref.branch_of(candidate.split, row) for row in problem.rows)
        ]
        assert same[0] == pytest.approx(max(scores), rel=1e-9)


def test_subsets_of_many_categories_are_prefixes_of_orders():
    rng = np.random.default_rng(3)
    n, n_categories = 3000, 40
    lean = rng.random(n_categories)
    x = rng.integers(0, n_categories, n)
    frame = pd.DataFrame({"city": pd.Categorical.from_codes(x, [f"c{i:02d}" for i in range(n_categories)])})
    y = (rng.random(n) < lean[x]).astype(int)
    schema = FeatureSchema.infer(frame)
    plain = ref.describe_costs([[0, 1], [3, 0]], 1, [], {})
    costs = bound(plain, schema.names)
    tree = grow(
        Dataset(schema, schema.encode(frame), y.astype(np.int32), 2), costs, "gini",
        categorical_split="subset", max_depth=1,
    )  # fmt: skip
    share = pd.Series(y).groupby(x).mean()
    left = tree.branch_of_category == 0
    assert 0 < left.sum() < n_categories
    assert share[left].max() <= share[~left].min()
    # With three classes every class gives an order; one that sets a class apart is found.
    y3 = np.where(x < 7, 2, y)
    plain = ref.describe_costs([[0, 1, 1], [1, 0, 1], [1, 1, 0]], 1, [], {})
    dataset = Dataset(schema, schema.encode(frame), y3.astype(np.int32), 3)
    tree = grow(dataset, bound(plain, schema.names), "gini", categorical_split="subset", max_depth=1)
    left = tree.branch_of_category == 0
    assert set(np.flatnonzero(left)) in (set(range(7)), set(range(7, n_categories)))


def test_a_subset_feature_is_used_again_below():
    x = np.repeat(np.arange(4), 10)
    y = x.copy()
    frame = pd.DataFrame({"x": pd.Categorical.from_codes(x, list("abcd"))})
    schema = FeatureSchema.infer(frame)
    plain = ref.describe_costs((1 - np.eye(4)).tolist(), 1, [(1 / 64, {}, [0])], {})
    dataset = Dataset(schema, schema.encode(frame), y.astype(np.int32), 4)
    tree = grow(dataset, bound(plain, schema.names), categorical_split="subset")
    assert tree.n_leaves == 4
    assert tree.label_cost.min(axis=1)[tree.is_leaf].sum() == 0


# --- large tables take other paths to the same counts ---------------------------------------------


def large(n: int, n_classes: int, *, weights: bool = False, max_bins: int | None = 20) -> tuple[Dataset, Any]:
    rng = np.random.default_rng(n + n_classes)
    frame = pd.DataFrame(
        {
            "a": rng.normal(size=n),
            "b": rng.integers(0, 6, n),
            "c": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n)),
            "d": pd.Categorical.from_codes(rng.integers(-1, 5, n), list("vwxyz")),
        }
    )
    signal = frame["a"] + frame["b"] / 3 + frame["c"].fillna(1) + frame["d"].cat.codes / 2
    y = pd.qcut(signal + rng.normal(size=n), n_classes, labels=False).to_numpy()
    schema = FeatureSchema.infer(frame, max_bins=max_bins)
    matrix = rng.integers(1, 9, (n_classes, n_classes)) * 1.0
    np.fill_diagonal(matrix, 0)
    plain = ref.describe_costs(matrix.tolist(), 4, [(1 / 64, {}, [0]), (1 / 32, {}, [2, 3])], {})
    weight = rng.integers(1, 4, n) / 2 if weights else None
    dataset = Dataset(schema, schema.encode(frame), y.astype(np.int32), n_classes, weight)
    return dataset, bound(plain, schema.names)


@pytest.mark.parametrize("split", ["multiway", "subset"])
@pytest.mark.parametrize("n_classes", [2, 3, 6])
def test_histograms_change_nothing(monkeypatch, n_classes, split):
    dataset, costs = large(4000, n_classes)
    plain = grow(dataset, costs, categorical_split=split)
    assert plain.n_leaves > 50

    monkeypatch.setattr(tabulator, "_CASES_PER_CELL", 0)
    monkeypatch.setattr(tabulator, "_FEWEST_CASES", 40)
    assert grow(dataset, costs, categorical_split=split).same_as(plain)
    best_first = grow(dataset, costs, categorical_split=split, max_leaf_nodes=30)
    monkeypatch.undo()
    assert grow(dataset, costs, categorical_split=split, max_leaf_nodes=30).same_as(best_first)


@pytest.mark.parametrize("weights", [False, True])
def test_batches_change_nothing(monkeypatch, weights):
    dataset, costs = large(1500, 3, weights=weights)
    together = grow(dataset, costs)
    monkeypatch.setattr(tabulator, "_BATCH", 1)
    assert grow(dataset, costs).same_as(together)


@pytest.mark.parametrize("max_bins", [None, 300])
def test_wide_codes(max_bins):
    """More codes than a byte holds, and more than one block of the bit set: 5000 distinct values."""
    dataset, costs = large(5000, 2, max_bins=max_bins)
    assert dataset.codes.dtype == np.uint16
    dataset = replace(dataset, schema=FeatureSchema(dataset.schema.features[:3]), codes=dataset.codes[:3])
    costs = bound(ref.describe_costs([[0, 1], [1, 0]], 3, [], {}), dataset.schema.names)
    tree = grow(dataset, costs, "gain", max_depth=1)
    candidates = candidates_at(dataset, costs)
    best = (-math.inf, 0, 0, 0)
    y = dataset.y
    for j in range(3):
        codes = dataset.codes[j].astype(int)
        known = codes < dataset.schema[j].n_bins
        for cut in range(dataset.schema[j].n_bins - 1):
            for side in (0, 1) if dataset.schema[j].has_missing else (0,):
                left = np.where(known, codes <= cut, side == 0)
                gain = entropy(y) - sum(p.mean() * entropy(y[p]) for p in (left, ~left) if p.any())
                if gain > best[0] + 1e-12:
                    best = (gain, j, cut, side)
    assert tree.feature[0] == best[1]
    assert tree.threshold[0] == dataset.schema[best[1]].cuts[best[2]]
    assert candidates.gain.max() == pytest.approx(best[0])


def entropy(y: np.ndarray) -> float:
    share = np.bincount(y) / len(y)
    return float(-(share[share > 0] * np.log2(share[share > 0])).sum())


def test_few_cases_and_many_are_read_from_different_tables(monkeypatch):
    dataset, costs = large(1500, 3)
    tree = grow(dataset, costs)
    heavy = Dataset(dataset.schema, dataset.codes, dataset.y, 3, np.full(1500, 2.0))
    assert _candidate_kernels.FEW > 1500
    monkeypatch.setattr(tabulator.Tabulator, "_interleaved", lambda self: np.empty((0, 5), self.codes.dtype))
    assert grow(dataset, costs).same_as(tree)
    assert ref.plain_tree(grow(heavy, costs)) == ref.plain_tree(tree)


# --- few or many classes --------------------------------------------------------------------------


def test_one_class_is_a_leaf():
    schema = FeatureSchema.infer(np.arange(6.0).reshape(-1, 1))
    dataset = Dataset(schema, schema.encode(np.arange(6.0).reshape(-1, 1)), np.zeros(6, np.int32), 1)
    tree = grow(dataset, bound(ref.describe_costs([[0.0]], 1, [], {}), schema.names))
    assert tree.n_nodes == 1
    assert tree.support.tolist() == [6]


@pytest.mark.parametrize("whole_costs", [True, False])
def test_fifty_classes(whole_costs):
    rng = np.random.default_rng(1)
    X = rng.integers(0, 12, (220, 3)).astype(float)
    y = (X[:, 0] * 4 + rng.integers(0, 3, 220)).astype(int)
    schema = FeatureSchema.infer(X)
    matrix = np.where(np.eye(50) == 1, 0, rng.integers(1, 4, (50, 50)) * (1.0 if whole_costs else 0.3))
    plain = ref.describe_costs(matrix.tolist(), 3, [(1 / 8, {}, [0])], {})
    dataset = Dataset(schema, schema.encode(X), y.astype(np.int32), 50)
    problem = Encoded(
        dataset, bound(plain, schema.names), X.tolist(), [f.cuts.tolist() for f in schema], plain
    )
    agree(problem, "mincost", max_depth=3)
    agree(problem, "gain", max_depth=3)


# --- invariants of the specification, section 7 ---------------------------------------------------


@pytest.mark.parametrize("criterion", CRITERIA)
def test_the_order_of_cases_does_not_matter(criterion):
    rng = np.random.default_rng(11)
    for _ in range(10):
        table = random_table(rng, n_rows=(10, 60))
        problem = encode(table, random_costs(rng, table))
        order = rng.permutation(problem.dataset.n_samples)
        tree = grow(problem.dataset, problem.costs, criterion)
        assert ref.plain_tree(grow(problem.dataset.take(order), problem.costs, criterion)) == ref.plain_tree(
            tree
        )


@pytest.mark.parametrize("scaled", ["weights", "costs"])
@pytest.mark.parametrize("criterion", [c for c in CRITERIA if c not in ("pm", "eg2")])
def test_doubling_all_weights_or_all_costs_keeps_the_tree(criterion, scaled):
    rng = np.random.default_rng(12)
    for _ in range(10):
        table = random_table(rng, n_rows=(10, 60))
        costs = random_costs(rng, table)
        problem = encode(table, costs)
        doubled = problem
        if scaled == "weights":
            dataset = replace(problem.dataset, weight=2 * problem.dataset.weights())
            doubled = problem._replace(dataset=dataset)
        else:
            twice = ref.PlainCosts(
                [[2 * c for c in row] for row in costs.matrix],
                [[(step, 2 * price) for step, price in entries] for entries in costs.feature_entries],
            )
            doubled = problem._replace(costs=bound(twice, problem.dataset.schema.names))
            if problem.dataset.example_cost is not None:
                doubled = doubled._replace(
                    dataset=replace(problem.dataset, example_cost=2 * problem.dataset.example_cost)
                )
        assert ref.plain_tree(grow(doubled.dataset, doubled.costs, criterion)) == ref.plain_tree(
            grow(problem.dataset, problem.costs, criterion)
        )


def test_a_constant_added_to_the_costs_of_a_true_class_changes_no_split():
    rng = np.random.default_rng(13)
    for _ in range(20):
        table = random_table(rng, n_rows=(10, 60), example_costs=False)
        costs = random_costs(rng, table)
        moved = replace(costs, matrix=[[c + 8 * t - 3 for c in row] for t, row in enumerate(costs.matrix)])
        a, b = encode(table, costs), encode(table, moved)
        for criterion in ("secsdt_mc", "mincost", "pm", "cost"):
            mine, theirs = grow(a.dataset, a.costs, criterion), grow(b.dataset, b.costs, criterion)
            assert ref.plain_tree(mine) == ref.plain_tree(theirs)


def test_free_tests_equal_costs_and_alpha_one_follow_the_average_gain():
    rng = np.random.default_rng(14)
    for _ in range(20):
        table = random_table(rng, n_rows=(10, 60), example_costs=False)
        equal = ref.describe_costs((1 - np.eye(table.n_classes)).tolist(), table.n_features, [], {})
        problem = encode(table, equal)

        class AverageGain:
            stop = "cost"
            many_nodes = True

            def __call__(self, candidates):
                return candidates.gain / candidates.n_branches

        mine = grow(problem.dataset, problem.costs, "secsdt_mc", alpha=1.0)
        assert ref.plain_tree(mine) == ref.plain_tree(grow(problem.dataset, problem.costs, AverageGain()))


# --- limits ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"max_depth": -1}, "max_depth must be a whole number from 0"),
        ({"max_depth": 2.5}, "max_depth must be a whole number from 0"),
        ({"max_leaf_nodes": 0}, "max_leaf_nodes must be a whole number from 1"),
        ({"min_support": 0}, "min_support must be a whole number from 1"),
        ({"min_support": True}, "min_support must be a whole number from 1"),
        ({"min_purity_support": None}, "min_purity_support must be a whole number from 1"),
        ({"purity": 0}, "purity must be a share"),
        ({"purity": 95}, "purity must be a share"),
        ({"alpha": 1.5}, "alpha must be 'heuristic' or a number from 0"),
        ({"alpha": "best"}, "alpha must be 'heuristic' or a number from 0"),
        ({"omega": 2.0}, r"omega must lie in \[0, 1\]"),
        ({"omega": [1.0, 1.0, 1.0]}, "omega has shape"),
        ({"omega": {"nothing": 1.0}}, "omega names the feature 'nothing'"),
        ({"criterion": "secsdt"}, "Unknown criterion 'secsdt'. Did you mean 'secsdt_mc'?"),
        ({"categorical_split": "binary"}, "categorical_split must be 'multiway' or 'subset'"),
    ],
)
def test_wrong_limits_are_named(limits, message):
    dataset, costs = large(100, 2)
    with pytest.raises(ValueError, match=message):
        grow(dataset, costs, **limits)
