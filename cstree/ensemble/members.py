"""Members of a committee: stumps, trees, any fitted classifiers; what they answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

from cstree.encoding.columns import Columns
from cstree.tree.classifier import TreeClassifier
from cstree.tree.evaluation import leaves_of

__all__ = ["Table", "answers_of", "class_indices"]


@dataclass(frozen=True, eq=False)
class Table:
    """Cases as the user gave them, and by column.

    Attributes
    ----------
    X : DataFrame or array-like of shape (n_samples, n_features)
    columns : Columns
    """

    X: Any
    columns: Columns

    @property
    def n_samples(self) -> int:
        """Number of cases."""
        return self.columns.n_samples

    def take(self, rows: NDArray[np.intp]) -> Table:
        """Return the table of some cases; the table itself if these are all, in order."""
        if np.array_equal(rows, np.arange(self.n_samples)):
            return self
        X = _safe_indexing(self.X, rows)
        return Table(X, Columns(X))


def class_indices(labels: Any, classes: NDArray[Any], member: Any) -> NDArray[np.intp]:
    """Position of each label among the classes.

    Parameters
    ----------
    labels : array-like
    classes : ndarray of shape (n_classes,)
    member : object
        What answered, for the message.

    Returns
    -------
    ndarray of the shape of labels, intp

    Raises
    ------
    ValueError
        A label is no class.
    """
    found = pd.Index(classes).get_indexer(pd.Index(np.asarray(labels)))
    if (found < 0).any():
        stranger = np.asarray(labels)[found < 0][:1].tolist()[0]
        raise ValueError(
            f"a {type(member).__name__} of the committee answers {stranger!r}, which is no class of y: "
            f"{classes.tolist()}."
        )
    return np.asarray(found)


def answers_of(member: Any, table: Table, classes: NDArray[Any]) -> NDArray[np.intp]:
    """Class index that a fitted classifier answers for each case, shape (n_samples,).

    Parameters
    ----------
    member : fitted classifier
        A :class:`~cstree.tree.classifier.TreeClassifier` walks the columns without checking the table again.
    table : Table
    classes : ndarray of shape (n_classes,)
    """
    if isinstance(member, TreeClassifier):
        tree = member.tree_
        own = class_indices(member.classes_[tree.answer], classes, member)
        return own[leaves_of(tree, member.schema_, table.columns)]
    return class_indices(member.predict(table.X), classes, member)
