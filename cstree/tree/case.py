"""Single cases at the splits of a tree."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from cstree.costs.labels import closest, listed
from cstree.encoding.columns import plain_scalar
from cstree.encoding.schema import Feature, FeatureSchema
from cstree.tree.tree import Tree

__all__ = ["branch_of", "case_values", "decision_path", "plain_value"]


def decision_path(tree: Tree, leaf: NDArray[np.int32]) -> csr_matrix:
    """Mark the nodes that cases come through, leaves included.

    Parameters
    ----------
    tree : Tree
    leaf : ndarray of shape (n_samples,)
        Leaf that each case reaches.

    Returns
    -------
    csr_matrix of shape (n_samples, n_nodes)
        1 where a case comes through a node.
    """
    reached, position = np.unique(leaf, return_inverse=True)
    parents = tree.parents()
    nodes: list[int] = []
    ends = [0]
    for end in reached:
        path = [int(end)]
        while path[-1] > 0:
            path.append(int(parents[path[-1]]))
        nodes += reversed(path)
        ends.append(len(nodes))
    starts, length = np.array(ends[:-1])[position], np.diff(ends)[position]
    indptr = np.append(0, np.cumsum(length))
    within = np.arange(indptr[-1]) - np.repeat(indptr[:-1], length)
    indices = np.array(nodes)[np.repeat(starts, length) + within]
    return csr_matrix(
        (np.ones(len(indices), dtype=np.int64), indices, indptr), shape=(len(leaf), tree.n_nodes)
    )


def case_values(schema: FeatureSchema, case: Mapping[str, Any]) -> dict[int, Any]:
    """Return the values of one case by feature, missing ones as None.

    Raises
    ------
    ValueError
        A name is no feature, or a value is no number where the feature is numeric.
    """
    position = {name: j for j, name in enumerate(schema.names)}
    values = {}
    for key, value in case.items():
        if str(key) not in position:
            raise ValueError(
                f"the case has a value for {key!r}, which is no feature{closest(key, schema.names)}; "
                f"the features are {listed(schema.names)}"
            )
        j = position[str(key)]
        values[j] = plain_value(schema[j], value)
    return values


def plain_value(feature: Feature, value: Any) -> Any:
    """Return a value as a plain scalar: a float where the feature is numeric, None where it is missing.

    Raises
    ------
    ValueError
        It is no single value, or no number where the feature is numeric.
    """
    value = plain_scalar(value)
    if not pd.api.types.is_scalar(value):
        raise ValueError(f"feature {feature.name!r} has {value!r}; give one number, text or boolean")
    if pd.isna(value):
        return None
    if feature.kind == "categorical":
        return value
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(
            f"feature {feature.name!r} is numeric, but the case has {value!r}; give a number, "
            "or None if it is missing"
        ) from error


def branch_of(tree: Tree, feature: Feature, node: int, value: Any) -> tuple[int, bool]:
    """Return the branch that a value takes, and whether it is a category that travels as missing.

    Parameters
    ----------
    tree : Tree
    feature : Feature
        The one that the node tests.
    node : int
        An inner node.
    value : float, category or None
        From :func:`plain_value`.

    Returns
    -------
    branch : int
    unknown : bool
    """
    missing = int(tree.missing_branch[node])
    if value is None:
        return missing, False
    start = int(tree.table_start[node])
    if start < 0:
        return int(value > tree.threshold[node]), False
    if value not in feature.categories:
        return missing, True
    branch = int(tree.branch_of_category[start + feature.categories.index(value)])
    return (missing, True) if branch < 0 else (branch, False)
