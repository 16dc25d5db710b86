"""The Pareto classifier as its users meet it."""

from __future__ import annotations

import copy
import pickle
import signal
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_validate

from cstree import CostModel, ParetoTreeClassifier
from cstree.datasets import load_bupa, load_heart, load_hepatitis, load_pima
from cstree.evolution import seeds as seed_room
from cstree.evolution.nnia import NNIA, Progress
from cstree.exact.search import ExactSearch
from tests import reference as ref

LOADERS = [load_heart, load_hepatitis, load_pima, load_bupa]


def quick(costs: CostModel | None = None, **options: Any) -> ParetoTreeClassifier:
    """A classifier that searches for a moment."""
    return ParetoTreeClassifier(costs, **{"generations": 30, "random_state": 0, **options})


@pytest.mark.parametrize("load", LOADERS)
def test_every_tree_costs_what_the_front_says(load: Any) -> None:
    bunch = load()
    model = quick(bunch.costs).fit(bunch.data, bunch.target)
    rows = ref.plain_rows(bunch.data, model.schema_)
    y = np.searchsorted(model.classes_, np.asarray(bunch.target)).tolist()
    for index in range(len(model.front_)):
        found = ref.evaluate(model.front_[index], rows, y, ref.plain_costs(model.costs_))
        assert [found.f1, found.f2] == pytest.approx(list(model.front_.objectives[index]), abs=1e-9)


def test_predictions_and_test_costs_are_those_of_the_tree() -> None:
    heart = load_heart()
    model = quick(heart.costs).fit(heart.data, heart.target)
    tree = ref.plain_tree(model.tree_)
    rows = ref.plain_rows(heart.data, model.schema_)
    assert model.predict(heart.data).tolist() == model.classes_[ref.predict(tree, rows)].tolist()
    costs = ref.plain_costs(model.costs_)
    paid = [ref.case_test_cost(tree, row, costs) for row in rows]
    assert model.test_cost(heart.data) == pytest.approx(paid)
    assert model.test_cost(heart.data).mean() == pytest.approx(model.front_.objectives[model.selected_, 1])
    assert model.predict_proba(heart.data).sum(axis=1) == pytest.approx(1.0)


def test_same_seed_same_front_and_clones_are_alike() -> None:
    heart = load_heart()
    first = quick(heart.costs).fit(heart.data, heart.target)
    second = clone(first).fit(heart.data, heart.target)
    assert np.array_equal(first.front_.objectives, second.front_.objectives)
    assert all(a.same_as(b) for a, b in zip(first.front_, second.front_, strict=True))
    different = quick(heart.costs, random_state=1).fit(heart.data, heart.target)
    assert not np.array_equal(first.front_.objectives, different.front_.objectives)


def test_choose_gives_a_classifier_of_its_own() -> None:
    heart = load_heart()
    model = quick(heart.costs).fit(heart.data, heart.target)
    before = model.predict(heart.data)
    cheap = model.choose({"max_test_cost": 5.0})
    assert cheap.front_.objectives[cheap.selected_, 1] <= 5.0
    assert cheap.test_cost(heart.data).mean() <= 5.0
    last = model.choose(-1)
    assert last.tree_ is model.front_[len(model.front_) - 1]
    assert np.array_equal(model.predict(heart.data), before)
    with pytest.raises(IndexError):
        model.choose(10_000)


