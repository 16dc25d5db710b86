"""Small streams."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cstree import CostModel

FIVE_TO_ONE = CostModel.binary(false_positive=1, false_negative=5)
BLIND = CostModel.binary(false_positive=1, false_negative=1)


def two_clouds(n: int, seed: int = 0, d: int = 2, distance: float = 2.0) -> tuple[NDArray[Any], NDArray[Any]]:
    """Two normal clouds of equal size whose centres are so many standard deviations apart."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    direction = np.ones(d) / np.sqrt(d)
    return rng.normal(size=(n, d)) + np.outer(2 * y - 1, direction * distance / 2), y


def random_stream(seed: int, n: int = 60, d: int = 4, n_classes: int = 2) -> tuple[Any, Any, Any]:
    """Cases of very different lengths, some of them all zero; labels; a margin to adapt."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * rng.choice([0.0, 0.1, 1.0, 5.0], size=(n, 1), p=[0.05, 0.3, 0.45, 0.2])
    X[rng.random(X.shape) < 0.3] = 0.0
    y = rng.integers(0, n_classes, n)
    y[:n_classes] = np.arange(n_classes)
    f0 = rng.normal(size=n) if n_classes == 2 else rng.normal(size=(n, n_classes))
    return X, y, f0


class Given:
    """A fitted classifier whose margin stands in the last columns of the table."""

    def __init__(self, n_classes: int) -> None:
        self.classes_ = np.arange(n_classes)
        self.n_outputs = 1 if n_classes == 2 else n_classes

    def fit(self, X: Any, y: Any) -> Given:
        return self

    def decision_function(self, X: Any) -> Any:
        return X[:, -1] if self.n_outputs == 1 else X[:, -self.n_outputs :]

    def predict(self, X: Any) -> Any:
        raise AssertionError("the margin is what is adapted")


class FirstColumns:
    """A transformer that reads the first columns."""

    def __init__(self, n: int) -> None:
        self.n = n

    def fit(self, X: Any, y: Any = None) -> FirstColumns:
        self.fitted_ = True
        return self

    def transform(self, X: Any) -> Any:
        return X[:, : self.n]
