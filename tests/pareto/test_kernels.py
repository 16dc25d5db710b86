"""Dominance, crowding and hypervolume against hand-worked sets, plain twins and a count of unit cells."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from cstree._numba import kernel
from cstree.pareto import _kernels
from tests.reference import pareto as reference

ANY_TIME = settings(deadline=None, max_examples=150)  # the first call of a kernel compiles it
ONE_TO_FOUR = st.integers(1, 4)


def points(n_objectives=ONE_TO_FOUR, max_size=40, elements=None):
    """Sets of points on a coarse grid, where ties and copies abound, or anywhere."""
    grid = st.integers(0, 5).map(float)
    anywhere = st.floats(-1e6, 1e6, allow_subnormal=False)
    return st.tuples(st.integers(0, max_size), n_objectives).flatmap(
        lambda shape: st.one_of(
            [hnp.arrays(np.float64, shape, elements=one) for one in elements or (grid, anywhere)]
        )
    )


def shuffled(objectives):
    """Pair a set with one of its orders."""
    return st.tuples(st.just(objectives), st.permutations(range(len(objectives))).map(list))


# ---------------------------------------------------------------- order and dominance


@pytest.mark.parametrize("n", [0, 1, 2, 11, 12, 13, 24, 25, 97, 1000])
@pytest.mark.parametrize("shape", ["sorted", "reversed", "equal", "pipe", "random", "ties"])
def test_sort_points_orders_by_the_leading_objective_then_the_next_then_index(n, shape):
    rng = np.random.default_rng(n)
    first = {
        "sorted": np.arange(n),
        "reversed": np.arange(n)[::-1],
        "equal": np.zeros(n),
        "pipe": np.minimum(np.arange(n), np.arange(n)[::-1]),
        "random": rng.random(n),
        "ties": rng.integers(0, 3, n),
    }[shape]
    objectives = np.column_stack([first, rng.integers(0, 3, n), rng.integers(0, 3, n)]).astype(float)
    work = np.empty((2, n), dtype=np.int64)
    for leading in range(3):
        _kernels.sort_points(objectives, n, leading, work)
        rolled = np.roll(objectives, -leading, axis=1)
        assert work[0].tolist() == sorted(range(n), key=lambda i: (*rolled[i], i))


def test_nondominated_worked_by_hand():
    objectives = np.array([[3, 0], [1, 4], [2, 5], [2, 1], [2, 1], [3, 1], [1, 4], [0, 9]], dtype=float)
    kept = [True, True, False, True, False, False, False, True]
    assert _kernels.nondominated(objectives).tolist() == kept


def test_nondominated_of_three_objectives_worked_by_hand():
    objectives = np.array(
        [[1, 2, 3], [1, 2, 4], [3, 2, 1], [1, 2, 3], [2, 2, 2], [2, 3, 2], [9, 9, 0]], float
    )
    assert _kernels.nondominated(objectives).tolist() == [True, False, True, False, True, False, True]


@ANY_TIME
@given(points())
def test_nondominated_is_the_plain_one(objectives):
    assert _kernels.nondominated(objectives).tolist() == reference.nondominated(objectives.tolist())


@ANY_TIME
@given(points())
def test_survivors_do_not_dominate_each_other_and_cover_all_others(objectives):
    kept = objectives[_kernels.nondominated(objectives)].tolist()
    assert not any(reference.dominates(a, b) for a, b in itertools.permutations(kept, 2))
    for point in objectives.tolist():
        assert point in kept or any(reference.dominates(other, point) for other in kept)


@ANY_TIME
@given(points().flatmap(shuffled))
def test_nondominated_points_do_not_depend_on_the_order(case):
    objectives, order = case
    kept = objectives[_kernels.nondominated(objectives)]
    kept_again = objectives[order][_kernels.nondominated(objectives[order])]
    assert sorted(kept.tolist()) == sorted(kept_again.tolist())


@pytest.mark.parametrize("n_objectives", [1, 2, 3, 4])
def test_nondominated_of_a_large_set(n_objectives):
    objectives = np.random.default_rng(n_objectives).random((1500, n_objectives))
    covered = (objectives[:, None] <= objectives[None]).all(axis=2).sum(axis=0) > 1  # itself is one of them
    np.testing.assert_array_equal(_kernels.nondominated(objectives), ~covered)


# ---------------------------------------------------------------- crowding


def test_crowding_worked_by_hand():
    # ranges 8 and 4; the third point: (8 - 1) / 8 + (3 - 0) / 4, the second: (4 - 0) / 8 + (4 - 1) / 4
    objectives = np.array([[0, 4], [1, 3], [4, 1], [8, 0]], dtype=float)
    assert _kernels.crowding_distance(objectives).tolist() == [math.inf, 1.25, 1.625, math.inf]


def test_crowding_ties_in_one_objective_follow_the_next():
    # in the first objective: 0, three times 1 (by the second: points 2, 0, 4), 2; the third has no range
    objectives = np.array([[1, 3, 7], [0, 9, 7], [1, 1, 7], [2, 0, 7], [1, 5, 7]], dtype=float)
    between = (1 - 1) / 2 + (5 - 1) / 9
    least = (1 - 0) / 2 + (3 - 0) / 9
    greatest = (2 - 1) / 2 + (9 - 3) / 9
    expected = [between, math.inf, least, math.inf, greatest]
    assert _kernels.crowding_distance(objectives).tolist() == pytest.approx(expected)


def test_crowding_counts_an_objective_without_range_as_nothing():
    objectives = np.array([[0, 5], [1, 5], [4, 5]], dtype=float)
    assert _kernels.crowding_distance(objectives).tolist() == [math.inf, 1.0, math.inf]


@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_crowding_of_copies_of_one_point_is_infinite(n):
    assert _kernels.crowding_distance(np.full((n, 2), 3.0)).tolist() == [math.inf] * n


@ANY_TIME
@given(points(st.just(2)))
def test_crowding_of_a_front_is_the_plain_one(objectives):
    front = objectives[_kernels.nondominated(objectives)]
    expected = reference.crowding_distance(front.tolist())
    np.testing.assert_allclose(_kernels.crowding_distance(front), expected, rtol=1e-12)


@ANY_TIME
@given(st.integers(1, 4).flatmap(lambda m: st.lists(st.permutations(range(9)), min_size=m, max_size=m)))
def test_crowding_of_any_set_without_ties_is_the_plain_one(columns):
    objectives = np.array(columns, dtype=float).T.copy()
    expected = reference.crowding_distance(objectives.tolist())
    np.testing.assert_allclose(_kernels.crowding_distance(objectives), expected, rtol=1e-12)


@ANY_TIME
@given(points(elements=[st.integers(0, 3).map(float)]).map(lambda p: np.unique(p, axis=0)).flatmap(shuffled))
def test_crowding_of_distinct_points_does_not_depend_on_their_order(case):
    objectives, order = case
    expected = _kernels.crowding_distance(objectives)[order]
    np.testing.assert_allclose(_kernels.crowding_distance(objectives[order]), expected, rtol=1e-12)


# ---------------------------------------------------------------- hypervolume


def test_hypervolume_worked_by_hand():
    objectives = np.array([[1, 4], [2, 1], [3, 0], [2, 5], [7, -3], [0, 6]], dtype=float)
    # below (5, 5): (5-1)(5-4) + (5-2)(4-1) + (5-3)(1-0); the last two points are not below it
    assert _kernels.hypervolume_2d(objectives, np.array([5.0, 5.0])) == 4 + 9 + 2
    assert _kernels.hypervolume(objectives, np.array([5.0, 5.0])) == 4 + 9 + 2


def test_hypervolume_of_three_objectives_worked_by_hand():
    # boxes 2*1*1, 1*2*1, 1*1*2 below (2, 2, 2) share the unit cube: 3 * (2 - 1) + 1
    objectives = np.array([[0, 1, 1], [1, 0, 1], [1, 1, 0]], dtype=float)
    assert _kernels.hypervolume(objectives, np.full(3, 2.0)) == 4


@pytest.mark.parametrize("n_objectives", [1, 2, 3, 4])
def test_hypervolume_of_nothing_or_nothing_below_the_reference_is_zero(n_objectives):
    corner = np.ones(n_objectives)
    assert _kernels.hypervolume(np.empty((0, n_objectives)), corner) == 0
    assert _kernels.hypervolume(np.ones((3, n_objectives)), corner) == 0
    assert _kernels.hypervolume(np.full((3, n_objectives), 2.0), corner) == 0


@ANY_TIME
@given(points(max_size=9, elements=[st.integers(0, 5).map(float), st.floats(0, 5, allow_subnormal=False)]))
def test_hypervolume_is_that_of_inclusion_and_exclusion(objectives):
    corner = np.linspace(4.0, 5.0, objectives.shape[1])
    expected = reference.hypervolume(objectives.tolist(), corner.tolist())
    volume = _kernels.hypervolume(objectives, corner)
    assert volume == pytest.approx(expected, rel=1e-9, abs=1e-9)
    if objectives.shape[1] == 2:
        assert _kernels.hypervolume_2d(objectives, corner) == volume


@pytest.mark.parametrize(("n_objectives", "side"), [(1, 50), (2, 30), (3, 12), (4, 7), (5, 5)])
def test_hypervolume_of_many_points_counts_unit_cells(n_objectives, side):
    rng = np.random.default_rng(side)
    objectives = rng.integers(0, side, (60, n_objectives))
    objectives[:, -1] = np.clip(side * n_objectives // 2 - objectives[:, :-1].sum(axis=1), 0, side)
    cells = np.indices((side,) * n_objectives).reshape(n_objectives, -1).T
    dominated = (objectives[:, None] <= cells[None]).all(axis=2).any(axis=0).sum()
    assert dominated > 0 and (n_objectives == 1 or _kernels.nondominated(objectives.astype(float)).sum() > 9)
    corner = np.full(n_objectives, float(side))
    assert _kernels.hypervolume(objectives.astype(float), corner) == dominated


@ANY_TIME
@given(points(elements=[st.integers(0, 5).map(float)]), st.data())
def test_hypervolume_grows_with_points_and_depends_on_the_front_alone(objectives, data):
    corner = np.full(objectives.shape[1], 5.0)
    volume = _kernels.hypervolume(objectives, corner)
    fewer = objectives[: data.draw(st.integers(0, len(objectives)))]
    assert _kernels.hypervolume(fewer, corner) <= volume
    front = objectives[_kernels.nondominated(objectives)]
    assert _kernels.hypervolume(front, corner) == volume
    order = data.draw(st.permutations(range(len(objectives))))
    columns = data.draw(st.permutations(range(objectives.shape[1])))
    turned = np.ascontiguousarray(objectives[list(order)][:, list(columns)])
    assert _kernels.hypervolume(turned, corner) == volume


# ---------------------------------------------------------------- from other kernels, without allocation


@kernel
def _keep_and_crowd(objectives, count, order_work, mask, distance, reference_point):
    n_kept = _kernels.nondominated_into(objectives, count, order_work, mask)
    _kernels.crowding_into(objectives, count, order_work, distance)
    return n_kept, _kernels.hypervolume_2d_into(objectives, count, reference_point, order_work)


@ANY_TIME
@given(points(st.just(2)), st.integers(0, 5))
def test_into_kernels_work_within_a_kernel_and_touch_only_the_first_points(objectives, extra):
    count = len(objectives)
    padded = np.concatenate([objectives, np.full((extra, 2), -1e9)])  # would dominate all, were it looked at
    work = np.full((2, count + extra), -7, dtype=np.int64)
    mask = np.ones(count + extra, dtype=np.bool_)
    distance = np.full(count + extra, -7.0)
    corner = np.array([4.0, 5.0])

    n_kept, area = _keep_and_crowd(padded, count, work, mask, distance, corner)

    assert n_kept == mask[:count].sum()
    np.testing.assert_array_equal(mask[:count], _kernels.nondominated(objectives))
    np.testing.assert_array_equal(distance[:count], _kernels.crowding_distance(objectives))
    assert area == _kernels.hypervolume_2d(objectives, corner)
    assert mask[count:].all()
    assert (distance[count:] == -7).all()
    assert (work[:, count:] == -7).all()


@ANY_TIME
@given(points())
def test_nondominated_into_leaves_the_points_and_the_front_in_order(objectives):
    count = len(objectives)
    work = np.empty((2, count), dtype=np.int64)
    n_kept = _kernels.nondominated_into(objectives, count, work, np.empty(count, dtype=np.bool_))
    assert work[0].tolist() == sorted(range(count), key=lambda i: (*objectives[i], i))
    assert work[1, :n_kept].tolist() == reference.front_indices(objectives.tolist())
