"""scikit-learn's own checks on the online learners."""

from __future__ import annotations

from typing import Any

from sklearn.utils.estimator_checks import parametrize_with_checks

from cstree.online import CSOCClassifier, OCSCAClassifier

THE_ORDER_COUNTS = "a stream has an order: the check shuffles the weighted cases, not their copies"


def expected_failures(estimator: Any) -> dict[str, str]:
    """Checks that cannot hold, with the reason."""
    kinds = ("dense", "sparse")
    return {f"check_sample_weight_equivalence_on_{kind}_data": THE_ORDER_COUNTS for kind in kinds}


@parametrize_with_checks(
    [
        OCSCAClassifier(),
        OCSCAClassifier(scale=None, fit_intercept=False, average=True),
        CSOCClassifier(),
        CSOCClassifier(variant="I", objective="sum", decay="sqrt", average=True),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)
