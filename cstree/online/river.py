"""The online learners as classifiers of river, which hands on one case at a time as a dictionary.

Needs river: ``pip install 'cstree[river]'``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from cstree.online.cases import Case, labels_of, least, no_number, numbers_of, squared_length
from cstree.online.csoc import CSOCClassifier, cost_ratio
from cstree.online.inputs import positive_number
from cstree.online.margins import LEAST_SHARE, check_adaptable, margins
from cstree.online.ocsca import OCSCAClassifier, cheapest

try:
    from river.base import Classifier
    from river.utils import VectorDict
except ImportError:  # the module can be read about all the same

    class Classifier:  # type: ignore[no-redef]
        """Stands for river's base class where river is not installed."""

        def __new__(cls, *_args: Any, **_options: Any) -> Any:
            """Say what is missing."""
            raise ImportError("this classifier is one of river's: pip install 'cstree[river]'")


__all__ = ["CSOC", "OCSCA"]


class _Linear(Classifier):
    """Steps along cases."""

    fit_intercept: bool
    intercept_scaling: float
    scale: str | None

    def _begin(self) -> None:
        self._n_cases = 0
        self._square = 0.0  # sum of ||x||^2
        self._weights: list[Any] = [VectorDict(None)]
        self._intercepts = [0.0]

    def _measure(self, square: float) -> tuple[float, float]:
        """Count a case; give the unit of ``||x||^2``, and the square of the constant feature."""
        self._n_cases += 1
        self._square += square
        unit = self._square / self._n_cases if self.scale == "auto" and self._square > 0 else 1.0
        return unit, self.intercept_scaling**2 * unit if self.fit_intercept else 0.0

    def _learnt(self, x: Case, k: int = 0) -> float:
        """``w.x + b``."""
        try:
            return self._weights[k].dot(x) + self._intercepts[k]
        except TypeError as error:
            raise no_number(x) from error

    def _move(self, x: Case, step: float, constant: float, k: int = 0) -> None:
        """``w += step x``, and the intercept by ``step`` times the square of its constant."""
        self._weights[k].iadd_scaled(VectorDict.from_scaled(x, step), 1.0)
        self._intercepts[k] += step * constant


