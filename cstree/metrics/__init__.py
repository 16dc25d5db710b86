"""What answers and tests cost, and how to search and compare by it."""

from cstree.metrics.curve import (
    CostCurve,
    cost_curve,
    normalized_expected_cost,
    probability_cost,
    recognition_rate,
    threshold_cost_curves,
)
from cstree.metrics.envelope import LowerEnvelope, lower_envelope
from cstree.metrics.money import misclassification_cost, savings_score, test_cost, total_cost
from cstree.metrics.scorer import CostScorer, make_cost_scorer

__all__ = [
    "CostCurve",
    "CostScorer",
    "LowerEnvelope",
    "cost_curve",
    "lower_envelope",
    "make_cost_scorer",
    "misclassification_cost",
    "normalized_expected_cost",
    "probability_cost",
    "recognition_rate",
    "savings_score",
    "test_cost",
    "threshold_cost_curves",
    "total_cost",
]
