"""Turn raw values into small integer codes, and codes into bit sets."""

from __future__ import annotations

import numpy as np

from cstree._numba import kernel


@kernel
def gather_columns(flat, row_stride, column_stride, rows, columns, result):  # type: ignore[no-untyped-def]
    """Copy some columns of some rows of a table, column by column.

    Parameters
    ----------
    flat : float64
        Cell ``(i, j)`` of the table stands at ``i * row_stride + j * column_stride``.
    row_stride, column_stride : int
    rows : int64 (m,)
    columns : int64 (k,)
    result : float64 (k, m), filled
    """
    for first in range(0, rows.shape[0], 128):
        last = min(first + 128, rows.shape[0])
        for k in range(columns.shape[0]):
            offset = columns[k] * column_stride
            for i in range(first, last):
                result[k, i] = flat[rows[i] * row_stride + offset]


@kernel
def find_cuts(ordered, most_bins, cuts, counts):  # type: ignore[no-untyped-def]
    """Place cut points between neighbouring values, or those nearest to the quantiles.

    Parameters
    ----------
    ordered : float64 (k, m)
        Each row in ascending order, NaN last.
    most_bins : int
        At most so many bins: with more distinct values, the cuts nearest to the quantiles
        ``1 / most_bins, 2 / most_bins, ...`` are taken.
    cuts : float64 (k, most cuts), filled
    counts : int64 (k, 3), filled
        Cuts, values that are not NaN, and distinct values (counted up to ``most_bins + 1``).
    """
    for k in range(ordered.shape[0]):
        values = ordered[k]
        n = _first_nan(values)
        distinct = min(n, 1)
        i = 1
        while i < n and distinct <= most_bins:
            distinct += values[i] > values[i - 1]
            i += 1
        n_cuts = 0
        if distinct <= most_bins:
            for i in range(1, n):
                if values[i] > values[i - 1]:
                    cuts[k, n_cuts] = _middle(values[i - 1], values[i])
                    n_cuts += 1
        else:
            previous = -1
            for part in range(1, most_bins):
                step = _nearest_step(values, n, part * (n / most_bins) - 1.0)
                if step != previous:
                    cuts[k, n_cuts] = _middle(values[step], values[step + 1])
                    n_cuts += 1
                previous = step
        counts[k, 0] = n_cuts
        counts[k, 1] = n
        counts[k, 2] = distinct


@kernel
def _first_nan(values):  # type: ignore[no-untyped-def]
    low, high = 0, values.shape[0]
    while low < high:
        middle = (low + high) // 2
        if np.isnan(values[middle]):
            high = middle
        else:
            low = middle + 1
    return low


@kernel
def _nearest_step(values, n, wanted):  # type: ignore[no-untyped-def]
    """Position ``i`` with ``values[i] < values[i + 1]`` nearest to ``wanted``, the greater on a tie."""
    at = min(max(np.int64(np.ceil(wanted)), 0), n - 1)
    value = values[at]
    below = _lower_bound(values, at, value) - 1
    low, high = at, n
    while low < high:
        middle = (low + high) // 2
        if values[middle] <= value:
            low = middle + 1
        else:
            high = middle
    above = low - 1
    if above == n - 1 or (below >= 0 and wanted - below < above - wanted):
        return below
    return above


