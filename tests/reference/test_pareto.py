"""Dominance, crowding, clones, hypervolume and the choice of a point, by hand and by counting."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import reference as ref
from tests.strategies import (
    fronts,
)


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