class OCSCA(_Linear):
    """Adapt a fitted classifier to new costs, case by case: ``OCSCAClassifier`` for river.

    Parameters
    ----------
    costs : CostModel or None, default=None
        What mistakes cost now. None: a mistake costs 1. Labels are ``False`` and ``True``, or those that the
        costs name, or (without costs) any.
    estimator : classifier or None, default=None
        What is adapted: a fitted one of scikit-learn's kind that knows its features by name (was fitted on a
        frame), or one of river that has learnt; neither is changed, and clones keep it. None: nothing.
    alpha : float, default=0.01
        How far a mistake of cost 1 may move the margin of a case of length 1.
    f0_scale : float, default=1.0
        Factor of the classifier's margin.
    fit_intercept : bool, default=True
        Learn an intercept as well.
    intercept_scaling : float, default=1.0
        The constant feature that stands for it.
    features : "x", "leaf" or transformer of river, default="x"
        What the correction reads: the case's numbers, the leaf of the tree that is adapted, or what a
        transformer makes of the case, which learns on the way.
    scale : "auto" or None, default="auto"
        "auto": alpha is divided by the mean of ``||x||^2`` so far and by the cost of the cheapest mistake.

    Examples
    --------
    >>> from cstree import CostModel
    >>> from cstree.online.river import OCSCA
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> dear = CostModel.binary(false_positive=1, false_negative=5)
    >>> recall = []
    >>> for costs in (None, dear):
    ...     model = preprocessing.StandardScaler() | OCSCA(costs)
    ...     recall.append(evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Recall()).get())
    >>> recall[1] > recall[0]
    True
    """

    def __init__(
        self,
        costs: Any = None,
        estimator: Any = None,
        alpha: float = 0.01,
        f0_scale: float = 1.0,
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        features: Any = "x",
        scale: str | None = "auto",
    ) -> None:
        self.costs = costs
        self.estimator = estimator
        self.alpha = alpha
        self.f0_scale = f0_scale
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.features = features
        self.scale = scale
        positive_number(f0_scale, "f0_scale")
        OCSCAClassifier(alpha=alpha, intercept_scaling=intercept_scaling, scale=scale)._check_settings()
        self._begin()
        self._labels: list[Any] = []
        # Of two classes, one vector: that of the second, twice. The classes' own ones are its halves.
        self._read_costs(costs)
        if estimator is not None and not isinstance(estimator, Classifier):
            check_adaptable(estimator)
            if not hasattr(estimator, "feature_names_in_"):
                raise ValueError(
                    f"the estimator, a {type(estimator).__name__}, does not know its features by name: fit "
                    "it on a DataFrame, so that it finds them in a case."
                )
            self._add_labels(np.asarray(estimator.classes_).tolist())

    @property
    def _multiclass(self) -> bool:
        return self._matrix is None or len(self._named) > 2

    @property
    def _mutable_attributes(self) -> set[str]:
        return {"alpha", "f0_scale"}

    def _get_params(self) -> dict[str, Any]:
        # river makes clones of its own estimators anew; the one that is adapted is kept as it is.
        return super()._get_params() | {"estimator": self.estimator}

    def set_costs(self, costs: Any) -> None:
        """Change the costs; what was learnt stays, and the stream goes on.

        Parameters
        ----------
        costs : CostModel or None
            Costs from now on.
        """
        self._read_costs(costs)
        self.costs = costs

    def _read_costs(self, costs: Any) -> None:
        named, matrix = labels_of(costs)
        missing = [label for label in self._labels if matrix is not None and label not in named]
        if missing:
            raise ValueError(f"the costs lack the class {missing[0]!r}, which the stream has shown.")
        self._named, self._matrix = named, matrix
        self._add_labels(named)
        self._price()

    def _add_labels(self, labels: Iterable[Any]) -> None:
        for label in labels:
            if label in self._labels:
                continue
            if self._matrix is not None and label not in self._named:
                raise ValueError(f"there are no costs for the class {label!r}: name it in the CostModel.")
            if len(self._labels) == 2:
                two, both = self._weights[0].to_dict(), self._intercepts[0]
                self._weights = [VectorDict.from_scaled(two, -0.5), VectorDict.from_scaled(two, 0.5)]
                self._intercepts = [-both / 2, both / 2]
            if len(self._labels) >= 2:
                self._weights.append(VectorDict(None))
                self._intercepts.append(0.0)
            self._labels.append(label)
        self._price()

    def _price(self) -> None:
        """Look up, by class, the answer that is wanted and what others cost more."""
        n = len(self._labels)
        self._wanted: dict[Any, tuple[int, list[float]]] = {}
        if n == 0:
            return
        matrix = 1.0 - np.eye(n)
        if self._matrix is not None:
            order = [self._named.index(label) for label in self._labels]
            matrix = self._matrix[np.ix_(order, order)]
        best, regrets = cheapest(matrix, np.arange(n))
        if self.scale == "auto":
            regrets = regrets / regrets[regrets > 0].min(initial=np.inf)
        self._wanted = dict(zip(self._labels, zip(best.tolist(), regrets.tolist(), strict=True), strict=True))

    def learn_one(self, x: Any, y: Any, w: float = 1.0) -> None:
        """Learn from a case.

        Parameters
        ----------
        x : dict
            Features and their values.
        y : label
            The truth.
        w : float, default=1.0
            Weight of the case: multiplies its costs.
        """
        if y not in self._wanted:
            self._add_labels([False, True] if isinstance(y, (bool, np.bool_)) else [y])
        if hasattr(self.features, "learn_one"):
            self.features.learn_one(x)
        z = self._read(x)
        square = squared_length(z)
        unit, constant = self._measure(square)
        if len(self._labels) < 2:
            return
        target, regrets = self._wanted[y]
        cap = self.alpha * w / unit
        if len(self._weights) > 1:
            caps = [cap * cost / 2 for cost in regrets]
            self._learn_of_many(z, self._scores(x, z), target, caps, square, constant)
            return
        sign = 1.0 if target else -1.0
        loss = 1.0 - sign * self._scores(x, z)[0]
        if loss > 0:
            tau = least(cap * regrets[1 - target], loss, square + constant)
            self._move(z, sign * tau, constant)

    def predict_one(self, x: Any, **kwargs: Any) -> Any:
        """Answer a case under the present costs.

        Parameters
        ----------
        x : dict
            Features and their values.
        **kwargs : dict
            Not looked at; river's signature.

        Returns
        -------
        label or None
            None as long as there is no class.
        """
        if len(self._labels) < 2:
            return self._labels[0] if self._labels else None
        scores = self._scores(x, self._read(x))
        if len(scores) == 1:
            return self._labels[int(scores[0] > 0)]
        return self._labels[max(range(len(scores)), key=scores.__getitem__)]

    def _learn_of_many(
        self, z: Case, scores: list[float], target: int, caps: list[float], square: float, constant: float
    ) -> None:
        """Move the weights of the class and of the rival whose margin is short at the greatest price."""
        gaps = [1.0 - (scores[target] - score) for score in scores]
        priced = [cap * gap for cap, gap in zip(caps, gaps, strict=True)]
        priced[target] = 0.0
        rival = max(range(len(priced)), key=priced.__getitem__)
        if priced[rival] > 0:
            tau = least(caps[rival], gaps[rival], 2 * (square + constant))
            self._move(z, tau, constant, target)
            self._move(z, -tau, constant, rival)

    def _read(self, x: Case) -> Case:
        """Give what the correction reads of a case."""
        if self.features == "leaf":
            return {int(self.estimator.apply(self._row(x))[0]): 1.0}
        if hasattr(self.features, "transform_one"):
            made: Case = self.features.transform_one(x)
            return made
        return x if self.estimator is None else numbers_of(x)

    def _row(self, x: Case) -> pd.DataFrame:
        """Give the case as the estimator's table; what the case lacks is missing."""
        return pd.DataFrame({name: [x.get(name, np.nan)] for name in self.estimator.feature_names_in_})

    def _scores(self, x: Case, z: Case) -> list[float]:
        """One score for two classes, that of the second; else one for each."""
        learnt = [self._learnt(z, k) for k in range(len(self._weights))]
        if self.estimator is None:
            return learnt
        return [self.f0_scale * base + score for base, score in zip(self._base(x), learnt, strict=True)]

    def _base(self, x: Case) -> list[float]:
        """Margin of the classifier that is adapted; of classes that it does not know, the least."""
        if isinstance(self.estimator, Classifier):
            shares = self.estimator.predict_proba_one(dict(x))
            logs = [math.log(max(shares.get(label, 0.0), LEAST_SHARE)) for label in self._labels]
        else:
            found = margins(self.estimator, self._row(x))[0]
            known = [-found / 2, found / 2] if np.ndim(found) == 0 else found.tolist()
            by_label = dict(zip(np.asarray(self.estimator.classes_).tolist(), known, strict=True))
            logs = [by_label.get(label, min(known)) for label in self._labels]
        return logs if len(logs) > 2 else [logs[1] - logs[0]]


