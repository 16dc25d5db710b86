"""Figures become whole numbers without loss where they can."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cstree.exact.integers import as_integers, fit_integers


@given(st.lists(st.integers(-(10**6), 10**6), min_size=1, max_size=20), st.integers(0, 6))
def test_decimals_are_exact(numbers: list[int], places: int) -> None:
    figures = np.array([float(Fraction(number, 10**places)) for number in numbers])
    scale = fit_integers(figures, float(np.abs(figures).sum()), 2**61)
    integers = as_integers(figures, scale)
    assert scale.exact
    assert [Fraction(int(i)) * scale.divisor / Fraction(scale.scale) for i in integers] == [
        Fraction(number, 10**places) for number in numbers
    ]


def test_common_factors_are_taken_out() -> None:
    scale = fit_integers([0.25, 1.5, 20.0], 100.0, 2**61)
    assert as_integers([0.25, 1.5, 20.0], scale).tolist() == [1, 6, 80]
    assert scale.unit == 0.25


def test_products_of_decimals_count_as_decimals() -> None:
    figures = np.array([0.1 * 3.7, 0.7 * 1.1, 3 * 0.3])
    scale = fit_integers(figures, 10.0, 2**61)
    assert scale.exact
    assert as_integers(figures, scale).tolist() == [37, 77, 90]


@given(st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=20), st.sampled_from([2**31, 2**61]))
def test_others_are_rounded_finely_and_their_sum_stays_below_the_limit(
    figures: list[float], largest: int
) -> None:
    total = sum(figures)
    scale = fit_integers(figures, total, largest)
    integers = as_integers(figures, scale)
    assert int(integers.sum()) <= largest + len(figures)
    error = np.abs(integers * scale.unit - np.array(figures)).max()
    # What counts as a decimal may be off by 2**-50; multiplying back rounds once more.
    rounding = 2.0**-49 * max(figures)
    assert error <= max(total, 1e-300) * 4 / largest + rounding
    if error > rounding:
        assert not scale.exact


@given(st.floats(0.0, allow_infinity=False))
def test_extremes_do_not_overflow(figure: float) -> None:
    scale = fit_integers([figure], figure, 2**61)
    integer = int(as_integers([figure], scale)[0])
    assert 0 <= integer <= 2**61
    assert integer * scale.unit == pytest.approx(figure, rel=1e-12, abs=1e-250)


@pytest.mark.parametrize("figures", [[], [0.0], [0.0, 0.0]])
def test_nothing_to_scale(figures: list[float]) -> None:
    scale = fit_integers(figures, 0.0, 2**31)
    assert scale.exact
    assert as_integers(figures, scale).tolist() == [0] * len(figures)
