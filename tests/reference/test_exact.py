"""Exact fronts by hand, and two ways to the same front."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import reference as ref
from tests.reference import PlainCosts, PlainLeaf, PlainSplit
from tests.reference.worked import (
    leaf,
)
from tests.strategies import (
    Problem,
    candidate_problems,
    problems,
)


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


@settings(max_examples=60)
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


@given(candidate_problems(n_rows=(2, 12), n_tests=(1, 4)))
def test_free_tests_leave_one_point(drawn: tuple[Problem, list[PlainSplit]]) -> None:
    problem, tests = drawn
    rows, y, costs, weights, example_cost = problem.cases
    nothing_to_pay = replace(costs, feature_entries=[[] for _ in costs.feature_entries])
    assert len(ref.exact_front(tests, rows, y, nothing_to_pay, 2, weights, example_cost)) == 1


@settings(max_examples=60)
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
