"""The check for weak learners passes sound ones and catches what it is for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from cstree.greedy.classifier import GreedyTreeClassifier
from cstree.testing import check_weak_learner


class Nearest(ClassifierMixin, BaseEstimator):
    """Answers the class whose weighted mean of the first feature is nearer."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Nearest:
        self.classes_ = np.unique(y)
        self.means_ = [
            np.average(X[y == label, 0], weights=None if sample_weight is None else sample_weight[y == label])
            for label in self.classes_
        ]
        return self

    def predict(self, X: Any) -> Any:
        return self.classes_[np.abs(X[:, [0]] - self.means_).argmin(axis=1)]


class Blind(Nearest):
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Nearest:
        return super().fit(X, y)


class Numbers(Nearest):
    def predict(self, X: Any) -> Any:
        return (super().predict(X) == self.classes_[1]).astype(int)


class Greedy(Nearest):
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Nearest:
        sample_weight /= sample_weight.sum()
        return super().fit(X, y, sample_weight)


class Moody(Nearest):
    def predict(self, X: Any) -> Any:
        said = super().predict(X)
        return np.where(np.random.default_rng().random(len(X)) < 0.2, self.classes_[0], said)


class Unpicklable(Nearest):
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Nearest:
        self.scale_ = lambda value: value
        return super().fit(X, y, sample_weight)


class Restless(Nearest):
    def __init__(self, rounds: int = 1) -> None:
        self.rounds = rounds

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Nearest:
        self.rounds += 1
        return super().fit(X, y, sample_weight)


@pytest.mark.parametrize(
    "sound",
    [
        Nearest(),
        LogisticRegression(),
        GaussianNB(),
        DecisionTreeClassifier(max_depth=2, max_features=2),
        GreedyTreeClassifier(max_depth=1),
    ],
)
def test_sound_learners_pass(sound: Any) -> None:
    check_weak_learner(sound, n_tables=2)


@pytest.mark.parametrize(
    ("learner", "message"),
    [
        (Nearest, "not a class"),
        (object(), "no get_params"),
        (BaseEstimator(), "take it for a classifier"),
        (KNeighborsClassifier(), "no sample_weight"),
        (Blind(), "sample_weight seems not to count"),
        (Numbers(), "labels other than"),
        (Greedy(), "changed the data or the weights"),
        (Moody(), "answers otherwise"),
        (Unpicklable(), "cannot be pickled"),
        (Restless(), "changed the parameter 'rounds'"),
    ],
)
def test_unsound_learners_are_told_why(learner: Any, message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        check_weak_learner(learner, n_tables=2)
