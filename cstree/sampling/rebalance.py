"""Moving a learner's threshold by the number of its cases."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cstree.costs.model import CostModel
from cstree.sampling.base import CostSampler, take
from cstree.sampling.weights import class_weights, rebalance_factor

__all__ = ["RebalanceSampler"]

METHODS = ("auto", "under", "over")


class RebalanceSampler(CostSampler):
    """Change the number of negative cases so that a blind learner's threshold becomes that of the costs.

    Parameters
    ----------
    costs : CostModel or None, default=None
        What mistakes cost. None: all the same.
    base_threshold : float, default=0.5
        Probability of the positive class (the last of the sorted labels) from which the learner answers it;
        with more than two classes it must be left at 0.5, the most probable class.
    method : {"auto", "under", "over"}, default="auto"
        "auto": the last class stays as it is, the others grow or shrink, as published. "under": no class
        grows. "over": no class shrinks.
    literal_slide : bool, default=False
        Take the share of negatives for the learner's threshold, a misreading that went round on slides. For
        comparison only: the answers are those of the costs where the classes are equally frequent, and wrong
        elsewhere.
    random_state : int, Generator or None, default=None
        Draws the cases.

    Attributes
    ----------
    sample_indices_ : ndarray of shape (n_samples_new,), int
        Rows that were taken, in their old order; copies stand side by side.
    sampling_strategy_ : dict
        Number of cases of each class that were taken, by label; at least 1.
    class_weight_ : dict
        Factor of each class's number, by label. As ``class_weight`` of a learner that weighs cases, it does
        the same exactly, without drawing.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X had string names.

    Notes
    -----
    Elkan (2001), theorem 1: with the number of negatives times ``p* / (1 - p*) * (1 - p0) / p0``, a
    learner that answers positive from probability ``p0`` does so from ``p*`` of the original cases; costs
    ask for ``p* = C_N / (C_P + C_N)``. Each class with its new number ``n`` keeps a random part, or
    ``floor(n / N)`` copies of each case and a random part. With more than two classes the factors are the
    weights of rescaling, ``w_i / w_j = C[i, j] / C[j, i]``, where the costs allow such, else the sums of
    the classes' costs.

    References
    ----------
    C. Elkan, The foundations of cost-sensitive learning, IJCAI 2001.

    Examples
    --------
    >>> import numpy as np
    >>> from cstree import CostModel
    >>> from cstree.sampling import RebalanceSampler
    >>> X, y = np.zeros((100, 1)), np.arange(100) % 5 == 0
    >>> costs = CostModel.binary(false_positive=1, false_negative=4)
    >>> RebalanceSampler(costs, random_state=0).fit(X, y).sampling_strategy_
    {False: 20, True: 20}
    >>> RebalanceSampler(costs, method="over", random_state=0).fit(X, y).sampling_strategy_
    {False: 80, True: 80}
    """

    def __init__(
        self,
        costs: CostModel | None = None,
        *,
        base_threshold: float = 0.5,
        method: str = "auto",
        literal_slide: bool = False,
        random_state: Any = None,
    ) -> None:
        self.costs = costs
        self.base_threshold = base_threshold
        self.method = method
        self.literal_slide = literal_slide
        self.random_state = random_state

    def _choose(
        self,
        y: NDArray[np.int32],
        matrix: NDArray[np.float64],
        classes: list[Any],
        example_cost: Any,
        rng: np.random.Generator,
    ) -> NDArray[np.intp]:
        counts = np.bincount(y, minlength=len(classes))
        factor = self._factors(counts, class_weights(matrix, classes))
        self.class_weight_ = dict(zip(classes, factor.tolist(), strict=True))
        sizes = np.maximum(np.rint(factor * counts).astype(np.intp), 1)
        chosen = [take(np.flatnonzero(y == k), int(size), rng) for k, size in enumerate(sizes)]
        return np.concatenate(chosen)

    def _factors(self, counts: NDArray[np.intp], weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Factor of each class's number of cases."""
        if self.method not in METHODS:
            raise ValueError(f"method is {self.method!r}; choose one of {', '.join(map(repr, METHODS))}")
        if len(counts) == 2:
            base = counts[0] / counts.sum() if self.literal_slide else self.base_threshold
            # p* / (1 - p*) = C_N / C_P; the rest of the factor is that of p* = 1/2
            factor = np.array([weights[0] / weights[1] * rebalance_factor(0.5, float(base)), 1.0])
        elif self.base_threshold != 0.5 or self.literal_slide:
            raise ValueError(
                f"there are {len(counts)} classes, but base_threshold and literal_slide speak of two: leave "
                "them at 0.5 and False"
            )
        else:
            factor = weights / weights[-1]
        ends = {"auto": 1.0, "under": factor.max(), "over": factor.min()}
        return np.asarray(factor / ends[self.method])
