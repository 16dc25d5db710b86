"""Rules that choose a point, against hand-worked fronts and the plain twin."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cstree.pareto.front import Front
from cstree.pareto.selection import resolve_rule, select
from tests.reference import pareto as reference

ANY_TIME = settings(deadline=None, max_examples=150)
COSTS = ("misclassification_cost", "test_cost")


def front_of(*points, names=COSTS):
    return Front(points, range(len(points)), objective_names=names)


@pytest.fixture
def front():
    """Totals 10, 7, 6, 6, 8; scaled sums 1, .5625, .5, .6875, 1."""
    return front_of((0, 10), (1, 5.5), (2, 4), (5, 1), (8, 0))


# ---------------------------------------------------------------- worked by hand


@pytest.mark.parametrize(
    ("rule", "index"),
    [
        ("total_cost", 2),  # a tie with point 3
        ("knee", 2),  # scaled (.25, .4): .35 below the chord; point 3 (.625, .1) .275
        ({"max_test_cost": 12}, 0),
        ({"max_test_cost": 5.5}, 1),
        ({"max_test_cost": 5.4}, 2),
        ({"max_test_cost": 0}, 4),
        ({"max_test_cost": np.inf}, 0),
        ({"max_misclassification_cost": 0}, 0),
        ({"max_misclassification_cost": 4.9}, 2),
        ({"max_misclassification_cost": 5}, 3),
        ({"max_misclassification_cost": np.float32(100)}, 4),
        ({"exchange_rate": 0}, 0),
        ({"exchange_rate": 0.1}, 0),  # 1.0 against 1.55
        ({"exchange_rate": 0.5}, 1),  # 5, 3.75, 4, 5.5, 8
        ({"exchange_rate": 1}, 2),
        ({"exchange_rate": 100}, 4),
        (lambda front: len(front) - 1, 4),
        (lambda front: np.int64(-2), 3),
        (lambda front: front.objectives.sum(axis=1).argmax(), 0),
    ],
)
def test_rules_worked_by_hand(front, rule, index):
    chosen = front.select(rule)
    assert chosen == index
    assert type(chosen) is int
    assert select(front, rule) == index


def test_knee_is_the_point_farthest_below_the_chord(front):
    low, high = front.objectives[0], front.objectives[-1]
    scale = high - low
    distances = [
        (1 - abs((p - low) / scale)[0] - abs((p - high) / scale)[1]) / np.sqrt(2) for p in front.objectives
    ]
    assert front.select("knee") == int(np.argmax(distances))
    assert distances[2] == pytest.approx(0.35 / np.sqrt(2))


def test_knee_does_not_depend_on_units():
    points = np.array([(0, 10), (1, 5.5), (2, 4), (5, 1), (8, 0)])
    assert {
        front_of(*(points * scale + shift)).select("knee")
        for scale, shift in [((1, 1), 0), ((1000, 1), 7), ((1, 1e-6), -3)]
    } == {2}


@pytest.mark.parametrize(
    ("points", "index"),
    [
        ([(4, 3)], 0),
        ([(1, 9), (3, 0)], 1),  # totals 10 and 3
        ([(1, 2), (2, 1)], 0),
        ([(0, 3), (1, 2), (2, 1), (3, 0)], 0),  # all on the chord
        ([(0, 4), (3, 3.5), (5, 0)], 0),  # the middle one above it; totals 4, 6.5, 5
        ([(0, 7), (3, 6), (5, 0)], 2),
    ],
)
def test_knee_without_a_point_below_the_chord_takes_the_least_total(points, index):
    assert front_of(*points).select("knee") == index


def test_knee_without_a_point_below_the_chord_and_without_both_costs_takes_the_first():
    assert front_of((1, 9), (3, 0), names=("misclassification_cost", "n_nodes")).select("knee") == 0
    assert front_of((5,), names=("misclassification_cost",)).select("knee") == 0


def test_knee_of_three_objectives_is_farthest_below_the_plane():
    front = front_of((0, 8, 9), (4, 0, 9), (4, 8, 0), (1, 2, 3), names=("a", "b", "c"))
    assert front[front.select("knee")] == 3


def test_total_cost_of_three_objectives_leaves_the_others_out():
    front = front_of(
        (1, 4, 0), (2, 2, 9), (9, 9, -5), names=("test_cost", "misclassification_cost", "n_nodes")
    )
    assert front[front.select("total_cost")] == 1
    assert front[front.select({"max_test_cost": 1})] == 0
    assert front[front.select({"exchange_rate": 3})] == 0


# ---------------------------------------------------------------- rounding and ties


def test_a_bound_is_met_up_to_rounding():
    front = front_of((1, 0.1 + 0.2), (2, 0.0))
    assert 0.1 + 0.2 > 0.3
    assert front.select({"max_test_cost": 0.3}) == 0
    assert front.select({"max_test_cost": 0.3 - 1e-9}) == 1


def test_ties_up_to_rounding_go_to_the_lowest_index():
    front = front_of((0.1, 0.2), (0.3, 0.0))
    assert front.objectives.sum(axis=1).argmin() == 1
    assert front.select("total_cost") == 0
    assert front_of((0.1, 0.2 + 1e-9), (0.3, 0.0)).select("total_cost") == 1


def test_profits_are_legal():
    front = front_of((-50, 30), (-40, 10), (0, 0))
    assert front.select("total_cost") == 1
    assert front.select({"max_misclassification_cost": -45}) == 0
    with pytest.raises(ValueError, match="at most -60: the least is -50"):
        front.select({"max_misclassification_cost": -60})


# ---------------------------------------------------------------- against the twin

FRONTS = st.lists(st.tuples(st.integers(-20, 60), st.integers(0, 60)), min_size=1, max_size=30).map(
    lambda points: front_of(*points)
)


@ANY_TIME
@given(
    FRONTS,
    st.one_of(
        st.just("total_cost"),
        st.builds(lambda x: {"exchange_rate": x / 4}, st.integers(0, 40)),
        st.builds(lambda x: {"max_test_cost": x}, st.integers(-5, 70)),
        st.builds(lambda x: {"max_misclassification_cost": x}, st.integers(-30, 70)),
    ),
)
def test_rules_choose_as_the_plain_twin(front, rule):
    try:
        expected = reference.select(front.objectives.tolist(), rule)
    except ValueError:
        with pytest.raises(ValueError, match="no point of the front"):
            front.select(rule)
    else:
        assert front.select(rule) == expected


@ANY_TIME
@given(
    st.lists(st.tuples(st.integers(1, 59), st.integers(1, 59)), max_size=20),
    st.tuples(st.integers(1, 29), st.integers(1, 29)),
)
def test_knee_chooses_as_the_plain_twin(others, below_the_chord):
    front = front_of((0, 60), (60, 0), below_the_chord, *others)
    points = front.objectives
    chosen, expected = front.select("knee"), reference.select(points.tolist(), "knee")
    assert points[chosen].sum() == points[expected].sum() < 60
    assert chosen <= expected  # a tie, which the twin's rounding may break the other way


@ANY_TIME
@given(FRONTS, st.lists(st.floats(0, 100), min_size=2, max_size=2).map(sorted))
def test_a_dearer_test_never_buys_more_of_them(front, rates):
    low, high = (front.objectives[front.select({"exchange_rate": rate}), 1] for rate in rates)
    assert high <= low


# ---------------------------------------------------------------- bad rules


@pytest.mark.parametrize(
    ("rule", "error", "message"),
    [
        ("cheapest", ValueError, "unknown selection rule 'cheapest'; the rules are 'total_cost', 'knee', "),
        ("max_test_cost", ValueError, r"'max_test_cost' needs a number: write \{\"max_test_cost\": number\}"),
        ({"max_cost": 3}, ValueError, r"unknown selection rule \{'max_cost': 3\}"),
        ({"knee": 3}, ValueError, r"unknown selection rule \{'knee': 3\}"),
        ({}, ValueError, "exactly one entry"),
        ({"max_test_cost": 1, "exchange_rate": 2}, ValueError, "exactly one entry"),
        ({"max_test_cost": "3"}, TypeError, "'max_test_cost' needs a number, got '3'"),
        ({"max_test_cost": None}, TypeError, "needs a number, got None"),
        ({"max_test_cost": True}, TypeError, "needs a number, got True"),
        ({"max_test_cost": np.nan}, ValueError, "needs a number, got nan"),
        ({"exchange_rate": -1}, ValueError, "exchange_rate must be finite and at least 0, got -1"),
        ({"exchange_rate": np.inf}, ValueError, "exchange_rate must be finite and at least 0, got inf"),
        (3, TypeError, r"3 is an index, not a selection rule: front\[3\] is that tree"),
        (None, TypeError, "None is not a selection rule; the rules are"),
    ],
)
def test_says_what_is_wrong_before_there_is_a_front(rule, error, message):
    with pytest.raises(error, match=message):
        resolve_rule(rule, COSTS)


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (
            {"max_test_cost": -0.5},
            "a test_cost of at most -0.5: the least is 0; raise max_test_cost to that or more",
        ),
        ({"max_test_cost": -np.inf}, "a test_cost of at most -inf: the least is 0"),
        (
            {"max_misclassification_cost": -2},
            "a misclassification_cost of at most -2: the least is 0; raise max_miscl",
        ),
    ],
)
def test_says_which_bound_no_point_satisfies(front, rule, message):
    with pytest.raises(ValueError, match=message):
        front.select(rule)


@pytest.mark.parametrize(
    "rule", ["total_cost", {"max_test_cost": 1}, {"max_misclassification_cost": 1}, {"exchange_rate": 1}]
)
def test_says_which_objective_is_lacking(rule):
    front = front_of((1, 9), (3, 1), names=("misclassification_cost", "n_nodes"))
    with pytest.raises(
        ValueError, match="needs the objective test_cost; the front has misclassification_cost, n_nodes"
    ):
        front.select(rule)


@pytest.mark.parametrize(
    ("given_index", "error", "message"),
    [
        (5, IndexError, "gave index 5; the front has 5 points"),
        (-6, IndexError, "gave index -6"),
        (1.0, TypeError, "must give the index of a point, it gave 1.0"),
        (True, TypeError, "it gave True"),
        (None, TypeError, "it gave None"),
    ],
)
def test_says_when_a_callable_gives_no_index(front, given_index, error, message):
    with pytest.raises(error, match=message):
        front.select(lambda front: given_index)
