"""The linear machine against scikit-learn's SVC, quadratic programs, and what it promises."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import coo_array, csr_array, csr_matrix
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from cstree import CostModel
from cstree.svm import CostLinearSVC
from cstree.svm import linear as module
from tests.reference import svm as ref

COSTS = np.array([[0, 1, 2], [4, 0, 1], [10, 3, 0]], dtype=float)
SOLVERS = ("hybrid", "rdcd", "dcd", "pcsvm")


@pytest.fixture(scope="module")
def two() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 6))
    y = (X[:, 0] - X[:, 1] + rng.normal(size=400) > 1.5).astype(int)
    return X, y


@pytest.fixture(scope="module")
def three() -> tuple[np.ndarray, np.ndarray]:
    return make_blobs(150, n_features=3, centers=3, cluster_std=3.0, random_state=0)


def priced(false_negative: float, false_positive: float = 1.0) -> CostModel:
    return CostModel([[0, false_positive], [false_negative, 0]])


def objective(model: Any, X: np.ndarray, y: np.ndarray, bound: np.ndarray, margin: Any = 1.0) -> float:
    w, b = np.ravel(model.coef_), float(model.intercept_[0])
    return ref.objective(X, np.where(y == 1, 1.0, -1.0), bound, np.broadcast_to(margin, len(y)), w, b)


@pytest.mark.parametrize("C", [0.01, 1.0, pytest.param(10.0, marks=pytest.mark.slow)])
@pytest.mark.parametrize("cost", [1.0, 3.0, 19.0])
def test_objective_is_that_of_svc(two: tuple, C: float, cost: float) -> None:
    X, y = two[0][:150, :3], two[1][:150]
    weights = {0: 2 / (1 + cost), 1: 2 * cost / (1 + cost)}
    theirs = SVC(kernel="linear", C=C, class_weight=weights, tol=1e-8).fit(X, y)
    ours = CostLinearSVC(priced(cost), C=C, tol=1e-9, random_state=0).fit(X, y)
    bound = C * np.where(y == 1, weights[1], weights[0])
    least = ref.best_bias(X, np.where(y == 1, 1.0, -1.0), bound, np.ones(len(y)), theirs.coef_[0])
    assert ours.objective_ == pytest.approx(least, rel=1e-6)
    assert ours.objective_ == pytest.approx(objective(ours, X, y, bound), rel=1e-12)
    assert 0 <= ours.dual_gap_ <= 1e-9 * ours.objective_
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-3)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("kind", ["float64", "float32", "csr", "csr32"])
def test_solvers_and_tables_agree(two: tuple, solver: str, kind: str) -> None:
    X, y = (table[:120] for table in two)
    X = np.where(np.abs(X) > 1, X, 0.0).astype(np.float32).astype(float)
    table = {
        "float64": X,
        "float32": X.astype("f4"),
        "csr": csr_array(X),
        "csr32": csr_matrix(X.astype("f4")),
    }
    best = CostLinearSVC(priced(5), C=0.1, tol=1e-10).fit(X, y)
    model = CostLinearSVC(priced(5), C=0.1, solver=solver, tol=1e-5, random_state=0).fit(table[kind], y)
    assert best.objective_ * (1 - 1e-9) <= model.objective_ <= best.objective_ * (1 + 1e-5)
    assert model.objective_ - best.objective_ <= model.dual_gap_ + 1e-9
    np.testing.assert_allclose(model.decision_function(table[kind]), best.decision_function(X), atol=0.02)


def test_sparse_tables_may_hold_entries_twice_and_unsorted(two: tuple) -> None:
    X, y = two
    row, column = np.nonzero(X)
    doubled = coo_array(
        (np.repeat(X[row, column] / 2, 2), (np.repeat(row, 2), np.repeat(column, 2)[::1])), shape=X.shape
    )
    table = csr_array((doubled.data, doubled.col, np.arange(len(X) + 1) * 12), shape=X.shape)
    before = table.data.copy()
    ours = CostLinearSVC(solver="rdcd", tol=1e-4, random_state=0).fit(table, y)
    theirs = CostLinearSVC(solver="rdcd", tol=1e-4, random_state=0).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-9)
    np.testing.assert_array_equal(table.data, before)


@pytest.mark.parametrize("kappa", [1.0, 0.5, 0.2])
@pytest.mark.parametrize("cost", [4.0, 0.25])
def test_kappa_is_the_margin_of_the_cheaper_side(two: tuple, kappa: float, cost: float) -> None:
    X, y = (table[:60] for table in two)
    model = CostLinearSVC(priced(cost), C=0.5, kappa=kappa, tol=1e-9).fit(X, y)
    bound = np.where(y == 1, cost, 1.0) / (1 + cost)
    dear = (y == 1) == (cost > 1)
    margin = np.where(dear, 1.0, kappa)
    w, least = ref.quadratic_program(X, np.where(y == 1, 1.0, -1.0), bound, margin)
    assert model.objective_ == pytest.approx(least, rel=1e-7)
    assert model.objective_ == pytest.approx(objective(model, X, y, bound, margin), rel=1e-12)
    np.testing.assert_allclose(model.coef_[0], w, atol=1e-4)


def test_weights_are_repetitions_and_costs_by_case_are_costs(two: tuple) -> None:
    X, y = two
    weight = np.arange(len(y)) % 3
    settings = {"C": 0.3, "tol": 1e-12}
    by_weight = CostLinearSVC(priced(5), **settings).fit(X, y, weight)
    again = CostLinearSVC(priced(5), **settings).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(by_weight.coef_, again.coef_, atol=1e-7)
    matrix = np.array([[1.0, 2.0], [5.0, 0.0]])  # right answers may cost something too
    by_case = CostLinearSVC(**settings).fit(X, y, example_cost=matrix[y])
    level = (matrix[y].max(axis=1) - matrix[y].min(axis=1)).mean()
    by_class = CostLinearSVC(CostModel(matrix), **settings | {"C": 0.3 * 3 / level}).fit(X, y)
    np.testing.assert_allclose(by_case.coef_, by_class.coef_, atol=1e-7)
    scaled = CostLinearSVC(CostModel(7 * matrix + [[3.0], [0.0]]), **settings).fit(X, y)
    plain = CostLinearSVC(CostModel(matrix), **settings).fit(X, y)
    np.testing.assert_allclose(scaled.coef_, plain.coef_, atol=1e-7)


def test_a_wrong_answer_that_is_cheaper_is_learnt(two: tuple) -> None:
    X, y = two
    matrix = np.array([[0.0, 1.0], [1.0, 0.0]])[y]
    flipped = y.copy()
    flipped[:20] = 1 - y[:20]
    matrix[:20] = matrix[:20, ::-1]
    ours = CostLinearSVC(tol=1e-10).fit(X, y, example_cost=matrix)
    np.testing.assert_allclose(ours.coef_, CostLinearSVC(tol=1e-10).fit(X, flipped).coef_, atol=1e-6)


@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
def test_balanced_where_classes_have_no_weight(three: tuple, multi_class: str) -> None:
    X, y = three
    model = CostLinearSVC(asymmetry="balanced", multi_class=multi_class)
    for only in range(3):
        model.fit(X, y, sample_weight=y == only)
        assert model.objective_ == model.dual_gap_ == 0
        assert set(model.predict(X)) == {only}
    for only in range(2):
        model.fit(X[y < 2], y[y < 2], sample_weight=y[y < 2] == only)
        assert set(model.predict(X)) == {only}
    model.fit(X, y, sample_weight=y > 0)
    assert np.isfinite(model.objective_) and set(model.predict(X)) == {1, 2}


def test_asymmetry(two: tuple) -> None:
    X, y = two
    few = y.mean()
    balanced = CostLinearSVC(asymmetry="balanced", C=0.5, tol=1e-10).fit(X, y)
    by_share = CostLinearSVC(asymmetry=1 - few, C=0.5, tol=1e-10).fit(X, y)
    by_costs = CostLinearSVC(priced(1 - few, few), C=0.5, tol=1e-10).fit(X, y)
    np.testing.assert_allclose(by_share.coef_, balanced.coef_, atol=1e-6)
    np.testing.assert_allclose(by_costs.coef_, balanced.coef_, atol=1e-6)
    for share, answer in ((0.0, 0), (1.0, 1)):
        model = CostLinearSVC(asymmetry=share).fit(X, y)
        assert not model.coef_.any() and model.objective_ == model.dual_gap_ == 0
        assert set(model.predict(X)) == {answer}
    found = [CostLinearSVC(asymmetry=g).fit(X, y).predict(X).mean() for g in (0.1, 0.5, 0.9)]
    assert found == sorted(found) and found[0] < found[2]


@pytest.mark.parametrize("solver", SOLVERS)
def test_degenerate_tables(solver: str) -> None:
    model = CostLinearSVC(priced(9), solver=solver, tol=1e-3, random_state=0)
    nothing = np.zeros((10, 2))
    y = np.array([0] * 8 + [1] * 2)
    clone(model).set_params(costs=None).fit(nothing, y)
    assert set(clone(model).fit(nothing, y).predict(nothing)) == {1}  # 2 x 9 against 8
    cheap = clone(model).set_params(costs=priced(3)).fit(nothing, y)
    assert set(cheap.predict(nothing)) == {0}
    assert cheap.objective_ == pytest.approx(2 * 2 * 3 * 2 / 4) and not cheap.coef_.any()
    alone = clone(model).set_params(costs=None).fit([[1.0], [2.0]], ["a", "a"])
    assert alone.predict([[5.0]]).tolist() == ["a"] and alone.coef_.shape == (1, 1)
    copies = np.repeat([[0.0, 1.0]], 6, axis=0)  # nothing tells them apart
    tied = clone(model).fit(copies, [0, 0, 0, 0, 0, 1])
    assert tied.dual_gap_ <= 1e-3 * tied.objective_ and set(tied.predict(copies)) == {1}
    pair = clone(model).fit([[0.0], [1.0]], [0, 1])
    np.testing.assert_allclose(
        pair.decision_function([[0.0], [1.0]]), pair.coef_[0] * [0, 1] + pair.intercept_
    )


def test_one_for_each_class(three: tuple) -> None:
    """Each problem is one of two classes, a case pulling by its costs."""
    X, y = three
    model = CostLinearSVC(CostModel(COSTS), C=0.5, multi_class="ovr", tol=1e-10).fit(X, y)
    level = COSTS.sum() / 6
    for k in range(3):
        cheapest_other = np.array([min(row[j] for j in range(3) if j != k) for row in COSTS])
        pull = np.where(y == k, cheapest_other[y], -COSTS[y, k]) / level
        side = SVC(kernel="linear", C=0.5, tol=1e-5).fit(X, pull > 0, np.abs(pull))
        np.testing.assert_allclose(model.coef_[k], side.coef_[0], atol=1e-3)
    scores = model.decision_function(X)
    np.testing.assert_allclose(scores, X @ model.coef_.T + model.intercept_)
    assert (model.predict(X) == scores.argmax(axis=1)).all()


def test_pairs_tend_to_the_least_expected_cost() -> None:
    """4 places, each with its own class probabilities; the cheapest answer may be a rare class."""
    places = np.eye(4)
    proba = np.array([[0.8, 0.1, 0.1], [0.4, 0.35, 0.25], [0.2, 0.7, 0.1], [0.5, 0.05, 0.45]])
    where = np.repeat(np.arange(4), 200)
    y = np.concatenate([np.repeat([0, 1, 2], (200 * p + 0.5).astype(int)) for p in proba])
    model = CostLinearSVC(CostModel(COSTS), C=10.0).fit(places[where], y)
    assert model.predict(places).tolist() == (proba @ COSTS).argmin(axis=1).tolist()
    assert model.coef_.shape == (3, 4)
    scores = model.decision_function(places)
    assert ((scores - np.round(scores) < 0.5) & (scores.max(axis=1) > 1.5)[:, None]).all()


def test_pairs_without_costs_are_scikit_learns(three: tuple) -> None:
    X, y = three
    ours = CostLinearSVC(CostModel(1.0 - np.eye(3)), C=0.5, multi_class="ovo", tol=1e-10).fit(X, y)
    theirs = SVC(kernel="linear", C=0.5, tol=1e-5).fit(X, y)
    np.testing.assert_allclose(ours.coef_, -theirs.coef_, atol=1e-3)
    assert (ours.predict(X) == theirs.predict(X)).all()


def test_frames_names_and_pickles(three: tuple) -> None:
    X, y = three
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).astype("Float64")
    labels = np.array(["low", "mid", "high"])[y]
    model = CostLinearSVC(CostModel(COSTS)).fit(frame, labels)
    assert set(model.predict(frame)) <= set(labels)
    copied = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copied.decision_function(frame), model.decision_function(frame))
    search = GridSearchCV(
        make_pipeline(StandardScaler(), CostLinearSVC()), {"costlinearsvc__C": [0.01, 1]}, cv=2
    )
    assert search.fit(X, labels).best_score_ > 0.5


def test_seed_decides(two: tuple) -> None:
    X, y = two
    fits = [CostLinearSVC(solver="dcd", tol=1e-2, random_state=s).fit(X, y).coef_ for s in (0, 0, 1)]
    np.testing.assert_array_equal(fits[0], fits[1])
    assert (fits[0] != fits[2]).any()


@pytest.mark.parametrize("solver", ["hybrid", "rdcd", "pcsvm"])
def test_it_says_when_it_ends_too_early(two: tuple, solver: str) -> None:
    X, y = two
    with pytest.warns(ConvergenceWarning, match="after 1 iterations.*raise max_iter"):
        model = CostLinearSVC(C=100, solver=solver, max_iter=1, tol=1e-9, random_state=0).fit(X, y)
    assert model.dual_gap_ > 1e-9 * model.objective_ and model.n_iter_ == 1


@pytest.mark.parametrize("looks", [0, 2])
def test_ctrl_c_keeps_what_was_found(two: tuple, monkeypatch: pytest.MonkeyPatch, looks: int) -> None:
    X, y = two

    class Impatient(module.Certificate):
        seen = 0

        def add(self, *args: Any) -> bool:
            Impatient.seen += 1
            if Impatient.seen == looks + 1:
                raise KeyboardInterrupt
            return super().add(*args)

    monkeypatch.setattr(module, "Certificate", Impatient)
    model = CostLinearSVC(solver="dcd", tol=1e-9, random_state=0)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert model.predict(X).shape == y.shape
    if looks:
        assert (model.predict(X) == y).mean() > 0.8
        bound = np.ones(len(y))
        assert model.objective_ == pytest.approx(objective(model, X, y, bound))


def test_ctrl_c_between_problems(three: tuple, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = three
    solve = module.SOLVERS["hybrid"]
    calls: list[int] = []

    def second_fails(*args: Any) -> int:
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return solve(*args)

    monkeypatch.setitem(module.SOLVERS, "hybrid", second_fails)
    model = CostLinearSVC()
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert model.coef_.shape == (3, 3) and model.dual_gap_ == np.inf
    assert model.predict(X).shape == y.shape


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"C": 0}, "C must be greater than 0"),
        ({"kappa": 1.5}, "kappa must be at most 1"),
        ({"asymmetry": 1.5}, "asymmetry must be a share"),
        ({"asymmetry": "classes"}, "asymmetry is 'classes'; choose one of 'costs', 'balanced'"),
        ({"multi_class": "all"}, "multi_class is 'all'; choose one of 'ovo', 'ovr'"),
        ({"solver": "smo"}, "solver is 'smo'; choose one of 'hybrid', 'rdcd', 'dcd', 'pcsvm'"),
        ({"max_iter": 0}, "max_iter must be a whole number from 1 on"),
    ],
)
def test_settings_are_checked(setting: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        CostLinearSVC(**setting).fit([[0.0], [1.0]], [0, 1])


def test_costs_by_case_need_costs(two: tuple) -> None:
    X, y = two
    with pytest.raises(ValueError, match="counts no costs: leave out example_cost"):
        CostLinearSVC(asymmetry="balanced").fit(X, y, example_cost=np.ones((len(y), 2)))
