"""What boosting asks of weak learners, and learners that are trained anew in every round."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.utils.validation import has_fit_parameter

from cstree.ensemble.members import Table, answers_of

__all__ = ["TIE", "Choice", "TrainedLearners", "WeakLearners", "first_least"]

Floats = NDArray[np.float64]

# Errors this close tie (the weight of all cases is 1).
TIE = 1e-12


class Choice(NamedTuple):
    """A weak learner of a round.

    Attributes
    ----------
    learner : Stump or fitted classifier
    wrong : ndarray of shape (n_samples,), bool
        Training cases that it gets wrong.
    """

    learner: Any
    wrong: NDArray[np.bool_]


def first_least(values: Floats) -> int:
    """Index of the least value; of values within 1e-12 of it, the first."""
    return int((values <= values.min() + TIE).argmax())


class WeakLearners(ABC):
    """The candidates of each round of boosting."""

    @property
    @abstractmethod
    def n_candidates(self) -> int:
        """Number of candidates."""

    @abstractmethod
    def errors(self, weight: Floats) -> Floats:
        """Weight of the cases that each candidate gets wrong, by class.

        Parameters
        ----------
        weight : ndarray of shape (n_samples,)
            Weights of the training cases; they sum to 1.

        Returns
        -------
        ndarray of shape (n_classes, n_candidates)
        """

    @abstractmethod
    def take(self, index: int) -> Choice:
        """Candidate of this index, in the round of the latest call of `errors`."""

    def best(self, weight: Floats) -> Choice:
        """Candidate of least weighted error; ties (1e-12) go to the lowest index."""
        return self.take(first_least(self.errors(weight).sum(axis=0)))


class TrainedLearners(WeakLearners):
    """One candidate a round: a classifier trained with the weights of that round.

    Parameters
    ----------
    estimator : classifier
        Its ``fit`` takes ``sample_weight``. Weights are scaled to the mean 1, so that parameters that are in
        units of weight keep their meaning.
    table : Table
        Training cases.
    y : ndarray of shape (n_samples,), int
        Their class indices.
    classes : ndarray of shape (n_classes,)
    rng : numpy.random.Generator
        Gives a seed to every classifier that takes one.
    """

    def __init__(
        self,
        estimator: Any,
        table: Table,
        y: NDArray[np.int32],
        classes: NDArray[Any],
        rng: np.random.Generator,
    ) -> None:
        if (
            isinstance(estimator, type)
            or not hasattr(estimator, "get_params")
            or not is_classifier(estimator)
        ):
            raise TypeError(f"estimator must be a classifier, such as a decision tree; got {estimator!r}.")
        if not has_fit_parameter(estimator, "sample_weight"):
            raise ValueError(
                f"{type(estimator).__name__} takes no sample_weight in fit, by which boosting tells it what "
                "matters: choose another estimator, or hand trained classifiers over as pool=[...]."
            )
        self._estimator, self._table, self._y, self._classes, self._rng = estimator, table, y, classes, rng
        self._labels = classes[y]
        self._latest: Choice | None = None

    @property
    def n_candidates(self) -> int:
        """One."""
        return 1

    def errors(self, weight: Floats) -> Floats:
        """Train the candidate of a round; its errors by class, shape (n_classes, 1)."""
        model = clone(self._estimator)
        seeds = [name for name in model.get_params() if name.rpartition("__")[2] == "random_state"]
        model.set_params(**{name: int(self._rng.integers(2**31)) for name in sorted(seeds)})
        model.fit(self._table.X, self._labels, sample_weight=weight * len(weight))
        wrong = answers_of(model, self._table, self._classes) != self._y
        self._latest = Choice(model, wrong)
        lost = np.bincount(self._y[wrong], weights=weight[wrong], minlength=len(self._classes))
        return np.asarray(lost[:, None], dtype=np.float64)

    def take(self, index: int) -> Choice:
        """Return the classifier that `errors` trained."""
        assert index == 0 and self._latest is not None
        return self._latest
