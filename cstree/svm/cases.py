"""What kernel and neighbour classifiers share: tables of numbers, dense or sparse, and checked settings."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import validate_data

from cstree.base import (
    CostSensitiveClassifier,
    check_example_cost,
    check_magnitudes,
    check_sample_weight,
    cost_model,
    encode_labels,
    gaps_named,
)
from cstree.costs.bound import BoundCosts
from cstree.costs.labels import listed

__all__ = ["NumericCases", "NumericClassifier", "check_choice", "check_number", "check_whole", "prices"]


@dataclass(frozen=True, eq=False)
class NumericCases:
    """A checked table to train on; cases of weight 0 are left out.

    Attributes
    ----------
    X : ndarray or CSR matrix of shape (n, d), float64 or, where the classifier takes it, float32
        Or kernel values, or distances, of all pairs.
    y : ndarray of shape (n,), int
        Class indices.
    weight : ndarray of shape (n,)
    example_cost : ndarray of shape (n, K) or None
    kept : ndarray of shape (n,), int
        Rows of the table that was given.
    """

    X: Any
    y: NDArray[np.int32]
    weight: NDArray[np.float64]
    example_cost: NDArray[np.float64] | None
    kept: NDArray[np.intp]

    def __len__(self) -> int:
        return len(self.y)


class NumericClassifier(CostSensitiveClassifier, ABC):
    """Base of classifiers that read numbers only; subclasses say in ``_is_pairwise`` what ``X`` is.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    costs_ : BoundCosts
    """

    # What numbers are read as; other ones become the first of these.
    _dtypes: tuple[type[np.floating[Any]], ...] = (np.float64,)

    @abstractmethod
    def _is_pairwise(self) -> bool:
        """Whether ``X`` holds a number for each pair of cases instead of features."""

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that tables hold numbers and no gaps, and may be sparse."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = False
        tags.input_tags.string = False
        tags.input_tags.categorical = False
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self._is_pairwise()
        return tags

    def _cases(
        self, X: Any, y: Any, sample_weight: Any = None, example_cost: Any = None, *, min_classes: int = 1
    ) -> NumericCases:
        """Check a training table; sets ``classes_``, ``costs_`` and what is known of columns."""
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None: "
                "give one label per case."
            )
        table = self._table(X, reset=True)
        classes, index = encode_labels(y)
        check_consistent_length(table, index)
        model = cost_model(self.costs)
        weight = check_sample_weight(sample_weight, len(index))
        rows_cost = check_example_cost(example_cost, len(index), classes, model)
        names = getattr(self, "feature_names_in_", [f"x{j}" for j in range(table.shape[1])])
        costs = model.bind(list(names), classes.tolist(), stacklevel=4)
        check_magnitudes(weight, rows_cost, costs)
        weight = np.ones(len(index)) if weight is None else weight
        kept = np.flatnonzero(weight)
        present = np.unique(index[kept])
        if len(present) < min_classes:
            raise ValueError(
                f"{type(self).__name__} needs two classes or more, but there is only one class (of positive "
                f"weight): {classes.tolist()[int(present[0])]!r}."
            )
        self.classes_ = classes
        self.n_classes_ = len(classes)
        self.costs_: BoundCosts = costs
        if len(kept) < len(weight):
            table = table[kept][:, kept] if self._is_pairwise() else table[kept]
            index, weight = index[kept], weight[kept]
            rows_cost = None if rows_cost is None else rows_cost[kept]
        return NumericCases(table, index, weight, rows_cost, kept)

    def _table(self, X: Any, *, reset: bool = False) -> Any:
        """Check rows and columns; return numbers."""
        if isinstance(X, pd.DataFrame):
            _refuse_text(X)
        with gaps_named(self, X):
            table = validate_data(
                self, X=X, reset=reset, accept_sparse="csr", dtype=list(self._dtypes), order="C"
            )
        if reset and self._is_pairwise() and table.shape[0] != table.shape[1]:
            raise ValueError(
                f"X has shape {table.shape}; what is precomputed holds a number for each pair of training "
                "cases, so it is a square matrix."
            )
        return table

    def _labels(self, index: NDArray[np.integer[Any]]) -> NDArray[Any]:
        return np.asarray(self.classes_[index])


def prices(matrix: NDArray[np.float64], cases: NumericCases) -> NDArray[np.float64]:
    """List what each answer costs each case more than the cheapest.

    Off the diagonal of the matrix this is 1 on average; with costs by case, the average runs over these.
    """
    n_classes = len(matrix)
    if cases.example_cost is None:
        regret = matrix - matrix.min(axis=1, keepdims=True)
        level = regret[~np.eye(n_classes, dtype=bool)].mean()
        regret = regret[cases.y]
    else:
        regret = cases.example_cost - cases.example_cost.min(axis=1, keepdims=True)
        level = cases.weight @ regret.sum(axis=1) / (cases.weight.sum() * (n_classes - 1))
    return regret / level if level > 0 else regret


def _refuse_text(X: pd.DataFrame) -> None:
    text = [str(name) for j, name in enumerate(X.columns) if not _may_be_numbers(X.iloc[:, j])]
    if text:
        raise ValueError(
            f"{listed(text)} {'holds' if len(text) == 1 else 'hold'} no numbers, and only numbers are read "
            "here: put a ColumnTransformer with OneHotEncoder before it."
        )


def _may_be_numbers(column: pd.Series) -> bool:
    if pd.api.types.is_object_dtype(column.dtype):
        return pd.api.types.infer_dtype(column, skipna=True) != "string"
    return bool(pd.api.types.is_numeric_dtype(column.dtype))


def check_number(value: Any, name: str, *, zero: bool = False) -> float:
    """Check a setting that is a positive number (or 0, if ``zero``).

    Raises
    ------
    ValueError
        It is something else.
    """
    if not isinstance(value, Real) or isinstance(value, bool) or not np.isfinite(float(value)):
        raise ValueError(f"{name} must be a number; got {value!r}.")
    if value < 0 or (value == 0 and not zero):
        raise ValueError(f"{name} must be {'0 or more' if zero else 'greater than 0'}; got {value!r}.")
    return float(value)


def check_whole(value: Any, name: str, least: int = 1) -> int:
    """Check a setting that is a whole number.

    Raises
    ------
    ValueError
        It is something else, or less than ``least``.
    """
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise ValueError(f"{name} must be a whole number from {least} on; got {value!r}.")
    return int(value)


def check_choice(value: Any, name: str, choices: tuple[str, ...]) -> None:
    """Check a setting that is one of some words.

    Raises
    ------
    ValueError
        It is something else.
    """
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} is {value!r}; choose one of {', '.join(map(repr, choices))}.")
