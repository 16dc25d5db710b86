"""Cut points of numeric columns, and the codes they give."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cstree.encoding._kernels import add_distinct, encode_columns, find_cuts, lay_grids
from cstree.encoding.columns import Columns

__all__ = ["CutGrids", "infer_cuts"]

Array = NDArray[np.float64]

# Quantiles of more rows than this are taken from a sample: their error is far below a bin.
_SAMPLE = 200_000
# Values sorted at a time, over all columns of a group.
_GROUP = 1 << 21
_BLOCK = 65_536


def infer_cuts(columns: Columns, features: Sequence[int], max_bins: int | None) -> list[tuple[Array, bool]]:
    """Learn the cut points of numeric columns.

    Parameters
    ----------
    columns : Columns
    features : sequence of int
        Positions of numeric columns.
    max_bins : int or None
        At most so many bins, cut near the quantiles; None: a cut between every two neighbouring values.

    Returns
    -------
    list of (ndarray of shape (n_cuts,), bool)
        Increasing cuts of each column, and whether it has missing values.

    Raises
    ------
    ValueError
        A column holds an infinite value, or something that is not a number.
    """
    n = columns.n_samples
    rows = None if max_bins is None or n <= _SAMPLE else _sample_rows(n)
    m = n if rows is None else len(rows)
    size = max(_GROUP // max(m, 1), 8)
    found: list[tuple[Array, bool]] = []
    for start in range(0, len(features), size):
        group = features[start : start + size]
        ordered = columns.gather(group, rows)
        ordered.sort(axis=1)
        _refuse_infinity(columns, group, ordered)
        found.extend(_cuts_of_group(columns, group, ordered, max_bins, rows is not None))
    return found


def _sample_rows(n: int) -> NDArray[np.int64]:
    """One row out of each of many equal stretches: ascending, so that memory is read forwards."""
    jitter = np.random.default_rng(0).random(_SAMPLE)
    rows = ((np.arange(_SAMPLE) + jitter) * (n / _SAMPLE)).astype(np.int64)
    return np.minimum(rows, n - 1)


def _cuts_of_group(
    columns: Columns, group: Sequence[int], ordered: Array, max_bins: int | None, sampled: bool
) -> Iterator[tuple[Array, bool]]:
    m = ordered.shape[1]
    most = m + 1 if max_bins is None else max_bins
    cuts = np.empty((len(group), max(min(most, m) - 1, 0)))
    counts = np.empty((len(group), 3), dtype=np.int64)
    find_cuts(ordered, most, cuts, counts)
    clean = columns.sums_are_finite(group) if sampled else np.zeros(len(group), dtype=np.bool_)
    for k, j in enumerate(group):
        n_cuts, n_present, n_distinct = counts[k].tolist()
        own = cuts[k, :n_cuts].copy()
        missing = n_present < m
        if sampled:
            missing = not clean[k] and _check_whole(columns, j)
            if n_distinct <= most:
                own = _cuts_of_all_values(columns, j, most, own)
        yield own, missing


def _check_whole(columns: Columns, j: int) -> bool:
    """Whether a column has missing values; infinity is an error."""
    values = columns.numeric(j)
    if np.isinf(values).any():
        raise ValueError(_infinite(columns.names[j]))
    return bool(np.isnan(values).any())


def _cuts_of_all_values(columns: Columns, j: int, max_bins: int, of_sample: Array) -> Array:
    """Cuts between all distinct values of a column, or those of the sample if they are too many."""
    values = columns.numeric(j)
    known = np.empty(max_bins)
    n_known = 0
    for start in range(0, len(values), _BLOCK):
        block = np.ascontiguousarray(values[start : start + _BLOCK], dtype=np.float64)
        n_known = add_distinct(block, known, n_known)
        if n_known > max_bins:
            return of_sample
    cuts = np.empty((1, max(n_known - 1, 0)))
    find_cuts(known[None, :n_known], max_bins, cuts, np.empty((1, 3), dtype=np.int64))
    return cuts[0]


def _refuse_infinity(columns: Columns, group: Sequence[int], ordered: Array) -> None:
    if ordered.shape[1] == 0:
        return
    infinite = np.isinf(ordered[:, 0])
    highest = np.fmax.reduce(ordered[:, -1:], axis=1)
    infinite |= np.isinf(highest)
    for k in np.flatnonzero(np.isnan(highest)).tolist():
        infinite[k] |= bool(np.isinf(ordered[k]).any())
    if infinite.any():
        raise ValueError(_infinite(columns.names[group[int(np.flatnonzero(infinite)[0])]]))


def _infinite(name: str) -> str:
    return (
        f"Feature {name!r} contains infinity: a cut point cannot be placed beside it. "
        "Replace infinite values by a large number or by NaN (missing)."
    )


class CutGrids:
    """Cuts of numeric features, laid out for encoding.

    Parameters
    ----------
    cuts : sequence of ndarray
        Increasing cuts of each feature.
    """

    def __init__(self, cuts: Sequence[Array]) -> None:
        n_cuts = np.array([len(own) for own in cuts], dtype=np.int64)
        # Cells outnumber cuts, but the tables of a feature stay in the fastest cache where they can.
        n_cells = np.clip(4 << np.ceil(np.log2(n_cuts + 1)).astype(np.int64), 16, 1 << 16)
        self._features = np.zeros((len(cuts), 5), dtype=np.int64)
        self._features[:, 1] = n_cuts
        self._features[:, 3] = n_cells
        # Behind the cuts of a feature: as many infinities as a search may look at.
        spare = np.maximum(1 << np.ceil(np.log2(n_cuts + 2)).astype(np.int64), 256)
        self._features[1:, 0] = np.cumsum(n_cuts + spare)[:-1]
        self._features[1:, 2] = np.cumsum(n_cells)[:-1]
        self._cuts = np.full(int((n_cuts + spare).sum()), np.inf)
        for first, own in zip(self._features[:, 0].tolist(), cuts, strict=True):
            self._cuts[first : first + len(own)] = own
        self._scales = np.zeros((len(cuts), 2))
        self._grid = np.empty(int(n_cells.sum()), dtype=np.uint32)
        lay_grids(self._cuts, self._features, self._scales, self._grid)

    def encode(
        self, columns: Columns, features: Sequence[int], codes: NDArray[np.unsignedinteger[Any]]
    ) -> None:
        """Write the codes of numeric columns.

        Parameters
        ----------
        columns : Columns
        features : sequence of int
            Column of each feature, and its row in ``codes``.
        codes : ndarray of shape (n_features, n_samples), unsigned integer
            Changed.
        """
        of = np.array(features, dtype=np.int64)
        flat = columns.flat()
        if flat is not None:
            self._encode(flat[0], flat[1], flat[2], columns.n_samples, 0, np.column_stack([of, of]), codes)
            return
        places = np.column_stack([np.arange(len(of)), of])
        for start, stop, values in columns.blocks(features):
            whole = values.base if values.base is not None else values
            self._encode(whole.ravel(), 1, whole.shape[1], stop - start, start, places, codes)

    def _encode(
        self,
        flat: Array,
        row_stride: int,
        column_stride: int,
        n: int,
        first: int,
        places: NDArray[np.int64],
        codes: NDArray[np.unsignedinteger[Any]],
    ) -> None:
        encode_columns(
            flat, row_stride, column_stride, n, first, places,
            self._cuts, self._features, self._scales, self._grid, codes,
        )  # fmt: skip
