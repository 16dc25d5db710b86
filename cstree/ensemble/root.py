"""The weight of one weak learner: the root of the double-base equation."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from cstree.ensemble._search_kernels import find_root

__all__ = ["PERFECT", "integer_costs", "newton_root", "perfect_weight", "polynomial_root"]

# Errors up to this are those of a perfect learner: its weight is cut off there.
PERFECT = 1e-12
# Largest integer cost that the polynomial takes: its degree is twice that.
_GREATEST_INTEGER = 100


def perfect_weight(greatest_cost: float) -> float:
    """Weight of a learner without errors, ``ln((1 - 1e-12) / 1e-12) / (2 c_max)``."""
    return math.log((1 - PERFECT) / PERFECT) / (2 * greatest_cost)


def newton_root(p: float, q: float, equation: NDArray[np.float64]) -> float:
    """Weight alpha of a weak learner, for any positive costs.

    Root of ``F(alpha) = a [eps_P e^{C_P alpha} - (1 - eps_P) e^{-C_P alpha}] + b [eps_N e^{C_N alpha} - (1 -
    eps_N) e^{-C_N alpha}]``; negative for a learner that is wrong about more than half of the weight.

    Parameters
    ----------
    p, q : float
        Weight of the positive and of the negative cases that it gets wrong, ``a eps_P`` and ``b eps_N``.
    equation : ndarray of shape (4,)
        ``a, b, C_P, C_N``: the shares of the classes in the weight of the cases, and the costs.

    Returns
    -------
    float
        Cut off where less than 1e-12 of the weight is wrong, or right.

    Examples
    --------
    >>> import numpy as np
    >>> print(f"{newton_root(0.1, 0.1, np.array([0.5, 0.5, 1.0, 1.0])):.6f} = {np.log(0.8 / 0.2) / 2:.6f}")
    0.693147 = 0.693147
    """
    a, b, positive, negative = (float(value) for value in equation)
    if p + q <= PERFECT:
        return perfect_weight(max(positive, negative))
    if a + b - p - q <= PERFECT:
        return -perfect_weight(max(positive, negative))
    return float(find_root(p, q, (a, b, positive, negative)))


def integer_costs(positive: float, negative: float) -> tuple[int, int]:
    """Return the smallest integers in the ratio of the two costs.

    Parameters
    ----------
    positive, negative : float

    Returns
    -------
    (int, int)

    Raises
    ------
    ValueError
        The costs are not in the ratio of integers up to 100.
    """
    greater, lesser = max(positive, negative), min(positive, negative)
    ratio = Fraction(greater / lesser).limit_denominator(_GREATEST_INTEGER)
    u, v = ratio.numerator, ratio.denominator
    if u > _GREATEST_INTEGER or abs(u / v - greater / lesser) > 1e-9 * greater / lesser:
        raise ValueError(
            f"solver='poly' wants costs in the ratio of integers up to {_GREATEST_INTEGER}, got {positive:g} "
            f"to {negative:g}; solver='newton' takes any costs"
        )
    return (u, v) if positive >= negative else (v, u)


def polynomial_root(p: float, q: float, equation: NDArray[np.float64]) -> float:
    """Weight alpha as the published polynomial gives it: a slow reference, for integer ratios of costs.

    With ``x = e^alpha`` and integers ``C_P >= C_N`` the equation becomes ``a eps_P x^{2 C_P} + b eps_N
    x^{C_P + C_N} - b (1 - eps_N) x^{C_P - C_N} - a (1 - eps_P) = 0``: one change of sign, so exactly one
    positive root.

    Parameters
    ----------
    p, q, equation
        As in :func:`newton_root`.

    Returns
    -------
    float
        The same, for costs whose ratio is one of integers up to 100.
    """
    a, b, positive, negative = (float(value) for value in equation)
    if p + q <= PERFECT or a + b - p - q <= PERFECT:
        return newton_root(p, q, equation)
    if positive < negative:
        p, q, a, b = q, p, b, a
    high, low = sorted(integer_costs(positive, negative), reverse=True)
    coefficients = np.zeros(2 * high + 1)
    coefficients[0] += p
    coefficients[high - low] += q
    coefficients[high + low] -= b - q
    coefficients[2 * high] -= a - p
    roots = np.roots(coefficients)
    ahead = roots[roots.real > 0]
    x = float(ahead[np.abs(ahead.imag / ahead.real).argmin()].real)
    return math.log(x) * high / max(positive, negative)
