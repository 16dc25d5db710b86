"""Learners that are right by construction: what wraps them can be judged exactly."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin


class Oracle(ClassifierMixin, BaseEstimator):
    """Knows the class probabilities of each case: they are the case's columns.

    Weights and numbers of cases move them as they would move those of a perfect learner: class ``k`` counts
    ``shown_k / there_k``.

    Parameters
    ----------
    there : {label: number of cases}
        The classes where the probabilities hold, in the order of the columns.
    """

    def __init__(self, there: dict[Any, int] | None = None) -> None:
        self.there = there

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Oracle:
        weight = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight)
        self.classes_ = np.unique(y)
        labels = list(self.there)
        self.columns_ = [labels.index(label) for label in self.classes_.tolist()]
        self.factor_ = np.array(
            [weight[y == label].sum() / self.there[label] for label in self.classes_.tolist()]
        )
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        odds = np.asarray(X)[:, self.columns_] * self.factor_
        odds[odds.sum(axis=1) == 0] = 1.0  # of none of these classes
        return odds / odds.sum(axis=1, keepdims=True)

    def predict(self, X: Any) -> np.ndarray:
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


class Witness(ClassifierMixin, BaseEstimator):
    """Remembers in `seen` which cases it was shown, by their first column; says something arbitrary.

    Parameters
    ----------
    n_classes : int
        Labels are 0 to n_classes - 1.
    random_state : int
        Decides what it says.
    """

    seen: ClassVar[list[Any]] = []

    def __init__(self, n_classes: int = 3, random_state: int | None = None) -> None:
        self.n_classes = n_classes
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Witness:
        self.classes_ = np.arange(self.n_classes)
        self.says_ = np.random.default_rng(self.random_state).dirichlet(np.ones(self.n_classes), 1000)
        self.y_ = np.asarray(y)
        self.rows_ = np.asarray(X)[:, 0].astype(int).tolist()
        Witness.seen.append(self)
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        return self.says_[np.asarray(X)[:, 0].astype(int)]

    def predict(self, X: Any) -> np.ndarray:
        return self.classes_[self.predict_proba(X).argmax(axis=1)]
