"""The formulas of section 3, one node and its candidate splits at a time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .costs import regrets
from .pruning import ROUNDING
from .tree import PlainSplit, label_costs

__all__ = [
    "COST_BLIND",
    "CRITERIA",
    "Candidate",
    "NodeSummary",
    "alpha",
    "answer_reduction",
    "avg_gain",
    "best_candidate",
    "class_shares",
    "cost_reduction",
    "dmc",
    "entropy",
    "expected_cost",
    "gain",
    "gain_ratio",
    "gini_gain",
    "gini_impurity",
    "scores",
    "split_info",
    "summarize",
    "total_price",
]

COST_BLIND = ("gain", "gain_ratio", "gini")
CRITERIA = ("secsdt_mc", "mincost", "pm", "eg2", "cs_id3", "idx", "cost", *COST_BLIND)


@dataclass(frozen=True)
class NodeSummary:
    """What the formulas need to know of a set of cases."""

    class_weight: Sequence[float]
    """Weight of each class."""
    label_cost: Sequence[float]
    """``L_S[p]`` of the costs as given."""
    regret: Sequence[float]
    """``L_S[p]`` of the regrets: each case's row less its smallest entry."""

    @property
    def weight(self) -> float:
        """``N_S``."""
        return math.fsum(self.class_weight)


@dataclass(frozen=True)
class Candidate:
    """A split without children, what its test costs on this path (``TA``), and the cases of its branches."""

    split: PlainSplit
    price: float
    branches: Sequence[NodeSummary]


def summarize(
    members: Sequence[int],
    y: Sequence[int],
    weights: Sequence[float],
    cost_rows: Sequence[Sequence[float]],
    n_classes: int,
) -> NodeSummary:
    """Sum up the cases ``members``; ``cost_rows[i]`` is ``c_i``."""
    own = regrets([cost_rows[i] for i in members])
    return NodeSummary(
        [math.fsum(weights[i] for i in members if y[i] == k) for k in range(n_classes)],
        label_costs(members, cost_rows, weights, n_classes),
        label_costs(range(len(members)), own, [weights[i] for i in members], n_classes),
    )


# --- information --------------------------------------------------------------------------------


def entropy(class_weight: Sequence[float]) -> float:
    """``H(S)`` in bits."""
    total = math.fsum(class_weight)
    return -math.fsum(w / total * math.log2(w / total) for w in class_weight if w > 0)


def gini_impurity(class_weight: Sequence[float]) -> float:
    """``1 - sum_k q_k^2``."""
    total = math.fsum(class_weight)
    return 1 - math.fsum((w / total) ** 2 for w in class_weight)


def gain(node: NodeSummary, branches: Sequence[NodeSummary]) -> float:
    """``Gain = H(S) - sum_v N_v / N_S H(S_v)``."""
    left = math.fsum(b.weight / node.weight * entropy(b.class_weight) for b in branches)
    return entropy(node.class_weight) - left


def gini_gain(node: NodeSummary, branches: Sequence[NodeSummary]) -> float:
    """Decrease of the Gini impurity."""
    left = math.fsum(b.weight / node.weight * gini_impurity(b.class_weight) for b in branches)
    return gini_impurity(node.class_weight) - left


def split_info(node: NodeSummary, branches: Sequence[NodeSummary]) -> float:
    """``SplitInfo = - sum_v N_v / N_S log2 (N_v / N_S)``."""
    return -math.fsum(b.weight / node.weight * math.log2(b.weight / node.weight) for b in branches)


def avg_gain(node: NodeSummary, branches: Sequence[NodeSummary]) -> float:
    """(5): ``Gain / m``, over the branches that hold cases."""
    return gain(node, branches) / len(branches)


def gain_ratio(node: NodeSummary, branches: Sequence[NodeSummary]) -> float:
    """``Gain / SplitInfo``."""
    return gain(node, branches) / split_info(node, branches)


# --- costs --------------------------------------------------------------------------------------


def class_shares(regret: Sequence[float]) -> list[float]:
    """(9): ``P_S[p] = (1 - L_S[p] / sum_q L_S[q]) / (K - 1)``."""
    total = math.fsum(regret)
    return [(1 - cost / total) / (len(regret) - 1) for cost in regret]


def expected_cost(regret: Sequence[float]) -> float:
    """(10): ``E(S) = sum_p P_S[p] L_S[p]``; 0 when all answers are free or there is one class."""
    if len(regret) == 1 or math.fsum(regret) == 0:
        return 0.0
    return math.fsum(share * cost for share, cost in zip(class_shares(regret), regret, strict=True))


