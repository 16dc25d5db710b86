"""What every estimator shares: validated tables, labels, weights and bound costs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import assert_all_finite, check_consistent_length, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from cstree.costs.bound import BoundCosts
from cstree.costs.labels import listed
from cstree.costs.model import CostModel
from cstree.encoding.columns import Columns
from cstree.encoding.dataset import Dataset
from cstree.encoding.schema import FeatureSchema

__all__ = ["CostSensitiveClassifier", "as_generator", "check_sample_weight", "gaps_named"]


# Objects that are all of one of these kinds are what numpy has a dtype for.
_PLAIN_KINDS = ("boolean", "integer", "floating")
# Costs times weights times cases, and their squares, stay far from the end of the floats.
_GREATEST = 1e60


class CostSensitiveClassifier(ClassifierMixin, BaseEstimator):
    """Base of all classifiers that take ``costs`` in the constructor.

    Subclasses set ``self.costs`` and call :meth:`_training_data` in ``fit``.
    """

    costs: CostModel | None

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that missing values, strings and categories are welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags

    def _columns(self, X: Any, *, reset: bool = False) -> Columns:
        """Check feature names and number of features; return the table's columns."""
        columns = Columns(X)
        if columns.n_samples == 0:
            raise ValueError(
                f"Found array with 0 sample(s) (shape=({columns.n_samples}, {columns.n_features})) "
                "while a minimum of 1 is required."
            )
        if columns.n_features == 0:
            raise ValueError(
                f"Found array with 0 feature(s) (shape=({columns.n_samples}, 0)) "
                "while a minimum of 1 is required."
            )
        shown = X if hasattr(X, "shape") else columns.array if columns.array is not None else columns.frame
        validate_data(self, X=shown, reset=reset, skip_check_array=True)
        return columns

    def _training_data(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        example_cost: Any = None,
        *,
        categorical_features: Any = "from_dtype",
        max_bins: int | None = 255,
    ) -> Dataset:
        """Validate a training table and encode it.

        Sets ``classes_``, ``n_classes_``, ``n_features_in_``, ``feature_names_in_`` (frames),
        ``schema_`` and ``costs_``. Cases of weight 0 are dropped before cuts are made.

        Returns
        -------
        Dataset
        """
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None: "
                "give one label per case."
            )
        columns = self._columns(X, reset=True)
        classes, index = encode_labels(y)
        check_consistent_length(range(columns.n_samples), index)
        model = cost_model(self.costs)
        weight = check_sample_weight(sample_weight, columns.n_samples)
        costs = model.bind(columns.names, classes.tolist())
        rows_cost = check_example_cost(example_cost, columns.n_samples, classes, model)
        check_magnitudes(weight, rows_cost, costs)
        if weight is not None:
            kept = weight > 0
            if not kept.all():
                columns = Columns(_rows(X, columns, kept))
                index, weight = index[kept], weight[kept]
                rows_cost = None if rows_cost is None else rows_cost[kept]
            if (weight == 1).all():
                weight = None
        schema = FeatureSchema.infer(columns, categorical_features=categorical_features, max_bins=max_bins)
        if columns.names != costs.feature_names:
            raise ValueError("the table's columns changed while it was read")
        self.classes_ = classes
        self.n_classes_ = len(classes)
        self.schema_: FeatureSchema = schema
        self.costs_: BoundCosts = costs
        return Dataset(schema, schema.encode(columns), index, len(classes), weight, rows_cost)

    def _prediction_columns(self, X: Any) -> Columns:
        check_is_fitted(self)
        return self._columns(X)


def _rows(X: Any, columns: Columns, kept: NDArray[np.bool_]) -> Any:
    if isinstance(X, pd.DataFrame):
        return X.loc[kept]
    table = columns.frame if columns.frame is not None else columns.array
    assert table is not None
    return table[kept]


def cost_model(costs: CostModel | None) -> CostModel:
    if costs is None:
        return CostModel()
    if not isinstance(costs, CostModel):
        raise TypeError(
            f"costs must be a CostModel or None, got {type(costs).__name__}: "
            "wrap a cost matrix as CostModel(matrix)."
        )
    return costs


def encode_labels(y: Any) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """Sorted classes and the class index of each case."""
    labels = column_or_1d(y, warn=True)
    if pd.api.types.is_extension_array_dtype(labels):
        labels = np.asarray(labels)
    if labels.dtype.kind == "U" and not hasattr(y, "dtype"):
        labels = np.array(list(y), dtype=object)  # numpy makes texts of the numbers in a mixed list
        if all(isinstance(label, str) for label in labels):
            labels = labels.astype(str)
    if labels.dtype == object and pd.api.types.infer_dtype(labels, skipna=False) in _PLAIN_KINDS:
        labels = pd.Series(labels).infer_objects().to_numpy()
    if labels.dtype.kind == "f":
        assert_all_finite(labels, input_name="y")
    if labels.dtype == object and pd.isna(labels).any():
        raise ValueError("Input y contains NaN: a case without a label cannot train; drop it or label it.")
    try:
        classes, index = np.unique(labels, return_inverse=True)
    except TypeError as error:
        raise TypeError(
            "y mixes labels that cannot be sorted; make all of them strings or all numbers."
        ) from error
    check_classification_targets(labels)
    return classes, index.astype(np.int32)


