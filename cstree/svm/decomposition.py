"""Decomposition with large working sets, as in PCSVM: the peer of the coordinate methods."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cstree.svm._dual_kernels import working_set
from cstree.svm.problem import Certificate, TwoClass
from cstree.svm.rows import combine, cross_products, scores, take

__all__ = ["solve_decomposition"]

# Cases of a working set, and most steps of pairs in it.
_SIZE = 50
_STEPS = 20 * _SIZE
# A working set is solved until its worst pair misses the optimum by this share of what it did before.
_SHARE = 1e-3
# Working sets between two looks at the duality gap.
_SETS = 10


def solve_decomposition(
    problem: TwoClass, certificate: Certificate, max_iter: int, rng: np.random.Generator
) -> int:
    """Optimise the worst cases, the others fixed, and look for the worst again.

    Parameters
    ----------
    problem : TwoClass
    certificate : Certificate
        Judges what is found, and keeps it.
    max_iter : int
        Most working sets.
    rng : Generator
        Not needed: nothing is drawn.

    Returns
    -------
    int
        Working sets.
    """
    c = np.zeros(len(problem))
    w = np.zeros(problem.X.shape[1])
    made = 0
    while made < max_iter:
        v = problem.t - scores(problem.X, w)
        rows = _worst(problem, c, v)
        up, low = c[rows] < problem.upper[rows], c[rows] > problem.lower[rows]
        missed = v[rows][up].max(initial=-np.inf) - v[rows][low].min(initial=np.inf)
        if not missed > 0:
            certificate.add(c)
            break
        w += _optimise(problem, c, v, rows, _SHARE * missed)
        made += 1
        if made % _SETS == 0:
            w = combine(problem.X, c)
            if certificate.add(c):
                break
    else:
        certificate.add(c)
    return made


def _worst(problem: TwoClass, c: NDArray[np.float64], v: NDArray[np.float64]) -> NDArray[np.intp]:
    """Half of the working set: those that want up most; the other half: those that want down most."""
    half = _SIZE // 2
    up = np.flatnonzero(c < problem.upper)
    low = np.flatnonzero(c > problem.lower)
    if len(up) > half:
        up = up[np.argpartition(-v[up], half)[:half]]
    if len(low) > half:
        low = low[np.argpartition(v[low], half)[:half]]
    return np.union1d(up, low)


def _optimise(
    problem: TwoClass,
    c: NDArray[np.float64],
    v: NDArray[np.float64],
    rows: NDArray[np.intp],
    missed: float,
) -> NDArray[np.float64]:
    """Move the coefficients of a working set to their optimum; give the change of ``w``."""
    X = take(problem.X, rows)
    part = c[rows]
    limits = np.array([missed, float(_STEPS)])
    working_set(cross_products(X), v[rows], problem.lower[rows], problem.upper[rows], part, limits)
    change = part - c[rows]
    c[rows] = part
    return combine(X, change)
