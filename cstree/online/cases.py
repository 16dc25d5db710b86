"""Cases as dictionaries, one at a time: what the adapters for river need besides river."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cstree.metrics.answers import named_costs

__all__ = ["Case", "labels_of", "least", "no_number", "numbers_of", "squared_length"]

Case = dict[Any, Any]


def squared_length(x: Case) -> float:
    """Give ``||x||^2``.

    Parameters
    ----------
    x : mapping of feature to number

    Returns
    -------
    float

    Raises
    ------
    TypeError
        A feature holds no number.
    ValueError
        A feature is NaN or infinite.
    """
    square = 0.0
    try:
        for value in x.values():
            square += value * value
    except TypeError as error:
        raise no_number(x) from error
    if not math.isfinite(square):
        name = next((name for name, value in x.items() if not math.isfinite(value)), None)
        raise ValueError(f"feature {name!r} is not finite: impute it, or leave it out of the case.")
    return square


def numbers_of(x: Case) -> Case:
    """Give the part of a case that holds numbers."""
    return {name: value for name, value in x.items() if isinstance(value, (int, float, np.number))}


def no_number(x: Case) -> TypeError:
    """Make the error that names the first feature which holds no number."""
    name = next(iter(x.keys() - numbers_of(x).keys()), None)
    return TypeError(
        f"feature {name!r} holds {x.get(name)!r}, which is no number: put a transformer before the "
        "classifier, such as river.preprocessing.OneHotEncoder."
    )


def labels_of(costs: Any) -> tuple[list[Any], NDArray[np.float64] | None]:
    """Read the classes and the matrix of costs.

    Parameters
    ----------
    costs : CostModel or None

    Returns
    -------
    labels : list
        Empty where the costs name none; ``False`` and ``True`` for a matrix of two without names.
    matrix : ndarray of shape (K, K) or None

    Raises
    ------
    ValueError
        There are more than two classes without names.
    """
    classes, matrix = named_costs(costs)
    if classes is None and matrix is not None:
        if len(matrix) != 2:
            raise ValueError(
                "a stream does not show its classes at once: name them, CostModel(..., classes=[...])."
            )
        classes = (False, True)
    return list(classes or ()), matrix


def least(cap: float, loss: float, square: float) -> float:
    """Give ``min(cap, l / ||x||^2)``."""
    return loss / square if loss < cap * square else cap
