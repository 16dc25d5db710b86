"""The points of a front measured on other cases than those that the front was searched on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cstree.pareto import _kernels
from cstree.pareto.selection import MISCLASSIFICATION_COST, TEST_COST, SelectionRule, select

__all__ = ["FrontEvaluation"]

Floats = NDArray[np.float64]

# Costs are averages of sums, which differ in the last digits with the order of summation.
_DIGITS = 12


@dataclass(frozen=True, eq=False)
class FrontEvaluation:
    """What the trees of a front cost on other cases; made by :meth:`Front.evaluate`.

    All arrays are in the order of the front, so point ``i`` is the front's tree ``i``. A sequence of the
    trees, as the front is one.

    Attributes
    ----------
    objectives : ndarray of shape (n_points, n_objectives)
        Averages per unit of weight over the new cases; what does not depend on cases (leaves, the dearest
        path) as on the front.
    standard_errors : ndarray of shape (n_points, n_objectives)
        Of these averages, over cases; 0 for what does not depend on cases, NaN where nothing is known: from
        one case alone, or for an objective that only the search could measure.
    total_cost, total_cost_error : ndarray of shape (n_points,)
        Misclassification cost + test cost, and its standard error (of the sum by case: cases that take dear
        tests may be those that are answered well).
    training : ndarray of shape (n_points, n_objectives)
        Objectives as the front has them.
    n_samples : int
        Cases of positive weight.
    objective_names : tuple of str
        What the columns are.
    trees : tuple
        The object behind each point.

    Notes
    -----
    With weights ``w`` an average is ``m = sum w x / sum w`` and its standard error
    ``sqrt(n / (n - 1) * sum w^2 (x - m)^2) / sum w``, that of a ratio: ``s / sqrt(n)`` for equal weights. A
    weight says how much a case counts, not how many cases it stands for.
    """

    objectives: Floats
    standard_errors: Floats
    total_cost: Floats
    total_cost_error: Floats
    training: Floats
    n_samples: int
    objective_names: tuple[str, ...]
    trees: tuple[Any, ...]

    def __len__(self) -> int:
        return len(self.trees)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.trees)

    def __getitem__(self, index: int) -> Any:
        return self.trees[index]

    def __repr__(self) -> str:
        return (
            f"FrontEvaluation({int(self.survives.sum())} of {len(self)} points survive on "
            f"{self.n_samples} cases)"
        )

    @cached_property
    def survives(self) -> NDArray[np.bool_]:
        """Points that no other point dominates on the new cases, shape (n_points,).

        Points with the same objectives do not dominate one another. Differences of 1e-12 (relative to the
        greatest value) count as rounding.
        """
        scale = np.abs(self.objectives).max(axis=0)
        rounded = np.round(self.objectives / np.where(scale > 0, scale, 1.0), _DIGITS)
        points, position = np.unique(rounded, axis=0, return_inverse=True)
        return _kernels.nondominated(np.ascontiguousarray(points))[position.reshape(-1)]

    def select(self, rule: SelectionRule) -> int:
        """Index of the point that a rule chooses by the costs on these cases.

        Parameters
        ----------
        rule : str, mapping with one entry, or callable
            As for :meth:`Front.select`. It sees the points that survive, sorted as on a front; a callable
            gets them as a :class:`FrontEvaluation`.

        Returns
        -------
        int
            Index on this evaluation, and on the front.

        Raises
        ------
        TypeError, ValueError, IndexError
            As :meth:`Front.select`.
        """
        kept = np.flatnonzero(self.survives)
        order = kept[np.lexsort(self.objectives[kept].T[::-1])]
        return int(order[select(self._of(order), rule)])

    def _of(self, points: NDArray[np.intp]) -> FrontEvaluation:
        return FrontEvaluation(
            self.objectives[points],
            self.standard_errors[points],
            self.total_cost[points],
            self.total_cost_error[points],
            self.training[points],
            self.n_samples,
            self.objective_names,
            tuple(self.trees[i] for i in points),
        )

    def to_frame(self) -> pd.DataFrame:
        """Table with one row per point, in the order of the front.

        Returns
        -------
        DataFrame
            Each objective and, under ``..._se``, its standard error; ``total_cost`` and ``total_cost_se``;
            ``training_total_cost`` if the front has both costs; ``survives``. The index, named ``point``,
            is that of the front.
        """
        columns: dict[str, Any] = {}
        for j, name in enumerate(self.objective_names):
            columns[name] = self.objectives[:, j]
            columns[f"{name}_se"] = self.standard_errors[:, j]
        columns["total_cost"] = self.total_cost
        columns["total_cost_se"] = self.total_cost_error
        if {MISCLASSIFICATION_COST, TEST_COST} <= set(self.objective_names):
            both = [self.objective_names.index(name) for name in (MISCLASSIFICATION_COST, TEST_COST)]
            columns["training_total_cost"] = self.training[:, both].sum(axis=1)
        columns["survives"] = self.survives
        return pd.DataFrame(columns, index=pd.RangeIndex(len(self), name="point"))
