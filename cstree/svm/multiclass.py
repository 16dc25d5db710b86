"""The multicategory support vector machine with a cost for each pair of classes: mcSVM."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from cstree.costs.model import CostModel
from cstree.svm.cases import NumericClassifier, check_number, check_whole, prices
from cstree.svm.gram import Kernel
from cstree.svm.multicategory import Multicategory, centred
from cstree.svm.whitening import whiten

__all__ = ["MulticlassCostSVC"]

Floats = NDArray[np.float64]

# Directions of the kernel's space this much shorter than the longest, squared, are left out.
_RANK = 1e-13


class MulticlassCostSVC(NumericClassifier):
    """Multicategory support vector machine that counts costs (mcSVM).

    One function for each class, all learnt at once. With more and more cases, the greatest of them tends to
    be that of the class of least expected cost.

    Parameters
    ----------
    costs : CostModel or None, default=None
        What mistakes cost. None: a mistake costs 1. Only their proportions count.
    C : float, default=1.0
        The greater, the closer the fit. With two classes and even costs it is that of scikit-learn's ``SVC``.
    kernel : {"rbf", "linear", "poly", "precomputed"} or callable, default="rbf"
        As in ``SVC``.
    degree : float, default=3
        Of the kernel ``"poly"``.
    gamma : {"scale", "auto"} or float, default="scale"
        Of the kernels ``"rbf"`` and ``"poly"``: ``1 / (n_features * X.var())``, ``1 / n_features``, or a
        number.
    coef0 : float, default=0.0
        Of the kernel ``"poly"``.
    intercept_scaling : float, default=1.0
        ``B``: intercepts are penalized like the weight of one more feature that is always ``B``.
    tol : float, default=1e-3
        The search ends when the functions miss the conditions of the optimum by less, as in ``SVC``.
    max_iter : int, default=2000
        Newton steps at most.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    support_ : ndarray of shape (n_support,)
        Rows of the training table that the functions rest on.
    support_vectors_ : ndarray or sparse matrix of shape (n_support, n_features)
        These cases; empty for a precomputed kernel.
    dual_coef_ : ndarray of shape (n_support, n_classes)
        Weights of their kernel values; rows sum to 0.
    intercept_ : ndarray of shape (n_classes,)
        They sum to 0.
    objective_ : float
        Penalized loss that was reached.
    dual_gap_ : float
        At most this much above the least.
    n_iter_ : int
        Newton steps.
    costs_ : BoundCosts
        Costs bound to features and classes.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X had string names.

    See Also
    --------
    CostKernelLogisticRegression : Costs that may change at prediction.

    Notes
    -----
    ``f_j = h_j + b_j``, which sum to 0 over the classes, of least

        ``2 C sum_i w_i sum_j R[y_i, j] (f_j(x_i) + 1 / (K - 1))_+ + 1/2 sum_j (||h_j||^2 + b_j^2 / B^2)``,

    where ``R`` is the cost matrix less the least of each row, its entries off the diagonal 1 on average. This
    is the machine of Lee, Lin and Wahba with ``lambda = 1 / (2 C sum w)``. The greatest ``f_j`` wins.

    The search runs in the coordinates ``Z`` of the kernel's space (``K + B^2 = Z Z'``) by the proximal method
    of multipliers with Newton's steps: hard problems (a linear kernel, a great ``C``) take hardly longer than
    easy ones. Time O(n^3) once and O(n^2 n_classes) per step of conjugate gradients, memory O(n^2): for tens
    of thousands of cases, put scikit-learn's ``Nystroem`` before a linear machine.

    References
    ----------
    Y. Lee, Y. Lin, G. Wahba, Multicategory support vector machines, Journal of the American Statistical
    Association 99(465), 67-81, 2004.

    X. Li, D. Sun, K.-C. Toh, A highly efficient semismooth Newton augmented Lagrangian method for solving
    Lasso problems, SIAM Journal on Optimization 28(1), 433-458, 2018: the search, there for another loss.

    Examples
    --------
    >>> import numpy as np
    >>> from cstree import CostModel
    >>> from cstree.svm import MulticlassCostSVC
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0], [6.0], [7.0]])
    >>> y = ["low", "low", "low", "mid", "low", "mid", "high", "high"]
    >>> MulticlassCostSVC(C=10).fit(X, y).predict([[2.5]]).tolist()
    ['low']
    >>> dear = CostModel({(a, b): 9 if b == "low" else 1 for a in y for b in y if a != b})
    >>> MulticlassCostSVC(dear, C=10).fit(X, y).predict([[2.5]]).tolist()
    ['mid']
    """

    def __init__(
        self,
        costs: CostModel | None = None,
        *,
        C: float = 1.0,
        kernel: str | Callable[..., Any] = "rbf",
        degree: float = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        intercept_scaling: float = 1.0,
        tol: float = 1e-3,
        max_iter: int = 2000,
    ) -> None:
        self.costs = costs
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.intercept_scaling = intercept_scaling
        self.tol = tol
        self.max_iter = max_iter

    def _is_pairwise(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    def fit(self, X: Any, y: Any, sample_weight: Any = None, example_cost: Any = None) -> MulticlassCostSVC:
        """Learn a function for each class.

        Parameters
        ----------
        X : DataFrame, array-like or sparse matrix of shape (n_samples, n_features)
            Training cases; kernel values of all pairs with ``kernel="precomputed"``.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), optional
            Weights; a case of weight 2 counts as two cases.
        example_cost : array-like of shape (n_samples, n_classes), optional
            Cost of each answer for each case, in the order of the classes; replaces the cost matrix.

        Returns
        -------
        MulticlassCostSVC
            The fitted estimator itself.

        Raises
        ------
        ValueError
            The data, the costs or a setting cannot be used.

        Warns
        -----
        ConvergenceWarning
            ``max_iter`` was reached.
        """
        bound_scale = 2.0 * check_number(self.C, "C")
        constant = check_number(self.intercept_scaling, "intercept_scaling") ** 2
        tol, max_iter = check_number(self.tol, "tol"), check_whole(self.max_iter, "max_iter")
        cases = self._cases(X, y, sample_weight, example_cost, min_classes=2)
        kernel = Kernel.of(self, cases)
        table = kernel.among(cases) + constant
        bound = prices(self.costs_.matrix, cases) * (bound_scale * cases.weight[:, None])
        problem = Multicategory(whiten(table, _RANK)[0], bound)
        found = problem.solve(tol, max_iter)
        if found.violation > tol:
            warnings.warn(
                f"the search ended after {found.n_iter} Newton steps, when the functions missed the "
                f"conditions of the optimum by {found.violation:.1e}, not {tol:.1e}: raise max_iter or tol, "
                "scale X, or lower C.",
                ConvergenceWarning,
                stacklevel=2,
            )
        self.objective_, self.dual_gap_ = problem.gap(found)
        self.n_iter_ = max(1, found.n_iter)
        coef = -centred(found.a)
        support = np.flatnonzero(coef.any(axis=1))
        self.support_ = cases.kept[support]
        self.support_vectors_ = cases.X[:0] if self._is_pairwise() else cases.X[support]
        self.dual_coef_ = coef[support]
        self.intercept_ = constant * self.dual_coef_.sum(axis=0)
        self._kernel = kernel
        return self

    def _scores(self, X: Any) -> Floats:
        check_is_fitted(self, "dual_coef_")
        table = self._table(X)
        blocks = self._kernel.blocks(table, self.support_vectors_, self.support_)
        return np.concatenate([block @ self.dual_coef_ for block in blocks]) + self.intercept_

    def decision_function(self, X: Any) -> Floats:
        """Give the functions of the classes.

        Parameters
        ----------
        X : DataFrame, array-like or sparse matrix of shape (n_samples, n_features)
            Cases; their kernel values with the training cases with ``kernel="precomputed"``.

        Returns
        -------
        ndarray of shape (n_samples,) for two classes, else (n_samples, n_classes)
            The greatest stands for the answer; with two classes that of ``classes_[1]``, the other being
            its negative.
        """
        scores = self._scores(X)
        return scores[:, 1] if self.n_classes_ == 2 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the label whose function is the greatest.

        Parameters
        ----------
        X : DataFrame, array-like or sparse matrix of shape (n_samples, n_features)
            Cases; their kernel values with the training cases with ``kernel="precomputed"``.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels from ``classes_``; a tie goes to the first.
        """
        scores = self._scores(X)
        if self.n_classes_ == 2:  # where rounding decides, the sign of the decision function does
            return self._labels((scores[:, 1] > 0).astype(np.intp))
        return self._labels(scores.argmax(axis=1))
