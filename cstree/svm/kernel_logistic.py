"""Kernel logistic regression, trained without costs, that answers by the Bayes rule: mcKLR."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax, softmax
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from cstree.base import as_generator
from cstree.costs.labels import closest, listed
from cstree.costs.model import CostModel
from cstree.svm.cases import NumericCases, check_number, check_whole
from cstree.svm.gram import Kernel
from cstree.svm.multinomial import Multinomial
from cstree.svm.posterior import PosteriorClassifier, read_priors
from cstree.svm.whitening import whiten

__all__ = ["CostKernelLogisticRegression"]

Floats = NDArray[np.float64]

# More cases than this are described by their kernel values with some of them (Nystroem).
_EXACT = 3000
_LANDMARKS = 1000


class CostKernelLogisticRegression(PosteriorClassifier):
    """Kernel logistic regression that counts costs (mcKLR).

    Class probabilities are learnt without costs; an answer is the one of least expected cost. So costs may
    change at prediction, and many settings cost hardly more than one (:meth:`predict_cost_sweep`).

    Parameters
    ----------
    costs : CostModel or None, default=None
        What mistakes cost. None: a mistake costs 1.
    C : float, default=1.0
        The greater, the closer the fit: ``1 / lambda``, as in scikit-learn's ``LogisticRegression``. Choose
        it by held-out log-loss, not by errors: the Bayes rule needs probabilities that are true.
    kernel : {"rbf", "linear", "poly", "precomputed"} or callable, default="rbf"
        As in scikit-learn's ``SVC``.
    degree : float, default=3
        Of the kernel ``"poly"``.
    gamma : {"scale", "auto"} or float, default="scale"
        Of the kernels ``"rbf"`` and ``"poly"``: ``1 / (n_features * X.var())``, ``1 / n_features``, or a
        number.
    coef0 : float, default=0.0
        Of the kernel ``"poly"``.
    reference : label, optional
        The class whose function is 0, such as the impostors: the others are told from it, as published. By
        default all classes are treated alike; of two classes it makes no difference.
    priors : {label: share} or array-like of shape (n_classes,), optional
        Shares of the classes where the classifier will be used; by default those of the training cases.
    n_components : int, optional
        Number of training cases that kernel values are taken with (Nystroem). By default all, up to 3,000
        cases, and 1,000 of more.
    tol : float, default=1e-8
        The search ends when the gradient, per case, is shorter.
    max_iter : int, default=200
        Newton steps at most.
    random_state : int, Generator, RandomState or None, default=None
        Draws the cases of Nystroem.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    dual_coef_ : ndarray of shape (n_basis, n_classes)
        ``A``: weights of the kernel values; a column of zeros for the reference.
    intercept_ : ndarray of shape (n_classes,)
        ``b``.
    basis_ : ndarray or sparse matrix of shape (n_basis, n_features)
        Training cases that kernel values are taken with; empty for a precomputed kernel.
    basis_index_ : ndarray of shape (n_basis,)
        Their rows in the training table.
    class_prior_ : ndarray of shape (n_classes,)
        Shares of the classes that answers are based on.
    objective_ : float
        Least penalized loss.
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
    CostKNeighborsClassifier : Probabilities by nearest neighbours.
    MulticlassCostSVC : Costs that enter the training.

    Notes
    -----
    ``f_m(x) = sum_i A_im k(x_i, x) + b_m`` of least

        ``sum_i w_i (ln sum_m e^{f_m(x_i)} - f_{y_i}(x_i)) + 1 / (2 C) sum_m A_m' K A_m``,

    equations 16 to 22 of the paper, whose rule (15) is the Bayes rule. With ``kernel="linear"`` it is
    scikit-learn's ``LogisticRegression(C=C)``. At the optimum ``A = C w (Y - P)``.

    With ``K = V S V'`` the search runs over ``U = S^{1/2} V' A`` (``Z = V S^{1/2}``, ``f = Z U + b``), by a
    few Newton steps with conjugate gradients. Time O(n_basis^3) once and O(n n_basis n_classes) per step of
    conjugate gradients, memory O(n n_basis).

    References
    ----------
    Y. Zhang, Z.-H. Zhou, Cost-sensitive face recognition, IEEE Transactions on Pattern Analysis and Machine
    Intelligence 32(10), 1758-1769, 2010.

    Examples
    --------
    >>> import numpy as np
    >>> from cstree import CostModel
    >>> from cstree.svm import CostKernelLogisticRegression
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]])
    >>> y = ["well", "well", "ill", "well", "ill", "ill"]
    >>> model = CostKernelLogisticRegression(kernel="linear").fit(X, y)
    >>> model.predict([[1.5]]).tolist()
    ['well']
    >>> dear = CostModel({("ill", "well"): 9, ("well", "ill"): 1})
    >>> model.predict([[1.5]], costs=dear).tolist()
    ['ill']
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
        reference: Any = None,
        priors: Any = None,
        n_components: int | None = None,
        tol: float = 1e-8,
        max_iter: int = 200,
        random_state: Any = None,
    ) -> None:
        self.costs = costs
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.reference = reference
        self.priors = priors
        self.n_components = n_components
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def _is_pairwise(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> CostKernelLogisticRegression:
        """Learn class probabilities; costs play no part in it.

        Parameters
        ----------
        X : DataFrame, array-like or sparse matrix of shape (n_samples, n_features)
            Training cases; kernel values of all pairs with ``kernel="precomputed"``.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), optional
            Weights; a case of weight 2 counts as two cases.

        Returns
        -------
        CostKernelLogisticRegression
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
        strength = 1.0 / check_number(self.C, "C")
        tol, max_iter = check_number(self.tol, "tol"), check_whole(self.max_iter, "max_iter")
        cases = self._cases(X, y, sample_weight, min_classes=2)
        priors = read_priors(self.priors, self.classes_)
        free = self._free_classes()
        kernel = Kernel.of(self, cases)
        columns = self._choose_basis(len(cases))
        Z, back = _whitened(kernel, cases, columns)
        problem = Multinomial(Z, cases.y, cases.weight, self.n_classes_, free, strength)
        found = problem.minimize(tol, max_iter)
        if not found.converged:
            warnings.warn(
                f"the search ended after {found.n_iter} Newton steps with a gradient of {found.gradient:.1e} "
                f"per case, not {tol:.1e}: raise max_iter or tol, or lower C.",
                ConvergenceWarning,
                stacklevel=2,
            )
        self.dual_coef_ = back @ found.U
        self.intercept_ = found.b
        self.basis_ = cases.X[:0] if self._is_pairwise() else cases.X[columns]
        self.basis_index_ = cases.kept[columns]
        self.objective_, self.n_iter_ = found.objective, found.n_iter
        share = np.bincount(cases.y, cases.weight, minlength=self.n_classes_) / cases.weight.sum()
        self.class_prior_ = share if priors is None else priors
        self._shift = np.zeros(self.n_classes_) if priors is None else _log_ratio(priors, share)
        self._kernel = kernel
        return self

    def _free_classes(self) -> NDArray[np.intp]:
        """Classes that have a function: all but the reference."""
        labels = self.classes_.tolist()
        if self.reference is None:
            return np.arange(1 if len(labels) == 2 else 0, len(labels))
        if self.reference not in labels:
            near = closest(self.reference, tuple(labels))
            raise ValueError(
                f"reference is {self.reference!r}, which is none of the classes{near}: {listed(labels)}."
            )
        return np.delete(np.arange(len(labels)), labels.index(self.reference))

    def _choose_basis(self, n: int) -> NDArray[np.intp]:
        wanted = n if n <= _EXACT else _LANDMARKS
        if self.n_components is not None:
            wanted = min(n, check_whole(self.n_components, "n_components"))
        rng = as_generator(self.random_state)
        return np.arange(n) if wanted == n else np.sort(rng.choice(n, wanted, replace=False))

    def _scores(self, X: Any) -> Floats:
        check_is_fitted(self, "dual_coef_")
        table = self._table(X)
        blocks = self._kernel.blocks(table, self.basis_, self.basis_index_)
        return np.concatenate([block @ self.dual_coef_ for block in blocks]) + (self.intercept_ + self._shift)

    def decision_function(self, X: Any) -> Floats:
        """Give log-probabilities up to a constant of the case; costs play no part in them.

        Parameters
        ----------
        X : DataFrame, array-like or sparse matrix of shape (n_samples, n_features)
            Cases; their kernel values with the training cases with ``kernel="precomputed"``.

        Returns
        -------
        ndarray of shape (n_samples,) for two classes, else (n_samples, n_classes)
            With two classes the log-odds of ``classes_[1]``.
        """
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if self.n_classes_ == 2 else scores

    def predict_proba(self, X: Any) -> Floats:
        """Return class probabilities.

        Parameters
        ----------
        X : DataFrame, array-like or sparse matrix of shape (n_samples, n_features)
            Cases; their kernel values with the training cases with ``kernel="precomputed"``.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``.
        """
        return np.asarray(softmax(self._scores(X), axis=1))

    def predict_log_proba(self, X: Any) -> Floats:
        """Return logarithms of class probabilities, also of those too small for ``predict_proba``.

        Parameters
        ----------
        X : DataFrame, array-like or sparse matrix of shape (n_samples, n_features)
            Cases.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``.
        """
        return np.asarray(log_softmax(self._scores(X), axis=1))


def _log_ratio(priors: Floats, share: Floats) -> Floats:
    """``ln(priors / share)``; a class that training did not show stays as improbable as it was."""
    known = share > 0
    return np.log(np.divide(priors, share, out=np.ones_like(share), where=known))


def _whitened(kernel: Kernel, cases: NumericCases, columns: NDArray[np.intp]) -> tuple[Floats, Floats]:
    """``Z`` with ``f = Z U``, and the matrix that makes ``A`` of ``U``."""
    if len(columns) == len(cases):
        table = kernel.among(cases)
        core = table
    else:
        basis = cases.X[columns]
        table = np.concatenate(list(kernel.blocks(cases.X, basis, columns)))
        core = table[columns]
    Z, back = whiten(core)
    return (Z if len(columns) == len(cases) else table @ back), back