def check_sample_weight(sample_weight: Any, n_samples: int) -> NDArray[np.float64] | None:
    """Weights as float64 of shape (n_samples,), None for none.

    Raises
    ------
    ValueError
        Wrong shape, NaN, infinite or negative weights, or all of them zero.
    """
    if sample_weight is None:
        return None
    weight = as_numbers(sample_weight, "sample_weight")
    if weight.ndim == 0:
        weight = np.full(n_samples, float(weight))
    if weight.ndim != 1:
        raise ValueError("Sample weights must be 1D array or scalar.")
    if weight.shape != (n_samples,):
        raise ValueError(
            f"sample_weight has {len(weight)} entries for {n_samples} cases: give one weight per case."
        )
    if not np.isfinite(weight).all():
        raise ValueError(
            f"sample_weight of case {int(np.flatnonzero(~np.isfinite(weight))[0])} is not finite."
        )
    if (weight < 0).any():
        raise ValueError(f"sample_weight of case {int(np.flatnonzero(weight < 0)[0])} is negative.")
    if not (weight > 0).any():
        raise ValueError("sample_weight is zero for every case: at least one case must count.")
    return weight


def check_example_cost(
    example_cost: Any, n_samples: int, classes: NDArray[Any], model: CostModel
) -> NDArray[np.float64] | None:
    if example_cost is None:
        return None
    labels = classes.tolist()
    if isinstance(example_cost, pd.DataFrame) and set(example_cost.columns) == set(labels):
        example_cost = example_cost[labels]
    costs = as_numbers(example_cost, "example_cost")
    known = None if model.classes is None else list(model.classes)
    if known is not None and costs.ndim == 2 and costs.shape[1] == len(known) != len(classes):
        costs = costs[:, [known.index(label) for label in labels]]
    if costs.shape != (n_samples, len(classes)):
        raise ValueError(
            f"example_cost has shape {costs.shape}; it wants one row per case and one column per class in "
            f"the order {labels}: ({n_samples}, {len(classes)})."
        )
    if not np.isfinite(costs).all():
        case = int(np.flatnonzero(~np.isfinite(costs).all(axis=1))[0])
        raise ValueError(f"example_cost of case {case} holds a number that is not finite.")
    return costs


def as_numbers(values: Any, name: str) -> NDArray[np.float64]:
    """Read what should be numbers as an array."""
    try:
        array = np.asarray(values)
        if np.iscomplexobj(array):
            raise TypeError("complex numbers")
        return array.astype(np.float64, copy=False)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} holds something that is not a number ({error}).") from error


def check_magnitudes(
    weight: NDArray[np.float64] | None, example_cost: NDArray[np.float64] | None, costs: BoundCosts
) -> None:
    """Refuse numbers so far from 1 that sums and products of them would leave the range of floats."""
    for name, numbers in (
        ("sample_weight", weight),
        ("example_cost", example_cost),
        ("the misclassification costs", costs.matrix),
        ("the prices of tests", costs.prices),
    ):
        if numbers is None or numbers.size == 0:
            continue
        greatest = float(np.abs(numbers).max())
        if greatest > _GREATEST or 0 < greatest < 1 / _GREATEST:
            raise ValueError(
                f"the greatest number in {name} is {greatest:g}; write them in another unit, so that it lies "
                f"between {1 / _GREATEST:g} and {_GREATEST:g}."
            )


def as_generator(random_state: Any) -> np.random.Generator:
    """Return a numpy Generator from what users give as ``random_state``.

    Raises
    ------
    ValueError
        It is no integer, Generator, RandomState, SeedSequence or None.
    """
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(0, 2**31, size=4))
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError) as error:
        raise ValueError(
            "random_state must be an integer, a numpy Generator or RandomState, or None; "
            f"got {random_state!r}."
        ) from error


@contextmanager
def gaps_named(owner: Any, X: Any) -> Iterator[None]:
    """Say which columns hold the missing values that scikit-learn's check of a table refuses."""
    try:
        yield
    except ValueError as error:
        if "contains NaN" not in str(error):
            raise
        raise ValueError(
            f"Input X contains NaN{_columns_with_gaps(X)}, and {type(owner).__name__} can't read missing "
            "values: put a SimpleImputer before it, or grow trees, which read them."
        ) from None


def _columns_with_gaps(X: Any) -> str:
    if not isinstance(X, (pd.DataFrame, np.ndarray)) or np.ndim(X) != 2:
        return ""
    frame = pd.DataFrame(X)
    found = [column for column, gaps in zip(frame.columns, frame.isna().any(), strict=True) if gaps]
    others = f" and {len(found) - 3} more" if len(found) > 3 else ""
    return f" in column{'s'[: len(found) > 1]} {listed(found[:3])}{others}" if found else ""
