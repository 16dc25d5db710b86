"""Group discounts, as in Turney's cost files, said in tests and operations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal

from cstree.costs.labels import closest, listed, plain_name, plain_names
from cstree.costs.steps import FeatureTest, plain_price

__all__ = ["group_steps"]


def group_steps(
    full: Mapping[str, float], discount: Mapping[str, float], group: Mapping[str, Sequence[str]]
) -> tuple[dict[str, FeatureTest], dict[str, float]]:
    """Turn group discounts into operations.

    The first test of a group on a path costs ``full``, every later one its ``discount``: the test's own step
    costs ``discount``, and an operation with the group's name costs the difference. Where the differences
    within a group are not the same, each of its tests brings its own figure for the operation.

    Parameters
    ----------
    full : {feature: price}
        What a test costs alone.
    discount : {feature: price}
        What it costs after another test of its group; only features in groups need one.
    group : {name: [feature, ...]}
        The groups; a feature is in one of them or in none.

    Returns
    -------
    tests : {feature: FeatureTest}
        For all features of ``full``.
    operations : {group: price}
        For the groups in which all differences are the same.

    Raises
    ------
    TypeError
        One of the three is not a mapping, or a part has the wrong type.
    ValueError
        A price that is no price, an unknown feature, a feature in two groups, no discount in a group or one
        outside, or a discount above the full price.
    """
    for name, mapping in (("full", full), ("discount", discount), ("group", group)):
        if not isinstance(mapping, Mapping):
            raise TypeError(f"{name} is {mapping!r}; write a mapping")
    group_of = _group_of(group, full)
    for feature in discount:
        if feature not in full:
            raise ValueError(
                f"discount has feature {feature!r}, which has no full price{closest(feature, full)}; "
                "add it to full"
            )
    shared = {feature: _shared_price(feature, full, discount, group_of.get(feature)) for feature in full}
    operations = {}
    for name, features in group.items():
        prices = {shared[feature] for feature in plain_names(features, "feature", f"group {name!r}")}
        if len(prices) == 1:
            operations[name] = prices.pop()
    tests = {}
    for feature, price in full.items():
        if feature not in group_of:
            tests[feature] = FeatureTest(price)
        elif group_of[feature] in operations:
            tests[feature] = FeatureTest(discount[feature], needs=(group_of[feature],))
        else:
            tests[feature] = FeatureTest(discount[feature], needs={group_of[feature]: shared[feature]})
    return tests, operations


def _group_of(group: Mapping[str, Sequence[str]], full: Mapping[str, float]) -> dict[str, str]:
    """Find the group of each feature that is in one."""
    found: dict[str, str] = {}
    for key, features in group.items():
        name = plain_name(key, "group")
        for feature in plain_names(features, "feature", f"group {name!r}"):
            if feature not in full:
                raise ValueError(
                    f"group {name!r} has feature {feature!r}, which has no full price"
                    f"{closest(feature, full)}; add it to full"
                )
            if feature in found:
                raise ValueError(
                    f"feature {feature!r} is in groups {listed([found[feature], name])}; "
                    "for a test that shares two things write FeatureTest(price, needs=(...))"
                )
            found[feature] = name
    return found


def _shared_price(
    feature: str, full: Mapping[str, float], discount: Mapping[str, float], group: str | None
) -> float:
    """Subtract the discount price from the full one, in decimal: 7.27 - 5.17 is 2.1."""
    what = f"feature {feature!r}"
    whole = plain_price(full[feature], what)
    if group is not None and feature not in discount:
        raise ValueError(
            f"{what} is in group {group!r} but has no discount; say what it costs as a later test"
        )
    reduced = plain_price(discount.get(feature, whole), f"{what}, discount")
    if group is None and reduced != whole:
        raise ValueError(
            f"{what} has the discount price {reduced:g} and the full price {whole:g} but is in no group; "
            "put it into one or drop the discount"
        )
    if reduced > whole:
        raise ValueError(
            f"{what} costs {reduced:g} as a later test of group {group!r} and {whole:g} as the first; "
            "a discount is not above the full price"
        )
    return float(Decimal(repr(whole)) - Decimal(repr(reduced)))
