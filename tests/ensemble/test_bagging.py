"""Committees of bagging and MetaCost: what members are shown, what they say together, new labels."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from scipy.stats import chisquare, norm
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from cstree import (
    CostBaggingClassifier,
    CostModel,
    FeatureTest,
    GreedyTreeClassifier,
    MetaCostClassifier,
    MinimumCostClassifier,
    MultiSubsetClassifier,
    RescalingClassifier,
    ThresholdMovingClassifier,
)
from cstree.datasets import load_hepatitis
from cstree.ensemble.committee import Draw, Drawing
from cstree.ensemble.meta import Cases, cheapest
from cstree.ensemble.prices import costs_of_columns
from cstree.metrics import misclassification_cost, total_cost
from tests.ensemble.oracle import Witness
from tests.ensemble.test_wrapped import two_clouds
from tests.reference import sampling as ref

THREE = CostModel([[0, 4, 1], [2, 0, 5], [6, 3, 0]])
DEAR = CostModel.binary(false_positive=1, false_negative=5)
COMMITTEES = [
    CostBaggingClassifier(n_estimators=6, max_features=0.5, random_state=3),
    CostBaggingClassifier(n_estimators=6, vote="hard", oob_cost=True, random_state=3),
    MetaCostClassifier(n_estimators=6, q=False, random_state=3),
    MultiSubsetClassifier(random_state=3),
]


@pytest.mark.parametrize("model", COMMITTEES, ids=str)
def test_threads_change_nothing(model: Any) -> None:
    table = load_hepatitis()
    model = clone(model).set_params(costs=table.costs)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*shown to all members")
        one = clone(model).fit(table.data, table.target)
        two = clone(model).set_params(n_jobs=2).fit(table.data, table.target)
    assert np.array_equal(one.predict_proba(table.data), two.predict_proba(table.data))
    assert np.array_equal(one.predict(table.data), two.predict(table.data))
    if hasattr(one, "oob_cost_"):
        assert one.oob_cost_ == two.oob_cost_


@pytest.mark.parametrize("vote", ["soft", "hard"])
@pytest.mark.parametrize("weighted", [False, True])
def test_what_a_committee_says_is_what_its_members_say(vote: str, weighted: bool) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 4))
    y = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0.5)
    weight = rng.integers(0, 4, 120).astype(float) if weighted else None
    model = CostBaggingClassifier(
        THREE,
        estimator=DecisionTreeClassifier(max_depth=3),
        n_estimators=9,
        max_samples=0.8,
        max_features=3,
        vote=vote,
        oob_cost=True,
        random_state=0,
    )
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*shown to all members")
        model.fit(X, y, sample_weight=weight)
    kept = np.arange(120) if weight is None else np.flatnonzero(weight)

    def say(member: Any, columns: Any, table: np.ndarray) -> np.ndarray:
        said = np.zeros((len(table), 3))
        said[:, member.classes_] = member.predict_proba(table[:, columns])
        return np.eye(3)[said.argmax(axis=1)] if vote == "hard" else said

    members = list(zip(model.estimators_, model.estimators_features_, model.estimators_samples_, strict=True))
    assert len(members) == 9
    assert all(len(rows) == round(0.8 * len(kept)) for _, _, rows in members)
    assert all(len(set(columns)) == 3 for _, columns, _ in members)
    mean = sum(say(member, columns, X) for member, columns, _ in members) / 9
    np.testing.assert_allclose(model.predict_proba(X), mean, atol=1e-12)
    assert model.predict(X).tolist() == [
        ref.bayes_answer(row, THREE.misclassification.tolist()) for row in mean.tolist()
    ]
    paid, there, total = 0.0, np.zeros(len(kept), dtype=bool), 0.0
    for i, row in enumerate(kept):
        says = [say(m, c, X[[row]])[0] for m, c, rows in members if i not in rows]
        if says:
            there[i] = True
            np.testing.assert_allclose(model.oob_proba_[i], np.mean(says, axis=0), atol=1e-12)
            w = 1.0 if weight is None else weight[row]
            answer = ref.bayes_answer(np.mean(says, axis=0).tolist(), THREE.misclassification.tolist())
            paid, total = paid + w * THREE.misclassification[y[row], answer], total + w
    assert np.isnan(model.oob_proba_[~there]).all()
    assert model.oob_cost_ == pytest.approx(paid / total)


def test_cases_and_columns_are_drawn_evenly_or_by_weight() -> None:
    rng = np.random.default_rng(0)
    cases = Cases(np.zeros((8, 5)), np.zeros(8, dtype=np.int32), np.array([0]))
    weighted = cases.weighted(np.arange(1.0, 9.0))
    drawing = Drawing(8, n_columns=2)
    even = [Draw.make(drawing, cases, rng) for _ in range(2000)]
    assert chisquare(np.bincount(np.concatenate([d.rows for d in even]))).pvalue > 1e-4
    assert chisquare(np.bincount(np.concatenate([d.columns for d in even]))).pvalue > 1e-4
    by_weight = np.bincount(np.concatenate([Draw.make(drawing, weighted, rng).rows for _ in range(2000)]))
    assert chisquare(by_weight, 16000 * np.arange(1, 9) / 36).pvalue > 1e-4
    whole = Draw.make(Drawing(8, bootstrap=False), weighted, rng)
    assert whole.rows.tolist() == list(range(8))


@pytest.mark.parametrize("p", [True, False])
@pytest.mark.parametrize("q", [True, False])
def test_new_labels_are_those_of_the_twin(p: bool, q: bool) -> None:
    X, y = np.arange(30.0).reshape(-1, 1), np.arange(30) % 3
    Witness.seen.clear()
    model = MetaCostClassifier(
        THREE, estimator=Witness(), n_estimators=5, n_sub=60, p=p, q=q, random_state=1
    ).fit(X, y)
    *members, final = Witness.seen
    assert len(members) == 5 and all(len(member.rows_) == 60 for member in members)
    shown_to_all = set.intersection(*(set(member.rows_) for member in members))
    assert shown_to_all and len(shown_to_all) < 30  # both branches of q=False
    labels = ref.relabel(
        [member.rows_ for member in members],
        [member.predict_proba(X).tolist() for member in members],
        THREE.misclassification.tolist(),
        p=p,
        q=q,
    )
    assert model.y_relabelled_.tolist() == labels == final.y_.tolist()
    assert model.estimator_ is final


def test_a_learner_that_knows_the_truth_is_relabelled_by_the_bayes_rule() -> None:
    X, y = two_clouds(1500, 0.5, 0)
    model = MetaCostClassifier(DEAR, estimator=LogisticRegression(), random_state=0).fit(X, y)
    score = X @ [2, 1.5] / 1.25**2
    bayes = (score >= np.log(1 / 5)).astype(int)
    assert (model.y_relabelled_ == bayes).mean() > 0.96  # the specification saw 98 to 99 %
    cost = misclassification_cost(*_answers(model), DEAR)
    optimum = 0.5 * 5 * norm.cdf(-np.log(5) / 2 - 1) + 0.5 * norm.cdf(np.log(5) / 2 - 1)
    assert cost < optimum + 0.02


def _answers(model: Any) -> tuple[np.ndarray, np.ndarray]:
    X, y = two_clouds(20000, 0.5, 1)
    return y, model.predict(X)


def test_costs_by_case_are_averaged_over_leaves() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 3))
    y = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0.5)
    costs = rng.uniform(1, 9, (150, 3))
    costs[np.arange(150), y] = 0
    for learner in (DecisionTreeClassifier(max_depth=3), GreedyTreeClassifier(max_depth=3)):
        model = CostBaggingClassifier(
            estimator=learner, n_estimators=30, max_features=2, oob_cost=True, random_state=0
        ).fit(X, y, example_cost=costs)
        expected = np.zeros((150, 3))
        for member, columns, rows in zip(
            model.estimators_, model.estimators_features_, model.estimators_samples_, strict=True
        ):
            leaf = member.apply(X[:, columns])
            for node in np.unique(leaf):
                there = rows[leaf[rows] == node]
                expected[leaf == node] += (costs[there] if len(there) else costs[rows]).mean(axis=0) / 30
        np.testing.assert_allclose(model.expected_cost(X), expected, atol=1e-12)
        assert np.array_equal(model.predict(X), expected.argmin(axis=1))
        assert 0 < model.oob_cost_ < costs.mean()
    meta = MetaCostClassifier(random_state=0).fit(X, y, example_cost=costs)
    spent = costs[np.arange(150), meta.predict(X)].mean()
    assert spent < costs.mean(axis=0).min()
    for wrong in (
        CostBaggingClassifier(estimator=LogisticRegression()),
        MetaCostClassifier(estimator=LogisticRegression()),
    ):
        with pytest.raises(ValueError, match="example_cost wants trees"):
            wrong.fit(X, y, example_cost=costs)
    with pytest.raises(ValueError, match="goes with vote='soft'"):
        CostBaggingClassifier(vote="hard").fit(X, y, example_cost=costs)


def test_members_that_are_shown_one_class_only_are_sure_of_it() -> None:
    X, y = (np.arange(40.0) % 2).reshape(-1, 1), np.repeat(["rare", "usual"], [1, 39])
    model = CostBaggingClassifier(estimator=LogisticRegression(), n_estimators=20, random_state=0).fit(X, y)
    alone = [member.classes_.tolist() for member in model.estimators_].count(["usual"])
    assert 0 < alone < 20
    proba = model.predict_proba(X[:1])
    assert proba[0, 1] >= alone / 20
    by_case = CostBaggingClassifier(estimator=DecisionTreeClassifier(), n_estimators=20, random_state=0)
    by_case.fit(X, y, example_cost=np.column_stack([y == "usual", 50.0 * (y == "rare")]))
    assert by_case.predict(X[:1]).tolist() == ["rare"]
    relabelled = MetaCostClassifier(
        CostModel({("rare", "usual"): 1e15, ("usual", "rare"): 1}),
        estimator=LogisticRegression(),
        random_state=0,
    ).fit(X, y)
    assert set(relabelled.y_relabelled_) == {"rare"} == set(relabelled.predict(X))


def test_cases_that_all_members_were_shown_are_told() -> None:
    X, y = np.arange(6.0).reshape(-1, 1), [0, 1] * 3
    model = CostBaggingClassifier(n_estimators=2, bootstrap=False, oob_cost=True, random_state=0)
    with pytest.warns(UserWarning, match="6 cases were shown to all members"):
        model.fit(X, y)
    assert np.isnan(model.oob_cost_) and np.isnan(model.oob_proba_).all()


def test_random_subspaces_keep_prices_and_kinds() -> None:
    table = load_hepatitis()
    model = CostBaggingClassifier(table.costs, n_estimators=8, max_features=6, random_state=0)
    model.fit(table.data, table.target)
    whole = table.costs.bind(list(table.data.columns), model.classes_.tolist())
    for member, columns in zip(model.estimators_, model.estimators_features_, strict=True):
        assert list(member.feature_names_in_) == [table.data.columns[j] for j in columns]
        for k, j in enumerate(columns):
            mine = [(member.costs_.step_names[s], p) for s, p in member.costs_.newly_paid(k)]
            assert mine == [(whole.step_names[s], p) for s, p in whole.newly_paid(int(j))]


def test_prices_follow_columns_whatever_the_table_is() -> None:
    panel = {"panel": FeatureTest(3.0, needs=("draw",), columns=("x0", "x2")), "x3": 1.5}
    costs = CostModel(DEAR.misclassification, tests=panel, operations={"draw": 2.0})
    kept = np.array([1, 2, 3])
    part = costs_of_columns(costs, ["x0", "x1", "x2", "x3"], kept, ["x0", "x1", "x2"])
    bound = part.bind(["x0", "x1", "x2"], [0, 1])
    assert bound.test_names == ("", "panel", "x3")
    assert [bound.price(j) for j in range(3)] == [0.0, 5.0, 1.5]
    by_position = costs_of_columns(CostModel(tests=[1, 2, 3]), ["x0", "x1", "x2"], np.array([2]), ["x0"])
    assert by_position.bind(["x0"], [0, 1]).price(0) == 3
    X, y = two_clouds(80, 0.5, 0)
    X = np.column_stack([X, X[:, ::-1]])
    for table in (X, pd.DataFrame(X), pd.DataFrame(X, columns=["x0", "x1", "x2", "x3"])):
        with pytest.warns(UserWarning, match="no test price for 'x1'"):
            model = CostBaggingClassifier(costs, n_estimators=4, max_features=2, random_state=0).fit(table, y)
        prices = {0: 5.0, 1: 0.0, 2: 5.0, 3: 1.5}
        for member, columns in zip(model.estimators_, model.estimators_features_, strict=True):
            assert [member.costs_.price(k) for k in range(2)] == [prices[j] for j in columns]
    sparse = CostBaggingClassifier(
        estimator=LogisticRegression(), n_estimators=3, max_features=2, random_state=0
    )
    dense = clone(sparse).fit(X, y).predict_proba(X)
    np.testing.assert_allclose(sparse.fit(csr_matrix(X), y).predict_proba(csr_matrix(X)), dense, atol=1e-4)


def test_equally_cheap_answers_give_the_first() -> None:
    proba = np.array([[0.2, 0.3, 0.5], [0.5, 0.25, 0.25], [1 / 3, 1 / 3, 1 / 3], [0.1, 0.45, 0.45]])
    assert cheapest(proba @ (1 - np.eye(3))).tolist() == [2, 0, 0, 1]
    assert cheapest(np.zeros((2, 3))).tolist() == [0, 0]
    assert cheapest(-np.array([[0.1 + 0.2, 0.3]])).tolist() == [0]


def test_bagging_costs_less_than_one_tree() -> None:
    X, y = two_clouds(800, 0.5, 0)
    tree = GreedyTreeClassifier(DEAR).fit(X, y)
    model = CostBaggingClassifier(DEAR, n_estimators=80, oob_cost=True, random_state=0).fit(X, y)
    truth, answers = _answers(model)
    paid = misclassification_cost(truth, answers, DEAR)
    assert paid < misclassification_cost(*_answers(tree), DEAR)
    assert abs(model.oob_cost_ - paid) < 0.12  # three standard errors of 800 cases


def test_tests_are_paid_once_by_all_members() -> None:
    table = load_hepatitis()
    X = table.data
    for model in (
        CostBaggingClassifier(table.costs, n_estimators=5, max_features=8, random_state=0),
        MetaCostClassifier(table.costs, random_state=0),
        MinimumCostClassifier(table.costs),
        MultiSubsetClassifier(table.costs, random_state=0),
    ):
        model.fit(X, table.target)
        learners = getattr(model, "estimators_", None) or [model.estimator_]
        features = getattr(model, "estimators_features_", [np.arange(X.shape[1])] * len(learners))
        bound, paid = model.costs_, []
        for row in range(0, len(X), 9):
            steps: set[int] = set()
            total = 0.0
            for learner, columns in zip(learners, features, strict=True):
                for node in learner.decision_path(X.iloc[[row], columns]).indices:
                    tested = learner.tree_.feature[node]
                    for step, price in bound.newly_paid(int(columns[tested]), steps) if tested >= 0 else ():
                        steps.add(step)
                        total += price
            paid.append(total)
        np.testing.assert_allclose(model.test_cost(X)[::9], paid)
        free = CostModel(tests={name: 0.0 for name in X.columns})
        assert not model.test_cost(X, costs=free).any()
        assert total_cost(model, X, table.target) >= model.test_cost(X).mean()
    learner = make_pipeline(OneHotEncoder(), LogisticRegression())
    everything = ThresholdMovingClassifier(table.costs, estimator=learner).fit(X, table.target)
    whole, steps = 0.0, set()
    for j in range(X.shape[1]):
        for step, price in everything.costs_.newly_paid(j, steps):
            steps.add(step)
            whole += price
    np.testing.assert_allclose(everything.test_cost(X), whole)
    with pytest.raises(TypeError, match="wrap prices as CostModel"):
        everything.test_cost(X, costs=[1, 2])


@pytest.mark.parametrize("vote", ["soft", "hard"])
def test_members_are_asked_until_the_vote_is_decided(vote: str) -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(150, 6))
    y = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0.5)
    costs = CostModel(THREE.misclassification, tests=[0.05, 0.05, 0.01, 0.01, 0.01, 0.01])
    model = CostBaggingClassifier(costs, n_estimators=15, max_features=3, vote=vote, random_state=0).fit(X, y)
    for order in ("price", "weight"):
        partial = model.partial_vote(X, order=order)
        assert np.array_equal(partial.labels, model.predict(X))
        np.testing.assert_allclose(partial.full_test_cost, model.test_cost(X))
        assert (partial.test_cost <= partial.full_test_cost + 1e-9).all()
        assert partial.n_consulted.mean() < 14
    by_case = CostBaggingClassifier(n_estimators=3, random_state=0).fit(X, y, example_cost=np.ones((150, 3)))
    with pytest.raises(ValueError, match="costs by case are all asked"):
        by_case.partial_vote(X)


def test_constant_members_ask_no_tests() -> None:
    X, y = (np.arange(40.0) % 2).reshape(-1, 1), np.repeat([0, 1], [1, 39])
    costs = CostModel([[0, 1], [1, 0]], tests=[0.5], classes=[0, 1])
    model = CostBaggingClassifier(costs, estimator=LogisticRegression(), n_estimators=3, random_state=0)
    constant = model.fit(X[1:], y[1:])  # one class, three constant members
    assert constant.test_cost(X).tolist() == [0.0] * 40
    some = clone(model).set_params(n_estimators=20).fit(X, y)
    partial = some.partial_vote(X)
    np.testing.assert_allclose(partial.full_test_cost, some.test_cost(X))
    assert set(some.test_cost(X)) == {0.5}


def test_a_fit_that_failed_has_fitted_nothing() -> None:
    X, y = two_clouds(40, 0.5, 0)
    for model in (CostBaggingClassifier(estimator=LinearSVC()), RescalingClassifier(estimator=LinearSVC())):
        with pytest.raises(NotFittedError):
            model.predict(X)
    failing = MetaCostClassifier(estimator=LinearSVC())
    with pytest.raises(TypeError, match="no class probabilities"):
        failing.fit(X, y)
    with pytest.raises(NotFittedError):
        failing.predict(X)