@kernel
def _lower_bound(values, n, value):  # type: ignore[no-untyped-def]
    """Count values below ``value`` among the first ``n`` in ascending order."""
    low, high = 0, n
    while low < high:
        middle = (low + high) // 2
        if values[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def _middle(left, right):  # type: ignore[no-untyped-def]
    """Midpoint; ``left`` where rounding carries it outside ``[left, right)``: it separates the two."""
    middle = left / 2 + right / 2
    return middle if left <= middle < right else left


@kernel
def add_distinct(values, known, n_known):  # type: ignore[no-untyped-def]
    """Insert values that are not NaN and not yet known; return how many are known.

    Parameters
    ----------
    values : float64 (n,)
    known : float64 (capacity,), changed
        The first ``n_known`` ascend. When they would exceed the capacity, capacity + 1 is returned.
    n_known : int
    """
    last = np.nan
    for i in range(values.shape[0]):
        value = values[i]
        if value == last or np.isnan(value):
            continue
        last = value
        at = _lower_bound(known, n_known, value)
        if at < n_known and known[at] == value:
            continue
        if n_known == known.shape[0]:
            return n_known + 1
        for j in range(n_known, at, -1):
            known[j] = known[j - 1]
        known[at] = value
        n_known += 1
    return n_known


@kernel
def _cell(value, low, scale, n_cells):  # type: ignore[no-untyped-def]
    """Cell of a value on an even grid; never descends as values ascend. NaN: cell 0."""
    position = (value - low) * scale
    position = position if position > 0.0 else 0.0
    # The mask changes nothing, but tells the compiler that no index is negative.
    return np.int64(min(position, n_cells - 1.0)) & 0xFFFFF


@kernel
def lay_grids(cuts, features, scales, grid):  # type: ignore[no-untyped-def]
    """Lay an even grid over the cuts of each feature: a table for the first guess at a code.

    Parameters
    ----------
    cuts : float64
        Cuts of all features, infinities behind each feature's.
    features : int64 (k, 5)
        First cut, number of cuts, first cell of ``grid``, number of cells; the last is filled: binary
        digits of the most cuts that share a cell.
    scales : float64 (k, 2), filled
        Lowest cut, cells per unit.
    grid : uint32, filled
        Number of cuts in lower cells.
    """
    for k in range(features.shape[0]):
        first, n, start, n_cells, _ = features[k]
        if n == 0:
            grid[start : start + n_cells] = 0
            continue
        low = cuts[first]
        extent = cuts[first + n - 1] - low
        scale = n_cells / extent if extent > 0.0 else 0.0
        scales[k, 0] = low
        scales[k, 1] = scale
        most = 0
        cut = 0
        for cell in range(n_cells):
            grid[start + cell] = cut
            while cut < n and _cell(cuts[first + cut], low, scale, n_cells) <= cell:
                cut += 1
            most = max(most, cut - grid[start + cell])
        digits = 0
        while most >> digits:
            digits += 1
        features[k, 4] = digits


@kernel
def _first_four_digits(cuts, base, value):  # type: ignore[no-untyped-def]
    """Narrow a search among 255 cuts from ``base`` on to 15.

    Comparisons are shifted and added: conditional sums would become unpredictable jumps.
    """
    base += np.int64(cuts[base + 127] < value) << 7
    base += np.int64(cuts[base + 63] < value) << 6
    base += np.int64(cuts[base + 31] < value) << 5
    return base + (np.int64(cuts[base + 15] < value) << 4)


@kernel
def _last_four_digits(cuts, base, value):  # type: ignore[no-untyped-def]
    """Search among the 15 cuts from ``base`` on."""
    base += np.int64(cuts[base + 7] < value) << 3
    base += np.int64(cuts[base + 3] < value) << 2
    return _last_two_digits(cuts, base, value)


@kernel
def _last_two_digits(cuts, base, value):  # type: ignore[no-untyped-def]
    """Search among the 3 cuts from ``base`` on."""
    base += np.int64(cuts[base + 1] < value) << 1
    return base + np.int64(cuts[base] < value)


@kernel
def encode_columns(flat, row_stride, column_stride, n, first, columns, cuts, features, scales, grid, codes):  # type: ignore[no-untyped-def]
    """Write the number of cuts below each value; NaN gets the code behind the last bin.

    ``codes[i] <= c`` holds exactly when ``values[i] <= cuts[c]``. The grid says how many cuts are
    certainly below; the few others of the cell are searched.

    Parameters
    ----------
    flat : float64
        Value ``i`` of column ``k`` stands at ``i * row_stride + columns[k, 0] * column_stride``.
    row_stride, column_stride, n : int
    first : int
        Case of the first row.
    columns : int64 (k, 2)
        Column of the table, row of ``codes``.
    cuts, features, scales, grid
        As in :func:`lay_grids`.
    codes : unsigned integer (n_features, n_samples), filled
    """
    for block in range(0, n, 1024):
        end = min(block + 1024, n)
        for k in range(columns.shape[0]):
            offset, row = columns[k, 0] * column_stride, columns[k, 1]
            start, n_cuts, grid_start, n_cells, digits = features[k]
            low, scale = scales[k, 0], scales[k, 1]
            own, guess = cuts[start:], grid[grid_start:]
            if digits <= 2:
                for i in range(block, end):
                    value = flat[i * row_stride + offset]
                    base = np.int64(guess[_cell(value, low, scale, n_cells)])
                    base = _last_two_digits(own, base, value)
                    codes[row, first + i] = n_cuts + 1 if np.isnan(value) else base
            elif digits <= 4:
                for i in range(block, end):
                    value = flat[i * row_stride + offset]
                    base = np.int64(guess[_cell(value, low, scale, n_cells)])
                    base = _last_four_digits(own, base, value)
                    codes[row, first + i] = n_cuts + 1 if np.isnan(value) else base
            elif digits <= 8:
                for i in range(block, end):
                    value = flat[i * row_stride + offset]
                    base = np.int64(guess[_cell(value, low, scale, n_cells)])
                    base = _first_four_digits(own, base, value)
                    base = _last_four_digits(own, base, value)
                    codes[row, first + i] = n_cuts + 1 if np.isnan(value) else base
            else:
                for i in range(block, end):
                    value = flat[i * row_stride + offset]
                    base = np.int64(guess[_cell(value, low, scale, n_cells)])
                    for digit in range(digits - 1, -1, -1):
                        base += np.int64(own[base + (1 << digit) - 1] < value) << digit
                    codes[row, first + i] = n_cuts + 1 if np.isnan(value) else base


@kernel
def pack_codes(codes, position, row_of_code, words):  # type: ignore[no-untyped-def]
    """Set the bit of every case in the row of its code.

    Parameters
    ----------
    codes : unsigned integer (n,)
        One feature's codes.
    position : int64 (n,)
        Bit index of each case.
    row_of_code : int64 (n_codes,)
        Row of ``words`` that belongs to a code; negative: none.
    words : uint64 (n_rows, n_words), filled
    """
    for i in range(codes.shape[0]):
        row = row_of_code[codes[i]]
        if row >= 0:
            bit = position[i]
            words[row, bit >> 6] |= np.uint64(1) << np.uint64(bit & 63)
