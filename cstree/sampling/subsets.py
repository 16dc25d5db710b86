"""The multi-subset scheme: several training sets in which all rare cases meet a part of the others."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["deal_subsets"]


def deal_subsets(
    minority: NDArray[np.intp], majority: NDArray[np.intp], odds: float, rng: np.random.Generator
) -> list[NDArray[np.intp]]:
    """Deal a table of two classes into subsets in which they stand in given odds (Chan and Stolfo, 1998).

    From shares ``x : y`` to ``u : v`` there are ``k = (y / x) (u / v)`` subsets. Each has all minority
    cases and ``N_x v / u`` of the majority, which the subsets partition.

    Parameters
    ----------
    minority, majority : ndarray of int
        Rows of the two classes; neither is empty.
    odds : float
        Minority cases per majority case in each subset, ``u / v``; positive.
    rng : Generator
        Source of randomness.

    Returns
    -------
    list of ndarray of int
        Sorted rows of each subset. Where ``k`` is no whole number, the majority is dealt in ``round(k)``
        parts, and each part is cut or filled up from the others to its size. Where it is 1 or less, one
        subset has the whole majority and ``N_y u / v`` minority cases.

    Examples
    --------
    >>> import numpy as np
    >>> parts = deal_subsets(np.arange(20), np.arange(20, 100), 1.0, np.random.default_rng(0))
    >>> [len(part) for part in parts], len(np.unique(np.concatenate(parts)))
    ([40, 40, 40, 40], 100)
    """
    n_subsets = len(majority) / len(minority) * odds
    if n_subsets <= 1:
        size = int(np.clip(round(len(majority) * odds), 1, len(minority)))
        return [np.sort(np.concatenate([rng.choice(minority, size, replace=False), majority]))]
    shuffled = rng.permutation(majority)
    size = int(np.clip(round(len(minority) / odds), 1, len(majority)))
    n_parts = max(1, round(n_subsets))
    parts = [_fill(shuffled, np.arange(start, len(shuffled), n_parts), size, rng) for start in range(n_parts)]
    return [np.sort(np.concatenate([minority, part])) for part in parts]


def _fill(
    rows: NDArray[np.intp], dealt: NDArray[np.intp], size: int, rng: np.random.Generator
) -> NDArray[np.intp]:
    """Cut a part to its size, or fill it up from the rows that were not dealt to it."""
    if len(dealt) >= size:
        return rows[rng.choice(dealt, size, replace=False)]
    rest = np.setdiff1d(np.arange(len(rows)), dealt)
    return rows[np.concatenate([dealt, rng.choice(rest, size - len(dealt), replace=False)])]
