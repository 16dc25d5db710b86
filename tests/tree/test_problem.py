"""The bit sets of a search against the slow twins, case by case."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cstree.costs.bound import BoundCosts
from cstree.encoding import Dataset, FeatureSchema
from cstree.tree.evaluation import evaluate, path_costs, training_leaves
from cstree.tree.problem import TreeProblem
from cstree.tree.pruning import prune_by_cost, prune_by_support
from cstree.tree.tree import Tree
from tests import reference as ref
from tests.problems import random_preorder, random_problem, to_problem
from tests.strategies import PlainTable, random_table, random_tree

SEEDS = range(120)


@pytest.mark.parametrize("seed", SEEDS)
def test_pruning_and_objectives_agree_with_the_twins(seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem, plain = random_problem(rng)
    test, mask = random_preorder(problem, rng)
    tree = ref.plain_tree(problem.skeleton(test, mask))
    rows = ref.plain_rows(plain.frame, problem.dataset.schema)
    cases = (rows, plain.y, ref.plain_costs(problem.costs))
    extra = (plain.weights, plain.example_cost)

    _, _, unpruned = problem.prune_and_evaluate(test, mask, prune=False)
    expected = ref.evaluate(ref.answered(tree, *cases, *extra), *cases, *extra)
    assert unpruned == pytest.approx([expected.f1, expected.f2], abs=1e-9)

    new_test, new_mask, pruned = problem.prune_and_evaluate(test, mask)
    twin = ref.prune(tree, *cases, problem.min_support, *extra)
    wanted = ref.evaluate(twin, *cases, *extra)
    assert pruned == pytest.approx([wanted.f1, wanted.f2], abs=1e-9)
    assert len(new_test) == ref.n_nodes(twin)

    kept = problem.tree(new_test, new_mask)
    again = evaluate(kept, problem.dataset, problem.costs)
    assert [*again] == pytest.approx(list(pruned), abs=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
def test_general_pruning_agrees_with_the_twins_on_multiway_trees(seed: int) -> None:
    rng = np.random.default_rng(1000 + seed)
    table = random_table(rng)
    problem, plain = to_problem(table, rng)
    schema = problem.dataset.schema
    cases = (ref.plain_rows(plain.frame, schema), plain.y, ref.plain_costs(problem.costs))
    extra = (plain.weights, plain.example_cost)
    shape = random_tree(rng, schema_table(table, schema, cases[0]))
    n_categories = [feature.n_bins if feature.kind == "categorical" else 0 for feature in schema]
    if not all(can_split(node, schema) for node in ref.preorder(shape)):
        return
    tree = Tree(**ref.flat_tree(shape, *cases, n_categories, *extra))
    minimum = int(rng.integers(1, 5))
    by_support = prune_by_support(tree, problem.dataset, problem.costs, minimum)
    assert ref.plain_tree(by_support) == ref.support_prune(tree, *cases, minimum, *extra)
    by_cost = prune_by_cost(tree, problem.dataset, problem.costs)
    assert ref.plain_tree(by_cost) == ref.cost_prune(tree, *cases, *extra)


def can_split(node: Any, schema: FeatureSchema) -> bool:
    """Whether a plain node is a leaf or a split that the schema knows: a cut of its own, two branches."""
    if isinstance(node, ref.PlainLeaf):
        return True
    return node.n_branches > 1 and (node.kind != "numeric" or node.cut in schema[node.feature].cuts)


def schema_table(table: PlainTable, schema: FeatureSchema, rows: list[Any]) -> PlainTable:
    """The table in the codes of the schema, which leaves out categories that no case has."""
    n_categories = [feature.n_bins if feature.kind == "categorical" else 0 for feature in schema]
    return replace(table, rows=rows, n_categories=n_categories)


@given(st.integers(0, 2**32 - 1))
def test_cost_pruning_raises_neither_objective(seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem, _ = random_problem(rng)
    test, mask = random_preorder(problem, rng)
    tree = problem.tree(test, mask)
    before = evaluate(tree, problem.dataset, problem.costs)
    after = evaluate(prune_by_cost(tree, problem.dataset, problem.costs), problem.dataset, problem.costs)
    assert after.misclassification_cost <= before.misclassification_cost + 1e-9
    assert after.test_cost <= before.test_cost + 1e-9


@given(st.integers(0, 2**32 - 1))
def test_trees_survive_encoding_and_decoding(seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem, _ = random_problem(rng, categories=(2, 9))
    problem = replace(problem, min_support=1)
    test, mask, _ = problem.prune_and_evaluate(*random_preorder(problem, rng))
    tree = problem.tree(test, mask)
    found = problem.encode_tree(tree)
    assert found is not None
    again = problem.tree(*found)
    # Branches may have changed places, so leaves may bear other numbers; the cases stay together.
    before, after = (training_leaves(each, problem.dataset) for each in (tree, again))
    pairs = {*zip(before.tolist(), after.tolist(), strict=True)}
    assert len(pairs) == len(set(before)) == len(set(after))
    assert [*evaluate(tree, problem.dataset, problem.costs)] == pytest.approx(
        [*evaluate(again, problem.dataset, problem.costs)], abs=1e-9
    )


def test_many_categories_share_the_last_bit() -> None:
    rng = np.random.default_rng(5)
    names = np.array([f"c{k:03d}" for k in range(100)])
    column = names[rng.integers(0, 100, 600)]
    y = (column > "c050").astype(np.int32)
    X = column.astype(object)[:, None]
    schema = FeatureSchema.infer(X)
    costs = unit_costs(1)
    problem = TreeProblem(Dataset(schema, schema.encode(X), y, 2), costs, max_depth=2, min_support=1)
    assert len(np.unique(problem.category_groups[0])) == 64
    mask = np.uint64(rng.integers(1, 2**63))
    test = np.array([len(problem.arrays.bits), -1, -1], np.int32)
    masks = np.array([mask, 0, 0], np.uint64)
    _, _, objectives = problem.prune_and_evaluate(test, masks, prune=False)
    tree = problem.tree(test, masks)
    assert [*evaluate(tree, problem.dataset, costs)] == pytest.approx(list(objectives), abs=1e-12)


def test_differing_weights_of_many_cases_are_rounded_for_the_search_only() -> None:
    rng = np.random.default_rng(0)
    n = 70_000
    X = rng.normal(size=(n, 2))
    y = (X[:, 0] > 0).astype(np.int32)
    weight = rng.random(n) + 0.1
    schema = FeatureSchema.infer(X, max_bins=8)
    problem = TreeProblem(Dataset(schema, schema.encode(X), y, 2, weight), unit_costs(2), max_depth=3)
    test, mask = np.array([2, -1, 9, -1, -1], np.int32), np.zeros(5, np.uint64)
    _, _, rounded = problem.prune_and_evaluate(test, mask, prune=False)
    exact = evaluate(problem.tree(test, mask), problem.dataset, problem.costs)
    assert [*exact] == pytest.approx(list(rounded), rel=1e-4)
    leaf = problem.tree(np.array([-1], np.int32), np.zeros(1, np.uint64))
    root = problem.prune_and_evaluate(np.array([-1], np.int32), np.zeros(1, np.uint64))[2]
    assert evaluate(leaf, problem.dataset, problem.costs)[0] == pytest.approx(root[0], rel=1e-12)


def test_path_costs_pay_each_step_once() -> None:
    rng = np.random.default_rng(3)
    for _ in range(50):
        problem, _ = random_problem(rng)
        tree = problem.tree(*random_preorder(problem, rng))
        wanted = ref.rule_prices(ref.plain_tree(tree), ref.plain_costs(problem.costs))
        assert path_costs(tree, problem.costs)[tree.leaves()] == pytest.approx(wanted, abs=1e-12)


def unit_costs(n_features: int) -> BoundCosts:
    """0/1 costs and a price of 1 for every feature."""
    from cstree.costs.model import CostModel

    model = CostModel(tests=[1.0] * n_features)
    return model.bind([f"x{j}" for j in range(n_features)], [0, 1])


def test_a_table_without_any_test_gives_a_leaf() -> None:
    X: Any = np.ones((5, 2))
    schema = FeatureSchema.infer(X)
    y = np.array([0, 1, 1, 0, 1], np.int32)
    problem = TreeProblem(Dataset(schema, schema.encode(X), y, 2), unit_costs(2))
    assert len(problem.candidates) == 0
    _, _, objectives = problem.prune_and_evaluate(np.array([-1], np.int32), np.zeros(1, np.uint64))
    assert objectives == pytest.approx([0.4, 0.0])
