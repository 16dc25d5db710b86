"""Formulas at hand-made nodes, and their invariants."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import reference as ref
from tests.reference import PlainCosts, PlainSplit
from tests.reference.worked import (
    COSTS,
    KINDS,
    ROWS,
    Y,
    free,
)
from tests.strategies import (
    Problem,
    problems,
)


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
