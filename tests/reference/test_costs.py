"""Path prices by hand, and what must hold for all of them."""

from __future__ import annotations

from itertools import permutations
from types import SimpleNamespace
from typing import Any

import numpy as np
from hypothesis import given

from tests import reference as ref
from tests.strategies import (
    Problem,
    problems,
    random_cost_words,
    random_table,
)


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