class CSOC(_Linear):
    """Learn from nothing, with steps that costs weigh: ``CSOCClassifier`` for river.

    Parameters
    ----------
    costs : CostModel or None, default=None
        What mistakes cost. None: a mistake costs 1. Labels are ``False`` and ``True``, or the two that the
        costs name.
    variant : {"II", "I"}, default="II"
        "II": the slope of the loss is weighed. "I": positive cases must reach a greater margin.
    objective : {"cost", "sum"}, default="cost"
        Least cost of mistakes, or greatest weighted sum of sensitivity and specificity.
    sensitivity_weight : float, default=0.5
        For "sum": weight of sensitivity, between 0 and 1.
    learning_rate : float, default=0.01
        Length of a step for a case of length 1.
    decay : {"none", "sqrt"}, default="none"
        "sqrt": steps are divided by the root of the number of cases.
    fit_intercept : bool, default=True
        Learn an intercept as well.
    intercept_scaling : float, default=1.0
        The constant feature that stands for it.
    scale : "auto" or None, default="auto"
        "auto": steps are divided by the mean of ``||x||^2`` so far.

    Examples
    --------
    >>> from cstree.online.river import CSOC
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> model = preprocessing.StandardScaler() | CSOC(objective="sum")
    >>> score = evaluate.progressive_val_score(datasets.Phishing(), model, metrics.BalancedAccuracy())
    >>> score.get() > 0.85
    True
    """

    def __init__(
        self,
        costs: Any = None,
        variant: str = "II",
        objective: str = "cost",
        sensitivity_weight: float = 0.5,
        learning_rate: float = 0.01,
        decay: str = "none",
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        scale: str | None = "auto",
    ) -> None:
        self.costs = costs
        self.variant = variant
        self.objective = objective
        self.sensitivity_weight = sensitivity_weight
        self.learning_rate = learning_rate
        self.decay = decay
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.scale = scale
        CSOCClassifier(**self._get_params())._check_settings()
        self._begin()
        self._seen = [0, 0]
        self.set_costs(costs)

    @property
    def _mutable_attributes(self) -> set[str]:
        return {"learning_rate", "sensitivity_weight"}

    def set_costs(self, costs: Any) -> None:
        """Change the costs; what was learnt stays, and the stream goes on.

        Parameters
        ----------
        costs : CostModel or None
            Costs from now on.
        """
        labels, matrix = labels_of(costs)
        if len(labels) > 2:
            raise ValueError(f"CSOC takes two classes, the costs name {len(labels)}: use OCSCA.")
        if matrix is not None and self.objective == "cost":
            self._rho = cost_ratio(matrix, labels)
        else:
            self._rho = 1.0
        self._labels = labels or [False, True]
        self.costs = costs

    def learn_one(self, x: Any, y: Any, w: float = 1.0) -> None:
        """Learn from a case.

        Parameters
        ----------
        x : dict
            Features and their values.
        y : label
            The truth.
        w : float, default=1.0
            Weight of the case: multiplies the step.
        """
        if y not in self._labels:
            raise ValueError(
                f"the label is {y!r}, but the classes are {self._labels}: name both in the CostModel."
            )
        positive = bool(y == self._labels[1])
        rho = self._ratio() if positive else 1.0
        self._seen[positive] += 1
        square = squared_length(x)
        unit, constant = self._measure(square)
        step = self.learning_rate * w / unit
        if self.decay == "sqrt":
            step /= math.sqrt(self._n_cases)
        margin, step = (rho, step) if self.variant == "I" else (1.0, step * rho)
        sign = 1.0 if positive else -1.0
        if margin - sign * self._learnt(x) > 0:
            self._move(x, sign * step, constant)

    def _ratio(self) -> float:
        if self.objective == "cost":
            return self._rho
        share = self.sensitivity_weight / (1.0 - self.sensitivity_weight)
        return share * (1 + self._seen[0]) / (1 + self._seen[1])

    def predict_one(self, x: Any, **kwargs: Any) -> Any:
        """Answer a case.

        Parameters
        ----------
        x : dict
            Features and their values.
        **kwargs : dict
            Not looked at; river's signature.

        Returns
        -------
        label
        """
        return self._labels[int(self._learnt(x) > 0)]
