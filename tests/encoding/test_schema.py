"""Features of a table: what is learned, how unknown values are met, what files may say."""

from __future__ import annotations

import json
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cstree.encoding import Dataset, Feature, FeatureSchema
from cstree.encoding._kernels import pack_codes
from cstree.encoding.schema import code_dtype

CATEGORY = st.one_of(st.sampled_from(["a", "b", "", "Ä", "1"]), st.integers(-2, 2), st.booleans())


def mixed() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "age": [30, 41, 35, 62],
            "city": ["Wien", None, "Graz", "Wien"],
            "member": pd.array([True, False, None, True], dtype="boolean"),
            "grade": pd.Categorical(["low", "high", "low", "high"], categories=["low", "mid", "high"]),
        }
    )


def test_kinds_categories_and_missing_values():
    schema = FeatureSchema.infer(mixed())
    assert schema.names == ("age", "city", "member", "grade")
    assert [f.kind for f in schema] == ["numeric", "categorical", "categorical", "categorical"]
    assert schema[0].cuts.tolist() == [32.5, 38.0, 51.5]
    assert schema[1].categories == ("Graz", "Wien")
    assert schema[2].categories == (False, True)
    assert schema[3].categories == ("low", "high")  # in their order, unused ones left out
    assert [f.has_missing for f in schema] == [False, True, True, False]
    assert [f.n_bins for f in schema] == [4, 2, 2, 2]
    assert len(schema) == 4


def test_codes_of_known_unknown_and_missing_values():
    schema = FeatureSchema.infer(mixed())
    assert schema.encode(mixed()).tolist() == [[0, 2, 1, 3], [1, 2, 0, 1], [1, 0, 2, 1], [0, 1, 0, 1]]
    other = mixed()
    other["city"] = ["Linz", "Graz", "graz", None]
    other["grade"] = ["mid", "low", "high", "none"]
    other["member"] = [True, False, True, True]
    codes = schema.encode(other)
    assert codes[1].tolist() == [2, 0, 2, 2]
    assert codes[2].tolist() == [1, 0, 1, 1]
    assert codes[3].tolist() == [2, 0, 1, 2]


def test_raw_values_by_block():
    schema = FeatureSchema.infer(mixed())
    values = schema.values(mixed(), [2, 0, 1])
    np.testing.assert_array_equal(values, [[1, 0, np.nan, 1], [30, 41, 35, 62], [1, np.nan, 0, 1]])


@given(st.lists(CATEGORY, min_size=1, max_size=12), st.lists(CATEGORY, max_size=12))
def test_a_category_has_the_code_of_its_place(values, others):
    schema = FeatureSchema.infer(
        pd.DataFrame({"x": pd.Series(values, dtype=object)}), categorical_features=["x"]
    )
    categories = schema[0].categories
    assert {*categories} == {*values}
    codes = schema.encode(pd.DataFrame({"x": pd.Series([*values, *others], dtype=object)}))[0]
    for value, code in zip([*values, *others], codes.tolist(), strict=True):
        if code == len(categories):
            assert value not in categories
        else:
            assert categories[code] == value


@pytest.mark.parametrize("listed", [["age"], [0], [True, False, False, False], np.array([0])])
def test_numbers_can_be_declared_categories(listed):
    frame = mixed()[["age"]].assign(b=1.0, c=2.0, d=3.0)
    schema = FeatureSchema.infer(frame, categorical_features=listed)
    assert schema[0].categories == (30, 35, 41, 62)
    assert schema[1].kind == "numeric"


@pytest.mark.parametrize(
    ("listed", "message"),
    [
        ("auto", "categorical_features must be 'from_dtype', None, or a list"),
        (["age"], "'city' holds strings or categories but is not listed in categorical_features"),
        (None, "'city' holds strings or categories"),
        (["town"], "names 'town', which is no column of X"),
        ([9], "names position 9; X has 4 features"),
        ([True], r"wants one for each of the 4 features; got shape \(1,\)"),
    ],
)
def test_wrong_lists_of_categories_are_named(listed, message):
    with pytest.raises(ValueError, match=message):
        FeatureSchema.infer(mixed(), categorical_features=listed)


