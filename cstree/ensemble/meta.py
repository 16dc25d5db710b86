"""What classifiers share that train other classifiers: checked cases, learners, and the Bayes rule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn import get_config
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing, check_consistent_length, get_tags
from sklearn.utils.validation import check_is_fitted, has_fit_parameter, validate_data

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
from cstree.encoding.columns import Columns
from cstree.ensemble.test_cost import committee_test_cost

__all__ = [
    "Cases",
    "CostMetaClassifier",
    "answers_of",
    "cheapest",
    "name_of",
    "probabilities",
    "readable_columns",
    "train",
]

# Expected costs this near to one another, as a share of the greatest, are the same.
_SAME = 1e-12


@dataclass(frozen=True, eq=False)
class Cases:
    """A checked table to train on; cases of weight 0 are left out.

    Attributes
    ----------
    X : DataFrame, ndarray or sparse matrix of shape (n, n_features)
    y : ndarray of shape (n,), int
        Class indices.
    classes : ndarray of shape (K,)
        Labels.
    weight : ndarray of shape (n,) or None
        None where all count 1.
    example_cost : ndarray of shape (n, K) or None
    """

    X: Any
    y: NDArray[np.int32]
    classes: NDArray[Any]
    weight: NDArray[np.float64] | None = None
    example_cost: NDArray[np.float64] | None = None

    @property
    def labels(self) -> NDArray[Any]:
        """Label of each case."""
        return self.classes[self.y]

    @property
    def n_classes(self) -> int:
        """Number of classes, K."""
        return len(self.classes)

    def __len__(self) -> int:
        return len(self.y)

    def weights(self) -> NDArray[np.float64]:
        """Weight of each case, 1 by default."""
        return np.ones(len(self.y)) if self.weight is None else self.weight

    def class_weight(self) -> NDArray[np.float64]:
        """Sum of the weights of each class, shape (K,)."""
        return np.bincount(self.y, self.weight, minlength=self.n_classes).astype(np.float64)

    def weighted(self, weight: NDArray[np.float64]) -> Cases:
        """Return the same cases with other weights; those of weight 0 go."""
        kept = weight > 0
        cases = Cases(self.X, self.y, self.classes, weight, self.example_cost)
        cases = cases if kept.all() else cases.take(np.flatnonzero(kept))
        if cases.weight is not None and (cases.weight == 1).all():
            return Cases(cases.X, cases.y, cases.classes, None, cases.example_cost)
        return cases

    def take(self, rows: NDArray[np.intp]) -> Cases:
        """Return some of the cases, or copies of them."""
        return Cases(
            _safe_indexing(self.X, rows),
            self.y[rows],
            self.classes,
            None if self.weight is None else self.weight[rows],
            None if self.example_cost is None else self.example_cost[rows],
        )


class CostMetaClassifier(CostSensitiveClassifier):
    """Base of classifiers that train an ``estimator`` and answer by its probabilities.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    costs_ : BoundCosts
    """

    estimator: Any
    estimator_: Any
    # What a fit that went through to its end has left.
    _trained: ClassVar[str] = "estimator_"

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that tables may hold whatever the learner takes."""
        tags = super().__sklearn_tags__()
        if self.estimator is not None:
            inner = get_tags(self.estimator).input_tags
            tags.input_tags.allow_nan = inner.allow_nan
            tags.input_tags.string = inner.string
            tags.input_tags.categorical = inner.categorical
            tags.input_tags.sparse = inner.sparse
        return tags

    def _cases(
        self, X: Any, y: Any, sample_weight: Any = None, example_cost: Any = None, known: Any = None
    ) -> Cases:
        """Check a training table; sets ``classes_``, ``costs_`` and what is known of columns."""
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None: "
                "give one label per case."
            )
        table, names = self._table(X, reset=True)
        classes, index = encode_labels(y)
        if known is not None:  # a learner trained elsewhere may know more classes
            own = _positions(classes, known, "y holds class {}, which the fitted learner does not know")
            index, classes = own.astype(np.int32)[index], known
        check_consistent_length(table, index)
        model = cost_model(self.costs)
        weight = check_sample_weight(sample_weight, len(index))
        rows_cost = check_example_cost(example_cost, len(index), classes, model)
        costs = model.bind(names, classes.tolist())
        check_magnitudes(weight, rows_cost, costs)
        self.classes_ = classes
        self.n_classes_ = len(classes)
        self.costs_: BoundCosts = costs
        cases = Cases(table, index, classes, None, rows_cost)
        return cases if weight is None else cases.weighted(weight)

    def _table(self, X: Any, *, reset: bool = False) -> tuple[Any, tuple[str, ...]]:
        """Check rows and columns; the table as learners get it, and the names of its columns."""
        if issparse(X):
            validate_data(self, X=X, reset=reset, skip_check_array=True)
            return X.tocsr(), tuple(f"x{j}" for j in range(X.shape[1]))
        columns = self._columns(X, reset=reset)
        if hasattr(X, "iloc"):
            return X, columns.names
        return columns.frame if columns.array is None else columns.array, columns.names

    def _rows(self, X: Any) -> Any:
        """Check a table to predict."""
        check_is_fitted(self, self._trained)  # a fit that failed half-way has left classes_
        return self._table(X)[0]

    def test_cost(self, X: Any, *, costs: CostModel | None = None) -> NDArray[np.float64]:
        """Return what the tests cost that learners ask of each case, each test paid once.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)
        costs : CostModel, optional
            Other prices than those of the constructor.

        Returns
        -------
        ndarray of shape (n_samples,)
            In the unit of the prices. A tree asks the tests on the way of the case, any other learner all
            columns that it was trained on. What one has paid for, no other pays again.
        """
        table = self._rows(X)
        members, features = self._asked()
        return committee_test_cost(members, readable_columns(table), self._prices(costs), features)

    def _asked(self) -> tuple[list[Any], list[NDArray[np.intp]]]:
        """Learners, and the columns of which each asks the tests; constant ones ask none."""
        members, features = self._members()
        every = np.arange(self.n_features_in_)
        read = [every] * len(members) if features is None else features
        return members, [
            every[:0] if isinstance(member, DummyClassifier) else own
            for member, own in zip(members, read, strict=True)
        ]

    def _prices(self, costs: CostModel | None) -> BoundCosts:
        if costs is None:
            return self.costs_
        if not isinstance(costs, CostModel):
            raise TypeError(f"costs is a {type(costs).__name__}: wrap prices as CostModel(tests=...)")
        return costs.bind(self.costs_.feature_names, self.classes_.tolist())

    def _members(self) -> tuple[list[Any], list[NDArray[np.intp]] | None]:
        """Learners, and the columns that each was trained on (None: all)."""
        return [self.estimator_], None

    def _labels(self, index: NDArray[np.integer[Any]]) -> NDArray[Any]:
        return np.asarray(self.classes_[index])


