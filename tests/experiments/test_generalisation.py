"""The study of generalisation: what is paid, by which tree, and that a run goes on."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from benchmarks._streed import load
from benchmarks._streed_peer import PeerProblem
from cstree import ParetoTreeClassifier
from experiments.cli import main
from experiments.folds import fold_numbers
from experiments.generalisation import BinarySet, Method, run_method
from experiments.generalisation_report import Difference, compare, percent
from experiments.records import Records
from experiments.study import read_study

STUDY = """
kind = "generalisation"
sets_file = "sets.toml"
sets = ["moon"]
levels = ["low", "high"]
inner_folds = 2
repeats = 3
reference = "exact"
methods = [
    {name = "exact", learner = "exact"},
    {name = "validated", learner = "validated"},
]
"""
SET = """
[misclassification]
low = [[0.0, 10.0], [20.0, 0.0]]
high = [[0.0, 100.0], [200.0, 0.0]]
[attributes]
a = {cost = 3.0, discount = 3.0, columns = ["a1", "a2"]}
b = {cost = 5.0, discount = 2.0, group = "blood", columns = ["b"]}
c = {cost = 4.0, discount = 1.0, group = "blood", columns = ["c"]}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Data folder with one small set, and a study of it."""
    rng = np.random.default_rng(0)
    X = rng.integers(2, size=(60, 4))
    y = np.where(rng.random(60) < 0.1, 1 - (X[:, 0] & X[:, 3]), X[:, 0] & X[:, 3])
    (tmp_path / "streed").mkdir()
    frame = pd.DataFrame(X, columns=["a1", "a2", "b", "c"]).assign(target=y)
    frame.to_csv(tmp_path / "streed" / "moon.csv.gz", index=False)
    (tmp_path / "streed" / "moon.toml").write_text(SET)
    (tmp_path / "sets.toml").write_text("[moon]\ndepths = [1, 2]\n")
    (tmp_path / "g.toml").write_text(STUDY)
    return tmp_path


def test_a_run_goes_on_and_is_reported(folder: Path) -> None:
    path, out = folder / "g.toml", folder / "g.jsonl"
    run = ["run", str(path), "--out", str(out), "--data", str(folder)]
    assert main(run) == 0
    study, records = read_study(path), Records(out)
    assert len(records.cells) == 3 * 2 * 2
    line, y = records.sets["moon"], pd.read_csv(folder / "streed" / "moon.csv.gz")["target"]
    assert line["standard"]["high"] == pytest.approx(12 + 200 * (1 - max(y.mean(), 1 - y.mean())))
    before = out.read_bytes()
    out.write_bytes(before[:-40])
    assert main(run) == 0
    again = Records(out)
    assert [cell | {"seconds": 0} for cell in again.cells] == [
        cell | {"seconds": 0} for cell in records.cells
    ]
    cells = percent(study, records)
    own = cells[(cells["level"] == "high") & (cells["method"] == "exact")]
    paid = own["misclassification"] + own["test_cost"]
    assert np.allclose(own["total_percent"], 100 * paid / line["standard"]["high"])
    differences = compare(study, cells, "validated", ["set", "level"])
    assert set(differences) == {("moon", "low"), ("moon", "high")}
    mean = np.mean([each.mean for each in differences.values()])
    assert compare(study, cells, "validated", [])[()].mean == pytest.approx(mean)
    csv = ["report", str(path), "--out", str(out), "--csv", str(folder / "g.csv")]
    assert main(csv) == 0 and len(pd.read_csv(folder / "g.csv")) == 4


def test_a_difference_is_judged_by_its_paired_error() -> None:
    assert Difference.of(np.full(4, 1e-9)).verdict == "even"
    dearer = Difference.of(np.array([1.0, 2.0, 3.0]))
    assert dearer.verdict == "dearer" and dearer.error == pytest.approx(1 / math.sqrt(3))
    assert Difference.of(np.array([-1.0, -2.0, -3.0])).verdict == "cheaper"
    assert Difference.of(np.array([-1.0, 2.0])).verdict == "even"
    assert all(Difference.of(np.eye(n)[0] * 0.1).verdict == "even" for n in range(2, 30))
    assert Difference.of(np.array([5.0])).verdict == "even"  # one difference has no error


@dataclass
class Node:
    """Looks as pystreed's nodes do."""

    label: int = -1
    feature: int = -1
    left_child: Any = None
    right_child: Any = None

    def is_leaf_node(self) -> bool:
        return self.feature < 0


