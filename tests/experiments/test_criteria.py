from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from cstree.costs.model import CostModel
from cstree.encoding.columns import Columns
from cstree.encoding.dataset import Dataset
from cstree.encoding.schema import FeatureSchema
from cstree.greedy.alpha import heuristic_alpha
from cstree.greedy.candidates import Candidates
from cstree.greedy.criteria import SecsdtMc
from cstree.greedy.grower import candidates_at, grow
from experiments.criteria import (
    HarmonicSecsdtMc,
    PayingSecsdtMc,
    UnstoppedSecsdtMc,
    harmonic_cost,
    split_measure,
)


def problem(seed: int, n_classes: int, *, by_case: bool = False, prices: float = 0.3):
    rng = np.random.default_rng(seed)
    n = 60
    frame = pd.DataFrame(
        {"a": rng.integers(0, 6, n).astype(float), "b": rng.normal(size=n), "c": rng.choice(list("xyz"), n)}
    )
    y = (
        ((frame["a"] + 2 * (frame["c"] == "x") + rng.integers(0, 2, n)) % n_classes)
        .astype(np.int32)
        .to_numpy()
    )
    matrix = rng.integers(1, 20, (n_classes, n_classes)).astype(float)
    np.fill_diagonal(matrix, 0)
    schema = FeatureSchema.infer(Columns(frame))
    example = matrix[y] * rng.uniform(0.5, 2, (n, 1)) if by_case else None
    dataset = Dataset(schema, schema.encode(Columns(frame)), y, n_classes, None, example)
    costs = CostModel(matrix, tests={"a": prices, "b": 2 * prices, "c": 3 * prices})
    return dataset, costs.bind(list("abc"), list(range(n_classes)))


def harmonic(L: np.ndarray) -> float:
    """The formula in the order of its words: P in proportion to 1 / L, then the sum of P L."""
    if (L == 0).any():
        return 0.0
    share = (1 / L) / (1 / L).sum()
    return float((share * L).sum())


def test_harmonic_cost_by_hand():
    assert harmonic_cost(np.array([[2.0, 2.0, 2.0], [1.0, 2.0, 4.0], [0.0, 5.0, 5.0], [0.0, 0.0, 0.0]])) == (
        pytest.approx([2.0, 12 / 7, 0.0, 0.0])
    )


@pytest.mark.parametrize("by_case", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_split_measure_is_the_sum_over_branches(n_classes, by_case):
    dataset, costs = problem(1, n_classes, by_case=by_case)
    candidates = candidates_at(dataset, costs)
    expected = [sum(map(harmonic, candidates.branches(i)[1])) for i in range(len(candidates))]
    assert split_measure(candidates, harmonic_cost) == pytest.approx(expected, abs=1e-8)


def test_two_classes_have_one_reading_of_equation_9():
    for seed in range(10):
        dataset, costs = problem(seed, 2)
        assert grow(dataset, costs, HarmonicSecsdtMc()).same_as(grow(dataset, costs, "secsdt_mc"))


@pytest.mark.parametrize("prices", [0.0, 0.3, 3.0])
def test_scores_of_one_node_are_equation_4(prices):
    grown = 0
    for seed in range(10):
        dataset, costs = problem(seed, 4, prices=prices)
        c: Candidates = candidates_at(dataset, costs)
        before = harmonic(c.regret[0])
        split = np.array([sum(map(harmonic, c.branches(i)[1])) for i in range(len(c))])
        reduction = before - split - c.node_weight[0] * c.price
        gain = c.gain / c.n_branches
        alpha = float(heuristic_alpha(c.regret)[0])
        score = alpha * gain / gain.max()
        if reduction.max() > 1e-12 * before:
            score = score + (1 - alpha) * reduction / reduction.max()
        scores = HarmonicSecsdtMc()(c)
        if reduction[int(score.argmax())] > 1e-12 * before:
            assert scores == pytest.approx(score, abs=1e-8)
            grown += 1
        else:
            assert np.isneginf(scores).all()
    assert grown < 10 if prices == 3.0 else grown > 0


def test_many_nodes_are_scored_as_one_by_one():
    for seed in range(5):
        dataset, costs = problem(seed, 4)
        single = HarmonicSecsdtMc()
        single.many_nodes = False
        assert grow(dataset, costs, HarmonicSecsdtMc()).same_as(grow(dataset, costs, single))


def test_unstopped_goes_on_where_tests_do_not_pay():
    dataset, costs = problem(0, 3, prices=50.0)
    assert grow(dataset, costs, "secsdt_mc").n_leaves == 1
    assert grow(dataset, costs, UnstoppedSecsdtMc()).n_leaves > 10


def test_paying_takes_the_best_split_that_pays():
    differ = 0
    costs = CostModel([[0, 6], [7, 0]], tests={"good": 2.5, "fair": 0.1}).bind(["good", "fair"], [0, 1])
    for seed in range(20):
        rng = np.random.default_rng(seed)
        y = rng.integers(0, 2, 80).astype(np.int32)
        frame = pd.DataFrame({"good": y + rng.normal(0, 0.5, 80), "fair": y + rng.normal(0, 0.8, 80)})
        schema = FeatureSchema.infer(Columns(frame))
        dataset = Dataset(schema, schema.encode(Columns(frame)), y, 2)
        c = candidates_at(dataset, costs)
        score = SecsdtMc()(c)
        pays = c.cost_reduction > 1e-12 * c.expected_cost[0]
        tree = grow(dataset, costs, PayingSecsdtMc(), max_depth=1)
        assert (tree.n_leaves > 1) == pays.any()
        if pays.any():
            best = int(np.flatnonzero(pays)[score[pays].argmax()])
            assert tree.feature[0] == c.feature[best]
        if pays[score.argmax()]:
            assert tree.same_as(grow(dataset, costs, "secsdt_mc", max_depth=1))
        elif pays.any():
            assert grow(dataset, costs, "secsdt_mc", max_depth=1).n_leaves == 1
            differ += 1
    assert differ > 5
