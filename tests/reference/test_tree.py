"""Walking, answering and evaluating plain trees."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given

from tests import reference as ref
from tests.reference import PlainCosts, PlainLeaf, PlainNode, PlainSplit
from tests.reference.worked import (
    cut,
    free,
    leaf,
)
from tests.strategies import (
    Problem,
    random_table,
    tree_problems,
)


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
