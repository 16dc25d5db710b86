"""Features in whose space a kernel is the plain inner product."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

__all__ = ["whiten"]

Floats = NDArray[np.float64]

# Directions of the kernel's space that are this much shorter than the longest, squared, are left out.
_RANK = 1e-10
# Eigenvalues this far below 0, as a share of the greatest, are no rounding.
_NEGATIVE = 1e-6


def whiten(table: Floats, rank: float = _RANK) -> tuple[Floats, Floats]:
    """Coordinates ``Z = V S^{1/2}`` of cases, with ``table = V S V' = Z Z'``.

    Parameters
    ----------
    table : ndarray of shape (n, n)
        Kernel values of all pairs.
    rank : float
        Eigenvalues below this share of the greatest are left out.

    Returns
    -------
    coordinates : ndarray of shape (n, r)
    back : ndarray of shape (n, r)
        ``V S^{-1/2}``: coordinates of other cases are their kernel values times this.

    Raises
    ------
    ValueError
        Values that are not finite, or the matrix is not positive semidefinite.
    """
    if not np.isfinite(table).all():
        raise ValueError(
            "the kernel gave values that are not finite: scale X, for instance by StandardScaler."
        )
    values, vectors = eigh(table)
    if values[-1] < 0 or values[0] < -_NEGATIVE * values[-1]:
        raise ValueError(
            f"the kernel matrix is not positive semidefinite (its eigenvalues go from {values[0]:.2g} to "
            f"{values[-1]:.2g}): take another kernel."
        )
    kept = values > rank * values[-1]
    root, vectors = np.sqrt(values[kept]), vectors[:, kept]
    return vectors * root, vectors / root