def test_too_few_bins():
    with pytest.raises(ValueError, match="max_bins must be at least 2"):
        FeatureSchema.infer(mixed(), max_bins=1)


def test_booleans_are_numbers_where_they_are_not_listed():
    frame = pd.DataFrame({"b": [True, False], "c": ["x", "y"]})
    assert FeatureSchema.infer(frame, categorical_features=["c"])[0].cuts.tolist() == [0.5]


@pytest.mark.parametrize(
    ("n", "dtype"), [(2, np.uint8), (256, np.uint8), (257, np.uint16), (65_537, np.uint32)]
)
def test_codes_are_as_small_as_they_can_be(n, dtype):
    assert code_dtype(n) is dtype


def test_a_byte_holds_255_bins_and_the_missing_ones():
    X = np.arange(3000.0).reshape(-1, 1)
    assert FeatureSchema.infer(X, max_bins=255).encode(X).dtype == np.uint8
    assert FeatureSchema.infer(X, max_bins=256).encode(X).dtype == np.uint16


def test_files_round_trip_to_the_last_bit():
    frame = mixed().assign(x=[0.1, 0.2, 0.3, math.pi])
    schema = FeatureSchema.infer(frame)
    again = FeatureSchema.from_dict(json.loads(json.dumps(schema.to_dict())))
    for mine, theirs in zip(schema, again, strict=True):
        assert mine.to_dict() == theirs.to_dict()
        assert [type(c) for c in mine.categories] == [type(c) for c in theirs.categories]
    np.testing.assert_array_equal(schema.encode(frame), again.encode(frame))


@pytest.mark.parametrize(
    "damage",
    [
        {"name": 3},
        {"kind": "date"},
        {"cuts": None},
        {"cuts": [2.0, 1.0]},
        {"cuts": [1.0, math.nan]},
        {"cuts": [True]},
        {"kind": "categorical", "categories": [[1]]},
        {"kind": "categorical", "categories": "ab"},
    ],
)
def test_damaged_files_are_refused(damage):
    plain = Feature("x", "numeric", cuts=np.array([1.0, 2.0])).to_dict()
    with pytest.raises(ValueError, match="feature"):
        Feature.from_dict({**plain, **damage})


def test_a_schema_is_a_list_of_features():
    with pytest.raises(ValueError, match="schema: wants a list of features"):
        FeatureSchema.from_dict({"features": {"x": 1}})


def test_datasets():
    X = np.array([[1.0], [2.0], [3.0]])
    schema = FeatureSchema.infer(X)
    dataset = Dataset(schema, schema.encode(X), np.array([0, 1, 1], dtype=np.int32), 2)
    matrix = np.array([[0.0, 3.0], [4.0, 1.0]])
    assert dataset.total_weight == 3
    assert dataset.weights().tolist() == [1, 1, 1]
    assert dataset.case_costs(matrix).tolist() == [[0, 3], [4, 1], [4, 1]]
    weighted = Dataset(
        schema, dataset.codes, dataset.y, 2, np.array([1.0, 2.0, 4.0]), np.arange(6.0).reshape(3, 2)
    )
    part = weighted.take(np.array([2, 0]))
    assert part.codes.tolist() == [[2, 0]]
    assert part.y.tolist() == [1, 0]
    assert part.weights().tolist() == [4, 1]
    assert part.total_weight == 5
    assert part.case_costs(matrix).tolist() == [[4, 5], [0, 1]]
    assert part.n_samples == 2


@given(st.lists(st.integers(0, 3), min_size=1, max_size=150), st.integers(0, 2**32 - 1))
def test_bits_of_codes(codes, seed):
    position = np.random.default_rng(seed).permutation(len(codes)).astype(np.int64)
    row_of_code = np.array([1, -1, 0, 1])
    words = np.zeros((2, (len(codes) + 63) // 64), dtype=np.uint64)
    pack_codes(np.array(codes, dtype=np.uint8), position, row_of_code, words)
    for row in range(2):
        bits = {p for c, p in zip(codes, position.tolist(), strict=True) if row_of_code[c] == row}
        found = {64 * w + b for w, word in enumerate(words[row].tolist()) for b in range(64) if word >> b & 1}
        assert found == bits
