"""Everything a fitted tree can do, shared by all estimators that have one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.utils.validation import check_is_fitted

from cstree.base import CostSensitiveClassifier
from cstree.costs.model import CostModel
from cstree.tree import code, export
from cstree.tree.case import decision_path
from cstree.tree.consult import Consultation, consult, explain
from cstree.tree.evaluation import leaves_of, path_costs
from cstree.tree.explain import Explanation
from cstree.tree.tree import Tree

__all__ = ["TreeClassifier"]


class TreeClassifier(CostSensitiveClassifier):
    """Prediction, costs and export of a classifier that holds one tree.

    Attributes
    ----------
    tree_ : Tree
    schema_ : FeatureSchema
    costs_ : BoundCosts
    classes_ : ndarray of shape (n_classes,)
    """

    tree_: Tree

    def apply(self, X: Any) -> NDArray[np.int32]:
        """Return the node index of the leaf that each case reaches.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,), int32
        """
        self._require_fitted()  # a fit that failed half-way has left classes_, but no tree
        columns = self._prediction_columns(X)
        return leaves_of(self.tree_, self.schema_, columns)

    def decision_path(self, X: Any) -> csr_matrix:
        """Return the nodes that each case comes through.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)

        Returns
        -------
        csr_matrix of shape (n_samples, n_nodes)
            1 where a case comes through a node, its leaf included.
        """
        leaf = self.apply(X)
        return decision_path(self.tree_, leaf)

    def explain(self, case: Any, *, decimals: int = 2) -> Explanation:
        """Explain the answer to one case: its tests in order, what each cost, and what the answer rests on.

        Parameters
        ----------
        case : mapping of feature name to value, Series, or table with one row
            Features that a mapping lacks are missing.
        decimals : int, default=2
            Decimals of costs in the text.

        Returns
        -------
        Explanation
            Print it, or take its ``to_dict()``.

        Raises
        ------
        ValueError
            It is not one case, a name is no feature, or a value is no number where the feature is numeric.
        """
        values = self._one_case(case)
        return explain(self.tree_, self.schema_, self.costs_, values, decimals=decimals)

    def consult(self, known: Any = None, *, known_paid: bool = False, decimals: int = 2) -> Consultation:
        """Test a case step by step: which test next, what it costs, and what to answer if one stopped.

        Parameters
        ----------
        known : mapping of feature name to value, Series, or table with one row, optional
            What is known of the case already; None for what is known to be missing.
        known_paid : bool, default=False
            False: known values cost nothing, and operations that their tests need have not been done. True:
            they were bought on this occasion; what they needed is paid and not paid again.
        decimals : int, default=2
            Decimals of costs in texts.

        Returns
        -------
        Consultation
            ``next_test``, ``answer(value)`` for the state that follows, ``done``, ``recommendation``.

        Raises
        ------
        ValueError
            A name is no feature, or a value is no number where the feature is numeric.
        """
        values = self._one_case({} if known is None else known)
        return consult(
            self.tree_, self.schema_, self.costs_, values, known_paid=known_paid, decimals=decimals
        )

    def _one_case(self, case: Any) -> Mapping[str, Any]:
        """Values of one case by feature name."""
        self._require_fitted()
        if isinstance(case, (Mapping, pd.Series)):
            return dict(case.items())
        columns = self._columns(case)
        if columns.n_samples != 1:
            raise ValueError(f"this is a table of {columns.n_samples} cases; give one, such as X.iloc[0]")
        return {name: columns.values(j).iloc[0] for j, name in enumerate(columns.names)}

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the label of least expected cost for each case.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)
            Missing values and categories never seen in training are allowed.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels from ``classes_``.
        """
        leaf = self.apply(X)
        return np.asarray(self.classes_[self.tree_.answer][leaf])

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the class shares of the training weight in each case's leaf.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``. Costs do not enter: ``predict`` weighs these
            shares with the costs, so it need not name the most probable class.
        """
        leaf = self.apply(X)
        return class_shares(self.tree_)[leaf]

    def test_cost(self, X: Any, *, costs: CostModel | None = None) -> NDArray[np.float64]:
        """Return what the tests cost that each case takes on its way.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)
        costs : CostModel, optional
            Other prices than those that the tree was made with.

        Returns
        -------
        ndarray of shape (n_samples,)
            In the unit of the prices; a step shared by several tests is paid once. A test whose
            value is missing is paid all the same.
        """
        leaf = self.apply(X)
        if costs is not None and not isinstance(costs, CostModel):
            raise TypeError(f"costs is a {type(costs).__name__}: wrap prices as CostModel(tests=...)")
        prices = self.costs_ if costs is None else costs.bind(self.schema_.names, self.classes_.tolist())
        return path_costs(self.tree_, prices)[leaf]

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Share of each feature in the reduction of misclassification cost, shape (n_features,)."""
        self._require_fitted()
        tree = self.tree_
        importance = np.zeros(self.n_features_in_)
        own = tree.label_cost.min(axis=1)
        for node in np.flatnonzero(tree.feature >= 0):
            saved = own[node] - own[tree.children(int(node))].sum()
            importance[tree.feature[node]] += max(saved, 0.0)
        total = importance.sum()
        return importance / total if total > 0 else importance

    def get_depth(self) -> int:
        """Return the number of splits on the longest path."""
        self._require_fitted()
        return self.tree_.depth

    def get_n_leaves(self) -> int:
        """Return the number of leaves."""
        self._require_fitted()
        return self.tree_.n_leaves

    def export_text(self, **options: Any) -> str:
        """Return the tree as indented text; options as :func:`cstree.tree.export.export_text`."""
        self._require_fitted()
        return export.export_text(self.tree_, self.schema_, self.costs_, **options)

    def export_rules(self, *, as_frame: bool = False) -> list[str] | pd.DataFrame:
        """Return one rule per leaf, as sentences or as a DataFrame.

        Parameters
        ----------
        as_frame : bool, default=False
            Return a DataFrame with a row per rule instead of a list of strings.
        """
        self._require_fitted()
        if as_frame:
            return export.rules_frame(self.tree_, self.schema_, self.costs_)
        return [str(rule) for rule in export.export_rules(self.tree_, self.schema_, self.costs_)]

    def to_networkx(self) -> Any:
        """Return the tree as a directed graph, its numbers and names as attributes."""
        self._require_fitted()
        return export.to_networkx(self.tree_, self.schema_, self.costs_)

    def to_dot(self, **options: Any) -> str:
        """Return the tree in the DOT language of graphviz."""
        self._require_fitted()
        return str(export.to_dot(self.tree_, self.schema_, self.costs_, **options).source)

    def to_json(self) -> str:
        """Return tree, features and costs as JSON text."""
        self._require_fitted()
        return export.to_json(self.tree_, self.schema_, self.costs_)

    def export_python(self, **options: Any) -> str:
        """Return a Python function that answers one case; options as :func:`cstree.tree.code.to_python`."""
        self._require_fitted()
        return code.to_python(self.tree_, self.schema_, self.costs_, **options)

    def export_sql(self, **options: Any) -> str:
        """Return a SQL expression that answers a row; options as :func:`cstree.tree.code.to_sql`."""
        self._require_fitted()
        return code.to_sql(self.tree_, self.schema_, self.costs_, **options)

    def _require_fitted(self) -> None:
        check_is_fitted(self, "tree_")


def class_shares(tree: Tree) -> NDArray[np.float64]:
    """Share of each class at each node; a node without cases has its nearest ancestor's."""
    weight = tree.class_weight.copy()
    parent = tree.parents()
    for node in np.flatnonzero(weight.sum(axis=1) <= 0):
        if node > 0:
            weight[node] = weight[parent[node]]
    total = weight.sum(axis=1, keepdims=True)
    return np.divide(weight, total, out=np.full_like(weight, 1.0 / weight.shape[1]), where=total > 0)
