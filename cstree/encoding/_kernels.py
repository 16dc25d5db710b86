"""Turn raw values into small integer codes, and codes into bit sets."""

from __future__ import annotations

import numpy as np

from cstree._numba import kernel


@kernel
def bin_column(values, cuts, missing_code, codes):  # type: ignore[no-untyped-def]
    """Write the number of cuts below each value; NaN becomes ``missing_code``.

    ``codes[i] <= c`` holds exactly when ``values[i] <= cuts[c]``.

    Parameters
    ----------
    values : float64 (n,)
    cuts : float64 (m,), increasing
    missing_code : int
    codes : unsigned integer (n,), filled
    """
    n_cuts = cuts.shape[0]
    for i in range(values.shape[0]):
        value = values[i]
        if np.isnan(value):
            codes[i] = missing_code
            continue
        # Branch-free lower bound: the compiler turns the choice into a conditional move.
        base = 0
        length = n_cuts
        while length > 1:
            half = length >> 1
            base += half if cuts[base + half - 1] < value else 0
            length -= half
        if n_cuts > 0 and cuts[base] < value:
            base += 1
        codes[i] = base


@kernel
def pack_prefixes(codes, position, row_of_code, words):  # type: ignore[no-untyped-def]
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
