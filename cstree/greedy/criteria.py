"""Criteria: formulas that score all candidate splits of a node.

A criterion is a callable ``(Candidates) -> scores``; the greatest score wins. The ones below are known
by name. Any other callable can be passed to the grower; see :class:`Criterion` for what it may add.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from cstree._registry import Registry
from cstree.greedy.alpha import check_alpha, heuristic_alpha
from cstree.greedy.candidates import Candidates

__all__ = ["CRITERIA", "Criterion", "make_criterion", "score"]

Array = NDArray[np.float64]
Stop = Literal["cost", "answer", "gain", "never"]

# Less than this, in bits or as a share of the costs compared, is rounding.
ROUNDING = 1e-12

CRITERIA: Registry[Any] = Registry("criterion", "a callable that takes Candidates and returns their scores")


class Criterion(ABC):
    """Base of criteria; a plain function does as well.

    Attributes
    ----------
    stop : {"cost", "answer", "gain", "never"}
        When the chosen split does not pay, so that the node stays a leaf: it does not reduce expected
        cost less test cost (6); answers get no cheaper than the tests; it gains no information.
    many_nodes : bool
        Whether candidates of several nodes may come in one call. Then maxima must be taken per node
        (:meth:`Candidates.largest`). False, the default for objects which do not say so: one node a call.
    """

    stop: ClassVar[Stop] = "cost"
    many_nodes: ClassVar[bool] = False

    @abstractmethod
    def __call__(self, candidates: Candidates) -> Array:
        """Score each candidate.

        Parameters
        ----------
        candidates : Candidates

        Returns
        -------
        ndarray of shape (n_candidates,)
            More is better; ``-inf`` excludes a candidate.
        """


class _NamedCriterion(Criterion):
    many_nodes = True
    # Which of the estimator's parameters the constructor takes.
    parameters: ClassVar[tuple[str, ...]] = ()


@CRITERIA.register("secsdt_mc")
class SecsdtMc(_NamedCriterion):
    """SECSDT_MC: gain and cost reduction, weighted by alpha; equations (4), (11), (12)."""

    parameters = ("alpha",)

    def __init__(self, alpha: float | str = "heuristic") -> None:
        self.alpha = check_alpha(alpha)

    def __call__(self, candidates: Candidates) -> Array:
        """``alpha AvgGain / max AvgGain + (1 - alpha) CostRed / max CostRed``."""
        c = candidates
        fixed = self.alpha
        alpha = heuristic_alpha(c.regret) if fixed is None else np.full(c.n_nodes, fixed)
        avg_gain = c.gain / c.n_branches  # (5)
        accuracy = _share_of_largest(c, avg_gain, np.full(c.n_nodes, ROUNDING), alpha)
        return accuracy + _share_of_largest(c, c.cost_reduction, ROUNDING * c.expected_cost, 1 - alpha)


def _share_of_largest(candidates: Candidates, values: Array, floor: Array, factor: Array) -> Array:
    """``factor * values / max(values)`` per node; 0 where the maximum does not exceed ``floor``."""
    largest = candidates.largest_per_node(values)
    positive = largest > floor
    return values * candidates.spread(np.divide(factor, largest, out=np.zeros_like(largest), where=positive))


@CRITERIA.register("mincost")
class MinCost(_NamedCriterion):
    """MinCost: ``DMC(a) - TC(a)``."""

    def __call__(self, candidates: Candidates) -> Array:
        """Equation (6)."""
        return candidates.cost_reduction


@CRITERIA.register("pm")
class PerformanceMoney(_NamedCriterion):
    """PM: ``(2**Gain(a) - 1) DMC(a) / (TC(a) + 1)**omega``."""

    parameters = ("omega",)

    def __init__(self, omega: float | Array = 1.0) -> None:
        self.omega = omega

    def __call__(self, candidates: Candidates) -> Array:
        """Information times saving for what it costs all cases of the node."""
        c = candidates
        return (2**c.gain - 1) * c.dmc / (c.test_cost + 1) ** _power(self.omega, c)


@CRITERIA.register("eg2")
class Eg2(_NamedCriterion):
    """EG2: ``(2**Gain(a) - 1) / (TA + 1)**omega``."""

    stop = "gain"
    parameters = ("omega",)

    def __init__(self, omega: float | Array = 1.0) -> None:
        self.omega = omega

    def __call__(self, candidates: Candidates) -> Array:
        """Information for what it costs one case."""
        c = candidates
        return (2**c.gain - 1) / (c.price + 1) ** _power(self.omega, c)


@CRITERIA.register("cs_id3")
class CsId3(_NamedCriterion):
    """CS-ID3: ``Gain(a)**2 / TA``; free candidates that gain come first."""

    stop = "gain"

    def __call__(self, candidates: Candidates) -> Array:
        """Squared gain per price."""
        return _gain_per_price(candidates, candidates.gain**2)


@CRITERIA.register("idx")
class Idx(_NamedCriterion):
    """IDX: ``Gain(a) / TA``; free candidates that gain come first."""

    stop = "gain"

    def __call__(self, candidates: Candidates) -> Array:
        """Gain per price."""
        return _gain_per_price(candidates, candidates.gain)


def _gain_per_price(candidates: Candidates, merit: Array) -> Array:
    """``merit / TA``; where a free candidate gains, only free ones compete, by their gain."""
    c = candidates
    free = (c.price == 0) & (c.gain > ROUNDING)
    ratio = np.divide(merit, c.price, out=np.zeros(len(c)), where=c.price > 0)
    any_free = c.largest(free.astype(np.float64)) > 0
    return np.where(any_free, np.where(free, c.gain, -np.inf), ratio)


@CRITERIA.register("cost")
class AnsweredCost(_NamedCriterion):
    """The greedy step on total cost: ``min L_S - sum_v min L_{S_v} - TC(a)``."""

    stop = "answer"

    def __call__(self, candidates: Candidates) -> Array:
        """Subtract what the test costs from what better answers save."""
        return candidates.answer_reduction - candidates.test_cost


@CRITERIA.register("gain")
class Gain(_NamedCriterion):
    """Information gain (ID3); blind to costs."""

    stop = "gain"

    def __call__(self, candidates: Candidates) -> Array:
        """``Gain(a)``."""
        return candidates.gain


@CRITERIA.register("gain_ratio")
class GainRatio(_NamedCriterion):
    """Gain ratio (C4.5): ``Gain(a) / SplitInfo(a)``; blind to costs."""

    stop = "gain"

    def __call__(self, candidates: Candidates) -> Array:
        """``Gain(a) / SplitInfo(a)``."""
        return candidates.gain / candidates.split_info


@CRITERIA.register("gini")
class Gini(_NamedCriterion):
    """Decrease of the Gini impurity (CART); blind to costs."""

    stop = "gain"

    def __call__(self, candidates: Candidates) -> Array:
        """Decrease of ``1 - sum_k q_k**2``."""
        return candidates.gini_gain


def _power(omega: float | Array, candidates: Candidates) -> float | Array:
    return omega if isinstance(omega, float) else omega[candidates.feature]


def make_criterion(
    criterion: Any,
    feature_names: Sequence[str],
    alpha: float | str = "heuristic",
    omega: float | Sequence[float] | Mapping[str, float] = 1.0,
) -> Callable[[Candidates], Array]:
    """Return the criterion of a name, or the given object.

    Parameters
    ----------
    criterion : str or callable
    feature_names : sequence of str
    alpha : "heuristic" or float
        For ``"secsdt_mc"``.
    omega : float, sequence or mapping
        For ``"pm"`` and ``"eg2"``: how much prices count, in [0, 1]; one number, one per feature, or
        numbers by feature name (others count 1).

    Returns
    -------
    callable

    Raises
    ------
    ValueError
        Unknown name, alpha or omega out of range.
    TypeError
        Neither a name nor a callable.
    """
    check_alpha(alpha)
    powers = check_omega(omega, feature_names)
    found = CRITERIA.resolve(criterion)
    if not isinstance(criterion, str):
        return found
    options = {"alpha": alpha, "omega": powers}
    return found(**{name: options[name] for name in found.parameters})


def check_omega(
    omega: float | Sequence[float] | Mapping[str, float], feature_names: Sequence[str]
) -> float | Array:
    """Return omega as one float or an array with one per feature.

    Parameters
    ----------
    omega : float, sequence or mapping
    feature_names : sequence of str

    Returns
    -------
    float or ndarray of shape (n_features,)

    Raises
    ------
    ValueError
        A number outside [0, 1], an unknown feature, or the wrong number of entries.
    """
    if isinstance(omega, Real):
        powers = np.array([float(omega)])
    elif isinstance(omega, Mapping):
        unknown = [name for name in omega if name not in feature_names]
        if unknown:
            raise ValueError(f"omega names the feature {unknown[0]!r}, which the table does not have.")
        powers = np.array([float(omega.get(name, 1.0)) for name in feature_names])
    else:
        powers = np.asarray(omega, dtype=np.float64)
        if powers.shape != (len(feature_names),):
            raise ValueError(
                f"omega has shape {powers.shape} for {len(feature_names)} features: "
                "give one number, one per feature, or numbers by feature name."
            )
    if not ((powers >= 0) & (powers <= 1)).all():
        raise ValueError(f"omega must lie in [0, 1]; got {omega!r}.")
    return float(powers[0]) if isinstance(omega, Real) else powers


def score(criterion: Callable[[Candidates], Any], candidates: Candidates) -> Array:
    """Score candidates with any criterion, checking what comes back.

    Parameters
    ----------
    criterion : callable
    candidates : Candidates

    Returns
    -------
    ndarray of shape (n_candidates,)

    Raises
    ------
    ValueError
        Scores of another shape, or NaN.
    """
    if getattr(criterion, "many_nodes", False) or candidates.n_nodes == 1:
        return _checked(criterion, criterion(candidates), len(candidates))
    parts = [_checked(criterion, criterion(node), len(node)) for node in candidates.nodes() if len(node)]
    return np.concatenate([*parts, np.empty(0)])


def _checked(criterion: Any, scores: Any, n: int) -> Array:
    values = np.asarray(scores, dtype=np.float64)
    name = getattr(criterion, "__name__", type(criterion).__name__)
    if values.shape != (n,):
        raise ValueError(f"criterion {name} returned scores of shape {values.shape} for {n} candidates.")
    if np.isnan(values).any():
        raise ValueError(f"criterion {name} returned NaN: use -inf for candidates that must not win.")
    return values


def pays(
    criterion: Callable[[Candidates], Any], candidates: Candidates, chosen: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Tell whether the chosen candidate of each node is worth splitting for (stop 4).

    Parameters
    ----------
    criterion : callable
        Its ``stop`` names the rule; "cost" where it has none.
    candidates : Candidates
    chosen : ndarray of shape (n_nodes,)

    Returns
    -------
    ndarray of shape (n_nodes,)

    Raises
    ------
    ValueError
        The criterion names a rule that does not exist.
    """
    c = candidates
    rule = stop_rule(criterion)
    if rule == "cost":
        return c.cost_reduction[chosen] > ROUNDING * c.expected_cost
    if rule == "answer":
        saved = c.answer_reduction[chosen] - c.node_weight * c.price[chosen]
        return saved > ROUNDING * c.regret.max(axis=1)
    if rule == "gain":
        return c.gain[chosen] > ROUNDING
    if rule == "never":
        return np.ones(c.n_nodes, dtype=np.bool_)
    raise ValueError(f"criterion stop {rule!r} is none of 'cost', 'answer', 'gain', 'never'.")


def stop_rule(criterion: Callable[[Candidates], Any]) -> str:
    """Name of the rule by which a criterion's splits are worth it."""
    return str(getattr(criterion, "stop", "cost"))


def without_dear_splits(candidates: Candidates, scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scores in which no candidate wins that costs more than it saves, eq. (6); shape (n_candidates,)."""
    threshold = ROUNDING * np.repeat(candidates.expected_cost, np.diff(candidates.start))
    return np.where(candidates.cost_reduction > threshold, scores, -np.inf)
