"""What all boosting methods share in training: parameters, weak learners, weights and costs of cases."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import get_tags

from cstree.base import check_sample_weight
from cstree.costs.bound import BoundCosts
from cstree.costs.model import CostModel
from cstree.encoding.columns import Columns
from cstree.encoding.dataset import Dataset
from cstree.ensemble.learners import TrainedLearners, WeakLearners
from cstree.ensemble.members import Table
from cstree.ensemble.pool import PoolLearners, pool_members
from cstree.ensemble.stumps import StumpPool, constant_stump
from cstree.ensemble.vote import WeightedVote

__all__ = ["BoostingClassifier", "CaseWeights", "case_costs"]

Floats = NDArray[np.float64]


class CaseWeights:
    """Weights of the training cases, held as logarithms, so that no number of rounds wears them out.

    Parameters
    ----------
    start : ndarray of shape (n_samples,)
        Not negative, and not all of them 0.
    """

    def __init__(self, start: Floats) -> None:
        with np.errstate(divide="ignore"):
            self._log = np.log(start)
        self._most = -np.inf
        self._refresh()

    def _refresh(self) -> None:
        self._most = float(self._log.max())
        self.value: Floats = np.exp(self._log - self._most)
        self._sum = float(self.value.sum())
        self.value /= self._sum

    @property
    def log_total(self) -> float:
        """Logarithm of the sum that the weights would have had without scaling them to 1."""
        return float(self._most + np.log(self._sum))

    def multiply(self, log_factor: Floats) -> None:
        """Multiply by factors given as logarithms, and scale to the sum 1."""
        self._log += log_factor
        self._refresh()


def case_costs(dataset: Dataset, costs: BoundCosts) -> Floats:
    """Cost of getting each case wrong beyond that of getting it right, shape (n_samples,).

    For two classes ``C_P = C[+, -] - C[+, +]`` and ``C_N = C[-, +] - C[-, -]``; for more, the mean over the
    wrong answers.

    Raises
    ------
    ValueError
        A wrong answer costs less than the right one, or no wrong answer costs anything.
    """
    rows = dataset.case_costs(costs.matrix)
    right = rows[np.arange(dataset.n_samples), dataset.y]
    cost = (rows.sum(axis=1) - right) / (dataset.n_classes - 1) - right
    if (cost < 0).any():
        label = costs.classes[int(dataset.y[int((cost < 0).argmax())])]
        raise ValueError(
            f"for a case of class {label!r} a wrong answer costs less than the right one: boosting, which "
            "weighs cases by what a mistake costs, needs wrong answers that cost at least as much."
        )
    if not (cost > 0).any():
        raise ValueError("no mistake costs anything: give costs in which some wrong answer is dearer.")
    return np.asarray(cost)


class BoostingClassifier(WeightedVote):
    """Base of the boosting methods: their parameters, and what ``fit`` begins and ends with.

    Subclasses have a ``fit`` that calls :meth:`_begin`, runs rounds, and calls :meth:`_end`.
    """

    # Whether the method is for two classes only.
    _binary_only = True

    def __init__(
        self,
        costs: CostModel | None = None,
        *,
        estimator: Any = None,
        pool: Any = None,
        n_estimators: int = 50,
        max_bins: int | None = 255,
        categorical_features: Any = "from_dtype",
        random_state: Any = None,
    ) -> None:
        self.costs = costs
        self.estimator = estimator
        self.pool = pool
        self.n_estimators = n_estimators
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        """Take the tags of inputs from the weak learners."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = not self._binary_only
        if not isinstance(self.estimator, type) and hasattr(self.estimator, "__sklearn_tags__"):
            own = get_tags(self.estimator).input_tags
            tags.input_tags.allow_nan = own.allow_nan
            tags.input_tags.string = own.string
            tags.input_tags.categorical = own.categorical
        return tags

    def _begin(
        self, X: Any, y: Any, sample_weight: Any, example_cost: Any, rng: np.random.Generator
    ) -> tuple[Dataset, WeakLearners | None]:
        """Check everything; give the training cases, and weak learners unless all are of one class."""
        n_estimators = self.n_estimators
        if (
            isinstance(n_estimators, bool)
            or not isinstance(n_estimators, (int, np.integer))
            or n_estimators < 1
        ):
            raise ValueError(f"n_estimators must be an integer of at least 1, got {n_estimators!r}.")
        if self.estimator is not None and self.pool is not None:
            raise ValueError("give estimator or pool, not both: weak learners come from one of them.")
        dataset = self._training_data(
            X,
            y,
            sample_weight,
            example_cost,
            categorical_features=self.categorical_features,
            max_bins=self.max_bins,
        )
        if self._binary_only and self.n_classes_ > 2:
            raise ValueError(
                "Only binary classification is supported. The type of the target is multiclass. "
                "CGAdaClassifier, MetaCostClassifier and CostBaggingClassifier take more than two classes."
            )
        self._end([], [], [])
        self.class_costs_ = np.ones(self.n_classes_)
        present = np.unique(dataset.y)
        if len(present) == 1:
            if self.n_classes_ > 1:  # the other classes have no weight
                self._end([constant_stump(int(present[0]), self.classes_)], [1.0], [0.0])
            return dataset, None
        if self.estimator is None and self.pool is None:
            return dataset, StumpPool(dataset, self.classes_)
        table = Table(X, Columns(X))
        if dataset.n_samples < table.n_samples:
            weight = check_sample_weight(sample_weight, table.n_samples)
            assert weight is not None
            table = table.take(np.flatnonzero(weight > 0))
        if self.pool is not None:
            return dataset, PoolLearners(pool_members(self.pool), table, dataset.y, self.classes_)
        return dataset, TrainedLearners(self.estimator, table, dataset.y, self.classes_, rng)

    def _end(self, learners: list[Any], weights: list[float], errors: list[float]) -> None:
        self.estimators_ = learners
        self.estimator_weights_ = np.array(weights, dtype=np.float64)
        self.estimator_errors_ = np.array(errors, dtype=np.float64)

    def _mean_costs(self, dataset: Dataset, cost: Floats) -> Floats:
        """Mean cost of a mistake by class, shape (n_classes,); 0 for classes without cases."""
        weight = dataset.weights()
        of_class = np.bincount(dataset.y, weights=weight, minlength=dataset.n_classes)
        total = np.bincount(dataset.y, weights=weight * cost, minlength=dataset.n_classes)
        return np.asarray(total / np.where(of_class > 0, of_class, 1.0))
