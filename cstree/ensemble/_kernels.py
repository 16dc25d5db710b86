"""Errors of pools of classifiers, and what the cases that they answer pay for tests."""

from __future__ import annotations

import numpy as np

from cstree._numba import kernel

# Members whose sums stay in the cache while a word of cases is added to them.
_BLOCK = 1024


@kernel
def sum_wrong(words, weight, class_start, errors):  # type: ignore[no-untyped-def]
    """Sum, by class, the weight of the cases that each member of a pool gets wrong.

    Of every eight cases all 256 sums are made once; a member then looks one up.

    Parameters
    ----------
    words : uint64 (n_words, n_members)
        Bit ``b`` of ``words[w, k]``: member ``k`` is wrong about case ``64 w + b``.
    weight : float64 (64 * n_words,)
        Cases in the order of the bits; 0 where there is no case.
    class_start : int64 (n_classes + 1,)
        First word of each class.
    errors : float64 (n_classes, n_members), filled
    """
    sums = np.empty((8, 256))
    for c in range(errors.shape[0]):
        errors[c] = 0.0
    for first in range(0, words.shape[1], _BLOCK):
        last = min(first + _BLOCK, words.shape[1])
        for c in range(errors.shape[0]):
            own = errors[c]
            for w in range(class_start[c], class_start[c + 1]):
                for byte in range(8):
                    sums[byte, 0] = 0.0
                    for bit in range(8):
                        more = weight[64 * w + 8 * byte + bit]
                        for s in range(1 << bit):
                            sums[byte, (1 << bit) + s] = sums[byte, s] + more
                row = words[w]
                for k in range(first, last):
                    word = row[k]
                    low = sums[0, word & np.uint64(255)] + sums[1, (word >> np.uint64(8)) & np.uint64(255)]
                    low += (
                        sums[2, (word >> np.uint64(16)) & np.uint64(255)]
                        + sums[3, (word >> np.uint64(24)) & np.uint64(255)]
                    )
                    high = (
                        sums[4, (word >> np.uint64(32)) & np.uint64(255)]
                        + sums[5, (word >> np.uint64(40)) & np.uint64(255)]
                    )
                    high += sums[6, (word >> np.uint64(48)) & np.uint64(255)] + sums[7, word >> np.uint64(56)]
                    own[k] += low + high


@kernel
def pay_steps(rows, profile, start, steps, prices, paid, total):  # type: ignore[no-untyped-def]
    """Let cases pay for the steps that they have not paid before.

    Parameters
    ----------
    rows : int64 (m,)
        The cases.
    profile : int64 (n,)
        Which list of entries each case buys.
    start : int64 (n_profiles + 1,)
        First entry of each list.
    steps : int64 (n_entries,)
    prices : float64 (n_entries,)
    paid : bool (n, n_steps), changed
    total : float64 (n,), changed
    """
    for i in range(rows.shape[0]):
        row = rows[i]
        for e in range(start[profile[row]], start[profile[row] + 1]):
            if not paid[row, steps[e]]:
                paid[row, steps[e]] = True
                total[row] += prices[e]
