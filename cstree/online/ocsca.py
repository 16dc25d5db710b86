"""Online cost-sensitive classifier adaptation (OCSCA)."""

from __future__ import annotations

import warnings
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from cstree.costs.bound import BoundCosts
from cstree.costs.model import CostModel
from cstree.online.inputs import positive_number
from cstree.online.learner import Batch, OnlineClassifier, answers_of
from cstree.online.leaves import adapted_tree, relabels_a_tree
from cstree.online.linear import LinearPart
from cstree.online.margins import hinge_scale, node_margins

__all__ = ["OCSCAClassifier", "cheapest"]

# So many steps without one that a cost has cut short say that costs have no effect.
TELLING = 50


class OCSCAClassifier(OnlineClassifier):
    """Adapt a fitted classifier to new costs on a stream.

    The classifier was trained under old costs and stays as it is; what is learnt is a linear correction of
    its margin, one step per case, which new costs lengthen or shorten.

    Parameters
    ----------
    costs : CostModel or None, default=None
        What mistakes cost now. None: a mistake costs 1.
    estimator : fitted classifier or None, default=None
        What is adapted: any classifier with ``decision_function``, ``predict_proba`` or ``predict``; it is
        never changed, and a clone keeps it (in scikit-learn's ``FrozenEstimator``). None: nothing, ``f_0 =
        0``.
    alpha : float, default=0.01
        How far a mistake of cost 1 may move the margin of a case of length 1. Try 1e-4 to 1e-1: a large one
        lets every step go as far as its case asks, whatever it costs.
    f0_scale : float or "hinge", default=1.0
        Factor of the classifier's margin, which should be about 1 where it is sure. "hinge": the factor with
        the least hinge loss on the first call's cases (10 at least, the first 1,000 of them count).
    fit_intercept : bool, default=True
        Learn an intercept as well.
    intercept_scaling : float, default=1.0
        The constant feature that stands for it.
    average : bool, default=False
        Answer with the mean of the weights over the last half of the stream, or a little more of it.
    features : "x", "leaf" or transformer, default="x"
        What the correction reads. "x": the columns as they are, of a mixed frame those that hold numbers.
        "leaf": the leaf of the tree that is adapted, so that its leaves are labelled anew. A transformer is
        fitted on the first call's cases, unless it is fitted already.
    scale : "auto" or None, default="auto"
        "auto": alpha is counted in units of the stream, that is, divided by the mean of ``||x||^2`` and by
        the mean cost of a mistake, both over the cases so far. None: ``alpha C`` as published; scale ``X``
        yourself.
    window : int, default=1000
        Cases per point of ``prequential_curve_``.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels; the second of two is the positive one.
    costs_ : BoundCosts
        Costs bound to features and classes.
    f0_scale_ : float
        The factor in use.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X had string names.
    coef_ : ndarray of shape (1, d) or (n_classes, d)
        Weights of the correction.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Its intercepts.
    n_cases_, n_updates_ : int
        Cases learnt from, and those that moved the weights.
    prequential_error_, prequential_cost_ : float
        Share of wrong answers and average cost, each answer given before its case was learnt.
    prequential_curve_ : DataFrame
        Both by window: ``n_cases``, ``error``, ``cost``.

    See Also
    --------
    CSOCClassifier : Learns online from nothing, with steps of fixed length.

    Notes
    -----
    Two classes (equations 7 to 17 of the source): with ``l = max(0, 1 - y f(x))`` the step is ``w += tau y
    x``, ``tau = min(alpha C, l / ||x||^2)``, the minimum of ``||w' - w||^2 / 2 + alpha C max(0, 1 - y
    f'(x))``. ``C`` is what the wrong answer to this case costs more than the cheapest one.
    ``fit_intercept=False, scale=None`` is the source's algorithm to the letter.

    More classes: ``F_k(x) = F_0k(x) + W_k.x``. The rival ``r`` has the greatest ``C[y, r] (1 - (F_y -
    F_r))``; the step moves ``W_y`` and ``W_r`` by ``min(alpha C[y, r] / 2, (1 - (F_y - F_r)) / (2 ||x||^2))``
    towards and away from ``x``, which is the same for two classes. With more than two the loss need not lead
    to the answers of least expected cost where no class has half of it.

    ``sample_weight`` multiplies the costs: without ``scale``, weight 2 is the same as seeing the case twice
    in a row.

    References
    ----------
    J. Zhang, J. García, *Online classifier adaptation for cost-sensitive learning*, Neural Computing and
    Applications 27, 2016 (arXiv:1503.06745).

    Examples
    --------
    >>> import numpy as np
    >>> from cstree import CostModel, GreedyTreeClassifier
    >>> from cstree.online import OCSCAClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(4000, 2))
    >>> y = (X[:, 0] + rng.normal(size=4000) > 1).astype(int)
    >>> tree = GreedyTreeClassifier(max_depth=2).fit(X[:1000], y[:1000])
    >>> dear = CostModel.binary(false_positive=1, false_negative=10)
    >>> model = OCSCAClassifier(dear, estimator=tree, features="leaf").fit(X[1000:], y[1000:])
    >>> bool(model.predict(X).mean() > 2 * tree.predict(X).mean())
    True
    """

    def __init__(
        self,
        costs: CostModel | None = None,
        *,
        estimator: Any = None,
        alpha: float = 0.01,
        f0_scale: float | str = 1.0,
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        average: bool = False,
        features: Any = "x",
        scale: str | None = "auto",
        window: int = 1000,
    ) -> None:
        self.costs = costs
        self.estimator = estimator
        self.alpha = alpha
        self.f0_scale = f0_scale
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.average = average
        self.features = features
        self.scale = scale
        self.window = window

    def fit(self, X: Any, y: Any, sample_weight: Any = None, example_cost: Any = None) -> OCSCAClassifier:
        """Forget what was learnt, then take the cases once, in their order.

        Parameters
        ----------
        X : DataFrame, array-like or sparse matrix of shape (n_samples, n_features)
            Cases.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), optional
            Weights; cases of weight 0 are left out.
        example_cost : array-like of shape (n_samples, n_classes), optional
            Cost of each answer for each case, in the order of ``classes_``; replaces the cost matrix.

        Returns
        -------
        OCSCAClassifier
            The fitted estimator itself.

        Raises
        ------
        ValueError
            A parameter is out of range, or the data cannot be used; the message says what to change.
        """
        self._learn(X, y, None, sample_weight, example_cost, fresh=True)
        return self

    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None, example_cost: Any = None
    ) -> OCSCAClassifier:
        """Take more cases; blocks give the same as one pass.

        Parameters
        ----------
        X : DataFrame, array-like or sparse matrix of shape (n_samples, n_features)
            Cases.
        y : array-like of shape (n_samples,)
            Class labels.
        classes : array-like of shape (n_classes,), optional
            All classes of the stream, at the first call; not needed where the estimator or the costs name
            them.
        sample_weight : array-like of shape (n_samples,), optional
            Weights; cases of weight 0 are left out.
        example_cost : array-like of shape (n_samples, n_classes), optional
            Cost of each answer for each case, in the order of ``classes_``; replaces the cost matrix.

        Returns
        -------
        OCSCAClassifier
            The estimator itself.

        Raises
        ------
        ValueError
            A parameter is out of range, or the data cannot be used; the message says what to change.
        """
        self._learn(X, y, classes, sample_weight, example_cost, fresh=False)
        return self

    @available_if(relabels_a_tree)
    def test_cost(self, X: Any, *, costs: CostModel | None = None) -> NDArray[np.float64]:
        """Return what the tests cost that each case takes; with ``features="leaf"``, those of the tree.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)
            Cases.
        costs : CostModel, optional
            Prices; by default those of ``costs_``, or the tree's own where it has none.

        Returns
        -------
        ndarray of shape (n_samples,)
            In the unit of the prices.
        """
        check_is_fitted(self)
        if costs is None and self.costs is not None and self.costs.tests is not None:
            costs = self.costs
        return np.asarray(self.estimator.test_cost(X, costs=costs))

    @available_if(relabels_a_tree)
    def adapted_tree(self) -> Any:
        """Return the tree, its leaves labelled as the adaptation answers now.

        With ``features="leaf"`` the adaptation answers by leaf, so that it is a tree itself: it can be shown,
        exported and saved.

        Returns
        -------
        classifier
            A fitted copy of the tree's classifier under the present costs. Costs of answers at its nodes are
            those of the tree's training cases.
        """
        check_is_fitted(self)
        learnt = self._linear.settled(self.average)
        by_node = (learnt[:, :-1] + learnt[:, -1:]).T
        by_node = by_node[:, 0] if self.n_classes_ == 2 else by_node
        scores = node_margins(self.estimator) * self.f0_scale_ + by_node
        return adapted_tree(self.estimator, answers_of(scores), self.costs_, self.costs)

    def _check_settings(self) -> None:
        super()._check_settings()
        positive_number(self.alpha, "alpha")
        if isinstance(self.f0_scale, Real) or self.f0_scale != "hinge":
            if not isinstance(self.f0_scale, Real):
                raise ValueError(f"f0_scale must be 'hinge' or a positive number; got {self.f0_scale!r}.")
            positive_number(self.f0_scale, "f0_scale")

    def _begin_costs(self, costs: BoundCosts) -> None:
        self._cost_sums = np.zeros(2)  # of costs by case: weights, and weights times costs
        self._told = False

    def _advance(self, linear: LinearPart, batch: Batch) -> NDArray[np.float64]:
        # A wrong answer that is cheaper than the right one is what the case should get.
        if batch.example_cost is None:
            best, regrets = cheapest(self.costs_.matrix, np.arange(self.n_classes_))
            row = batch.y
        else:
            best, regrets = cheapest(batch.example_cost, batch.y)
            row = np.arange(len(best), dtype=np.int32)
        self._set_f0_scale(linear, batch)
        scores = batch.base * self.f0_scale_
        alpha = self.alpha / self._cost_units(batch, regrets)
        how = (self._constant, self.scale == "auto", bool(self.average))
        if scores.ndim == 1:
            caps = alpha * regrets[np.arange(len(best)), 1 - best]
            cases = np.column_stack([2.0 * best - 1.0, np.ones(len(best)), caps])[row]
            cases[:, 2] *= batch.weight
            linear.learn_two(batch.rows, cases, scores, True, *how)
        else:
            both = np.column_stack([best[row], row]).astype(np.int32)
            linear.learn_many(batch.rows, both, regrets, alpha * batch.weight, scores, *how)
        self._tell_if_costs_do_nothing(linear, regrets)
        return scores

    def _set_f0_scale(self, linear: LinearPart, batch: Batch) -> None:
        if isinstance(self.f0_scale, Real):
            self.f0_scale_ = float(self.f0_scale)
        elif linear.n_cases == 0:
            self.f0_scale_ = hinge_scale(batch.base, batch.y)

    def _cost_units(self, batch: Batch, regrets: NDArray[np.float64]) -> Any:
        """Give what counts as cost 1: the cheapest mistake, or the mean cost up to each case, () or (n,)."""
        if self.scale is None:
            return 1.0
        if batch.example_cost is None:
            return regrets[regrets > 0].min(initial=np.inf)
        mean = regrets.sum(axis=1) / (self.n_classes_ - 1)
        # Sums go case by case, on from the last call: blocks give the same as one pass.
        weighted = np.column_stack([batch.weight, batch.weight * mean])
        sums = np.cumsum(np.vstack([self._cost_sums, weighted]), axis=0)
        self._cost_sums = sums[-1]
        units = sums[1:, 1] / sums[1:, 0]
        return np.where(units > 0, units, 1.0)

    def _tell_if_costs_do_nothing(self, linear: LinearPart, regrets: NDArray[np.float64]) -> None:
        if self._told or linear.n_steps < TELLING or linear.n_capped > 0:
            return
        dearest = regrets[regrets > 0]
        if len(dearest) == 0 or np.ptp(dearest) <= 1e-12 * dearest.max():
            return
        self._told = True
        remedy = "Lower alpha." if self.scale == "auto" else "Use scale='auto', scale X, or lower alpha."
        warnings.warn(
            f"costs have had no effect: none of {linear.n_steps} steps was as long as its cost allows "
            f"(alpha={self.alpha:g} times up to {dearest.max():g}, where the mean of ||x||^2 is "
            f"{linear.mean_square:.3g}). {remedy}",
            UserWarning,
            stacklevel=4,
        )


def cheapest(
    costs: NDArray[np.float64], y: NDArray[np.integer[Any]]
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Find what each case should get: what it is, unless another answer is cheaper.

    Parameters
    ----------
    costs : ndarray of shape (n, K)
        Cost of each answer.
    y : ndarray of shape (n,)
        Class indices.

    Returns
    -------
    answer : ndarray of shape (n,)
        Class indices of cheapest answers.
    regrets : ndarray of shape (n, K)
        What each answer costs more.
    """
    least = costs.min(axis=1, keepdims=True)
    own = costs[np.arange(len(y)), y] <= least[:, 0]
    return np.where(own, y, costs.argmin(axis=1)), np.ascontiguousarray(costs - least)
