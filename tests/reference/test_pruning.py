"""Both prunings on tables worked by hand, and their invariants."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests import reference as ref
from tests.reference import PlainLeaf, PlainNode, PlainSplit
from tests.reference.worked import (
    cut,
    free,
    leaf,
)
from tests.strategies import (
    Problem,
    tree_problems,
)


def test_support_pruning_by_hand() -> None:
    rows = [[float(v)] for v in range(6)]
    y = [0, 0, 1, 1, 1, 0]
    # the right branch of the root holds one case: the root becomes its left subtree; there, once the case is
    # routed anew, both branches of the cut at 1.5 have two or more, and those of the cut at 0.5 have one each
    tree = cut(0, 4.5, cut(0, 1.5, cut(0, 0.5, leaf(), leaf()), leaf()), leaf())
    pruned = ref.support_prune(tree, rows, y, free(1), 2)
    assert pruned == cut(0, 1.5, leaf(0), leaf(1))
    assert ref.support_prune(tree, rows, y, free(1), 5) == leaf(0)
    assert ref.support_prune(tree, rows, y, free(1), 1) == ref.answered(tree, rows, y, free(1))


def test_support_counts_cases_not_weight() -> None:
    rows, y = [[0.0], [0.0], [1.0], [1.0]], [0, 0, 1, 1]
    tree = cut(0, 0.5, leaf(), leaf())
    assert ref.support_prune(tree, rows, y, free(1), 2, weights=[0.1, 0.1, 9.0, 9.0]) == cut(
        0, 0.5, leaf(0), leaf(1)
    )
    assert ref.support_prune(tree, rows, y, free(1), 2, weights=[1.0, 0.0, 9.0, 9.0]) == leaf(1)


def _multiway(missing: int) -> PlainSplit:
    children = (cut(1, 0.5, leaf(), leaf()), leaf(), leaf())
    return PlainSplit(0, "table", table={0: 0, 1: 1, 2: 2}, missing_branch=missing, children=children)


def test_small_branches_fold_into_the_missing_branch() -> None:
    rows = [[0, 0.0], [0, 0.0], [0, 1.0], [0, 1.0], [1, 0.0], [2, 1.0], [2, 1.0]]
    y = [0, 0, 1, 1, 1, 0, 0]
    pruned = ref.support_prune(_multiway(missing=2), rows, y, free(2), 2)
    # category 1 has one case: it goes with category 2, which is now branch 1
    assert pruned == PlainSplit(
        0,
        "table",
        table={0: 0, 1: 1, 2: 1},
        missing_branch=1,
        children=(cut(1, 0.5, leaf(0), leaf(1)), leaf(0)),
    )
    # the missing branch itself is the small one: the heaviest takes its cases and missing values
    heaviest = ref.support_prune(_multiway(missing=1), rows, y, free(2), 2)
    assert heaviest == PlainSplit(
        0,
        "table",
        table={0: 0, 1: 0, 2: 1},
        missing_branch=0,
        children=(cut(1, 0.5, leaf(0), leaf(1)), leaf(0)),
    )
    # only category 0 has three cases: its subtree replaces the node, and gets all cases
    assert ref.support_prune(_multiway(missing=1), rows, y, free(2), 3) == cut(1, 0.5, leaf(0), leaf(0))
    assert ref.support_prune(_multiway(missing=1), rows, y, free(2), 5) == leaf(0)


def test_cost_pruning_by_hand() -> None:
    rows = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
    # exclusive or: no single test helps, both together do; nothing may go
    y = [0, 1, 1, 0]
    full = cut(0, 0.5, cut(1, 0.5, leaf(), leaf()), cut(1, 0.5, leaf(), leaf()))
    assert ref.cost_prune(full, rows, y, free(2)) == ref.answered(full, rows, y, free(2))
    # the second feature is the class: the tests of it on the left are worth it, the one on the right too, but
    # when the left side is all of class 0 its test is not
    y = [0, 0, 0, 1]
    assert ref.cost_prune(full, rows, y, free(2)) == cut(0, 0.5, leaf(0), cut(1, 0.5, leaf(0), leaf(1)))
    # a mistake on class 1 that costs nothing is no reason for any test
    assert ref.cost_prune(full, rows, y, free(2, [[0, 1], [0, 0]])) == leaf(0)


@given(tree_problems(), st.integers(0, 5))
def test_pruning_invariants(drawn: tuple[Problem, PlainNode], minimum: int) -> None:
    problem, tree = drawn
    rows, y, costs, weights, example_cost = problem.cases
    before = ref.evaluate(tree, *problem.cases)
    by_cost = ref.cost_prune(tree, *problem.cases)
    after = ref.evaluate(by_cost, *problem.cases)
    assert after.f1 <= before.f1 + 1e-12 and after.f2 <= before.f2 + 1e-12
    assert ref.n_nodes(by_cost) <= ref.n_nodes(tree) and ref.cost_prune(by_cost, *problem.cases) == by_cost

    by_support = ref.support_prune(tree, rows, y, costs, minimum, weights, example_cost)
    assert by_support == ref.support_prune(by_support, rows, y, costs, minimum, weights, example_cost)
    statistics = ref.node_statistics(by_support, *problem.cases)
    supports = [s.support for s in statistics]
    assert len(supports) == 1 or min(supports) >= minimum
    both = ref.prune(tree, rows, y, costs, minimum, weights, example_cost)
    assert both == ref.cost_prune(by_support, *problem.cases)


@given(tree_problems(max_depth=2))
def test_no_inner_node_survives_cost_pruning_for_nothing(drawn: tuple[Problem, PlainNode]) -> None:
    problem, tree = drawn
    pruned = ref.cost_prune(tree, *problem.cases)
    statistics = ref.node_statistics(pruned, *problem.cases)
    order = list(ref.preorder(pruned))
    for i, node in enumerate(order):
        if isinstance(node, PlainSplit):
            inside = range(i, i + ref.n_nodes(node))
            below = sum(min(statistics[j].label_cost) for j in inside if isinstance(order[j], PlainLeaf))
            assert below < min(statistics[i].label_cost)
