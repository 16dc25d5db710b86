"""scikit-learn's own checks on bagging, MetaCost, rescaling and the rest that wraps a learner."""

from __future__ import annotations

from typing import Any

from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

from cstree import (
    CostBaggingClassifier,
    InstanceWeightingTreeClassifier,
    MetaCostClassifier,
    MinimumCostClassifier,
    MultiSubsetClassifier,
    RescalingClassifier,
    ThresholdMovingClassifier,
)

WEIGHTS_ARE_CHANCES = (
    "cases are drawn: a case of weight 2 is drawn twice as often, two copies are drawn apart"
)

SUPPORT_COUNTS_CASES = (
    "trees do not split fewer than 25 cases: one of weight 2 is one case, two copies are two"
)


def expected_failures(estimator: Any) -> dict[str, str]:
    """Checks that cannot hold, with the reason."""
    if isinstance(estimator, CostBaggingClassifier):
        return {"check_sample_weight_equivalence_on_dense_data": WEIGHTS_ARE_CHANCES}
    if isinstance(estimator, MinimumCostClassifier):
        return {}
    return {"check_sample_weight_equivalence_on_dense_data": SUPPORT_COUNTS_CASES}


@parametrize_with_checks(
    [
        CostBaggingClassifier(n_estimators=3, random_state=0),
        InstanceWeightingTreeClassifier(),
        MetaCostClassifier(n_estimators=3, random_state=0),
        MinimumCostClassifier(),
        MinimumCostClassifier(estimator=LogisticRegression()),
        MultiSubsetClassifier(random_state=0),
        RescalingClassifier(),
        ThresholdMovingClassifier(),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)
