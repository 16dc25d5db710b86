"""Steps of the dual problem: pairs of cases, single cases, and working sets.

Kernels see the problem without labels: a case has a coefficient ``c`` with ``lower <= c <= upper``, which is
``y alpha``, and a target ``t = y p``. With ``w = sum_i c_i x_i`` the dual is

    minimise  0.5 ||w||^2 - t . c   subject to  sum_i c_i = 0,

and ``v_i = t_i - w . x_i`` is minus its gradient. A pair moves ``c_i`` up and ``c_j`` down by one length:
what is written with four boxes, one for each pair of labels, is one box here.

A table is ``(values, columns, starts)``: the rows of a C array end to end and two empty arrays, or the arrays
of a CSR matrix whose columns are sorted. ``cases`` is ``(t, lower, upper, squares)``, each float64 (n,), with
``squares`` the ``||x_i||^2``.
"""

from __future__ import annotations

import numpy as np

from cstree._numba import lean_kernel, summing_kernel

__all__ = ["random_pairs", "single_cases", "working_set"]


@summing_kernel
def _dot(table, i, w):  # type: ignore[no-untyped-def]
    """``x_i . w``."""
    values, columns, starts = table
    total = 0.0
    if len(starts) == 0:
        row = values[i * len(w) : (i + 1) * len(w)]
        for k in range(len(row)):
            total += row[k] * w[k]
    else:
        for k in range(starts[i], starts[i + 1]):
            total += values[k] * w[columns[k]]
    return total


@summing_kernel
def _inner(table, i, j, width):  # type: ignore[no-untyped-def]
    """``x_i . x_j``."""
    values, columns, starts = table
    total = 0.0
    if len(starts) == 0:
        one, other = values[i * width : (i + 1) * width], values[j * width : (j + 1) * width]
        for k in range(width):
            total += np.float64(one[k]) * other[k]
        return total
    a, b = starts[i], starts[j]
    while a < starts[i + 1] and b < starts[j + 1]:
        if columns[a] == columns[b]:
            total += np.float64(values[a]) * values[b]
            a += 1
            b += 1
        elif columns[a] < columns[b]:
            a += 1
        else:
            b += 1
    return total


@lean_kernel
def _add(table, i, factor, w):  # type: ignore[no-untyped-def]
    """``w += factor x_i``."""
    values, columns, starts = table
    if len(starts) == 0:
        row = values[i * len(w) : (i + 1) * len(w)]
        for k in range(len(row)):
            w[k] += factor * row[k]
    else:
        for k in range(starts[i], starts[i + 1]):
            w[columns[k]] += factor * values[k]


@lean_kernel
def random_pairs(table, cases, c, w, pairs):  # type: ignore[no-untyped-def]
    """Move pairs of cases, in their order, to the minimum between them.

    Along ``c_i + d, c_j - d`` the dual changes by ``-(v_i - v_j) d + eta d^2 / 2`` with ``eta = ||x_i -
    x_j||^2``: ``d = (v_i - v_j) / eta``, clipped to what the four bounds allow. Copies (``eta = 0``) go to
    the bound that their slope points to.

    Parameters
    ----------
    table : (values, columns, starts)
    cases : (t, lower, upper, squares)
    c : float64 (n,)
    w : float64 (d,)
    pairs : int64 (m, 2)
    """
    t, lower, upper, squares = cases
    for k in range(len(pairs)):
        i, j = pairs[k, 0], pairs[k, 1]
        if i == j:
            continue
        slope = (t[i] - _dot(table, i, w)) - (t[j] - _dot(table, j, w))
        if slope >= 0:
            least, most = 0.0, min(upper[i] - c[i], c[j] - lower[j])
        else:
            least, most = -min(c[i] - lower[i], upper[j] - c[j]), 0.0
        if most - least <= 1e-15 * (upper[i] - lower[i] + upper[j] - lower[j]):
            continue
        eta = squares[i] + squares[j] - 2.0 * _inner(table, i, j, len(w))
        if eta > 1e-12 * (squares[i] + squares[j]):
            move = min(max(slope / eta, least), most)
        else:
            move = most if slope > 0 else least
        if move != 0.0:
            c[i] = min(max(c[i] + move, lower[i]), upper[i])
            c[j] = min(max(c[j] - move, lower[j]), upper[j])
            _add(table, i, move, w)
            _add(table, j, -move, w)


@lean_kernel
def single_cases(table, cases, c, w, order, centre, state):  # type: ignore[no-untyped-def]
    """Minimise the augmented Lagrangian of the dual over one coefficient after the other.

    ``0.5 ||X' c||^2 - t . c + b s + rho s^2 / 2`` with ``s = sum_i c_i``, in which the equation is a penalty.
    ``X`` is centred, as if each row were less the mean ``m``: where ``s = 0`` this changes nothing.

    Parameters
    ----------
    table : (values, columns, starts)
    cases : (t, lower, upper, squares)
        ``squares`` of the centred rows.
    c : float64 (n,)
    w : float64 (d,)
        ``sum_i c_i x_i`` of the rows as they are.
    order : int64 (k,)
    centre : float64 (n,)
        ``m . x_i``.
    state : float64 (5,)
        ``b``, ``rho``, ``m . m``, ``s`` and ``m . w``; the last two change.
    """
    t, lower, upper, squares = cases
    b, rho, square, total, along = state[0], state[1], state[2], state[3], state[4]
    for k in range(len(order)):
        i = order[k]
        curve = squares[i] + rho
        if not curve > 0.0:
            continue
        score = _dot(table, i, w) - along - total * (centre[i] - square)
        slope = t[i] - score - b - rho * total
        new = min(max(c[i] + slope / curve, lower[i]), upper[i])
        move = new - c[i]
        if move != 0.0:
            c[i] = new
            total += move
            along += move * centre[i]
            _add(table, i, move, w)
    state[3], state[4] = total, along


@lean_kernel
def working_set(gram, v, lower, upper, c, limits):  # type: ignore[no-untyped-def]
    """Solve the dual over few cases, the others fixed, by pairs of second order (WSS2).

    ``i`` has the greatest ``v`` of those that may go up; ``j``, of those that may go down, the greatest
    ``(v_i - v_j)^2 / eta_ij``.

    Parameters
    ----------
    gram : float64 (m, m)
    v, lower, upper, c : float64 (m,)
        ``v`` and ``c`` change.
    limits : float64 (2,)
        Greatest ``v_i - v_j`` that may remain, and most steps.

    Returns
    -------
    int
        Steps that were made.
    """
    m = len(c)
    for step in range(int(limits[1])):
        i = -1
        for k in range(m):
            if c[k] < upper[k] and (i < 0 or v[k] > v[i]):
                i = k
        if i < 0:
            return step
        j, gain, least = -1, 0.0, v[i]
        for k in range(m):
            if c[k] > lower[k]:
                least = min(least, v[k])
                fall = v[i] - v[k]
                eta = max(gram[i, i] + gram[k, k] - 2.0 * gram[i, k], 1e-12)
                if fall > 0 and fall * fall > gain * eta:
                    j, gain = k, fall * fall / eta
        if j < 0 or v[i] - least <= limits[0]:
            return step
        eta = max(gram[i, i] + gram[j, j] - 2.0 * gram[i, j], 1e-12)
        up, down = upper[i] - c[i], c[j] - lower[j]
        move = min((v[i] - v[j]) / eta, up, down)
        c[i] = upper[i] if move == up else c[i] + move
        c[j] = lower[j] if move == down else c[j] - move
        for k in range(m):
            v[k] -= move * (gram[i, k] - gram[j, k])
    return int(limits[1])
