"""The judges judged on the worked numbers of the specification."""

from __future__ import annotations

import math
from typing import Any

import pytest

from tests import reference as ref
from tests.reference import PlainSplit
from tests.reference.worked import (
    CATEGORIES,
    COSTS,
    CRP,
    FERRITIN,
    FEVER,
    FLU,
    GOLDEN,
    KINDS,
    NAMES,
    ROWS,
    SEPSIS,
    SWAB,
    WELL,
    Y,
    cut,
    leaf,
)


def _golden_node(path: str) -> tuple[list[int], set[Any], set[int]]:
    """Cases, steps paid and features used up at a node of the file."""
    cases = range(len(ROWS))
    crp_steps = {step for step, _ in COSTS.feature_entries[CRP]}
    swab_steps = {step for step, _ in COSTS.feature_entries[SWAB]}
    positive = CATEGORIES["swab"].index("pos")
    return {
        "root": (list(cases), set(), set()),
        "swab = pos": ([i for i in cases if ROWS[i][SWAB] == positive], swab_steps, {SWAB}),
        "crp > 9.5": ([i for i in cases if ROWS[i][CRP] > 9.5], crp_steps, set()),
    }[path]


@pytest.mark.parametrize("golden", GOLDEN["nodes"], ids=[node["path"] for node in GOLDEN["nodes"]])
def test_every_golden_number_of_a_node(golden: dict[str, Any]) -> None:
    members, paid, used_up = _golden_node(golden["path"])
    data = ref.training(ROWS, Y, COSTS, KINDS)
    node = data.summary(members)
    assert node.label_cost == golden["label_costs"]
    assert ref.entropy(node.class_weight) == pytest.approx(golden["entropy"], abs=1e-11)
    assert ref.expected_cost(node.regret) == pytest.approx(golden["expected_cost"], abs=1e-11)
    assert ref.alpha(node.regret) == pytest.approx(golden["alpha"], abs=1e-11)

    candidates = ref.candidates_at(data, members, paid, used_up)
    scores = {
        name: ref.scores(name, node, candidates)
        for name in ("mincost", "pm", "eg2", "cs_id3", "idx", "gain_ratio", "secsdt_mc", "cost")
    }
    assert len(candidates) == len(golden["rows"])
    for i, (candidate, row) in enumerate(zip(candidates, golden["rows"], strict=True)):
        branches, amount = candidate.branches, candidate.price
        found = {
            "feature": NAMES[candidate.split.feature],
            "cut": candidate.split.cut,
            "branches": len(branches),
            "sizes": [b.weight for b in branches],
            "gain": ref.gain(node, branches),
            "split_info": ref.split_info(node, branches),
            "avg_gain": ref.avg_gain(node, branches),
            "price": amount,
            "dmc": ref.dmc(node, branches),
            "test_cost": ref.total_price(node, amount),
            "cost_red": ref.cost_reduction(node, branches, amount),
            "answer_red": scores["cost"][i],
        } | {name: scores[name][i] for name in scores if name != "cost"}
        assert set(found) == set(row)
        for name, wanted in row.items():
            if wanted == "inf":
                assert found[name] == math.inf, (row["feature"], row["cut"], name)
            elif isinstance(wanted, float):
                message = f"{row['feature']} {row['cut']} {name}"
                assert found[name] == pytest.approx(wanted, abs=1e-11), message
            else:
                assert found[name] == wanted, (row["feature"], row["cut"], name)


def test_golden_tree_has_the_golden_objectives() -> None:
    fever = PlainSplit(FEVER, "table", table={0: 0, 1: 1, 2: 2}, children=(leaf(FLU), leaf(WELL), leaf(WELL)))
    tree = cut(CRP, 9.5, fever, cut(FERRITIN, 210.0, leaf(FLU), leaf(SEPSIS)))
    assert "fever high: flu; mild: well; no: well" in GOLDEN["tree"]
    result = ref.evaluate(tree, ROWS, Y, COSTS)
    assert result.f1 == pytest.approx(GOLDEN["f1"], abs=1e-12)
    assert result.f2 == pytest.approx(GOLDEN["f2"], abs=1e-12)
    # the blood is drawn once: 0.6 + 0.3 for crp, then 0.1 for fever or 0.5 for ferritin
    assert ref.rule_prices(tree, COSTS) == pytest.approx([1.0, 1.0, 1.0, 1.4, 1.4])
    # no case with high fever is below 9.5: answered from the cases, that leaf says what its parent would
    assert ref.predict(ref.answered(tree, ROWS, Y, COSTS), [[0, 0, 5.0, 60.0]]) == [WELL]
