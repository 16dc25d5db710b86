"""The multicategory SVM in coordinates, solved by the proximal method of multipliers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator, cg

__all__ = ["Multicategory", "Saddle"]

Floats = NDArray[np.float64]

# The proximal term is lightened by this factor after every step, until rounding would be felt; a step that
# went astray takes twice as much back.
_LIGHTER = 3.0
_LIGHTEST = 1e4
# Functions of a step are as exact as this share of what the conditions are missed by.
_INEXACT = 0.3
_NEWTON = 50
_GRADIENTS = 500


@dataclass(frozen=True, eq=False)
class Saddle:
    """Where the search ended.

    Attributes
    ----------
    a : ndarray of shape (n, K)
        Variables of the dual.
    F : ndarray of shape (n, K)
        Functions of the cases that follow from them.
    violation : float
        How far they miss the conditions of the optimum.
    n_iter : int
        Newton steps.
    """

    a: Floats
    F: Floats
    violation: float
    n_iter: int


class Multicategory:
    """Find ``U`` of least ``sum_ij B_ij (f_ij + t)_+ + 1/2 ||U||^2``, ``f = Z U`` and ``t = 1 / (K - 1)``.

    Rows of ``U`` sum to 0. The dual is to maximise ``t sum_ij a_ij - 1/2 ||Z' v||^2`` over ``0 <= a <= B``,
    ``v`` being ``a`` less the mean of each row; at the optimum ``U = -Z' v``.

    Parameters
    ----------
    Z : ndarray of shape (n, r)
    bound : ndarray of shape (n, K)
        ``B``; each row has a 0.

    Notes
    -----
    A step maximises the dual less ``||a - a_k||^2 / (2 s)``. Its own dual is smooth: a problem in ``U``, in
    which the hinge is rounded off over a width of ``B / s``, with ``a_{k+1} = clip(a_k + s (f + t), 0, B)``.
    Newton's method solves it in a few steps, as most cases are flat there. While ``s`` grows, steps tend to
    the optimum faster than linearly, however long and thin the kernel's space is; coordinate ascent stalls.
    """

    def __init__(self, Z: Floats, bound: Floats) -> None:
        self._Z, self._bound = Z, bound
        self._squares = Z * Z
        self._margin = 1.0 / (bound.shape[1] - 1)

    def solve(self, tol: float, max_iter: int) -> Saddle:
        """Take proximal steps until no condition is missed by more than ``tol``."""
        best = self._state(np.zeros_like(self._bound), 0)
        U = np.zeros((self._Z.shape[1], self._bound.shape[1]))
        s, n_iter = float(self._bound.max()), 0
        lightest = _LIGHTEST * s
        while best.violation > tol and n_iter < max_iter and s > 0:
            step = _ProximalStep(self, best.a, s)
            aim = max(_INEXACT * best.violation, 0.3 * tol)
            moved, steps = step.minimize(U, aim, min(_NEWTON, max_iter - n_iter))
            n_iter += steps
            found = self._state(step.variables(self._Z @ moved), n_iter)
            if found.violation < 2.0 * best.violation:
                best, U, s = found, moved, min(s * _LIGHTER, lightest)
            else:
                s /= _LIGHTER**2
        return Saddle(best.a, best.F, best.violation, n_iter)

    def _state(self, a: Floats, n_iter: int) -> Saddle:
        F = -self._Z @ (self._Z.T @ centred(a))
        gradient = F + self._margin
        missed = np.where(gradient > 0, gradient * (a < self._bound), -gradient * (a > 0))
        return Saddle(a, F, float(missed.max()), n_iter)

    def gap(self, found: Saddle) -> tuple[float, float]:
        """Objective, and how far the dual one is below it: at most so much is above the least."""
        norm = -float((centred(found.a) * found.F).sum())
        primal = float((self._bound * np.maximum(found.F + self._margin, 0.0)).sum()) + 0.5 * norm
        return primal, max(0.0, primal - (self._margin * float(found.a.sum()) - 0.5 * norm))


class _ProximalStep:
    """One step from ``a`` with the proximal parameter ``s``: a smooth convex problem in ``U``."""

    def __init__(self, owner: Multicategory, a: Floats, s: float) -> None:
        self._Z, self._squares, self._bound = owner._Z, owner._squares, owner._bound
        self._margin, self._a, self._s = owner._margin, a, s

    def variables(self, f: Floats) -> Floats:
        """Dual variables that belong to functions."""
        return np.clip(self._a + self._s * (f + self._margin), 0.0, self._bound)

    def _look(self, U: Floats, f: Floats) -> tuple[float, Floats, NDArray[np.bool_]]:
        """Objective, gradient, and where the loss is curved."""
        wanted = self._a + self._s * (f + self._margin)
        a = np.clip(wanted, 0.0, self._bound)
        loss = (a * (wanted - 0.5 * a)).sum() - 0.5 * (self._a * self._a).sum()
        objective = float(loss / self._s + 0.5 * (U * U).sum())
        return objective, self._Z.T @ centred(a) + U, (wanted > 0) & (wanted < self._bound)

    def minimize(self, U: Floats, aim: float, max_iter: int) -> tuple[Floats, int]:
        """Take Newton steps until functions are exact within ``aim``; give ``U`` and the number of steps."""
        f = self._Z @ U
        objective, gradient, curved = self._look(U, f)
        n_iter = 0
        while n_iter < max_iter and np.abs(self._Z @ gradient).max() > aim:
            n_iter += 1
            step = self._newton_step(gradient, curved)
            change, slope = self._Z @ step, float((gradient * step).sum())
            size, slack = 1.0, 1e-13 * abs(objective)
            while size > 1e-8:
                found = self._look(U + size * step, f + size * change)
                if found[0] <= objective + 1e-4 * size * slope + slack:
                    break
                size *= 0.5
            U, f = U + size * step, f + size * change
            objective, gradient, curved = found
        return U, n_iter

    def _newton_step(self, gradient: Floats, curved: NDArray[np.bool_]) -> Floats:
        """Solve ``(I + s P Z' diag(curved) Z) step = -gradient``, ``P`` centring rows."""
        rows = np.flatnonzero(curved.any(axis=1))  # most cases are flat for every class
        Z, squares, share = self._Z[rows], self._squares[rows], curved[rows].astype(np.float64)
        n_classes = share.shape[1]

        def curve(flat: Floats) -> Floats:
            direction = flat.reshape(gradient.shape)
            moved = centred(share * (Z @ direction))
            return (direction + self._s * (Z.T @ moved)).ravel()

        diagonal = 1.0 + self._s * (1.0 - 1.0 / n_classes) * (squares.T @ share)

        def jacobi(flat: Floats) -> Floats:
            return centred(flat.reshape(gradient.shape) / diagonal).ravel()

        accuracy = min(0.1, float(np.linalg.norm(gradient)))
        step, _ = cg(
            _operator(curve, gradient.size),
            -gradient.ravel(),
            rtol=max(accuracy, 1e-10),
            maxiter=_GRADIENTS,
            M=_operator(jacobi, gradient.size),
        )
        return np.asarray(step).reshape(gradient.shape)


def _operator(product: Callable[[Floats], Floats], size: int) -> LinearOperator:
    return LinearOperator((size, size), matvec=product, dtype=np.float64)


def centred(rows: Floats) -> Floats:
    """Rows less their means."""
    return rows - rows.mean(axis=1, keepdims=True)
