"""Cut points and codes against the slow, obvious way."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from cstree.encoding import binning
from cstree.encoding._kernels import add_distinct
from cstree.encoding.schema import FeatureSchema

NUMBERS = st.floats(allow_nan=False, allow_infinity=False)


def slow_cuts(values: Any, max_bins: int | None) -> list[float]:
    """Midpoints between neighbours; with too many, for each quantile the one nearest to its rank."""
    ordered = sorted(float(v) for v in values if not math.isnan(v))
    steps = [i for i, (a, b) in enumerate(pairwise(ordered)) if a < b]
    if max_bins is not None and len(steps) + 1 > max_bins:
        wanted = [part * (len(ordered) / max_bins) - 1 for part in range(1, max_bins)]
        steps = sorted({min(steps, key=lambda s: (abs(s - w), -s)) for w in wanted})
    cuts = []
    for i in steps:
        middle = ordered[i] / 2 + ordered[i + 1] / 2
        cuts.append(middle if ordered[i] <= middle < ordered[i + 1] else ordered[i])
    return cuts


def slow_code(value: float, cuts: Any) -> int:
    return len(cuts) + 1 if math.isnan(value) else sum(cut < value for cut in cuts)


def column(values: Any) -> np.ndarray:
    return np.asarray(values, dtype=np.float64).reshape(-1, 1)


@given(
    st.one_of(
        st.lists(st.one_of(NUMBERS, st.just(math.nan)), min_size=1, max_size=40),
        st.lists(st.sampled_from([-1.0, 0.0, -0.0, 0.5, 1.0, 2.0, math.nan]), min_size=1, max_size=40),
    ),
    st.sampled_from([None, 2, 3, 5, 255]),
)
def test_cuts_are_the_midpoints_nearest_to_the_quantiles(values, max_bins):
    feature = FeatureSchema.infer(column(values), max_bins=max_bins)[0]
    assert feature.cuts.tolist() == slow_cuts(values, max_bins)
    assert feature.has_missing == any(math.isnan(v) for v in values)
    assert max_bins is None or feature.n_bins <= max_bins


@given(st.lists(NUMBERS, min_size=1, max_size=60), st.lists(st.floats(), max_size=30))
def test_a_code_counts_the_cuts_below(values, others):
    schema = FeatureSchema.infer(column(values), max_bins=None)
    cuts = schema[0].cuts.tolist()
    asked = [*values, *others, *cuts, *np.nextafter(cuts, np.inf), math.nan, math.inf, -math.inf]
    assert schema.encode(column(asked))[0].tolist() == [slow_code(v, cuts) for v in asked]


@pytest.mark.parametrize("spread", [0, 1, 3, 30])
@pytest.mark.parametrize("n_values", [2, 12, 300, 3000, 30_000])
def test_codes_where_cuts_crowd_in_few_cells_of_the_grid(spread, n_values):
    rng = np.random.default_rng(n_values + spread)
    values = np.exp(spread * rng.normal(size=n_values)) if spread else rng.normal(size=n_values)
    schema = FeatureSchema.infer(column(values), max_bins=None)
    cuts = schema[0].cuts
    asked = np.concatenate([values, cuts, np.nextafter(cuts, np.inf), np.nextafter(cuts, -np.inf), [np.nan]])
    wanted = np.append(np.searchsorted(cuts, asked[:-1]), len(cuts) + 1)
    np.testing.assert_array_equal(schema.encode(column(asked))[0], wanted)


@given(
    hnp.arrays(
        np.float64, st.tuples(st.integers(1, 30), st.integers(1, 5)), elements=st.floats(-8, 8, width=16)
    ),
    st.integers(0, 2**32 - 1),
)
def test_every_layout_of_a_table_gives_the_same_codes(table, seed):
    rng = np.random.default_rng(seed)
    table = np.where(rng.random(table.shape) < 0.1, np.nan, table)
    padded = np.full((table.shape[0] * 2, table.shape[1] * 3), np.nan)
    padded[::2, ::3] = table
    layouts = [
        np.ascontiguousarray(table),
        np.asfortranarray(table),
        padded[::2, ::3],
        table.astype(np.float32),
        table.astype(">f8"),
        pd.DataFrame(table),
        pd.DataFrame({f"c{j}": table[:, j].astype(np.float32) for j in range(table.shape[1])}),
        pd.DataFrame(table).convert_dtypes(),
    ]
    schema = FeatureSchema.infer(layouts[0], categorical_features=None)
    codes = schema.encode(layouts[0])
    for layout in layouts[1:]:
        other = FeatureSchema.infer(layout, categorical_features=None)
        for mine, theirs in zip(schema, other, strict=True):
            assert mine.cuts.tolist() == theirs.cuts.tolist()
            assert mine.has_missing == theirs.has_missing
        np.testing.assert_array_equal(schema.encode(layout), codes)


def test_integers_are_read_without_being_copied_as_a_whole():
    table = np.arange(20_000).reshape(-1, 2) % 7
    schema = FeatureSchema.infer(table)
    assert schema[0].cuts.tolist() == [0.5, 1.5, 2.5, 3.5, 4.5, 5.5]
    np.testing.assert_array_equal(schema.encode(table), table.T)


def test_blocks_longer_than_one_buffer():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=20_001), "b": rng.integers(0, 9, 20_001)})
    schema = FeatureSchema.infer(frame, max_bins=40)
    codes = schema.encode(frame)
    for j, name in enumerate(frame):
        np.testing.assert_array_equal(codes[j], np.searchsorted(schema[j].cuts, frame[name]))


class TestLargeTables:
    """More rows than the sample for quantiles holds."""

    @pytest.fixture(autouse=True)
    def _small_sample(self, monkeypatch):
        monkeypatch.setattr(binning, "_SAMPLE", 2_000)
        monkeypatch.setattr(binning, "_GROUP", 4_000)
        monkeypatch.setattr(binning, "_BLOCK", 700)

    def table(self, n: int = 30_000) -> np.ndarray:
        rng = np.random.default_rng(1)
        return np.column_stack(
            [rng.normal(size=n), rng.integers(0, 12, n), np.exp(3 * rng.normal(size=n)), rng.random(n) < 0.5]
            + [rng.normal(size=n) for _ in range(8)]
        )

    def test_bins_hold_about_equally_many_cases(self):
        table = self.table()
        schema = FeatureSchema.infer(table, max_bins=10)
        for j in (0, 2, 5):
            share = np.bincount(schema.encode(table)[j]) / len(table)
            assert len(share) == 10
            assert np.abs(share - 0.1).max() < 0.03

    def test_a_sorted_column_is_sampled_evenly(self):
        ordered = np.sort(self.table()[:, 0])
        share = np.bincount(FeatureSchema.infer(column(ordered), max_bins=10).encode(column(ordered))[0])
        assert np.abs(share / len(ordered) - 0.1).max() < 0.01

    def test_rare_values_of_columns_with_few_values_are_not_lost(self):
        table = self.table()
        table[17, 1] = 99.0
        table[23, 3] = -5.0
        schema = FeatureSchema.infer(table, max_bins=50)
        assert schema[1].cuts.tolist() == [*np.arange(11) + 0.5, 55.0]
        assert schema[3].cuts.tolist() == [-2.5, 0.5]

    def test_many_rare_values_still_give_at_most_max_bins(self):
        values = np.zeros(30_000)
        values[::3_000] = np.arange(10) + 1.0
        values[1] = 0.5
        feature = FeatureSchema.infer(column(values), max_bins=4)[0]
        assert feature.n_bins <= 4

    @pytest.mark.parametrize("as_frame", [False, True])
    def test_missing_values_outside_the_sample_are_noticed(self, as_frame):
        table = self.table()
        table[1234, [0, 1, 7]] = np.nan
        schema = FeatureSchema.infer(pd.DataFrame(table) if as_frame else table, max_bins=20)
        assert [f.has_missing for f in schema] == [j in (0, 1, 7) for j in range(table.shape[1])]

    @pytest.mark.parametrize("as_frame", [False, True])
    def test_infinity_outside_the_sample_is_refused(self, as_frame):
        table = self.table()
        table[1234, 3] = -np.inf
        with pytest.raises(ValueError, match=r"'x3' contains infinity"):
            FeatureSchema.infer(pd.DataFrame(table) if as_frame else table, max_bins=20)

    def test_a_column_that_is_missing_nearly_everywhere(self):
        values = np.full(30_000, np.nan)
        values[[5, 29_000]] = [1.0, 2.0]
        feature = FeatureSchema.infer(column(values), max_bins=20)[0]
        assert feature.cuts.tolist() == [1.5]
        assert feature.has_missing

    def test_sums_that_overflow_are_no_infinity(self):
        values = np.full(30_000, 1e308)
        values[::2] = 5e307
        feature = FeatureSchema.infer(column(values), max_bins=20)[0]
        assert feature.n_bins == 2
        assert not feature.has_missing


@pytest.mark.parametrize("values", [[1.0, np.inf], [-np.inf, 1.0], [np.inf, np.nan], [np.nan, -np.inf, 3.0]])
def test_infinity_is_refused_by_name(values):
    frame = pd.DataFrame({"fine": np.arange(len(values)), "pressure": values})
    with pytest.raises(ValueError, match=r"'pressure' contains infinity"):
        FeatureSchema.infer(frame)


def test_columns_without_a_value_or_without_a_difference():
    schema = FeatureSchema.infer(np.array([[np.nan, 3.0], [np.nan, 3.0]]))
    assert [f.n_bins for f in schema] == [1, 1]
    assert schema.encode(np.array([[np.nan, 3.0], [1.0, 4.0]])).tolist() == [[1, 0], [0, 0]]


@given(st.lists(st.sampled_from([3.0, 1.0, 2.0, -1.0, math.nan, 9.5]), max_size=30), st.integers(1, 6))
def test_distinct_values_are_kept_in_order(values, capacity):
    known = np.full(capacity, np.nan)
    found = add_distinct(np.array(values, dtype=np.float64), known, 0)
    distinct = sorted({v for v in values if not math.isnan(v)})
    if len(distinct) > capacity:
        assert found == capacity + 1
    else:
        assert known[:found].tolist() == distinct
