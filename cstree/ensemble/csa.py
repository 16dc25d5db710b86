"""CS-AdaBoost: the weak learner of the least loss in every round."""

from __future__ import annotations

from typing import Any

from cstree.costs.model import CostModel
from cstree.ensemble.double_base import DoubleBaseBoosting

__all__ = ["CSAdaBoostClassifier"]


class CSAdaBoostClassifier(DoubleBaseBoosting):
    """CS-AdaBoost: boosting that lowers a cost-sensitive exponential loss as far as it can in every round.

    For two classes. With equal costs it is AdaBoost.

    Parameters
    ----------
    costs : CostModel or None, default=None
        What mistakes and tests cost; both mistakes must cost something. None: a mistake costs 1, tests are
        free.
    estimator, pool, n_estimators
        As in :class:`~cstree.ensemble.cgada.CGAdaClassifier`.
    search : {"conditional", "exhaustive"}, default="conditional"
        "exhaustive": the hyperbolic equation of every candidate is solved by halving, as published.
        "conditional": a bound rejects most candidates unsolved; the committee is the same.
    balanced : bool, default=False
        Begin with both classes of equal weight, as published.
    max_bins, categorical_features
        As in :class:`~cstree.ensemble.cgada.CGAdaClassifier`.
    random_state : int, Generator or None, default=None
        Draws the order of the conditional search, and seeds weak learners that are trained.

    Attributes
    ----------
    estimators_, estimator_weights_, estimator_errors_, bounds_, n_contributing_, n_evaluations_, n_roots_
        As in :class:`~cstree.ensemble.double_base.AdaBoostDBClassifier`.
    search_seconds_, class_costs_, classes_, schema_, costs_, n_features_in_, feature_names_in_
        Likewise.

    Notes
    -----
    With the sums of weights ``T_+, T_-`` of the classes and ``b, d`` of their wrong cases, alpha solves ``2
    C_P b cosh(C_P alpha) + 2 C_N d cosh(C_N alpha) = C_P T_+ e^{-C_P alpha} + C_N T_- e^{-C_N alpha}``, and
    the candidate is taken whose loss ``b (e^{C_P alpha} - e^{-C_P alpha}) + T_+ e^{-C_P alpha} + d (e^{C_N
    alpha} - e^{-C_N alpha}) + T_- e^{-C_N alpha}`` is least. The bound that rejects candidates: the second
    derivative of a loss l is at least ``c^2 l``, c the lesser cost, so l is nowhere below ``sqrt(l^2 - (l' /
    c)^2)``.

    References
    ----------
    H. Masnadi-Shirazi, N. Vasconcelos, Cost-sensitive boosting, IEEE Transactions on Pattern Analysis and
    Machine Intelligence 33(2), 2011.

    Examples
    --------
    >>> from cstree import AdaBoostDBClassifier, CSAdaBoostClassifier, CostModel
    >>> from cstree.datasets import make_bayes
    >>> X, y = make_bayes(200, random_state=0)
    >>> costs = CostModel.binary(false_positive=1, false_negative=4)
    >>> published = CSAdaBoostClassifier(costs, n_estimators=20, search="exhaustive").fit(X, y)
    >>> fast = AdaBoostDBClassifier(costs, n_estimators=20, select="loss").fit(X, y)
    >>> published.estimators_ == fast.estimators_
    True
    """

    def __init__(
        self,
        costs: CostModel | None = None,
        *,
        estimator: Any = None,
        pool: Any = None,
        n_estimators: int = 50,
        search: str = "conditional",
        balanced: bool = False,
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
        self.search = search
        self.balanced = balanced

    def _settings(self) -> dict[str, str]:
        if self.search not in ("conditional", "exhaustive"):
            raise ValueError(f"search must be 'conditional' or 'exhaustive'; got {self.search!r}.")
        solver = "bisect" if self.search == "exhaustive" else "newton"
        return {"method": self.search, "select": "loss", "solver": solver}
