"""AdaC1, AdaC2 and AdaC3."""

from __future__ import annotations

from typing import Any

import numpy as np

from cstree.costs.model import CostModel
from cstree.ensemble.weighted import (
    Floats,
    Mask,
    WeightedBoosting,
    half_log,
    normalised,
    require_positive,
    signs,
)

__all__ = ["AdaC1Classifier", "AdaC2Classifier", "AdaC3Classifier"]


class AdaC2Classifier(WeightedBoosting):
    """AdaC2: the update of AdaBoost, times the cost of the case, right or wrong.

    For two classes.

    Parameters
    ----------
    costs, estimator, pool, n_estimators
        As in :class:`~cstree.ensemble.cgada.CGAdaClassifier`. Every mistake must cost something.
    select_weights : {"D", "cD"}, default="D"
        Weights under which the weak learner has the least error. "D": as published; boosting then often ends
        early, because alpha judges learners by other weights. "cD": by those of alpha.
    max_bins, categorical_features, random_state
        As in :class:`~cstree.ensemble.cgada.CGAdaClassifier`.

    Attributes
    ----------
    estimators_, estimator_weights_, estimator_errors_, class_costs_
        As in :class:`~cstree.ensemble.cgada.CGAdaClassifier`, with ``classes_``, ``schema_``, ``costs_``,
        ``n_features_in_`` and ``feature_names_in_``.

    Notes
    -----
    ``D_1 = 1 / n``, ``alpha = ln(sum_right c D / sum_wrong c D) / 2``, ``D <- c D e^{-alpha y h}``. Costs
    enter in every round: with many rounds of stumps the method drifts towards answering the dear class
    always.

    References
    ----------
    Y. Sun, M. S. Kamel, A. K. C. Wong, Y. Wang, Cost-sensitive boosting for classification of imbalanced
    data, Pattern Recognition 40, 2007.

    Examples
    --------
    >>> from cstree import AdaC2Classifier, CostModel
    >>> costs = CostModel.binary(false_positive=1, false_negative=4)
    >>> model = AdaC2Classifier(costs, n_estimators=3).fit([[1.0], [2.0], [3.0], [4.0]], [0, 1, 0, 1])
    >>> model.predict([[1.0], [2.0], [3.0], [4.0]]).tolist()
    [0, 1, 1, 1]
    """

    def __init__(
        self,
        costs: CostModel | None = None,
        *,
        estimator: Any = None,
        pool: Any = None,
        n_estimators: int = 50,
        select_weights: str = "D",
        max_bins: int | None = 255,
        categorical_features: Any = "from_dtype",
        random_state: Any = None,
    ) -> None:
        super().__init__(
            costs,
            estimator=estimator,
            pool=pool,
            n_estimators=n_estimators,
            max_bins=max_bins,
            categorical_features=categorical_features,
            random_state=random_state,
        )
        self.select_weights = select_weights

    def _check_options(self) -> None:
        if self.select_weights not in ("D", "cD"):
            raise ValueError(f"select_weights must be 'D' or 'cD', got {self.select_weights!r}.")

    def _scaled_costs(self, cost: Floats) -> Floats:
        require_positive(cost, type(self).__name__)
        return cost / cost.max()

    def _start(self, c: Floats) -> Floats:
        return np.ones_like(c)

    def _selection_weights(self, D: Floats, c: Floats) -> Floats:
        return D if self.select_weights == "D" else normalised(c * D)

    def _alpha(self, D: Floats, c: Floats, wrong: Mask, error: float) -> float:
        weighted = c * D
        return half_log(float(~wrong @ weighted), float(wrong @ weighted))

    def _log_factor(self, alpha: float, c: Floats, wrong: Mask) -> Floats:
        return np.log(c) - alpha * signs(wrong)


class AdaC1Classifier(AdaC2Classifier):
    """AdaC1: costs within the exponent of the update.

    For two classes. With ``select_weights="cD"`` the strongest of the three AdaC methods on stumps.

    Parameters
    ----------
    costs, estimator, pool, n_estimators, select_weights, max_bins, categorical_features, random_state
        As in :class:`~cstree.ensemble.adac.AdaC2Classifier`.

    Attributes
    ----------
    estimators_, estimator_weights_, estimator_errors_, class_costs_
        As in :class:`~cstree.ensemble.cgada.CGAdaClassifier`.

    Notes
    -----
    Costs are divided by the greatest one. ``D_1 = 1 / n``, ``alpha = ln((1 + s) / (1 - s)) / 2`` with
    ``s = sum_right c D - sum_wrong c D``, ``D <- D e^{-alpha c y h}``.

    References
    ----------
    Y. Sun, M. S. Kamel, A. K. C. Wong, Y. Wang, Cost-sensitive boosting for classification of imbalanced
    data, Pattern Recognition 40, 2007.

    Examples
    --------
    >>> from cstree import AdaC1Classifier
    >>> AdaC1Classifier(n_estimators=3).fit([[1.0], [2.0], [3.0]], [0, 1, 1]).predict([[1.0], [3.0]]).tolist()
    [0, 1]
    """

    def _alpha(self, D: Floats, c: Floats, wrong: Mask, error: float) -> float:
        s = float((c * D * signs(wrong)).sum())
        return half_log((1.0 + s) / 2, (1.0 - s) / 2)

    def _log_factor(self, alpha: float, c: Floats, wrong: Mask) -> Floats:
        return -alpha * c * signs(wrong)


class AdaC3Classifier(AdaC2Classifier):
    """AdaC3: costs both within the exponent of the update and before it.

    For two classes.

    Parameters
    ----------
    costs, estimator, pool, n_estimators, select_weights, max_bins, categorical_features, random_state
        As in :class:`~cstree.ensemble.adac.AdaC2Classifier`; ``select_weights="cD"`` here means ``c^2 D``,
        by which alpha judges.

    Attributes
    ----------
    estimators_, estimator_weights_, estimator_errors_, class_costs_
        As in :class:`~cstree.ensemble.cgada.CGAdaClassifier`.

    Notes
    -----
    Costs are divided by the greatest one. ``D_1 = 1 / n``, ``alpha = ln((E + q) / (E - q)) / 2`` with ``E =
    sum c D`` and ``q = sum_right c^2 D - sum_wrong c^2 D``, ``D <- c D e^{-alpha c y h}``.

    References
    ----------
    Y. Sun, M. S. Kamel, A. K. C. Wong, Y. Wang, Cost-sensitive boosting for classification of imbalanced
    data, Pattern Recognition 40, 2007.

    Examples
    --------
    >>> from cstree import AdaC3Classifier
    >>> AdaC3Classifier(n_estimators=3).fit([[1.0], [2.0], [3.0]], [0, 1, 1]).predict([[1.0], [3.0]]).tolist()
    [0, 1]
    """

    def _selection_weights(self, D: Floats, c: Floats) -> Floats:
        return D if self.select_weights == "D" else normalised(c**2 * D)

    def _alpha(self, D: Floats, c: Floats, wrong: Mask, error: float) -> float:
        E, q = float((c * D).sum()), float((c**2 * D * signs(wrong)).sum())
        return half_log((E + q) / 2, (E - q) / 2)

    def _log_factor(self, alpha: float, c: Floats, wrong: Mask) -> Floats:
        return np.log(c) - alpha * c * signs(wrong)
