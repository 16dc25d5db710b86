"""One view on every kind of table."""

from __future__ import annotations

import decimal

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix

from cstree.encoding.columns import Columns, plain_scalar


def test_names_come_from_frames_or_positions():
    assert Columns(np.zeros((2, 3))).names == ("x0", "x1", "x2")
    assert Columns(pd.DataFrame(np.zeros((2, 2)))).names == ("x0", "x1")
    assert Columns(pd.DataFrame({"a b": [1], 7: [2]})).names == ("a b", "7")
    assert Columns([[1, 2], [3, 4]]).n_samples == 2
    assert len(Columns([[1, 2], [3, 4]])) == 2


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1.0, np.nan], "numeric"),
        (np.array([1, 2], dtype=np.uint8), "numeric"),
        (pd.array([1, None], dtype="Int32"), "numeric"),
        (pd.array([1.5, None], dtype="Float64"), "numeric"),
        ([decimal.Decimal("1.5"), decimal.Decimal(2)], "numeric"),
        (pd.Series([None, None], dtype=object), "numeric"),
        (pd.Series([1, 2.5], dtype=object), "numeric"),
        (["a", "b"], "categorical"),
        (pd.Series(["a", None], dtype=object), "categorical"),
        (pd.array(["a", None], dtype="string"), "categorical"),
        ([True, False], "categorical"),
        (pd.array([True, None], dtype="boolean"), "categorical"),
        (pd.Categorical([3, 4]), "categorical"),
        (pd.Series(["a", 1, True], dtype=object), "categorical"),
    ],
)
def test_kinds(values, kind):
    assert Columns(pd.DataFrame({"x": values})).kind(0) == kind


@pytest.mark.parametrize(
    "values",
    [
        pd.to_datetime(["2020-01-01", "2021-01-01"]),
        pd.to_timedelta([1, 2]),
        [1j, 2j],
        [[1, 2], [3]],
        [{"a": 1}, "b"],
        [pd.Timestamp("2020-01-01"), "b"],
    ],
)
def test_columns_that_are_no_arguments_are_named(values):
    frame = pd.DataFrame({"when": pd.Series(values)})
    with pytest.raises(TypeError, match="'when' holds"):
        Columns(frame).kind(0)


def test_tables_that_are_none():
    with pytest.raises(TypeError, match="Sparse data was passed"):
        Columns(csr_matrix(np.eye(3)))
    with pytest.raises(ValueError, match=r"got a 1D array. Reshape your data"):
        Columns([1, 2, 3])
    with pytest.raises(ValueError, match="Complex data not supported"):
        Columns(np.array([[1j]]))


def test_arrays_of_objects_get_their_columns_dtypes():
    columns = Columns(np.array([[1, "a", None], [2.5, "b", 3]], dtype=object))
    assert [columns.kind(j) for j in range(3)] == ["numeric", "categorical", "numeric"]
    assert columns.numeric(0).tolist() == [1.0, 2.5]


def test_numbers_are_views_where_they_can_be():
    array = np.arange(6.0).reshape(3, 2)
    assert np.shares_memory(Columns(array).numeric(1), array)
    frame = pd.DataFrame({"a": np.arange(3, dtype=np.int16), "b": [0.5, 1.5, np.nan]})
    for j, name in enumerate(frame):
        assert np.shares_memory(Columns(frame).numeric(j), frame[name].to_numpy())
    nullable = pd.DataFrame({"a": pd.array([1, None, 3], dtype="Int64")})
    np.testing.assert_array_equal(Columns(nullable).numeric(0), [1, np.nan, 3])
    numbers = pd.DataFrame({"a": pd.Categorical([5, 7, 5])})
    assert Columns(numbers).numeric(0).tolist() == [5, 7, 5]


def test_what_is_no_number_is_named():
    frame = pd.DataFrame({"age": ["12", "twelve"]})
    with pytest.raises(
        ValueError, match=r"'age' is numeric, but its column .* holds values that are not numbers"
    ):
        Columns(frame).numeric(0)


def test_flat_tables():
    array = np.arange(12.0).reshape(3, 4)
    for layout in (array, np.asfortranarray(array)):
        flat, row_stride, column_stride = Columns(layout).flat()
        assert np.shares_memory(flat, layout)
        for i in range(3):
            for j in range(4):
                assert flat[i * row_stride + j * column_stride] == array[i, j]
    for other in (array[:, ::2], array.astype(np.float32), array.astype(">f8"), pd.DataFrame(array)):
        assert Columns(other).flat() is None


@pytest.mark.parametrize("table", [np.ascontiguousarray, np.asfortranarray, pd.DataFrame])
def test_gathering(table):
    array = np.random.default_rng(0).normal(size=(300, 5))
    columns = Columns(table(array))
    np.testing.assert_array_equal(columns.gather([3, 1]), array[:, [3, 1]].T)
    rows = np.array([0, 7, 299, 7])
    np.testing.assert_array_equal(columns.gather([4], rows), array[rows][:, [4]].T)


@pytest.mark.parametrize("table", [np.asarray, pd.DataFrame])
def test_sums_find_nan_and_infinity(table):
    array = np.ones((4, 5))
    array[2, 1], array[0, 3], array[3, 4] = np.nan, -np.inf, np.inf
    assert Columns(table(array)).sums_are_finite([0, 1, 3, 4]).tolist() == [True, False, False, False]


def test_blocks_reuse_one_buffer():
    frame = pd.DataFrame({"a": np.arange(10), "b": np.arange(10) / 2, "c": ["x"] * 10})
    seen = []
    for start, stop, values in Columns(frame).blocks([1, 0], size=4):
        seen.append((start, stop))
        np.testing.assert_array_equal(values, frame.iloc[start:stop, [1, 0]].to_numpy().T)
    assert seen == [(0, 4), (4, 8), (8, 10)]


def test_plain_scalars():
    assert type(plain_scalar(np.int64(3))) is int
    assert type(plain_scalar(np.str_("a"))) is str
    assert plain_scalar("a") == "a"


def test_lists_of_numbers_texts_and_booleans_keep_their_kinds():
    columns = Columns([[1.5, "a", True, None], [2, "b", False, 3]])
    assert [columns.kind(j) for j in range(4)] == ["numeric", "categorical", "categorical", "numeric"]
    np.testing.assert_array_equal(columns.numeric(0), [1.5, 2.0])
    assert columns.values(2).tolist() == [True, False]


@pytest.mark.parametrize(
    "values",
    [
        pd.to_datetime(["2020-01-01", "2021-01-01"]),
        pd.to_datetime(["2020-01-01", "2021-01-01"]).tz_localize("UTC"),
        pd.Categorical(pd.to_datetime(["2020-01-01", "2021-01-01"])),
        pd.to_timedelta([1, 2]),
        [1j, 2j],
        [10**400, 1],
    ],
)
def test_what_is_no_number_is_not_read_as_one(values):
    with pytest.raises(ValueError, match="Feature 'x' is numeric, but its column"):
        Columns(pd.DataFrame({"x": pd.Series(values)})).numeric(0)


def test_arrays_of_dates_are_not_read_as_numbers():
    with pytest.raises(ValueError, match="Feature 'x0' is numeric, but its column"):
        Columns(np.array([["2020-01-01"]], dtype="datetime64[D]")).numeric(0)
