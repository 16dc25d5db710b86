"""The study of committees: what is paid, and that a run goes on."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from experiments.cli import main
from experiments.committees_report import partial
from experiments.records import Records
from experiments.study import read_study

STUDY = """
kind = "committees"
sets_file = "sets.toml"
sets = ["hepatitis"]
level = "high"
folds = 2
depths = [1, 2]
members = 3
max_train = 70
reference = "tree"
methods = [
    {name = "tree", learner = "tree"},
    {name = "bagged", learner = "bagging"},
    {name = "boosted", learner = "CGAda"},
    {name = "DB", learner = "AdaBoostDB"},
    {name = "MetaCost", learner = "MetaCost"},
    {name = "blind", learner = "MetaCost, blind"},
]
"""


def test_a_run_pays_for_tests_and_goes_on(tmp_path: Path) -> None:
    (tmp_path / "sets.toml").write_text('[hepatitis]\nbundled = "hepatitis"\n')
    path, out = tmp_path / "c.toml", tmp_path / "c.jsonl"
    path.write_text(STUDY)
    assert main(["run", str(path), "--out", str(out)]) == 0
    records = Records(out)
    cells = pd.DataFrame(records.cells)
    assert len(cells) == 12 and (cells["partial_test_cost"] <= cells["test_cost"] + 1e-6).all()
    single = cells[cells["method"].isin(["tree", "MetaCost", "blind"])]
    assert (single["members"] == 1).all() and (single["partial_test_cost"] == single["test_cost"]).all()
    assert (cells.loc[cells["method"] == "bagged", "members"] == 3).all()
    before = out.read_bytes()
    assert main(["run", str(path), "--out", str(out)]) == 0 and out.read_bytes() == before
    assert main(["report", str(path), "--out", str(out), "--csv", str(tmp_path / "c.csv")]) == 0
    table = partial(read_study(path), records)
    standard = records.sets["hepatitis"]["standard"]
    own = cells[cells["method"] == "bagged"]
    assert table.loc["bagged", "partial_percent"] == pytest.approx(
        100 * own["partial_test_cost"].mean() / standard
    )
    assert len(pd.read_csv(tmp_path / "c.csv")) == 6


def test_methods_for_two_classes_are_refused_on_more(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pd.DataFrame({"u": range(30), "target": ["a", "b", "c"] * 10}).to_csv(tmp_path / "moon.csv", index=False)
    (tmp_path / "moon.toml").write_text('target = "target"\nnumeric = ["u"]\ncategorical = []\n')
    entry = '[moon]\ntable = "moon"\nclasses = ["a", "b", "c"]\nmisclassification = {high = [1, 2, 3]}\n'
    (tmp_path / "sets.toml").write_text(entry)
    path, out = tmp_path / "c.toml", tmp_path / "c.jsonl"
    path.write_text(STUDY.replace("hepatitis", "moon"))
    run = ["run", str(path), "--out", str(out), "--data", str(tmp_path)]
    assert main(run) == 2
    assert "method 'DB' is for two classes, set 'moon' has 3" in capsys.readouterr().err
    path.write_text(path.read_text().replace('    {name = "DB", learner = "AdaBoostDB"},\n', ""))
    assert main(run) == 0 and len(Records(out).cells) == 10


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("depths = [1, 2]", "depths = [0]", "depths must be whole numbers from 1 on"),
        ("members = 3", "members = 0", "members must be a whole number from 1 on"),
        ('learner = "CGAda"', 'learner = "CSB"', "learner 'CSB' is none of"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, old: str, new: str, message: str) -> None:
    path = tmp_path / "c.toml"
    path.write_text(STUDY.replace(old, new))
    with pytest.raises(ValueError, match=message):
        read_study(path)
