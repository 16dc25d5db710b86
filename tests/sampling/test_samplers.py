"""Samplers: sizes and shares as published, and tables that come back as they went in."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from scipy.stats import chisquare, norm
from sklearn.base import clone
from sklearn.ensemble import BaggingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV

from cstree import CostModel, GreedyTreeClassifier
from cstree.metrics import make_cost_scorer, misclassification_cost
from cstree.sampling import (
    CostOverSampler,
    CostProportionateSampler,
    CostUnderSampler,
    RebalanceSampler,
    deal_subsets,
)
from cstree.sampling.base import take
from cstree.sampling.sizes import target_sizes
from tests.reference import sampling as ref

FOUR_TO_ONE = CostModel.binary(false_positive=1, false_negative=4)
SAMPLERS = [
    CostOverSampler(FOUR_TO_ONE, random_state=1),
    CostOverSampler(FOUR_TO_ONE, replacement=False, random_state=1),
    CostUnderSampler(FOUR_TO_ONE, random_state=1),
    CostProportionateSampler(FOUR_TO_ONE, random_state=1),
    RebalanceSampler(FOUR_TO_ONE, random_state=1),
    RebalanceSampler(FOUR_TO_ONE, method="over", random_state=1),
]


def labels(n_negative: int, n_positive: int) -> np.ndarray:
    return np.random.default_rng(0).permutation([0] * n_negative + [1] * n_positive)


@given(
    st.lists(st.tuples(st.integers(1, 400), st.integers(1, 40)), min_size=2, max_size=5),
)
def test_sizes_are_those_of_zhou_and_liu(classes: list[tuple[int, int]]) -> None:
    counts, costs = np.array(classes).T
    over = target_sizes(counts, costs.astype(float), grow=True)
    under = target_sizes(counts, costs.astype(float), grow=False)
    assert over.tolist() == ref.over_sizes(counts.tolist(), costs.tolist())
    assert under.tolist() == [max(1, size) for size in ref.under_sizes(counts.tolist(), costs.tolist())]
    assert (over >= counts).all() and (under <= counts).all()


def test_published_sizes_on_a_table() -> None:
    y = np.repeat([0, 1, 2], [500, 300, 50])
    costs = CostModel([[0, 0.5, 0.5], [1.5, 0, 1.5], [5, 5, 0]])
    over = CostOverSampler(costs, target="class_cost", random_state=0).fit(np.zeros((850, 1)), y)
    assert over.sampling_strategy_ == {0: 500, 1: 1500, 2: 5000}
    under = CostUnderSampler(costs, target="class_cost", random_state=0).fit(np.zeros((850, 1)), y)
    assert under.sampling_strategy_ == {0: 5, 1: 15, 2: 50}


@pytest.mark.parametrize("sampler", SAMPLERS, ids=str)
def test_positives_get_the_share_of_their_costs(sampler: Any) -> None:
    """The share becomes ``pi C_P / (pi C_P + (1 - pi) C_N)``."""
    y = labels(17000, 3000)
    counts = clone(sampler).fit(np.zeros((len(y), 1)), y).sampling_strategy_
    share = counts[1] / (counts[0] + counts[1])
    wanted = 3000 * 4 / (3000 * 4 + 17000)
    tolerance = 0.02 if isinstance(sampler, CostProportionateSampler) else 1e-4
    assert abs(share - wanted) < tolerance


def test_rejection_keeps_each_case_by_its_cost() -> None:
    rng = np.random.default_rng(3)
    cost = rng.integers(1, 6, 20000)
    y = rng.integers(0, 3, 20000)
    sampler = CostProportionateSampler(random_state=4).fit(np.zeros((20000, 1)), y, example_cost=cost)
    np.testing.assert_allclose(sampler.keep_probability_, cost / 5)
    kept = np.bincount(cost[sampler.sample_indices_], minlength=6)[1:]
    there = np.bincount(cost, minlength=6)[1:]
    variance = there * (np.arange(1, 5 + 1) / 5) * (1 - np.arange(1, 5 + 1) / 5)
    expected = there * np.arange(1, 6) / 5
    assert kept[4] == there[4]
    assert ((kept - expected)[:4] ** 2 / variance[:4]).sum() < 23.5  # chi-square of 4, one in ten thousand


def test_costs_of_answers_and_of_cases_choose_alike() -> None:
    y = np.arange(300) % 3
    amount = np.random.default_rng(0).uniform(1, 9, 300)
    answers = np.where(np.arange(3) == y[:, None], 2.0, 2.0 + amount[:, None])
    X = np.zeros((300, 1))
    one = CostProportionateSampler(random_state=0).fit(X, y, example_cost=amount)
    other = CostProportionateSampler(random_state=0).fit(X, y, example_cost=answers)
    assert np.array_equal(one.sample_indices_, other.sample_indices_)
    by_class = CostProportionateSampler(CostModel([[0, 1, 1], [2, 0, 2], [3, 3, 0]]), random_state=0).fit(
        X, y
    )
    same = CostProportionateSampler(random_state=0).fit(X, y, example_cost=np.array([1, 2, 3])[y])
    assert np.array_equal(by_class.sample_indices_, same.sample_indices_)


def test_every_row_is_as_likely_as_every_other() -> None:
    rows, rng = np.arange(100, 110), np.random.default_rng(0)
    for size, replacement in ((4, False), (13, False), (17, True)):
        counts = sum(
            np.bincount(take(rows, size, rng, replacement=replacement) - 100, minlength=10)
            for _ in range(3000)
        )
        assert counts.sum() == 3000 * size
        assert chisquare(counts).pvalue > 1e-4
    assert np.bincount(take(rows, 25, rng) - 100).tolist().count(2) == 5
    assert len(set(take(rows, 10, rng))) == 10


@pytest.mark.parametrize(("prior", "bayes", "literal"), [(0.2, 0.2539, 0.3397), (0.05, 0.1182, 0.3695)])
def test_thresholds_are_right_and_proportions_wrong(prior: float, bayes: float, literal: float) -> None:
    """The specification measured .2551 and .3385, .1166 and .3720 on samples of these clouds."""
    y = labels(round(100000 * (1 - prior)), round(100000 * prior))
    X = np.zeros((len(y), 1))

    def cost(sampler: RebalanceSampler) -> float:
        counts = sampler.fit(X, y).sampling_strategy_
        odds = counts[1] / counts[0]  # the learner answers 1 where the likelihood ratio times these is over 1
        t = -math.log(odds)
        return prior * 4 * norm.cdf(t / 2 - 1) + (1 - prior) * norm.cdf(-t / 2 - 1)

    assert cost(RebalanceSampler(FOUR_TO_ONE, random_state=0)) == pytest.approx(bayes, abs=1e-4)
    assert cost(RebalanceSampler(FOUR_TO_ONE, method="over", random_state=0)) == pytest.approx(
        bayes, abs=1e-4
    )
    wrong = cost(RebalanceSampler(FOUR_TO_ONE, literal_slide=True, random_state=0))
    assert wrong == pytest.approx(literal, abs=1e-3)


def test_learners_with_thresholds_of_their_own() -> None:
    y = labels(900, 100)
    sampler = RebalanceSampler(FOUR_TO_ONE, base_threshold=0.3, random_state=0).fit(np.zeros((1000, 1)), y)
    assert sampler.class_weight_[0] == pytest.approx(0.25 * 0.7 / 0.3)
    assert sampler.sampling_strategy_ == {0: round(900 * 0.25 * 0.7 / 0.3), 1: 100}


def test_more_than_two_classes() -> None:
    costs = CostModel([[0, 1, 2], [3, 0, 6], [1, 1, 0]], classes=["a", "b", "c"])
    y = np.repeat(["a", "b", "c"], [60, 40, 100])
    X = np.zeros((200, 1))
    sizes = {
        method: RebalanceSampler(costs, method=method, random_state=0).fit(X, y).sampling_strategy_
        for method in ("auto", "under", "over")
    }
    assert sizes["auto"] == sizes["over"] == {"a": 120, "b": 240, "c": 100}
    assert sizes["under"] == {"a": 20, "b": 40, "c": 17}
    over = CostOverSampler(costs, random_state=0).fit(X, y)
    assert over.sampling_strategy_ == {"a": 120, "b": 240, "c": 100}
    with pytest.raises(ValueError, match="there are 3 classes, but base_threshold"):
        RebalanceSampler(costs, base_threshold=0.4).fit(X, y)


@pytest.mark.parametrize("sampler", SAMPLERS, ids=str)
def test_frames_come_back_as_frames(sampler: Any) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "number": rng.normal(size=60),
            "count": pd.array([None, *range(59)], dtype="Int64"),
            "word": pd.Categorical(rng.choice(["p", "q"], 60), categories=["q", "p", "never"]),
            "text": rng.choice(["some", "other"], 60),
            "when": pd.date_range("2020-01-01", periods=60),
        },
        index=[f"case {i}" for i in range(60)],
    )
    y = pd.Series(rng.choice(["bad", "good"], 60, p=[0.3, 0.7]), index=frame.index, name="verdict")
    sampler = clone(sampler).set_params(costs=CostModel({("bad", "good"): 4, ("good", "bad"): 1}))
    X_new, y_new = sampler.fit_resample(frame, y)
    rows = sampler.sample_indices_
    pd.testing.assert_frame_equal(X_new, frame.iloc[rows])
    pd.testing.assert_series_equal(y_new, y.iloc[rows])
    assert (np.diff(rows) >= 0).all()
    assert sampler.feature_names_in_.tolist() == list(frame.columns)
    again = pickle.loads(pickle.dumps(sampler)).fit_resample(frame, y)[0]
    pd.testing.assert_frame_equal(again, X_new)
    sparse, _ = clone(sampler).fit_resample(csr_matrix(frame[["number"]].to_numpy()), y)
    np.testing.assert_allclose(sparse.toarray(), frame[["number"]].to_numpy()[rows])


def test_a_lost_class_is_told() -> None:
    y = np.array([0] * 5 + [1] * 50)
    costs = CostModel.binary(false_positive=1, false_negative=1e6)
    with pytest.warns(UserWarning, match="no case of class 0 was kept"):
        CostProportionateSampler(costs, random_state=0).fit_resample(np.zeros((55, 1)), y)
    assert CostUnderSampler(costs, random_state=0).fit(np.zeros((55, 1)), y).sampling_strategy_[0] == 1


@pytest.mark.parametrize(
    ("sampler", "error", "message"),
    [
        (CostOverSampler([[0, 1], [1, 0]]), TypeError, "wrap a cost matrix as CostModel"),
        (CostOverSampler(target="more"), ValueError, "target is 'more'; choose one of 'cost_share'"),
        (RebalanceSampler(method="more"), ValueError, "method is 'more'; choose one of 'auto'"),
        (RebalanceSampler(base_threshold=1), ValueError, "base_threshold is 1.0"),
        (CostUnderSampler(CostModel(np.ones((3, 3)) - np.eye(3))), ValueError, "3 rows, but there are 2"),
        (CostUnderSampler(random_state="x"), ValueError, "random_state must be an integer"),
    ],
)
def test_settings_are_checked(sampler: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        sampler.fit_resample(np.zeros((4, 1)), [0, 0, 1, 1])


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        ([1, 2], "example_cost has shape"),
        ([1, 2, 3, np.nan], "example_cost of case 3 holds a number that is not finite"),
        ([1, 2, 3, -4], "wrong answer to case 3 is cheaper"),
        ([0, 0, 0, 0], "no mistake costs anything"),
        (["a", "b", "c", "d"], "not a number"),
    ],
)
def test_costs_of_cases_are_checked(costs: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        CostProportionateSampler().fit_resample(np.zeros((4, 1)), [0, 0, 1, 1], example_cost=costs)


@settings(max_examples=60)
@given(st.integers(1, 60), st.integers(1, 150), st.integers(1, 30), st.integers(0, 2**32 - 1))
def test_subsets_of_chan_and_stolfo(n_x: int, n_y: int, tenths: int, seed: int) -> None:
    odds = tenths / 10
    minority, majority = np.arange(n_x), np.arange(n_x, n_x + n_y)
    parts = deal_subsets(minority, majority, odds, np.random.default_rng(seed))
    k, size = ref.majority_parts(n_x, n_y, odds, 1.0)
    assert all(len(np.unique(part)) == len(part) for part in parts)
    if k <= 1:
        assert len(parts) == 1
        assert (parts[0] >= n_x).sum() == n_y
        assert abs((parts[0] < n_x).sum() - n_y * odds) <= 0.5 + (n_y * odds < 1)
        return
    assert len(parts) == max(1, round(k))
    for part in parts:
        assert (part < n_x).sum() == n_x
        assert (part >= n_x).sum() == min(max(round(size), 1), n_y)
    dealt = np.bincount(np.concatenate([part[part >= n_x] for part in parts]), minlength=n_x + n_y)[n_x:]
    in_each = min(max(round(size), 1), n_y)
    if in_each <= n_y // len(parts):
        assert dealt.max() == 1  # cut
    if in_each >= -(-n_y // len(parts)):
        assert dealt.min() >= 1  # filled up; both, where the identity k n x v / u = n y holds: a partition


def test_a_blind_learner_becomes_cost_sensitive() -> None:
    rng = np.random.default_rng(0)
    y = rng.random(8000) < 0.2
    X = rng.normal(size=(8000, 2)) + np.where(y, 1.0, -1.0)[:, None] * [0.8, 0.6]
    costs = CostModel.binary(false_positive=1, false_negative=10)

    def paid(model: Any) -> float:
        return misclassification_cost(y[4000:], model.predict(X[4000:]), costs)

    blind = paid(LogisticRegression().fit(X[:4000], y[:4000]))
    t = math.log(0.8 / 0.2 / 10)
    optimum = 0.2 * 10 * norm.cdf(t / 2 - 1) + 0.8 * norm.cdf(-t / 2 - 1)
    for sampler in SAMPLERS:
        sampled = clone(sampler).set_params(costs=costs).fit_resample(X[:4000], y[:4000])
        assert paid(LogisticRegression().fit(*sampled)) < min(0.6 * blind, optimum + 0.06)


def test_samplers_in_pipelines_of_imbalanced_learn() -> None:
    pipeline = pytest.importorskip("imblearn.pipeline", reason="imbalanced-learn is not installed")
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(300, 3)), columns=["a", "b", "c"])
    y = np.where(X["a"] + rng.normal(scale=0.5, size=300) > 1, "ill", "well")
    costs = CostModel({("ill", "well"): 8, ("well", "ill"): 1})
    steps = pipeline.make_pipeline(CostOverSampler(costs, random_state=0), GreedyTreeClassifier(max_depth=3))
    grid = GridSearchCV(
        steps,
        {
            "costoversampler": [
                CostOverSampler(costs, random_state=0),
                RebalanceSampler(costs, random_state=0),
            ]
        },
        scoring=make_cost_scorer(costs),
        cv=3,
    )
    grid.fit(X, y)
    assert len(grid.predict(X)) == 300
    amount = rng.uniform(1, 9, 300)
    by_case = pipeline.make_pipeline(CostProportionateSampler(random_state=0), GreedyTreeClassifier())
    by_case.fit(X, y, costproportionatesampler__example_cost=amount)
    kept = by_case[0].sample_indices_
    assert np.array_equal(by_case[1].predict(X), GreedyTreeClassifier().fit(X.iloc[kept], y[kept]).predict(X))
    committee = BaggingClassifier(
        # scikit-learn's committees hand on numbers of classes instead of labels
        pipeline.make_pipeline(CostProportionateSampler(CostModel([[0, 8], [1, 0]])), GreedyTreeClassifier()),
        n_estimators=5,
        random_state=0,
    )
    committee.fit(X.to_numpy(), y)
    assert misclassification_cost(y, committee.predict(X.to_numpy()), costs) < 0.5


def test_data_made_with_the_samplers_own_seed() -> None:
    """The numbers that decided on the classes must not decide on the cases, too."""
    positive = np.random.default_rng(0).random(4000) < 0.2
    costs = CostModel.binary(false_positive=1, false_negative=10)
    kept = (
        CostProportionateSampler(costs, random_state=0).fit(np.zeros((4000, 1)), positive).sampling_strategy_
    )
    assert kept[True] == positive.sum()
    assert abs(kept[False] - 320) < 70


def test_costs_by_case_are_read_by_label_and_labels_may_be_categories() -> None:
    y = pd.Series(["b", "a", "b", "a"] * 50, dtype="category")
    amount = np.random.default_rng(0).uniform(1, 9, 200)
    answers = pd.DataFrame({"b": np.where(y == "b", 0, amount), "a": np.where(y == "a", 0, amount)})
    by_label = CostProportionateSampler(random_state=0).fit(np.zeros((200, 1)), y, example_cost=answers)
    by_case = CostProportionateSampler(random_state=0)
    X_kept, y_kept = by_case.fit_resample(np.zeros((200, 1)), y, example_cost=amount)
    assert np.array_equal(by_label.sample_indices_, by_case.sample_indices_)
    assert y_kept.dtype == y.dtype and len(X_kept) == len(y_kept)
