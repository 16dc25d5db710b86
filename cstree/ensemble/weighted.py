"""Boosting that weighs cases: the rounds that all its methods share.

Of a round: ``D`` are the weights of the cases (sum 1), ``c`` their costs as the method scales them, ``wrong``
the cases that the weak learner gets wrong; ``y h`` is -1 for these and 1 for the others.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from cstree.base import as_generator
from cstree.ensemble.boosting import BoostingClassifier, CaseWeights, case_costs
from cstree.ensemble.root import PERFECT

__all__ = ["Floats", "Mask", "WeightedBoosting", "half_log", "normalised", "require_positive", "signs"]

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

# Learners with a weight up to this end the boosting.
_LEAST_WEIGHT = 1e-10


def half_log(part: float, rest: float) -> float:
    """``ln(part / rest) / 2`` of two shares of a sum, cut off where less than 1e-12 of it is left."""
    least = PERFECT * (part + rest)
    return 0.5 * math.log(max(part, least) / max(rest, least))


def normalised(weight: Floats) -> Floats:
    """Scale weights to the sum 1."""
    return np.asarray(weight / weight.sum(), dtype=np.float64)


def signs(wrong: Mask) -> Floats:
    """``y h``: -1 where the weak learner is wrong, else 1."""
    return np.where(wrong, -1.0, 1.0)


def require_positive(cost: Floats, method: str) -> None:
    """Refuse cases whose mistakes cost nothing."""
    if not (cost > 0).all():
        raise ValueError(
            f"{method} divides by the costs of mistakes, and one of them is 0: give every mistake a cost, "
            "if a small one, or use CGAdaClassifier."
        )


class WeightedBoosting(BoostingClassifier):
    """Rounds that differ in four formulas: costs and weights at the start, alpha, and the update."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None, example_cost: Any = None) -> Self:
        """Boost weak learners.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)
            Stumps and trees read numbers, strings, booleans, categories and missing values; other weak
            learners what they can.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), optional
            Weights; cases of weight 0 are left out.
        example_cost : array-like of shape (n_samples, n_classes), optional
            Cost of each answer for each case, in the order of ``classes_``; replaces the cost matrix.

        Returns
        -------
        WeightedBoosting
            The fitted estimator itself.

        Raises
        ------
        ValueError
            A parameter is out of range, or data or costs cannot be used; the message says what to change.
        """
        self._check_options()
        dataset, learners = self._begin(X, y, sample_weight, example_cost, as_generator(self.random_state))
        if learners is None:
            return self
        cost = case_costs(dataset, self.costs_)
        self.class_costs_ = self._mean_costs(dataset, cost)
        scaled = self._scaled_costs(cost)
        weights = CaseWeights(dataset.weights() * self._start(scaled))
        members: list[Any] = []
        alphas: list[float] = []
        errors: list[float] = []
        for _ in range(self.n_estimators):
            D = weights.value
            chosen = self._selection_weights(D, scaled)
            learner, wrong = learners.best(chosen)
            error = float(wrong @ D)
            lost = error if chosen is D else float(wrong @ chosen)
            alpha = self._alpha(D, scaled, wrong, error)
            if not self._is_useful(lost, alpha):
                if not members:  # predict needs one
                    members, alphas, errors = [learner], [1.0], [error]
                break
            members.append(learner)
            alphas.append(alpha)
            errors.append(error)
            if lost <= PERFECT:
                break
            weights.multiply(self._log_factor(alpha, scaled, wrong))
        self._end(members, alphas, errors)
        return self

    def _check_options(self) -> None:
        """Check what only this method has."""

    def _is_useful(self, lost: float, alpha: float) -> bool:
        """Whether a learner joins the committee; ``lost`` is its error under the weights that chose it."""
        return alpha > _LEAST_WEIGHT

    def _scaled_costs(self, cost: Floats) -> Floats:
        """Costs ``c`` of the cases as the method wants them."""
        return cost

    def _start(self, c: Floats) -> Floats:
        """Weights ``D_1``, not yet scaled to the sum 1."""
        return c

    def _selection_weights(self, D: Floats, c: Floats) -> Floats:
        """Weights, of sum 1, under which the weak learner has the least error."""
        return D

    @abstractmethod
    def _alpha(self, D: Floats, c: Floats, wrong: Mask, error: float) -> float:
        """Weight of the weak learner; ``error`` is its error under ``D``."""

    @abstractmethod
    def _log_factor(self, alpha: float, c: Floats, wrong: Mask) -> Floats:
        """Logarithm of what the weights are multiplied with."""
