"""Cost-sensitive online classification by gradient descent (CSOC)."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import type_of_target

from cstree.costs.bound import BoundCosts
from cstree.costs.model import CostModel
from cstree.online.inputs import positive_number
from cstree.online.learner import Batch, OnlineClassifier
from cstree.online.linear import LinearPart

__all__ = ["CSOCClassifier", "cost_ratio"]


def cost_ratio(matrix: NDArray[np.float64], classes: Sequence[Any]) -> float:
    """Give ``rho``: what missing a case of the second class costs, over what a false alarm costs.

    Parameters
    ----------
    matrix : ndarray of shape (2, 2)
        ``C[true, predicted]``.
    classes : (label, label)
        For the message.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        A mistake does not cost more than the right answer.
    """
    missed, alarm = matrix[1, 0] - matrix[1, 1], matrix[0, 1] - matrix[0, 0]
    if not (missed > 0 and alarm > 0):
        raise ValueError(
            "objective='cost' wants both mistakes to cost more than right answers; they cost "
            f"{missed:g} (missing {classes[1]!r}) and {alarm:g} more."
        )
    return float(missed / alarm)


class CSOCClassifier(OnlineClassifier):
    """Learn a linear classifier online, with steps that costs weigh: CSOGD-I and CSOGD-II.

    Parameters
    ----------
    costs : CostModel or None, default=None
        What mistakes cost. None: a mistake costs 1. Not looked at if ``objective="sum"``.
    variant : {"II", "I"}, default="II"
        "II": the slope of the loss is weighed by ``rho``. "I": positive cases must reach the margin ``rho``
        instead of 1.
    objective : {"cost", "sum"}, default="cost"
        "cost": least cost of mistakes, ``rho`` is what a missed positive case costs over what a false alarm
        costs. "sum": greatest weighted sum of sensitivity and specificity.
    sensitivity_weight : float, default=0.5
        For "sum": weight of sensitivity, between 0 and 1; specificity has the rest.
    class_totals : (int, int) or None, default=None
        For "sum": cases of ``classes_[0]`` and ``classes_[1]`` that the stream will show. None: as many as it
        has shown.
    learning_rate : float, default=0.01
        Length of a step for a case of length 1, ``lambda``.
    decay : {"none", "sqrt"}, default="none"
        "sqrt": ``lambda / sqrt(t)`` at the t-th case.
    fit_intercept : bool, default=True
        Learn an intercept as well.
    intercept_scaling : float, default=1.0
        The constant feature that stands for it.
    average : bool, default=False
        Answer with the mean of the weights over the last half of the stream, or a little more of it.
    features : "x" or transformer, default="x"
        What is read. "x": the columns as they are. A transformer is fitted on the first call's cases, unless
        it is fitted already.
    scale : "auto" or None, default="auto"
        "auto": steps are divided by the mean of ``||x||^2`` over the cases so far. None: as published.
    window : int, default=1000
        Cases per point of ``prequential_curve_``.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        Class labels; the second is the positive one.
    costs_ : BoundCosts
        Costs bound to features and classes.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X had string names.
    coef_ : ndarray of shape (1, d)
        Weights.
    intercept_ : ndarray of shape (1,)
        Intercept.
    n_cases_, n_updates_ : int
        Cases learnt from, and those that moved the weights.
    prequential_error_, prequential_cost_ : float
        Share of wrong answers and average cost, each answer given before its case was learnt.
    prequential_curve_ : DataFrame
        Both by window: ``n_cases``, ``error``, ``cost``.

    See Also
    --------
    OCSCAClassifier : Adapts a fitted classifier, with steps no longer than a case asks.

    Notes
    -----
    With ``rho_t = rho`` for positive cases and 1 for others, I: ``w += lambda y x`` if ``rho_t - y f(x) >
    0``; II: ``w += lambda rho_t y x`` if ``1 - y f(x) > 0``. For "sum" ``rho = s T_N / ((1 - s) T_P)``, where
    ``s`` is the sensitivity's weight; totals that are not known are ``1 + N``, counted before the case.
    ``sample_weight`` multiplies steps.

    References
    ----------
    J. Wang, P. Zhao, S. C. H. Hoi, *Cost-sensitive online classification*, IEEE Transactions on Knowledge and
    Data Engineering 26(10), 2425-2438, 2014.

    Examples
    --------
    >>> import numpy as np
    >>> from cstree import CostModel
    >>> from cstree.online import CSOCClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(4000, 2))
    >>> y = (X[:, 0] + rng.normal(size=4000) > 1).astype(int)
    >>> even = CSOCClassifier().fit(X, y)
    >>> dear = CSOCClassifier(CostModel.binary(false_positive=1, false_negative=10)).fit(X, y)
    >>> bool(dear.predict(X).mean() > 2 * even.predict(X).mean())
    True
    """

    def __init__(
        self,
        costs: CostModel | None = None,
        *,
        variant: str = "II",
        objective: str = "cost",
        sensitivity_weight: float = 0.5,
        class_totals: tuple[int, int] | None = None,
        learning_rate: float = 0.01,
        decay: str = "none",
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        average: bool = False,
        features: Any = "x",
        scale: str | None = "auto",
        window: int = 1000,
    ) -> None:
        self.costs = costs
        self.variant = variant
        self.objective = objective
        self.sensitivity_weight = sensitivity_weight
        self.class_totals = class_totals
        self.learning_rate = learning_rate
        self.decay = decay
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.average = average
        self.features = features
        self.scale = scale
        self.window = window

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that there are two classes."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> CSOCClassifier:
        """Forget what was learnt, then take the cases once, in their order.

        Parameters
        ----------
        X : DataFrame, array-like or sparse matrix of shape (n_samples, n_features)
            Cases.
        y : array-like of shape (n_samples,)
            Labels of two classes.
        sample_weight : array-like of shape (n_samples,), optional
            Weights; cases of weight 0 are left out.

        Returns
        -------
        CSOCClassifier
            The fitted estimator itself.

        Raises
        ------
        ValueError
            A parameter is out of range, or the data cannot be used; the message says what to change.
        """
        self._learn(X, y, None, sample_weight, None, fresh=True)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> CSOCClassifier:
        """Take more cases; blocks give the same as one pass.

        Parameters
        ----------
        X : DataFrame, array-like or sparse matrix of shape (n_samples, n_features)
            Cases.
        y : array-like of shape (n_samples,)
            Labels of two classes.
        classes : array-like of shape (2,), optional
            Both classes, at the first call; not needed where the costs name them.
        sample_weight : array-like of shape (n_samples,), optional
            Weights; cases of weight 0 are left out.

        Returns
        -------
        CSOCClassifier
            The estimator itself.

        Raises
        ------
        ValueError
            A parameter is out of range, or the data cannot be used; the message says what to change.
        """
        self._learn(X, y, classes, sample_weight, None, fresh=False)
        return self

    def _check_settings(self) -> None:
        super()._check_settings()
        positive_number(self.learning_rate, "learning_rate")
        for name, known in (
            ("variant", ("I", "II")),
            ("objective", ("cost", "sum")),
            ("decay", ("none", "sqrt")),
        ):
            if getattr(self, name) not in known:
                raise ValueError(f"{name} must be {known[0]!r} or {known[1]!r}; got {getattr(self, name)!r}.")
        if positive_number(self.sensitivity_weight, "sensitivity_weight") >= 1:
            raise ValueError(f"sensitivity_weight must lie between 0 and 1; got {self.sensitivity_weight!r}.")
        totals = self.class_totals
        if totals is not None and not (
            len(totals) == 2 and all(isinstance(n, Integral) and n > 0 for n in totals)
        ):
            raise ValueError(f"class_totals must be two numbers of cases, 1 or more; got {totals!r}.")

    def _choose_classes(self, found: NDArray[Any], classes: Any, fresh: bool) -> NDArray[Any]:
        chosen = super()._choose_classes(found, classes, fresh)
        if len(chosen) > 2:
            raise ValueError(
                "Only binary classification is supported. The type of the target is "
                f"{type_of_target(chosen)}: OCSCAClassifier takes more classes."
            )
        self._seen = np.zeros(2)
        return chosen

    def _begin_costs(self, costs: BoundCosts) -> None:
        if self.objective == "cost":
            self._rho = cost_ratio(costs.matrix, self.classes_.tolist())

    def _ratios(self, y: NDArray[np.int32]) -> NDArray[np.float64]:
        """``rho`` at each case, shape (n,)."""
        if self.objective == "cost":
            return np.full(len(y), self._rho)
        shown = np.cumsum(np.vstack([self._seen, np.eye(2)[y]]), axis=0)
        self._seen = shown[-1]
        totals = 1.0 + shown[:-1] if self.class_totals is None else np.array([self.class_totals], dtype=float)
        share = self.sensitivity_weight / (1.0 - self.sensitivity_weight)
        return np.broadcast_to(share * totals[:, 0] / totals[:, 1], len(y))

    def _advance(self, linear: LinearPart, batch: Batch) -> NDArray[np.float64]:
        positive = batch.y == 1
        rho = np.where(positive, self._ratios(batch.y), 1.0)
        step = self.learning_rate * batch.weight
        if self.decay == "sqrt":
            step = step / np.sqrt(linear.n_cases + 1.0 + np.arange(len(step)))
        ones = np.ones(len(step))
        margin, cap = (rho, step) if self.variant == "I" else (ones, step * rho)
        scores = batch.base.copy()
        cases = np.column_stack([np.where(positive, 1.0, -1.0), margin, cap])
        linear.learn_two(
            batch.rows, cases, scores, False, self._constant, self.scale == "auto", bool(self.average)
        )
        return scores
