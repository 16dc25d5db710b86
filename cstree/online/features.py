"""What the linear part of an online learner reads of a case."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import pandas as pd
from scipy.sparse import csr_matrix, issparse
from sklearn.base import clone
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

from cstree.base import gaps_named
from cstree.costs.labels import listed
from cstree.online.margins import is_fitted
from cstree.online.rows import Rows

__all__ = ["Reader", "choose_reader"]

_NUMBERS: dict[str, Any] = {"accept_sparse": "csr", "dtype": [np.float64, np.float32], "order": "C"}


class Reader(Protocol):
    """Reads tables into rows of numbers."""

    def read(self, owner: Any, X: Any, *, reset: bool) -> Rows:
        """Check a table against the one before, or remember its columns (``reset``), and read it."""


class PlainReader:
    """The columns as they are; of a mixed frame those that hold numbers.

    Parameters
    ----------
    columns : list or None
        Columns of a frame; None for all.
    """

    def __init__(self, columns: list[Any] | None) -> None:
        self.columns = columns

    def read(self, owner: Any, X: Any, *, reset: bool) -> Rows:
        if self.columns is None:
            with gaps_named(owner, X):
                return Rows.of(validate_data(owner, X=X, reset=reset, **_NUMBERS))
        if not isinstance(X, pd.DataFrame):
            raise ValueError(
                f"the first table was a frame, of which {listed(self.columns)} are read: give frames from "
                "then on."
            )
        validate_data(owner, X=X, reset=reset, skip_check_array=True)
        with gaps_named(owner, X[self.columns]):
            return Rows.of(check_array(X[self.columns], estimator=owner, input_name="X", **_NUMBERS))


class LeafReader:
    """The leaf that a tree sends a case to, as an indicator of length 1.

    Parameters
    ----------
    estimator : fitted tree
    """

    def __init__(self, estimator: Any) -> None:
        tree = estimator.tree_
        self._estimator = estimator
        self._n_nodes = int(tree.n_nodes if hasattr(tree, "n_nodes") else tree.node_count)

    def read(self, owner: Any, X: Any, *, reset: bool) -> Rows:
        _check_columns(owner, X, reset)
        leaf = np.asarray(self._estimator.apply(X), dtype=np.int32)
        shape = (len(leaf), self._n_nodes)
        return Rows.of(csr_matrix((np.ones(len(leaf)), leaf, np.arange(len(leaf) + 1)), shape=shape))


class TransformedReader:
    """What a transformer makes of a case; one that is not fitted is fitted on the first table.

    Parameters
    ----------
    transformer : transformer
        A fitted one, or one that is to be fitted: it is not changed.
    """

    def __init__(self, transformer: Any) -> None:
        self._given = transformer
        self.transformer: Any = None

    def read(self, owner: Any, X: Any, *, reset: bool) -> Rows:
        _check_columns(owner, X, reset)
        if self.transformer is None:
            self.transformer = self._given if is_fitted(self._given) else clone(self._given).fit(X)
        made = self.transformer.transform(X)
        return Rows.of(check_array(made, estimator=owner, input_name="what features made of X", **_NUMBERS))


def _check_columns(owner: Any, X: Any, reset: bool) -> None:
    """Check number and names of columns; what they hold is checked by who reads them."""
    if issparse(X):
        validate_data(owner, X=X, reset=reset, skip_check_array=True)
    else:
        owner._columns(X, reset=reset)


def choose_reader(features: Any, estimator: Any, X: Any) -> Reader:
    """Make the reader that ``features`` asks for.

    Parameters
    ----------
    features : "x", "leaf" or transformer
    estimator : fitted classifier or None
        The one that is adapted.
    X : table
        The first one.

    Returns
    -------
    Reader

    Raises
    ------
    ValueError
        ``features`` is none of these, or does not fit the estimator or the table.
    """
    if isinstance(features, str):
        if features == "x":
            return PlainReader(_numeric_columns(X, estimator))
        if features == "leaf":
            if not (hasattr(estimator, "tree_") and hasattr(estimator, "apply")):
                what = "None" if estimator is None else f"a {type(estimator).__name__}"
                raise ValueError(f"features='leaf' wants an estimator that is one tree; it is {what}.")
            return LeafReader(estimator)
    if isinstance(features, type) or not hasattr(features, "transform"):
        raise ValueError(f"features must be 'x', 'leaf' or a transformer; got {features!r}.")
    return TransformedReader(features)


def _numeric_columns(X: Any, estimator: Any) -> list[Any] | None:
    """Columns of a mixed frame that hold numbers; None when all do, or when it is no frame."""
    if not isinstance(X, pd.DataFrame):
        return None
    numeric = [bool(pd.api.types.is_numeric_dtype(dtype)) for dtype in X.dtypes]
    if all(numeric) or X.shape[1] == 0:
        return None
    if estimator is None or not any(numeric):
        text = [str(name) for name, number in zip(X.columns, numeric, strict=True) if not number]
        raise ValueError(
            f"features='x' reads numbers only, and {listed(text)} hold none: give a transformer as features, "
            "such as a ColumnTransformer with OneHotEncoder."
        )
    return [name for name, number in zip(X.columns, numeric, strict=True) if number]
