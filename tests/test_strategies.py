"""The random problems are as varied as the kernels need them."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given

from tests import reference as ref
from tests.reference import PlainSplit
from tests.strategies import (
    random_costs,
    random_table,
    random_tree,
    tables,
)


def test_random_problems_cover_what_kernels_must_bear() -> None:
    seen = dict.fromkeys(("missing", "weights", "zero weight", "own costs", "five classes", "unseen category",
                          "unreached leaf", "three branches", "shared step", "free feature"), 0)  # fmt: skip
    for seed in range(200):
        rng = np.random.default_rng(seed)
        table = random_table(rng)
        costs = random_costs(rng, table)
        tree = random_tree(rng, table)
        seen["missing"] += any(ref.is_missing(v) for row in table.rows for v in row)
        seen["weights"] += table.weights is not None
        seen["zero weight"] += table.weights is not None and 0.0 in table.weights
        seen["own costs"] += table.example_cost is not None
        seen["five classes"] += table.n_classes == 5
        seen["free feature"] += any(not entries for entries in costs.feature_entries)
        steps = [step for entries in costs.feature_entries for step, _ in entries]
        seen["shared step"] += len(set(steps)) < len(steps)
        statistics = ref.node_statistics(tree, table.rows, table.y, costs, table.weights)
        seen["unreached leaf"] += any(s.support == 0 for s in statistics)
        for node in ref.preorder(tree):
            if isinstance(node, PlainSplit) and node.kind == "table":
                seen["three branches"] += node.n_branches > 2
                seen["unseen category"] += len(node.table) < table.n_categories[node.feature]
    assert min(seen.values()) >= 5, seen


@given(tables())
def test_tables_are_well_formed(table: Any) -> None:
    assert len(table.rows) == len(table.y) and {len(row) for row in table.rows} == {table.n_features}
    assert table.weights is None or sum(table.weights) > 0
    for j, count in enumerate(table.n_categories):
        known = [v for v in table.column(j) if not ref.is_missing(v)]
        assert (count == 0) == (table.kinds[j] == "numeric")
        assert count == 0 or all(0 <= v < count for v in known)


def test_the_same_seed_gives_the_same_problem() -> None:
    first, second = (random_table(np.random.default_rng(5)) for _ in range(2))
    assert str(first) == str(second)
