"""Names and numbers as people shall see them, on one line and with the digits they need."""

from __future__ import annotations

import json
import math
import re
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cstree.costs.bound import BoundCosts
from cstree.encoding.schema import Feature

__all__ = [
    "cost_decimals",
    "shown_categories",
    "shown_cost",
    "shown_label",
    "shown_name",
    "shown_number",
]

# Characters that break a line, reverse the text around them, or cannot be encoded.
_UNSHOWABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def shown_name(name: str) -> str:
    r"""Return a name as it is shown to people, always on one line.

    Names stand as they are. One that holds line breaks or other control characters is put in
    quotes with escapes, ``"two\nlines"``, and so is an empty one.
    """
    if name and not _UNSHOWABLE.search(name):
        return name
    quoted = json.dumps(name, ensure_ascii=False)
    return _UNSHOWABLE.sub(lambda found: f"\\u{ord(found.group()):04x}", quoted)


def shown_label(label: Any) -> str:
    """Return a class label or a category as it is shown to people."""
    return shown_name(str(label))


def shown_cost(value: float | None, decimals: int = 2) -> str:
    """Return a cost with a fixed number of decimals; a small cost never reads as 0."""
    if value is None or math.isnan(value):
        return "-"
    text = f"{value:.{decimals}f}"
    if value and not float(text):
        return f"{value:.{max(decimals, 1)}g}"
    return text.removeprefix("-") if not float(text) else text


def cost_decimals(costs: BoundCosts, decimals: int | None = None) -> int:
    """Return how many decimals costs are shown with.

    Parameters
    ----------
    costs : BoundCosts
    decimals : int, optional
        What the user wants. By default 2, and more where mistakes cost less than 10: averages of many
        cases must not all read as 0.01.

    Returns
    -------
    int

    Raises
    ------
    ValueError
        It is negative.
    """
    if decimals is None:
        dearest = max(float(costs.regrets.max(initial=0.0)), float(costs.prices.max(initial=0.0)))
        return max(2, 3 - math.floor(math.log10(dearest))) if dearest > 0 else 2
    if decimals < 0:
        raise ValueError(f"decimals must be 0 or more, or None; got {decimals}.")
    return decimals


def shown_number(value: float, others: ArrayLike = (), decimals: int = 2) -> str:
    """Return a threshold with as few digits as tell it from the other cuts.

    Parameters
    ----------
    value : float
        The threshold.
    others : array-like of float
        Cuts of the same feature. The text stays within a hundredth of the way to the nearest of them.
    decimals : int, default=2
        Decimals to begin with; trailing zeros go.

    Returns
    -------
    str
        Shortest text that is near enough.
    """
    cuts = np.asarray(others, dtype=np.float64)
    gaps = np.abs(cuts[cuts != value] - value)
    gap = float(gaps.min()) if len(gaps) else abs(value)
    before_point = max(math.floor(math.log10(abs(value))) + 1, 0) if value else 0
    for digits in range(max(before_point + decimals, 1), 17):
        text = f"{value:.{digits}g}"
        if abs(float(text) - value) <= 0.01 * gap:
            return text
    return repr(value)


def shown_categories(feature: Feature) -> list[str]:
    """Return the categories of a feature as they are shown; alike ones (1 and "1") in Python's spelling."""
    shown = [shown_label(value) for value in feature.categories]
    if len(set(shown)) < len(shown):
        return [shown_name(repr(value)) for value in feature.categories]
    return [
        json.dumps(text, ensure_ascii=False) if re.search(r"^\s|\s$|[,{}]", text) else text for text in shown
    ]
