"""The two-class problem with its corners rounded, and semismooth Newton steps on it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.sparse.linalg import LinearOperator, cg

from cstree.svm.rows import combine, cross_products, scores, take, weighted_products, weighted_squares

__all__ = ["Move", "Point", "Rounded", "newton_move", "step_length"]

Floats = NDArray[np.float64]

# Systems up to the first size are factored; of larger ones those for which that many operations, in blocks
# that fill the processor, take no longer than conjugate gradients do for each number in the table; and, up to
# the second size, those on which conjugate gradients fail. None is greater than the third.
_SMALL = 300
_OPERATIONS = 2400
_MENDED = 1000
_FACTORED = 5000
# Conjugate gradients end when the rest is this small, or after so many steps.
_REST = 1e-2
_GRADIENTS = 200
# Newton steps are never lengthened so much.
_FARTHEST = 1e30


@dataclass(frozen=True, eq=False)
class Point:
    """``w``, ``b`` and the scores ``f = X w``."""

    w: Floats
    b: float
    f: Floats


@dataclass(frozen=True, eq=False)
class Move:
    """Changes of ``w``, ``b`` and ``f``."""

    w: Floats
    b: float
    f: Floats


@dataclass(frozen=True, eq=False)
class Rounded:
    """A proximal step of the dual, seen from the primal.

    Maximise ``t . c - 0.5 ||w_0 + X' c||^2 - sum_i (c_i - center_i)^2 / (2 stiffness_i)`` over
    ``lower <= c <= upper, c_0 + sum_i c_i = 0``. The other side of it is to minimise over ``w, b``

        0.5 ||w||^2 - w_0 . w - c_0 b + sum_i phi_i(w . x_i + b - t_i),    -phi_i'(r) = c_i(r),
        c_i(r) = clip(center_i - stiffness_i r, lower_i, upper_i):

    hinge losses, round within ``U_i / stiffness_i`` of their corner. It is differentiable once, and has a
    curvature only where ``c_i(r)`` is strictly between its bounds.

    Attributes
    ----------
    X : ndarray or CSR matrix of shape (n, d)
    t, lower, upper, center, stiffness : ndarray of shape (n,)
    w0 : ndarray of shape (d,) or float
        ``sum_i c_i x_i`` of cases that are not in the table because their ``c_i`` stays.
    c0 : float
        ``sum_i c_i`` of these.
    """

    X: Any
    t: Floats
    lower: Floats
    upper: Floats
    center: Floats
    stiffness: Floats
    w0: Floats | float = 0.0
    c0: float = 0.0

    def pulled(self, point: Point) -> Floats:
        """``center - stiffness r``: the coefficients before they are clipped."""
        return self.center - self.stiffness * (point.f + (point.b - self.t))

    def clipped(self, pulled: Floats) -> Floats:
        """Coefficients ``c(r)``."""
        return np.minimum(np.maximum(pulled, self.lower), self.upper)

    def inside(self, pulled: Floats) -> NDArray[np.intp]:
        """Cases with a curvature."""
        return np.flatnonzero((pulled > self.lower) & (pulled < self.upper))

    def gradient(self, point: Point, c: Floats) -> tuple[Floats, float]:
        """By ``w`` and by ``b``."""
        return point.w - self.w0 - combine(self.X, c), -float(self.c0 + c.sum())

    def part(self, rows: NDArray[np.intp], c: Floats) -> Rounded:
        """Make the same problem over some cases; the others keep their ``c``."""
        X, kept = take(self.X, rows), c[rows]
        fixed = combine(self.X, c) - combine(X, kept)
        columns = {k: getattr(self, k)[rows] for k in ("t", "lower", "upper", "center", "stiffness")}
        return replace(self, X=X, **columns, w0=self.w0 + fixed, c0=self.c0 + float(c.sum() - kept.sum()))

    def along(self, point: Point, pulled: Floats, move: Move) -> Callable[[float], float]:
        """Give the derivative of the objective at ``point + size move``, as a function of ``size``."""
        z = move.f + move.b
        slope = float((point.w - self.w0) @ move.w - self.c0 * move.b)
        square = float(move.w @ move.w)
        turn = self.stiffness * z
        return lambda size: slope + size * square - float(self.clipped(pulled - size * turn) @ z)


def newton_move(
    problem: Rounded, point: Point, inside: NDArray[np.intp], gradient: tuple[Floats, float]
) -> Move:
    """Solve ``(diag(I, 0) + Z' S Z) move = -gradient`` over the cases with a curvature.

    ``Z`` is the table with a last column of ones, ``S`` the stiffness. The system is that of the features or,
    where these are more than the cases, by the Woodbury identity that of the cases.
    """
    X = take(problem.X, inside) if len(inside) < len(problem.t) else problem.X
    stiffness = problem.stiffness[inside]
    # Where no case has a curvature, b has none; but no step needs to carry it past all cases.
    farthest = float(np.abs(point.f + (point.b - problem.t)).max())
    ridge = 1e-10 * float(problem.stiffness.mean()) + abs(gradient[1]) / max(farthest, 1e-300)
    n, d = X.shape
    side = min(n, d)
    found = None
    dear = side * (n * d + side * side // 3) > _OPERATIONS * (X.size + d)
    if side > _FACTORED or (dear and side > _SMALL):
        found = _by_conjugate_gradients(X, stiffness, ridge, *gradient, settle=side > _MENDED)
    if found is None:
        found = (_by_cases if n < d else _by_features)(X, stiffness, ridge, *gradient)
    w, b = found
    return Move(w, b, scores(problem.X, w))


def _by_features(X: Any, stiffness: Floats, ridge: float, by_w: Floats, by_b: float) -> tuple[Floats, float]:
    d = X.shape[1]
    system = weighted_products(X, stiffness)
    system[np.diag_indices(d)] += 1.0
    system[-1, -1] += ridge
    step = _solved(system, -np.append(by_w, by_b))
    return step[:-1], float(step[-1])


def _by_cases(X: Any, stiffness: Floats, ridge: float, by_w: Floats, by_b: float) -> tuple[Floats, float]:
    n = X.shape[0]
    system = cross_products(X)
    system[np.diag_indices(n)] += 1.0 / stiffness
    pull, ones = _solved(system, np.column_stack([scores(X, by_w), np.ones(n)])).T
    b = float((pull.sum() - by_b) / (ones.sum() + ridge))
    return combine(X, pull - b * ones) - by_w, b


def _by_conjugate_gradients(
    X: Any, stiffness: Floats, ridge: float, by_w: Floats, by_b: float, *, settle: bool
) -> tuple[Floats, float] | None:
    """Solve the system nearly; None where that takes too many steps, unless one is to ``settle`` for less."""
    size = X.shape[1] + 1
    diagonal = np.append(1.0 + weighted_squares(X, stiffness), stiffness.sum() + ridge)

    def times(v: Floats) -> Floats:
        pull = stiffness * (scores(X, v[:-1]) + v[-1])
        return np.append(v[:-1] + combine(X, pull), pull.sum() + ridge * v[-1])

    system = LinearOperator((size, size), matvec=times, dtype=np.float64)
    scaling = LinearOperator((size, size), matvec=lambda v: v / diagonal, dtype=np.float64)
    step, failed = cg(system, -np.append(by_w, by_b), rtol=_REST, maxiter=_GRADIENTS, M=scaling)
    return None if failed and not settle else (step[:-1], float(step[-1]))


def _solved(system: Floats, right: Floats) -> Floats:
    """Solve a positive definite system; what rounding spoils of that is mended."""
    lift = 1e-12
    while True:
        try:
            factor = cho_factor(system, check_finite=False)
            return np.asarray(cho_solve(factor, right, check_finite=False))
        except LinAlgError:
            if lift > 1:
                raise
            system[np.diag_indices(len(system))] *= 1.0 + lift
            lift *= 100.0


def step_length(derivative: Callable[[float], float], fall: float) -> float:
    """Find where an increasing derivative, ``fall < 0`` at 0, comes within a tenth of 0.

    1 if that will do, or if there is no such place: a part of the cases may have no minimum.
    """
    near = -0.1 * fall
    left, at_left, right = 0.0, fall, 1.0
    at_right = derivative(right)
    if abs(at_right) <= near:
        return right
    while at_right < 0:
        if right > _FARTHEST:
            return 1.0
        left, at_left, right = right, at_right, 4.0 * right
        at_right = derivative(right)
    for _ in range(40):
        size = left - at_left * (right - left) / (at_right - at_left)
        edge = 0.05 * (right - left)
        size = min(max(size, left + edge), right - edge)
        here = derivative(size)
        if abs(here) <= near:
            break
        if here > 0:
            right, at_right = size, here
        else:
            left, at_left = size, here
    return size
