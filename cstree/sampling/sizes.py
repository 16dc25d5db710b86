"""Over- and under-sampling to the sizes that costs ask for."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cstree.costs.model import CostModel
from cstree.sampling.base import CostSampler, take
from cstree.sampling.weights import class_costs, class_weights

__all__ = ["CostOverSampler", "CostUnderSampler", "target_sizes"]

TARGETS = ("cost_share", "class_cost")
# Sizes are rounded down, but not past a whole number that a division missed by a rounding.
_SLACK = 1e-9


def target_sizes(
    counts: NDArray[np.integer[Any]], relative: NDArray[np.float64], *, grow: bool
) -> NDArray[np.intp]:
    """Sizes of the classes in given relations to one another.

    Parameters
    ----------
    counts : ndarray of shape (K,), int
        Cases of each class; positive.
    relative : ndarray of shape (K,)
        What the sizes are proportional to; positive.
    grow : bool
        No class shrinks, and one stays as it is. False: no class grows, and one stays.

    Returns
    -------
    ndarray of shape (K,), int
        ``floor(relative_k / relative_l * N_l)``, at least 1, where class ``l`` is the one that stays.

    Examples
    --------
    >>> import numpy as np
    >>> n, costs = np.array([500, 300, 50]), np.array([1.0, 3.0, 10.0])
    >>> target_sizes(n, costs, grow=True).tolist(), target_sizes(n, costs, grow=False).tolist()
    ([500, 1500, 5000], [5, 15, 50])
    """
    ratio = counts / relative
    scale = ratio.max() if grow else ratio.min()
    sizes = np.floor(scale * relative * (1 + _SLACK)).astype(np.intp)
    return np.maximum(sizes, counts) if grow else np.clip(sizes, 1, counts)


class _SizeSampler(CostSampler):
    """Take as many cases of each class as costs ask for."""

    target: str
    _grow: bool

    def _choose(
        self,
        y: NDArray[np.int32],
        matrix: NDArray[np.float64],
        classes: list[Any],
        example_cost: Any,
        rng: np.random.Generator,
    ) -> NDArray[np.intp]:
        counts = np.bincount(y, minlength=len(classes))
        if self.target == "cost_share":
            relative = counts * class_weights(matrix, classes)
        elif self.target == "class_cost":
            relative = class_costs(matrix, classes)
        else:
            raise ValueError(f"target is {self.target!r}; choose one of {', '.join(map(repr, TARGETS))}")
        sizes = target_sizes(counts, relative, grow=self._grow)
        replacement = bool(getattr(self, "replacement", False))
        chosen = [
            take(np.flatnonzero(y == k), int(size), rng, replacement=replacement)
            for k, size in enumerate(sizes)
        ]
        return np.concatenate(chosen)


class CostOverSampler(_SizeSampler):
    """Copy cases of classes whose mistakes are dear.

    Parameters
    ----------
    costs : CostModel or None, default=None
        What mistakes cost. None: all the same.
    target : {"cost_share", "class_cost"}, default="cost_share"
        What class sizes become proportional to. "cost_share": to cases times cost, so that a blind learner
        answers as the costs want. "class_cost": to the cost alone, as published, which also levels the
        classes' frequencies, as if all were equally frequent where the classifier is used.
    replacement : bool, default=True
        Draw each copy among all cases of the class. False: all cases are copied equally often, give or take
        one.
    random_state : int, Generator or None, default=None
        Draws the copies.

    Attributes
    ----------
    sample_indices_ : ndarray of shape (n_samples_new,), int
        Rows that were taken, in their old order; every row is among them.
    sampling_strategy_ : dict
        Number of cases of each class that were taken, by label.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X had string names.

    Notes
    -----
    Zhou and Liu (2006): the size of class ``k`` becomes ``floor(T_k / T_l * N_l)``, where class ``l`` is
    the one that needs no copies. ``T_k`` is ``Cost[k] = sum_j C[k, j]`` ("class_cost") or ``N_k w_k``
    ("cost_share"), with the weights of rescaling, ``w_i / w_j = C[i, j] / C[j, i]``, where the costs
    allow such, else ``Cost[k]``.

    References
    ----------
    Z.-H. Zhou, X.-Y. Liu, Training cost-sensitive neural networks with methods addressing the class imbalance
    problem, IEEE Transactions on Knowledge and Data Engineering 18(1), 2006.

    Examples
    --------
    >>> import numpy as np
    >>> from cstree import CostModel
    >>> from cstree.sampling import CostOverSampler
    >>> X, y = np.zeros((10, 1)), ["well"] * 8 + ["ill"] * 2
    >>> costs = CostModel({("ill", "well"): 6, ("well", "ill"): 1})
    >>> sampler = CostOverSampler(costs, random_state=0).fit(X, y)
    >>> sampler.sampling_strategy_
    {'ill': 12, 'well': 8}
    """

    _grow = True

    def __init__(
        self,
        costs: CostModel | None = None,
        *,
        target: str = "cost_share",
        replacement: bool = True,
        random_state: Any = None,
    ) -> None:
        self.costs = costs
        self.target = target
        self.replacement = replacement
        self.random_state = random_state


class CostUnderSampler(_SizeSampler):
    """Leave out cases of classes whose mistakes are cheap.

    Parameters
    ----------
    costs : CostModel or None, default=None
        What mistakes cost. None: all the same.
    target : {"cost_share", "class_cost"}, default="cost_share"
        What class sizes become proportional to; see :class:`CostOverSampler`.
    random_state : int, Generator or None, default=None
        Draws the cases that stay.

    Attributes
    ----------
    sample_indices_ : ndarray of shape (n_samples_new,), int
        Rows that were taken, in their old order; none twice.
    sampling_strategy_ : dict
        Number of cases of each class that were taken, by label; at least 1.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X had string names.

    Notes
    -----
    Zhou and Liu (2006): the size of class ``k`` becomes ``floor(T_k / T_l * N_l)``, where class ``l`` is
    the one that stays whole; ``T_k`` as in :class:`CostOverSampler`. Cases that go are drawn at random
    (the publication first lets go of those that their neighbours make redundant).

    References
    ----------
    Z.-H. Zhou, X.-Y. Liu, Training cost-sensitive neural networks with methods addressing the class imbalance
    problem, IEEE Transactions on Knowledge and Data Engineering 18(1), 2006.

    Examples
    --------
    >>> import numpy as np
    >>> from cstree import CostModel
    >>> from cstree.sampling import CostUnderSampler
    >>> X, y = np.zeros((100, 1)), ["well"] * 80 + ["ill"] * 20
    >>> costs = CostModel({("ill", "well"): 6, ("well", "ill"): 1})
    >>> sampler = CostUnderSampler(costs, random_state=0).fit(X, y)
    >>> sampler.sampling_strategy_
    {'ill': 20, 'well': 13}
    """

    _grow = False

    def __init__(
        self, costs: CostModel | None = None, *, target: str = "cost_share", random_state: Any = None
    ) -> None:
        self.costs = costs
        self.target = target
        self.random_state = random_state
