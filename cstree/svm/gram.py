"""Kernels by name, with scikit-learn's parameters, for tables that are dense or sparse."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.metrics.pairwise import pairwise_kernels

from cstree.svm.cases import NumericCases, check_choice, check_number

__all__ = ["KERNELS", "Kernel"]

KERNELS = ("linear", "poly", "rbf", "precomputed")

# Kernel values that are made at a time when cases are answered.
_CELLS = 1 << 23


@dataclass(frozen=True, eq=False)
class Kernel:
    """``k(x, z)``: linear ``x.z``, poly ``(gamma x.z + coef0)^degree``, rbf ``exp(-gamma |x - z|^2)``.

    Attributes
    ----------
    kind : str or callable
    gamma, coef0, degree : float
    """

    kind: str | Callable[..., Any]
    gamma: float
    coef0: float
    degree: float

    @classmethod
    def of(cls, owner: Any, cases: NumericCases) -> Kernel:
        """Check the kernel's settings of an estimator, and look at the table for ``gamma``."""
        kind = owner.kernel
        if not callable(kind):
            check_choice(kind, "kernel", KERNELS)
        gamma = _gamma(owner.gamma, cases)
        coef0 = check_number(owner.coef0, "coef0", zero=True)
        return cls(kind, gamma, coef0, check_number(owner.degree, "degree", zero=True))

    def values(self, X: Any, Z: Any) -> NDArray[np.float64]:
        """Kernel values of all pairs, shape (len(X), len(Z)); not for precomputed ones."""
        if callable(self.kind):
            table = np.asarray(self.kind(X, Z), dtype=np.float64)
            if table.shape != (X.shape[0], Z.shape[0]):
                raise ValueError(
                    f"the kernel gave an array of shape {table.shape} instead of {(X.shape[0], Z.shape[0])}: "
                    "it must take two tables and give the value of each pair."
                )
            return table
        options: dict[str, float] = {}
        if self.kind != "linear":
            options["gamma"] = self.gamma
        if self.kind == "poly":
            options |= {"coef0": self.coef0, "degree": self.degree}
        table = pairwise_kernels(X, Z, metric=self.kind, **options)
        return np.asarray(table.toarray() if issparse(table) else table)

    def among(self, cases: NumericCases) -> NDArray[np.float64]:
        """Kernel values of all pairs of training cases, in an array that may be written to."""
        if self.kind != "precomputed":
            return self.values(cases.X, cases.X)
        table = cases.X.toarray() if issparse(cases.X) else np.array(cases.X)
        if not np.allclose(table, table.T):
            raise ValueError("X is no kernel matrix, as it is not symmetric: k(x, z) must be k(z, x).")
        return table

    def blocks(self, X: Any, basis: Any, columns: NDArray[np.intp]) -> Iterator[NDArray[np.float64]]:
        """Kernel values with the basis, some rows at a time; of precomputed ones some columns."""
        if len(columns) == 0:
            yield np.zeros((X.shape[0], 0))
            return
        step = max(1, _CELLS // len(columns))
        for start in range(0, X.shape[0], step):
            part = X[start : start + step]
            if self.kind == "precomputed":
                part = part[:, columns]
                yield part.toarray() if issparse(part) else part
            else:
                yield self.values(part, basis)


def _gamma(gamma: Any, cases: NumericCases) -> float:
    """Read ``gamma``: a number, ``1 / d``, or ``1 / (d variance)`` with each case as often as it weighs."""
    if not isinstance(gamma, str):
        return check_number(gamma, "gamma")
    check_choice(gamma, "gamma", ("scale", "auto"))
    n_features = cases.X.shape[1]
    if gamma == "auto":
        return 1.0 / n_features
    share = cases.weight / (cases.weight.sum() * n_features)
    mean = float(share @ np.asarray(cases.X.sum(axis=1)).ravel())
    if issparse(cases.X):
        squares = np.asarray(cases.X.multiply(cases.X).sum(axis=1)).ravel()
        variance = float(share @ squares) - mean**2
    else:
        variance = float(share @ ((cases.X - mean) ** 2).sum(axis=1))
    return 1.0 / (n_features * variance) if variance > 0 else 1.0
