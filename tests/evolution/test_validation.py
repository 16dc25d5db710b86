"""Trees chosen by what such choices cost on held-out cases."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold, RepeatedKFold

from cstree import CostModel, ParetoTreeClassifier
from cstree.datasets import load_heart, load_hepatitis
from cstree.evolution.folds import RawTable
from cstree.evolution.progress import History
from cstree.evolution.validation import PRIOR_CASES, Selection
from cstree.metrics import make_cost_scorer, misclassification_cost
from cstree.persistence import load_model, save_model
from cstree.tree.caution import cautious_cost
from cstree.tree.search import Progress
from tests import reference as ref
from tests.handmade import clinic, encode
from tests.reference import evaluation as twin

HEPATITIS = load_hepatitis()
COSTS = ["misclassification_cost", "test_cost", "total_cost"]


def small(costs: CostModel | None = HEPATITIS.costs, **options: Any) -> ParetoTreeClassifier:
    """Complete fronts of a few milliseconds."""
    limits = {"search": "exact", "max_depth": 2, "max_bins": 4, "min_support": 3, "random_state": 0}
    return ParetoTreeClassifier(costs, **(limits | options))


def fitted(**options: Any) -> ParetoTreeClassifier:
    return small(**options).fit(HEPATITIS.data, HEPATITIS.target)


# --- folds ------------------------------------------------------------------------------------------


@settings(max_examples=25)
@given(
    st.lists(st.integers(0, 3), min_size=6, max_size=60),
    st.one_of(st.integers(2, 6), st.floats(0.2, 0.8)),
    st.integers(0, 9),
)
def test_folds_share_out_every_class(labels: list[int], validation: Any, seed: int) -> None:
    X, y = pd.DataFrame({"x": np.arange(len(labels)) * 1.0}), np.array([f"class {k}" for k in labels])
    dataset, _, _ = encode(X, y, CostModel())
    table = RawTable.of(X, y, None, dataset, 255)
    folds = table.folds(validation, np.random.default_rng(seed))
    assert len(folds) == (validation if isinstance(validation, int) else 1)
    for train, held in folds:
        assert sorted([*train, *held]) == list(range(len(y)))
        for label in set(labels):
            share = 1 / validation if isinstance(validation, int) else validation
            wanted = share * labels.count(label)
            assert abs(np.count_nonzero(np.array(labels)[held] == label) - wanted) < 1 + 1e-9
    if isinstance(validation, int):
        assert sorted(np.concatenate([held for _, held in folds])) == list(range(len(y)))


# --- caution ----------------------------------------------------------------------------------------


def test_caution_is_that_of_the_plain_formula() -> None:
    heart = load_heart()
    weight = np.random.default_rng(0).choice([0.5, 2.0], len(heart.target))
    for extra in ({}, {"sample_weight": weight}):
        model = small(heart.costs).fit(heart.data, heart.target, **extra)
        for i, tree in enumerate(model.front_):
            assert cautious_cost(tree, 0) == pytest.approx(model.front_.objectives[i, 0], abs=1e-9)
            for prior in (0.5, 8, 1e9):
                assert cautious_cost(tree, prior) == pytest.approx(twin.cautious_cost(tree, prior), rel=1e-12)


def test_caution_does_not_ask_for_the_unit_of_weights_and_leads_to_the_single_leaf() -> None:
    X, y = HEPATITIS.data, HEPATITIS.target
    light = small(prior_cases=8).fit(X, y, sample_weight=np.full(len(y), 1e-3))
    assert light.tree_.same_as(small(prior_cases=8).fit(X, y, sample_weight=np.full(len(y), 1e-3)).tree_)
    assert light.selected_ == fitted(prior_cases=8).selected_
    assert fitted(prior_cases=1e12).tree_.n_leaves == 1
    plain = fitted()
    assert plain.choose("total_cost", prior_cases=1e12).tree_.n_leaves == 1
    assert plain.choose("total_cost").selected_ == plain.selected_


# --- validation -------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", ["total_cost", {"max_test_cost": 2.0}])
def test_held_out_costs_are_those_of_fitting_each_fold_by_hand(rule: Any) -> None:
    X, y = HEPATITIS.data, np.asarray(HEPATITIS.target)
    weight = np.random.default_rng(1).choice([0.5, 1.0, 3.0], len(y))
    splitter = KFold(3, shuffle=True, random_state=3)
    model = small(select=rule, validation=splitter).fit(X, y, sample_weight=weight)
    table = model.validation_
    assert table["prior_cases"].tolist() == list(PRIOR_CASES)
    wanted = []  # what the rule wants least, case by case
    for row in table.itertuples():
        paid, weights = [], []
        for train, held in splitter.split(X, y):
            own = small(select=rule, prior_cases=row.prior_cases)
            own.fit(X.iloc[train], y[train], sample_weight=weight[train])
            rows = ref.plain_rows(X.iloc[held], own.schema_)
            truth = np.searchsorted(own.classes_, y[held]).tolist()
            tree, costs = ref.plain_tree(own.tree_), ref.plain_costs(own.costs_)
            for case, label in zip(rows, truth, strict=True):
                answer = ref.predict(tree, [case])[0]
                paid.append((costs.matrix[label][answer], ref.case_test_cost(tree, case, costs)))  # type: ignore[index]
            weights.extend(weight[held])
        values, w = np.column_stack([paid, np.sum(paid, axis=1)]), np.array(weights)
        means = w @ values / w.sum()
        n = len(w)
        errors = np.sqrt(n / (n - 1) * (w**2 @ (values - means) ** 2)) / w.sum()
        assert [getattr(row, name) for name in COSTS] == pytest.approx(means.tolist())
        assert [getattr(row, f"{name}_se") for name in COSTS] == pytest.approx(errors.tolist())
        wanted.append(values[:, 2 if rule == "total_cost" else 0])
    least = int(np.argmin([w @ each for each in wanted]))
    more = np.array(wanted) - wanted[least]
    means = more @ w / w.sum()
    errors = np.sqrt(n / (n - 1) * ((more - means[:, None]) ** 2 @ w**2)) / w.sum()
    assert table["selected"].tolist().index(True) == np.flatnonzero(means <= errors + 1e-12).max()
    assert table["selected"].sum() == 1
    assert table.loc[table["selected"], "prior_cases"].item() == model.prior_cases_


def test_the_front_is_that_of_the_same_search_without_validation() -> None:
    heart = load_heart()
    options: dict[str, Any] = {"generations": 5, "seeds": None, "random_state": 3}
    plain = ParetoTreeClassifier(heart.costs, **options).fit(heart.data, heart.target)
    tried = ParetoTreeClassifier(heart.costs, validation=2, **options).fit(heart.data, heart.target)
    assert np.array_equal(plain.front_.objectives, tried.front_.objectives)
    assert not hasattr(plain, "validation_")
    assert plain.history_["evaluations"].iloc[-1] == tried.history_["evaluations"].iloc[-1]
    again = clone(tried).fit(heart.data, heart.target)
    pd.testing.assert_frame_equal(again.validation_, tried.validation_)
    assert again.selected_ == tried.selected_
    kept = pickle.loads(pickle.dumps(tried))
    pd.testing.assert_frame_equal(kept.validation_, tried.validation_)


def test_one_candidate_is_only_measured() -> None:
    model = fitted(validation=3, prior_cases=0)
    assert model.selected_ == fitted().selected_
    assert len(model.validation_) == 1
    assert model.prior_cases_ == 0


@pytest.mark.parametrize(("rate", "column"), [(1e9, 1), (0.0, 0)])
def test_an_extreme_rate_asks_for_an_end_of_the_front(rate: float, column: int) -> None:
    model = fitted(select={"exchange_rate": rate}, validation=3, standard_errors=0, prior_cases=[0, 1e-9])
    points = model.front_.objectives
    assert points[model.selected_, column] == points[:, column].min()
    found = model.validation_
    wanted = found["misclassification_cost"] + rate * found["test_cost"]
    assert found["weighted_cost"].tolist() == pytest.approx(wanted.tolist())


def test_the_order_of_cases_does_not_matter() -> None:
    X, y = HEPATITIS.data, np.asarray(HEPATITIS.target)
    folds = list(KFold(3).split(X))
    order = np.random.default_rng(0).permutation(len(y))
    place = np.argsort(order)
    moved = [(place[train], place[held]) for train, held in folds]
    first = small(validation=folds).fit(X, y)
    second = small(validation=moved).fit(X.iloc[order], y[order])
    pd.testing.assert_frame_equal(first.validation_, second.validation_)
    assert first.selected_ == second.selected_


def test_cases_of_weight_0_are_as_if_they_were_not_there() -> None:
    X, y = HEPATITIS.data, np.asarray(HEPATITIS.target)
    weight = (np.arange(len(y)) % 5 > 0).astype(float)
    kept = weight > 0
    for validation in (3, 0.4):
        with_them = small(validation=validation).fit(X, y, sample_weight=weight)
        without = small(validation=validation).fit(X[kept], y[kept])
        pd.testing.assert_frame_equal(with_them.validation_, without.validation_)
    splitter = small(validation=KFold(3)).fit(X, y, sample_weight=weight)
    by_hand = [
        (
            np.flatnonzero(np.isin(np.flatnonzero(kept), train)),
            np.flatnonzero(np.isin(np.flatnonzero(kept), held)),
        )
        for train, held in KFold(3).split(X)
    ]
    pd.testing.assert_frame_equal(
        splitter.validation_, small(validation=by_hand).fit(X[kept], y[kept]).validation_
    )


def test_costs_by_case_reach_the_folds() -> None:
    X, y = HEPATITIS.data, np.asarray(HEPATITIS.target)
    plain = small(validation=3).fit(X, y)
    matrix = plain.costs_.matrix
    rows = matrix[np.searchsorted(plain.classes_, y)]
    same = small(validation=3).fit(X, y, example_cost=rows)
    pd.testing.assert_frame_equal(same.validation_, plain.validation_)
    double = small(validation=3, prior_cases=0).fit(X, y, example_cost=rows * 1000)
    assert (
        double.validation_["misclassification_cost"].min() > plain.validation_["misclassification_cost"].max()
    )


def test_repeating_the_folds_does_not_feign_more_cases() -> None:
    once = fitted(validation=KFold(3, shuffle=True, random_state=0))
    often = fitted(validation=RepeatedKFold(n_splits=3, n_repeats=4, random_state=0))
    assert often.validation_["total_cost_se"].to_numpy() == pytest.approx(
        once.validation_["total_cost_se"].to_numpy(), rel=0.25
    )


def test_the_most_cautious_of_equal_candidates_chooses() -> None:
    least = fitted(validation=5, standard_errors=0).validation_
    lenient = fitted(validation=5, standard_errors=1e6).validation_
    assert lenient["selected"].tolist() == [False, False, False, True]
    best = least["total_cost"].min()
    chosen = least.index[least["selected"]].item()
    assert least["total_cost"][chosen] == pytest.approx(best)
    assert (least["total_cost"][chosen + 1 :] > best).all()


def test_several_depths_are_searched_as_if_alone() -> None:
    model = fitted(max_depth=[1, 3, 2], validation=4)
    alone = fitted(max_depth=model.max_depth_)
    assert np.array_equal(model.front_.objectives, alone.front_.objectives)
    assert model.tree_ is model.front_[model.selected_]
    assert model.tree_.depth <= model.max_depth_
    bold = fitted(max_depth=[1, 2, 3])
    assert (
        bold.front_.objectives[bold.selected_].sum()
        == fitted(max_depth=3).front_.objectives.sum(axis=1).min()
    )
    heart = load_heart()
    options: dict[str, Any] = {"generations": 4, "seeds": None, "random_state": 7, "prior_cases": 4}
    several = ParetoTreeClassifier(heart.costs, max_depth=range(1, 4), **options).fit(
        heart.data, heart.target
    )
    depth = several.max_depth_
    one = ParetoTreeClassifier(heart.costs, max_depth=depth, **options).fit(heart.data, heart.target)
    assert np.array_equal(several.front_.objectives, one.front_.objectives)


def test_one_caution_and_several_depths_compare_the_depths() -> None:
    X, y = HEPATITIS.data, np.asarray(HEPATITIS.target)
    folds = list(KFold(4, shuffle=True, random_state=2).split(X))
    options: dict[str, Any] = {"validation": folds, "prior_cases": 0, "min_support": 1}
    model = fitted(max_depth=[2, 3, 1], standard_errors=0, **options)
    table = model.validation_
    assert table["max_depth"].tolist() == [3, 2, 1]
    for depth, cost in zip(table["max_depth"], table["total_cost"], strict=True):
        held = [small(max_depth=depth, min_support=1).fit(X.iloc[a], y[a]) for a, _ in folds]
        answers = np.concatenate([own.predict(X.iloc[b]) for own, (_, b) in zip(held, folds, strict=True)])
        tests = np.concatenate([own.test_cost(X.iloc[b]) for own, (_, b) in zip(held, folds, strict=True)])
        truth = np.concatenate([y[b] for _, b in folds])
        assert cost == pytest.approx(misclassification_cost(truth, answers, HEPATITIS.costs) + tests.mean())
    assert table["total_cost"][table["selected"]].item() == table["total_cost"].min()
    assert table.loc[table["selected"], "max_depth"].item() == model.max_depth_
    assert model.tree_.same_as(fitted(max_depth=model.max_depth_, min_support=1).tree_)
    assert fitted(max_depth=[1, 2, 3], standard_errors=1e6, **options).max_depth_ == 1


def test_other_rules_and_objectives_can_be_validated() -> None:
    for rule in ("knee", lambda front: len(front) - 1):
        assert len(fitted(select=rule, validation=3).validation_) == len(PRIOR_CASES)
    heart = load_heart()
    names = ("misclassification_cost", "test_cost", "n_leaves")
    model = ParetoTreeClassifier(
        heart.costs, objectives=names, generations=5, seeds=None, validation=2, random_state=0
    ).fit(heart.data, heart.target)
    assert model.tree_.n_leaves == model.front_.objectives[model.selected_, 2]


def test_a_standard_is_held_where_it_was_not_trained() -> None:
    model = fitted(select={"max_misclassification_cost": 4.6}, validation=5)
    chosen = model.validation_[model.validation_["selected"]]
    assert chosen["misclassification_cost"].item() <= 4.6
    strict = small(select={"max_misclassification_cost": 3.0}, validation=5)
    fitted(select={"max_misclassification_cost": 3.0})  # training cases promise it
    with pytest.raises(
        ValueError, match="on held-out cases no choice has a misclassification_cost of at most 3"
    ):
        strict.fit(HEPATITIS.data, HEPATITIS.target)
    assert len(strict.choose("total_cost").predict(HEPATITIS.data)) == len(HEPATITIS.target)


def test_classes_with_few_members() -> None:
    X, y, costs = clinic(60, seed=4)
    y = y.astype(object)
    y[[3, 30]] = "rare"
    three = CostModel(
        {("ill", "well"): 90.0, ("well", "ill"): 60.0, ("rare", "ill"): 500.0, ("rare", "well"): 500.0}
        | {("ill", "rare"): 400.0, ("well", "rare"): 400.0},
        tests=costs.tests,
        operations={"blood draw": 2.1},
    )
    model = small(three, validation=5, max_depth=1).fit(X, y)
    assert model.classes_.tolist() == ["ill", "rare", "well"]
    # Where neither stands in the training part, both are held out, and are priced all the same.
    pair = [(np.setdiff1d(np.arange(60), [3, 30, 31]), np.array([3, 30, 31]))]
    found = small(three, validation=pair, max_depth=1).fit(X, y).validation_
    assert found["misclassification_cost"].min() >= 500 * 2 / 3
    with pytest.raises(ValueError, match="wants at least 9 cases; n_samples=8"):
        small(three, validation=9).fit(X[:8], y[:8])


def test_ctrl_c_between_folds_keeps_what_was_found() -> None:
    reports: list[Progress] = []

    def stop(progress: Progress) -> None:
        reports.append(progress)
        if progress.evaluations < reports[0].evaluations or len(reports) > 3 + searches:
            raise KeyboardInterrupt

    searches = 0
    heart = load_heart()
    model = ParetoTreeClassifier(
        heart.costs, generations=8, seeds=None, validation=3, random_state=0, callback=stop
    )
    plain = clone(model).set_params(callback=None, validation=None).fit(heart.data, heart.target)
    searches = len(plain.history_)
    with pytest.raises(KeyboardInterrupt):
        model.fit(heart.data, heart.target)
    assert len(model.front_) > 0
    assert model.selected_ == model.front_.select("total_cost")
    assert not hasattr(model, "validation_")


def test_a_checkpoint_keeps_the_search_of_all_cases(tmp_path: Any) -> None:
    heart = load_heart()
    options: dict[str, Any] = {"generations": 6, "seeds": None, "validation": 2, "random_state": 0}
    path = tmp_path / "search.npz"
    first = ParetoTreeClassifier(heart.costs, checkpoint=path, **options).fit(heart.data, heart.target)
    resumed = ParetoTreeClassifier(heart.costs, checkpoint=path, **options).fit(heart.data, heart.target)
    plain = ParetoTreeClassifier(heart.costs, **options).fit(heart.data, heart.target)
    for other in (resumed, plain):
        assert np.array_equal(first.front_.objectives, other.front_.objectives)
        pd.testing.assert_frame_equal(first.validation_, other.validation_)


def test_grid_searches_and_files_take_it(tmp_path: Any) -> None:
    heart = load_heart()
    scorer = make_cost_scorer(heart.costs)
    grid = GridSearchCV(small(heart.costs), {"max_depth": [1, 2]}, scoring=scorer, cv=3)
    assert grid.fit(heart.data, heart.target).best_params_["max_depth"] in (1, 2)
    grid = GridSearchCV(small(heart.costs), {"validation": [None, 3]}, scoring=scorer, cv=2)
    assert np.isfinite(grid.fit(heart.data, heart.target).best_score_)
    model = fitted(validation=3, max_depth=(1, 2))
    save_model(model, tmp_path / "model.json")
    again = load_model(tmp_path / "model.json")
    assert again.get_params()["validation"] == 3
    assert again.selected_ == model.selected_


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"validation": 1}, "validation"),
        ({"validation": 0.0}, "validation"),
        ({"validation": 1.5}, "validation"),
        ({"validation": True}, "validation"),
        ({"validation": "five"}, "validation"),
        ({"validation": object()}, "validation"),
        ({"validation": []}, "the splitter gives no folds"),
        ({"validation": [(np.arange(20), np.array([], int))]}, "none to judge"),
        ({"validation": 0.001}, "would hold out 0"),
        ({"prior_cases": -1}, "prior_cases"),
        ({"prior_cases": [0, 1]}, "give validation too"),
        ({"prior_cases": "many", "validation": 3}, "prior_cases"),
        ({"prior_cases": [], "validation": 3}, "prior_cases"),
        ({"standard_errors": -1, "validation": 3}, "standard_errors"),
        ({"max_depth": []}, "max_depth is an empty sequence"),
        ({"max_depth": [1, 2], "checkpoint": "x.npz"}, "checkpoint"),
        ({"max_depth": [1, "two"]}, "max_depth"),
    ],
)
def test_bad_parameters_are_named(options: dict[str, Any], named: str) -> None:
    X = np.random.default_rng(0).normal(size=(30, 2))
    with pytest.raises((ValueError, TypeError), match=named):
        small(None, **options).fit(X, np.arange(30) % 2)


def test_no_candidate_means_the_error_of_the_rule() -> None:
    rule = Selection({"max_misclassification_cost": -1}, COSTS[:2], compared=True)
    with pytest.raises(ValueError, match="no point of the front has a misclassification_cost of at most -1"):
        rule.compare([fitted().front_], [], fitted().costs_, 1)


# --- history ----------------------------------------------------------------------------------------


def test_history_is_what_was_reported() -> None:
    reports: list[Progress] = []
    heart = load_heart()
    model = ParetoTreeClassifier(
        heart.costs, generations=30, seeds=None, random_state=0, callback=reports.append
    )
    history = model.fit(heart.data, heart.target).history_
    assert list(history) == ["generation", "evaluations", "seconds", "front_size", "hypervolume"]
    assert history["generation"].tolist() == [report.generation for report in reports]
    assert history["front_size"].iloc[-1] == len(model.front_)
    assert history["hypervolume"].is_monotonic_increasing
    assert len(fitted().history_) >= 1


@settings(max_examples=30)
@given(st.integers(1, 400), st.integers(2, 20))
def test_a_long_history_is_thinned_out(n: int, most: int) -> None:
    history = History(most)
    for i in range(n):
        history(Progress(i, i * i, 1, 0.5, i / 7, None))
    seen = history.to_frame()["generation"].tolist()
    assert len(seen) <= most + 1
    assert seen[0] == 0
    assert seen[-1] == n - 1
    steps = np.diff(seen)[:-1]
    assert len(set(steps.tolist())) <= 1
    if n <= most:
        assert seen == list(range(n))


def test_a_search_without_reports_has_an_empty_history() -> None:
    class Silent:
        """Reports nothing."""

        def run(self, problem: Any, rng: Any, callback: Any) -> Any:
            from cstree.exact.search import ExactSearch

            return ExactSearch().run(problem)

    model = small(search=Silent(), max_leaf_nodes=4).fit(HEPATITIS.data, HEPATITIS.target)
    assert len(model.history_) == 0
    assert "hypervolume" in model.history_
