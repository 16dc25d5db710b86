"""Pools of trained classifiers: bits, fronts, and what cloning does to them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.tree import DecisionTreeClassifier

from cstree.costs.model import CostModel
from cstree.datasets import load_hepatitis, make_bayes
from cstree.encoding.columns import Columns
from cstree.ensemble import AdaBoostDBClassifier, CGAdaClassifier, CSAdaBoostClassifier
from cstree.ensemble.members import Table
from cstree.ensemble.pool import PoolLearners
from cstree.evolution.classifier import ParetoTreeClassifier
from cstree.pareto.front import Front
from cstree.tree.classifier import TreeClassifier

COSTS = CostModel.binary(false_positive=1, false_negative=3)


class Fixed:
    """Answers what it was told."""

    def __init__(self, answers: np.ndarray) -> None:
        self.answers = answers

    def predict(self, X: Any) -> np.ndarray:
        return self.answers


@settings(max_examples=25)
@given(st.integers(0, 2**32 - 1), st.integers(1, 200), st.integers(1, 150), st.integers(1, 4))
def test_errors_of_all_members(seed: int, n: int, n_members: int, n_classes: int) -> None:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    X = np.zeros((n, 1))
    members = [Fixed(rng.integers(0, n_classes, n)) for _ in range(n_members)]
    weight = rng.random(n)
    pool = PoolLearners(members, Table(X, Columns(X)), y.astype(np.int32), np.arange(n_classes))
    errors = pool.errors(weight)
    for k, member in enumerate(members):
        wrong = member.answers != y
        assert np.array_equal(pool.take(k).wrong, wrong)
        assert pool.take(k).learner is member
        for c in range(n_classes):
            assert errors[c, k] == pytest.approx(math.fsum(weight[wrong & (y == c)]), rel=1e-13)


@pytest.fixture(scope="module")
def pareto() -> tuple[Any, ParetoTreeClassifier]:
    table = load_hepatitis()
    model = ParetoTreeClassifier(table.costs, generations=5, random_state=0)
    return table, model.fit(table.data, table.target)


@pytest.mark.parametrize("kind", [CGAdaClassifier, AdaBoostDBClassifier, CSAdaBoostClassifier])
def test_front_is_a_pool(kind: Any, pareto: Any) -> None:
    table, search = pareto
    settings: dict[str, Any] = {"n_estimators": 8, "random_state": 0}
    model = kind(table.costs, pool=search.front_, **settings).fit(table.data, table.target)
    assert len(model.estimators_) > 1
    assert all(isinstance(member, TreeClassifier) for member in model.estimators_)
    assert {id(member.tree_) for member in model.estimators_} <= {id(tree) for tree in search.front_}
    for other in (search, FrozenEstimator(search), [search.choose(i) for i in range(len(search.front_))]):
        again = kind(table.costs, pool=other, **settings).fit(table.data, table.target)
        assert np.array_equal(again.estimator_weights_, model.estimator_weights_)
        assert np.array_equal(again.predict_proba(table.data), model.predict_proba(table.data))
    # Every round took the best tree of the front for its weights.
    if kind is CGAdaClassifier:
        cost = table.costs.bind(tuple(table.data.columns), search.classes_.tolist()).matrix.max(axis=1)
        y = np.searchsorted(search.classes_, table.target)
        D, s = cost[y] / cost[y].sum(), 2 * y - 1
        said = [search.choose(i).predict(table.data) for i in range(len(search.front_))]
        wrong = np.array([one != np.asarray(table.target) for one in said])
        for error, alpha in zip(model.estimator_errors_, model.estimator_weights_, strict=True):
            errors = wrong @ D
            best = int((errors <= errors.min() + 1e-12).argmax())
            assert error == pytest.approx(errors[best], abs=1e-12)
            D = D * np.exp(-alpha * s * np.where(wrong[best], -s, s))
            D /= D.sum()


def test_pools_survive_cross_validation(pareto: Any) -> None:
    table, search = pareto
    model = CGAdaClassifier(table.costs, pool=search.front_, n_estimators=4)
    assert np.isfinite(cross_val_score(model, table.data, table.target, cv=2)).all()
    X, y = make_bayes(80, random_state=0)
    trained = [
        FrozenEstimator(
            DecisionTreeClassifier(max_depth=2, max_features=1, random_state=i).fit(X[::2], y[::2])
        )
        for i in range(12)
    ]
    model = CGAdaClassifier(COSTS, pool=trained, n_estimators=5)
    assert np.isfinite(cross_val_score(model, X, y, cv=2)).all()
    assert clone(model).fit(X, y).score(X, y) > 0.7
    bare = [one.estimator for one in trained]
    assert np.array_equal(
        CGAdaClassifier(COSTS, pool=bare, n_estimators=5).fit(X, y).predict(X), model.fit(X, y).predict(X)
    )
    with pytest.raises(
        NotFittedError, match="DecisionTreeClassifier that is not fitted: scikit-learn's clone"
    ):
        clone(CGAdaClassifier(COSTS, pool=bare)).fit(X, y)


def test_weights_of_zero_and_several_classes() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3))
    y = np.array(["a", "b", "c"])[X.argmax(axis=1)]
    pool = [DecisionTreeClassifier(max_depth=1, random_state=i).fit(X[i::5], y[i::5]) for i in range(5)]
    weight = np.arange(90) % 3
    model = CGAdaClassifier(pool=pool, n_estimators=5).fit(X, y, weight)
    kept = weight > 0
    alone = CGAdaClassifier(pool=pool, n_estimators=5).fit(X[kept], y[kept], weight[kept])
    assert np.array_equal(model.decision_function(X), alone.decision_function(X))
    listed = CGAdaClassifier(pool=pool, n_estimators=5).fit(X.tolist(), y.tolist(), weight)
    assert np.array_equal(model.decision_function(X), listed.decision_function(X.tolist()))


def test_pools_that_are_none() -> None:
    X, y = make_bayes(20, random_state=0)
    frame = pd.DataFrame(X, columns=["left", "right"])
    bare = Front([[1.0, 2.0]], [ParetoTreeClassifier(generations=1, random_state=0).fit(X, y).tree_])
    for pool, error, message in (
        ([], ValueError, "pool is empty"),
        ("trees", TypeError, "pool must be the front_ of"),
        (3, TypeError, "pool must be the front_ of"),
        ([LogisticRegression()], NotFittedError, "LogisticRegression that is not fitted"),
        ([LogisticRegression], TypeError, "which is no classifier"),
        ([np.zeros(3)], TypeError, "which is no classifier"),
        (ParetoTreeClassifier(), NotFittedError, "ParetoTreeClassifier that is not fitted"),
        (bare, ValueError, "does not know the features"),
        ([Fixed(np.array(["no"] * 20))], ValueError, "answers 'no', which is no class of y"),
        ([LogisticRegression().fit(X, 1 + y)], ValueError, "answers 2, which is no class of y"),
        (ParetoTreeClassifier(generations=1).fit(frame, y), ValueError, "was made for the features"),
    ):
        with pytest.raises(error, match=message):
            CGAdaClassifier(pool=pool).fit(X, y)
