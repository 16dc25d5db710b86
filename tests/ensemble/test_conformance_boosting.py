"""scikit-learn's own checks on the boosting methods."""

from __future__ import annotations

from typing import Any

from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from cstree.ensemble import (
    AdaBoostDBClassifier,
    AdaC1Classifier,
    AdaC2Classifier,
    AdaC3Classifier,
    AdaCostClassifier,
    CGAdaClassifier,
    CSAdaBoostClassifier,
    CSB0Classifier,
    CSB1Classifier,
    CSB2Classifier,
)
from cstree.greedy.classifier import GreedyTreeClassifier


@parametrize_with_checks(
    [
        CGAdaClassifier(n_estimators=5),
        CGAdaClassifier(estimator=DecisionTreeClassifier(max_depth=2), n_estimators=3, random_state=0),
        AdaBoostDBClassifier(n_estimators=5, random_state=0),
        AdaBoostDBClassifier(estimator=GreedyTreeClassifier(max_depth=1), n_estimators=3, random_state=0),
        CSAdaBoostClassifier(n_estimators=5, random_state=0),
        AdaCostClassifier(n_estimators=5),
        CSB0Classifier(n_estimators=5),
        CSB1Classifier(n_estimators=5),
        CSB2Classifier(n_estimators=5),
        AdaC1Classifier(n_estimators=5),
        AdaC2Classifier(n_estimators=5),
        AdaC3Classifier(n_estimators=5),
    ]
)
def test_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)
