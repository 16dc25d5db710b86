"""A fixed set of trained classifiers as weak learners: who is wrong about which case, in bits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted

from cstree.costs.bound import BoundCosts
from cstree.encoding.schema import FeatureSchema
from cstree.ensemble._kernels import sum_wrong
from cstree.ensemble.learners import Choice, WeakLearners
from cstree.ensemble.members import Table, answers_of
from cstree.pareto.front import Front
from cstree.tree.classifier import TreeClassifier
from cstree.tree.front_evaluator import FrontEvaluator
from cstree.tree.tree import Tree

__all__ = ["GivenTree", "PoolLearners", "pool_members"]

Floats = NDArray[np.float64]

_FROZEN = (
    "scikit-learn's clone, which cross-validation and grid search use, makes classifiers forget what they "
    "learned; wrap it as sklearn.frozen.FrozenEstimator(classifier), or hand over front_ of a fitted "
    "ParetoTreeClassifier, which keeps its trees"
)


class GivenTree(TreeClassifier):
    """A tree as a fitted classifier, such as the trees of a front; it stays as it is when cloned or fitted.

    Parameters
    ----------
    tree : Tree
    schema : FeatureSchema
        How the tree reads a table.
    bound : BoundCosts
        Costs of its classes and features.
    """

    def __init__(self, tree: Tree, schema: FeatureSchema, bound: BoundCosts) -> None:
        self.tree, self.schema, self.bound = tree, schema, bound
        self.costs = None
        self.tree_, self.schema_, self.costs_ = tree, schema, bound
        self.classes_ = np.array(bound.classes)
        self.n_classes_, self.n_features_in_ = len(bound.classes), len(schema)
        if schema.names != tuple(
            f"x{j}" for j in range(len(schema))
        ):  # what columns without names are called
            self.feature_names_in_ = np.array(schema.names, dtype=object)

    def __sklearn_clone__(self) -> Self:
        """Keep the tree."""
        return self

    def fit(self, X: Any, y: Any) -> Self:
        """Do nothing: the tree is given."""
        return self


def pool_members(pool: Any) -> list[Any]:
    """List the classifiers of what users give as a pool.

    Parameters
    ----------
    pool : Front of Tree, fitted classifier with a front, or iterable of fitted classifiers

    Returns
    -------
    list of fitted classifiers

    Raises
    ------
    TypeError
        It is none of these.
    ValueError
        It is empty, or a front that does not know the features of its trees.
    NotFittedError
        A classifier has not been trained, or was cloned since.
    """
    pool = pool.estimator if isinstance(pool, FrozenEstimator) else pool
    if isinstance(pool, Front):
        return _front_members(pool)
    if hasattr(pool, "search") and hasattr(pool, "choose"):  # a ParetoTreeClassifier, fitted or not
        _require_fitted(pool)
        return [GivenTree(tree, pool.schema_, pool.costs_) for tree in pool.front_]
    if isinstance(pool, str) or not isinstance(pool, Iterable):
        raise TypeError(
            "pool must be the front_ of a ParetoTreeClassifier, such a classifier, or a list of fitted "
            f"classifiers; got {pool!r}."
        )
    members = []
    for member in pool:
        if isinstance(member, type) or not callable(getattr(member, "predict", None)):
            raise TypeError(f"pool holds {member!r}, which is no classifier: it has no predict.")
        _require_fitted(member)
        members.append(member.estimator if isinstance(member, FrozenEstimator) else member)
    if not members:
        raise ValueError("pool is empty: hand over at least one classifier.")
    return members


def _require_fitted(member: Any) -> None:
    try:
        check_is_fitted(member, "tree_" if isinstance(member, TreeClassifier) else None)
    except NotFittedError as error:
        raise NotFittedError(
            f"pool holds a {type(member).__name__} that is not fitted: {_FROZEN}."
        ) from error
    except TypeError:  # no scikit-learn estimator: it has a predict, which may well work
        return


def _front_members(front: Front[Any]) -> list[Any]:
    if not all(isinstance(tree, Tree) for tree in front):
        return pool_members(list(front))
    evaluator = front.evaluator
    if not isinstance(evaluator, FrontEvaluator):
        raise ValueError(
            "the front of the pool does not know the features that its trees were made for: give the fitted "
            "ParetoTreeClassifier as pool, or front.attach(cstree.tree.FrontEvaluator(schema, costs))."
        )
    return [GivenTree(tree, evaluator.schema, evaluator.costs) for tree in front]


class PoolLearners(WeakLearners):
    """Trained classifiers as candidates; a bit for every member and case says whether it is wrong.

    100,000 members and 10,000 cases take 125 MB.

    Parameters
    ----------
    members : sequence of fitted classifiers
        Trees must read the same features.
    table : Table
        Training cases.
    y : ndarray of shape (n_samples,), int
        Their class indices.
    classes : ndarray of shape (n_classes,)
    """

    def __init__(
        self, members: Sequence[Any], table: Table, y: NDArray[np.int32], classes: NDArray[Any]
    ) -> None:
        self._members = members
        counts = np.bincount(y, minlength=len(classes))
        n_words = -(-counts // 64)
        # Cases stand class by class, and a class begins with a new word.
        self._class_start = np.concatenate([[0], np.cumsum(n_words)])
        order = np.argsort(y, kind="stable")
        first = self._class_start[:-1] * 64 - (np.cumsum(counts) - counts)
        self._place = np.empty(len(y), dtype=np.intp)
        self._place[order] = np.arange(len(y)) + first[y[order]]
        self._padded = np.zeros(64 * int(n_words.sum()))
        self._words = np.empty((int(n_words.sum()), len(members)), dtype=np.uint64)
        self._errors = np.empty((len(classes), len(members)))
        for start in range(0, len(members), 64):
            group = members[start : start + 64]
            self._words[:, start : start + len(group)] = self._pack(group, table, y, classes)

    def _pack(
        self, members: Sequence[Any], table: Table, y: NDArray[np.int32], classes: NDArray[Any]
    ) -> NDArray[np.uint64]:
        """Bits of some members, shape (n_words, n_members)."""
        wrong = np.zeros((len(members), len(self._padded)), dtype=np.bool_)
        for row, member in zip(wrong, members, strict=True):
            _check_features(member, table)
            row[self._place] = answers_of(member, table, classes) != y
        packed = np.packbits(wrong, axis=1, bitorder="little").view("<u8")
        return np.ascontiguousarray(packed.T.astype(np.uint64))

    @property
    def n_candidates(self) -> int:
        """Number of members."""
        return len(self._members)

    def errors(self, weight: Floats) -> Floats:
        """Weight that each member gets wrong, by class; the array is filled anew by the next call."""
        self._padded[self._place] = weight
        sum_wrong(self._words, self._padded, self._class_start, self._errors)
        return self._errors

    def take(self, index: int) -> Choice:
        """Member of this index."""
        bits = np.unpackbits(self._words[:, index].astype("<u8").view(np.uint8), bitorder="little")
        return Choice(self._members[index], bits[self._place].astype(np.bool_))


def _check_features(member: Any, table: Table) -> None:
    """Refuse trees made for other features than the table's; other classifiers check that themselves."""
    if isinstance(member, TreeClassifier) and member.schema_.names != table.columns.names:
        raise ValueError(
            f"a tree of the pool was made for the features {list(member.schema_.names)}, but X has "
            f"{list(table.columns.names)}."
        )
