"""The costs of the worked example: prices at three nodes, and the cost of each answer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cstree.costs.model import CostModel, FeatureTest

EXAMPLE = json.loads((Path(__file__).parents[1] / "golden" / "greedy.json").read_text(encoding="utf-8"))
TESTED = {"root": [], "swab = pos": ["swab"], "crp > 9.5": ["crp"]}


@pytest.fixture(scope="module")
def bound():
    tests = {
        name: FeatureTest(price, needs=EXAMPLE["needs"].get(name, ()))
        for name, price in EXAMPLE["tests"].items()
    }
    model = CostModel(
        EXAMPLE["misclassification"],
        tests=tests,
        operations=EXAMPLE["operations"],
        classes=EXAMPLE["classes"],
    )
    return model.bind(list(EXAMPLE["data"]["X"]), sorted(set(EXAMPLE["data"]["y"])))


@pytest.mark.parametrize("node", EXAMPLE["nodes"], ids=lambda node: node["path"])
def test_prices_at_a_node(bound, node) -> None:
    paid: set[int] = set()
    for name in TESTED[node["path"]]:
        paid |= {step for step, _ in bound.newly_paid(bound.feature_names.index(name), paid)}
    assert len(node["rows"]) > 2
    for row in node["rows"]:
        price = bound.price(bound.feature_names.index(row["feature"]), paid)
        assert price == pytest.approx(row["price"], abs=1e-12)


def test_cost_of_each_answer_at_the_root(bound) -> None:
    y = [bound.classes.index(label) for label in EXAMPLE["data"]["y"]]
    costs = [sum(bound.matrix[truth, answer] for truth in y) for answer in range(bound.n_classes)]
    assert costs == EXAMPLE["nodes"][0]["label_costs"]
