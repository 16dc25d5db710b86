"""mcSVM against a quadratic program, scikit-learn's SVC, and what it tends to with many cases."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.datasets import load_digits, make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

from cstree import CostModel
from cstree.svm import MulticlassCostSVC
from tests.reference.face import multicategory_svm

COSTS = np.array([[0, 1, 2], [4, 0, 1], [10, 3, 0]], dtype=float)


@pytest.fixture(scope="module")
def blobs() -> tuple[np.ndarray, np.ndarray]:
    return make_blobs(90, n_features=3, centers=3, cluster_std=3.0, random_state=0)


@pytest.mark.parametrize("C", [0.1, 10.0])
def test_equals_a_quadratic_program(blobs: tuple, C: float) -> None:
    X, y = (table[:40] for table in blobs)
    model = MulticlassCostSVC(CostModel(COSTS), C=C, gamma=0.1, tol=1e-9).fit(X, y)
    prices = COSTS / (COSTS.sum() / 6)
    strength = 1 / (2 * C * len(y))
    f, least = multicategory_svm(rbf_kernel(X, gamma=0.1) + 1.0, y.tolist(), prices, strength)
    np.testing.assert_allclose(model.decision_function(X), f, atol=2e-5)
    assert model.objective_ * strength == pytest.approx(least, rel=1e-8)
    assert model.dual_gap_ <= 1e-7 * model.objective_


def test_objective_is_that_of_the_docstring(blobs: tuple) -> None:
    X, y = blobs
    rng = np.random.default_rng(0)
    weight = rng.integers(1, 4, len(y)).astype(float)
    B = 0.5
    model = MulticlassCostSVC(CostModel(COSTS), C=3, gamma=0.1, intercept_scaling=B, tol=1e-8)
    model.fit(X, y, weight)
    A, kernel = np.zeros((len(y), 3)), rbf_kernel(X, gamma=0.1)
    A[model.support_] = model.dual_coef_

    def objective(A: np.ndarray, b: np.ndarray) -> float:
        f = kernel @ A + b
        loss = sum(
            w * COSTS[c, j] / (COSTS.sum() / 6) * max(0.0, row[j] + 0.5)
            for w, c, row in zip(weight, y, f, strict=True)
            for j in range(3)
        )
        return 2 * 3 * loss + 0.5 * (np.trace(A.T @ kernel @ A) + b @ b / B**2)

    least = objective(A, model.intercept_)
    assert least == pytest.approx(model.objective_, rel=1e-7)
    for size in (1e-3, 1e-1):
        change, b = rng.normal(size=A.shape), rng.normal(size=3)
        change -= change.mean(axis=1, keepdims=True)
        assert objective(A + size * change, model.intercept_ + size * (b - b.mean())) > least - 1e-6


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_two_classes_and_even_costs_are_scikit_learns_svc(blobs: tuple, kernel: str) -> None:
    X, y = blobs
    X, y = X[y < 2], y[y < 2]
    ours = MulticlassCostSVC(kernel=kernel, C=0.7, intercept_scaling=300.0, tol=1e-7).fit(X, y)
    theirs = SVC(kernel=kernel, C=0.7, tol=1e-8).fit(X, y)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=2e-5)


def test_two_classes_and_costs_are_class_weights(blobs: tuple) -> None:
    X, y = blobs
    X, y = X[y < 2], y[y < 2]
    ours = MulticlassCostSVC(CostModel([[0, 1], [9, 0]]), C=0.7, intercept_scaling=300.0, tol=1e-7).fit(X, y)
    theirs = SVC(C=0.7, class_weight={0: 0.2, 1: 1.8}, tol=1e-8).fit(X, y)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=2e-5)


def test_functions_sum_to_zero_and_units_do_not_count(blobs: tuple) -> None:
    X, y = blobs
    model = MulticlassCostSVC(CostModel(COSTS), tol=1e-8).fit(X, y)
    scores = model.decision_function(X)
    np.testing.assert_allclose(scores.sum(axis=1), 0, atol=1e-12)
    with_row = 100 * COSTS + np.array([[0.0], [7.0], [0.0]])
    moved = MulticlassCostSVC(CostModel(with_row), tol=1e-8).fit(X, y)
    np.testing.assert_allclose(moved.decision_function(X), scores, atol=1e-6)
    by_case = MulticlassCostSVC(tol=1e-8).fit(X, y, example_cost=COSTS[y])
    level = COSTS[y].sum() / (2 * len(y)) / (COSTS.sum() / 6)
    scaled = MulticlassCostSVC(C=level, tol=1e-8).fit(X, y, example_cost=COSTS[y])
    np.testing.assert_allclose(scaled.decision_function(X), scores, atol=1e-6)
    assert (by_case.predict(X) == scaled.predict(X)).mean() > 0.9


@pytest.mark.parametrize("diagonal", [0.0, 0.5])
def test_tends_to_the_least_expected_cost(diagonal: float) -> None:
    """Fisher consistency: 4 places, each with its own class probabilities; also where right answers cost."""
    rng = np.random.default_rng(1)
    matrix = COSTS + np.diag([diagonal, 0, 0])
    places = np.eye(4)
    proba = np.array([[0.8, 0.1, 0.1], [0.55, 0.3, 0.15], [0.2, 0.7, 0.1], [0.5, 0.05, 0.45]])
    where = np.repeat(np.arange(4), 200)
    y = np.concatenate([np.repeat([0, 1, 2], (200 * p + 0.5).astype(int)) for p in proba])
    order = rng.permutation(len(y))
    model = MulticlassCostSVC(CostModel(matrix), kernel="linear", C=10.0, intercept_scaling=1e-3)
    model.fit(places[where][order], y[order])
    least = (proba @ matrix).argmin(axis=1)
    assert model.predict(places).tolist() == least.tolist()
    np.testing.assert_allclose(model.decision_function(places), 1.5 * np.eye(3)[least] - 0.5, atol=0.01)


def test_hard_problems_are_solved_too() -> None:
    X, y = load_digits(return_X_y=True)
    model = MulticlassCostSVC(kernel="linear", C=1e4, tol=1e-8).fit(X[:150] / 16, np.minimum(y[:150], 2))
    # What tol promises: the violation of each condition, times what the 300 mistakes of 150 cases may weigh.
    assert model.dual_gap_ < 1e-8 * 300 * 1e4
    assert model.dual_gap_ < 2e-3 * model.objective_


def test_tables_labels_and_pickles(blobs: tuple) -> None:
    X, y = blobs
    words = np.array(["ada", "bob", "stranger"])[y]
    costs = CostModel(COSTS, classes=["ada", "bob", "stranger"])
    model = MulticlassCostSVC(costs, kernel="poly", gamma=0.1, coef0=1, degree=2, tol=1e-8).fit(X, words)
    scores = model.decision_function(X)
    sparse = clone(model).fit(csr_matrix(X), words)
    np.testing.assert_allclose(sparse.decision_function(csr_matrix(X)), scores, atol=1e-5)
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).convert_dtypes()
    framed = clone(model).fit(frame, pd.Series(words, dtype="string"))
    assert (framed.predict(frame) == model.predict(X)).all()
    weight = (np.arange(len(y)) % 4 > 0).astype(float)
    kernel = rbf_kernel(X, gamma=0.1)
    ready = MulticlassCostSVC(costs, kernel="precomputed", tol=1e-8).fit(kernel, words, weight)
    kept = weight > 0
    usual = MulticlassCostSVC(costs, gamma=0.1, tol=1e-8).fit(X[kept], words[kept])
    np.testing.assert_allclose(ready.decision_function(kernel), usual.decision_function(X), atol=1e-6)
    again = pickle.loads(pickle.dumps(model))
    assert (again.decision_function(X) == scores).all()


def test_grid_search(blobs: tuple) -> None:
    grid = GridSearchCV(MulticlassCostSVC(CostModel(COSTS)), {"C": [0.1, 1.0]}, cv=2).fit(*blobs)
    assert grid.best_params_["C"] in (0.1, 1.0)
    assert (grid.predict(blobs[0]) == grid.best_estimator_.predict(blobs[0])).all()


def test_costs_that_decide_nothing_give_the_first_class(blobs: tuple) -> None:
    X, y = blobs
    free = MulticlassCostSVC().fit(X, y, example_cost=np.ones((len(y), 3)))
    assert not free.decision_function(X).any()
    assert (free.predict(X) == 0).all()


def test_says_when_it_ends_too_early(blobs: tuple) -> None:
    with pytest.warns(ConvergenceWarning, match="raise max_iter or tol"):
        MulticlassCostSVC(C=100, max_iter=3).fit(*blobs)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"C": -1}, "C must be 0 or more|C must be greater than 0"),
        ({"tol": "small"}, "tol must be a number; got 'small'."),
        ({"kernel": "rbv"}, "kernel is 'rbv'; choose one of"),
        ({"kernel": "precomputed"}, "it is a square matrix"),
        ({"kernel": lambda A, B: -A @ B.T}, "is not positive semidefinite"),
        ({"max_iter": 0}, "max_iter must be a whole number from 1 on"),
    ],
)
def test_bad_settings_say_one_thing(blobs: tuple, options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        MulticlassCostSVC(**options).fit(*blobs)


def test_gaps_and_single_classes_say_one_thing(blobs: tuple) -> None:
    with pytest.raises(ValueError, match="Input X contains NaN"):
        MulticlassCostSVC().fit([[0.0], [np.nan]], [0, 1])
    with pytest.raises(ValueError, match="needs two classes or more, but there is only one class"):
        MulticlassCostSVC().fit([[0.0], [1.0]], ["a", "a"])
