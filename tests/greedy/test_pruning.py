"""Pruning while the statistics of growth are at hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from cstree.greedy.criteria import make_criterion
from cstree.greedy.grower import Limits, grow, grow_nodes
from cstree.greedy.nodes import Nodes
from cstree.greedy.pruning import check_pruning, hold_out, prune_grown, prune_held_out
from cstree.tree.evaluation import evaluate, path_costs, relabel
from cstree.tree.pruning import prune_by_cost
from cstree.tree.tree import Tree
from tests import reference as ref
from tests.greedy.problems import Encoded, encode
from tests.strategies import random_costs, random_table


def grown(problem: Encoded, split: str, criterion: str = "gain") -> Nodes:
    return grow_nodes(
        problem.dataset,
        problem.costs,
        make_criterion(criterion, problem.dataset.schema.names),
        Limits(),
        split,
    )


@pytest.mark.parametrize("split", ["multiway", "subset"])
def test_pruning_by_cost_is_that_of_finished_trees(split):
    rng = np.random.default_rng(1)
    pruned = 0
    for number in range(120):
        table = random_table(rng, n_rows=(2, 80))
        problem = encode(table, random_costs(rng, table), [None, 4][number % 2])
        nodes = grown(problem, split)
        before = nodes.to_tree(problem.dataset)
        prune_grown(nodes, problem.dataset, problem.costs)
        mine = nodes.to_tree(problem.dataset)
        wanted = prune_by_cost(before, problem.dataset, problem.costs)
        assert ref.plain_tree(mine) == ref.plain_tree(wanted)
        for name in ("size", "support", "answer", "missing_branch", "table_start", "branch_of_category"):
            np.testing.assert_array_equal(getattr(mine, name), getattr(wanted, name))
        np.testing.assert_allclose(mine.label_cost, wanted.label_cost)
        pruned += mine.n_nodes < before.n_nodes
    assert pruned > 20


def best_total(tree: Tree, costs: Any, per_leaf: float) -> float:
    """Least total cost plus ``per_leaf`` for each leaf over all ways to cut the tree back, by recursion."""
    above = path_costs(tree, costs)
    weight = tree.class_weight.sum(axis=1)

    def best(node: int) -> float:
        leaf = float(tree.label_cost[node].min() + weight[node] * above[node]) + per_leaf
        if tree.feature[node] < 0:
            return leaf
        return min(leaf, sum(best(child) for child in tree.children(node)))

    return best(0)


@pytest.mark.parametrize("strength", [0.0, 0.01, 0.1, 1.0])
def test_a_strength_finds_the_cheapest_way_to_cut_the_tree_back(strength):
    rng = np.random.default_rng(2)
    for _ in range(60):
        table = random_table(rng, n_rows=(2, 80))
        problem = encode(table, random_costs(rng, table))
        nodes = grown(problem, "multiway")
        full = nodes.to_tree(problem.dataset)
        prune_grown(nodes, problem.dataset, problem.costs, strength)
        tree = nodes.to_tree(problem.dataset)
        total = problem.dataset.total_weight
        per_leaf = strength * total
        reached = evaluate(tree, problem.dataset, problem.costs).total_cost * total + per_leaf * tree.n_leaves
        assert reached == pytest.approx(best_total(full, problem.costs, per_leaf), abs=1e-9)


def test_more_strength_means_fewer_leaves():
    rng = np.random.default_rng(3)
    table = random_table(
        rng, n_rows=(150, 150), n_features=(3, 3), n_classes=(2, 2), categorical=False, example_costs=False
    )
    y = [int(sum(v for v in row if v == v) + rng.normal() > 1.5) for row in table.rows]
    costs = ref.describe_costs([[0, 5], [8, 0]], 3, [(1 / 8, {}, [0])], {})
    problem = encode(replace(table, y=y), costs)
    leaves = []
    for strength in (0.0, 0.01, 0.05, 0.2, 100.0):
        nodes = grown(problem, "multiway")
        prune_grown(nodes, problem.dataset, problem.costs, strength)
        leaves.append(nodes.to_tree(problem.dataset).n_leaves)
    assert leaves == sorted(leaves, reverse=True)
    assert leaves[0] > leaves[-1] == 1


def test_a_third_of_each_class_is_held_out():
    rng = np.random.default_rng(4)
    table = random_table(rng, n_rows=(90, 90), n_classes=(3, 3), weighted=False)
    dataset = encode(table, random_costs(rng, table)).dataset
    kept, drawn = hold_out(dataset, np.random.default_rng(0))
    assert sorted([*kept, *drawn]) == list(range(90))
    for label in range(3):
        assert (dataset.y[drawn] == label).sum() == (dataset.y == label).sum() // 3
    again = hold_out(dataset, np.random.default_rng(0))[1]
    assert drawn.tolist() == again.tolist()
    assert drawn.tolist() != hold_out(dataset, np.random.default_rng(1))[1].tolist()


def test_held_out_cases_judge_by_total_cost():
    rng = np.random.default_rng(5)
    smaller = 0
    for _ in range(60):
        table = random_table(rng, n_rows=(20, 90))
        problem = encode(table, random_costs(rng, table))
        kept, drawn = hold_out(problem.dataset, rng)
        growing, judging = problem.dataset.take(kept), problem.dataset.take(drawn)
        full = grow(growing, problem.costs, "gain")
        nodes = grow_nodes(growing, problem.costs, make_criterion("gain", growing.schema.names), Limits())
        tree = prune_held_out(nodes, growing, judging, problem.costs)
        smaller += tree.n_nodes < full.n_nodes
        if judging.n_samples == 0:
            assert tree.n_nodes == 1
            continue
        # No way to cut the full tree back, its answers kept, is cheaper on the held-out cases.
        seen = relabel(full, judging, problem.costs)
        above = path_costs(full, problem.costs)
        weight = seen.class_weight.sum(axis=1)

        def best(node: int, full=full, seen=seen, above=above, weight=weight) -> float:
            leaf = float(seen.label_cost[node, full.answer[node]] + weight[node] * above[node])
            if full.feature[node] < 0:
                return leaf
            return min(leaf, sum(best(child) for child in full.children(node)))

        reached = evaluate(tree, judging, problem.costs).total_cost * judging.total_weight
        assert reached == pytest.approx(best(0), abs=1e-9)
    assert smaller > 20


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        (None, "none"),
        ("none", "none"),
        ("cost", "cost"),
        ("support+cost", "support+cost"),
        (0, 0.0),
        (2.5, 2.5),
    ],
)
def test_prunings(given, meant):
    assert check_pruning(given) == meant
    assert type(check_pruning(given)) is type(meant)


@pytest.mark.parametrize("wrong", ["costs", -0.1, True, float("inf"), float("nan"), ["cost"]])
def test_wrong_prunings_are_named(wrong):
    with pytest.raises(ValueError, match="pruning must be one of 'cost', 'support'"):
        check_pruning(wrong)
