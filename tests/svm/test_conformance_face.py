"""scikit-learn's own checks on mckNN, mcKLR and mcSVM."""

from __future__ import annotations

from typing import Any

from sklearn.utils.estimator_checks import parametrize_with_checks

from cstree.svm import CostKernelLogisticRegression, CostKNeighborsClassifier, MulticlassCostSVC


@parametrize_with_checks(
    [
        CostKNeighborsClassifier(),
        CostKNeighborsClassifier(n_neighbors=3, posterior="fractions", smoothing=0, algorithm="brute"),
        CostKernelLogisticRegression(),
        CostKernelLogisticRegression(kernel="linear", n_components=30, random_state=0),
        MulticlassCostSVC(tol=1e-9),
        MulticlassCostSVC(kernel="linear", tol=1e-9),
    ]
)
def test_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)
