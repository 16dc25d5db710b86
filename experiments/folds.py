"""Stratified folds and samples whose seeds depend on set, repeat and fold only, never on the method."""

from __future__ import annotations

import zlib

import numpy as np
from numpy.typing import NDArray

__all__ = ["fold_numbers", "generator", "stratified_sample"]

Rows = NDArray[np.intp]


def generator(seed: int, name: str, *numbers: int) -> np.random.Generator:
    """Random numbers of a set, and of a repeat and a fold of it.

    As in all of numpy's seeds, zeros at the end do not count: fold 0 has the stream of its repeat.
    """
    return np.random.default_rng([seed, zlib.crc32(name.encode()), *numbers])


def fold_numbers(y: NDArray[np.integer], folds: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Fold of each case: each class is shuffled and dealt out, where the last class ended.

    Fold sizes, and the counts of each class in them, differ by at most one.
    """
    result = np.empty(len(y), dtype=np.int64)
    start = 0
    for label in np.unique(y):
        rows = rng.permutation(np.flatnonzero(y == label))
        result[rows] = (start + np.arange(len(rows))) % folds
        start += len(rows)
    return result


def stratified_sample(y: NDArray[np.integer], size: int | None, rng: np.random.Generator) -> Rows:
    """Positions, ascending, of ``size`` cases in which classes keep their shares; all if there are fewer.

    Every class keeps at least one case, so the sample may hold a few more than ``size``.
    """
    if size is None or len(y) <= size:
        return np.arange(len(y))
    drawn = []
    for label in np.unique(y):
        rows = np.flatnonzero(y == label)
        count = max(1, round(size * len(rows) / len(y)))
        drawn.append(rng.permutation(rows)[:count])
    return np.sort(np.concatenate(drawn))
