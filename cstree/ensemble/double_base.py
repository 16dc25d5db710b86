"""AdaBoostDB: boosting with an exponential base for each class."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from cstree.base import as_generator
from cstree.costs.model import CostModel
from cstree.encoding.dataset import Dataset
from cstree.ensemble.boosting import BoostingClassifier, CaseWeights, case_costs
from cstree.ensemble.learners import WeakLearners
from cstree.ensemble.root import integer_costs
from cstree.ensemble.search import SEARCHES, SELECTIONS, Found, search

__all__ = ["AdaBoostDBClassifier", "DoubleBaseBoosting"]

Floats = NDArray[np.float64]


class DoubleBaseBoosting(BoostingClassifier, ABC):
    """Rounds between two exponents, which AdaBoostDB and CS-AdaBoost share.

    The weights of a round, ``D(i)`` in proportion to ``C_y D_1(i) e^{-C_y y f(x_i)}``, sum to a over the
    positive and to b over the negative cases: these are the coefficients of the equation for alpha, and the
    weights that a case has in the slope of the bound.
    """

    balanced: bool

    @abstractmethod
    def _settings(self) -> dict[str, str]:
        """Return method, selection and solver of the search."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Boost weak learners.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)
            Stumps and trees read numbers, strings, booleans, categories and missing values; other weak
            learners what they can.
        y : array-like of shape (n_samples,)
            Labels of two classes; ``classes_[1]`` is the positive one.
        sample_weight : array-like of shape (n_samples,), optional
            Weights; cases of weight 0 are left out.

        Returns
        -------
        DoubleBaseBoosting
            The fitted estimator itself.

        Raises
        ------
        ValueError
            A parameter is out of range, a mistake costs nothing, or the data cannot be used.
        """
        settings = self._settings()
        if not isinstance(self.balanced, (bool, np.bool_)):
            raise ValueError(f"balanced must be True or False, got {self.balanced!r}.")
        rng = as_generator(self.random_state)
        dataset, learners = self._begin(X, y, sample_weight, None, rng)
        self.bounds_: Floats = np.empty(0)
        self.n_contributing_ = self.n_evaluations_ = self.n_roots_ = np.empty(0, dtype=np.int64)
        self.search_seconds_ = 0.0
        if learners is None:
            return self
        costs = self._exponents(dataset)
        if settings["solver"] == "poly":
            integer_costs(float(costs[1]), float(costs[0]))  # says so if the costs are not
        order = rng.permutation(learners.n_candidates)
        self._run(dataset, learners, costs, order, settings)
        return self

    def _exponents(self, dataset: Dataset) -> Floats:
        """``C_N`` and ``C_P``, scaled to the sum 2: equal costs make AdaBoost."""
        self.class_costs_ = self._mean_costs(dataset, case_costs(dataset, self.costs_))
        for label, cost in zip(self.costs_.classes, self.class_costs_, strict=True):
            if cost == 0:
                method = type(self).__name__
                raise ValueError(
                    f"a mistake on class {label!r} costs nothing: {method} would lose the class, "
                    "whose cost is an exponent. Use a large finite ratio of costs, or CGAdaClassifier."
                )
        return np.asarray(2 * self.class_costs_ / self.class_costs_.sum())

    def _first_weights(self, dataset: Dataset) -> Floats:
        """``D_1``: in proportion to ``sample_weight``, or with the classes balanced."""
        weight = dataset.weights() / dataset.total_weight
        if self.balanced:
            weight = weight / (2 * np.bincount(dataset.y, weights=weight, minlength=2)[dataset.y])
        return weight

    def _run(
        self,
        dataset: Dataset,
        learners: WeakLearners,
        costs: Floats,
        order: NDArray[np.int64],
        settings: dict[str, str],
    ) -> None:
        y = dataset.y.astype(np.intp)
        weights = CaseWeights(costs[y] * self._first_weights(dataset))
        members: list[Any] = []
        found: list[Found] = []
        errors: list[float] = []
        bounds: list[float] = []
        shares = np.bincount(y, weights=weights.value, minlength=2)
        for _ in range(self.n_estimators):
            candidates = learners.errors(weights.value)
            equation = np.array([shares[1], shares[0], costs[1], costs[0]])
            start = time.perf_counter()
            best = search(candidates[1], candidates[0], equation, order, **settings)
            self.search_seconds_ += time.perf_counter() - start
            is_useful = best.candidate >= 0
            if not is_useful:
                if members:
                    break
                best = Found(int(candidates.sum(axis=0).argmin()), 1.0)  # predict needs one
            errors.append(float(candidates[:, best.candidate].sum()))
            learner, wrong = learners.take(best.candidate)
            members.append(learner)
            found.append(best)
            # e^{-C_y alpha y h}, by class and by whether the case is wrong
            factors = best.alpha * np.column_stack([-costs, costs])
            weights.multiply(factors.ravel()[2 * y + wrong])
            shares = np.bincount(y, weights=weights.value, minlength=2)
            bounds.append(float(np.exp(weights.log_total) * (shares / costs).sum()))
            if best.perfect or not is_useful:
                break
        self._end(members, [one.alpha for one in found], errors)
        self.bounds_ = np.array(bounds)
        self.n_contributing_ = np.array([one.n_contributing for one in found])
        self.n_evaluations_ = np.array([one.n_evaluations for one in found])
        self.n_roots_ = np.array([one.n_roots for one in found])


class AdaBoostDBClassifier(DoubleBaseBoosting):
    """AdaBoostDB: boosting with an exponential base for each class, and a fast search for weak learners.

    For two classes. With equal costs it is AdaBoost. The greatest saving of its search is with large pools
    of weak learners: the weight of a weak learner, a root that has no formula, is computed for a few of them
    only.

    Parameters
    ----------
    costs : CostModel or None, default=None
        What mistakes and tests cost; both mistakes must cost something. None: a mistake costs 1, tests are
        free.
    estimator, pool, n_estimators
        As in :class:`~cstree.ensemble.cgada.CGAdaClassifier`. An ``estimator`` is trained with the weights
        of the cases in the slope of the bound.
    search : {"conditional", "exhaustive", "batch"}, default="conditional"
        How the weak learner of a round is found; the committee is the same. "conditional": in random order,
        solving a candidate only if it must beat the best so far. "exhaustive": solving all that contribute.
        "batch": judging all at the weight of the best so far at once, until none gains.
    select : {"alpha", "loss"}, default="alpha"
        The weak learner of the largest weight, as published; or that of the least bound on the error, which
        makes CS-AdaBoost.
    solver : {"newton", "poly"}, default="newton"
        "newton": Newton's steps within proven bounds, for any costs. "poly": the published polynomial in
        integer costs, a slow reference for ``select="alpha"``.
    balanced : bool, default=False
        Begin with both classes of equal weight; probabilities and answers then are those for equally
        frequent classes.
    max_bins, categorical_features
        As in :class:`~cstree.ensemble.cgada.CGAdaClassifier`.
    random_state : int, Generator or None, default=None
        Draws the order of the conditional search, and seeds weak learners that are trained.

    Attributes
    ----------
    estimators_ : list
        The committee: :class:`~cstree.ensemble.stumps.Stump` or fitted classifiers.
    estimator_weights_ : ndarray of shape (n_rounds,)
        Their weights alpha, in the unit in which both costs sum to 2.
    estimator_errors_ : ndarray of shape (n_rounds,)
        Their errors ``a eps_P + b eps_N``, which are below 1/2.
    bounds_ : ndarray of shape (n_rounds,)
        Bound on the (weighted) training error after each round.
    n_contributing_, n_evaluations_, n_roots_ : ndarray of shape (n_rounds,), int
        By round: candidates that would contribute, evaluations of the equation, roots computed.
    search_seconds_ : float
        Time of all searches, the errors of the candidates not counted.
    class_costs_ : ndarray of shape (2,)
        Cost of a mistake by class.
    classes_, schema_, costs_, n_features_in_, feature_names_in_
        As in other estimators.

    Notes
    -----
    ``f = sum alpha_t h_t`` lowers, round by round, the bound ``E = W_P sum_P D_1 e^{-C_P y f} + W_N sum_N
    D_1 e^{-C_N y f}`` on the error. Its minimiser over all functions is ``f*(x) = ln(C_P P(+|x) / (C_N
    P(-|x))) / (C_P + C_N)``: positive where Bayes' rule says so. ``predict_proba`` solves this for P. With a
    and b the shares of the classes in the slope of E and their errors eps, alpha is the root of ``a [eps_P
    e^{C_P alpha} - (1 - eps_P) e^{-C_P alpha}] + b [eps_N e^{C_N alpha} - (1 - eps_N) e^{-C_N alpha}]``. A
    candidate contributes if ``a eps_P + b eps_N < 1/2``, and has a larger root than the best so far if its
    equation is negative there.

    References
    ----------
    I. Landesa-Vázquez, J. L. Alba-Castro, Double-base asymmetric AdaBoost, Neurocomputing 118, 2013.

    Examples
    --------
    >>> from cstree import AdaBoostDBClassifier, CostModel
    >>> from cstree.datasets import make_bayes
    >>> X, y = make_bayes(200, random_state=0)
    >>> costs = CostModel.binary(false_positive=1, false_negative=4)
    >>> model = AdaBoostDBClassifier(costs, n_estimators=20, random_state=0).fit(X, y)
    >>> bool((model.bounds_[1:] <= model.bounds_[:-1]).all())
    True
    >>> bool((model.n_roots_ < model.n_contributing_ / 4).all())
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
        select: str = "alpha",
        solver: str = "newton",
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
        self.select = select
        self.solver = solver
        self.balanced = balanced

    def _settings(self) -> dict[str, str]:
        for name, known in (("search", SEARCHES), ("select", SELECTIONS), ("solver", ("newton", "poly"))):
            if getattr(self, name) not in known:
                raise ValueError(
                    f"{name} must be one of {', '.join(map(repr, known))}; got {getattr(self, name)!r}."
                )
        if self.solver == "poly" and self.select == "loss":
            raise ValueError("solver='poly' is for select='alpha', with which it was published.")
        return {"method": self.search, "select": self.select, "solver": self.solver}
