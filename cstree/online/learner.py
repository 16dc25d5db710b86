"""What all online learners share: reading, answering first and learning then, changing costs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.frozen import FrozenEstimator
from sklearn.utils import check_consistent_length, get_tags
from sklearn.utils.multiclass import unique_labels
from sklearn.utils.validation import check_is_fitted

from cstree.base import (
    CostSensitiveClassifier,
    check_example_cost,
    check_magnitudes,
    check_sample_weight,
    cost_model,
    encode_labels,
)
from cstree.costs.bound import BoundCosts
from cstree.costs.labels import listed
from cstree.costs.model import CostModel
from cstree.online.features import Reader, choose_reader
from cstree.online.inputs import bind, known_positions, positive_number
from cstree.online.linear import LinearPart
from cstree.online.margins import check_adaptable, is_fitted, margins
from cstree.online.prequential import Prequential
from cstree.online.rows import Rows

__all__ = ["Batch", "OnlineClassifier", "answers_of"]


@dataclass(frozen=True, eq=False)
class Batch:
    """Cases that are to be learnt from, in their order.

    Attributes
    ----------
    rows : Rows
        What the linear part reads.
    y : ndarray of shape (n,), int32
        Class indices.
    weight : ndarray of shape (n,)
    example_cost : ndarray of shape (n, K) or None
    base : ndarray of shape (n,) for two classes, else (n, K)
        Margin of the classifier that is adapted, not yet scaled.
    """

    rows: Rows
    y: NDArray[np.int32]
    weight: NDArray[np.float64]
    example_cost: NDArray[np.float64] | None
    base: NDArray[np.float64]


class OnlineClassifier(CostSensitiveClassifier, ABC):
    """Base of classifiers that learn case by case; subclasses say in ``_advance`` how.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    costs_ : BoundCosts
    f0_scale_ : float
    """

    features: Any
    fit_intercept: bool
    intercept_scaling: float
    average: bool
    scale: str | None
    window: int
    estimator: Any = None

    f0_scale_: float = 1.0

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn what tables are read: what the features and the adapted classifier read."""
        tags = super().__sklearn_tags__()
        plain = isinstance(self.features, str) and self.features == "x"
        reader = self.estimator if isinstance(self.features, str) else self.features
        known = not plain and not isinstance(reader, type) and hasattr(reader, "__sklearn_tags__")
        found = get_tags(reader).input_tags if known else None
        tags.input_tags.allow_nan = bool(found and found.allow_nan)
        tags.input_tags.string = bool(found and found.string)
        tags.input_tags.categorical = bool(found and found.categorical)
        tags.input_tags.sparse = self.estimator is None if plain else bool(found and found.sparse)
        return tags

    def __sklearn_clone__(self) -> Any:
        """Make a clone that keeps what is fitted: the classifier to adapt, and a fitted transformer."""
        made = super().__sklearn_clone__()
        for name in ("estimator", "features"):
            given = getattr(self, name)
            if hasattr(given, "get_params") and is_fitted(given):
                kept = given if isinstance(given, FrozenEstimator) else FrozenEstimator(given)
                setattr(made, name, kept)
        return made

    def __sklearn_is_fitted__(self) -> bool:
        """Whether a case was learnt from, or could have been."""
        return "_linear" in vars(self)

    @abstractmethod
    def _advance(self, linear: LinearPart, batch: Batch) -> NDArray[np.float64]:
        """Learn from a batch; give the scores that each case had before."""

    def _check_settings(self) -> None:
        positive_number(self.intercept_scaling, "intercept_scaling")
        if self.scale not in ("auto", None):
            raise ValueError(f"scale must be 'auto' or None; got {self.scale!r}.")
        if not isinstance(self.window, Integral) or isinstance(self.window, bool) or self.window < 1:
            raise ValueError(f"window must be a whole number from 1 on; got {self.window!r}.")

    def _begin_costs(self, costs: BoundCosts) -> None:
        """Prepare for costs from now on, or refuse them."""

    def set_costs(self, costs: CostModel | None) -> OnlineClassifier:
        """Change the costs; what was learnt stays, and the stream goes on.

        Parameters
        ----------
        costs : CostModel or None
            Costs from now on.

        Returns
        -------
        OnlineClassifier
            The estimator itself.

        Raises
        ------
        TypeError, ValueError
            They are no costs, or not for these classes; the old ones stay.
        """
        if self.__sklearn_is_fitted__():
            self._bind(costs)
        else:
            cost_model(costs)
        self.costs = costs
        return self

    def _bind(self, costs: CostModel | None) -> None:
        bound = bind(cost_model(costs), self._names, self.classes_.tolist())
        check_magnitudes(None, None, bound)
        self._begin_costs(bound)
        self.costs_: BoundCosts = bound
        self._bound_from = costs
        self._linear.begin_anew()

    def _learn(
        self, X: Any, y: Any, classes: Any, sample_weight: Any, example_cost: Any, *, fresh: bool
    ) -> OnlineClassifier:
        """Answer cases and learn from them, in their order; a first call that fails leaves nothing fitted."""
        self._check_settings()
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None: "
                "give one label per case."
            )
        first = fresh or not self.__sklearn_is_fitted__()
        if first:
            self.__dict__.pop("_linear", None)
            if self.estimator is not None:
                check_adaptable(self.estimator)
            self._reader: Reader = choose_reader(self.features, self.estimator, X)
        try:
            self._learn_from(X, y, classes, sample_weight, example_cost, first, fresh)
        except Exception:
            if first:
                self.__dict__.pop("_linear", None)
            raise
        return self

    def _learn_from(
        self, X: Any, y: Any, classes: Any, sample_weight: Any, example_cost: Any, first: bool, fresh: bool
    ) -> None:
        rows = self._reader.read(self, X, reset=first)
        index = None if first else known_positions(y, self.classes_)
        found, index = (self.classes_, index) if index is not None else encode_labels(y)
        check_consistent_length(range(len(rows)), index)
        if first:
            self._begin(self._choose_classes(found, classes, fresh), rows.n_features)
        elif classes is not None and not np.array_equal(self.classes_, unique_labels(classes)):
            raise ValueError(
                f"classes are {listed(np.asarray(classes).tolist())}; at the first call they were "
                f"{listed(self.classes_.tolist())}. A class that comes later must be named at the beginning."
            )
        if self.costs is not self._bound_from:
            self._bind(self.costs)
        batch = self._make_batch(X, rows, self._positions(found)[index], sample_weight, example_cost)
        self._count(batch, self._advance(self._linear, batch))
        if not np.isfinite(self._linear.weights).all():
            raise ValueError("the weights left the range of floats: scale X, for instance by StandardScaler.")

    def _choose_classes(self, found: NDArray[Any], classes: Any, fresh: bool) -> NDArray[Any]:
        """Classes of the stream: of the adapted classifier, named by the user, in the costs, or in ``y``."""
        named = None if classes is None else unique_labels(classes)
        own = None if self.estimator is None else np.asarray(self.estimator.classes_)
        known = cost_model(self.costs).classes
        if own is not None:
            if named is not None and not np.array_equal(own, named):
                raise ValueError(
                    f"classes are {listed(named.tolist())}; the estimator knows {listed(own.tolist())}."
                )
            chosen = own
        elif named is not None:
            chosen = named
        elif fresh and len(found) > 1:
            chosen = found
        elif known is not None:
            chosen = np.unique(np.asarray(known))
        elif fresh:
            chosen = found
        else:
            raise ValueError(
                "classes must be passed on the first call to partial_fit (or in the CostModel): a stream "
                "does not show them all at once."
            )
        if len(chosen) < 2:
            raise ValueError(
                f"there must be two classes or more; got one class, {chosen.tolist()[0]!r}: name those that "
                "the stream may show in the CostModel, or in partial_fit(classes=...)."
            )
        return chosen

    def _begin(self, classes: NDArray[Any], n_features: int) -> None:
        self.classes_, self.n_classes_ = classes, len(classes)
        names = getattr(self, "feature_names_in_", None)
        self._names = tuple(f"x{j}" for j in range(self.n_features_in_)) if names is None else tuple(names)
        self.f0_scale_ = 1.0
        linear = LinearPart(1 if len(classes) == 2 else len(classes), n_features)
        self._prequential = Prequential(int(self.window))
        self._linear = linear
        self._bind(self.costs)

    def _positions(self, labels: NDArray[Any]) -> NDArray[np.int32]:
        position = {label: k for k, label in enumerate(self.classes_.tolist())}
        unknown = [label for label in labels.tolist() if label not in position]
        if unknown:
            raise ValueError(
                f"y holds {listed(unknown)}, but the classes are {listed(self.classes_.tolist())}; "
                "name all classes at the first call."
            )
        return np.array([position[label] for label in labels.tolist()], dtype=np.int32)

    def _make_batch(
        self, X: Any, rows: Rows, y: NDArray[np.int32], sample_weight: Any, example_cost: Any
    ) -> Batch:
        weight = check_sample_weight(sample_weight, len(rows))
        costs = check_example_cost(example_cost, len(rows), self.classes_, cost_model(self.costs))
        check_magnitudes(weight, costs, self.costs_)
        base = self._base_margins(X, len(rows))
        if weight is None:
            return Batch(rows, y, np.ones(len(rows)), costs, base)
        kept = np.flatnonzero(weight)
        if len(kept) < len(weight):
            rows, y, base, weight = Rows.of(rows.matrix[kept]), y[kept], base[kept], weight[kept]
            costs = None if costs is None else costs[kept]
        return Batch(rows, y, weight, costs, base)

    def _base_margins(self, X: Any, n: int) -> NDArray[np.float64]:
        if self.estimator is None:
            return np.zeros(n if self.n_classes_ == 2 else (n, self.n_classes_))
        return margins(self.estimator, X)

    def _count(self, batch: Batch, scores: NDArray[np.float64]) -> None:
        answer = answers_of(scores)
        if batch.example_cost is None:
            paid = self.costs_.matrix[batch.y, answer]
        else:
            paid = batch.example_cost[np.arange(len(answer)), answer]
        self._prequential.add(batch.weight, answer != batch.y, paid)

    @property
    def _constant(self) -> float:
        return float(self.intercept_scaling) if self.fit_intercept else 0.0

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Give the margin ``f(x) = f_0(x) + w.x + b``.

        Parameters
        ----------
        X : DataFrame, array-like or sparse matrix of shape (n_samples, n_features)
            Cases.

        Returns
        -------
        ndarray of shape (n_samples,) for two classes, else (n_samples, n_classes)
            Positive where ``classes_[1]`` is answered; the greatest stands for the answer.
        """
        check_is_fitted(self)
        rows = self._reader.read(self, X, reset=False)
        learnt = rows.times(self._linear.settled(self.average))
        base = self._base_margins(X, len(rows)) * self.f0_scale_
        return base + (learnt[:, 0] if self.n_classes_ == 2 else learnt)

    def predict(self, X: Any) -> NDArray[Any]:
        """Answer cases under the present costs.

        Parameters
        ----------
        X : DataFrame, array-like or sparse matrix of shape (n_samples, n_features)
            Cases.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels from ``classes_``; a tie goes to the first.
        """
        scores = self.decision_function(X)
        return np.asarray(self.classes_[answers_of(scores)])

    @property
    def coef_(self) -> NDArray[np.float64]:
        """Weights of the features, shape (1, d) or (n_classes, d); averaged if ``average``."""
        check_is_fitted(self)
        return self._linear.settled(self.average)[:, :-1].copy()

    @property
    def intercept_(self) -> NDArray[np.float64]:
        """Intercepts, shape (1,) or (n_classes,); averaged if ``average``."""
        check_is_fitted(self)
        return self._linear.settled(self.average)[:, -1].copy()

    @property
    def n_cases_(self) -> int:
        """Cases learnt from."""
        check_is_fitted(self)
        return self._linear.n_cases

    @property
    def n_updates_(self) -> int:
        """Cases that moved the weights."""
        check_is_fitted(self)
        return self._linear.n_steps

    @property
    def prequential_error_(self) -> float:
        """Share of wrong answers, each given before its case was learnt."""
        check_is_fitted(self)
        return self._prequential.error

    @property
    def prequential_cost_(self) -> float:
        """Average cost of the answers, each given before its case was learnt, at the costs of its time."""
        check_is_fitted(self)
        return self._prequential.cost

    @property
    def prequential_curve_(self) -> pd.DataFrame:
        """Both by window: ``n_cases`` at its end, ``error``, ``cost``; the last one may still be open."""
        check_is_fitted(self)
        return self._prequential.curve()


def answers_of(scores: NDArray[np.float64]) -> NDArray[np.intp]:
    """Class indices that scores stand for: the second class above 0, else the greatest, ties to the first."""
    if scores.ndim == 1:
        return (scores > 0).astype(np.intp)
    return scores.argmax(axis=1)
