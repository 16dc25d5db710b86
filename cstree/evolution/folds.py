"""Parts of a training table: on some of them trees are searched, the others judge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.model_selection import check_cv

from cstree.base import check_sample_weight
from cstree.encoding.columns import Columns
from cstree.encoding.dataset import Dataset
from cstree.encoding.schema import FeatureSchema
from cstree.tree.front_evaluator import Cases
from cstree.tree.tree import Tree

__all__ = ["RawTable", "check_validation"]

Rows = NDArray[np.intp]


def check_validation(validation: Any) -> None:
    """Refuse what says no way to hold cases out.

    Raises
    ------
    TypeError, ValueError
        It is no share, no number of folds, and no splitter.
    """
    wanted = "a share between 0 and 1, a number of folds from 2 on, a splitter, pairs of rows, or None"
    if isinstance(validation, bool | str | bytes):
        raise TypeError(f"validation must be {wanted}; got {validation!r}.")
    if isinstance(validation, Integral):
        if int(validation) < 2:
            raise ValueError(f"validation must be {wanted}; got {validation!r}.")
    elif isinstance(validation, Real):
        if not 0 < float(validation) < 1:
            raise ValueError(f"validation must be {wanted}; got {validation!r}.")
    elif not hasattr(validation, "split") and not hasattr(validation, "__iter__"):
        raise TypeError(f"validation must be {wanted}; got {validation!r}.")


def _draw_folds(
    validation: Any, classes: NDArray[np.int32], rng: np.random.Generator
) -> list[tuple[Rows, Rows]]:
    """Spread each class over so many folds, or over both sides of one, as evenly as can be."""
    n = len(classes)
    by_class = np.lexsort((rng.random(n), classes))
    if isinstance(validation, Integral):
        n_folds = int(validation)
        if n < n_folds:
            raise ValueError(f"validation={n_folds} wants at least {n_folds} cases; n_samples={n}.")
        fold = np.arange(n) % n_folds
        return [_parts(by_class[fold == k], n) for k in range(n_folds)]
    passed = np.floor((np.arange(n + 1) + rng.random()) * float(validation))
    held = by_class[passed[1:] > passed[:-1]]  # every so many cases, class after class
    if not 0 < len(held) < n:
        raise ValueError(
            f"validation={validation} would hold out {len(held)} of n_samples={n} cases: some must be "
            "searched, and some must judge."
        )
    return [_parts(held, n)]


def _parts(held: Rows, n: int) -> tuple[Rows, Rows]:
    out = np.zeros(n, dtype=np.bool_)
    out[held] = True
    return np.flatnonzero(~out), np.flatnonzero(out)


def _split_by(validation: Any, X: Any, y: Any, kept: Rows) -> list[tuple[Rows, Rows]]:
    """Folds of a splitter, whose rows are those of the table as it was given."""
    position = np.full(int(kept.max()) + 1, -1)
    position[kept] = np.arange(len(kept))
    folds = []
    for pair in check_cv(validation, y, classifier=True).split(X, y):
        parts = []
        for rows in map(np.asarray, pair):
            rows = np.flatnonzero(rows) if rows.dtype == np.bool_ else rows
            places = position[rows[rows < len(position)]]
            parts.append(places[places >= 0])
        if not (len(parts[0]) and len(parts[1])):
            raise ValueError(
                "validation: a fold leaves no case (of positive weight) to search, or none to judge."
            )
        folds.append((parts[0], parts[1]))
    if not folds:
        raise ValueError("validation: the splitter gives no folds.")
    return folds


@dataclass(frozen=True, eq=False)
class RawTable:
    """Training cases as they were given: each part of them is encoded as if there were no others.

    Attributes
    ----------
    X, y : DataFrame or ndarray, array-like
        The table and its labels as they were given.
    kept : ndarray of shape (n,)
        Rows of the cases that count: those of positive weight.
    dataset : Dataset
        The same, encoded together.
    max_bins : int or None
    """

    X: Any
    y: Any
    kept: Rows
    dataset: Dataset
    max_bins: int | None

    @classmethod
    def of(cls, X: Any, y: Any, sample_weight: Any, dataset: Dataset, max_bins: int | None) -> RawTable:
        """Hold a table that has been validated."""
        columns = Columns(X)
        weight = check_sample_weight(sample_weight, columns.n_samples)
        kept = np.arange(columns.n_samples) if weight is None else np.flatnonzero(weight)
        return cls(columns.array if columns.frame is None else columns.frame, y, kept, dataset, max_bins)

    def folds(self, validation: Any, rng: np.random.Generator) -> list[tuple[Rows, Rows]]:
        """Split the cases that count into those to search on and those that judge, once or several times.

        Parameters
        ----------
        validation : int, float, splitter or iterable of (train, test)
            A number of folds, the share that is held out once, or what scikit-learn takes for ``cv``. Numbers
            spread each class over the folds as evenly as can be; a class with fewer members than there are
            folds is not in all of them.
        rng : numpy.random.Generator
            Shuffles the cases of a class, where a number was given.

        Returns
        -------
        list of (ndarray, ndarray)
            Positions among the cases that count: to search on, held out.

        Raises
        ------
        ValueError
            A part would be empty.
        """
        if isinstance(validation, Real):
            return _draw_folds(validation, self.dataset.y, rng)
        return _split_by(validation, self.X, self.y, self.kept)

    def part(self, rows: Rows) -> Dataset:
        """Encode some cases: cuts and categories are theirs; costs are known of all classes."""
        columns = self._columns(rows)
        categorical = [j for j, feature in enumerate(self.dataset.schema) if feature.kind == "categorical"]
        schema = FeatureSchema.infer(columns, categorical_features=categorical, max_bins=self.max_bins)
        data = self.dataset
        return Dataset(
            schema,
            schema.encode(columns),
            data.y[rows],
            data.n_classes,
            None if data.weight is None else data.weight[rows],
            None if data.example_cost is None else data.example_cost[rows],
        )

    def cases(self, rows: Rows, schema: FeatureSchema, trees: Sequence[Tree]) -> Cases:
        """Prepare some cases to be walked down trees over the schema of another part."""
        data = self.dataset
        return Cases.of(
            trees,
            schema,
            self._columns(rows),
            data.y[rows],
            None if data.weight is None else data.weight[rows],
            None if data.example_cost is None else data.example_cost[rows],
        )

    def _columns(self, rows: Rows) -> Columns:
        taken = self.kept[rows]
        return Columns(self.X.iloc[taken] if isinstance(self.X, pd.DataFrame) else self.X[taken])
