"""Products with a table, dense or sparse, which is never copied as a whole, nor one kind made the other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

__all__ = [
    "combine",
    "cross_products",
    "kernel_table",
    "scores",
    "squares",
    "take",
    "weighted_products",
    "weighted_squares",
]

Floats = NDArray[np.float64]

# Cells that are made float64, or scaled, at a time: they stay in the processor's cache.
_CELLS = 1 << 16


def _blocks(X: Any) -> Iterator[tuple[slice, Floats]]:
    """Rows of a table, some at a time, as float64 arrays."""
    n, d = X.shape
    step = max(1, _CELLS // max(1, d))
    for start in range(0, n, step):
        rows = slice(start, min(start + step, n))
        block = X[rows]
        yield rows, block.toarray() if issparse(X) else block.astype(np.float64, copy=False)


def scores(X: Any, w: Floats) -> Floats:
    """``X w``, shape (n,)."""
    if X.dtype == np.float64 or issparse(X):
        return np.asarray(X @ w)
    result = np.empty(X.shape[0])
    for rows, block in _blocks(X):
        np.matmul(block, w, out=result[rows])
    return result


def combine(X: Any, c: Floats) -> Floats:
    """``X' c``, shape (d,)."""
    if X.dtype == np.float64 or issparse(X):
        return np.asarray(X.T @ c)
    result = np.zeros(X.shape[1])
    for rows, block in _blocks(X):
        result += c[rows] @ block
    return result


def take(X: Any, rows: NDArray[np.intp]) -> Any:
    """Make a table of some rows, in float64."""
    part = X[rows] if issparse(X) else np.take(X, rows, axis=0)
    return part.astype(np.float64, copy=False)


def squares(X: Any) -> Floats:
    """``||x_i||^2``, shape (n,)."""
    if issparse(X):
        X = X.astype(np.float64, copy=False)
        return np.asarray(X.multiply(X).sum(axis=1)).ravel()
    return np.concatenate([np.einsum("ij,ij->i", block, block) for _, block in _blocks(X)])


def weighted_squares(X: Any, weight: Floats) -> Floats:
    """``sum_i weight_i x_ij^2``, shape (d,)."""
    if issparse(X):
        return np.asarray(X.multiply(X).T @ weight)
    result = np.zeros(X.shape[1])
    for rows, block in _blocks(X):
        result += weight[rows] @ (block * block)
    return result


def weighted_products(X: Any, weight: Floats) -> Floats:
    """``Z' diag(weight) Z``, ``Z`` being ``X`` with a last column of ones; shape (d + 1, d + 1)."""
    d = X.shape[1]
    result = np.zeros((d + 1, d + 1))
    root = np.sqrt(weight)
    buffer = np.empty((max(1, _CELLS // max(1, d)), d + 1))
    for rows, block in _blocks(X):
        scaled = buffer[: len(block)]
        np.multiply(block, root[rows, None], out=scaled[:, :-1])
        scaled[:, -1] = root[rows]
        result += scaled.T @ scaled
    return result


def cross_products(X: Any) -> Floats:
    """``X X'`` of a table of few rows, shape (n, n)."""
    if issparse(X):
        return np.asarray((X @ X.T).toarray(), dtype=np.float64)
    X = X.astype(np.float64, copy=False)
    return np.asarray(X @ X.T)


def kernel_table(X: Any) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.int64]]:
    """Rows as the kernels take them: ``(values, columns, starts)``; an array is copied unless it is C."""
    if not issparse(X):
        return np.ascontiguousarray(X).reshape(-1), np.empty(0, np.int32), np.empty(0, np.int64)
    small = X.shape[1] <= np.iinfo(np.int32).max
    columns = X.indices.astype(np.int32 if small else np.int64, copy=False)
    return X.data, columns, X.indptr.astype(np.int64, copy=False)