def test_multiclass_strings_missing_values_weights_and_case_costs() -> None:
    rng = np.random.default_rng(0)
    n = 300
    X = pd.DataFrame(
        {
            "size": rng.normal(size=n),
            "colour": pd.Categorical(rng.choice(["red", "green", "blue"], n)),
            "name": rng.choice(list("abcdefghij"), n),
            "flag": rng.random(n) < 0.5,
            "count": pd.array(rng.integers(0, 9, n), dtype="Int64"),
        }
    )
    X.loc[rng.random(n) < 0.1, "size"] = np.nan
    X.loc[rng.random(n) < 0.1, "colour"] = None
    X.loc[rng.random(n) < 0.1, "count"] = pd.NA
    y = np.where(X["size"].fillna(0) > 0.5, "big", np.where(X["flag"], "flat", "odd"))
    example_cost = rng.random((n, 3)) + 1.0
    example_cost[np.arange(n), np.searchsorted(["big", "flat", "odd"], y)] = 0.0
    costs = CostModel(tests=dict.fromkeys(X.columns, 0.1))
    for extra in ({}, {"sample_weight": rng.random(n)}, {"example_cost": example_cost}):
        model = quick(costs, generations=60).fit(X, y, **extra)
        assert model.classes_.tolist() == ["big", "flat", "odd"]
        assert (model.predict(X) == y).mean() > 0.8
        assert len(model.front_) > 1
    unseen = X.copy()
    unseen["name"] = "never seen"
    assert set(model.predict(unseen)) <= set(y)


def test_it_works_in_grid_searches() -> None:
    heart = load_heart()
    search = GridSearchCV(quick(heart.costs, generations=5), {"max_depth": [1, 3]}, cv=2)
    search.fit(heart.data, heart.target)
    assert search.best_params_["max_depth"] in (1, 3)
    found = cross_validate(quick(heart.costs, generations=5), heart.data, heart.target, cv=2)
    assert len(found["test_score"]) == 2


def test_pickles_and_copies() -> None:
    heart = load_heart()
    model = quick(heart.costs).fit(heart.data, heart.target)
    for again in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert np.array_equal(again.predict(heart.data), model.predict(heart.data))
        assert again.front_.select("knee") == model.front_.select("knee")


def test_ctrl_c_leaves_a_fitted_model() -> None:
    heart = load_heart()

    def stop(progress: Progress) -> None:
        if progress.generation > 0:
            signal.raise_signal(signal.SIGINT)

    model = quick(heart.costs, generations=None, patience=None, time_budget=60.0, callback=stop)
    with pytest.raises(KeyboardInterrupt):
        model.fit(heart.data, heart.target)
    assert len(model.front_) > 0
    assert len(model.predict(heart.data)) == len(heart.data)


def test_a_search_object_and_trees_as_seeds() -> None:
    heart = load_heart()
    own = quick(heart.costs, search=NNIA(generations=3)).fit(heart.data, heart.target)
    assert own.front_.info["generations"] == 3
    earlier = quick(heart.costs, generations=40).fit(heart.data, heart.target).front_
    warm = quick(heart.costs, generations=0, seeds=earlier.trees).fit(heart.data, heart.target).front_
    assert warm.hypervolume((100.0, 600.0)) >= earlier.hypervolume((100.0, 600.0)) - 1e-9


def test_free_tests_and_one_class() -> None:
    X = np.random.default_rng(0).normal(size=(50, 3))
    y = (X[:, 0] > 0).astype(int)
    free = quick().fit(X, y)
    assert len(free.front_) == 1
    assert free.score(X, y) == 1.0
    lonely = quick().fit(X, np.zeros(50, int))
    assert lonely.tree_.n_nodes == 1
    assert set(lonely.predict(X)) == {0}
    flat = quick().fit(np.ones((50, 2)), y)
    assert flat.tree_.n_nodes == 1
    assert quick(max_depth=0).fit(X, y).tree_.n_nodes == 1


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"search": "tabu"}, "tabu"),
        ({"search": 3}, "search"),
        ({"select": "cheapest"}, "cheapest"),
        ({"max_depth": -1}, "max_depth"),
        ({"max_depth": 2.5}, "max_depth"),
        ({"min_support": "few"}, "min_support"),
        ({"max_leaf_nodes": -3}, "max_leaf_nodes"),
        ({"max_bins": 1}, "max_bins"),
        ({"objectives": ("test_cost", "weight")}, "weight"),
        ({"mutations": ["grow"]}, "grow"),
        ({"seeds": "random"}, "seeds"),
        ({"random_state": "now"}, "random_state"),
        ({"costs": [[0, 1], [1, 0]]}, "CostModel"),
    ],
)
def test_bad_parameters_are_named(options: dict[str, Any], named: str) -> None:
    X = np.random.default_rng(0).normal(size=(30, 2))
    y = np.arange(30) % 2
    with pytest.raises((ValueError, TypeError), match=named):
        ParetoTreeClassifier(**{"generations": 2, **options}).fit(X, y)


