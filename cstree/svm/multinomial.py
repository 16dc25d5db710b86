"""Penalized multinomial likelihood over whitened features, and its least by Newton steps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator, cg
from scipy.special import logsumexp, softmax

__all__ = ["Multinomial", "Optimum"]

Floats = NDArray[np.float64]

_STEPS = 1000  # conjugate gradients within a Newton step, at most
_HALVINGS = 40


@dataclass(frozen=True, eq=False)
class Optimum:
    """What was found.

    Attributes
    ----------
    U : ndarray of shape (r, K)
    b : ndarray of shape (K,)
    objective, gradient : float
        The gradient's length per unit of weight, in scaled variables.
    n_iter : int
    converged : bool
    """

    U: Floats
    b: Floats
    objective: float
    gradient: float
    n_iter: int
    converged: bool


class Multinomial:
    """Find ``U, b`` of least ``sum_i w_i (ln sum_m e^{f_im} - f_{i, y_i}) + strength / 2 ||U||^2``.

    ``f = Z U + b`` in the columns of the free classes and 0 in the others. Where all classes are free, ``b``
    is made to sum to 0, which changes no probability.

    Parameters
    ----------
    Z : ndarray of shape (n, r)
    y : ndarray of shape (n,), int
    weight : ndarray of shape (n,)
    n_classes : int
    free : ndarray of int
    strength : float
    """

    def __init__(
        self,
        Z: Floats,
        y: NDArray[np.int32],
        weight: Floats,
        n_classes: int,
        free: NDArray[np.intp],
        strength: float,
    ) -> None:
        self._Z, self._y, self._weight = Z, y, weight
        self._n_classes, self._free, self._strength = n_classes, free, strength
        self._gauge = float(weight.sum()) if len(free) == n_classes else 0.0
        self._target = np.zeros((len(y), n_classes))
        self._target[np.arange(len(y)), y] = 1.0
        # Curvature along a coordinate is strength + sum_i w_i z_i^2 p (1 - p): scaled to about 1.
        spread = (1.0 - 1.0 / n_classes) / n_classes
        self._squares = Z * Z
        self._scale = 1.0 / np.sqrt(strength + spread * (weight @ self._squares))
        self._bias_scale = 1.0 / np.sqrt(spread * weight.sum())

    def minimize(self, tol: float, max_iter: int) -> Optimum:
        """Take Newton steps from 0, shortened where the objective would not fall enough."""
        shape = (self._Z.shape[1] + 1, len(self._free))
        theta = np.zeros(shape)
        objective, gradient, proba = self._look(theta)
        length = self._length(gradient)
        n_iter = 0
        while length > tol and n_iter < max_iter:
            n_iter += 1
            step = self._newton_step(gradient, proba, min(0.1, length))
            moved = self._search(theta, step, objective, float((gradient * step).sum()))
            if moved is None:
                break
            before = objective, length
            theta, (objective, gradient, proba) = moved
            length = self._length(gradient)
            if objective >= before[0] and length > 0.5 * before[1]:  # nothing nearer can be told apart
                break
        U = np.zeros((shape[0] - 1, self._n_classes))
        b = np.zeros(self._n_classes)
        U[:, self._free] = theta[:-1] * self._scale[:, None]
        b[self._free] = theta[-1] * self._bias_scale
        return Optimum(U, b, objective, length, n_iter, length <= max(tol, 1e-9))

    def _length(self, gradient: Floats) -> float:
        return float(np.linalg.norm(gradient) / np.sqrt(self._weight.sum()))

    def _look(self, theta: Floats) -> tuple[float, Floats, Floats]:
        """Objective, gradient and probabilities at scaled variables."""
        U, b = theta[:-1] * self._scale[:, None], theta[-1] * self._bias_scale
        f = np.zeros(self._target.shape)
        f[:, self._free] = self._Z @ U + b
        own = np.take_along_axis(f, self._y[:, None].astype(np.intp), axis=1)[:, 0]
        loss = self._weight @ (logsumexp(f, axis=1) - own)
        objective = float(loss + 0.5 * self._strength * (U * U).sum() + 0.5 * self._gauge * b.sum() ** 2)
        proba = softmax(f, axis=1)
        excess = (self._weight[:, None] * (proba - self._target))[:, self._free]
        return objective, self._gather(excess, U, b), proba

    def _gather(self, excess: Floats, U: Floats, b: Floats) -> Floats:
        """Gradient in scaled variables of what changes ``f`` by ``excess``, with the penalty."""
        slope = (self._Z.T @ excess + self._strength * U) * self._scale[:, None]
        return np.vstack([slope, (excess.sum(axis=0) + self._gauge * b.sum()) * self._bias_scale])

    def _newton_step(self, gradient: Floats, proba: Floats, accuracy: float) -> Floats:
        """Solve ``H step = -gradient`` by conjugate gradients."""
        p = proba[:, self._free]
        weight = self._weight[:, None]

        def curve(flat: Floats) -> Floats:
            direction = flat.reshape(gradient.shape)
            U, b = direction[:-1] * self._scale[:, None], direction[-1] * self._bias_scale
            moved = self._Z @ U + b
            return self._gather(weight * p * (moved - (p * moved).sum(axis=1, keepdims=True)), U, b).ravel()

        diagonal = self._diagonal(weight * p * (1.0 - p))
        size = gradient.size
        hessian = LinearOperator((size, size), matvec=curve, dtype=np.float64)
        jacobi = LinearOperator((size, size), matvec=lambda flat: flat / diagonal.ravel(), dtype=np.float64)
        step, _ = cg(hessian, -gradient.ravel(), rtol=accuracy, maxiter=_STEPS, M=jacobi)
        return np.asarray(step).reshape(gradient.shape)

    def _diagonal(self, spread: Floats) -> Floats:
        """Curvature along each scaled variable."""
        slope = (self._squares.T @ spread + self._strength) * self._scale[:, None] ** 2
        return np.vstack([slope, (spread.sum(axis=0) + self._gauge) * self._bias_scale**2])

    def _search(
        self, theta: Floats, step: Floats, objective: float, slope: float
    ) -> tuple[Floats, tuple[float, Floats, Floats]] | None:
        """Halve the step until the objective falls (Armijo), or the gradient within rounding."""
        slack = 1e-13 * max(1.0, abs(objective))
        size = 1.0
        for _ in range(_HALVINGS):
            there = theta + size * step
            found = self._look(there)
            if found[0] <= objective + 1e-4 * size * slope + slack:
                return there, found
            size *= 0.5
        return None
