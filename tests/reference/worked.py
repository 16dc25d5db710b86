"""The worked case of the specification (``tests/golden/greedy.json``), and short words for trees."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .costs import PlainCosts, describe_costs
from .tree import PlainLeaf, PlainNode, PlainSplit

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "greedy.json").read_text(encoding="utf-8"))
NAMES = list(GOLDEN["data"]["X"])
KINDS = [GOLDEN["kind"][name] for name in NAMES]
CATEGORIES = {
    name: sorted(set(GOLDEN["data"]["X"][name]))
    for name, kind in GOLDEN["kind"].items()
    if kind == "categorical"
}
FEVER, SWAB, CRP, FERRITIN = range(4)
FLU, SEPSIS, WELL = range(3)


def _golden_rows() -> list[list[Any]]:
    columns = [
        [CATEGORIES[name].index(v) if name in CATEGORIES else float(v) for v in GOLDEN["data"]["X"][name]]
        for name in NAMES
    ]
    return [list(row) for row in zip(*columns, strict=True)]


ROWS = _golden_rows()
Y = [GOLDEN["classes"].index(label) for label in GOLDEN["data"]["y"]]
COSTS = describe_costs(
    GOLDEN["misclassification"],
    len(NAMES),
    [
        (GOLDEN["tests"][name], dict.fromkeys(GOLDEN["needs"].get(name, []), None), [j])
        for j, name in enumerate(NAMES)
    ],
    {name: (amount, []) for name, amount in GOLDEN["operations"].items()},
)


def cut(feature: int, value: float, left: PlainNode, right: PlainNode, missing: int = 0) -> PlainSplit:
    return PlainSplit(feature, "numeric", cut=value, missing_branch=missing, children=(left, right))


def leaf(answer: int | None = None) -> PlainLeaf:
    return PlainLeaf(answer)


def free(n_features: int, matrix: Any = ((0, 1), (1, 0))) -> PlainCosts:
    """Tests that cost nothing."""
    return PlainCosts(matrix, [[] for _ in range(n_features)])
