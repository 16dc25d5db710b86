"""What a fitted tree tells of tables, beside the slow twins."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given

from tests import reference
from tests.handmade import clinic
from tests.strategies import Problem, tree_problems
from tests.tree.hand import as_case, clinic_model, random_model
from tests.tree.test_export import rows_to_follow


@given(tree_problems(max_depth=4))
def test_leaves_answers_shares_and_prices(problem: tuple[Problem, reference.PlainNode]) -> None:
    model = random_model(*problem)
    plain, rows = reference.plain_tree(model.tree_), rows_to_follow(problem[0])
    positions = [id(node) for node in reference.preorder(plain)]
    X = pd.DataFrame([as_case(model, row) for row in rows])
    ends = [reference.follow(plain, row)[1] for row in rows]
    assert model.apply(X).tolist() == [positions.index(id(end)) for end in ends]
    assert model.predict(X).tolist() == [model.costs_.classes[end.answer] for end in ends]
    prices = [reference.case_test_cost(plain, row, problem[0].costs) for row in rows]
    assert model.test_cost(X) == pytest.approx(np.array(prices), abs=1e-12)
    shares = model.predict_proba(X)
    assert shares.sum(axis=1) == pytest.approx(1.0)
    statistics = reference.node_statistics(plain, *problem[0].cases)
    for leaf, share in zip(model.apply(X), shares, strict=True):
        weight = statistics[leaf].class_weight
        if any(weight):
            assert share == pytest.approx(np.array(weight) / sum(weight))


@given(tree_problems(max_depth=4))
def test_importances_share_what_splits_save(problem: tuple[Problem, reference.PlainNode]) -> None:
    model = random_model(*problem)
    tree = model.tree_
    statistics = reference.node_statistics(reference.plain_tree(tree), *problem[0].cases)
    cheapest = [min(node.label_cost) for node in statistics]
    saved = [0.0] * problem[0].table.n_features
    for node in range(tree.n_nodes):
        if tree.feature[node] >= 0:
            children = tree.children(node)
            saved[tree.feature[node]] += cheapest[node] - sum(cheapest[child] for child in children)
    importance = model.feature_importances_
    assert importance.shape == (problem[0].table.n_features,)
    assert (importance >= 0).all()
    if sum(saved) > 1e-9:
        assert importance == pytest.approx(np.array(saved) / sum(saved), abs=1e-9)
        assert importance.sum() == pytest.approx(1.0)
    else:
        assert importance.sum() in (pytest.approx(0.0), pytest.approx(1.0))


def test_importances_by_hand() -> None:
    model = clinic_model()
    tree, own = model.tree_, model.tree_.label_cost.min(axis=1)
    by_node = {0: "pain", 1: "chol", 4: "age", 6: "sugar", 8: "chol"}
    saved = dict.fromkeys(model.schema_.names, 0.0)
    for node, name in by_node.items():
        saved[name] += own[node] - own[tree.children(node)].sum()
    total = own[0] - own[tree.leaves()].sum()
    assert model.feature_importances_ == pytest.approx([saved[name] / total for name in model.schema_.names])
    assert clinic_model(None).feature_importances_.tolist() == [0.0] * 4


def test_other_prices() -> None:
    X, _, costs = clinic(100, seed=4)
    model = clinic_model()
    assert model.test_cost(X, costs=costs).tolist() == model.test_cost(X).tolist()
    dear = type(costs)(costs.misclassification, classes=costs.classes, tests=[1.0, 0.0, 0.0, 0.0])
    expected = (model.decision_path(X)[:, 4].toarray()[:, 0] > 0).astype(float)  # node 4 tests the age
    assert model.test_cost(X, costs=dear).tolist() == expected.tolist()
    with pytest.raises(TypeError, match=r"costs is a list: wrap prices as CostModel\(tests="):
        model.test_cost(X, costs=[1.0, 0.0, 0.0, 0.0])
