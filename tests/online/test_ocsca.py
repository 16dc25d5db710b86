"""OCSCA against its twin, a quadratic program, and what it should reach."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import lsq_linear
from scipy.sparse import csr_array, csr_matrix

from cstree import CostModel
from cstree.online import OCSCAClassifier
from cstree.online._kernels import multiclass_steps
from cstree.online.rows import Rows
from tests.online.problems import BLIND, FIVE_TO_ONE, FirstColumns, Given, random_stream, two_clouds
from tests.reference.online import PlainOcsca, PlainOcscaMany, plain_average

MANY = CostModel([[0, 1, 4], [2, 0, 1], [7, 3, 0]])


def adapting(n_classes: int, d: int, costs: CostModel, **options: Any) -> OCSCAClassifier:
    """A learner that reads ``d`` columns and adapts the margin in those that follow."""
    return OCSCAClassifier(costs, estimator=Given(n_classes), features=FirstColumns(d), **options)


@pytest.mark.parametrize("seed", range(8))
def test_two_classes_equal_the_twin(seed: int) -> None:
    X, y, f0 = random_stream(seed, n=75)
    rng = np.random.default_rng(seed)
    weight = rng.choice([0.5, 1.0, 3.0], len(y))
    constant, scaled, average = [0.0, 1.0, 2.5][seed % 3], seed % 2 == 0, seed % 4 < 2
    model = adapting(
        *(2, 4, FIVE_TO_ONE),
        alpha=0.05,
        fit_intercept=constant > 0,
        intercept_scaling=constant or 1.0,
        scale="auto" if scaled else None,
        average=average,
    )
    twin = PlainOcsca(4, 0.05, constant, scaled)
    case_costs = np.array([1.0, 5.0])[y]
    if seed >= 4:  # each case has its own costs
        case_costs = rng.choice([0.0, 2.0, 30.0], len(y))
        twin.unit = None if scaled else 1.0
    table = np.where(np.arange(2) == y[:, None], 0.0, case_costs[:, None])
    model.partial_fit(
        np.column_stack([X, f0]), y, sample_weight=weight, example_cost=table if seed >= 4 else None
    )
    cases = zip(X, 2 * y - 1, case_costs, f0, weight, strict=True)
    scores = [twin.learn(*case)[0] for case in cases]
    expected = plain_average(twin.history) if average else [*twin.w, twin.b]
    assert np.allclose([*model.coef_[0], *model.intercept_], expected, rtol=1e-11, atol=1e-13)
    wrong = (np.array(scores) > 0) != (y == 1)
    assert model.prequential_error_ == pytest.approx(weight @ wrong / weight.sum())
    assert model.prequential_cost_ == pytest.approx(weight @ (wrong * case_costs) / weight.sum())


@pytest.mark.parametrize("seed", range(4))
def test_many_classes_equal_the_twin(seed: int) -> None:
    X, y, f0 = random_stream(seed, n_classes=3)
    constant = float(seed % 2)
    model = adapting(3, 4, MANY, alpha=0.2, fit_intercept=constant > 0, scale=None)
    model.partial_fit(np.column_stack([X, f0]), y)
    twin = PlainOcscaMany(3, 4, 0.2, constant)
    matrix = MANY.misclassification
    scores = [twin.learn(x, t, matrix[t], f) for x, t, f in zip(X, y, f0, strict=True)]
    assert np.allclose(model.coef_, twin.W, rtol=1e-11, atol=1e-13)
    assert np.allclose(model.intercept_, twin.b, rtol=1e-11, atol=1e-13)
    assert model.prequential_error_ == pytest.approx(np.mean(np.argmax(scores, axis=1) != y))


def test_two_of_many_classes_are_the_algorithm_for_two() -> None:
    X, y, f0 = random_stream(5, n=300)
    model = adapting(2, 4, FIVE_TO_ONE, alpha=0.03, scale=None).fit(np.column_stack([X, f0]), y)
    rows = Rows.of(X)
    W, state = np.zeros((2, 5)), np.array([0, 0, 0, 0, 1.0])
    target = np.column_stack([y, y]).astype(np.int32)
    costs = np.array([[0.0, 1.0], [5.0, 0.0]])
    scores = np.column_stack([-f0 / 2, f0 / 2])
    multiclass_steps(
        *(rows.part(slice(0, len(y))), (target, np.full(len(y), 0.03), costs), scores, W),
        *(np.zeros((2, 0)), state, np.array([True, False, False])),
    )
    assert np.allclose(W[1] - W[0], [*model.coef_[0], *model.intercept_], atol=4e-15)
    assert np.array_equal(W[0], -W[1])


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_step_is_the_minimum_of_the_quadratic_program(n_classes: int) -> None:
    # min ||w - w'||^2 / 2 (many classes: sum ||W_k - W_k'||^2) + cap * slack. The dual, max t l - t^2 q / 2
    # over 0 <= t <= cap, is a least squares problem with bounds.
    rng = np.random.default_rng(0)
    costs = FIVE_TO_ONE if n_classes == 2 else MANY
    kinds = set()
    for _ in range(300):
        x, f0 = rng.normal(size=(1, 3)), rng.normal(size=(1, 1 if n_classes == 2 else 3)) * 2
        y = int(rng.integers(n_classes))
        alpha = float(10 ** rng.uniform(-2, 0.5))
        model = adapting(n_classes, 3, costs, alpha=alpha, fit_intercept=False, scale=None)
        model.partial_fit(np.column_stack([x, f0]), [y])
        square = float(x[0] @ x[0])
        row = np.asarray(costs.misclassification)[y]
        if n_classes == 2:
            loss, cap = 1 - (2 * y - 1) * f0[0, 0], alpha * row[1 - y]
        else:
            gaps = 1 - (f0[0, y] - f0[0])
            rival = int(np.argmax(np.where(np.arange(3) == y, -1, row * np.maximum(gaps, 0))))
            loss, cap = gaps[rival], alpha * row[rival]
        dual = lsq_linear([[np.sqrt(square)]], [loss / np.sqrt(square)], (0, cap), method="bvls", tol=1e-15)
        tau = float(dual.x[0])
        if n_classes == 2:
            expected = (2 * y - 1) * tau * x
        else:
            expected = np.zeros((3, 3))
            expected[y], expected[rival] = tau / 2 * x[0], -tau / 2 * x[0]
        assert np.abs(model.coef_ - expected).max() <= 1e-10
        after = max(0.0, loss - tau * square)  # Karush-Kuhn-Tucker: the slack is priced at the cap
        assert tau * after == pytest.approx(cap * after, abs=1e-9) and 0 <= tau <= cap * (1 + 1e-12)
        primal = tau**2 * square / 2 + cap * after
        assert primal == pytest.approx(tau * loss - tau**2 * square / 2, abs=1e-9)
        kinds.add("none" if tau == 0 else "capped" if tau == pytest.approx(cap) else "reached")
    assert kinds == {"none", "capped", "reached"}


@settings(max_examples=50)
@given(
    st.lists(st.floats(-10, 10), min_size=1, max_size=5),
    st.booleans(),
    st.floats(-3, 3),
    st.floats(1e-4, 10),
)
def test_loss_falls_by_tau_times_the_square(x: list[float], y: bool, f0: float, alpha: float) -> None:
    table = np.array([[*x, f0]])
    model = adapting(2, len(x), FIVE_TO_ONE, alpha=alpha, fit_intercept=False, scale=None)
    model.partial_fit(table, [int(y)])
    sign, square = (1 if y else -1), float(np.dot(x, x))
    before = max(0.0, 1 - sign * f0)
    tau = abs(float(np.dot(model.coef_[0], x))) / square if square > 0 else 0.0
    assert 0 <= tau <= alpha * (5 if y else 1) * (1 + 1e-9)
    after = max(0.0, 1 - sign * float(model.decision_function(table)[0]))
    assert after == pytest.approx(max(0.0, before - tau * square), abs=1e-9)


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("scale", ["auto", None])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_blocks_are_one_pass_bit_for_bit(average: bool, scale: str | None, n_classes: int) -> None:
    X, y, f0 = random_stream(1, n=203, n_classes=n_classes)
    table, costs = np.column_stack([X, f0]), FIVE_TO_ONE if n_classes == 2 else MANY
    weight = np.random.default_rng(2).choice([0.0, 0.3, 1.0], len(y))
    weight[[0, 1, 5, 6, 36]] = 1.0
    options: dict[str, Any] = {"alpha": 0.02, "average": average, "scale": scale, "window": 50}
    whole = adapting(n_classes, 4, costs, **options).fit(table, y, sample_weight=weight)
    blocks = adapting(n_classes, 4, costs, **options)
    for part in np.split(np.arange(len(y)), [1, 2, 5, 36, 37, 100, 164]):
        blocks.partial_fit(table[part], y[part], sample_weight=weight[part])
    assert np.array_equal(whole.coef_, blocks.coef_)
    assert np.array_equal(whole.intercept_, blocks.intercept_)
    assert whole.prequential_cost_ == blocks.prequential_cost_
    assert whole.prequential_error_ == blocks.prequential_error_
    assert whole.prequential_curve_.equals(blocks.prequential_curve_)
    assert (whole.n_cases_, whole.n_updates_) == (blocks.n_cases_, blocks.n_updates_)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_sparse_rows_equal_dense_ones(n_classes: int) -> None:
    X, y, _ = random_stream(3, n=200, n_classes=n_classes)
    costs = FIVE_TO_ONE if n_classes == 2 else MANY
    dense = OCSCAClassifier(costs, average=True).fit(X, y)
    for made in (csr_matrix, csr_array):
        sparse = OCSCAClassifier(costs, average=True).fit(made(X), y)
        assert np.allclose(sparse.coef_, dense.coef_, rtol=1e-13, atol=1e-16)
        assert np.allclose(sparse.decision_function(made(X)), dense.decision_function(X), atol=1e-14)
        assert sparse.prequential_cost_ == pytest.approx(dense.prequential_cost_, abs=1e-15)
    single = OCSCAClassifier(costs).fit(X.astype(np.float32), y)
    assert np.allclose(single.coef_, OCSCAClassifier(costs).fit(X, y).coef_, atol=1e-4)


def test_sparse_rows_stay_sparse_and_may_be_written_loosely() -> None:
    # 2,000 x 2,000,000 would fill 32 GB
    columns = np.random.default_rng(0).integers(0, 2_000_000, 4000)
    wide = csr_array((np.ones(4000), columns, np.arange(0, 4001, 2)), shape=(2000, 2_000_000))
    y = np.arange(2000) % 2
    model = OCSCAClassifier(FIVE_TO_ONE).fit(wide, y)
    assert np.count_nonzero(model.coef_) > 1000
    loose = csr_matrix((np.array([1.0, 2.0, 4.0]), [1, 1, 0], [0, 2, 3]), shape=(2, 2))
    tight = OCSCAClassifier().fit(loose.toarray(), [0, 1])
    assert np.array_equal(OCSCAClassifier().fit(loose, [0, 1]).coef_, tight.coef_)
    assert loose.nnz == 3
    empty = csr_matrix((4, 3))
    assert not OCSCAClassifier(fit_intercept=False).fit(empty, [0, 1, 1, 0]).coef_.any()


def test_rows_of_length_zero_move_the_intercept_alone() -> None:
    model = OCSCAClassifier(fit_intercept=True, alpha=0.1, scale=None).fit(np.zeros((3, 2)), [1, 1, 0])
    assert not model.coef_.any() and model.intercept_[0] == pytest.approx(0.1)
    assert OCSCAClassifier().fit(np.zeros((3, 2)), [1, 1, 0]).intercept_[0] == pytest.approx(0.01)


def test_weight_two_is_seeing_a_case_twice_in_a_row() -> None:
    X, y, f0 = random_stream(4)
    table = np.column_stack([X, f0])
    weight = np.random.default_rng(0).integers(0, 4, len(y))
    options: dict[str, Any] = {"alpha": 0.05, "scale": None}
    once = adapting(2, 4, FIVE_TO_ONE, **options).fit(table, y, sample_weight=weight)
    often = adapting(2, 4, FIVE_TO_ONE, **options).fit(table.repeat(weight, axis=0), y.repeat(weight))
    assert np.allclose(once.coef_, often.coef_, atol=1e-13)


def test_costs_by_case_replace_the_matrix_and_may_prefer_a_wrong_answer() -> None:
    X, y, f0 = random_stream(6)
    table = np.column_stack([X, f0])
    rows = np.asarray(FIVE_TO_ONE.misclassification)[y]
    model = adapting(2, 4, FIVE_TO_ONE, scale=None).fit(table, y)
    same = adapting(2, 4, BLIND, scale=None).partial_fit(table, y, example_cost=rows + 3.0)
    assert np.allclose(model.coef_, same.coef_, atol=1e-15)
    assert same.prequential_cost_ == pytest.approx(model.prequential_cost_ + 3.0)
    # A case whose wrong answer is the cheaper one teaches that answer.
    turned = adapting(2, 4, BLIND, scale=None).fit(table, 1 - y, example_cost=rows)
    assert np.allclose(turned.coef_, model.coef_, atol=1e-15)


def test_units_of_costs_and_cases_do_not_matter() -> None:
    X, y = two_clouds(500)
    plain = OCSCAClassifier(FIVE_TO_ONE).fit(X, y)
    money = OCSCAClassifier(CostModel([[7, 307], [1501, 1]])).fit(X, y)  # times 300, and rows shifted
    assert np.allclose(plain.coef_, money.coef_, rtol=1e-12)
    feet = OCSCAClassifier(FIVE_TO_ONE).fit(X * 1000, y)
    assert np.allclose(plain.decision_function(X), feet.decision_function(X * 1000), rtol=1e-9)


def test_a_cap_that_is_never_reached_makes_costs_useless_and_is_told_once() -> None:
    X, y = two_clouds(2000)
    weights = []
    for alpha, costs in ((10.0, FIVE_TO_ONE), (100.0, FIVE_TO_ONE), (10.0, BLIND)):
        model = OCSCAClassifier(costs, alpha=alpha, scale=None)
        if costs is FIVE_TO_ONE:
            with pytest.warns(UserWarning, match="costs have had no effect"):
                model.fit(X, y)
        else:
            model.fit(X, y)
        weights.append(model.coef_)
        model.partial_fit(X, y)  # not told again: warnings are errors
    assert np.array_equal(weights[0], weights[1]) and np.array_equal(weights[0], weights[2])


@pytest.mark.parametrize("scale", ["auto", None])
def test_small_alpha_comes_to_the_least_cost(scale: str | None) -> None:
    # Bayes data of the source's kind: distance 2 sigma. Least cost 0.300; the rule of equal costs 0.476.
    X, y = two_clouds(20_000, seed=1)
    X_new, y_new = two_clouds(40_000, seed=2)
    cost = {}
    for alpha in (1e-3, 1e-2, 0.03, 1.0):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = OCSCAClassifier(FIVE_TO_ONE, alpha=alpha, scale=scale).fit(X / np.sqrt(3), y)
        answers = model.predict(X_new / np.sqrt(3))
        cost[alpha] = np.mean((answers != y_new) * np.where(y_new == 1, 5, 1))
    assert max(cost[alpha] for alpha in (1e-3, 1e-2)) < 0.315
    assert cost[1.0] > 0.40


def test_costs_change_in_the_middle_of_the_stream() -> None:
    # 50 features, distance 2, 1:1 and then 8:1: oracle 0.35 and 0.71 for the stale rule
    X, y = two_clouds(20_000, d=50, seed=3)
    X /= np.sqrt(51)
    eight = CostModel.binary(false_positive=1, false_negative=8)
    model = OCSCAClassifier(BLIND, scale=None, window=250).fit(X[:10_000], y[:10_000])
    stale = np.mean((model.predict(X[10_000:]) != y[10_000:]) * np.where(y[10_000:] == 1, 8, 1))
    kept = pickle.loads(pickle.dumps(model))
    model.set_costs(eight).partial_fit(X[10_000:], y[10_000:])
    cost = model.prequential_curve_["cost"].to_numpy()[40:]
    assert 0.55 < stale < 0.85
    assert cost[0] < 0.7 * stale and cost[1:4].mean() < 0.37 and cost[-20:].mean() < 0.37
    kept.set_params(costs=eight)
    kept.partial_fit(X[10_000:], y[10_000:])
    assert np.array_equal(kept.coef_, model.coef_) and kept.costs_.matrix[1, 0] == 8
    begun = OCSCAClassifier(eight, scale=None).fit(X[10_000:12_000], y[10_000:12_000])
    assert begun.prequential_cost_ > 1.3 * cost[:8].mean()


def test_an_average_begins_anew_with_new_costs() -> None:
    X, y = two_clouds(700)
    model = OCSCAClassifier(BLIND, average=True).fit(X[:600], y[:600])
    assert not np.array_equal(model.coef_[0], model.set_params(average=False).coef_[0])
    model.set_params(average=True).set_costs(FIVE_TO_ONE)
    last = model._linear.weights.copy()
    assert np.array_equal(model.coef_, last[:, :-1])
    before = model.n_cases_
    model.partial_fit(X[600:], y[600:])
    again = OCSCAClassifier(BLIND).fit(X[:600], y[:600]).set_costs(FIVE_TO_ONE)
    history = [
        np.append(again.partial_fit(X[i : i + 1], y[i : i + 1]).coef_[0], again.intercept_)
        for i in range(before, 700)
    ]
    assert np.allclose([*model.coef_[0], *model.intercept_], plain_average(history), rtol=1e-10)


def test_an_average_costs_less_than_the_last_weights() -> None:
    X_new, y_new = two_clouds(20_000, d=50, seed=9)
    saved = []
    for seed in range(3):
        X, y = two_clouds(10_000, d=50, seed=seed)
        model = OCSCAClassifier(FIVE_TO_ONE, alpha=0.1).fit(X, y)
        mean = OCSCAClassifier(FIVE_TO_ONE, alpha=0.1, average=True).fit(X, y)
        cost = [np.mean((m.predict(X_new) != y_new) * np.where(y_new == 1, 5, 1)) for m in (model, mean)]
        saved.append(cost[0] - cost[1])
    assert min(saved) > 0.01


def test_curve_is_of_windows() -> None:
    X, y = two_clouds(25)
    model = OCSCAClassifier(FIVE_TO_ONE, window=10).fit(X, y)
    curve = model.prequential_curve_
    assert curve["n_cases"].tolist() == [10, 20, 25]
    assert np.average(curve["cost"], weights=[10, 10, 5]) == pytest.approx(model.prequential_cost_)
    assert np.average(curve["error"], weights=[10, 10, 5]) == pytest.approx(model.prequential_error_)
    assert len(OCSCAClassifier(window=5).fit(X, y).prequential_curve_) == 5
