"""CSB0, CSB1 and CSB2."""

from __future__ import annotations

from typing import Any

import numpy as np

from cstree.costs.model import CostModel
from cstree.ensemble.search import LEAST_EDGE
from cstree.ensemble.weighted import Floats, Mask, WeightedBoosting, half_log, require_positive, signs

__all__ = ["CSB0Classifier", "CSB1Classifier", "CSB2Classifier"]


class CSB0Classifier(WeightedBoosting):
    """CSB0: only wrong cases change weight, by their cost.

    For two classes.

    Parameters
    ----------
    costs, estimator, pool, n_estimators
        As in :class:`~cstree.ensemble.cgada.CGAdaClassifier`. Every mistake must cost something.
    decision : {"mec", "sign"}, default="mec"
        "mec": the answer of least expected cost under the shares of the vote, as published. "sign": the
        heavier vote.
    max_bins, categorical_features, random_state
        As in :class:`~cstree.ensemble.cgada.CGAdaClassifier`.

    Attributes
    ----------
    estimators_, estimator_weights_, estimator_errors_, class_costs_
        As in :class:`~cstree.ensemble.cgada.CGAdaClassifier`, with ``classes_``, ``schema_``, ``costs_``,
        ``n_features_in_`` and ``feature_names_in_``.

    Notes
    -----
    ``D_1`` in proportion to costs, ``D <- D c`` for wrong cases, with c the cost over the least cost; alpha
    is that of AdaBoost, and a case is positive if ``f >= A (C_N - C_P) / (C_N + C_P)``, A the sum of the
    alphas. Costs enter in every round: with many rounds of stumps the method drifts towards answering the
    dear class always.

    References
    ----------
    K. M. Ting, A comparative study of cost-sensitive boosting algorithms, ICML 2000.

    Examples
    --------
    >>> from cstree import CSB0Classifier, CostModel
    >>> costs = CostModel.binary(false_positive=1, false_negative=4)
    >>> model = CSB0Classifier(costs, n_estimators=3).fit([[1.0], [2.0], [3.0], [4.0]], [0, 1, 0, 1])
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
        decision: str = "mec",
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
        self.decision = decision

    def _check_options(self) -> None:
        if self.decision not in ("mec", "sign"):
            raise ValueError(f"decision must be 'mec' or 'sign', got {self.decision!r}.")

    def _scaled_costs(self, cost: Floats) -> Floats:
        require_positive(cost, type(self).__name__)
        return cost / cost.min()

    def _is_useful(self, lost: float, alpha: float) -> bool:
        return lost < 0.5 - LEAST_EDGE

    def _alpha(self, D: Floats, c: Floats, wrong: Mask, error: float) -> float:
        return half_log(1.0 - error, error)

    def _log_factor(self, alpha: float, c: Floats, wrong: Mask) -> Floats:
        return np.where(wrong, np.log(c), 0.0)

    def _decision(self, scores: Floats, n_members: int) -> Floats:
        f = super()._decision(scores, n_members)
        return f - self._threshold(n_members)

    def _threshold(self, n_members: int) -> float:
        """Vote above which a case is positive."""
        if self.decision == "sign" or self.n_classes_ == 1:
            return 0.0
        of_negative, of_positive = self.class_costs_
        total = float(self.estimator_weights_[:n_members].sum())
        return total * float((of_negative - of_positive) / (of_negative + of_positive))

    def _probabilities(self, decision: Floats, n_members: int) -> Floats:
        """Shares of the vote, whose answer of least expected cost is the decision "mec"."""
        if self.decision == "sign" or self.n_classes_ == 1:
            return super()._probabilities(decision, n_members)
        total = float(self.estimator_weights_[:n_members].sum())
        share = np.clip((1.0 + (decision + self._threshold(n_members)) / total) / 2.0, 0.0, 1.0)
        return np.column_stack([1.0 - share, share])


class CSB1Classifier(CSB0Classifier):
    """CSB1: as AdaBoost with alpha 1 in the update, and wrong cases times their cost.

    For two classes.

    Parameters
    ----------
    costs, estimator, pool, n_estimators, decision, max_bins, categorical_features, random_state
        As in :class:`~cstree.ensemble.csb.CSB0Classifier`.

    Attributes
    ----------
    estimators_, estimator_weights_, estimator_errors_, class_costs_
        As in :class:`~cstree.ensemble.cgada.CGAdaClassifier`.

    Notes
    -----
    As :class:`~cstree.ensemble.csb.CSB0Classifier`, but ``D <- D c^{[wrong]} e^{-y h}``.

    References
    ----------
    K. M. Ting, A comparative study of cost-sensitive boosting algorithms, ICML 2000.

    Examples
    --------
    >>> from cstree import CSB1Classifier
    >>> CSB1Classifier(n_estimators=3).fit([[1.0], [2.0], [3.0]], [0, 1, 1]).predict([[1.0], [3.0]]).tolist()
    [0, 1]
    """

    def _log_factor(self, alpha: float, c: Floats, wrong: Mask) -> Floats:
        return np.where(wrong, np.log(c), 0.0) - signs(wrong)


class CSB2Classifier(CSB0Classifier):
    """CSB2: the update of AdaBoost, and wrong cases times their cost; with equal costs it is AdaBoost.

    For two classes.

    Parameters
    ----------
    costs, estimator, pool, n_estimators, decision, max_bins, categorical_features, random_state
        As in :class:`~cstree.ensemble.csb.CSB0Classifier`.

    Attributes
    ----------
    estimators_, estimator_weights_, estimator_errors_, class_costs_
        As in :class:`~cstree.ensemble.cgada.CGAdaClassifier`.

    Notes
    -----
    As :class:`~cstree.ensemble.csb.CSB0Classifier`, but ``D <- D c^{[wrong]} e^{-alpha y h}``.

    References
    ----------
    K. M. Ting, A comparative study of cost-sensitive boosting algorithms, ICML 2000.

    Examples
    --------
    >>> from cstree import CSB2Classifier
    >>> CSB2Classifier(n_estimators=3).fit([[1.0], [2.0], [3.0]], [0, 1, 1]).predict([[1.0], [3.0]]).tolist()
    [0, 1]
    """

    def _log_factor(self, alpha: float, c: Floats, wrong: Mask) -> Floats:
        return np.where(wrong, np.log(c), 0.0) - alpha * signs(wrong)