def readable_columns(table: Any) -> Columns:
    """Columns of a table; of a sparse one, which no tree reads, their number only.

    Parameters
    ----------
    table : DataFrame, ndarray or sparse matrix

    Returns
    -------
    Columns
    """
    return Columns(np.broadcast_to(0.0, table.shape) if issparse(table) else table)


def cheapest(expected: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the answer of least expected cost for each case, the first of several.

    Parameters
    ----------
    expected : ndarray of shape (n, K)
        Expected cost of each answer.

    Returns
    -------
    ndarray of shape (n,), int
        Class indices.
    """
    near = expected.min(axis=1) + _SAME * np.abs(expected).max(axis=1)
    return np.asarray((expected <= near[:, None]).argmax(axis=1))


def train(estimator: Any, cases: Cases, rng: np.random.Generator | None = None, *, weigh: bool = True) -> Any:
    """Train a copy of a learner.

    Parameters
    ----------
    estimator : classifier
        What is cloned.
    cases : Cases
        Training table.
    rng : Generator, optional
        Gives every ``random_state`` inside the learner a number of its own.
    weigh : bool, default=True
        Hand on weights; a learner that takes none is refused.

    Returns
    -------
    classifier
        Fitted; a constant one where the cases are of one class (cstree's own learners do that themselves).

    Raises
    ------
    ValueError
        The learner takes no weights, and there are some.
    """
    learner = clone(estimator)
    if rng is not None:
        _give_seeds(learner, rng)
    present = np.unique(cases.y)
    alone = len(present) == 1 and not isinstance(learner, CostSensitiveClassifier | FrozenEstimator)
    if alone:
        learner = DummyClassifier(strategy="prior")
    arguments: dict[str, Any] = {}
    if weigh and cases.weight is not None:
        arguments[_fit_argument(learner, "sample_weight")] = cases.weight
    if cases.example_cost is not None and not alone and has_fit_parameter(learner, "example_cost"):
        arguments["example_cost"] = cases.example_cost[:, present]
    return learner.fit(cases.X, cases.labels, **arguments)


def _fit_argument(learner: Any, name: str) -> str:
    """Name under which a learner's ``fit`` takes weights; a pipeline's last step gets them."""
    inner, path = learner, ""
    while isinstance(inner, Pipeline) and not get_config()["enable_metadata_routing"]:
        step, inner = inner.steps[-1]
        path += f"{step}__"
    if isinstance(inner, Pipeline | FrozenEstimator):
        return path + name
    while not has_fit_parameter(inner, name) and hasattr(inner, "estimator"):  # searches hand arguments on
        inner = inner.estimator
    if not has_fit_parameter(inner, name):
        raise ValueError(
            f"{name_of(inner)} takes no {name}, and here cases weigh differently: take a learner that does, "
            "or put a sampler (CostOverSampler, CostUnderSampler) before it"
        )
    return path + name


def _give_seeds(learner: Any, rng: np.random.Generator) -> None:
    """Set every ``random_state``, also inside pipelines, to a number drawn in the order of their names."""
    names = sorted(name for name in learner.get_params() if name.split("__")[-1] == "random_state")
    if names:
        learner.set_params(**{name: int(rng.integers(2**31)) for name in names})


def probabilities(learner: Any, X: Any, classes: NDArray[Any]) -> NDArray[np.float64]:
    """Class probabilities of a learner, with 0 for classes that it never saw.

    Parameters
    ----------
    learner : fitted classifier
        With ``predict_proba``.
    X : table
        Cases.
    classes : ndarray of shape (K,)
        All classes, sorted.

    Returns
    -------
    ndarray of shape (n, K)

    Raises
    ------
    TypeError
        The learner gives no probabilities.
    """
    if not hasattr(learner, "predict_proba"):
        raise TypeError(
            f"{name_of(learner)} gives no class probabilities (predict_proba), which costs are weighed with: "
            "wrap it in scikit-learn's CalibratedClassifierCV, or take another learner"
        )
    given = np.asarray(learner.predict_proba(X), dtype=np.float64)
    own = _positions(learner.classes_, classes)
    if len(own) == len(classes):
        return given
    full = np.zeros((len(given), len(classes)))
    full[:, own] = given
    return full


def answers_of(learner: Any, X: Any, classes: NDArray[Any]) -> NDArray[np.intp]:
    """Class indices that a learner answers.

    Parameters
    ----------
    learner : fitted classifier
        What answers.
    X : table
        Cases.
    classes : ndarray of shape (K,)
        All classes, sorted.

    Returns
    -------
    ndarray of shape (n,), int
    """
    return _positions(np.asarray(learner.predict(X)), classes)


def _positions(
    labels: NDArray[Any], classes: NDArray[Any], error: str = "the learner knows class {}, which is none of y"
) -> NDArray[np.intp]:
    found = pd.Index(classes).get_indexer(pd.Index(np.asarray(labels)))
    if (found < 0).any():
        stranger = np.asarray(labels)[found < 0].tolist()[0]
        raise ValueError(f"{error.format(repr(stranger))}: {listed(classes.tolist())}")
    return np.asarray(found)


def name_of(learner: Any) -> str:
    """Name of a learner's class, for messages."""
    inner = learner.estimator if isinstance(learner, FrozenEstimator) else learner
    return type(inner).__name__
