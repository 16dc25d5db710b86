"""AdaCost."""

from __future__ import annotations

from typing import Any

import numpy as np

from cstree.costs.model import CostModel
from cstree.ensemble.weighted import Floats, Mask, WeightedBoosting, half_log, signs

__all__ = ["AdaCostClassifier"]


class AdaCostClassifier(WeightedBoosting):
    """AdaCost: weights of dear cases grow more when they are wrong and shrink less when they are right.

    For two classes.

    Parameters
    ----------
    costs, estimator, pool, n_estimators
        As in :class:`~cstree.ensemble.cgada.CGAdaClassifier`.
    cost_scale : float, default=0.5
        Costs enter as ``c = cost_scale * cost / greatest cost``, in (0, 1]. 1 is the published method, whose
        dearest cases never lose weight: with stumps it often ends before the first round. Towards 0 only the
        weights at the start know the costs, as in CGAda, and steps are small.
    max_bins, categorical_features, random_state
        As in :class:`~cstree.ensemble.cgada.CGAdaClassifier`.

    Attributes
    ----------
    estimators_, estimator_weights_, estimator_errors_, class_costs_
        As in :class:`~cstree.ensemble.cgada.CGAdaClassifier`, with ``classes_``, ``schema_``, ``costs_``,
        ``n_features_in_`` and ``feature_names_in_``.

    Notes
    -----
    With ``beta = (1 - c) / 2`` for right and ``(1 + c) / 2`` for wrong cases, ``r = sum D y h beta``,
    ``alpha = ln((1 + r) / (1 - r)) / 2``, ``D <- D e^{-alpha y h beta}``. The learner of greatest r is the
    one of least weighted error, as ``r = sum D (1 - c) / 2 - eps``.

    References
    ----------
    W. Fan, S. J. Stolfo, J. Zhang, P. K. Chan, AdaCost: misclassification cost-sensitive boosting, ICML 1999.

    Examples
    --------
    >>> from cstree import AdaCostClassifier, CostModel
    >>> costs = CostModel.binary(false_positive=1, false_negative=4)
    >>> model = AdaCostClassifier(costs, n_estimators=3).fit([[1.0], [2.0], [3.0], [4.0]], [0, 1, 0, 1])
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
        cost_scale: float = 0.5,
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
        self.cost_scale = cost_scale

    def _check_options(self) -> None:
        scale = self.cost_scale
        if isinstance(scale, bool) or not isinstance(scale, (int, float, np.number)) or not 0 < scale <= 1:
            raise ValueError(f"cost_scale must be a number above 0 and up to 1, got {scale!r}.")

    def _scaled_costs(self, cost: Floats) -> Floats:
        return self.cost_scale * cost / cost.max()

    @staticmethod
    def _beta(c: Floats, wrong: Mask) -> Floats:
        return (1.0 - signs(wrong) * c) / 2.0

    def _alpha(self, D: Floats, c: Floats, wrong: Mask, error: float) -> float:
        r = float((D * signs(wrong) * self._beta(c, wrong)).sum())
        return half_log((1.0 + r) / 2, (1.0 - r) / 2)

    def _log_factor(self, alpha: float, c: Floats, wrong: Mask) -> Floats:
        return -alpha * signs(wrong) * self._beta(c, wrong)
