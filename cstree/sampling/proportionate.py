"""Cost-proportionate rejection sampling."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cstree.base import as_numbers, check_example_cost
from cstree.costs.labels import listed
from cstree.costs.model import CostModel
from cstree.sampling.base import CostSampler
from cstree.sampling.weights import case_costs, class_weights

__all__ = ["CostProportionateSampler"]


class CostProportionateSampler(CostSampler):
    """Keep each case with a probability proportional to what a mistake on it costs.

    Any classifier that minimises mistakes on what is kept minimises cost on the whole.

    Parameters
    ----------
    costs : CostModel or None, default=None
        What mistakes cost. None: all the same, and every case is kept.
    random_state : int, Generator or None, default=None
        Draws the cases.

    Attributes
    ----------
    sample_indices_ : ndarray of shape (n_samples_new,), int
        Rows that were kept, in their old order.
    sampling_strategy_ : dict
        Number of cases of each class that were kept, by label.
    keep_probability_ : ndarray of shape (n_samples,)
        ``c_i / max c``.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X had string names.

    Warns
    -----
    UserWarning
        No case of some class was kept.

    Notes
    -----
    Zadrozny, Langford and Abe (2003): case ``i`` is kept with probability ``c_i / max c``, independently.
    With more than two classes ``c_i`` is the weight of rescaling, ``w_i / w_j = C[i, j] / C[j, i]``,
    where the costs allow such weights, else the sum of the class's costs. Kept cases are never copies, so
    that nothing is learned by heart; as few are kept where costs differ a lot, several samples may vote
    (scikit-learn's ``BaggingClassifier`` over a pipeline).

    References
    ----------
    B. Zadrozny, J. Langford, N. Abe, Cost-sensitive learning by cost-proportionate example weighting,
    ICDM 2003.

    Examples
    --------
    >>> import numpy as np
    >>> from cstree import CostModel
    >>> from cstree.sampling import CostProportionateSampler
    >>> X, y = np.arange(1000).reshape(-1, 1), np.arange(1000) % 4 == 0
    >>> sampler = CostProportionateSampler(
    ...     CostModel.binary(false_positive=1, false_negative=5), random_state=0
    ... )
    >>> X_kept, y_kept = sampler.fit_resample(X, y)
    >>> sampler.sampling_strategy_
    {False: 171, True: 250}
    """

    def __init__(self, costs: CostModel | None = None, *, random_state: Any = None) -> None:
        self.costs = costs
        self.random_state = random_state

    def fit(self, X: Any, y: Any, example_cost: Any = None) -> CostProportionateSampler:
        """Choose the rows without returning them.

        Parameters
        ----------
        X : DataFrame, array-like or sparse matrix of shape (n_samples, n_features)
            Cases; their values are not looked at.
        y : array-like of shape (n_samples,)
            Class labels.
        example_cost : array-like of shape (n_samples,) or (n_samples, n_classes), optional
            As in :meth:`fit_resample`.

        Returns
        -------
        CostProportionateSampler
            The sampler itself.
        """
        self._sample(X, y, example_cost)
        return self

    def fit_resample(self, X: Any, y: Any, example_cost: Any = None) -> tuple[Any, Any]:
        """Choose rows and return them.

        Parameters
        ----------
        X : DataFrame, array-like or sparse matrix of shape (n_samples, n_features)
            Cases; their values are not looked at.
        y : array-like of shape (n_samples,)
            Class labels.
        example_cost : array-like of shape (n_samples,) or (n_samples, n_classes), optional
            What a mistake on each case costs, or the cost of each answer for each case in the order of the
            sorted classes; replaces ``costs``.

        Returns
        -------
        X : same type as the argument, shape (n_samples_new, n_features)
            The rows that were kept. A frame keeps its dtypes and its index labels.
        y : same type as the argument, shape (n_samples_new,)
            Their labels.

        Raises
        ------
        ValueError
            There is only one class, a mistake has a negative cost, or none costs anything.
        """
        return self._sample(X, y, example_cost)

    def _choose(
        self,
        y: NDArray[np.int32],
        matrix: NDArray[np.float64],
        classes: list[Any],
        example_cost: Any,
        rng: np.random.Generator,
    ) -> NDArray[np.intp]:
        if example_cost is None:
            cost = class_weights(matrix, classes)[y]
        else:
            cost = _costs_of_cases(example_cost, y, matrix, classes, self.costs)
        self.keep_probability_ = cost / cost.max()
        kept = np.flatnonzero(rng.random(len(y)) < self.keep_probability_)
        lost = np.flatnonzero(np.bincount(y[kept], minlength=len(classes)) == 0)
        if len(lost):
            warnings.warn(
                f"no case of class {listed(classes[k] for k in lost)} was kept: its mistakes cost too little "
                "beside the dearest; a classifier of what was kept never answers it",
                UserWarning,
                stacklevel=4,
            )
        return kept


def _costs_of_cases(
    example_cost: Any,
    y: NDArray[np.int32],
    matrix: NDArray[np.float64],
    classes: list[Any],
    model: CostModel | None,
) -> NDArray[np.float64]:
    """Return what a mistake on each case costs, from one number or one per answer for each case."""
    n_samples, n_classes = len(y), len(classes)
    if np.ndim(example_cost) != 1:
        known = CostModel() if model is None else model
        return case_costs(y, matrix, check_example_cost(example_cost, n_samples, np.array(classes), known))
    costs = as_numbers(example_cost, "example_cost")
    if len(costs) != n_samples:
        raise ValueError(
            f"example_cost has shape {costs.shape}; it wants one cost per case, ({n_samples},), or one per "
            f"case and class, ({n_samples}, {n_classes})."
        )
    if not np.isfinite(costs).all():
        case = int(np.argmin(np.isfinite(costs)))
        raise ValueError(f"example_cost of case {case} holds a number that is not finite.")
    answers = np.where(np.arange(n_classes) == y[:, None], 0.0, costs[:, None]) / (n_classes - 1)
    return case_costs(y, matrix, answers)
