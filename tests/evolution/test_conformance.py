"""scikit-learn's own checks on a classifier whose trees are chosen on held-out cases."""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from cstree import ParetoTreeClassifier

COPIES_ARE_HELD_OUT_APART = (
    "copies of a case may fall into different folds, a case of weight 2 falls into one"
)


@parametrize_with_checks(
    [ParetoTreeClassifier(validation=3, generations=5, seeds=None, random_state=0)],
    expected_failed_checks=lambda _: {
        "check_sample_weight_equivalence_on_dense_data": COPIES_ARE_HELD_OUT_APART
    },
)
def test_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)


if __name__ == "__main__":
    pytest.main([__file__])
