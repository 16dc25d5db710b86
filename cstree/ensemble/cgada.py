"""AdaBoost with cost-weighted first weights, for any number of classes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from cstree.costs.model import CostModel
from cstree.ensemble.search import LEAST_EDGE
from cstree.ensemble.weighted import Floats, Mask, WeightedBoosting, half_log

__all__ = ["CGAdaClassifier"]


class CGAdaClassifier(WeightedBoosting):
    """AdaBoost that begins with weights in proportion to costs; with 0/1 costs it is AdaBoost.

    For any number of classes, by SAMME. Often as good as more elaborate methods, and the first to try.

    Parameters
    ----------
    costs : CostModel or None, default=None
        What mistakes and tests cost. None: a mistake costs 1, tests are free.
    estimator : classifier or None, default=None
        Weak learner whose ``fit`` takes ``sample_weight``; it gets weights of mean 1. None, and no pool:
        decision stumps over all features, found without training.
    pool : Front, ParetoTreeClassifier or list of fitted classifiers, default=None
        A fixed set of trained classifiers to choose weak learners from. Classifiers in a list are best
        wrapped in scikit-learn's FrozenEstimator, so that clones keep what they learned; a front keeps its
        trees anyway.
    n_estimators : int, default=50
        Most rounds.
    max_bins : int or None, default=255
        Stumps: most bins of a numeric feature; None: a cut between every two neighbouring values.
    categorical_features : "from_dtype", None or list, default="from_dtype"
        Stumps: which columns are categorical: by dtype, none, or these names, positions or booleans.
    random_state : int, Generator or None, default=None
        Seeds the weak learners that are trained.

    Attributes
    ----------
    estimators_ : list
        The committee: :class:`~cstree.ensemble.stumps.Stump` or fitted classifiers.
    estimator_weights_ : ndarray of shape (n_rounds,)
        Their weights alpha.
    estimator_errors_ : ndarray of shape (n_rounds,)
        Their errors under the weights of their round.
    class_costs_ : ndarray of shape (n_classes,)
        Mean cost of a mistake by class.
    classes_ : ndarray of shape (n_classes,)
    schema_ : FeatureSchema
    costs_ : BoundCosts
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)

    Notes
    -----
    ``D_1(i) = c_i / sum c`` with c the cost of getting the case wrong; then, for K classes, ``alpha = (K -
    1)^2 / K [ln((1 - eps) / eps) + ln(K - 1)]`` (1/2 in front for two) and weights of wrong cases grow by
    ``e^{alpha K / (K - 1)^2}``. Boosting ends when the best learner is no better than chance, or perfect.

    A stump asks whether a number is above a cut, a category is the one named, or a value is missing. Where
    the training column has missing values, stumps exist with them on either side; else they go to the
    heavier side.

    References
    ----------
    J. Zhu, H. Zou, S. Rosset, T. Hastie, Multi-class AdaBoost, Statistics and Its Interface 2, 2009.

    I. Landesa-Vázquez, J. L. Alba-Castro, Shedding light on the asymmetric learning capability of AdaBoost,
    Pattern Recognition Letters 33, 2012.

    Examples
    --------
    >>> from cstree import CGAdaClassifier, CostModel
    >>> X = [[1.0], [2.0], [3.0], [4.0], [5.0], [6.0]]
    >>> y = ["well", "ill", "well", "ill", "well", "ill"]
    >>> costs = CostModel({("ill", "well"): 9.0, ("well", "ill"): 1.0})
    >>> model = CGAdaClassifier(costs, n_estimators=1).fit(X, y)
    >>> print(model.estimators_[0])
    x0 > 1.5: ill, else well
    """

    _binary_only = False

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
        super().__init__(
            costs,
            estimator=estimator,
            pool=pool,
            n_estimators=n_estimators,
            max_bins=max_bins,
            categorical_features=categorical_features,
            random_state=random_state,
        )

    def _is_useful(self, lost: float, alpha: float) -> bool:
        return lost < 1.0 - 1.0 / self.n_classes_ - LEAST_EDGE

    def _alpha(self, D: Floats, c: Floats, wrong: Mask, error: float) -> float:
        K = self.n_classes_
        return (K - 1) ** 2 / K * (2 * half_log(1.0 - error, error) + math.log(K - 1))

    def _log_factor(self, alpha: float, c: Floats, wrong: Mask) -> Floats:
        K = self.n_classes_
        return np.where(wrong, alpha * K / (K - 1) ** 2, 0.0)