def test_trees_of_the_peer_pay_as_ours_do(folder: Path) -> None:
    table = load("moon", "high", whole=True, folder=folder / "streed")
    problem = PeerProblem(np.array(table.matrix), table.attributes, ["a", "a", "b", "c"])
    # a1: 3; then a2: free; then b: 5; then c: 1, as blood is drawn
    deep = Node(feature=3, left_child=Node(0), right_child=Node(1))
    tree = Node(feature=2, left_child=Node(0), right_child=deep)
    tree = Node(feature=1, left_child=Node(1), right_child=tree)
    tree = Node(feature=0, left_child=Node(0), right_child=tree)
    binary = np.array([[0, 0, 0, 0], [1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 1]], dtype=np.intc)
    wrong, tests = problem.pay(tree, binary, np.array([1, 0, 0, 0]))
    assert wrong.tolist() == [200, 100, 0, 100] and tests.tolist() == [3, 3, 8, 9]


def test_the_peer_finds_what_is_optimal(folder: Path) -> None:
    pytest.importorskip("pystreed")
    path, out = folder / "g.toml", folder / "g.jsonl"
    methods = '    {name = "peer", learner = "pystreed"},\n]'
    path.write_text(STUDY.replace("repeats = 3", "repeats = 1").replace("\n]", "\n" + methods))
    assert main(["run", str(path), "--out", str(out), "--data", str(folder)]) == 0
    cells = pd.DataFrame(Records(out).cells).set_index(["method", "level"])
    paid = (cells["misclassification"] + cells["test_cost"]).unstack("level")
    assert np.allclose(paid.loc["peer"], paid.loc["exact"])


def test_a_depth_by_cross_validation_is_what_the_classifier_validates_with_one_caution(folder: Path) -> None:
    table = load("moon", "high", whole=True, folder=folder / "streed")
    one, rows = BinarySet("moon", {"high": table}, (1, 2)), np.arange(60)
    inner = fold_numbers(table.y[:45], 3, np.random.default_rng(4))
    found = run_method(Method("", "exact"), one, table, rows[:45], rows[45:], inner)
    model = ParetoTreeClassifier(
        table.costs(),
        search="exact",
        max_depth=(1, 2),
        max_bins=None,
        min_support=1,
        validation=[(np.flatnonzero(inner != k), np.flatnonzero(inner == k)) for k in range(3)],
        prior_cases=0,
        standard_errors=0,
    ).fit(table.X[:45], table.y[:45])
    assert (found["depth"], found["leaves"]) == (model.max_depth_, model.tree_.n_leaves)
    assert found["test_cost"] == pytest.approx(np.mean(model.test_cost(table.X[45:])))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('["low", "high"]', '["dear"]', "level 'dear' is none of"),
        ("repeats = 3", "folds = 3", "each level is one"),
        ("inner_folds = 2", "test_share = 1.0", "test_share must be between 0 and 1"),
        ('learner = "exact"', 'learner = "greedy"', "learner 'greedy' is none of"),
    ],
)
def test_what_is_wrong_is_named(folder: Path, old: str, new: str, message: str) -> None:
    path = folder / "g.toml"
    path.write_text(STUDY.replace(old, new))
    with pytest.raises(ValueError, match=message):
        read_study(path)


def test_what_is_not_there_is_said(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, out = folder / "g.toml", folder / "g.jsonl"
    assert main(["run", str(path), "--out", str(out), "--data", str(folder / "none")]) == 0
    assert "skipped moon" in capsys.readouterr().err
    path.write_text(STUDY.replace('learner = "validated"', 'learner = "pystreed"'))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert main(["run", str(path), "--out", str(out), "--data", str(folder)]) == 2
    assert "pip install pystreed" in capsys.readouterr().err
