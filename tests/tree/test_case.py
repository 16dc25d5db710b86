"""The nodes that cases come through, and how single values are read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from scipy.sparse import issparse

from cstree.encoding.schema import Feature
from cstree.tree.case import plain_value
from tests import reference
from tests.handmade import clinic
from tests.strategies import Problem, tree_problems
from tests.tree.hand import as_case, clinic_model, random_model


@given(tree_problems(max_depth=4))
def test_paths_are_those_of_the_twin(problem: tuple[Problem, reference.PlainNode]) -> None:
    model = random_model(*problem)
    plain, rows = reference.plain_tree(model.tree_), problem[0].table.rows
    positions = [id(node) for node in reference.preorder(plain)]
    X = pd.DataFrame([as_case(model, row) for row in rows])
    paths = model.decision_path(X)
    assert issparse(paths) and paths.shape == (len(rows), model.tree_.n_nodes)
    for i, row in enumerate(rows):
        splits, leaf = reference.follow(plain, row)
        expected = [positions.index(id(node)) for node in [*splits, leaf]]
        assert paths[i].indices.tolist() == expected
    assert set(paths.data.tolist()) == {1}


def test_last_node_of_a_path_is_the_leaf() -> None:
    X, _, _ = clinic(500, seed=3)
    model = clinic_model()
    paths = model.decision_path(X)
    assert [paths[i].indices[-1] for i in range(len(X))] == model.apply(X).tolist()
    assert paths.sum(axis=0).A1[0] == len(X)


AGE = Feature("age", "numeric", cuts=np.array([1.5]))
PAIN = Feature("pain", "categorical", categories=("no", "yes"))
VALUES: list[tuple[Feature, Any, Any]] = [
    (AGE, 3, 3.0),
    (AGE, np.float32(0.1), float(np.float32(0.1))),
    (AGE, True, 1.0),
    (AGE, " 61 ", 61.0),
    (AGE, None, None),
    (AGE, np.nan, None),
    (AGE, pd.NA, None),
    (AGE, pd.NaT, None),
    (PAIN, "yes", "yes"),
    (PAIN, np.str_("no"), "no"),
    (PAIN, 3, 3),
    (PAIN, None, None),
    (PAIN, float("nan"), None),
]


@pytest.mark.parametrize(("feature", "value", "expected"), VALUES)
def test_single_values(feature: Feature, value: Any, expected: Any) -> None:
    found = plain_value(feature, value)
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize("value", [[1], {"a": 1}, (1, 2), np.array([1.0]), pd.Series([1])])
def test_a_value_is_one_value(value: Any) -> None:
    for feature in (AGE, PAIN):
        with pytest.raises(ValueError, match=f"feature '{feature.name}' has"):
            plain_value(feature, value)
