"""Encoded training cases: codes, labels, weights and costs side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cstree.encoding.schema import FeatureSchema

__all__ = ["Dataset"]


@dataclass(frozen=True, eq=False)
class Dataset:
    """Cases of positive weight, encoded.

    Attributes
    ----------
    schema : FeatureSchema
    codes : ndarray of shape (n_features, n_samples), unsigned integer
    y : ndarray of shape (n_samples,), int32
        Class index of each case.
    n_classes : int
    weight : ndarray of shape (n_samples,) or None
        Positive weights; None: every case weighs 1.
    example_cost : ndarray of shape (n_samples, n_classes) or None
        Cost of each answer for each case; None: the cost matrix rules.
    """

    schema: FeatureSchema
    codes: NDArray[np.unsignedinteger[Any]]
    y: NDArray[np.int32]
    n_classes: int
    weight: NDArray[np.float64] | None = None
    example_cost: NDArray[np.float64] | None = None

    @property
    def n_samples(self) -> int:
        """Number of cases."""
        return len(self.y)

    @property
    def total_weight(self) -> float:
        """Weight of all cases."""
        return float(self.n_samples if self.weight is None else self.weight.sum())

    def weights(self) -> NDArray[np.float64]:
        """Weight of each case, ones where none were given."""
        return np.ones(self.n_samples) if self.weight is None else self.weight

    def case_costs(self, matrix: NDArray[np.float64]) -> NDArray[np.float64]:
        """Cost of each answer for each case, shape (n_samples, n_classes), before weighting."""
        return matrix[self.y] if self.example_cost is None else self.example_cost

    def take(self, rows: NDArray[np.intp]) -> Dataset:
        """Return the dataset of the given rows."""
        return Dataset(
            self.schema,
            np.ascontiguousarray(self.codes[:, rows]),
            self.y[rows],
            self.n_classes,
            None if self.weight is None else self.weight[rows],
            None if self.example_cost is None else self.example_cost[rows],
        )
