"""What samplers share: tables of any kind in, rows of the same kind out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, OneToOneFeatureMixin
from sklearn.utils import _safe_indexing, check_consistent_length
from sklearn.utils.validation import _num_features, _num_samples, validate_data

from cstree.base import as_generator, encode_labels
from cstree.costs.model import CostModel
from cstree.metrics.answers import cost_table
from cstree.sampling.tags import sampler_tags

__all__ = ["CostSampler", "take"]


class CostSampler(OneToOneFeatureMixin, BaseEstimator, ABC):
    """Base of samplers: subclasses choose rows in ``_choose``.

    Attributes
    ----------
    sample_indices_ : ndarray of int
        Rows that were taken, in their old order; copies stand side by side.
    sampling_strategy_ : dict
        Number of cases of each class that were taken, by label.
    """

    _estimator_type = "sampler"

    costs: CostModel | None
    random_state: Any

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn and imbalanced-learn what a sampler takes."""
        return sampler_tags(super().__sklearn_tags__())

    def fit(self, X: Any, y: Any) -> CostSampler:
        """Choose the rows without returning them.

        Parameters
        ----------
        X : DataFrame, array-like or sparse matrix of shape (n_samples, n_features)
            Cases; their values are not looked at.
        y : array-like of shape (n_samples,)
            Class labels.

        Returns
        -------
        CostSampler
            The sampler itself.
        """
        self._sample(X, y)
        return self

    def fit_resample(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Choose rows and return them.

        Parameters
        ----------
        X : DataFrame, array-like or sparse matrix of shape (n_samples, n_features)
            Cases; their values are not looked at.
        y : array-like of shape (n_samples,)
            Class labels, or one column for each class with a single 1 in each row.

        Returns
        -------
        X : same type as the argument, shape (n_samples_new, n_features)
            The rows that were taken. A frame keeps its dtypes and its index labels, which repeat with copies.
        y : same type as the argument, shape (n_samples_new,)
            Their labels.

        Raises
        ------
        ValueError
            There is only one class, or the costs cannot be said by numbers of cases.
        """
        return self._sample(X, y)

    def _sample(self, X: Any, y: Any, example_cost: Any = None) -> tuple[Any, Any]:
        """Check a table, choose rows, and return them as they were given."""
        X = X.tocsr() if issparse(X) else X
        _check_table(X)
        classes, index = _read_targets(y, type(self).__name__)
        check_consistent_length(X, index)
        validate_data(self, X=X, reset=True, skip_check_array=True)
        if len(classes) < 2:
            raise ValueError(
                f"{type(self).__name__} needs two classes or more, but there is only one class: "
                f"{classes[0]!r}."
            )
        # A child: data made with the same seed would otherwise be drawn by the very numbers that made them.
        rng = as_generator(self.random_state).spawn(1)[0]
        rows = np.sort(self._choose(index, self._matrix(classes), classes, example_cost, rng))
        self.sample_indices_ = rows
        counts = np.bincount(index[rows], minlength=len(classes))
        self.sampling_strategy_ = dict(zip(classes, counts.tolist(), strict=True))
        return _safe_indexing(X, rows), _safe_indexing(y, rows)

    def _matrix(self, classes: list[Any]) -> NDArray[np.float64]:
        if self.costs is not None and not isinstance(self.costs, CostModel):
            raise TypeError(
                f"costs must be a CostModel or None, got {type(self.costs).__name__}: "
                "wrap a cost matrix as CostModel(matrix)."
            )
        return cost_table(self.costs, labels=classes)[1]

    @abstractmethod
    def _choose(
        self,
        y: NDArray[np.int32],
        matrix: NDArray[np.float64],
        classes: list[Any],
        example_cost: Any,
        rng: np.random.Generator,
    ) -> NDArray[np.intp]:
        """Rows to take, in any order."""


def take(
    rows: NDArray[np.intp], size: int, rng: np.random.Generator, *, replacement: bool = False
) -> NDArray[np.intp]:
    """Choose so many of some rows: a part of them, or all of them and copies.

    Parameters
    ----------
    rows : ndarray of shape (n,), int
        Rows to choose from.
    size : int
        How many to take.
    rng : Generator
        Source of randomness.
    replacement : bool, default=False
        Draw each copy among all rows. False: each row is copied as often as every other, give or take one.

    Returns
    -------
    ndarray of shape (size,), int
        Never a copy where there are enough rows.
    """
    if size <= len(rows):
        return rng.choice(rows, size, replace=False)
    if replacement:
        return np.concatenate([rows, rng.choice(rows, size - len(rows))])
    whole, rest = divmod(size, len(rows))
    return np.concatenate([np.repeat(rows, whole), rng.choice(rows, rest, replace=False)])


def _check_table(X: Any) -> None:
    """Refuse what has no rows and columns; values are not looked at."""
    shape = getattr(X, "shape", None)
    n_dimensions = len(shape) if shape is not None else np.ndim(X[0]) + 1 if len(X) else 2
    if n_dimensions != 2:
        raise ValueError(
            f"Expected a 2D table of shape (n_samples, n_features), got a {n_dimensions}D array. "
            "Reshape your data: X.reshape(-1, 1) for one feature, X.reshape(1, -1) for one case."
        )
    if _num_samples(X) == 0:
        raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
    if _num_features(X) == 0:
        raise ValueError(f"Found array with 0 feature(s) (shape={shape}) while a minimum of 1 is required.")


def _read_targets(y: Any, name: str) -> tuple[list[Any], NDArray[np.int32]]:
    """Classes and the class index of each case; labels may be one-hot columns."""
    if y is None:
        raise ValueError(
            f"{name} requires y to be passed, but the target y is None: give one label per case."
        )
    table = np.asarray(y)
    if table.ndim == 2 and table.shape[1] > 1:
        ones = table == 1
        if not ((ones | (table == 0)).all() and (ones.sum(axis=1) == 1).all()):
            raise ValueError("Multilabel and multioutput targets are not supported.")
        y = table.argmax(axis=1)
    elif table.ndim == 2:
        y = table[:, 0]
    classes, index = encode_labels(y)
    return classes.tolist(), index
