from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from cstree.datasets import load_heart, load_hepatitis
from cstree.encoding.dataset import Dataset
from cstree.greedy.classifier import GreedyTreeClassifier
from cstree.greedy.grower import grow
from cstree.tree.evaluation import evaluate
from cstree.tree.pruning import prune_by_cost
from experiments.cell import make_fold, run_method
from experiments.cli import ROOT
from experiments.folds import fold_numbers, generator
from experiments.study import Method, Settings
from experiments.tables import load_table

SETTINGS = Settings(7, 5, 3, (0, 1, 2, 4), ("cost", "none"), "high", None)
LOADERS = {"heart": load_heart, "hepatitis": load_hepatitis}
METHODS = [Method("cost", criterion="cost"), Method("gain", criterion="gain"), Method("half", alpha=0.5)]


def table(name: str):
    return load_table(name, ROOT / "studies" / "greedy_sets.toml", "high", ROOT)


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
@pytest.mark.parametrize("name", LOADERS)
def test_a_cell_is_what_the_classifier_says_of_the_same_cases(name, method):
    """The last step of a cell, from raw tables and public names only."""
    bunch = LOADERS[name]("high")
    used = table(name)
    outer = fold_numbers(used.y, 5, generator(7, name, 1))
    for number in range(5):
        cell = run_method(method, make_fold(used, SETTINGS, 1, number), SETTINGS)
        test = outer == number
        model = GreedyTreeClassifier(
            bunch.costs,
            criterion=method.criterion,
            alpha=method.alpha,
            max_depth=cell["depth"],
            pruning=cell["pruning"],
            too_dear="stop",
        ).fit(bunch.data[~test], bunch.target[~test])
        X, truth = bunch.data[test], bunch.target[test].to_numpy()
        answers = model.predict(X)
        index = bunch.target_names.index
        paid = [
            bunch.costs.misclassification[index(t), index(p)] for t, p in zip(truth, answers, strict=True)
        ]
        assert cell["misclassification"] == pytest.approx(np.mean(paid), abs=1e-5)
        assert cell["test_cost"] == pytest.approx(model.test_cost(X).mean(), abs=1e-5)
        assert cell["accuracy"] == pytest.approx((answers == truth).mean(), abs=1e-5)
        assert cell["leaves"] == model.tree_.n_leaves


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_depth_and_pruning_are_the_cheapest_of_the_inner_folds(method):
    fold = make_fold(table("heart"), SETTINGS, 0, 2)
    totals = {}
    for depth in SETTINGS.depths:
        for pruning in SETTINGS.prunings:
            total = 0.0
            for train, valid in fold.inner:
                tree = grow(train, fold.costs, method.criterion, alpha=method.alpha, max_depth=depth)
                if pruning == "cost":
                    tree = prune_by_cost(tree, train, fold.costs)
                total += evaluate(tree, valid, fold.costs).total_cost * valid.n_samples
            totals[depth, pruning] = total
    cell = run_method(method, fold, SETTINGS)
    least = min(totals.values())
    first = next(shape for shape, total in totals.items() if total <= least * (1 + 1e-12))
    assert (cell["depth"], cell["pruning"]) == first


def rows_of(dataset: Dataset) -> list[tuple]:
    return sorted(map(tuple, np.vstack([dataset.codes, dataset.y]).T.tolist()))


def test_inner_folds_divide_the_training_part():
    fold = make_fold(table("hepatitis"), SETTINGS, 0, 0)
    assert fold.train.n_samples + fold.test.n_samples == 155
    assert sum(valid.n_samples for _, valid in fold.inner) == fold.train.n_samples
    for train, valid in fold.inner:
        assert sorted(rows_of(train) + rows_of(valid)) == rows_of(fold.train)


def test_large_training_parts_are_sampled_and_test_parts_are_not():
    settings = dataclasses.replace(SETTINGS, max_train=100)
    whole, sampled = (make_fold(table("heart"), s, 0, 0) for s in (SETTINGS, settings))
    assert sampled.train.n_samples == 100
    assert sampled.test.y.tolist() == whole.test.y.tolist()
    assert np.bincount(sampled.train.y).tolist() == [54, 46]
