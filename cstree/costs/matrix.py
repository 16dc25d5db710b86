"""The cost matrix: reading it from arrays, frames and pairs, and what is odd about one."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cstree.costs.labels import Label, closest, counted, listed, plain_label, plain_labels

__all__ = ["from_predicted_first", "labelled", "plain_matrix", "sorted_labels", "warn_if_odd"]

Pairs = Mapping[tuple[Any, Any], Any]

# Frames of files below this folder are the package's own.
_PACKAGE = str(Path(__file__).resolve().parents[1]) + os.sep

_FINITE = "costs are finite numbers"


def from_predicted_first(C: Any) -> NDArray[np.float64]:
    """Turn a matrix with rows predicted and columns true into cstree's order.

    Parameters
    ----------
    C : array-like of shape (K, K)
        ``C[predicted, true]``, as in Elkan (2001) and in MetaCost.

    Returns
    -------
    ndarray of shape (K, K)
        ``C[true, predicted]``, as `CostModel` wants it.

    Raises
    ------
    ValueError
        The matrix is not square.

    Examples
    --------
    >>> from_predicted_first([[0, 5], [1, 0]]).tolist()
    [[0.0, 1.0], [5.0, 0.0]]
    """
    return np.ascontiguousarray(_square(C, None).T)


def sorted_labels(labels: tuple[Label, ...]) -> tuple[Label, ...]:
    """Sort class labels as scikit-learn's ``classes_`` are; labels that do not compare stay as they are.

    Parameters
    ----------
    labels : tuple of str, int, float or bool
        Class labels.

    Returns
    -------
    tuple of str, int, float or bool
        The same labels.
    """
    try:
        return tuple(sorted(labels))
    except TypeError:
        return labels


def labelled(table: Any) -> bool:
    """Tell whether rows of a pandas object have names, which then say more than their order.

    Parameters
    ----------
    table : object
        Anything.

    Returns
    -------
    bool
        Whether it has an index, and one that was not merely counted.
    """
    index = getattr(table, "index", None)
    return hasattr(table, "items") and index is not None and type(index).__name__ != "RangeIndex"


def plain_matrix(
    misclassification: Any, classes: tuple[Label, ...] | None
) -> tuple[NDArray[np.float64], tuple[Label, ...] | None]:
    """Read misclassification costs.

    Parameters
    ----------
    misclassification : array-like of shape (K, K), DataFrame or {(true, predicted): cost}
        Rows true, columns predicted. A frame with class labels as index and columns is read by label.
    classes : tuple of labels or None
        Classes in the order of rows and columns, where that is known.

    Returns
    -------
    matrix : ndarray of shape (K, K)
        ``C[true, predicted]``.
    classes : tuple of labels or None
        Its classes; pairs and labelled frames say them, a bare array does not.

    Raises
    ------
    TypeError
        The costs are not numbers, or the pairs are not pairs.
    ValueError
        Wrong shape, a cost that is not finite, an unknown class or a pair that lacks.
    """
    if isinstance(misclassification, Mapping):
        return _from_pairs(misclassification, classes)
    if labelled(misclassification) and hasattr(misclassification, "columns"):
        pairs = {
            (true, predicted): cost
            for predicted, column in misclassification.items()
            for true, cost in column.items()
        }
        order = classes or plain_labels(misclassification.index, "the index of misclassification")
        return _from_pairs(pairs, order)
    return _square(misclassification, classes), classes


def warn_if_odd(matrix: NDArray[np.float64], classes: tuple[Label, ...] | None) -> None:
    """Warn of a cost matrix that is unreasonable in Elkan's sense; the warning points out of the package.

    Parameters
    ----------
    matrix : ndarray of shape (K, K)
        ``C[true, predicted]``.
    classes : tuple of labels or None
        Names for the message.

    Warns
    -----
    UserWarning
        Wrong answers are cheaper than the right one, or an answer is never dearer than the right one, so that
        it could be given always.
    """
    message = _oddity(matrix, classes)
    if not message:
        return
    frame, level = sys._getframe(), 1
    while frame.f_back is not None and os.path.abspath(frame.f_code.co_filename).startswith(_PACKAGE):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, UserWarning, stacklevel=level)


def _oddity(matrix: NDArray[np.float64], classes: tuple[Label, ...] | None) -> str:
    """Say what is odd about a matrix; nothing, for most."""
    right = np.diag(matrix)
    names = _class_names(len(matrix), classes)
    cheaper = [f"{names[p]} when the truth is {names[t]}" for t, p in np.argwhere(matrix < right[:, None])]
    if cheaper:
        more = f", and {len(cheaper) - 5} more" if len(cheaper) > 5 else ""
        return (
            f"a wrong answer is cheaper than the right one: {', '.join(cheaper[:5])}{more}; "
            "rows are true classes, columns are answers (see from_predicted_first)"
        )
    never_dearer = np.flatnonzero((matrix <= right[:, None]).all(axis=0))
    if len(matrix) > 1 and len(never_dearer):
        return (
            f"answering {names[never_dearer[0]]} is never dearer than the right answer, "
            "so that every case may get it; give its mistakes a cost"
        )
    return ""


def _square(values: Any, classes: tuple[Label, ...] | None) -> NDArray[np.float64]:
    """Read an array of shape (K, K) with finite entries; errors name the classes."""
    try:
        given = np.asarray(values)
        if given.dtype.kind not in "biufO":
            raise TypeError(f"of type {given.dtype}")
        matrix = np.array(given, dtype=np.float64, order="C")
    except (TypeError, ValueError, OverflowError) as error:
        raise TypeError(
            "misclassification is not a matrix of numbers; give K rows of K costs "
            "or {(true, predicted): cost}"
        ) from error
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not matrix.size:
        raise ValueError(f"misclassification has shape {matrix.shape}; give K rows of K costs, one per class")
    if classes is not None and len(classes) != len(matrix):
        raise ValueError(
            f"misclassification has shape {matrix.shape}, but classes has "
            f"{counted(classes, 'label', 'labels')}: {listed(classes)}"
        )
    wrong = np.argwhere(~np.isfinite(matrix))
    if len(wrong):
        names = _class_names(len(matrix), classes)
        true, predicted = wrong[0]
        raise ValueError(f"{_mistake(names[true], names[predicted])} is {matrix[true, predicted]}; {_FINITE}")
    return matrix


def _class_names(n_classes: int, classes: tuple[Label, ...] | None) -> list[str]:
    return [f"class number {k}" for k in range(n_classes)] if classes is None else [repr(c) for c in classes]


def _mistake(true: str, predicted: str) -> str:
    return f"the misclassification cost of answering {predicted} when the truth is {true}"


def _from_pairs(
    pairs: Pairs, classes: tuple[Label, ...] | None
) -> tuple[NDArray[np.float64], tuple[Label, ...]]:
    """Read {(true, predicted): cost}; right answers cost 0 where not given."""
    costs: dict[tuple[Label, Label], float] = {}
    for pair, cost in pairs.items():
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError(
                f"misclassification has the key {pair!r}; keys are pairs (true class, predicted class)"
            )
        true, predicted = plain_label(pair[0]), plain_label(pair[1])
        costs[true, predicted] = _plain_cost(cost, (true, predicted))
    seen = tuple(dict.fromkeys(label for pair in costs for label in pair))
    if classes is None:
        if not seen:
            raise ValueError(
                "misclassification is empty; give a cost for each pair (true class, predicted class)"
            )
        classes = sorted_labels(seen)
    index = {label: k for k, label in enumerate(classes)}
    for label in seen:
        if label not in index:
            raise ValueError(
                f"misclassification names class {label!r}, which is not among classes: "
                f"{listed(classes)}{closest(label, classes)}"
            )
    for true in classes:
        for predicted in classes:
            if true != predicted and (true, predicted) not in costs:
                raise ValueError(
                    f"misclassification lacks the pair ({true!r}, {predicted!r}): "
                    f"what does answering {predicted!r} cost when the truth is {true!r}?"
                )
    matrix = np.zeros((len(classes), len(classes)))
    for (true, predicted), cost in costs.items():
        matrix[index[true], index[predicted]] = cost
    return matrix, classes


def _plain_cost(cost: Any, pair: tuple[Label, Label]) -> float:
    mistake = _mistake(repr(pair[0]), repr(pair[1]))
    try:
        if isinstance(cost, str | bytes):
            raise TypeError("text")
        number = float(cost)
    except (TypeError, ValueError, OverflowError) as error:
        raise TypeError(f"{mistake} is {cost!r}; write a number") from error
    if not np.isfinite(number):
        raise ValueError(f"{mistake} is {number}; {_FINITE}")
    return number
