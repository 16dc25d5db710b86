"""Costs bound to the features and classes of one table: arrays for kernels."""

from __future__ import annotations

import operator
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cstree.costs.labels import Label, plain_labels, plain_names
from cstree.costs.steps import plain_price

__all__ = ["BoundCosts"]

_KEYS = ("feature_names", "classes", "unit", "matrix", "step_names", "steps", "test_names")


@dataclass(frozen=True, eq=False)
class BoundCosts:
    """What mistakes and tests cost in one table; made by `CostModel.bind`.

    A path pays each step once. Feature ``j`` buys the entries ``step_start[j]:step_start[j + 1]``: its
    test's own step first, then all operations that the test needs, directly or through others. An entry's
    price holds when it is the one that pays the step. Steps that are free for every feature have no entries;
    columns that one test reveals share its own step. The arrays belong to kernels and are not to be changed.

    Attributes
    ----------
    feature_names : tuple of str
        F names.
    classes : tuple of str, int, float or bool
        K class labels, in the order of the estimator's ``classes_``.
    unit : str
        Unit of all costs; may be empty.
    matrix : ndarray of shape (K, K), float64
        ``C[true, predicted]``.
    step_names : tuple of str
        Names of tests and operations, one per step.
    step_start : ndarray of shape (F + 1,), int32
        First entry of each feature.
    steps : ndarray of shape (n_entries,), int32
        Step of each entry.
    prices : ndarray of shape (n_entries,), float64
        Price of each entry.
    test_names : tuple of str
        Name of the test that reveals each feature; empty when the feature is free.
    """

    feature_names: tuple[str, ...]
    classes: tuple[Label, ...]
    unit: str
    matrix: NDArray[np.float64]
    step_names: tuple[str, ...]
    step_start: NDArray[np.int32]
    steps: NDArray[np.int32]
    prices: NDArray[np.float64]
    test_names: tuple[str, ...]

    def __repr__(self) -> str:
        unit = f", unit={self.unit!r}" if self.unit else ""
        return (
            f"BoundCosts({len(self.classes)} classes, {len(self.feature_names)} features, "
            f"{self.n_steps} steps{unit})"
        )

    @property
    def n_features(self) -> int:
        """Number of features, F."""
        return len(self.feature_names)

    @property
    def n_classes(self) -> int:
        """Number of classes, K."""
        return len(self.classes)

    @property
    def n_steps(self) -> int:
        """Number of steps that can be paid."""
        return len(self.step_names)

    @property
    def regrets(self) -> NDArray[np.float64]:
        """The matrix with each row's smallest entry subtracted: the same decisions, all costs >= 0."""
        return self.matrix - self.matrix.min(axis=1, keepdims=True)

    def newly_paid(self, feature: int, paid: Collection[int] = ()) -> list[tuple[int, float]]:
        """List what testing a feature pays when some steps are paid already.

        Parameters
        ----------
        feature : int
            Index of the feature.
        paid : collection of int
            Steps paid before, on the same path.

        Returns
        -------
        list of (int, float)
            Steps and their prices: the test's own step, then operations.

        Raises
        ------
        IndexError
            There is no such feature.
        """
        index = operator.index(feature)
        if not 0 <= index < self.n_features:
            raise IndexError(f"there is no feature {index}; the table has {self.n_features}")
        entries = range(int(self.step_start[index]), int(self.step_start[index + 1]))
        return [
            (int(self.steps[e]), float(self.prices[e])) for e in entries if int(self.steps[e]) not in paid
        ]

    def price(self, feature: int, paid: Collection[int] = ()) -> float:
        """Price of testing a feature when some steps are paid already.

        Parameters
        ----------
        feature : int
            Index of the feature.
        paid : collection of int
            Steps paid before, on the same path.

        Returns
        -------
        float
            ``TA(a | D) = T_a [a not in D] + sum over o in P_a of T_o [o not in D]``.

        Raises
        ------
        IndexError
            There is no such feature.
        """
        return float(sum(price for _, price in self.newly_paid(feature, paid)))

    def to_dict(self) -> dict[str, Any]:
        """Describe the costs in plain JSON values; `from_dict` reads them."""
        starts = self.step_start.tolist()
        entries = [list(entry) for entry in zip(self.steps.tolist(), self.prices.tolist(), strict=True)]
        return {
            "feature_names": list(self.feature_names),
            "classes": list(self.classes),
            "unit": self.unit,
            "matrix": self.matrix.tolist(),
            "step_names": list(self.step_names),
            "steps": [entries[a:b] for a, b in pairwise(starts)],
            "test_names": list(self.test_names),
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> BoundCosts:
        """Read what `to_dict` wrote; everything is checked, as the values may come from a stranger."""
        try:
            return cls._checked(values)
        except (TypeError, ValueError, OverflowError) as error:
            raise ValueError(f"damaged costs: {error}") from error

    @classmethod
    def from_entries(
        cls,
        feature_names: Sequence[str],
        classes: Sequence[Label],
        unit: str,
        matrix: NDArray[np.float64],
        test_names: Sequence[str],
        entries: Sequence[Sequence[tuple[str, float]]],
    ) -> BoundCosts:
        """Give numbers to the steps, in the order in which features need them; those always free get none.

        Parameters
        ----------
        feature_names : sequence of str
            F names.
        classes : sequence of labels
            K class labels.
        unit : str
            Unit of all costs.
        matrix : ndarray of shape (K, K)
            ``C[true, predicted]``.
        test_names : sequence of str
            F names of tests.
        entries : sequence of F sequences of (str, float)
            Names of the steps that a feature's test needs, own step first, and their prices.

        Returns
        -------
        BoundCosts
            The same costs as arrays.
        """
        # A step free for one test and priced for another stays: whoever is first pays it, if only with 0.
        priced = {name for feature in entries for name, price in feature if price > 0}
        number: dict[str, int] = {}
        kept = [
            [(number.setdefault(name, len(number)), price) for name, price in feature if name in priced]
            for feature in entries
        ]
        return cls(
            feature_names=tuple(feature_names),
            classes=tuple(classes),
            unit=unit,
            matrix=np.array(matrix, dtype=np.float64, order="C"),
            step_names=tuple(number),
            test_names=tuple(name if e else "" for name, e in zip(test_names, kept, strict=True)),
            **_entry_arrays(kept),
        )

    @classmethod
    def _checked(cls, values: Any) -> BoundCosts:
        """Build from a dictionary, raising at the first value that is not what `to_dict` writes."""
        if not isinstance(values, Mapping):
            raise TypeError(f"a {type(values).__name__} instead of an object")
        if set(values) != set(_KEYS):
            wrong = sorted(set(_KEYS) ^ set(values), key=str)
            raise ValueError(f"missing or unknown key {wrong[0]!r}; the keys are {', '.join(_KEYS)}")
        for key in _KEYS:
            if not isinstance(values[key], str if key == "unit" else list):
                raise TypeError(f"{key} is of type {type(values[key]).__name__}")
        names = plain_names(values["feature_names"], "feature", "feature_names")
        classes = plain_labels(values["classes"], "classes")
        step_names = plain_names(values["step_names"], "step", "step_names")
        entries = _checked_entries(values["steps"], len(names), len(step_names))
        test_names = tuple(values["test_names"])
        if len(test_names) != len(names) or not all(isinstance(name, str) for name in test_names):
            raise ValueError(f"test_names are not {len(names)} texts")
        for feature, test, bought in zip(names, test_names, entries, strict=True):
            if bool(test) != bool(bought):
                raise ValueError(f"feature {feature!r} has steps without a test, or a test without steps")
        return cls(
            feature_names=names,
            classes=classes,
            unit=values["unit"],
            matrix=_checked_matrix(values["matrix"], len(classes)),
            step_names=step_names,
            test_names=test_names,
            **_entry_arrays(entries),
        )


def _entry_arrays(entries: Sequence[Sequence[tuple[int, float]]]) -> dict[str, NDArray[Any]]:
    """Lay the entries of all features end to end."""
    return {
        "step_start": np.cumsum([0, *(len(feature) for feature in entries)], dtype=np.int32),
        "steps": np.array([step for feature in entries for step, _ in feature], dtype=np.int32),
        "prices": np.array([price for feature in entries for _, price in feature], dtype=np.float64),
    }


def _checked_entries(values: list[Any], n_features: int, n_steps: int) -> list[list[tuple[int, float]]]:
    """Read [[[step, price], ...], ...], one list per feature."""
    if len(values) != n_features:
        raise ValueError(f"steps of {len(values)} features instead of {n_features}")
    entries = []
    for feature in values:
        if not isinstance(feature, list) or not all(isinstance(e, list) and len(e) == 2 for e in feature):
            raise TypeError(f"the steps {feature!r} are not a list of [step, price]")
        steps = [step for step, _ in feature]
        if not all(type(step) is int and 0 <= step < n_steps for step in steps) or len(set(steps)) < len(
            steps
        ):
            raise ValueError(f"the steps {steps!r} are not different numbers below {n_steps}")
        entries.append([(step, plain_price(price, f"step {step}")) for step, price in feature])
    return entries


def _checked_matrix(rows: list[Any], n_classes: int) -> NDArray[np.float64]:
    """Read K rows of K finite numbers."""
    if len(rows) != n_classes or not all(isinstance(row, list) and len(row) == n_classes for row in rows):
        raise ValueError(f"the matrix is not {n_classes} rows of {n_classes} costs")
    if not all(type(cost) in (int, float) for row in rows for cost in row):
        raise TypeError("the matrix holds something that is not a number")
    matrix = np.array(rows, dtype=np.float64)
    if not np.isfinite(matrix).all():
        raise ValueError("the matrix holds a cost that is not finite")
    return matrix
