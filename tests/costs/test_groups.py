from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cstree.costs.model import CostModel, FeatureTest

# Facts of public cost files. Floating point does not give 2.1 for 7.27 - 5.17.
HEPATITIS = {"bilirubin": (7.27, 5.17), "protime": (8.3, 6.2), "age": (1.0, 1.0)}
NURSERY = {"finance": (8.21288, 1.64258), "parents": (39.8118, 11.0989)}


def grouped(figures: dict[str, tuple[float, float]], features: list[str]) -> CostModel:
    full = {name: prices[0] for name, prices in figures.items()}
    discount = {name: prices[1] for name, prices in figures.items()}
    return CostModel.from_groups(full, discount, {"g": features})


def test_one_difference_is_an_operation() -> None:
    model = grouped(HEPATITIS, ["bilirubin", "protime"])
    assert dict(model.operations) == {"g": (2.1, ())}
    assert model.tests["bilirubin"] == FeatureTest(5.17, ("g",))
    assert model.tests["age"] == FeatureTest(1.0)


def test_differences_that_differ_belong_to_the_tests() -> None:
    model = grouped(NURSERY, ["finance", "parents"])
    assert dict(model.operations) == {}
    assert model.tests["finance"] == FeatureTest(1.64258, {"g": 6.5703})
    assert repr(model) == "CostModel(0/1, 2 tests, 1 operation)"


@given(
    st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 10_000)), min_size=1, max_size=6),
    st.lists(st.integers(0, 2), min_size=6, max_size=6),
    st.permutations(range(6)),
)
def test_first_of_a_group_pays_full_and_later_ones_the_discount(cents, group_of, walk) -> None:
    names = [f"x{i}" for i in range(len(cents))]
    full = {name: max(pair) / 100 for name, pair in zip(names, cents, strict=True)}
    discount = {name: min(pair) / 100 for name, pair in zip(names, cents, strict=True)}
    group: dict[str, list[str]] = {"g0": [], "g1": []}
    for name, g in zip(names, group_of, strict=False):
        if g < 2:
            group[f"g{g}"].append(name)
        else:  # in no group: no discount
            discount.pop(name)
    bound = CostModel.from_groups(full, discount, group).bind(names, [0, 1])
    paid: set[int] = set()
    begun: set[int] = set()
    for feature in walk:
        if feature >= len(names):
            continue
        name, g = names[feature], group_of[feature]
        expected = discount[name] if g in begun else full[name]
        assert bound.price(feature, paid) == pytest.approx(expected, abs=1e-12)
        paid |= {step for step, _ in bound.newly_paid(feature, paid)}
        if g < 2:
            begun.add(g)


def test_groups_keep_the_other_arguments() -> None:
    model = CostModel.from_groups(
        {"a": 2, "b": 3},
        {"a": 1},
        {"g": ["a"]},
        misclassification=[[0, 1], [2, 0]],
        classes=["x", "y"],
        unit="EUR",
    )
    expected = CostModel(
        [[0, 1], [2, 0]],
        tests={"a": FeatureTest(1, "g"), "b": 3},
        operations={"g": 1},
        classes=["x", "y"],
        unit="EUR",
    )
    assert model == expected
