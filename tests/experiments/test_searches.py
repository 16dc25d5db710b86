"""The study of searches: what it counts, and that searches agree."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from experiments.cli import main
from experiments.records import Records
from experiments.searches import Pool
from experiments.searches_report import expected_roots, summary
from experiments.study import read_study

STUDY = """
kind = "searches"
sets_file = "sets.toml"
sets = ["small", "every cut"]
repeats = 2
rounds = 4
ratios = [[4, 1], [1, 2]]
reference = "exhaustive"
methods = [
    {name = "exhaustive", search = "exhaustive"},
    {name = "conditional", search = "conditional"},
    {name = "batch", search = "batch"},
    {name = "polynomials", search = "conditional", solver = "poly"},
    {name = "halving", search = "exhaustive", select = "loss", solver = "bisect"},
    {name = "least loss", search = "conditional", select = "loss"},
]
"""
SETS = '[small]\ncases = 80\nangles = 3\nmax_bins = 6\n["every cut"]\ncases = 80\nangles = 3\n'


def test_searches_agree_and_count(tmp_path: Path) -> None:
    (tmp_path / "sets.toml").write_text(SETS)
    path, out = tmp_path / "s.toml", tmp_path / "s.jsonl"
    path.write_text(STUDY)
    assert main(["run", str(path), "--out", str(out)]) == 0
    study, records = read_study(path), Records(out)
    assert len(records.cells) == 2 * 2 * 2 * 6
    assert [records.sets[name]["size"] for name in study.sets] == [32, 476]
    table = summary(study, records)
    assert (table["same"] == 1).all()
    full = table.xs("exhaustive", level="method")
    assert np.allclose(full["roots"], full["contributing"], rtol=0.01)  # a tie is solved once more
    conditional = table.xs("conditional", level="method")
    assert (conditional["roots"] < 3 * full["contributing"].map(expected_roots)).all()
    assert (conditional["avoided"] > 0.3).all()
    assert main(["report", str(path), "--out", str(out), "--figures", str(tmp_path)]) == 0


def test_sizes_are_those_of_the_pools_that_learners_make() -> None:
    assert [Pool("", 1000, a, b).size for a, b in ((12, 11), (36, 61), (36, None))] == [242, 4322, 71930]
    X, y = Pool("", 50, 2).table(0, 1)
    assert X.shape == (50, 2) and y.sum() == 25


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[[4, 1], [1, 2]]", "[[4, 0]]", "ratios must be pairs of whole numbers"),
        ("rounds = 4", "rounds = 4\nfolds = 2", "each ratio is one"),
        ('solver = "poly"', 'solver = "bisect"', "halving is for search 'exhaustive'"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, old: str, new: str, message: str) -> None:
    path = tmp_path / "s.toml"
    path.write_text(STUDY.replace(old, new))
    with pytest.raises(ValueError, match=message):
        read_study(path)
