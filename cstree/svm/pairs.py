"""Randomized dual coordinate descent: two coefficients at a time, or one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from cstree.svm._dual_kernels import random_pairs, single_cases
from cstree.svm.problem import Certificate, TwoClass
from cstree.svm.rows import combine, kernel_table, scores, squares

__all__ = ["solve_pairs", "solve_single"]

# Cells that one call of a kernel reads, so that Ctrl-C is heard at once.
_CELLS_PER_CALL = 50_000_000


def solve_pairs(problem: TwoClass, certificate: Certificate, max_iter: int, rng: np.random.Generator) -> int:
    """Randomized dual coordinate descent as published (CSVM-RDCD), its formulas corrected.

    An epoch minimises the dual over ``n / 2`` pairs of cases, drawn uniformly.

    Parameters
    ----------
    problem : TwoClass
    certificate : Certificate
        Judges what is found, and keeps it.
    max_iter : int
        Most epochs.
    rng : Generator
        Draws the pairs.

    Returns
    -------
    int
        Epochs.
    """
    n = len(problem)
    table, cases = kernel_table(problem.X), _cases(problem)
    size = _rows_per_call(problem) // 2 + 1

    def epoch(c: NDArray[np.float64], w: NDArray[np.float64]) -> None:
        for start in range(0, (n + 1) // 2, size):
            pairs = rng.integers(0, n, (min(size, (n + 1) // 2 - start), 2))
            random_pairs(table, cases, c, w, pairs)

    return _descend(problem, epoch, certificate, max_iter)


def solve_single(problem: TwoClass, certificate: Certificate, max_iter: int, rng: np.random.Generator) -> int:
    """Dual coordinate descent on single cases; the equation of the bias by an augmented Lagrangian.

    An epoch goes over all cases in random order, then moves the multiplier, which is the bias.

    Parameters
    ----------
    problem, certificate, max_iter, rng
        As in :func:`solve_pairs`.

    Returns
    -------
    int
        Epochs.
    """
    n = len(problem)
    mean = combine(problem.X, np.full(n, 1.0 / n))
    centre, square = scores(problem.X, mean), float(mean @ mean)
    table = kernel_table(problem.X)
    t, lower, upper, lengths = _cases(problem)
    lengths = np.maximum(lengths - 2.0 * centre + square, 0.0)
    cases = t, lower, upper, lengths
    size = _rows_per_call(problem)
    spread = float(lengths.mean())
    state = np.array([0.0, spread if spread > 0 else 1.0, square, 0.0, 0.0])

    def epoch(c: NDArray[np.float64], w: NDArray[np.float64]) -> None:
        order = rng.permutation(n)
        state[3], state[4] = c.sum(), mean @ w
        for start in range(0, n, size):
            single_cases(table, cases, c, w, order[start : start + size], centre, state)
        state[0] += state[1] * state[3]

    return _descend(problem, epoch, certificate, max_iter)


def _cases(problem: TwoClass) -> tuple[NDArray[np.float64], ...]:
    return problem.t, problem.lower, problem.upper, squares(problem.X)


def _rows_per_call(problem: TwoClass) -> int:
    cells = problem.X.size / len(problem)  # of a sparse table: those that are stored
    return max(1, int(_CELLS_PER_CALL / max(1.0, cells)))


def _descend(
    problem: TwoClass,
    epoch: Callable[[NDArray[np.float64], NDArray[np.float64]], None],
    certificate: Certificate,
    max_iter: int,
) -> int:
    """Make epochs until the gap is small; ``w`` is computed anew at each look, so that no error adds up."""
    c = np.zeros(len(problem))
    w = np.zeros(problem.X.shape[1])
    made = 0
    while made < max_iter:
        # Looking costs about an epoch: look often at first, then after a tenth more.
        for _ in range(min(max(1, made // 10), max_iter - made)):
            epoch(c, w)
            made += 1
        w = combine(problem.X, c)
        if certificate.add(c):
            break
    return made
