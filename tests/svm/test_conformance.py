"""scikit-learn's own checks on the linear machine, with each solver."""

from __future__ import annotations

from typing import Any

from sklearn.utils.estimator_checks import parametrize_with_checks

from cstree.svm import CostLinearSVC


@parametrize_with_checks(
    [
        CostLinearSVC(),
        CostLinearSVC(asymmetry="balanced", kappa=0.5, multi_class="ovo"),
        CostLinearSVC(solver="rdcd", tol=1e-3),
        CostLinearSVC(solver="dcd", tol=1e-3),
        CostLinearSVC(solver="pcsvm", tol=1e-3),
    ]
)
def test_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)
