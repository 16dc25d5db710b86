"""How much accuracy counts beside cost in the score of SECSDT_MC."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["check_alpha", "heuristic_alpha"]


def heuristic_alpha(regret: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ``alpha = min_p L_S[p] / max_p L_S[p]`` of each node.

    Near 1 when all answers cost alike (accuracy leads), near 0 when the stakes are lopsided.

    Parameters
    ----------
    regret : ndarray of shape (n_nodes, n_classes)
        Cost of each answer at each node, as regrets (not negative).

    Returns
    -------
    ndarray of shape (n_nodes,)
        1 where all answers are free or there is one class.
    """
    most = regret.max(axis=1)
    priced = (most > 0) & (regret.shape[1] > 1)
    return np.divide(regret.min(axis=1), most, out=np.ones(len(regret)), where=priced)


def check_alpha(alpha: Any) -> float | None:
    """Return a fixed alpha as a float, None for the heuristic.

    Parameters
    ----------
    alpha : "heuristic" or number in [0, 1]

    Returns
    -------
    float or None

    Raises
    ------
    ValueError
        Anything else.
    """
    if isinstance(alpha, str) and alpha == "heuristic":
        return None
    if isinstance(alpha, Real) and not isinstance(alpha, bool) and 0 <= float(alpha) <= 1:
        return float(alpha)
    raise ValueError(
        f"alpha must be 'heuristic' or a number from 0 (cost alone) to 1 (gain alone); got {alpha!r}."
    )
