"""mckNN against its twin."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn.datasets import load_digits
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.model_selection import GridSearchCV

from cstree import CostModel
from cstree.metrics import make_cost_scorer, misclassification_cost
from cstree.svm import CostKNeighborsClassifier
from tests.reference.face import expected_costs, label_table, neighbor_posterior


@settings(deadline=None, max_examples=60)
@given(
    st.integers(0, 10**6),
    st.integers(2, 25),
    st.integers(1, 4),
    st.integers(1, 30),
    st.sampled_from([0.0, 0.3, 1.0]),
    st.sampled_from(["kd_tree", "brute"]),
)
def test_equals_the_twin(seed: int, n: int, n_classes: int, k: int, s: float, algorithm: str) -> None:
    rng = np.random.default_rng(seed)
    X, new = rng.normal(size=(n, 2)), rng.normal(size=(9, 2))
    y = np.unique(rng.integers(0, n_classes, n), return_inverse=True)[1]
    n_classes = int(y.max()) + 1
    model = CostKNeighborsClassifier(n_neighbors=k, smoothing=s, algorithm=algorithm).fit(X, y)
    table = label_table(euclidean_distances(X), y.tolist(), n_classes, k, s)
    np.testing.assert_allclose(model.neighbor_label_, table)
    np.testing.assert_allclose(model.neighbor_label_.sum(axis=1), 1)
    prior = np.bincount(y) / n
    matrix = rng.exponential(size=(n_classes, n_classes))
    np.fill_diagonal(matrix, 0)
    wanted = [neighbor_posterior(d, y.tolist(), table, prior, k) for d in euclidean_distances(new, X)]
    np.testing.assert_allclose(model.predict_proba(new), wanted, atol=1e-12)
    answers = model.predict(new, costs=CostModel(matrix))
    for p, answer in zip(wanted, answers, strict=True):
        costs = expected_costs(p, matrix.tolist())
        assert costs[answer] == pytest.approx(min(costs))


def test_equal_cases_are_neighbours_of_each_other() -> None:
    X = np.array([[0.0], [0.0], [5.0], [5.0]])
    model = CostKNeighborsClassifier(n_neighbors=1, smoothing=0).fit(X, [0, 1, 2, 2])
    assert model.neighbor_label_.tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 1]]


def test_without_smoothing_one_neighbour_rules_out_and_all_ruled_out_is_the_prior() -> None:
    X = np.array([[0.0], [1.0], [10.0], [11.0], [12.0]])
    y = [0, 0, 1, 1, 1]
    model = CostKNeighborsClassifier(n_neighbors=1, smoothing=0).fit(X, y)
    assert model.predict_proba([[0.2], [11.0]]).tolist() == [[1, 0], [0, 1]]
    wide = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [12.0], [13.0]])
    two = CostKNeighborsClassifier(n_neighbors=2, smoothing=0).fit(wide, [0, 0, 0, 1, 1, 1, 1])
    assert two.neighbor_label_.tolist() == [[1, 0], [0, 1]]
    np.testing.assert_allclose(two.predict_proba([[6.0]]), [[3 / 7, 4 / 7]])  # one neighbour of each


def test_fractions_are_shares_and_priors_count() -> None:
    X, y = np.array([[0.0], [1.0], [2.0], [3.0], [9.0]]), [0, 0, 1, 1, 1]
    plain = CostKNeighborsClassifier(n_neighbors=3, posterior="fractions").fit(X, y)
    np.testing.assert_allclose(plain.predict_proba([[0.9]]), [[2 / 3, 1 / 3]])
    moved = CostKNeighborsClassifier(n_neighbors=3, posterior="fractions", priors=[0.8, 0.2]).fit(X, y)
    np.testing.assert_allclose(moved.predict_proba([[0.9]]), [[12 / 13, 1 / 13]])
    naive = CostKNeighborsClassifier(n_neighbors=3, priors={0: 2, 1: 3}).fit(X, y)
    usual = CostKNeighborsClassifier(n_neighbors=3).fit(X, y)
    np.testing.assert_allclose(naive.predict_proba(X), usual.predict_proba(X))


def test_tables_labels_distances_and_pickles() -> None:
    X, y = load_digits(n_class=4, return_X_y=True)
    X, words = X[:200], np.array(["ada", "bob", "cem", "stranger"])[y[:200]]
    model = CostKNeighborsClassifier(algorithm="brute").fit(X, words)
    proba = model.predict_proba(X[:50])
    sparse = CostKNeighborsClassifier().fit(csr_matrix(X), words)
    np.testing.assert_allclose(sparse.predict_proba(csr_matrix(X[:50])), proba)
    frame = pd.DataFrame(X).add_prefix("pixel").convert_dtypes()
    framed = CostKNeighborsClassifier(algorithm="brute").fit(frame, pd.Series(words, dtype="category"))
    np.testing.assert_allclose(framed.predict_proba(frame[:50]), proba)
    ready = CostKNeighborsClassifier(metric="precomputed").fit(euclidean_distances(X), words)
    np.testing.assert_allclose(ready.predict_proba(euclidean_distances(X[:50], X)), proba)
    again = pickle.loads(pickle.dumps(model))
    assert (again.predict(X) == model.predict(X)).all()
    sweep = model.predict_cost_sweep(X[:50], [CostModel(), CostModel(np.ones((4, 4)) - np.eye(4))])
    assert (sweep == model.predict(X[:50])).all()


def test_counting_costs_saves_money_and_can_be_searched() -> None:
    rng = np.random.default_rng(0)
    X, y = load_digits(return_X_y=True)
    X = X / 16 + rng.normal(scale=0.5, size=X.shape)
    y = np.minimum(y, 5)
    costs = np.ones((6, 6))
    costs[:, 5], costs[5] = 2, 20
    np.fill_diagonal(costs, 0)
    model = CostModel(costs)
    grid = GridSearchCV(
        CostKNeighborsClassifier(model), {"n_neighbors": [5, 15]}, scoring=make_cost_scorer(model), cv=2
    ).fit(X[:900], y[:900])
    priced = misclassification_cost(y[900:], grid.predict(X[900:]), model)
    even = grid.best_estimator_.predict(X[900:], costs=CostModel())
    assert priced < 0.7 * misclassification_cost(y[900:], even, model)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_neighbors": 0}, "n_neighbors must be a whole number from 1 on; got 0."),
        ({"smoothing": -1}, "smoothing must be 0 or more; got -1."),
        ({"posterior": "votes"}, "posterior is 'votes'; choose one of 'likelihood', 'fractions'."),
        ({"priors": [1, 1, 1]}, "priors has shape"),
        ({"priors": {"a": 1}}, "priors names 'a', but the classes are 0, 1"),
        ({"metric": "precomputed"}, "it is a square matrix"),
    ],
)
def test_bad_settings_say_one_thing(options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        CostKNeighborsClassifier(**options).fit([[0.0], [1.0], [2.0]], [0, 1, 1])


def test_gaps_and_single_cases_say_one_thing() -> None:
    with pytest.raises(ValueError, match="Input X contains NaN"):
        CostKNeighborsClassifier().fit([[0.0], [np.nan]], [0, 1])
    with pytest.raises(ValueError, match="one case has no neighbours"):
        CostKNeighborsClassifier().fit([[0.0]], [0])
