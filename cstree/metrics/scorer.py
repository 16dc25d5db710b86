"""Money as a score for searches over parameters and for cross-validation."""

from __future__ import annotations

from typing import Any, ClassVar

from sklearn.base import BaseEstimator
from sklearn.utils.metadata_routing import UNUSED

from cstree.costs.model import CostModel
from cstree.metrics.money import judge, test_cost

__all__ = ["CostScorer", "make_cost_scorer"]


class CostScorer(BaseEstimator):
    """Scores a fitted classifier by what it costs, as a negative number; see :func:`make_cost_scorer`.

    Parameters
    ----------
    costs : CostModel or None, default=None
        What is paid. None: a mistake costs 1, tests are free.
    include_test_cost : bool, default=True
        Whether tests count.
    """

    # Of the arguments of `score` only what varies by case can be routed.
    __metadata_request__score: ClassVar[dict[str, str]] = {"estimator": UNUSED}

    def __init__(self, costs: CostModel | None = None, include_test_cost: bool = True) -> None:
        self.costs = costs
        self.include_test_cost = include_test_cost

    def __call__(
        self, estimator: Any, X: Any, y: Any, sample_weight: Any = None, example_cost: Any = None
    ) -> float:
        """Score a fitted classifier; see :meth:`score`."""
        return self.score(estimator, X, y, sample_weight, example_cost)

    def score(
        self, estimator: Any, X: Any, y: Any, sample_weight: Any = None, example_cost: Any = None
    ) -> float:
        """Score a fitted classifier.

        Parameters
        ----------
        estimator : fitted classifier
            What is judged.
        X : DataFrame or array-like of shape (n_samples, n_features)
            Cases.
        y : array-like of shape (n_samples,)
            The truth.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the cases.
        example_cost : array-like of shape (n_samples, n_classes), optional
            Cost of each answer for each case, in the order of the classifier's ``classes_``.

        Returns
        -------
        float
            Minus the average cost per case: greater is better.
        """
        cost = judge(estimator, X, y, self.costs, sample_weight, example_cost)
        if self.include_test_cost:
            cost += test_cost(estimator, X, self.costs, sample_weight=sample_weight)
        return -cost

    def _accept_sample_weight(self) -> bool:
        # scikit-learn asks scorers this while metadata routing is not the only way.
        return True


def make_cost_scorer(costs: Any = None, *, include_test_cost: bool = True) -> CostScorer:
    """Make a scorer for ``GridSearchCV``, ``cross_validate`` and everything else that takes ``scoring``.

    Parameters
    ----------
    costs : CostModel, array-like of shape (K, K), {(true, predicted): cost} or None
        What is paid. A bare matrix is in the order of the classifier's ``classes_``. None: a mistake costs 1,
        tests are free.
    include_test_cost : bool, default=True
        Add what tests cost. A classifier with ``test_cost(X)`` (also at the end of a pipeline) pays for the
        tests on each case's way, at the prices of ``costs`` if it has some, else at its own; any other one
        reads the whole table and pays for all tests that ``costs`` prices. False: mistakes alone count.

    Returns
    -------
    CostScorer
        ``scorer(estimator, X, y, sample_weight=None, example_cost=None)`` gives minus the average cost per
        case: greater is better. The last two are metadata that can be routed:
        ``scorer.set_score_request(sample_weight=True)``.

    Raises
    ------
    TypeError, ValueError
        The costs cannot be read.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.dummy import DummyClassifier
    >>> X, y = np.zeros((4, 1)), [0, 0, 0, 1]
    >>> scorer = make_cost_scorer([[0, 1], [20, 0]])
    >>> scorer(DummyClassifier().fit(X, y), X, y)
    -5.0
    """
    model = costs if costs is None or isinstance(costs, CostModel) else CostModel(costs)
    return CostScorer(model, include_test_cost)
