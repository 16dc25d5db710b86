"""The weight of a weak learner, and the three searches, which must agree."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq

from cstree.ensemble.root import integer_costs, newton_root, perfect_weight, polynomial_root
from cstree.ensemble.search import SEARCHES, SELECTIONS, Found, search

costs = st.floats(-2, 2).map(lambda exponent: 10**exponent)
errors = st.floats(-8, -0.001).map(lambda exponent: 10**exponent)
shares = st.floats(0.001, 0.999)


def equation(a: float, positive: float, negative: float) -> np.ndarray:
    return np.array([a, 1 - a, positive, negative])


@settings(max_examples=120)
@given(shares, errors, errors, costs, costs)
def test_root_is_that_of_brentq_within_the_proven_bounds(
    a: float, eps_p: float, eps_n: float, positive: float, negative: float
) -> None:
    p, q = a * eps_p, (1 - a) * eps_n
    found = newton_root(p, q, equation(a, positive, negative))

    def F(x: float) -> float:  # noqa: N802
        up = np.logaddexp(math.log(p) + positive * x, math.log(q) + negative * x)
        return up - np.logaddexp(math.log(a - p) - positive * x, math.log(1 - a - q) - negative * x)

    odds = math.log((1 - p - q) / (p + q))
    low, high = sorted([odds / (2 * positive), odds / (2 * negative)])
    slack = 1e-9 * max(1.0, abs(low), abs(high))
    expected = brentq(F, low - slack, high + slack, xtol=1e-14, rtol=1e-14)
    assert found == pytest.approx(expected, rel=1e-12, abs=1e-12)
    assert low - slack <= found <= high + slack
    scaled = newton_root(p, q, equation(a, 7 * positive, 7 * negative))
    assert 7 * scaled == pytest.approx(found, rel=1e-13, abs=1e-13)


def test_roots_with_formulas() -> None:
    e = 0.2
    assert newton_root(0.1, 0.1, equation(0.5, 3, 3)) == pytest.approx(math.log((1 - e) / e) / 6, rel=1e-15)
    # An answer "positive" to all cases is wrong about the negative ones only.
    assert newton_root(0.0, 0.3, equation(0.7, 1.5, 0.5)) == pytest.approx(math.log(0.7 / 0.3) / 2, rel=1e-14)
    assert newton_root(0.0, 0.0, equation(0.7, 1.5, 0.5)) == perfect_weight(1.5)
    assert newton_root(0.7, 0.3, equation(0.7, 1.5, 0.5)) == -perfect_weight(1.5)
    assert newton_root(0.4, 0.1, equation(0.5, 1, 1)) == pytest.approx(0, abs=1e-15)


@settings(max_examples=60)
@given(shares, errors, errors, st.integers(1, 12), st.integers(1, 12))
def test_polynomial_has_the_same_root(a: float, eps_p: float, eps_n: float, u: int, v: int) -> None:
    p, q = a * eps_p, (1 - a) * eps_n
    half = (u + v) / 2  # costs of sum 2
    of = equation(a, u / half, v / half)
    assert polynomial_root(p, q, of) == pytest.approx(newton_root(p, q, of), rel=1e-10, abs=1e-10)


def test_polynomial_of_high_degree_and_costs_it_refuses() -> None:
    of = equation(0.4, 47.0, 43.0)
    assert polynomial_root(0.03, 0.1, of) == pytest.approx(newton_root(0.03, 0.1, of), rel=1e-10)
    assert integer_costs(0.5, 1.25) == (2, 5)
    with pytest.raises(ValueError, match=r"ratio of integers up to 100, got 3\.14"):
        integer_costs(math.pi, 1.0)


@st.composite
def pools(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """Candidates, some of them without errors on a class and some of them the same."""
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    a, n = draw(shares), draw(st.integers(1, 60))
    p, q = a * rng.random(n), (1 - a) * rng.random(n)
    p[rng.random(n) < draw(st.sampled_from([0.0, 0.3]))] = 0.0
    twins = rng.integers(0, n, n) if draw(st.booleans()) else np.arange(n)
    ratio = draw(costs)
    return p[twins], q[twins], equation(a, 2 * ratio / (1 + ratio), 2 / (1 + ratio)), seed


@settings(max_examples=100)
@given(pools(), st.sampled_from(SELECTIONS))
def test_searches_find_the_same(pool: tuple[np.ndarray, np.ndarray, np.ndarray, int], select: str) -> None:
    p, q, of, seed = pool
    found: list[Found] = []
    for method in SEARCHES:
        order = np.random.default_rng(seed).permutation(len(p))
        found.append(search(p, q, of, order, method=method, select=select))
    if select == "loss":
        order = np.arange(len(p))
        found.append(search(p, q, of, order, method="exhaustive", select=select, solver="bisect"))
    assert len({one.candidate for one in found}) == 1
    alpha = found[0].alpha
    assert [one.alpha for one in found] == pytest.approx([alpha] * len(found), rel=1e-12, abs=1e-12)
    contributing = np.flatnonzero(p + q < 0.5 - 1e-10)
    assert found[0].candidate == plain_best(p, q, of, contributing, select)
    if len(contributing) and not found[0].perfect:
        assert {one.n_contributing for one in found} == {len(contributing)}
        assert all(one.n_roots <= len(contributing) + 1 for one in found)


def plain_best(p: np.ndarray, q: np.ndarray, of: np.ndarray, contributing: np.ndarray, select: str) -> int:
    if len(contributing) == 0:
        return -1
    perfect = [int(k) for k in contributing if p[k] + q[k] <= 1e-12]
    if perfect:
        return perfect[0]
    alphas = [newton_root(p[k], q[k], of) for k in contributing]
    if select == "alpha":
        tied = [a >= max(alphas) - 1e-12 * max(1.0, max(alphas)) for a in alphas]
        return int(contributing[tied.index(True)])
    a, b, positive, negative = of
    losses = [
        (p[k] * math.exp(positive * x) + (a - p[k]) * math.exp(-positive * x)) / positive
        + (q[k] * math.exp(negative * x) + (b - q[k]) * math.exp(-negative * x)) / negative
        for k, x in zip(contributing, alphas, strict=True)
    ]
    return int(contributing[[loss <= min(losses) * (1 + 1e-12) for loss in losses].index(True)])


def test_polynomials_search_as_newton_does() -> None:
    rng = np.random.default_rng(0)
    p, q, of = 0.4 * rng.random(40), 0.6 * rng.random(40), equation(0.4, 1.6, 0.4)
    order = rng.permutation(40)
    expected = search(p, q, of, order)
    for method in SEARCHES:
        found = search(p, q, of, order, method=method, solver="poly")
        assert found.candidate == expected.candidate
        assert found.alpha == pytest.approx(expected.alpha, rel=1e-10)
    assert search(p, q, of, order, solver="poly").n_roots == expected.n_roots


def test_large_asymmetries_overflow_nowhere() -> None:
    rng = np.random.default_rng(1)
    a = 0.999
    p, q = a * rng.random(300) ** 3, (1 - a) * rng.random(300)
    p[:40] = 0.0
    for ratio in (1e6, 1e-6):
        of = equation(a, 2 * ratio / (1 + ratio), 2 / (1 + ratio))
        for select in SELECTIONS:
            order = rng.permutation(300)
            with np.errstate(all="raise", under="ignore"):
                found = [search(p, q, of, order, method=method, select=select) for method in SEARCHES]
            assert len({one.candidate for one in found}) == 1
            assert np.isfinite(found[0].alpha)


def test_no_candidate_contributes() -> None:
    p, q, of = np.array([0.3, 0.2]), np.array([0.3, 0.4]), equation(0.5, 1.2, 0.8)
    for method in SEARCHES:
        for select in SELECTIONS:
            assert search(p, q, of, np.arange(2), method=method, select=select).candidate == -1


def test_conditional_search_solves_few() -> None:
    rng = np.random.default_rng(0)
    p, q, of = 0.5 * rng.random(8000), 0.5 * rng.random(8000), equation(0.5, 1.5, 0.5)
    for select in SELECTIONS:
        found = search(p, q, of, rng.permutation(8000), select=select)
        assert 1 <= found.n_roots <= 0.005 * found.n_contributing
        assert found.n_evaluations >= found.n_contributing - 1
