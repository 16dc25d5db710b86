"""scikit-learn's checks, and imbalanced-learn's, on every sampler."""

from __future__ import annotations

import importlib.util
from typing import Any

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from cstree.sampling import CostOverSampler, CostProportionateSampler, CostUnderSampler, RebalanceSampler

SAMPLERS = [
    CostOverSampler(random_state=0),
    CostProportionateSampler(random_state=0),
    CostUnderSampler(random_state=0),
    RebalanceSampler(random_state=0),
]


@parametrize_with_checks(SAMPLERS)
def test_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)


if importlib.util.find_spec("imblearn"):
    from imblearn.utils.estimator_checks import estimator_checks_generator

    CHECKS = [pair for sampler in SAMPLERS for pair in estimator_checks_generator(sampler)]

    @pytest.mark.parametrize(("estimator", "check"), CHECKS, ids=lambda part: _name(part))
    def test_imbalanced_learn(estimator: Any, check: Any) -> None:
        check(estimator)
else:

    def test_imbalanced_learn() -> None:
        pytest.skip("imbalanced-learn is not installed: its checks of samplers are left out")


def _name(part: Any) -> str:
    return part.func.__name__ if hasattr(part, "func") else str(part)
