"""mcKLR: its rule against the Bayes rule, its optimum against its conditions and scikit-learn's."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from scipy.special import softmax
from sklearn.base import clone
from sklearn.datasets import load_digits, make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cstree import CostModel
from cstree.svm import CostKernelLogisticRegression
from cstree.svm.posterior import cheapest
from tests.reference.face import expected_costs, recognition_rule

COSTS = CostModel([[0, 1, 2], [1, 0, 2], [20, 20, 0]])


def recognition_costs(n_gallery: int, acceptance: float, rejection: float, mistake: float) -> np.ndarray:
    matrix = np.full((n_gallery + 1, n_gallery + 1), float(mistake))
    matrix[:, -1], matrix[-1], matrix[-1, -1] = rejection, acceptance, 0.0
    np.fill_diagonal(matrix, 0.0)
    return matrix


@pytest.fixture(scope="module")
def blobs() -> tuple[np.ndarray, np.ndarray]:
    return make_blobs(150, n_features=3, centers=3, cluster_std=3.0, random_state=0)


def test_published_rule_is_the_bayes_rule_on_20000_cases() -> None:
    rng = np.random.default_rng(0)
    not_positive = small_kappa = 0
    for _ in range(20_000):
        m = int(rng.integers(1, 7))
        f = rng.normal(scale=3.0, size=m)
        acceptance, rejection, mistake = rng.exponential(size=3) * rng.choice([0.1, 1.0, 10.0], size=3)
        proba = softmax(np.append(f, 0.0))
        matrix = recognition_costs(m, acceptance, rejection, mistake)
        ours = int(cheapest(proba[None], matrix)[0])
        assert ours == recognition_rule(f, acceptance, rejection, mistake)
        kappa = (rejection + acceptance - mistake) / mistake
        not_positive += kappa * proba[-1] - (rejection - mistake) / mistake <= 0
        small_kappa += kappa <= 0
    assert not_positive > 4000 and small_kappa > 500  # the hard ones were among them


@given(st.integers(2, 5), st.integers(0, 10**6), st.floats(0.01, 100), st.floats(-50, 50))
def test_answers_do_not_hang_on_units_or_on_what_every_answer_costs(
    n_classes: int, seed: int, factor: float, constant: float
) -> None:
    rng = np.random.default_rng(seed)
    proba, matrix = rng.dirichlet(np.ones(n_classes), 20), rng.uniform(-5, 20, (n_classes, n_classes))
    answers = cheapest(proba, matrix)
    moved = factor * matrix
    moved[0] += constant
    assert (cheapest(proba, moved) == answers).all()
    for p, answer in zip(proba, answers, strict=True):
        costs = expected_costs(p, matrix.tolist())
        assert costs[answer] == pytest.approx(min(costs))


def test_ties_go_to_the_first_class() -> None:
    third = np.full((1, 3), 1 / 3)
    assert cheapest(third, 1 - np.eye(3)).tolist() == [0]
    assert cheapest(np.array([[0.1, 0.2, 0.7]]), np.zeros((3, 3))).tolist() == [0]


@pytest.mark.parametrize("reference", [None, 2])
def test_conditions_of_the_optimum(blobs: tuple, reference: int | None) -> None:
    X, y = blobs
    weight = np.random.default_rng(1).integers(1, 4, len(y)).astype(float)
    model = CostKernelLogisticRegression(C=5.0, gamma=0.1, reference=reference).fit(X, y, weight)
    A, rest = model.dual_coef_, weight[:, None] * (np.eye(3)[y] - model.predict_proba(X))
    if reference is not None:
        assert not A[:, 2].any() and model.intercept_[2] == 0
        A, rest = A[:, :2], rest[:, :2]
    else:
        np.testing.assert_allclose(A.sum(axis=1), 0, atol=1e-7)
    np.testing.assert_allclose(A / 5.0, rest, atol=2e-7)
    np.testing.assert_allclose(A.sum(axis=0), 0, atol=1e-6)


def test_objective_is_a_minimum_of_the_published_loss(blobs: tuple) -> None:
    X, y = blobs
    model = CostKernelLogisticRegression(C=2.0, gamma=0.2, reference=1).fit(X, y)
    kernel = rbf_kernel(X, gamma=0.2)

    def loss(A: np.ndarray, b: np.ndarray) -> float:
        f = kernel @ A + b
        own = f[np.arange(len(y)), y]
        penalty = sum(A[:, m] @ kernel @ A[:, m] for m in range(3)) / (2 * 2.0)
        return float((np.log(np.exp(f).sum(axis=1)) - own).sum() + penalty)

    least = loss(model.dual_coef_, model.intercept_)
    assert least == pytest.approx(model.objective_, rel=1e-10)
    rng = np.random.default_rng(0)
    for size in (1e-4, 1e-2, 1.0):
        A, b = model.dual_coef_.copy(), model.intercept_.copy()
        A[:, [0, 2]] += size * rng.normal(size=(len(y), 2))
        b[[0, 2]] += size * rng.normal(size=2)
        assert loss(A, b) > least


@pytest.mark.parametrize("n_classes", [2, 3])
def test_linear_kernel_is_logistic_regression(blobs: tuple, n_classes: int) -> None:
    X, y = blobs
    X, y = X[y < n_classes], y[y < n_classes]
    ours = CostKernelLogisticRegression(kernel="linear", C=0.3).fit(X, y)
    theirs = LogisticRegression(C=0.3, solver="newton-cholesky", tol=1e-12).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=3.4e-8)
    np.testing.assert_allclose(np.log(ours.predict_proba(X)), ours.predict_log_proba(X), atol=1e-9)


def test_training_sees_no_costs_and_sweep_is_one_prediction_each(blobs: tuple) -> None:
    X, y = blobs
    blind, priced = CostKernelLogisticRegression().fit(X, y), CostKernelLogisticRegression(COSTS).fit(X, y)
    assert (blind.dual_coef_ == priced.dual_coef_).all()
    assert (blind.predict(X, costs=COSTS) == priced.predict(X)).all()
    assert (blind.predict(X) != priced.predict(X)).any()
    assert (priced.decision_function(X) == blind.decision_function(X)).all()
    settings = [CostModel(recognition_costs(2, c, 2, 1)) for c in (0.5, 2, 20, 200)]
    sweep = blind.predict_cost_sweep(X, settings)
    assert sweep.shape == (4, len(X))
    for row, costs in zip(sweep, settings, strict=True):
        assert (row == blind.predict(X, costs)).all()
    assert blind.predict_cost_sweep(X, []).shape == (0, len(X))
    # Dearer acceptance only ever turns answers into rejections, from C_IG* on (section 8.2 of the paper).
    proba = blind.predict_proba(X)
    turn = (2 * (1 - proba[:, 2]) - (1 - proba[:, 2] - proba[:, :2].max(axis=1))) / proba[:, 2]
    for row, price in zip(sweep, (0.5, 2, 20, 200), strict=True):
        assert ((row == 2) == (price > turn)).all()


def test_far_cases_do_not_overflow() -> None:
    X = np.array([[-1.0], [0.0], [1.0], [2.0]])
    model = CostKernelLogisticRegression(CostModel([[0, 1], [20, 0]]), kernel="linear", C=1e4)
    model.fit(X, [0, 0, 1, 1])
    assert model.predict([[-1e4], [1e4]]).tolist() == [0, 1]
    assert np.isfinite(model.predict_log_proba([[-1e4], [1e4]])).all()


def test_kernels_tables_and_frames_agree(blobs: tuple) -> None:
    X, y = blobs
    words = np.array(["ada", "bob", "stranger"])[y]
    costs = CostModel(COSTS.misclassification, classes=["ada", "bob", "stranger"])
    model = CostKernelLogisticRegression(costs, kernel="poly", gamma=0.1, coef0=1, degree=2).fit(X, words)
    proba = model.predict_proba(X)
    sparse = clone(model).fit(csr_matrix(X), words)
    np.testing.assert_allclose(sparse.predict_proba(csr_matrix(X)), proba, atol=1e-9)
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).convert_dtypes()
    framed = clone(model).fit(frame, pd.Series(words, dtype="string"))
    assert (framed.predict(frame) == model.predict(X)).all()
    kernel = polynomial_kernel(X, gamma=0.1, coef0=1, degree=2)
    ready = CostKernelLogisticRegression(costs, kernel="precomputed").fit(kernel, words)
    np.testing.assert_allclose(ready.predict_proba(kernel), proba, atol=1e-9)
    own = CostKernelLogisticRegression(kernel=lambda A, B: polynomial_kernel(A, B, degree=2, gamma=0.1))
    np.testing.assert_allclose(own.fit(X, words).predict_proba(X), proba, atol=1e-9)
    again = pickle.loads(pickle.dumps(model))
    assert (again.predict_proba(X) == proba).all()


def test_weight_zero_is_absence_also_for_precomputed_kernels(blobs: tuple) -> None:
    X, y = blobs
    weight = (np.arange(len(y)) % 3 > 0).astype(float)
    kept = weight > 0
    kernel = rbf_kernel(X, gamma=0.1)
    all_ = CostKernelLogisticRegression(kernel="precomputed").fit(kernel, y, weight)
    some = CostKernelLogisticRegression(gamma=0.1).fit(X[kept], y[kept])
    np.testing.assert_allclose(all_.predict_proba(kernel), some.predict_proba(X), atol=1e-8)


def test_nystroem_with_all_cases_is_exact_and_with_few_near(blobs: tuple) -> None:
    X, y = blobs
    exact = CostKernelLogisticRegression(gamma=0.005).fit(X, y).predict_proba(X)
    few = CostKernelLogisticRegression(gamma=0.005, n_components=40, random_state=0).fit(X, y)
    assert few.dual_coef_.shape == (40, 3)
    assert np.abs(few.predict_proba(X) - exact).max() < 0.05
    many = CostKernelLogisticRegression(gamma=0.005, n_components=len(y) + 5).fit(X, y)
    assert (many.predict_proba(X) == exact).all()


def test_nystroem_above_3000_cases() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3001, 2))
    y = (X[:, 0] + 0.5 * rng.normal(size=3001) > 0).astype(int)
    model = CostKernelLogisticRegression(random_state=1).fit(X, y)
    assert model.basis_.shape == (1000, 2)
    assert model.score(X, y) > 0.8


def test_priors_move_posteriors(blobs: tuple) -> None:
    X, y = blobs
    plain = CostKernelLogisticRegression().fit(X, y).predict_proba(X)
    share = np.array([0.1, 0.2, 0.7])
    moved = CostKernelLogisticRegression(priors=dict(enumerate(7 * share))).fit(X, y).predict_proba(X)
    wanted = plain * share / (np.bincount(y) / len(y))
    np.testing.assert_allclose(moved, wanted / wanted.sum(axis=1, keepdims=True))


def test_grid_search_and_pipeline() -> None:
    X, y = load_digits(n_class=3, return_X_y=True)
    grid = GridSearchCV(
        make_pipeline(StandardScaler(), CostKernelLogisticRegression(COSTS)),
        {"costkernellogisticregression__C": [0.1, 10.0]},
        scoring="neg_log_loss",
        cv=2,
    ).fit(X[:200], y[:200])
    assert grid.best_estimator_.score(X[200:], y[200:]) > 0.8


def test_says_when_it_ends_too_early(blobs: tuple) -> None:
    X, y = blobs
    with pytest.warns(ConvergenceWarning, match="after 1 Newton steps"):
        CostKernelLogisticRegression(C=1e4, max_iter=1).fit(X, y)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"C": 0}, "C must be greater than 0; got 0."),
        ({"kernel": "sigmoid"}, "kernel is 'sigmoid'; choose one of 'linear', 'poly', 'rbf', 'precomputed'."),
        ({"gamma": "big"}, "gamma is 'big'; choose one of 'scale', 'auto'."),
        ({"reference": 7}, "reference is 7, which is none of the classes"),
        ({"priors": [1, 2]}, r"priors has shape \(2,\); give one share for each of 0, 1"),
        ({"priors": {0: 1, 1: 1, 2: 0}}, "priors holds a share that is not a positive number"),
        ({"n_components": 0}, "n_components must be a whole number from 1 on"),
        ({"kernel": "precomputed"}, "it is a square matrix"),
        ({"kernel": lambda A, B: -A @ B.T}, "is not positive semidefinite"),
        ({"kernel": lambda A, B: A}, "it must take two tables"),
    ],
)
def test_bad_settings_say_one_thing(blobs: tuple, options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        CostKernelLogisticRegression(**options).fit(*blobs)


def test_bad_tables_and_costs_say_one_thing(blobs: tuple) -> None:
    X, y = blobs
    gap = X.copy()
    gap[0, 0] = np.nan
    with pytest.raises(ValueError, match="Input X contains NaN"):
        CostKernelLogisticRegression().fit(gap, y)
    with pytest.raises(ValueError, match="'job' holds no numbers"):
        frame = pd.DataFrame({"job": pd.Series(["a", "b"], dtype="string"), "age": [1, 2]})
        CostKernelLogisticRegression().fit(frame, [0, 1])
    with pytest.raises(ValueError, match="only one class"):
        CostKernelLogisticRegression().fit(X, y, sample_weight=(y == 1).astype(float))
    model = CostKernelLogisticRegression().fit(X, y)
    with pytest.raises(TypeError, match=r"wrap a cost matrix as CostModel\(matrix\)"):
        model.predict(X, costs=[[0, 1, 1]] * 3)
    with pytest.raises(TypeError, match="give a list of them"):
        model.predict_cost_sweep(X, COSTS)
    with pytest.raises(ValueError, match="class 2, for which"):
        model.predict(X, costs=CostModel([[0, 1], [1, 0]], classes=[0, 1]))
    before = copy.deepcopy(vars(model))
    model.predict(X, costs=COSTS)
    assert vars(model).keys() == before.keys()
