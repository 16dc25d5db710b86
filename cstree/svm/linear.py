"""Linear support vector machine whose classes, or cases, weigh differently: 2C-SVM."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from cstree.base import as_generator
from cstree.costs.model import CostModel
from cstree.svm.cases import NumericCases, NumericClassifier, check_choice, check_number, check_whole, prices
from cstree.svm.decomposition import solve_decomposition
from cstree.svm.hybrid import solve_hybrid
from cstree.svm.pairs import solve_pairs, solve_single
from cstree.svm.problem import Certificate, Solution, TwoClass
from cstree.svm.reductions import by_costs, by_shares, pair_votes
from cstree.svm.rows import scores

__all__ = ["CostLinearSVC"]

Floats = NDArray[np.float64]
Solver = Callable[[TwoClass, Certificate, int, np.random.Generator], int]

SOLVERS: dict[str, Solver] = {
    "hybrid": solve_hybrid,
    "rdcd": solve_pairs,
    "dcd": solve_single,
    "pcsvm": solve_decomposition,
}


class CostLinearSVC(NumericClassifier):
    """Linear support vector machine that counts costs (2C-SVM).

    Parameters
    ----------
    costs : CostModel or None, default=None
        What mistakes cost. None: a mistake costs 1. Only their proportions count.
    C : float, default=1.0
        The greater, the closer the fit. With even costs it is that of scikit-learn's ``SVC``.
    asymmetry : {"costs", "balanced"} or float, default="costs"
        What a mistake weighs. "costs": what it costs. "balanced": of each two sides the rarer one weighs as
        much as the other. A number from 0 to 1 is the share of the positive side. The last two count no
        costs.
    kappa : float, default=1.0
        Margin that the side needs whose mistakes weigh less, at most 1; that of the other side is 1. With
        less than 1 this is CSSVM, the cost-sensitive hinge loss.
    multi_class : {"ovo", "ovr"}, default="ovo"
        With more than two classes: one problem for each pair of them, or one for each class.
    solver : {"hybrid", "rdcd", "dcd", "pcsvm"}, default="hybrid"
        "hybrid" is the fastest and the most exact; the others are there to be compared: pairs of cases drawn
        at random (CSVM-RDCD), single cases, working sets (as in PCSVM). See Notes.
    tol : float, default=1e-6
        The search ends when the objective is proved to be so near to the least one, relative to itself.
    max_iter : int, default=10_000
        At most so many proximal steps ("hybrid"), epochs ("rdcd", "dcd") or working sets ("pcsvm").
    random_state : int, Generator, RandomState or None, default=None
        Order of the cases; with "hybrid", the cases it begins with. The answer depends on it within ``tol``.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels; the second of two is the positive one.
    coef_ : ndarray of shape (n_problems, n_features)
        Weights; one problem for two classes, else as many as pairs ("ovo"; positive for the second of a pair)
        or classes ("ovr").
    intercept_ : ndarray of shape (n_problems,)
        Intercepts, not penalized.
    objective_ : float
        Objective that was reached; with several problems, their sum.
    dual_gap_ : float
        At most this much above the least.
    n_iter_ : int
        Iterations of the solver, the most of all problems.
    costs_ : BoundCosts
        Costs bound to features and classes.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X had string names.

    See Also
    --------
    MulticlassCostSVC : All classes at once, with kernels.
    OCSCAClassifier : Adapts such a machine to new costs on a stream.

    Notes
    -----
    Two classes, ``y_i`` being 1 or -1: ``w`` and ``b`` of least

        ``1/2 ||w||^2 + sum_i U_i xi_i``, where ``y_i (w . x_i + b) >= p_i - xi_i`` and ``xi_i >= 0``.

    ``U_i = C w_i c_i``: the weight of a case, and the cost of the wrong answer less that of the right one,
    in units in which it is 1 on average of the classes (with costs by case, of the cases). So ``U_i`` is
    ``2 C gamma`` for positive ones and ``2 C (1 - gamma)`` for the others, ``gamma = C_P / (C_P + C_N)``;
    the source's ``C`` is twice this one. A case whose wrong answer is the cheaper one is learnt as if it
    were of the other class.

    "ovo": between ``j`` and ``k`` every case, of whatever class, pulls towards the answer that is cheaper
    for it, by the difference; the class that wins most duels is the answer. So answers tend to those of
    least expected cost with many cases, as with two classes, where a linear function can tell them. "ovr":
    case ``i`` pulls to class ``k`` by what the cheapest other answer would cost it, and away from it by
    what ``k`` costs; fewer problems where classes are many, but right only where one class holds more than
    half of the cost.

    All solvers stop by the duality gap, and ``b`` is the exact minimum for ``w``. "hybrid" solves a sample
    (where there are many cases), then takes proximal steps of the dual, each by semismooth Newton on the
    cases near the margin: a few passes over the table in all. "rdcd" is the source's method with its
    formulas put right (step length, boxes, start), "dcd" moves one case at a time, the equation of the bias
    being an augmented Lagrangian. Tables of float32 and CSR matrices are read as they are.

    Ctrl-C during ``fit``: the model is the best that was found, then KeyboardInterrupt goes on.

    References
    ----------
    Y. Lin, Y. Lee, G. Wahba, *Support vector machines for classification in nonstandard situations*, Machine
    Learning 46, 191-202, 2002: 2C-SVM.

    H. Masnadi-Shirazi, N. Vasconcelos, *Risk minimization, probability elicitation, and cost-sensitive SVMs*,
    ICML 2010: CSSVM.

    T. Eitrich, B. Lang, *On the optimal working set size in serial and parallel support vector machine
    learning with the decomposition algorithm*, AusDM 2006: PCSVM.

    A. Beygelzimer, V. Dani, T. Hayes, J. Langford, B. Zadrozny, *Error limiting reductions between
    classification tasks*, ICML 2005: pairs of classes by costs.

    Y. Yan, Q. Li, *An efficient augmented Lagrangian method for support vector machine*, Optimization Methods
    and Software 35(4), 855-883, 2020: proximal steps by semismooth Newton.

    Examples
    --------
    >>> import numpy as np
    >>> from cstree import CostModel
    >>> from cstree.svm import CostLinearSVC
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]])
    >>> y = ["no", "no", "yes", "no", "yes", "yes"]
    >>> CostLinearSVC(C=10).fit(X, y).predict([[2.0], [3.0]]).tolist()
    ['no', 'yes']
    >>> dear = CostModel({("yes", "no"): 9, ("no", "yes"): 1})
    >>> CostLinearSVC(dear, C=10).fit(X, y).predict([[2.0], [3.0]]).tolist()
    ['yes', 'yes']
    """

    _dtypes = (np.float64, np.float32)

    def __init__(
        self,
        costs: CostModel | None = None,
        *,
        C: float = 1.0,
        asymmetry: str | float = "costs",
        kappa: float = 1.0,
        multi_class: str = "ovo",
        solver: str = "hybrid",
        tol: float = 1e-6,
        max_iter: int = 10_000,
        random_state: Any = None,
    ) -> None:
        self.costs = costs
        self.C = C
        self.asymmetry = asymmetry
        self.kappa = kappa
        self.multi_class = multi_class
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def _is_pairwise(self) -> bool:
        return False

    def fit(self, X: Any, y: Any, sample_weight: Any = None, example_cost: Any = None) -> CostLinearSVC:
        """Find the best weights and intercept.

        Parameters
        ----------
        X : DataFrame, array-like or sparse matrix of shape (n_samples, n_features)
            Training cases.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), optional
            Weights; a case of weight 2 counts as two cases.
        example_cost : array-like of shape (n_samples, n_classes), optional
            Cost of each answer for each case, in the order of the classes; replaces the cost matrix.

        Returns
        -------
        CostLinearSVC
            The fitted estimator itself.

        Raises
        ------
        ValueError
            The data, the costs or a setting cannot be used.

        Warns
        -----
        ConvergenceWarning
            The search ended before ``tol`` was reached.
        """
        strength = self._check_settings()
        if example_cost is not None and self.asymmetry != "costs":
            raise ValueError(f"asymmetry={self.asymmetry!r} counts no costs: leave out example_cost.")
        cases = self._cases(X, y, sample_weight, example_cost)
        rng = as_generator(self.random_state)
        table = _canonical(cases.X)
        found: list[Solution] = []
        self.n_iter_ = 1
        pulls = self._pulls(cases).T
        try:
            for pull in pulls:
                problem = _two_class(table, pull, strength, cases.weight, float(self.kappa))
                found.append(self._solve(problem, rng, found))
        except KeyboardInterrupt:
            self._settle(found, len(pulls))
            raise
        self._settle(found, len(pulls))
        missed = max(each.gap / abs(each.objective) if each.gap > 0 else 0.0 for each in found)
        if missed > self.tol:
            warnings.warn(
                f"the search ended after {self.n_iter_} iterations, when the objective was proved to be "
                f"within {missed:.1e} of the least one, not {self.tol:.1e}: raise max_iter or tol, scale X, "
                "or lower C.",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def _check_settings(self) -> float:
        strength = check_number(self.C, "C")
        if check_number(self.kappa, "kappa") > 1:
            raise ValueError(f"kappa must be at most 1; got {self.kappa!r}.")
        if isinstance(self.asymmetry, Real) and not isinstance(self.asymmetry, bool):
            if not 0 <= self.asymmetry <= 1:
                raise ValueError(f"asymmetry must be a share from 0 to 1; got {self.asymmetry!r}.")
        else:
            check_choice(self.asymmetry, "asymmetry", ("costs", "balanced"))
        check_choice(self.multi_class, "multi_class", ("ovo", "ovr"))
        check_choice(self.solver, "solver", tuple(SOLVERS))
        check_number(self.tol, "tol")
        check_whole(self.max_iter, "max_iter")
        return strength

    def _pulls(self, cases: NumericCases) -> Floats:
        """How strongly each case pulls in each problem of two classes, towards the positive side or away."""
        pairs = self.multi_class == "ovo"
        if self.n_classes_ == 1:
            return np.full((len(cases), 1), -1.0)
        if self.asymmetry == "costs":
            return by_costs(prices(self.costs_.matrix, cases), pairs)
        share = None if self.asymmetry == "balanced" else float(self.asymmetry)
        return by_shares(cases.y, cases.weight, self.n_classes_, pairs, share)

    def _solve(self, problem: TwoClass, rng: np.random.Generator, found: list[Solution]) -> Solution:
        """Solve one problem; on Ctrl-C what there is joins what was found."""
        known = problem.without_search()
        if known is not None:
            return known
        certificate = Certificate(problem, float(self.tol))
        try:
            n_iter = SOLVERS[self.solver](problem, certificate, int(self.max_iter), rng)
        except KeyboardInterrupt:
            found.append(certificate.solution())
            raise
        self.n_iter_ = max(self.n_iter_, n_iter)
        return certificate.solution()

    def _settle(self, found: list[Solution], n_problems: int) -> None:
        """Keep solutions; problems that were not begun (Ctrl-C) have none, and vote for the negative side."""
        missing = n_problems - len(found)
        self.coef_ = np.zeros((n_problems, self.n_features_in_))
        self.intercept_ = np.full(n_problems, -1.0)
        for k, each in enumerate(found):
            self.coef_[k], self.intercept_[k] = each.w, each.b
        self.objective_ = sum(each.objective for each in found) if not missing else np.inf
        self.dual_gap_ = sum(each.gap for each in found) if not missing else np.inf

    def decision_function(self, X: Any) -> Floats:
        """Give what stands for each class.

        Parameters
        ----------
        X : DataFrame, array-like or sparse matrix of shape (n_samples, n_features)
            Cases.

        Returns
        -------
        ndarray of shape (n_samples,) for two classes, else (n_samples, n_classes)
            ``w . x + b``: positive for ``classes_[1]``. With more classes the greatest stands for the
            answer; with "ovo" it is the number of duels a class wins, plus less than half a win for how
            clearly.
        """
        check_is_fitted(self, "coef_")
        table = self._table(X)
        each = np.column_stack([scores(table, w) for w in self.coef_]) + self.intercept_
        if self.n_classes_ <= 2:
            return np.asarray(each[:, 0])
        return pair_votes(each, self.n_classes_) if self.multi_class == "ovo" else each

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the label for which the machine speaks.

        Parameters
        ----------
        X : DataFrame, array-like or sparse matrix of shape (n_samples, n_features)
            Cases.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels from ``classes_``; a tie goes to the first.
        """
        values = self.decision_function(X)
        if values.ndim == 1:
            return self._labels((values > 0).astype(np.intp))
        return self._labels(values.argmax(axis=1))


def _two_class(table: Any, pull: Floats, strength: float, weight: Floats, kappa: float) -> TwoClass:
    """Write pulls as a problem: their signs are the labels; the side that pulls less has the margin kappa."""
    if not pull.all():
        counts = pull != 0
        table, pull, weight = table[counts], pull[counts], weight[counts]
    sides = pull > 0, pull < 0
    total = [float(weight @ side) for side in sides]
    up, down = (float(weight @ (np.abs(pull) * side)) for side in sides)
    positive, negative = (kappa, 1.0) if up * total[1] < down * total[0] else (1.0, kappa)
    bound = strength * weight * pull
    target = positive * sides[0] - negative * sides[1]
    return TwoClass(table, target, np.minimum(bound, 0.0), np.maximum(bound, 0.0))


def _canonical(X: Any) -> Any:
    """Sort the entries of a sparse table's rows, and add up those of one place; in a copy."""
    if not issparse(X) or X.has_canonical_format:
        return X
    X = X.copy()
    X.sum_duplicates()
    return X
