"""Settings, labels and costs as users hand them in."""

from __future__ import annotations

import dataclasses
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cstree.costs.bound import BoundCosts
from cstree.costs.model import CostModel

__all__ = ["bind", "known_positions", "positive_number"]


def positive_number(value: Any, name: str) -> float:
    """Check a setting that is a positive number.

    Parameters
    ----------
    value : object
        What was given.
    name : str
        Name of the setting.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        It is something else.
    """
    if not isinstance(value, Real) or isinstance(value, bool) or not np.isfinite(float(value)):
        raise ValueError(f"{name} must be a number; got {value!r}.")
    if value <= 0:
        raise ValueError(f"{name} must be greater than 0; got {value!r}.")
    return float(value)


def known_positions(y: Any, classes: NDArray[Any]) -> NDArray[np.int32] | None:
    """Class indices of an array of labels, without sorting it; None where this takes a closer look.

    Parameters
    ----------
    y : object
        What was given as labels.
    classes : ndarray of shape (n_classes,)
        Sorted.

    Returns
    -------
    ndarray of shape (n,) or None
    """
    if (
        not isinstance(y, np.ndarray)
        or y.ndim != 1
        or y.dtype.kind not in "biuU"
        or y.dtype.kind != classes.dtype.kind
    ):
        return None
    index = np.searchsorted(classes, y)
    index[index == len(classes)] = 0
    return index.astype(np.int32) if (classes[index] == y).all() else None


def bind(model: CostModel, names: tuple[str, ...], classes: list[Any]) -> BoundCosts:
    """Bind costs to a table; where no test has a price, a million columns are not looked at one by one.

    Parameters
    ----------
    model : CostModel
    names : tuple of str
        The table's columns.
    classes : list
        Class labels.

    Returns
    -------
    BoundCosts
    """
    if model.tests is not None:
        return model.bind(names, classes, stacklevel=6)
    return dataclasses.replace(
        model.bind((), classes),
        feature_names=names,
        step_start=np.zeros(len(names) + 1, dtype=np.int32),
        test_names=("",) * len(names),
    )
