from __future__ import annotations

import numpy as np
import pytest

from cstree.costs.bound import BoundCosts
from cstree.datasets import load_heart, load_hepatitis
from cstree.encoding.columns import Columns
from cstree.encoding.dataset import Dataset
from cstree.encoding.schema import FeatureSchema
from cstree.greedy.classifier import GreedyTreeClassifier
from cstree.greedy.grower import grow
from cstree.tree.evaluation import evaluate
from cstree.tree.pruning import prune_by_cost
from experiments.truncation import Shapes


def encoded(bunch: object) -> tuple[Dataset, BoundCosts]:
    schema = FeatureSchema.infer(Columns(bunch.data))
    y = bunch.target.map(bunch.target_names.index).to_numpy().astype(np.int32)
    dataset = Dataset(schema, schema.encode(Columns(bunch.data)), y, 2)
    return dataset, bunch.costs.bind(list(bunch.data.columns), bunch.target_names)


@pytest.mark.parametrize("load", [load_heart, load_hepatitis])
@pytest.mark.parametrize("criterion", ["gain", "eg2", "cost", "secsdt_mc"])
def test_a_deep_tree_cut_off_is_the_tree_of_that_depth(load, criterion):
    dataset, costs = encoded(load("high"))
    train, valid = (
        dataset.take(np.arange(0, dataset.n_samples, 2)),
        dataset.take(np.arange(1, dataset.n_samples, 2)),
    )
    shapes = [(depth, pruning) for depth in (0, 1, 2, 3, 5, 12) for pruning in ("none", "cost")]
    outcomes = Shapes(grow(train, costs, criterion, max_depth=12), costs).evaluate(valid, shapes)
    for (depth, pruning), outcome in zip(shapes, outcomes, strict=True):
        tree = grow(train, costs, criterion, max_depth=depth)
        if pruning == "cost":
            tree = prune_by_cost(tree, train, costs)
        expected = evaluate(tree, valid, costs)
        assert outcome.n_leaves == tree.n_leaves
        assert outcome.misclassification_cost == pytest.approx(expected.misclassification_cost)
        assert outcome.test_cost == pytest.approx(expected.test_cost)


def test_total_pruning_is_that_of_the_classifier_at_strength_zero():
    bunch = load_heart("high")
    dataset, costs = encoded(bunch)
    for depth in (2, 4, 8):
        model = GreedyTreeClassifier(bunch.costs, criterion="gain", max_depth=depth, pruning=0.0)
        expected = evaluate(model.fit(bunch.data, bunch.target).tree_, dataset, costs)
        tree = grow(dataset, costs, "gain", max_depth=12)
        outcome = Shapes(tree, costs).evaluate(dataset, [(depth, "total")])[0]
        assert outcome.total_cost == pytest.approx(expected.total_cost)
        assert outcome.n_leaves == model.tree_.n_leaves
        assert outcome.total_cost < Shapes(tree, costs).evaluate(dataset, [(depth, "none")])[0].total_cost


def test_accuracy_counts_right_answers():
    dataset, costs = encoded(load_heart())
    leaf = Shapes(grow(dataset, costs, "gain", max_depth=0), costs).evaluate(dataset, [(0, "none")])[0]
    answer = costs.matrix[dataset.y].sum(axis=0).argmin()
    assert leaf.accuracy == pytest.approx((dataset.y == answer).mean())
    assert leaf.n_leaves == 1 and leaf.test_cost == 0
