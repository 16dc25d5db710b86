from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from cstree.datasets import load_bupa
from cstree.greedy.classifier import GreedyTreeClassifier
from experiments.cli import main
from experiments.records import Records
from experiments.report import marks

STUDY = """
sets_file = "sets.toml"
sets = ["bupa", "hepatitis", "moon"]
folds = 3
inner_folds = 2
depths = [0, 1, 3]
repeats = 2
reference = "SECSDT_MC"
[[methods]]
name = "SECSDT_MC"
[[methods]]
name = "cost"
criterion = "cost"
[[methods]]
name = "CART"
grower = "scikit-learn"
answers = "majority"
"""
SETS = '[bupa]\nbundled = "bupa"\n[hepatitis]\nbundled = "hepatitis"\n'
SETS += '[moon]\ntable = "moon"\nclasses = ["a", "b"]\n'


@pytest.fixture
def study(tmp_path: Path) -> Path:
    (tmp_path / "sets.toml").write_text(SETS)
    path = tmp_path / "small.toml"
    path.write_text(STUDY)
    return path


def run(study: Path, out: Path, *more: str) -> int:
    return main(["run", str(study), "--out", str(out), "--data", str(study.parent / "nowhere"), *more])


def cells(out: Path) -> dict[tuple, dict]:
    plain = {(c["set"], c["repeat"], c["fold"], c["method"]): c for c in Records(out).cells}
    return {key: {k: v for k, v in cell.items() if k != "seconds"} for key, cell in plain.items()}


def test_a_killed_run_goes_on_and_ends_as_one_that_was_not(study, tmp_path, capsys):
    whole, killed = tmp_path / "whole.jsonl", tmp_path / "killed.jsonl"
    assert run(study, whole) == 0
    printed = capsys.readouterr()
    assert "36 cells run" in printed.out
    assert "skipped moon" in printed.err and "say where with --data" in printed.err
    lines = whole.read_bytes().splitlines(keepends=True)
    killed.write_bytes(b"".join(lines[:14]) + lines[14][:30])
    assert run(study, killed, "--jobs", "2") == 0
    assert f"{36 - (14 - 3)} cells run" in capsys.readouterr().out  # the first lines: settings, two sets
    assert cells(killed) == cells(whole)
    assert len(Records(killed).cells) == 36
    assert run(study, killed) == 0
    assert "0 cells run" in capsys.readouterr().out


def test_repeats_come_before_sets(study, tmp_path):
    out = tmp_path / "x.jsonl"
    run(study, out)
    order = [(c["repeat"], c["set"], c["fold"]) for c in Records(out).cells]
    assert order == sorted(order)


def test_no_fold_begins_after_the_limit(study, tmp_path, capsys):
    assert run(study, tmp_path / "x.jsonl", "--limit-seconds", "0") == 0
    printed = capsys.readouterr()
    assert "stopped after 0 s; the same command goes on" in printed.err and "0 cells run" in printed.out


def test_a_new_method_is_run_on_the_same_folds(study, tmp_path, capsys):
    out = tmp_path / "x.jsonl"
    run(study, out)
    before = cells(out)
    study.write_text(STUDY + '[[methods]]\nname = "SECSDT_MC again"\n')
    capsys.readouterr()
    run(study, out)
    assert "12 cells run" in capsys.readouterr().out
    for (name, repeat, fold, method), cell in cells(out).items():
        if method == "SECSDT_MC again":
            assert {**cell, "method": "SECSDT_MC"} == before[name, repeat, fold, "SECSDT_MC"]


def test_what_is_wrong_ends_in_one_line(study, tmp_path, capsys):
    out = tmp_path / "x.jsonl"
    run(study, out)
    study.write_text("seed = 4\n" + STUDY)
    capsys.readouterr()
    assert run(study, out) == 2
    assert (
        capsys.readouterr()
        .err.splitlines()[-1]
        .startswith("experiments: x.jsonl holds results for another seed")
    )
    assert run(study, out, "--jobs", "0") == 2
    assert main(["report", str(study), "--out", str(tmp_path / "none.jsonl")]) == 2
    assert "run the study first" in capsys.readouterr().err


def test_report_replaces_what_stands_between_the_marks(study, tmp_path, capsys):
    out, page, table = tmp_path / "x.jsonl", tmp_path / "page.md", tmp_path / "x.csv"
    begin, end = marks("small")
    run(study, out)
    main(["pack", str(out)])
    packed = tmp_path / "x.jsonl.gz"
    page.write_text(f"# Head\n\n{begin}\nto be replaced\n{end}\nreading\n")
    arguments = ["report", str(study), "--out", str(packed), "--markdown", str(page), "--csv", str(table)]
    assert main(arguments) == 0
    text = page.read_text()
    assert text.startswith(f"# Head\n\n{begin}\n") and text.endswith(f"{end}\nreading\n")
    assert "to be replaced" not in text and "2 x 3-fold cross-validation, 2 sets, 3 methods" in text
    assert main(arguments) == 0 and page.read_text() == text
    frame = pd.read_csv(table).set_index(["set", "method"])
    line = {c["set"]: c for c in Records(out).sets.values()}["bupa"]
    own = [c for c in Records(out).cells if c["set"] == "bupa" and c["method"] == "CART"]
    expected = 100 * sum(c["misclassification"] + c["test_cost"] for c in own) / len(own) / line["standard"]
    assert frame.loc[("bupa", "CART"), "total_percent"] == pytest.approx(expected, abs=1e-4)
    page.write_text("no marks")
    assert main(arguments) == 2
    assert "must hold the lines" in capsys.readouterr().err


def test_only_finished_repeats_are_reported(study, tmp_path, capsys):
    out = tmp_path / "x.jsonl"
    run(study, out)
    lines = out.read_text().splitlines(keepends=True)
    out.write_text("".join(lines[:-1]))
    capsys.readouterr()
    assert main(["report", str(study), "--out", str(out)]) == 0
    assert "1 x 3-fold" in capsys.readouterr().out
    first = next(i for i, line in enumerate(lines) if "repeat" in json.loads(line))
    out.write_text("".join(lines[: first + 2]))
    assert main(["report", str(study), "--out", str(out)]) == 2
    assert "no repeat is finished" in capsys.readouterr().err


def test_roots_tell_whether_the_chosen_split_pays(study, tmp_path, capsys):
    page = tmp_path / "page.md"
    begin, end = marks("small roots")
    page.write_text(f"{begin}\n{end}\n")
    data = ["--data", str(tmp_path / "nowhere")]
    assert main(["roots", str(study), *data, "--markdown", str(page)]) == 0
    assert main(["roots", str(study), *data]) == 0
    rows = [line.split(" | ") for line in capsys.readouterr().out.splitlines()[2:] if line]
    assert [row[0] for row in rows] == ["| bupa", "| hepatitis"]
    assert all(line in page.read_text() for line in map(" | ".join, rows))
    # Mistakes of bupa at the middle level cost 10 and 9, 169 and 176 cases: 9 * 176 / (10 * 169).
    assert rows[0][1] == f"{9 * 176 / (10 * 169):.2f}"
    model = GreedyTreeClassifier(load_bupa().costs).fit(*load_bupa(return_X_y=True))
    assert rows[0][4] == ("yes" if model.tree_.n_leaves > 1 else "no")