def alpha(regret: Sequence[float]) -> float:
    """``min_p L_S[p] / max_p L_S[p]``; 1 when all answers are free or there is one class."""
    return 1.0 if len(regret) == 1 or max(regret) == 0 else min(regret) / max(regret)


def dmc(node: NodeSummary, branches: Sequence[NodeSummary]) -> float:
    """(7): ``DMC = E(S) - sum_v E(S_v)``."""
    return expected_cost(node.regret) - math.fsum(expected_cost(b.regret) for b in branches)


def total_price(node: NodeSummary, price: float) -> float:
    """``TC = N_S TA``."""
    return node.weight * price


def cost_reduction(node: NodeSummary, branches: Sequence[NodeSummary], price: float) -> float:
    """(6): ``CostRed = DMC - TC``."""
    return dmc(node, branches) - total_price(node, price)


def answer_reduction(node: NodeSummary, branches: Sequence[NodeSummary], price: float) -> float:
    """``min L_S - sum_v min L_{S_v} - TC``."""
    left = math.fsum(min(b.label_cost) for b in branches)
    return min(node.label_cost) - left - total_price(node, price)


# --- scores -------------------------------------------------------------------------------------


def scores(
    criterion: str,
    node: NodeSummary,
    candidates: Sequence[Candidate],
    alpha_value: float | str = "heuristic",
    omega: Any = 1.0,
) -> list[float]:
    """Score every candidate of a node; more is better.

    ``cs_id3`` and ``idx`` give infinity where the test is free and gains (more than rounding, 1e-12 bits),
    and 0 where it is free and gains nothing. ``omega`` is one number or one per feature.
    """
    if criterion == "secsdt_mc":
        return _secsdt_mc(node, candidates, alpha_value)
    return [_score(criterion, node, candidate, omega) for candidate in candidates]


def _score(criterion: str, node: NodeSummary, candidate: Candidate, omega: Any) -> float:
    branches, price = candidate.branches, candidate.price
    power = float(omega) if isinstance(omega, int | float) else float(omega[candidate.split.feature])
    if criterion == "mincost":
        return cost_reduction(node, branches, price)
    if criterion == "pm":
        payment = (total_price(node, price) + 1) ** power
        return (2 ** gain(node, branches) - 1) * dmc(node, branches) / payment
    if criterion == "eg2":
        return (2 ** gain(node, branches) - 1) / (price + 1) ** power
    if criterion in ("cs_id3", "idx"):
        value = gain(node, branches)
        if price == 0:
            return math.inf if value > ROUNDING else 0.0
        return (value**2 if criterion == "cs_id3" else value) / price
    if criterion == "cost":
        return answer_reduction(node, branches, price)
    return {"gain": gain, "gain_ratio": gain_ratio, "gini": gini_gain}[criterion](node, branches)


def _secsdt_mc(node: NodeSummary, candidates: Sequence[Candidate], alpha_value: float | str) -> list[float]:
    """(4), (11), (12); maxima over all candidates, a maximum that is not positive makes its term 0.

    Positive means more than rounding: 1e-12 bits, and 1e-12 of ``E(S)``.
    """
    weight = alpha(node.regret) if alpha_value == "heuristic" else float(alpha_value)
    gains = [avg_gain(node, c.branches) for c in candidates]
    reductions = [cost_reduction(node, c.branches, c.price) for c in candidates]
    best_gain, best_reduction = max(gains), max(reductions)
    cost_floor = ROUNDING * expected_cost(node.regret)
    result = []
    for one_gain, one_reduction in zip(gains, reductions, strict=True):
        accuracy = one_gain / best_gain if best_gain > ROUNDING else 0.0
        saving = one_reduction / best_reduction if best_reduction > cost_floor else 0.0
        result.append(weight * accuracy + (1 - weight) * saving)
    return result


def best_candidate(
    criterion: str,
    node: NodeSummary,
    candidates: Sequence[Candidate],
    alpha_value: float | str = "heuristic",
    omega: Any = 1.0,
    among: Sequence[int] | None = None,
) -> int:
    """First of the candidates (all, or those ``among``) whose score is the best up to 1e-12 of it.

    Free gains go by the larger gain.

    The candidates come in the order in which ties are broken: feature, cut, missing values left before right.
    """
    values = scores(criterion, node, candidates, alpha_value, omega)
    if among is not None:
        values = [v if i in among else -math.inf for i, v in enumerate(values)]
    if max(values) == math.inf:
        values = [
            gain(node, c.branches) if v == math.inf else -math.inf
            for v, c in zip(values, candidates, strict=True)
        ]
    best = max(values)
    return next(i for i, v in enumerate(values) if v >= best - ROUNDING * abs(best))
