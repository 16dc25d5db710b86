from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

from cstree.costs.model import CostModel
from cstree.encoding.columns import Columns
from cstree.encoding.dataset import Dataset
from cstree.encoding.schema import FeatureSchema
from cstree.tree.evaluation import path_costs, training_leaves
from experiments.sklearn_trees import class_weights, grow_cart, one_hot

COSTS = CostModel([[0, 3, 5], [20, 0, 4], [9, 8, 0]], tests={"a": 1.0, "b": 2.0, "c": 4.0, "d": 8.0})


def table(seed: int, n: int = 120) -> tuple[Dataset, Dataset]:
    """Numbers and categories, both with missing values, in a part that trains and one that does not."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "a": rng.integers(0, 9, n).astype(float),
            "b": rng.normal(size=n),
            "c": rng.choice(["x", "y", "z", "w"], n),
            "d": rng.choice(["p", "q"], n),
        }
    )
    y = (frame["a"] > 4).to_numpy() + 2 * (frame["c"] == "x").to_numpy() + (rng.random(n) < 0.2)
    frame.loc[rng.random(n) < 0.2, "a"] = np.nan
    frame.loc[rng.random(n) < 0.2, "c"] = None
    y = (np.where(frame["a"].isna(), 2, y) % 3).astype(np.int32)
    schema = FeatureSchema.infer(Columns(frame[:80]))

    def part(rows: slice) -> Dataset:
        return Dataset(schema, schema.encode(Columns(frame[rows])), y[rows], 3)

    return part(slice(0, 80)), part(slice(80, n))


@pytest.mark.parametrize("seed", range(20))
def test_answers_are_those_of_scikit_learn(seed):
    train, test = table(seed)
    costs = COSTS.bind(list("abcd"), [0, 1, 2])
    tree = grow_cart(train, costs, answers="majority", max_depth=6, random_state=seed)
    X, _ = one_hot(train)
    model = DecisionTreeClassifier(max_depth=6, random_state=seed).fit(X, train.y)
    assert tree.n_leaves == model.get_n_leaves() and tree.depth == model.get_depth()
    for cases in (train, test):
        answers = tree.answer[training_leaves(tree, cases)]
        assert np.array_equal(answers, model.predict(one_hot(cases)[0]))


def test_a_split_of_known_from_missing_values_occurs_and_is_kept():
    schema = FeatureSchema.infer(Columns(pd.DataFrame({"a": [1.0, 2.0, 3.0, np.nan, np.nan, np.nan]})))
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0, np.nan, np.nan, np.nan]})
    dataset = Dataset(schema, schema.encode(Columns(frame)), np.array([0, 0, 0, 1, 1, 1], dtype=np.int32), 2)
    costs = CostModel().bind(["a"], [0, 1])
    tree = grow_cart(dataset, costs, answers="majority", max_depth=1)
    assert tree.answer[training_leaves(tree, dataset)].tolist() == [0, 0, 0, 1, 1, 1]


def test_one_hot_columns_of_a_feature_are_one_test():
    train, _ = table(3)
    costs = COSTS.bind(list("abcd"), [0, 1, 2])
    tree = grow_cart(train, costs, answers="majority", max_depth=8)
    prices = {0: 1.0, 1: 2.0, 2: 4.0, 3: 8.0}
    repeated = False
    for leaf in tree.leaves():
        tested = [int(tree.feature[node]) for node, _ in tree.path(int(leaf))]
        repeated |= tested.count(2) > 1
        assert path_costs(tree, costs)[leaf] == pytest.approx(sum(prices[j] for j in set(tested)))
    assert repeated


def test_what_leaves_answer():
    train, _ = table(5)
    costs = COSTS.bind(list("abcd"), [0, 1, 2])
    blind = grow_cart(train, costs, answers="majority", max_depth=2)
    cheap = grow_cart(train, costs, answers="least cost", max_depth=2)
    assert np.array_equal(blind.answer, blind.class_weight.argmax(axis=1))
    assert np.array_equal(cheap.answer, (blind.class_weight @ costs.matrix).argmin(axis=1))
    weight = class_weights(train, costs)
    assert weight[train.y].mean() == pytest.approx(1)
    assert (weight / weight[0]).tolist() == pytest.approx([1, 3, 17 / 8])
    weighted = grow_cart(train, costs, answers="weighted", max_depth=2)
    assert np.array_equal(weighted.answer, (weighted.class_weight * weight).argmax(axis=1))
