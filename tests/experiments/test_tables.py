from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from experiments.cli import DATA, ROOT
from experiments.tables import DataAbsentError, Table, load_table, standard_cost

SETS = ROOT / "studies" / "greedy_sets.toml"
ENTRIES = tomllib.loads(SETS.read_text(encoding="utf-8"))
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="the folder ../shared/data is not there")


def load(name: str, level: str = "middle") -> Table:
    return load_table(name, SETS, level, DATA)


def test_standard_cost_of_heart_by_hand():
    # All tests once: full prices, less what later tests of a group do not pay; 137 of 297 are ill.
    full = 1 + 1 + 1 + 1 + 7.27 + 5.2 + 15.5 + 102.9 + 87.3 + 87.3 + 87.3 + 100.9 + 102.9
    saved = 2.1 + 101.9 + 2 * 86.3
    assert standard_cost(load("heart")) == pytest.approx(full - saved + 137 / 297 * 177)


def test_absent_data_and_wrong_entries_are_named(tmp_path):
    with pytest.raises(DataAbsentError, match=r"car\.toml"):
        load_table("car", SETS, "middle", tmp_path)
    with pytest.raises(ValueError, match="has no set 'moon'"):
        load_table("moon", SETS, "middle", tmp_path)
    odd = tmp_path / "sets.toml"
    odd.write_text('[x]\nfile = "x"\n')
    with pytest.raises(ValueError, match="set 'x' has the unknown key 'file'"):
        load_table("x", odd, "middle", tmp_path)


def write_set(folder: Path, sets: str) -> Path:
    (folder / "t.csv").write_text("a,b,c,target\n1,x,None,p\n2,y,u,q\n,x,v,p\n4,y,,r\n")
    (folder / "t.toml").write_text(
        'target = "target"\nnumeric = ["a"]\ncategorical = ["b", "c"]\n'
        "[misclassification]\nmatrix = [[0, 1], [5, 0]]\n"
        "[test_costs]\nfull = {a = 4, b = 3}\ndiscount = {a = 3, b = 2}\ngroups = {G = ['a', 'b']}\n"
        "derived = {c = ['a', 'b']}\n"
    )
    (folder / "prices.toml").write_text(
        'name = "prices"\n[misclassification]\nmiddle = [[0, 1, 2], [3, 0, 4], [5, 6, 0]]\n'
        '[attributes]\nAA = {cost = 7, discount = 5, group = "a"}\n'
        'BB = {cost = 9, discount = 8, group = "a"}\n'
    )
    path = folder / "sets.toml"
    path.write_text(sets)
    return path


def test_prices_are_mapped_by_name_and_classes_left_out(tmp_path):
    sets = write_set(
        tmp_path,
        '[t]\ntable = "t"\nprices = "prices.toml"\nclasses = ["p", "r", "q"]\nleave_out = ["r"]\n'
        'attributes = {BB = "a", AA = "c"}\n',
    )
    table = load_table("t", sets, "middle", tmp_path)
    assert list(table.X.columns) == ["c", "a"]
    assert table.costs.classes == ("p", "q") and table.y.tolist() == [0, 1, 0]
    assert table.costs.matrix.tolist() == [[0, 2], [5, 0]]
    assert table.X["c"].tolist() == ["None", "u", "v"]  # a category that only looks missing
    c, a = 0, 1
    assert table.costs.price(c) == 7 and table.costs.price(a) == 9
    assert table.costs.price(a, [step for step, _ in table.costs.newly_paid(c)]) == 8


def test_a_derived_column_costs_what_it_is_computed_from(tmp_path):
    sets = write_set(tmp_path, '[t]\ntable = "t"\nclasses = ["p", "q"]\nleave_out = ["r"]\n')
    costs = load_table("t", sets, "middle", tmp_path).costs
    a, b, c = 0, 1, 2
    assert costs.feature_names == ("a", "b", "c")
    assert [costs.price(j) for j in (a, b, c)] == [4, 3, 6]
    paid = {step for step, _ in costs.newly_paid(a)}
    assert costs.price(b, paid) == costs.price(c, paid) == 2
    assert costs.price(a, {step for step, _ in costs.newly_paid(c)}) == 0


@pytest.mark.parametrize(
    ("attributes", "message"),
    [('{AA = "a"}', "attribute 'BB' of prices is mapped to no column"), ('{AA = "z"}', "'AA' = 'z' maps no")],
)
def test_a_mapping_that_does_not_fit_is_refused(tmp_path, attributes, message):
    sets = write_set(
        tmp_path,
        f'[t]\ntable = "t"\nprices = "prices.toml"\nclasses = ["p", "q", "r"]\nattributes = {attributes}\n',
    )
    with pytest.raises(ValueError, match=message):
        load_table("t", sets, "middle", tmp_path)


@needs_data
@pytest.mark.parametrize("name", ENTRIES)
def test_every_set_loads_and_has_costs(name):
    low, high = load(name, "low"), load(name, "high")
    assert low.X.shape == high.X.shape and len(low.X) == len(low.y)
    assert set(np.unique(low.y)) == set(range(low.costs.n_classes))
    assert (np.diag(low.costs.matrix) == 0).all() and low.costs.matrix.max() > 0
    if name != "german_credit":
        assert high.costs.matrix.max() > low.costs.matrix.max()
        assert all(low.costs.price(j) > 0 for j in range(low.costs.n_features))


def column_counts(values: pd.Series, y: np.ndarray, n_classes: int) -> tuple[np.ndarray, bool]:
    """Cases by value and class, missing values last; and whether values are numbers."""
    known = values.dropna()
    order = np.sort(known.unique()) if values.dtype.kind in "if" else sorted(known.unique())
    rows = [np.bincount(y[(values == value).to_numpy()], minlength=n_classes) for value in order]
    rows.append(np.bincount(y[values.isna().to_numpy()], minlength=n_classes))
    return np.array(rows), values.dtype.kind in "if"


def may_be_made_of(counts: np.ndarray, binary: pd.Series, labels: np.ndarray) -> bool:
    """Whether a 0/1 column has the class counts of a range, or of a category or its complement."""
    rows, numeric = counts
    wanted = np.bincount(labels[binary.to_numpy() == 1], minlength=rows.shape[1])
    found = [*rows, *(rows.sum(axis=0) - rows)]
    if numeric:
        ends = np.vstack([np.zeros_like(rows[:1]), rows[:-1].cumsum(axis=0)])
        ranges = (ends[None, :] - ends[:, None]).reshape(-1, rows.shape[1])
        found = [*ranges, *(ranges + rows[-1])]
    return bool((np.array(found) == wanted).all(axis=1).any())


@needs_data
@pytest.mark.parametrize("name", ["annealing", "car", "glass", "mushroom", "tictactoe", "wine"])
def test_attributes_are_mapped_to_the_right_columns(name):
    """The binary columns that the price file's attributes were turned into are made of the mapped columns."""
    table = load(name)
    prices: Any = tomllib.loads((DATA / ENTRIES[name]["prices"]).read_text(encoding="utf-8"))
    binary = pd.read_csv(DATA / "streed" / prices["file"])
    labels = binary["target"].to_numpy() if "target" in binary else binary.iloc[:, -1].to_numpy()
    assert len(binary) == len(table.y)
    for attribute, entry in prices["attributes"].items():
        values = table.X[ENTRIES[name]["attributes"][attribute]]
        counts = column_counts(values, table.y, table.costs.n_classes)
        for column in entry["columns"]:
            assert may_be_made_of(counts, binary[column], labels), (attribute, column)
