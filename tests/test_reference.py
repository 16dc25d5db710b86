"""The judges judged: worked numbers of the specification, tables worked by hand, and invariants."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from itertools import permutations
from operator import itemgetter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import reference as ref
from tests.reference import PlainCosts, PlainLeaf, PlainNode, PlainSplit
from tests.strategies import (
    Problem,
    candidate_problems,
    fronts,
    problems,
    random_cost_words,
    random_costs,
    random_table,
    random_tree,
    tables,
    tree_problems,
)

GOLDEN = json.loads((Path(__file__).parent / "golden" / "greedy.json").read_text(encoding="utf-8"))
NAMES = list(GOLDEN["data"]["X"])
KINDS = [GOLDEN["kind"][name] for name in NAMES]
CATEGORIES = {
    name: sorted(set(GOLDEN["data"]["X"][name]))
    for name, kind in GOLDEN["kind"].items()
    if kind == "categorical"
}
FEVER, SWAB, CRP, FERRITIN = range(4)
FLU, SEPSIS, WELL = range(3)


def _golden_rows() -> list[list[Any]]:
    columns = [
        [CATEGORIES[name].index(v) if name in CATEGORIES else float(v) for v in GOLDEN["data"]["X"][name]]
        for name in NAMES
    ]
    return [list(row) for row in zip(*columns, strict=True)]


ROWS = _golden_rows()
Y = [GOLDEN["classes"].index(label) for label in GOLDEN["data"]["y"]]
COSTS = ref.describe_costs(
    GOLDEN["misclassification"],
    len(NAMES),
    [
        (GOLDEN["tests"][name], dict.fromkeys(GOLDEN["needs"].get(name, []), None), [j])
        for j, name in enumerate(NAMES)
    ],
    {name: (amount, []) for name, amount in GOLDEN["operations"].items()},
)


def cut(feature: int, value: float, left: PlainNode, right: PlainNode, missing: int = 0) -> PlainSplit:
    return PlainSplit(feature, "numeric", cut=value, missing_branch=missing, children=(left, right))


def leaf(answer: int | None = None) -> PlainLeaf:
    return PlainLeaf(answer)


def free(n_features: int, matrix: Any = ((0, 1), (1, 0))) -> PlainCosts:
    """Tests that cost nothing."""
    return PlainCosts(matrix, [[] for _ in range(n_features)])


# --- the worked numbers -------------------------------------------------------------------------


def _golden_node(path: str) -> tuple[list[int], set[Any], set[int]]:
    """Cases, steps paid and features used up at a node of the file."""
    cases = range(len(ROWS))
    crp_steps = {step for step, _ in COSTS.feature_entries[CRP]}
    swab_steps = {step for step, _ in COSTS.feature_entries[SWAB]}
    positive = CATEGORIES["swab"].index("pos")
    return {
        "root": (list(cases), set(), set()),
        "swab = pos": ([i for i in cases if ROWS[i][SWAB] == positive], swab_steps, {SWAB}),
        "crp > 9.5": ([i for i in cases if ROWS[i][CRP] > 9.5], crp_steps, set()),
    }[path]


@pytest.mark.parametrize("golden", GOLDEN["nodes"], ids=[node["path"] for node in GOLDEN["nodes"]])
def test_every_golden_number_of_a_node(golden: dict[str, Any]) -> None:
    members, paid, used_up = _golden_node(golden["path"])
    data = ref.training(ROWS, Y, COSTS, KINDS)
    node = data.summary(members)
    assert node.label_cost == golden["label_costs"]
    assert ref.entropy(node.class_weight) == pytest.approx(golden["entropy"], abs=1e-11)
    assert ref.expected_cost(node.regret) == pytest.approx(golden["expected_cost"], abs=1e-11)
    assert ref.alpha(node.regret) == pytest.approx(golden["alpha"], abs=1e-11)

    candidates = ref.candidates_at(data, members, paid, used_up)
    scores = {
        name: ref.scores(name, node, candidates)
        for name in ("mincost", "pm", "eg2", "cs_id3", "idx", "gain_ratio", "secsdt_mc", "cost")
    }
    assert len(candidates) == len(golden["rows"])
    for i, (candidate, row) in enumerate(zip(candidates, golden["rows"], strict=True)):
        branches, amount = candidate.branches, candidate.price
        found = {
            "feature": NAMES[candidate.split.feature],
            "cut": candidate.split.cut,
            "branches": len(branches),
            "sizes": [b.weight for b in branches],
            "gain": ref.gain(node, branches),
            "split_info": ref.split_info(node, branches),
            "avg_gain": ref.avg_gain(node, branches),
            "price": amount,
            "dmc": ref.dmc(node, branches),
            "test_cost": ref.total_price(node, amount),
            "cost_red": ref.cost_reduction(node, branches, amount),
            "answer_red": scores["cost"][i],
        } | {name: scores[name][i] for name in scores if name != "cost"}
        assert set(found) == set(row)
        for name, wanted in row.items():
            if wanted == "inf":
                assert found[name] == math.inf, (row["feature"], row["cut"], name)
            elif isinstance(wanted, float):
                message = f"{row['feature']} {row['cut']} {name}"
                assert found[name] == pytest.approx(wanted, abs=1e-11), message
            else:
                assert found[name] == wanted, (row["feature"], row["cut"], name)


def test_golden_tree_has_the_golden_objectives() -> None:
    fever = PlainSplit(FEVER, "table", table={0: 0, 1: 1, 2: 2}, children=(leaf(FLU), leaf(WELL), leaf(WELL)))
    tree = cut(CRP, 9.5, fever, cut(FERRITIN, 210.0, leaf(FLU), leaf(SEPSIS)))
    assert "fever high: flu; mild: well; no: well" in GOLDEN["tree"]
    result = ref.evaluate(tree, ROWS, Y, COSTS)
    assert result.f1 == pytest.approx(GOLDEN["f1"], abs=1e-12)
    assert result.f2 == pytest.approx(GOLDEN["f2"], abs=1e-12)
    # the blood is drawn once: 0.6 + 0.3 for crp, then 0.1 for fever or 0.5 for ferritin
    assert ref.rule_prices(tree, COSTS) == pytest.approx([1.0, 1.0, 1.0, 1.4, 1.4])
    # no case with high fever is below 9.5: answered from the cases, that leaf says what its parent would
    assert ref.predict(ref.answered(tree, ROWS, Y, COSTS), [[0, 0, 5.0, 60.0]]) == [WELL]


# --- prices -------------------------------------------------------------------------------------


def test_a_step_is_paid_once_and_at_the_figure_of_the_first_who_needs_it() -> None:
    costs = ref.describe_costs(
        [[0, 1], [1, 0]],
        4,
        tests=[(2.0, {"draw": None}, [0]), (3.0, {"draw": 0.25}, [1, 2])],
        operations={"visit": (10.0, []), "draw": (1.0, ["visit"])},
    )
    assert [ref.price(costs, a) for a in range(4)] == [13.0, 13.25, 13.25, 0.0]
    first = {step for step, _ in ref.newly_paid(costs, 0)}
    assert ref.price(costs, 0, first) == 0
    assert ref.price(costs, 1, first) == 3.0
    panel = {step for step, _ in ref.newly_paid(costs, 1)}
    assert ref.price(costs, 2, panel) == 0
    assert ref.price(costs, 0, panel) == 2.0


def test_arrays_of_bound_costs_come_back_as_entries() -> None:
    for seed in range(50):
        rng = np.random.default_rng(seed)
        table = random_table(rng)
        words = random_cost_words(rng, table)
        costs = words.plain()
        again = ref.plain_costs(SimpleNamespace(**ref.bound_arrays(costs)))
        assert again.matrix == costs.matrix
        for order in permutations(range(table.n_features)):
            paid: set[Any] = set()
            paid_again: set[Any] = set()
            for feature in order:
                assert ref.price(costs, feature, paid) == ref.price(again, feature, paid_again)
                paid |= {step for step, _ in ref.newly_paid(costs, feature, paid)}
                paid_again |= {step for step, _ in ref.newly_paid(again, feature, paid_again)}


@given(problems())
def test_paid_steps_only_make_tests_cheaper(problem: Problem) -> None:
    costs = problem.costs
    for a in range(costs.n_features):
        own = {step for step, _ in costs.feature_entries[a]}
        assert ref.price(costs, a, own) == 0
        for b in range(costs.n_features):
            other = {step for step, _ in costs.feature_entries[b]}
            assert ref.price(costs, a, other) <= ref.price(costs, a)


# --- trees --------------------------------------------------------------------------------------


def test_missing_and_unknown_values_take_the_missing_branch() -> None:
    numeric = PlainSplit(0, "numeric", cut=1.0, missing_branch=1)
    values = (1.0, 1.5, math.nan, None, -math.inf)
    assert [ref.branch_of(numeric, [v]) for v in values] == [0, 1, 1, 1, 0]
    table = PlainSplit(0, "table", table={0: 0, 3: 1}, missing_branch=1)
    assert [ref.branch_of(table, [v]) for v in (0, 3, 1, None)] == [0, 1, 1, 1]


def test_a_leaf_without_cases_answers_as_its_nearest_reached_ancestor() -> None:
    rows, y = [[0.0], [1.0], [2.0]], [0, 1, 1]
    inner = cut(0, 9.0, leaf(), cut(0, 10.0, leaf(), leaf()))
    tree = cut(0, 0.5, leaf(), inner)
    answers = [
        n.answer for n in ref.preorder(ref.answered(tree, rows, y, free(1))) if isinstance(n, PlainLeaf)
    ]
    assert answers == [0, 1, 1, 1]
    # a case of weight 0 reaches nothing: now nobody is right of 0.5, and the root has class 0 only
    statistics = ref.node_statistics(tree, rows, y, free(1), weights=[2.0, 0.0, 0.0])
    assert [s.answer for s in statistics] == [0] * 7
    assert [s.support for s in statistics] == [1, 1, 0, 0, 0, 0, 0]


def test_equal_label_costs_answer_the_lowest_class() -> None:
    tree = ref.answered(leaf(), [[0.0], [0.0]], [2, 1], free(1, [[0, 1, 1], [1, 0, 1], [1, 1, 0]]))
    assert tree == leaf(1)


def test_evaluation_by_hand_with_weights_and_costs_of_each_case() -> None:
    costs = PlainCosts([[0, 1], [1, 0]], [[("draw", 1.0), ("a", 2.0)], [("draw", 1.0), ("b", 0.5)]])
    tree = cut(0, 0.5, leaf(0), cut(1, 0.5, leaf(0), leaf(1)))
    rows = [[0.0, 0.0], [1.0, 0.0], [1.0, math.nan], [1.0, 1.0]]
    own = [[0.0, 7.0], [4.0, -1.0], [3.0, 0.0], [5.0, 2.0]]
    result = ref.evaluate(tree, rows, [0, 1, 1, 0], costs, weights=[1.0, 2.0, 0.0, 1.0], example_cost=own)
    # draw and a are paid by all; b by those right of 0.5, draw not again, missing value or not
    assert result.case_test_costs == [3.0, 3.5, 3.5, 3.5]
    assert result.f1 == (1 * 0.0 + 2 * 4.0 + 0 * 3.0 + 1 * 2.0) / 4
    assert result.f2 == (3.0 + 2 * 3.5 + 3.5) / 4


@given(tree_problems())
def test_evaluation_is_the_sum_over_leaves_and_over_the_confusion_matrix(
    drawn: tuple[Problem, PlainNode],
) -> None:
    problem, tree = drawn
    table, costs = problem.table, problem.costs
    result = ref.evaluate(tree, *problem.cases)
    w = ref.case_weights(table.y, table.weights)
    statistics = ref.node_statistics(tree, *problem.cases)
    leaves = [
        facts
        for node, facts in zip(ref.preorder(tree), statistics, strict=True)
        if isinstance(node, PlainLeaf)
    ]
    weights = [math.fsum(facts.class_weight) for facts in leaves]
    prices = ref.rule_prices(tree, costs)
    assert result.f2 * sum(w) == pytest.approx(sum(a * b for a, b in zip(weights, prices, strict=True)))
    assert result.f1 * sum(w) == pytest.approx(sum(facts.label_cost[facts.answer] for facts in leaves))
    steps = {(step, a): amount for a, entries in enumerate(costs.feature_entries) for step, amount in entries}
    assert result.f2 <= sum(steps.values()) + 1e-12
    if table.example_cost is None:
        answers = ref.predict(ref.answered(tree, *problem.cases), table.rows)
        confusion = np.zeros((table.n_classes, table.n_classes))
        for weight, truth, answer in zip(w, table.y, answers, strict=True):
            confusion[truth, answer] += weight
        assert (confusion * np.array(costs.matrix)).sum() / sum(w) == pytest.approx(result.f1, abs=1e-12)


@given(tree_problems())
def test_flat_trees_come_back_nested(drawn: tuple[Problem, PlainNode]) -> None:
    problem, tree = drawn
    rows, y, costs, weights, example_cost = problem.cases
    flat = ref.flat_tree(tree, rows, y, costs, problem.table.n_categories, weights, example_cost)
    assert ref.plain_tree(SimpleNamespace(**flat)) == ref.answered(tree, *problem.cases)


def test_raw_rows_of_a_frame() -> None:
    import pandas

    schema = SimpleNamespace(
        features=[
            SimpleNamespace(kind="numeric", categories=()),
            SimpleNamespace(kind="categorical", categories=("a", "b")),
        ]
    )
    frame = pandas.DataFrame({"n": [1, None, 3], "c": ["b", "z", None]})
    rows = ref.plain_rows(frame, schema)
    assert [row[1] for row in rows] == [1, None, None]
    assert str([row[0] for row in rows]) == "[1.0, nan, 3.0]"
    for seed in range(20):
        table = random_table(np.random.default_rng(seed))
        schema = SimpleNamespace(
            features=[
                SimpleNamespace(kind=kind, categories=tuple("abcdefgh"[:count]))
                for kind, count in zip(table.kinds, table.n_categories, strict=True)
            ]
        )
        assert str(ref.plain_rows(table.frame(), schema)) == str(table.rows)


# --- pruning ------------------------------------------------------------------------------------


def test_support_pruning_by_hand() -> None:
    rows = [[float(v)] for v in range(6)]
    y = [0, 0, 1, 1, 1, 0]
    # the right branch of the root holds one case: the root becomes its left subtree; there, once the case is
    # routed anew, both branches of the cut at 1.5 have two or more, and those of the cut at 0.5 have one each
    tree = cut(0, 4.5, cut(0, 1.5, cut(0, 0.5, leaf(), leaf()), leaf()), leaf())
    pruned = ref.support_prune(tree, rows, y, free(1), 2)
    assert pruned == cut(0, 1.5, leaf(0), leaf(1))
    assert ref.support_prune(tree, rows, y, free(1), 5) == leaf(0)
    assert ref.support_prune(tree, rows, y, free(1), 1) == ref.answered(tree, rows, y, free(1))


def test_support_counts_cases_not_weight() -> None:
    rows, y = [[0.0], [0.0], [1.0], [1.0]], [0, 0, 1, 1]
    tree = cut(0, 0.5, leaf(), leaf())
    assert ref.support_prune(tree, rows, y, free(1), 2, weights=[0.1, 0.1, 9.0, 9.0]) == cut(
        0, 0.5, leaf(0), leaf(1)
    )
    assert ref.support_prune(tree, rows, y, free(1), 2, weights=[1.0, 0.0, 9.0, 9.0]) == leaf(1)


def _multiway(missing: int) -> PlainSplit:
    children = (cut(1, 0.5, leaf(), leaf()), leaf(), leaf())
    return PlainSplit(0, "table", table={0: 0, 1: 1, 2: 2}, missing_branch=missing, children=children)


def test_small_branches_fold_into_the_missing_branch() -> None:
    rows = [[0, 0.0], [0, 0.0], [0, 1.0], [0, 1.0], [1, 0.0], [2, 1.0], [2, 1.0]]
    y = [0, 0, 1, 1, 1, 0, 0]
    pruned = ref.support_prune(_multiway(missing=2), rows, y, free(2), 2)
    # category 1 has one case: it goes with category 2, which is now branch 1
    assert pruned == PlainSplit(
        0,
        "table",
        table={0: 0, 1: 1, 2: 1},
        missing_branch=1,
        children=(cut(1, 0.5, leaf(0), leaf(1)), leaf(0)),
    )
    # the missing branch itself is the small one: the heaviest takes its cases and missing values
    heaviest = ref.support_prune(_multiway(missing=1), rows, y, free(2), 2)
    assert heaviest == PlainSplit(
        0,
        "table",
        table={0: 0, 1: 0, 2: 1},
        missing_branch=0,
        children=(cut(1, 0.5, leaf(0), leaf(1)), leaf(0)),
    )
    # only category 0 has three cases: its subtree replaces the node, and gets all cases
    assert ref.support_prune(_multiway(missing=1), rows, y, free(2), 3) == cut(1, 0.5, leaf(0), leaf(0))
    assert ref.support_prune(_multiway(missing=1), rows, y, free(2), 5) == leaf(0)


def test_cost_pruning_by_hand() -> None:
    rows = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
    # exclusive or: no single test helps, both together do; nothing may go
    y = [0, 1, 1, 0]
    full = cut(0, 0.5, cut(1, 0.5, leaf(), leaf()), cut(1, 0.5, leaf(), leaf()))
    assert ref.cost_prune(full, rows, y, free(2)) == ref.answered(full, rows, y, free(2))
    # the second feature is the class: the tests of it on the left are worth it, the one on the right too, but
    # when the left side is all of class 0 its test is not
    y = [0, 0, 0, 1]
    assert ref.cost_prune(full, rows, y, free(2)) == cut(0, 0.5, leaf(0), cut(1, 0.5, leaf(0), leaf(1)))
    # a mistake on class 1 that costs nothing is no reason for any test
    assert ref.cost_prune(full, rows, y, free(2, [[0, 1], [0, 0]])) == leaf(0)


@given(tree_problems(), st.integers(0, 5))
def test_pruning_invariants(drawn: tuple[Problem, PlainNode], minimum: int) -> None:
    problem, tree = drawn
    rows, y, costs, weights, example_cost = problem.cases
    before = ref.evaluate(tree, *problem.cases)
    by_cost = ref.cost_prune(tree, *problem.cases)
    after = ref.evaluate(by_cost, *problem.cases)
    assert after.f1 <= before.f1 + 1e-12 and after.f2 <= before.f2 + 1e-12
    assert ref.n_nodes(by_cost) <= ref.n_nodes(tree) and ref.cost_prune(by_cost, *problem.cases) == by_cost

    by_support = ref.support_prune(tree, rows, y, costs, minimum, weights, example_cost)
    assert by_support == ref.support_prune(by_support, rows, y, costs, minimum, weights, example_cost)
    statistics = ref.node_statistics(by_support, *problem.cases)
    supports = [s.support for s in statistics]
    assert len(supports) == 1 or min(supports) >= minimum
    both = ref.prune(tree, rows, y, costs, minimum, weights, example_cost)
    assert both == ref.cost_prune(by_support, *problem.cases)


@given(tree_problems(max_depth=2))
def test_no_inner_node_survives_cost_pruning_for_nothing(drawn: tuple[Problem, PlainNode]) -> None:
    problem, tree = drawn
    pruned = ref.cost_prune(tree, *problem.cases)
    statistics = ref.node_statistics(pruned, *problem.cases)
    order = list(ref.preorder(pruned))
    for i, node in enumerate(order):
        if isinstance(node, PlainSplit):
            inside = range(i, i + ref.n_nodes(node))
            below = sum(min(statistics[j].label_cost) for j in inside if isinstance(order[j], PlainLeaf))
            assert below < min(statistics[i].label_cost)


# --- dominance, crowding, clones, hypervolume, choice -------------------------------------------


def test_dominance_by_hand() -> None:
    points = [(2, 2), (1, 3), (2, 2), (3, 1), (3, 2), (1, 4)]
    assert ref.nondominated(points) == [True, True, False, True, False, False]
    assert ref.front_indices(points) == [1, 0, 3]
    assert ref.front_indices(points, sizes=[5, 1, 3, 1, 1, 1]) == [1, 2, 3]


def test_crowding_by_hand() -> None:
    points = [(0.0, 10.0), (1.0, 6.0), (4.0, 0.0), (2.0, 5.0)]
    # (1, 6): (2 - 0) / 4 + (10 - 5) / 10; (2, 5): (4 - 1) / 4 + (6 - 0) / 10
    assert ref.crowding_distance(points) == pytest.approx([math.inf, 1.0, math.inf, 1.35])
    # an objective that never varies counts 0
    assert ref.crowding_distance([(a, b, 7.0) for a, b in points]) == pytest.approx(
        [math.inf, 1.0, math.inf, 1.35]
    )
    assert ref.crowding_distance([(1.0, 1.0)]) == [math.inf]


def test_clone_counts_by_hand() -> None:
    # infinite ones count 2 * 1.5: shares 3, 1, 1.5, 3 of 8.5
    assert ref.clone_counts([math.inf, 1.0, 1.5, math.inf], 100) == [36, 12, 18, 36]
    assert ref.clone_counts([math.inf, math.inf], 100) == [50, 50]
    assert ref.clone_counts([math.inf], 100) == [100]
    assert ref.clone_counts([math.inf, 0.1, math.inf], 100) == [40, 20, 40]
    assert ref.clone_counts([2.0, 0.0], 10) == [10, 0]
    assert ref.clone_counts([0.0, 0.0, 0.0], 10) == [4, 4, 4]


def test_hypervolume_by_hand() -> None:
    points = [(1, 3), (2, 2), (3, 1), (3, 3), (0, 9)]
    # rectangles up to (4, 4): 3 * 1 + 2 * 1 + 1 * 1
    assert ref.hypervolume_2d(points, (4, 4)) == 6
    assert ref.hypervolume(points, (4, 4)) == 6
    assert ref.hypervolume([(0, 0, 0)], (2, 3, 4)) == 24
    assert ref.hypervolume([(0, 1, 1), (1, 0, 1), (1, 1, 0)], (2, 2, 2)) == 2 + 2 + 2 - 1 - 1 - 1 + 1
    assert ref.hypervolume([(5, 5)], (4, 4)) == ref.hypervolume_2d([(5, 5)], (4, 4)) == 0


@given(fronts())
def test_both_hypervolumes_agree_with_counting_squares(points: list[tuple[float, ...]]) -> None:
    reference = (2.25, 2.25)
    squares = [
        (a / 4, b / 4)
        for a in range(9)
        for b in range(9)
        if any(p[0] <= a / 4 and p[1] <= b / 4 for p in points)
    ]
    assert ref.hypervolume_2d(points, reference) == pytest.approx(len(squares) / 16)
    assert ref.hypervolume(points, reference) == pytest.approx(len(squares) / 16)


@given(fronts(n_objectives=3, max_points=8))
def test_hypervolume_in_three_dimensions_agrees_with_counting_cubes(points: list[tuple[float, ...]]) -> None:
    grid = np.indices((9, 9, 9)).reshape(3, -1).T / 4
    covered = sum(
        any(all(p <= g for p, g in zip(point, cell, strict=True)) for point in points) for cell in grid
    )
    assert ref.hypervolume(points, (2.25, 2.25, 2.25)) == pytest.approx(covered / 64)


@given(st.integers(2, 3).flatmap(lambda m: fronts(n_objectives=m)), st.integers(1, 60))
def test_set_invariants(points: list[tuple[float, ...]], n_clones: int) -> None:
    mask = ref.nondominated(points)
    front = [p for p, kept in zip(points, mask, strict=True) if kept]
    assert len(set(front)) == len(front)
    for p in points:
        assert p in front or any(ref.dominates(q, p) for q in front)
    assert not any(ref.dominates(p, q) for p in front for q in front)
    assert [points[i] for i in ref.front_indices(points)] == sorted(front)

    distances = ref.crowding_distance(front)
    assert all(d >= 0 for d in distances)
    turned = dict(zip(front[::-1], ref.crowding_distance(front[::-1]), strict=True))
    assert [turned[p] for p in front] == pytest.approx(distances)
    for m in range(len(front[0])):
        for extreme in (min, max):
            value = extreme(p[m] for p in front)
            assert (
                any(p[m] == value and math.isinf(d) for p, d in zip(front, distances, strict=True))
                or len({p[m] for p in front}) == 1
            )
    counts = ref.clone_counts(distances, n_clones)
    assert n_clones <= sum(counts) <= n_clones + len(front) and min(counts) >= 1


def test_selection_by_hand() -> None:
    points = [(0.0, 10.0), (1.0, 4.0), (4.0, 2.0), (8.0, 0.0)]
    assert ref.select(points, "total_cost") == 1
    assert ref.select(points, "knee") == 1  # scaled (.125, .4) is .475 short of the chord, (.5, .2) .3
    assert ref.select(points, {"max_test_cost": 3.0}) == 2
    assert ref.select(points, {"max_test_cost": 10.0}) == 0
    assert ref.select(points, {"max_misclassification_cost": 3.9}) == 1
    assert ref.select(points, {"exchange_rate": 0.1}) == 0
    assert ref.select(points, {"exchange_rate": 3.0}) == 3
    with pytest.raises(ValueError, match="max_misclassification_cost"):
        ref.select(points, {"max_misclassification_cost": -1.0})
    # nothing below the chord: the knee is the point of least total cost
    assert ref.select([(0.0, 4.0), (3.0, 3.0), (5.0, 0.0)], "knee") == 0
    assert ref.select([(1.0, 1.0)], "knee") == 0


# --- criteria -----------------------------------------------------------------------------------


def _summary(class_weight: list[float], regret: list[float]) -> ref.NodeSummary:
    return ref.NodeSummary(class_weight, regret, regret)


def test_expected_cost_of_two_classes_is_the_harmonic_form() -> None:
    assert ref.expected_cost([3.0, 6.0]) == pytest.approx(2 * 3 * 6 / 9)
    assert ref.class_shares([3.0, 6.0]) == pytest.approx([2 / 3, 1 / 3])
    assert ref.expected_cost([0.0, 0.0, 0.0]) == 0 and ref.alpha([0.0, 0.0]) == 1
    assert ref.expected_cost([5.0]) == 0 and ref.alpha([5.0]) == 1


@given(st.lists(st.integers(0, 80).map(lambda v: v / 8), min_size=2, max_size=5))
def test_class_shares_sum_to_one(regret: list[float]) -> None:
    if sum(regret):
        assert sum(ref.class_shares(regret)) == pytest.approx(1)
        assert min(regret) - 1e-12 <= ref.expected_cost(regret) <= max(regret) + 1e-12


def test_a_maximum_that_is_not_positive_makes_its_term_zero() -> None:
    node = _summary([2.0, 2.0], [2.0, 2.0])
    useless = [_summary([1.0, 1.0], [1.0, 1.0])] * 2
    perfect = [_summary([2.0, 0.0], [0.0, 2.0]), _summary([0.0, 2.0], [2.0, 0.0])]
    split = PlainSplit(0, "numeric", cut=0.5)
    dear = [ref.Candidate(split, 9.0, useless), ref.Candidate(split, 9.0, perfect)]
    # every CostRed is negative: only the accuracy counts, with weight alpha = 1 or as given
    assert ref.scores("secsdt_mc", node, dear, alpha_value=0.25) == [0.0, 0.25]
    assert ref.scores("secsdt_mc", node, dear[:1], alpha_value=0.25) == [0.0]


def test_rounding_is_no_gain() -> None:
    node = _summary([0.1 + 0.2, 0.7], [0.7, 0.1 + 0.2])
    parts = [_summary([0.3 * share, 0.7 * share], [0.7 * share, 0.3 * share]) for share in (0.37, 0.63)]
    assert 0 < abs(ref.gain(node, parts)) < 1e-12
    test = ref.Candidate(PlainSplit(0, "numeric", cut=0.5), 0.0, parts)
    assert ref.scores("secsdt_mc", node, [test]) == [0.0]
    for criterion in ("cs_id3", "idx"):
        assert ref.scores(criterion, node, [test]) == [0.0]


def test_scores_that_differ_by_rounding_are_ties() -> None:
    node = _summary([2.0, 2.0], [2.0, 2.0])
    perfect = [_summary([2.0, 0.0], [0.0, 2.0]), _summary([0.0, 2.0], [2.0, 0.0])]
    tests = [
        ref.Candidate(PlainSplit(a, "numeric", cut=0.5), amount, perfect)
        for a, amount in enumerate([0.5, 0.1 + 0.2, 0.3])
    ]
    scores = ref.scores("idx", node, tests)
    assert scores[2] > scores[1] > scores[0]
    assert ref.best_candidate("idx", node, tests) == 1


def test_regrets_forget_what_no_decision_changes() -> None:
    assert ref.regrets([[3.0, 5.0], [-2.0, -2.5]]) == [[0.0, 2.0], [0.5, 0.0]]
    shifted = ref.training([[0.0], [1.0]], [0, 1], free(1, [[-7, 3], [4, -6]]), ["numeric"])
    plain = ref.training([[0.0], [1.0]], [0, 1], free(1, [[0, 10], [10, 0]]), ["numeric"])
    assert shifted.summary([0, 1]).label_cost == [-3.0, -3.0]
    assert shifted.summary([0, 1]).regret == plain.summary([0, 1]).regret == [10.0, 10.0]


def test_free_gains_beat_all_priced_ones_and_the_larger_wins() -> None:
    node = _summary([2.0, 2.0], [2.0, 2.0])
    nothing = [_summary([1.0, 1.0], [1.0, 1.0])] * 2
    little = [_summary([2.0, 1.0], [1.0, 2.0]), _summary([0.0, 1.0], [1.0, 0.0])]
    perfect = [_summary([2.0, 0.0], [0.0, 2.0]), _summary([0.0, 2.0], [2.0, 0.0])]
    tests = [
        ref.Candidate(PlainSplit(a, "numeric", cut=0.5), amount, branches)
        for a, (amount, branches) in enumerate(
            [(0.0, nothing), (0.0, little), (0.01, perfect), (0.0, perfect)]
        )
    ]
    for criterion in ("cs_id3", "idx"):
        assert ref.scores(criterion, node, tests)[0] == 0
        assert ref.best_candidate(criterion, node, tests) == 3
        assert ref.best_candidate(criterion, node, tests[:3]) == 1
        assert ref.best_candidate(criterion, node, [tests[0], tests[2]]) == 1


def test_omega_may_differ_by_feature() -> None:
    data = ref.training(ROWS, Y, COSTS, KINDS)
    members = list(range(len(ROWS)))
    node, candidates = data.summary(members), ref.candidates_at(data, members)
    by_feature = ref.scores("eg2", node, candidates, omega=[0.0, 1.0, 0.0, 1.0])
    none, full = (ref.scores("eg2", node, candidates, omega=w) for w in (0.0, 1.0))
    for i, candidate in enumerate(candidates):
        assert by_feature[i] == (none, full)[candidate.split.feature % 2][i]


@given(problems(n_rows=(2, 12)))
def test_costs_and_gains_never_fall_by_splitting(problem: Problem) -> None:
    rows, y, costs, weights, example_cost = problem.cases
    data = ref.training(rows, y, costs, problem.table.kinds, weights, example_cost)
    members = list(range(len(data.rows)))
    node = data.summary(members)
    for candidate in ref.candidates_at(data, members):
        branches = candidate.branches
        assert sum(b.weight for b in branches) == pytest.approx(node.weight)
        for p in range(problem.table.n_classes):
            assert sum(b.label_cost[p] for b in branches) == pytest.approx(node.label_cost[p], abs=1e-12)
        assert ref.gain(node, branches) >= -1e-12 and ref.gini_gain(node, branches) >= -1e-12
        assert ref.dmc(node, branches) >= -1e-9
        assert ref.answer_reduction(node, branches, 0.0) >= -1e-12
        assert min(node.regret) >= 0


def _criteria_of(problem: Problem) -> list[dict[Any, float]]:
    """Scores of every criterion at the root, by candidate."""
    rows, y, costs, weights, example_cost = problem.cases
    data = ref.training(rows, y, costs, problem.table.kinds, weights, example_cost)
    members = list(range(len(data.rows)))
    node, candidates = data.summary(members), ref.candidates_at(data, members)
    if not candidates:
        return []
    keys = [(c.split.feature, c.split.cut, c.split.missing_branch) for c in candidates]
    return [dict(zip(keys, ref.scores(name, node, candidates), strict=True)) for name in ref.CRITERIA]


@given(problems(n_rows=(2, 10), n_classes=(2, 3), categorical=False, example_costs=False), st.randoms())
def test_scores_do_not_depend_on_the_order_of_cases_or_names_of_classes(
    problem: Problem, random: Any
) -> None:
    table, costs = problem.table, problem.costs
    order = list(range(len(table.rows)))
    random.shuffle(order)
    names = list(range(table.n_classes))
    random.shuffle(names)
    old = [names.index(k) for k in range(table.n_classes)]
    renamed = Problem(
        replace(
            table,
            rows=[table.rows[i] for i in order],
            y=[names[table.y[i]] for i in order],
            weights=None if table.weights is None else [table.weights[i] for i in order],
        ),
        replace(costs, matrix=[[costs.matrix[t][p] for p in old] for t in old]),
    )
    for a, b in zip(_criteria_of(problem), _criteria_of(renamed), strict=True):
        assert a == pytest.approx(b, abs=1e-9)


def test_doubled_weights_or_costs_scale_the_scores() -> None:
    with_weights = {"mincost": 2.0, "cost": 2.0}
    with_costs = {"mincost": 2.0, "cost": 2.0, "cs_id3": 0.5, "idx": 0.5}
    data = ref.training(ROWS, Y, COSTS, KINDS)
    heavy = ref.training(ROWS, Y, COSTS, KINDS, weights=[2.0] * len(ROWS))
    dear_costs = PlainCosts(
        [[2 * c for c in row] for row in COSTS.matrix],
        [[(step, 2 * amount) for step, amount in entries] for entries in COSTS.feature_entries],
    )
    dear = ref.training(ROWS, Y, dear_costs, KINDS)
    members = list(range(len(ROWS)))
    for name in ("secsdt_mc", "mincost", "cost", "cs_id3", "idx", *ref.COST_BLIND):
        plain, weighted, priced = (
            ref.scores(name, d.summary(members), ref.candidates_at(d, members)) for d in (data, heavy, dear)
        )
        factor = with_weights.get(name, 1.0)
        assert weighted == pytest.approx([factor * v for v in plain], rel=1e-9, abs=1e-12)
        factor = with_costs.get(name, 1.0)
        assert priced == pytest.approx([factor * v for v in plain], rel=1e-9, abs=1e-12)


# --- the grower ---------------------------------------------------------------------------------


def test_golden_greedy_tree_follows_the_golden_scores() -> None:
    # swab scores most at the root; where it is positive fever scores most (0.94) and reduces cost (0.66)
    tree = ref.grow(ROWS, Y, COSTS, KINDS, min_support=2)
    assert isinstance(tree, PlainSplit) and tree.feature == SWAB
    below = tree.children[CATEGORIES["swab"].index("pos")]
    assert isinstance(below, PlainSplit) and below.feature == FEVER
    root = GOLDEN["nodes"][0]["rows"]
    for criterion in ("mincost", "pm", "idx", "eg2"):
        best = max(root, key=itemgetter(criterion))
        stump = ref.grow(ROWS, Y, COSTS, KINDS, criterion=criterion, max_depth=1)
        assert isinstance(stump, PlainSplit)
        assert (NAMES[stump.feature], stump.cut) == (best["feature"], best["cut"])


def test_stops_by_hand() -> None:
    rows, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 1, 1]
    grown = cut(0, 0.5, leaf(0), leaf(1))
    assert ref.grow(rows, y, free(1), ["numeric"]) == replace(grown, missing_branch=1)
    assert ref.grow(rows, y, free(1), ["numeric"], min_support=4) != leaf(1)
    assert ref.grow(rows, y, free(1), ["numeric"], min_support=5) == leaf(1)
    assert ref.grow(rows, y, free(1), ["numeric"], purity=0.75) == leaf(1)
    assert ref.grow(rows, y, free(1), ["numeric"], purity=0.75, min_purity_support=5) != leaf(1)
    assert ref.grow(rows, y, free(1), ["numeric"], max_depth=0) == leaf(1)
    assert ref.grow([[1.0]] * 4, y, free(1), ["numeric"]) == leaf(1)
    # one mistake costs 1 and is E = 2 * 1 * 3 / 4 = 1.5 in all; four tests at 0.4 are more than that
    for amount, wanted in ((0.3, 3), (0.4, 1)):
        costs = PlainCosts([[0, 1], [1, 0]], [[("a", amount)]])
        for criterion in ("secsdt_mc", "mincost", "pm"):
            assert ref.n_nodes(ref.grow(rows, y, costs, ["numeric"], criterion=criterion)) == wanted
        for criterion in ref.COST_BLIND:
            assert ref.n_nodes(ref.grow(rows, y, costs, ["numeric"], criterion=criterion)) == 3
    # the answer's cost falls by 1 only: no test at 0.3 for four cases
    costs = PlainCosts([[0, 1], [1, 0]], [[("a", 0.3)]])
    assert ref.grow(rows, y, costs, ["numeric"], criterion="cost") == leaf(1)
    with pytest.raises(ValueError, match="weights"):
        ref.grow(rows, y, free(1), ["numeric"], weights=[0.0] * 4)


def test_missing_values_compete_on_both_sides_where_the_training_column_has_some() -> None:
    rows, y = [[0.0], [0.0], [1.0], [1.0], [math.nan]], [0, 0, 1, 1, 1]
    assert ref.grow(rows, y, free(1), ["numeric"]) == cut(0, 0.5, leaf(0), leaf(1), missing=1)
    y[4] = 0
    assert ref.grow(rows, y, free(1), ["numeric"]) == cut(0, 0.5, leaf(0), leaf(1), missing=0)
    # missing in the column but not at the node: both sides tie, left it is
    deeper = [[0.0, 0.0], [0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [1.0, 1.0], [0.0, math.nan]]
    tree = ref.grow(deeper, [0, 0, 1, 2, 2, 0], free(2, [[0, 1, 1], [1, 0, 1], [1, 1, 0]]), ["numeric"] * 2)
    assert tree == cut(0, 0.5, leaf(0), cut(1, 0.5, leaf(1), leaf(2), missing=0), missing=0)
    # no missing value in training: the side of more weight
    assert ref.grow(rows[:4], y[:4], free(1), ["numeric"], weights=[1, 1, 1, 2]) == cut(
        0, 0.5, leaf(0), leaf(1), missing=1
    )


def test_missing_categories_go_where_most_weight_is_and_the_feature_is_used_up() -> None:
    rows: list[list[Any]] = [[0], [0], [2], [2], [None]]
    y = [0, 0, 1, 1, 0]
    tree = ref.grow(rows, y, free(1), ["categorical"], weights=[1, 1, 1, 1.5, 1])
    assert tree == PlainSplit(0, "table", table={0: 0, 2: 1}, missing_branch=1, children=(leaf(0), leaf(1)))
    assert ref.predict(tree, [[1], [None]]) == [1, 1]


def test_a_feature_is_bought_once_on_a_path_however_often_it_is_cut() -> None:
    rows, y, weights = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1], [4.0, 4.0, 0.25, 0.05]
    # root: E = 2 * 4.05 * 4.25 / 8.3 = 4.148, right of 0.5 it is 0.471: 3.677 for 8.3 * price.
    # The third cut reduces 0.083 only, less than 0.3 * 0.4: it is made because nothing is paid any more
    for amount, n_nodes in ((0.45, 1), (0.4, 7)):
        costs = PlainCosts([[0, 1], [1, 0]], [[("a", amount)]])
        tree = ref.grow(rows, y, costs, ["numeric"], criterion="mincost", weights=weights)
        assert ref.n_nodes(tree) == n_nodes
    assert ref.evaluate(tree, rows, y, costs, weights)[:2] == pytest.approx((0.0, 0.4))


def test_ties_go_to_the_lowest_feature_then_the_lowest_cut() -> None:
    rows = [[0.0, 0.0], [1.0, 1.0], [2.0, 2.0], [3.0, 3.0]]
    y = [0, 1, 1, 0]
    tree = ref.grow(rows, y, free(2), ["numeric", "numeric"], max_depth=1, criterion="gain")
    assert isinstance(tree, PlainSplit) and (tree.feature, tree.cut) == (0, 0.5)
    given_cuts = [[9.0, 0.75, 0.25, -1.0], None]
    tree = ref.grow(rows, y, free(2), ["numeric", "numeric"], max_depth=1, criterion="gain", cuts=given_cuts)
    assert isinstance(tree, PlainSplit) and (tree.feature, tree.cut) == (0, 0.25)


@settings(deadline=None)
@given(problems(n_rows=(2, 14)), st.sampled_from(ref.CRITERIA), st.sampled_from([None, 0, 1, 2]))
def test_grown_trees_keep_their_promises(problem: Problem, criterion: str, max_depth: int | None) -> None:
    rows, y, costs, weights, example_cost = problem.cases
    kinds = problem.table.kinds
    tree = ref.grow(
        rows,
        y,
        costs,
        kinds,
        criterion=criterion,
        weights=weights,
        example_cost=example_cost,
        max_depth=max_depth,
        min_support=3,
    )
    assert tree == ref.answered(tree, *problem.cases)
    assert max_depth is None or ref.depth(tree) <= max_depth
    statistics = ref.node_statistics(tree, *problem.cases)
    for node, facts in zip(ref.preorder(tree), statistics, strict=True):
        assert facts.support >= (3 if isinstance(node, PlainSplit) else 1)
    for row in rows:
        multiway = [s.feature for s in ref.follow(tree, row)[0] if s.kind == "table"]
        assert len(set(multiway)) == len(multiway)
    if criterion == "cost":  # the direct greedy step on the total
        f1, f2, _ = ref.evaluate(tree, *problem.cases)
        alone = ref.evaluate(PlainLeaf(), *problem.cases)
        assert f1 + f2 <= alone.f1 + 1e-9


@settings(deadline=None)
@given(problems(n_rows=(2, 12)))
def test_alpha_one_orders_candidates_by_average_gain(problem: Problem) -> None:
    rows, y, costs, weights, example_cost = problem.cases
    data = ref.training(rows, y, costs, problem.table.kinds, weights, example_cost)
    members = list(range(len(data.rows)))
    node, candidates = data.summary(members), ref.candidates_at(data, members)
    if candidates:
        gains = [ref.avg_gain(node, c.branches) for c in candidates]
        scores = ref.scores("secsdt_mc", node, candidates, alpha_value=1.0)
        largest = max(gains)
        if largest > 1e-12:
            assert scores == pytest.approx([g / largest for g in gains])
        else:
            assert scores == [0.0] * len(gains)


# --- exact fronts -------------------------------------------------------------------------------


def test_exact_front_by_hand() -> None:
    rows = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
    y = [0, 0, 0, 1]
    costs = PlainCosts([[0, 4], [8, 0]], [[("a", 1.0)], [("b", 0.5)]])
    tests = [PlainSplit(0, "numeric", cut=0.5), PlainSplit(1, "numeric", cut=0.5)]
    # alone: 8 (answer 0); after b: 4 (answer 1 where b is 1), 4 * 0.5; after b, then a on two cases: 0, 2 + 2
    points = [(0.0, 1.0), (1.0, 0.5), (2.0, 0.0)]
    assert [p[:2] for p in ref.exact_front(tests, rows, y, costs, 2)] == points
    assert [p[:2] for p in ref.exact_front(tests, rows, y, costs, 1)] == points[1:]
    assert [p[:2] for p in ref.exact_front(tests, rows, y, costs, 0)] == points[2:]
    best = ref.exact_front(tests, rows, y, costs, 2)[0].tree
    assert best == replace(tests[1], children=(PlainLeaf(), replace(tests[0], children=(leaf(), leaf()))))


def test_there_are_as_many_trees_as_the_recurrence_says() -> None:
    tests = [PlainSplit(a, "numeric", cut=0.5) for a in range(3)]
    assert [sum(1 for _ in ref.all_trees(tests, d)) for d in (0, 1, 2)] == [1, 1 + 3, 1 + 3 * 16]


@settings(deadline=None, max_examples=60)
@given(candidate_problems(n_rows=(2, 10), n_tests=(1, 4)))
def test_recursion_and_enumeration_give_one_front(drawn: tuple[Problem, list[PlainSplit]]) -> None:
    problem, tests = drawn
    rows, y, costs, weights, example_cost = problem.cases
    front = ref.exact_front(tests, rows, y, costs, 2, weights, example_cost)
    brute = ref.enumerated_front(tests, rows, y, costs, 2, weights, example_cost)
    assert [p[:2] for p in front] == [p[:2] for p in brute]
    assert [ref.n_nodes(p.tree) for p in front] == [ref.n_nodes(p.tree) for p in brute]
    assert ref.nondominated([p[:2] for p in front]) == [True] * len(front)
    for point in front:
        again = ref.evaluate(point.tree, *problem.cases)
        assert again[:2] == pytest.approx(point[:2], abs=1e-12)
    # deeper trees may only improve
    shallow = ref.exact_front(tests, rows, y, costs, 1, weights, example_cost)
    assert all(any(a <= c and b <= d for a, b, _ in front) for c, d, _ in shallow)


@settings(deadline=None)
@given(candidate_problems(n_rows=(2, 12), n_tests=(1, 4)))
def test_free_tests_leave_one_point(drawn: tuple[Problem, list[PlainSplit]]) -> None:
    problem, tests = drawn
    rows, y, costs, weights, example_cost = problem.cases
    nothing_to_pay = replace(costs, feature_entries=[[] for _ in costs.feature_entries])
    assert len(ref.exact_front(tests, rows, y, nothing_to_pay, 2, weights, example_cost)) == 1


@settings(deadline=None, max_examples=60)
@given(problems(n_rows=(2, 10), n_features=(1, 2), categorical=False, missing=False), st.integers(0, 2))
def test_no_greedy_tree_dominates_a_point_of_the_exact_front(problem: Problem, depth: int) -> None:
    rows, y, costs, weights, example_cost = problem.cases
    tests = [
        PlainSplit(a, "numeric", cut=value)
        for a in range(problem.table.n_features)
        for value in ref.midpoints(problem.table.column(a))
    ]
    front = [p[:2] for p in ref.exact_front(tests, rows, y, costs, depth, weights, example_cost)]
    for criterion in ref.CRITERIA:
        tree = ref.grow(
            rows,
            y,
            costs,
            problem.table.kinds,
            criterion=criterion,
            weights=weights,
            example_cost=example_cost,
            max_depth=depth,
        )
        f1, f2, _ = ref.evaluate(tree, *problem.cases)
        assert any(a <= f1 + 1e-12 and b <= f2 + 1e-12 for a, b in front)
        assert not any(ref.dominates((f1 + 1e-12, f2 + 1e-12), point) for point in front)


# --- the random problems themselves -------------------------------------------------------------


def test_random_problems_cover_what_kernels_must_bear() -> None:
    seen = dict.fromkeys(("missing", "weights", "zero weight", "own costs", "five classes", "unseen category",
                          "unreached leaf", "three branches", "shared step", "free feature"), 0)  # fmt: skip
    for seed in range(200):
        rng = np.random.default_rng(seed)
        table = random_table(rng)
        costs = random_costs(rng, table)
        tree = random_tree(rng, table)
        seen["missing"] += any(ref.is_missing(v) for row in table.rows for v in row)
        seen["weights"] += table.weights is not None
        seen["zero weight"] += table.weights is not None and 0.0 in table.weights
        seen["own costs"] += table.example_cost is not None
        seen["five classes"] += table.n_classes == 5
        seen["free feature"] += any(not entries for entries in costs.feature_entries)
        steps = [step for entries in costs.feature_entries for step, _ in entries]
        seen["shared step"] += len(set(steps)) < len(steps)
        statistics = ref.node_statistics(tree, table.rows, table.y, costs, table.weights)
        seen["unreached leaf"] += any(s.support == 0 for s in statistics)
        for node in ref.preorder(tree):
            if isinstance(node, PlainSplit) and node.kind == "table":
                seen["three branches"] += node.n_branches > 2
                seen["unseen category"] += len(node.table) < table.n_categories[node.feature]
    assert min(seen.values()) >= 5, seen


@given(tables())
def test_tables_are_well_formed(table: Any) -> None:
    assert len(table.rows) == len(table.y) and {len(row) for row in table.rows} == {table.n_features}
    assert table.weights is None or sum(table.weights) > 0
    for j, count in enumerate(table.n_categories):
        known = [v for v in table.column(j) if not ref.is_missing(v)]
        assert (count == 0) == (table.kinds[j] == "numeric")
        assert count == 0 or all(0 <= v < count for v in known)


def test_the_same_seed_gives_the_same_problem() -> None:
    first, second = (random_table(np.random.default_rng(5)) for _ in range(2))
    assert str(first) == str(second)