def test_verbose_shows_a_bar(capfd: pytest.CaptureFixture[str]) -> None:
    heart = load_heart()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        quick(heart.costs, verbose=1).fit(heart.data, heart.target)
    shown = capfd.readouterr().err
    assert "front=" in shown
    assert "hypervolume=" in shown


def test_the_exact_front_is_complete_and_no_evolved_tree_beats_it() -> None:
    heart = load_heart()
    limits: dict[str, Any] = {"max_depth": 2, "max_bins": 4, "min_support": 5}
    exact = quick(heart.costs, search="exact", **limits).fit(heart.data, heart.target)
    assert exact.front_.complete
    evolved = quick(heart.costs, **limits).fit(heart.data, heart.target)
    for point in evolved.front_.objectives:
        assert ((exact.front_.objectives <= point + 1e-9).all(axis=1)).any()
    reference = (100.0, 600.0)
    assert evolved.front_.hypervolume(reference) <= exact.front_.hypervolume(reference) + 1e-6
    with pytest.raises(ValueError, match="objectives"):
        quick(search="exact", objectives=("misclassification_cost", "n_leaves")).fit(heart.data, heart.target)


def test_a_rule_that_no_tree_meets_does_not_lose_the_search() -> None:
    heart = load_heart()
    model = quick(heart.costs, select={"max_misclassification_cost": -1.0})
    with pytest.raises(ValueError, match="raise max_misclassification_cost"):
        model.fit(heart.data, heart.target)
    assert len(model.choose("knee").predict(heart.data)) == len(heart.data)


def test_a_rule_that_no_tree_meets_does_not_hide_an_interruption() -> None:
    heart = load_heart()

    def stop(progress: Progress) -> None:
        raise KeyboardInterrupt

    model = quick(heart.costs, select={"max_misclassification_cost": -1.0}, callback=stop)
    with pytest.raises(KeyboardInterrupt):
        model.fit(heart.data, heart.target)
    assert len(model.choose("knee").predict(heart.data)) == len(heart.data)


@pytest.mark.parametrize("search", ["nnia", "nsga2"])
def test_no_case_pays_more_than_the_bound(search: str) -> None:
    heart = load_heart()
    model = quick(heart.costs, search=search, max_test_cost=10.0).fit(heart.data, heart.target)
    for i in range(len(model.front_)):
        assert model.choose(i).test_cost(heart.data).max() <= 10.0 + 1e-9
    free = quick(heart.costs, search=search).fit(heart.data, heart.target)
    assert free.test_cost(heart.data).max() > 10.0 or free.front_[0].depth > 0


def test_a_search_begins_with_the_complete_front_where_that_takes_a_moment() -> None:
    heart = load_heart()
    options: dict[str, Any] = {"max_depth": 4, "max_bins": 4, "min_support": 1}
    small = ParetoTreeClassifier(heart.costs, search="exact", **options).fit(heart.data, heart.target)
    seeded = quick(heart.costs, generations=0, **options).fit(heart.data, heart.target)
    for point in small.front_.objectives:  # begun from, so on the front or beaten
        assert (seeded.front_.objectives <= point + 1e-9).all(axis=1).any()


def test_exact_seeds_are_left_out_where_they_would_take_long(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 2)), rng.integers(0, 2, 400)
    monkeypatch.setattr(ExactSearch, "run", pytest.fail)
    monkeypatch.setattr(seed_room, "_MOST_PAIR_WORDS", 1e6)
    quick(max_bins=None, generations=2).fit(X, y)
    many = np.array([f"c{k}" for k in range(12)], dtype=object)[rng.integers(0, 12, 400)]
    quick(generations=2).fit(pd.DataFrame({"many": many}), y)
