"""scikit-learn's own checks on the linear machine, with each solver."""

from __future__ import annotations

from typing import Any

from sklearn.utils.estimator_checks import parametrize_with_checks

from cstree.svm import CostLinearSVC

WITHIN_TOL = "pairs drawn at random end within tol, not within rounding, and take too long for much less"
WEIGHTS = ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data")


def known_to_fail(estimator: Any) -> dict[str, str]:
    return dict.fromkeys(WEIGHTS, WITHIN_TOL) if estimator.solver == "rdcd" else {}


@parametrize_with_checks(
    [
        CostLinearSVC(multi_class="ovr", tol=1e-12),
        CostLinearSVC(asymmetry="balanced", kappa=0.5, tol=1e-12),
        CostLinearSVC(solver="rdcd", tol=1e-3),
        CostLinearSVC(solver="dcd", tol=1e-12),
        CostLinearSVC(solver="pcsvm", tol=1e-12),
    ],
    expected_failed_checks=known_to_fail,
)
def test_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)
