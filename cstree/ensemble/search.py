"""Which weak learner a round of double-base boosting takes: three searches with one answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cstree.ensemble import _search_kernels as kernels
from cstree.ensemble.root import PERFECT, newton_root, perfect_weight, polynomial_root

__all__ = ["LEAST_EDGE", "SEARCHES", "SELECTIONS", "Found", "search"]

Floats = NDArray[np.float64]

# A learner contributes if it is wrong about less than half of the weight, by more than this.
LEAST_EDGE = 1e-10
_MOST = 0.5 - LEAST_EDGE
_TIE = 1e-12

SEARCHES = ("conditional", "exhaustive", "batch")
SELECTIONS = ("alpha", "loss")


class Found(NamedTuple):
    """What a search found, and what it took."""

    candidate: int
    alpha: float
    perfect: bool = False
    n_contributing: int = 0
    n_evaluations: int = 0
    n_roots: int = 0


class _Best(NamedTuple):
    candidate: int
    alpha: float
    least: float  # its loss; negative where the largest alpha is wanted
    counts: tuple[int, int, int]  # contributing, evaluations, roots


def search(
    p: Floats,
    q: Floats,
    equation: Floats,
    order: NDArray[np.int64],
    *,
    method: str = "conditional",
    select: str = "alpha",
    solver: str = "newton",
) -> Found:
    """Find the weak learner of a round; ties go to the lowest index, whatever the method.

    Parameters
    ----------
    p, q : ndarray of shape (n_candidates,)
        Weight of the positive and of the negative cases that each candidate gets wrong.
    equation : ndarray of shape (4,)
        ``a, b, C_P, C_N``; see :func:`cstree.ensemble.root.newton_root`.
    order : ndarray of shape (n_candidates,), int64
        In which order the conditional search visits candidates.
    method : {"conditional", "exhaustive", "batch"}
    select : {"alpha", "loss"}
        The largest alpha, or the least loss.
    solver : {"newton", "poly", "bisect"}
        "poly" for ``select="alpha"``, "bisect" for ``method="exhaustive"``.

    Returns
    -------
    Found
        With the index -1 if no candidate is wrong about less than half of the weight.
    """
    p, q = np.ascontiguousarray(p), np.ascontiguousarray(q)
    perfect = np.flatnonzero(p + q <= PERFECT)
    if len(perfect):
        n_contributing = int((p + q < _MOST).sum())
        return Found(int(perfect[0]), perfect_weight(float(equation[2:].max())), True, n_contributing)
    root = polynomial_root if solver == "poly" else newton_root
    if method == "batch":
        best = (_batch_alpha if select == "alpha" else _batch_loss)(p, q, equation, root)
    elif solver == "poly":
        best = _polynomials(p, q, equation, order if method == "conditional" else None)
    elif method == "exhaustive":
        best = _exhaustive(p, q, equation, select, solver == "bisect")
    else:
        best = _conditional(p, q, equation, order, select)
    if best.candidate < 0:
        return Found(-1, 0.0)
    contributing, evaluations, roots = best.counts
    first = int(kernels.first_tied(p, q, equation, _MOST, best.alpha, best.least, best.candidate))
    alpha = best.alpha
    if first != best.candidate:
        alpha, roots = root(float(p[first]), float(q[first]), equation), roots + 1
    return Found(first, alpha, False, contributing, evaluations, roots)


def _conditional(p: Floats, q: Floats, equation: Floats, order: NDArray[np.int64], select: str) -> _Best:
    """Solve a candidate only if it is certain (alpha) or possible (loss) that it beats those before it."""
    counts = np.zeros(3, dtype=np.int64)
    found = np.empty(2)
    kernel = kernels.search_largest_root if select == "alpha" else kernels.search_least_loss
    index = int(kernel(p, q, equation, _MOST, order, found, counts))
    least = -1.0 if select == "alpha" else float(found[1])
    return _Best(index, float(found[0]), least, (int(counts[0]), int(counts[1]), int(counts[2])))


def _exhaustive(p: Floats, q: Floats, equation: Floats, select: str, bisect: bool) -> _Best:
    """Solve every candidate that contributes."""
    alphas, losses = np.empty(len(p)), np.empty(len(p))
    n_roots = int(kernels.solve_all(p, q, equation, _MOST, bisect, alphas, losses))
    if n_roots == 0:
        return _Best(-1, 0.0, 0.0, (0, 0, 0))
    index = int(alphas.argmax() if select == "alpha" else losses.argmin())
    least = -1.0 if select == "alpha" else float(losses[index])
    return _Best(index, float(alphas[index]), least, (n_roots, 0, n_roots))


def _grown(weight: Floats, power: Any) -> Floats:
    """``weight * power``; 0 where the weight is 0, even if the power is infinite."""
    if np.isfinite(power):
        return weight * power
    return np.where(weight > 0, np.inf, 0.0)


def _batch_alpha(p: Floats, q: Floats, equation: Floats, root: Callable[..., float]) -> _Best:
    """Judge all candidates at the best weight so far, solve the one that gains most, until none gains."""
    a, b, positive, negative = equation
    contributing = np.flatnonzero(p + q < _MOST)
    if len(contributing) == 0:
        return _Best(-1, 0.0, 0.0, (0, 0, 0))
    own_p, own_q = p[contributing], q[contributing]
    best, alpha, n_roots = -1, 0.0, 0
    while True:
        with np.errstate(over="ignore"):
            up_p, up_q = np.exp(positive * alpha), np.exp(negative * alpha)
        sides = _grown(own_p, up_p + 1 / up_p) + _grown(own_q, up_q + 1 / up_q)
        k = int(sides.argmin())
        right = a / up_p + b / up_q
        if best >= 0 and sides[k] >= right * (1 - _TIE):
            break
        larger = root(float(own_p[k]), float(own_q[k]), equation)
        n_roots += 1
        if best >= 0 and larger <= alpha + _TIE * max(1.0, alpha):
            break
        best, alpha = k, larger
    counts = (len(contributing), len(contributing) * (n_roots + 1), n_roots)
    return _Best(int(contributing[best]), alpha, -1.0, counts)


def _batch_loss(p: Floats, q: Floats, equation: Floats, root: Callable[..., float]) -> _Best:
    """Let all candidates take Newton's steps at once, and drop those whose bound is above the least loss."""
    a, b, positive, negative = equation
    left = np.flatnonzero(p + q < _MOST)
    if len(left) == 0:
        return _Best(-1, 0.0, 0.0, (0, 0, 0))
    n_contributing, n_evaluations, n_roots = len(left), 0, 1
    start = left[int((p[left] + q[left]).argmin())]
    best, alpha = int(start), root(float(p[start]), float(q[start]), equation)
    least = float(kernels.loss_at(p[best], q[best], tuple(equation), alpha))
    left = left[left != best]
    with np.errstate(divide="ignore"):  # at a root no term exceeds 1: below this x no power overflows
        most = np.minimum(-np.log(p[left]) / positive, -np.log(q[left]) / negative)
    x = np.minimum(alpha, most)
    while len(left):
        n_evaluations += len(left)
        own_p, own_q = p[left], q[left]
        up_p, up_q = np.exp(np.minimum(positive * x, 700.0)), np.exp(np.minimum(negative * x, 700.0))
        wrong_p, right_p, wrong_q, right_q = (
            own_p * up_p,
            (a - own_p) / up_p,
            own_q * up_q,
            (b - own_q) / up_q,
        )
        loss = (wrong_p + right_p) / positive + (wrong_q + right_q) / negative
        slope = wrong_p - right_p + wrong_q - right_q
        bend = positive * (wrong_p + right_p) + negative * (wrong_q + right_q)
        k = int(loss.argmin())
        if loss[k] < least * (1 - _TIE):
            best, n_roots = int(left[k]), n_roots + 1
            alpha = root(float(p[best]), float(q[best]), equation)
            least = float(kernels.loss_at(p[best], q[best], tuple(equation), alpha))
        scaled = slope / min(positive, negative)
        open_ = (loss - scaled) * (loss + scaled) < (least * (1 - _TIE)) ** 2
        open_ &= np.abs(slope) > 1e-14 * bend
        x = np.clip(x - slope / bend, 0.0, most)[open_]
        left, most = left[open_], most[open_]
    return _Best(best, alpha, least, (n_contributing, n_evaluations, n_roots))


def _polynomials(p: Floats, q: Floats, equation: Floats, order: NDArray[np.int64] | None) -> _Best:
    """Search for the largest root by the published polynomial, conditionally in an order or exhaustively."""
    a, b, positive, negative = equation
    contributing = evaluations = roots = 0
    best, alpha = -1, 0.0
    for k in range(len(p)) if order is None else order.tolist():
        if p[k] + q[k] >= _MOST:
            continue
        contributing += 1
        if best >= 0 and order is not None:
            evaluations += 1
            up_p, up_q = np.exp(positive * alpha), np.exp(negative * alpha)
            sides = p[k] * (up_p + 1 / up_p) + q[k] * (up_q + 1 / up_q)
            if sides >= (a / up_p + b / up_q) * (1 - _TIE):
                continue
        roots += 1
        root = polynomial_root(float(p[k]), float(q[k]), equation)
        if best < 0 or root > alpha + _TIE * max(1.0, alpha):
            best, alpha = k, root
    return _Best(best, alpha, -1.0, (contributing, evaluations, roots))
