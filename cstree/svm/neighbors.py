"""Nearest neighbours as evidence, weighed by the Bayes rule: mckNN."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.utils.validation import check_is_fitted

from cstree.costs.model import CostModel
from cstree.svm.cases import check_choice, check_number, check_whole
from cstree.svm.posterior import PosteriorClassifier, read_priors

__all__ = ["CostKNeighborsClassifier"]

Floats = NDArray[np.float64]

# Neighbours that are looked up at a time.
_CELLS = 1 << 22


class CostKNeighborsClassifier(PosteriorClassifier):
    """Nearest neighbours that count costs (mckNN).

    How often each label stands beside each other is learnt from the training cases; the labels of a case's
    neighbours are then evidence for its class. Costs enter at prediction only, and may change there.

    Parameters
    ----------
    costs : CostModel or None, default=None
        What mistakes cost. None: a mistake costs 1.
    n_neighbors : int, default=5
        Number of neighbours k; where there are not so many other cases, all of them.
    posterior : {"likelihood", "fractions"}, default="likelihood"
        How neighbours become probabilities: by what labels stand beside each class, as published, or simply
        as their shares.
    smoothing : float, default=1.0
        Added to each count of labels beside labels (Laplace); 0 as published: then one neighbour can rule a
        class out.
    priors : {label: share} or array-like of shape (n_classes,), optional
        Shares of the classes where the classifier will be used; by default those of the training cases.
    metric : str or callable, default="minkowski"
        Distance, as in scikit-learn's ``KNeighborsClassifier``; ``"precomputed"``: X holds distances.
    p : float, default=2
        Power of the Minkowski distance.
    metric_params : dict, optional
        Further parameters of the distance.
    algorithm : {"auto", "ball_tree", "kd_tree", "brute"}, default="auto"
        How neighbours are searched.
    leaf_size : int, default=30
        Of the search trees.
    n_jobs : int, optional
        Threads that search.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    neighbor_label_ : ndarray of shape (n_classes, n_classes)
        ``T[a, b]``: probability that a neighbour has label b when the case has label a. Rows sum to 1.
    class_prior_ : ndarray of shape (n_classes,)
        Shares of the classes that answers are based on.
    n_neighbors_ : int
        Neighbours that are asked.
    neighbors_ : NearestNeighbors
        The search.
    costs_ : BoundCosts
        Costs bound to features and classes.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X had string names.

    See Also
    --------
    CostKernelLogisticRegression : Slower to train, mostly cheaper answers.

    Notes
    -----
    With the labels of neighbours counted in ``N_b``, ``P(a|x)`` is proportional to ``pi_a prod_b T[a,
    b]^N_b``, equations 23 to 29 of the paper. ``T`` is counted on the training cases, none being its own
    neighbour (by its place in the table, so that equal cases are neighbours of each other): ``T[a, b] =
    (count + s) / (k n_a + s K)``.

    Neighbours are taken as independent given the class, which they are not: probabilities lie too near to 0
    and 1. ``posterior="fractions"`` errs less there, but has only k + 1 values. Which of several cases at the
    same distance are among the k is left to scikit-learn's search. Weights of cases have no meaning here.

    References
    ----------
    Y. Zhang, Z.-H. Zhou, Cost-sensitive face recognition, IEEE Transactions on Pattern Analysis and Machine
    Intelligence 32(10), 1758-1769, 2010.

    Examples
    --------
    >>> import numpy as np
    >>> from cstree import CostModel
    >>> from cstree.svm import CostKNeighborsClassifier
    >>> X = np.array([[0.0], [1.0], [2.0], [3.5], [5.0], [6.2], [7.0], [8.5]])
    >>> y = ["in", "in", "in", "in", "out", "in", "out", "out"]
    >>> model = CostKNeighborsClassifier(n_neighbors=3).fit(X, y)
    >>> model.neighbor_label_.round(2).tolist()  # beside those that are in, beside those that are out
    [[0.71, 0.29], [0.45, 0.55]]
    >>> dear = CostModel({("out", "in"): 20, ("in", "out"): 1})
    >>> model.predict([[4.0]]).tolist(), model.predict([[4.0]], costs=dear).tolist()
    (['in'], ['out'])
    """

    def __init__(
        self,
        costs: CostModel | None = None,
        *,
        n_neighbors: int = 5,
        posterior: str = "likelihood",
        smoothing: float = 1.0,
        priors: Any = None,
        metric: Any = "minkowski",
        p: float = 2,
        metric_params: dict[str, Any] | None = None,
        algorithm: str = "auto",
        leaf_size: int = 30,
        n_jobs: int | None = None,
    ) -> None:
        self.costs = costs
        self.n_neighbors = n_neighbors
        self.posterior = posterior
        self.smoothing = smoothing
        self.priors = priors
        self.metric = metric
        self.p = p
        self.metric_params = metric_params
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.n_jobs = n_jobs

    def _is_pairwise(self) -> bool:
        return isinstance(self.metric, str) and self.metric == "precomputed"

    def fit(self, X: Any, y: Any) -> CostKNeighborsClassifier:
        """Count which labels stand beside which.

        Parameters
        ----------
        X : DataFrame, array-like or sparse matrix of shape (n_samples, n_features)
            Training cases; distances of all pairs with ``metric="precomputed"``.
        y : array-like of shape (n_samples,)
            Class labels.

        Returns
        -------
        CostKNeighborsClassifier
            The fitted estimator itself.

        Raises
        ------
        ValueError
            The data, the costs or a setting cannot be used.
        """
        from sklearn.neighbors import NearestNeighbors  # on use: it takes a while to load

        k = check_whole(self.n_neighbors, "n_neighbors")
        check_choice(self.posterior, "posterior", ("likelihood", "fractions"))
        smoothing = check_number(self.smoothing, "smoothing", zero=True)
        cases = self._cases(X, y)
        n = len(cases)
        if n < 2:
            raise ValueError("n_samples = 1: one case has no neighbours, so two or more are needed.")
        priors = read_priors(self.priors, self.classes_)
        self.n_neighbors_ = min(k, n - 1)
        self.neighbors_ = NearestNeighbors(
            n_neighbors=self.n_neighbors_,
            metric=self.metric,
            p=self.p,
            metric_params=self.metric_params,
            algorithm=self.algorithm,
            leaf_size=self.leaf_size,
            n_jobs=self.n_jobs,
        ).fit(cases.X)
        self._y = cases.y
        self.neighbor_label_ = self._count_pairs(smoothing)
        self._share = np.bincount(cases.y, minlength=self.n_classes_) / n
        self.class_prior_ = self._share if priors is None else priors
        return self

    def _count_pairs(self, smoothing: float) -> Floats:
        """Estimate ``T``; a label that no pair tells of stands beside all labels alike."""
        n_classes, k = self.n_classes_, self.n_neighbors_
        near = self.neighbors_.kneighbors(return_distance=False)
        pairs = np.repeat(self._y, k) * n_classes + self._y[near].ravel()
        count = np.bincount(pairs, minlength=n_classes**2).reshape(n_classes, n_classes) + smoothing
        total = count.sum(axis=1, keepdims=True)
        return np.divide(count, total, out=np.full(count.shape, 1.0 / n_classes), where=total > 0)

    def predict_proba(self, X: Any) -> Floats:
        """Return class probabilities.

        Parameters
        ----------
        X : DataFrame, array-like or sparse matrix of shape (n_samples, n_features)
            Cases; their distances to the training cases with ``metric="precomputed"``.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``.
        """
        check_is_fitted(self, "neighbors_")
        count = self._neighbor_counts(self._table(X))
        if self.posterior == "fractions":
            proba = count / self.n_neighbors_ * (self.class_prior_ / self._share)
            return proba / proba.sum(axis=1, keepdims=True)
        return _posterior(count, self.neighbor_label_, self.class_prior_)

    def _neighbor_counts(self, X: Any) -> Floats:
        """How many neighbours of each case have each label, shape (n, K)."""
        n_classes, k = self.n_classes_, self.n_neighbors_
        count = np.empty((X.shape[0], n_classes))
        step = max(1, _CELLS // k)
        for start in range(0, len(count), step):
            near = self.neighbors_.kneighbors(X[start : start + step], return_distance=False)
            rows = np.arange(len(near))[:, None] * n_classes + self._y[near]
            part = np.bincount(rows.ravel(), minlength=len(near) * n_classes)
            count[start : start + step] = part.reshape(len(near), n_classes)
        return count


def _posterior(count: Floats, neighbor_label: Floats, prior: Floats) -> Floats:
    """``softmax_a (ln pi_a + sum_b N_b ln T[a, b])``; where this rules out every class, the prior."""
    possible = neighbor_label > 0
    log_label = np.log(neighbor_label, out=np.zeros_like(neighbor_label), where=possible)
    score = count @ log_label.T + np.log(prior)
    ruled_out = count @ (~possible).T > 0
    score[ruled_out] = -np.inf
    nothing = ruled_out.all(axis=1)
    score[nothing] = np.log(prior)
    return np.asarray(softmax(score, axis=1))
