"""Rows of a table as the kernels read them: dense or sparse, never one made into the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

__all__ = ["Rows"]

# Cells that are made float64 at a time where a product asks for it.
BLOCK = 1 << 22


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows end to end.

    Attributes
    ----------
    matrix : ndarray or CSR matrix of shape (n, d)
        Float32 or float64.
    data : ndarray
        Its cells, or its stored entries.
    indices : ndarray of int32 or int64
        Column of each entry; empty for a dense matrix.
    indptr : ndarray of shape (n + 1,), int64
        Where rows begin in ``data``.
    """

    matrix: Any
    data: NDArray[Any]
    indices: NDArray[Any]
    indptr: NDArray[np.int64]

    @classmethod
    def of(cls, matrix: Any) -> Rows:
        """Take a C-contiguous array, or a CSR matrix, without copying it.

        Parameters
        ----------
        matrix : ndarray or CSR matrix of shape (n, d)

        Returns
        -------
        Rows
        """
        if not issparse(matrix):
            indptr = np.arange(len(matrix) + 1, dtype=np.int64) * matrix.shape[1]
            return cls(matrix, *map(_read_only, (matrix.reshape(-1), np.empty(0, dtype=np.int32), indptr)))
        if not matrix.has_canonical_format:
            matrix = matrix.copy()
            matrix.sum_duplicates()
        small = matrix.shape[1] <= np.iinfo(np.int32).max
        indices = matrix.indices.astype(np.int32 if small else np.int64, copy=False)
        if len(indices) == 0:  # to the kernels, no indices would say that the rows are dense
            indices = np.zeros(1, dtype=np.int32)
        indptr = matrix.indptr.astype(np.int64, copy=False)
        return cls(matrix, *map(_read_only, (matrix.data, indices, indptr)))

    @property
    def n_features(self) -> int:
        """Number of columns, d."""
        return int(self.matrix.shape[1])

    def __len__(self) -> int:
        return int(self.matrix.shape[0])

    def part(self, rows: slice) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.int64]]:
        """Give the arrays of some rows in the order in which kernels take them."""
        return self.data, self.indices, self.indptr[rows.start : rows.stop + 1]

    def times(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Score rows by weights of shape (m, d + 1), the intercepts last; shape (n, m)."""
        slope = weights[:, :-1].T
        if issparse(self.matrix):
            return np.asarray(self.matrix @ slope + weights[:, -1])
        scores = np.empty((len(self), len(weights)))
        step = max(1, BLOCK // max(1, self.n_features))
        for start in range(0, len(self), step):
            np.matmul(self.matrix[start : start + step], slope, out=scores[start : start + step])
        return scores + weights[:, -1]


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    """View an array as what kernels are compiled for, whether its owner may write to it or not."""
    view = array.view()
    view.flags.writeable = False
    return view
