"""The two-class problem of the linear machine: steps, bias, gap and solvers against twins in plain Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from cstree.svm._dual_kernels import random_pairs, single_cases
from cstree.svm.decomposition import solve_decomposition
from cstree.svm.hybrid import solve_hybrid
from cstree.svm.pairs import solve_pairs, solve_single
from cstree.svm.problem import Certificate, TwoClass
from cstree.svm.rows import combine, kernel_table, scores, squares
from tests.reference import svm as ref

SOLVERS = {"hybrid": solve_hybrid, "rdcd": solve_pairs, "dcd": solve_single, "pcsvm": solve_decomposition}


def drawn(seed: int, n: int = 12, d: int = 3, integers: bool = False) -> tuple[Any, ...]:
    rng = np.random.default_rng(seed)
    X = rng.integers(-1, 2, (n, d)).astype(float) if integers else rng.normal(size=(n, d))
    y = np.where(rng.random(n) < 0.4, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    bound = rng.choice([0.3, 1.0, 5.0], n)
    margin = rng.choice([1.0, 0.4], n)
    return rng, X, y, bound, margin


def test_pair_step_is_the_least_of_a_grid() -> None:
    """2,000 random pairs, all labels, bounds and duplicates: never above the best of 31 places."""
    rng = np.random.default_rng(0)
    for _ in range(2000):
        X = rng.integers(-1, 2, (2, 2)).astype(float) if rng.random() < 0.3 else rng.normal(size=(2, 2))
        y = rng.choice([-1.0, 1.0], 2)
        bound = rng.choice([0.5, 1.0, 4.0], 2)
        alpha = bound * rng.choice([0.0, 0.3, 1.0, rng.random()], 2)
        problem = TwoClass.from_labels(X, y, bound)
        other = rng.normal(size=2)  # what all other cases add to w
        c, w = y * alpha, X.T @ (y * alpha) + other
        low, high = ref.box(*y, *alpha, *bound)

        def least(a: float, X: Any = X, y: Any = y, alpha: Any = alpha, other: Any = other) -> float:
            pair = np.array([a, alpha[1] - y[0] * y[1] * (a - alpha[0])])
            w = X.T @ (y * pair) + other
            return float(0.5 * w @ w - pair.sum())

        cases = (problem.t, problem.lower, problem.upper, squares(X))
        random_pairs(kernel_table(X), cases, c, w, np.array([[0, 1]]))
        reached = 0.5 * w @ w - (y * c).sum()
        assert reached <= min(least(a) for a in np.linspace(low, high, 31)) + 1e-12
        assert ((c >= problem.lower) & (c <= problem.upper)).all()
        np.testing.assert_allclose(w, X.T @ c + other, atol=1e-12)
        assert c.sum() == pytest.approx((y * alpha).sum(), abs=1e-12)


@pytest.mark.parametrize("kind", ["float64", "float32", "csr"])
@pytest.mark.parametrize("integers", [False, True])
def test_epochs_equal_their_twins(kind: str, integers: bool) -> None:
    for seed in range(5):
        rng, X, y, bound, margin = drawn(seed, integers=integers)
        X = X.astype(np.float32).astype(float)
        table = csr_array(X) if kind == "csr" else X.astype(kind)
        problem = TwoClass.from_labels(table, y, bound, margin)
        cases = (problem.t, problem.lower, problem.upper, squares(table))
        pairs = rng.integers(0, len(y), (60, 2))
        c, w, alpha = np.zeros(len(y)), np.zeros(X.shape[1]), [0.0] * len(y)
        random_pairs(kernel_table(table), cases, c, w, pairs)
        for i, j in pairs[pairs[:, 0] != pairs[:, 1]]:
            ref.pair_step(X, y, bound, margin, alpha, i, j)
        np.testing.assert_allclose(y * c, alpha, atol=1e-10)
        np.testing.assert_allclose(w, X.T @ c, atol=1e-10)

        mean = X.mean(axis=0)
        centre, square = X @ mean, float(mean @ mean)
        order = rng.permutation(len(y))
        state = np.array([0.3, 2.0, square, c.sum(), mean @ w])
        cases = (*cases[:3], squares(X) - 2 * centre + square)
        single_cases(kernel_table(table), cases, c, w, order, centre, state)
        ref.single_epoch(X, y, bound, margin, alpha, order.tolist(), 0.3, 2.0)
        np.testing.assert_allclose(y * c, alpha, atol=1e-10)
        np.testing.assert_allclose(state[3:], [c.sum(), mean @ w], atol=1e-10)


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 10**6), st.booleans())
def test_bias_is_exact_and_gap_is_a_bound(seed: int, integers: bool) -> None:
    rng, X, y, bound, margin = drawn(seed, integers=integers)
    problem = TwoClass.from_labels(X, y, bound, margin)
    w = rng.normal(size=3) * rng.choice([0.0, 1.0])
    b = problem.bias(X @ w)
    primal = ref.objective(X, y, bound, margin, w, b)
    assert primal == pytest.approx(problem.primal(w, b, X @ w), rel=1e-12)
    assert primal <= ref.best_bias(X, y, bound, margin, w) + 1e-9
    for shift in (-1e-6, 1e-6):
        assert problem.primal(w, b + shift, X @ w) >= primal - 1e-9
    c = problem.balanced(rng.uniform(problem.lower, problem.upper))
    assert c.sum() == pytest.approx(0, abs=1e-12)
    assert ((c >= problem.lower - 1e-15) & (c <= problem.upper + 1e-15)).all()
    value = problem.dual(c, X.T @ c)
    assert value == pytest.approx(ref.dual(X, y, margin, y * c), abs=1e-9)
    assert primal >= value - 1e-9


@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.parametrize("sparse", [False, True])
def test_solvers_equal_a_quadratic_program(name: str, sparse: bool) -> None:
    for seed in range(3):
        rng, X, y, bound, margin = drawn(seed, n=25, integers=seed == 2)
        w, least = ref.quadratic_program(X, y, bound, margin)
        problem = TwoClass.from_labels(csr_array(X) if sparse else X, y, bound, margin)
        certificate = Certificate(problem, 1e-8)
        assert 1 <= SOLVERS[name](problem, certificate, 20_000, rng) <= 20_000
        found = certificate.solution()
        assert found.objective == pytest.approx(least, rel=1e-7)
        assert 0 <= found.gap <= 1e-8 * found.objective
        np.testing.assert_allclose(found.w, w, atol=1e-3 if name != "hybrid" else 3e-4)
        assert found.objective == pytest.approx(ref.objective(X, y, bound, margin, found.w, found.b))
        assert abs(found.c.sum()) < 1e-10


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.floats(-3, 4), st.sampled_from([2, 5, 60]), st.sampled_from([1, 4, 80]))
def test_hybrid_proves_what_it_finds(seed: int, log_c: float, n: int, d: int) -> None:
    rng, X, y, bound, margin = drawn(seed, n=n, d=d)
    X = X + rng.choice([0.0, 50.0])
    problem = TwoClass.from_labels(X, y, bound * 10.0**log_c, margin)
    certificate = Certificate(problem, 1e-5)
    solve_hybrid(problem, certificate, 200, rng)
    found = certificate.solution()
    assert found.gap <= 1e-5 * found.objective
    assert found.objective == pytest.approx(problem.primal(found.w, found.b, X @ found.w))


@pytest.mark.parametrize("kind", ["wide", "tall"])
def test_hybrid_by_conjugate_gradients(kind: str) -> None:
    rng = np.random.default_rng(0)
    n, d = (400, 3000) if kind == "wide" else (3000, 400)
    dense = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.02)
    y = np.where(dense[:, : d // 10].sum(axis=1) + 0.5 * rng.normal(size=n) > 0, 1.0, -1.0)
    found = []
    for X in (csr_array(dense), dense):
        problem = TwoClass.from_labels(X, y, np.full(n, 0.1))
        certificate = Certificate(problem, 1e-7)
        solve_hybrid(problem, certificate, 200, rng)
        found.append(certificate.solution())
        assert found[-1].gap <= 1e-7 * found[-1].objective
    assert found[0].objective == pytest.approx(found[1].objective, rel=2e-7)


def test_hybrid_begins_with_a_sample() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 4))
    y = np.where(X[:, 0] + rng.normal(size=len(X)) > 2, 1.0, -1.0)
    problem = TwoClass.from_labels(X, y, np.where(y > 0, 0.9, 0.1))
    found = []
    for solver, seed in ((solve_hybrid, 0), (solve_hybrid, 1), (solve_single, 0)):
        certificate = Certificate(problem, 1e-6 if solver is solve_hybrid else 1e-4)
        solver(problem, certificate, 500, np.random.default_rng(seed))
        assert certificate.reached
        found.append(certificate.upper)
    assert found[1] == pytest.approx(found[0], rel=1e-6)
    assert found[0] - 1e-6 * found[0] <= found[2] <= found[0] * (1 + 1e-4)


def test_products_read_every_kind_of_table() -> None:
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(50, 7)) * (rng.random((50, 7)) < 0.5)).astype(np.float32)
    w, c = rng.normal(size=7), rng.normal(size=50)
    exact = X.astype(float)
    for table in (X, csr_array(X), exact, csr_array(exact)):
        np.testing.assert_allclose(scores(table, w), exact @ w, rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(combine(table, c), exact.T @ c, rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(squares(table), (exact**2).sum(axis=1), rtol=1e-12)
