"""Truths, answers and what each answer costs, read from what users hand in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cstree.costs.bound import BoundCosts
from cstree.costs.labels import Label, closest, listed, plain_label, plain_labels
from cstree.costs.matrix import sorted_labels
from cstree.costs.model import CostModel

__all__ = [
    "Answers",
    "class_index",
    "cost_table",
    "named_costs",
    "read_answers",
    "read_labels",
    "read_weight",
]


@dataclass(frozen=True, eq=False)
class Answers:
    """Answers to ``n`` cases, over ``K`` classes.

    Attributes
    ----------
    classes : tuple of labels
        K classes.
    true, predicted : ndarray of shape (n,), intp
        Class indices.
    weight : ndarray of shape (n,), float64
        Weights of the cases; their sum is positive.
    matrix : ndarray of shape (K, K)
        ``C[true, predicted]``.
    example_cost : ndarray of shape (n, K) or None
        Cost of each answer for each case; replaces the matrix.
    """

    classes: tuple[Label, ...]
    true: NDArray[np.intp]
    predicted: NDArray[np.intp]
    weight: NDArray[np.float64]
    matrix: NDArray[np.float64]
    example_cost: NDArray[np.float64] | None

    def average_cost(self) -> float:
        """Average cost of the answers that were given."""
        if self.example_cost is None:
            paid = self.matrix[self.true, self.predicted]
        else:
            paid = self.example_cost[np.arange(len(self.true)), self.predicted]
        return float(paid @ self.weight / self.weight.sum())

    def constant_costs(self) -> NDArray[np.float64]:
        """Average cost of giving every case the same answer, shape (K,)."""
        rows = self.matrix[self.true] if self.example_cost is None else self.example_cost
        return np.asarray(self.weight @ rows / self.weight.sum())


def read_answers(
    y_true: Any,
    y_pred: Any,
    costs: Any,
    labels: Any = None,
    sample_weight: Any = None,
    example_cost: Any = None,
) -> Answers:
    """Check truths and answers, and look up what they cost.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        Class labels.
    costs : CostModel, BoundCosts, matrix, mapping or None
        See :func:`cost_table`.
    labels : sequence of labels, optional
        See :func:`cost_table`.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the cases.
    example_cost : array-like of shape (n_samples, n_classes), optional
        Cost of each answer for each case, in the order of the classes.

    Returns
    -------
    Answers

    Raises
    ------
    ValueError
        Lengths or shapes that do not fit, missing labels, a class without costs, bad weights.
    """
    true, true_labels = read_labels(y_true, "y_true")
    predicted, predicted_labels = read_labels(y_pred, "y_pred")
    if len(true) != len(predicted):
        raise ValueError(f"y_true has {len(true)} labels, y_pred {len(predicted)}: give one of each per case")
    classes, matrix = cost_table(costs, labels, (*true_labels, *predicted_labels))
    return Answers(
        classes,
        class_index(true_labels, classes, "y_true")[true],
        class_index(predicted_labels, classes, "y_pred")[predicted],
        read_weight(sample_weight, len(true)),
        matrix,
        _read_example_cost(example_cost, len(true), classes),
    )


def cost_table(
    costs: Any, labels: Any = None, seen: tuple[Label, ...] = ()
) -> tuple[tuple[Label, ...], NDArray[np.float64]]:
    """Classes and their cost matrix.

    Parameters
    ----------
    costs : CostModel, BoundCosts, array-like of shape (K, K), {(true, predicted): cost} or None
        None: a right answer costs 0, a wrong one 1.
    labels : sequence of labels, optional
        The classes that count, in the order of the result. By default those that ``costs`` names, else
        the sorted labels that were seen.
    seen : tuple of labels
        Labels that occur.

    Returns
    -------
    classes : tuple of labels
        K classes.
    matrix : ndarray of shape (K, K)
        ``C[true, predicted]``.

    Raises
    ------
    ValueError
        The matrix has another size than there are classes, or ``labels`` names a class without costs.
    """
    known, matrix = named_costs(costs)
    if labels is not None:
        classes = plain_labels(labels, "labels")
    else:
        classes = known if known is not None else sorted_labels(tuple(dict.fromkeys(seen)))
    if matrix is None:
        return classes, 1.0 - np.eye(len(classes))
    if known is None:
        if len(matrix) != len(classes):
            raise ValueError(
                f"costs has {len(matrix)} rows, but there are {len(classes)} classes: {listed(classes)}; "
                "name the classes of the matrix with labels=[...] or CostModel(matrix, classes=[...])"
            )
        return classes, matrix
    rows = class_index(classes, known, "labels")
    return classes, matrix[np.ix_(rows, rows)]


def named_costs(costs: Any) -> tuple[tuple[Label, ...] | None, NDArray[np.float64] | None]:
    """Classes and matrix as ``costs`` gives them; None for what it leaves open."""
    if isinstance(costs, BoundCosts):
        return costs.classes, costs.matrix
    model = costs if isinstance(costs, CostModel) else CostModel(costs)
    return model.classes, model.misclassification


def read_labels(values: Any, what: str) -> tuple[NDArray[np.intp], tuple[Label, ...]]:
    """Position of each label among the different ones, and these.

    Parameters
    ----------
    values : array-like of shape (n_samples,)
        Class labels.
    what : str
        What they are called in an error.

    Returns
    -------
    codes : ndarray of shape (n_samples,), intp
        Index of each case's label.
    labels : tuple of labels
        In the order in which they occur.

    Raises
    ------
    ValueError
        No labels, not one per case, or a missing one.
    """
    array = np.asarray(values)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise ValueError(f"{what} has shape {array.shape}: give one label per case")
    if len(array) == 0:
        raise ValueError(f"{what} is empty: give at least one case")
    codes, found = pd.factorize(array)
    if (codes < 0).any():
        raise ValueError(f"{what} lacks the label of case {int(np.argmax(codes < 0))}: leave the case out")
    return codes, tuple(plain_label(label) for label in found.tolist())


def class_index(labels: tuple[Label, ...], classes: tuple[Label, ...], what: str) -> NDArray[np.intp]:
    """Index of each label among the classes, shape (len(labels),).

    Raises
    ------
    ValueError
        One of them is no class.
    """
    position = {label: k for k, label in enumerate(classes)}
    for label in labels:
        if label not in position:
            raise ValueError(
                f"{what} holds class {label!r}, for which there are no costs{closest(label, classes)}; "
                f"the classes are {listed(classes)}"
            )
    return np.array([position[label] for label in labels], dtype=np.intp)


def read_weight(sample_weight: Any, n_samples: int) -> NDArray[np.float64]:
    """Weights of the cases, 1 by default; shape (n_samples,).

    Raises
    ------
    ValueError
        Wrong shape, a weight that is negative or not finite, or all of them zero.
    """
    if sample_weight is None:
        return np.ones(n_samples)
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.shape != (n_samples,):
        raise ValueError(
            f"sample_weight has shape {weight.shape} for {n_samples} cases: give one weight per case"
        )
    wrong = ~(np.isfinite(weight) & (weight >= 0))
    if wrong.any():
        case = int(np.argmax(wrong))
        raise ValueError(f"sample_weight of case {case} is {weight[case]}: weights are finite and 0 or more")
    if not weight.any():
        raise ValueError("sample_weight is zero for every case: at least one case must count")
    return weight


def _read_example_cost(
    example_cost: Any, n_samples: int, classes: tuple[Label, ...]
) -> NDArray[np.float64] | None:
    if example_cost is None:
        return None
    if isinstance(example_cost, pd.DataFrame) and set(example_cost.columns) == set(classes):
        example_cost = example_cost[list(classes)]
    rows = np.asarray(example_cost, dtype=np.float64)
    if rows.shape != (n_samples, len(classes)):
        raise ValueError(
            f"example_cost has shape {rows.shape}; it wants a row per case and a column per class in the "
            f"order {listed(classes)}: ({n_samples}, {len(classes)}). labels=[...] chooses classes and order"
        )
    if not np.isfinite(rows).all():
        case = int(np.argmax(~np.isfinite(rows).all(axis=1)))
        raise ValueError(f"example_cost of case {case} holds a number that is not finite")
    return rows
