"""scikit-learn's own checks on every public estimator."""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from cstree import GreedyTreeClassifier, ParetoTreeClassifier

WEIGHTS_ARE_NOT_REPETITION = (
    "support counts cases, not weight: a case of weight 2 is one case, two copies of it are two"
)


COPIES_ARE_DRAWN_APART = "copies of a case are held out or not one by one, a case of weight 2 as a whole"


def expected_failures(estimator: Any) -> dict[str, str]:
    """Checks that cannot hold, with the reason."""
    if isinstance(estimator, ParetoTreeClassifier):
        return {"check_sample_weight_equivalence_on_dense_data": WEIGHTS_ARE_NOT_REPETITION}
    if getattr(estimator, "pruning", None) == "held_out":
        return {"check_sample_weight_equivalence_on_dense_data": COPIES_ARE_DRAWN_APART}
    return {}


@parametrize_with_checks(
    [
        GreedyTreeClassifier(),
        GreedyTreeClassifier(pruning=None),
        GreedyTreeClassifier(pruning="held_out", random_state=0),
        ParetoTreeClassifier(generations=20, random_state=0),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)


if __name__ == "__main__":
    pytest.main([__file__])
