"""Figures as whole numbers, so that sums are exact and equal sums are equal."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["IntegerScale", "as_integers", "fit_integers"]

# Costs and prices are mostly decimals of few places.
_MOST_DECIMALS = 9
# A product of two decimals differs from the decimal it stands for by its rounding.
_ROUNDING = 2.0**-50
# Figures that need more than this to become integers are next to nothing.
_MOST_DOUBLINGS = 900.0


class IntegerScale(NamedTuple):
    """How figures become integers: ``figure = integer * unit``, to the last bit where ``exact``."""

    scale: float
    divisor: int
    exact: bool

    @property
    def unit(self) -> float:
        """Figure that the integer 1 stands for."""
        return self.divisor / self.scale


def fit_integers(figures: ArrayLike, total: float, largest: int) -> IntegerScale:
    """Find integers for figures of which sums up to ``total`` are formed.

    Decimals of up to nine places become integers without any loss where ``total`` then stays below
    ``largest``. Others are rounded to multiples of a power of two, as fine as ``largest`` allows.
    """
    values = np.asarray(figures, dtype=np.float64)
    size = float(np.abs(values).max(initial=0.0))
    if size == 0.0:
        return IntegerScale(1.0, 1, True)
    for places in range(_MOST_DECIMALS + 1):
        scale = 10.0**places
        if size * scale > 2.0**53:
            break
        whole = np.rint(values * scale)
        if (np.abs(whole / scale - values) <= _ROUNDING * np.abs(values)).all():
            divisor = int(np.gcd.reduce(np.abs(whole).astype(np.int64), axis=None))
            if total * scale / divisor <= largest:
                return IntegerScale(scale, divisor, True)
            break
    scale = 2.0 ** min(np.floor(np.log2(largest) - np.log2(max(total, size)) - 1.0), _MOST_DOUBLINGS)
    whole = values * scale
    return IntegerScale(float(scale), 1, bool((np.rint(whole) == whole).all()))


def as_integers(figures: ArrayLike, scale: IntegerScale) -> NDArray[np.int64]:
    """Convert figures to the integers of a scale."""
    whole = np.rint(np.asarray(figures, dtype=np.float64) * scale.scale).astype(np.int64)
    return whole // scale.divisor
