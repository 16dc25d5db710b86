"""The lower envelope is exact: a fine grid, exact fractions, ties, and the area."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cstree.metrics import CostCurve, LowerEnvelope, lower_envelope, threshold_cost_curves

GRID = np.linspace(0, 1, 2001)
TRIVIAL = [CostCurve(1.0, 0.0), CostCurve(0.0, 1.0)]

any_rate = st.floats(0, 1) | st.integers(0, 12).map(lambda value: value / 12)
sets_of_curves = st.lists(st.builds(CostCurve, any_rate, any_rate), max_size=25)


def least_on_grid(curves: list[CostCurve]) -> np.ndarray:
    return np.min([curve(GRID) for curve in curves], axis=0)


def exact_area(curves: list[CostCurve]) -> float:
    """Integrate the minimum between all crossings, in fractions."""
    lines = [(Fraction(c.false_positive_rate), Fraction(c.false_negative_rate)) for c in curves]
    points = {Fraction(0), Fraction(1)}
    for i, (p, n) in enumerate(lines):
        for q, m in lines[:i]:
            if (n - p) != (m - q):
                points.add((q - p) / ((n - p) - (m - q)))
    inside = sorted(point for point in points if 0 <= point <= 1)
    height = [min(n * x + p * (1 - x) for p, n in lines) for x in inside]
    pairs = range(len(inside) - 1)
    return float(sum((inside[i + 1] - inside[i]) * (height[i] + height[i + 1]) / 2 for i in pairs))


@given(sets_of_curves, st.booleans())
def test_envelope_is_the_least_curve_everywhere(curves: list[CostCurve], trivial: bool) -> None:
    if not curves and not trivial:
        return
    envelope = lower_envelope(curves, trivial=trivial)
    every = [*curves, *TRIVIAL] if trivial else curves
    assert np.abs(envelope(GRID) - least_on_grid(every)).max() <= 1e-12
    points = envelope.probability_cost
    assert points[0] == 0.0 and points[-1] == 1.0
    assert (np.diff(points) > 0).all()
    assert len(envelope.best) == len(envelope.pieces) == len(points) - 1
    assert np.abs(np.interp(GRID, points, envelope.normalized_expected_cost) - envelope(GRID)).max() <= 1e-12
    named = {-1: TRIVIAL[0], -2: TRIVIAL[1]}
    for index, piece in zip(envelope.best.tolist(), envelope.pieces, strict=True):
        assert piece == (named[index] if index < 0 else curves[index])
    # The slope falls from piece to piece.
    slopes = [piece.false_negative_rate - piece.false_positive_rate for piece in envelope.pieces]
    assert all(left > right for left, right in pairwise(slopes))


@given(st.lists(st.builds(CostCurve, any_rate, any_rate), max_size=8), st.booleans())
def test_area_is_exact(curves: list[CostCurve], trivial: bool) -> None:
    if not curves and not trivial:
        return
    every = [*curves, *TRIVIAL] if trivial else curves
    assert lower_envelope(curves, trivial=trivial).area == pytest.approx(exact_area(every), abs=1e-12)


def test_constant_answers_alone() -> None:
    envelope = lower_envelope([])
    assert envelope.probability_cost.tolist() == [0.0, 0.5, 1.0]
    assert envelope.normalized_expected_cost.tolist() == [0.0, 0.5, 0.0]
    assert envelope.best.tolist() == [LowerEnvelope.ALL_NEGATIVE, LowerEnvelope.ALL_POSITIVE]
    assert envelope.area == 0.25
    assert envelope(0.25) == 0.25


def test_perfect_and_useless_curves() -> None:
    assert lower_envelope([CostCurve(0.0, 0.0)]).area == 0.0
    assert lower_envelope([CostCurve(0.9, 0.9)]).best.tolist() == [-1, -2]
    one = lower_envelope([CostCurve(0.5, 0.25)], trivial=False)
    assert one.best.tolist() == [0]
    assert one.area == 0.375


def test_copies_keep_the_first_and_crossings_in_one_point_drop_the_middle() -> None:
    good = CostCurve(0.1, 0.2)
    assert lower_envelope([good, CostCurve(0.1, 0.2)]).best.tolist() == [-1, 0, -2]
    through_one_point = [CostCurve(0.5, 0.0), CostCurve(0.25, 0.25), CostCurve(0.0, 0.5)]
    assert lower_envelope(through_one_point, trivial=False).best.tolist() == [0, 2]


def test_many_thresholds() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 3000)
    curves = threshold_cost_curves(y, y + rng.normal(size=3000))
    envelope = lower_envelope(curves)
    assert np.abs(envelope(GRID) - least_on_grid(curves)).max() <= 1e-12
    assert 0 < envelope.area < 0.25
    # Lower costs of misses want lower thresholds: along the envelope they fall.
    thresholds = [piece.threshold for piece in envelope.pieces if piece.threshold is not None]
    assert thresholds == sorted(thresholds, reverse=True)


def test_errors() -> None:
    with pytest.raises(ValueError, match="a rate of curve 1 is NaN"):
        lower_envelope([CostCurve(0.1, 0.1), CostCurve(float("nan"), 0.1)])
    with pytest.raises(ValueError, match="at least one curve"):
        lower_envelope([], trivial=False)
    with pytest.raises(TypeError, match="curve 0 is a tuple"):
        lower_envelope([(0.1, 0.2)])  # type: ignore[list-item]
