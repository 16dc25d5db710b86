"""One pass over cases, one step each: the two recursions behind all online learners.

Rows are ``(data, indices, indptr)``: row ``i`` is ``data[indptr[i]:indptr[i + 1]]``, in the columns
``indices`` of the same slice; a dense table is its cells end to end, with no ``indices``. Weights are float64
``(m, d + 1)``, the intercept last.

``state`` is float64 (5,): 0 cases so far; 1 sum of ``||x||^2`` over them; 2 steps taken; 3 steps as long as
their cap; 4 square of the constant that stands for the intercept. ``flags`` is bool (3,): 0 a step goes no
further than the margin asks; 1 caps are divided by the mean of ``||x||^2`` so far; 2 moments for the average
are kept.
"""

from __future__ import annotations

import numpy as np

from cstree._numba import lean_kernel, summing_kernel

__all__ = ["binary_steps", "multiclass_steps"]


@summing_kernel
def _dot(data, indices, start, stop, weights):  # type: ignore[no-untyped-def]
    """Product of a row with weights ``(d + 1,)``, without the intercept, and ``||x||^2``."""
    product = 0.0
    square = 0.0
    row = data[start:stop]
    if len(indices) > 0:
        column = indices[start:stop]
        for j in range(len(row)):
            value = np.float64(row[j])
            product += weights[column[j]] * value
            square += value * value
    else:
        for j in range(len(row)):
            value = np.float64(row[j])
            product += weights[j] * value
            square += value * value
    return product, square


@lean_kernel
def _add(data, indices, start, stop, step, weights):  # type: ignore[no-untyped-def]
    """Add ``step * x`` to weights ``(d + 1,)``."""
    if len(indices) > 0:
        for j in range(start, stop):
            weights[indices[j]] += step * data[j]
    else:
        row = data[start:stop]
        for j in range(len(row)):
            weights[j] += step * row[j]


@lean_kernel
def _move(data, indices, start, stop, step, constant, weights):  # type: ignore[no-untyped-def]
    """Add ``step * (x, constant)``, where the intercept stands for the weight times the constant."""
    _add(data, indices, start, stop, step, weights)
    weights[-1] += step * constant


@lean_kernel
def _unit(square, state, scaled):  # type: ignore[no-untyped-def]
    """Count a case; give the mean of ``||x||^2`` so far, or 1."""
    state[0] += 1
    state[1] += square
    return state[1] / state[0] if scaled and state[1] > 0 else 1.0


@lean_kernel
def binary_steps(rows, cases, scores, weights, moments, state, flags):  # type: ignore[no-untyped-def]
    """Answer each case, then learn from it: ``w += tau y x``.

    With the loss ``l = m - y f(x)``: nothing where ``l <= 0``; else ``tau = cap``, or ``min(cap, l /
    ||x||^2)``. That is OCSCA with ``m = 1`` and ``cap = alpha C_t``, CSOGD-I with ``m = rho_t``, CSOGD-II
    with ``cap = lambda rho_t``.

    Parameters
    ----------
    rows : (data, indices, indptr)
    cases : float64 (n, 3)
        ``y`` (1 or -1), ``m`` and the cap of each case.
    scores : float64 (n,)
        In: ``f_0(x)``. Out: ``f(x)`` before the case was learnt.
    weights : float64 (1, d + 1)
    moments : float64 (1, d + 1)
        Sum of ``t`` times the change at case ``t``.
    state : float64 (5,)
    flags : bool (3,)
    """
    data, indices, indptr = rows
    own = weights[0]
    for i in range(len(scores)):
        start, stop = indptr[i], indptr[i + 1]
        product, square = _dot(data, indices, start, stop, own)
        scores[i] += product + own[-1]
        unit = _unit(square, state, flags[1])
        sign = cases[i, 0]
        loss = cases[i, 1] - sign * scores[i]
        tau = cases[i, 2] / unit
        if not (loss > 0 and tau > 0):
            continue
        constant = state[4] * unit
        length = square + constant
        state[2] += 1
        if flags[0] and loss < tau * length:
            tau = loss / length
        else:
            state[3] += 1
        _move(data, indices, start, stop, sign * tau, constant, own)
        if flags[2]:
            _move(data, indices, start, stop, sign * tau * state[0], constant, moments[0])


@lean_kernel
def multiclass_steps(rows, targets, scores, weights, moments, state, flags):  # type: ignore[no-untyped-def]
    """Answer each case, then learn from it: ``W_y += tau x``, ``W_r -= tau x``.

    ``r`` has the greatest ``c_r (1 - (F_y - F_r))``, where ``c`` is the case's row of costs; ``m = 1 - (F_y -
    F_r)``; ``tau = min(cap c_r / 2, m / (2 ||x||^2))``. Nothing where all of these are 0 or less. The first
    flag is not looked at.

    Parameters
    ----------
    rows : (data, indices, indptr)
    targets : (int32 (n, 2), float64 (n,), float64 (any, K))
        Class ``y`` that is to be answered, and the row of ``c`` for the case; ``alpha`` times its weight;
        what each answer costs more than ``y``.
    scores : float64 (n, K)
        In: ``F_0(x)``. Out: ``F(x)`` before the case was learnt.
    weights, moments : float64 (K, d + 1)
    state : float64 (5,)
    flags : bool (3,)
    """
    data, indices, indptr = rows
    target, caps, regrets = targets
    n_classes = len(weights)
    for i in range(len(scores)):
        start, stop = indptr[i], indptr[i + 1]
        square = 0.0
        for k in range(n_classes):
            product, square = _dot(data, indices, start, stop, weights[k])
            scores[i, k] += product + weights[k, -1]
        unit = _unit(square, state, flags[1])
        y = target[i, 0]
        rival, worst = -1, 0.0
        for k in range(n_classes):
            violation = regrets[target[i, 1], k] * (1.0 - (scores[i, y] - scores[i, k]))
            if k != y and violation > worst:
                rival, worst = k, violation
        if rival < 0:
            continue
        tau = caps[i] * regrets[target[i, 1], rival] / (2 * unit)
        if not tau > 0:
            continue
        constant = state[4] * unit
        loss = 1.0 - (scores[i, y] - scores[i, rival])
        length = 2 * (square + constant)
        state[2] += 1
        if loss < tau * length:
            tau = loss / length
        else:
            state[3] += 1
        _move(data, indices, start, stop, tau, constant, weights[y])
        _move(data, indices, start, stop, -tau, constant, weights[rival])
        if flags[2]:
            _move(data, indices, start, stop, tau * state[0], constant, moments[y])
            _move(data, indices, start, stop, -tau * state[0], constant, moments[rival])
