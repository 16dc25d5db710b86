"""The command line as a user meets it: what it prints, what it writes, how it fails."""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from cstree.cli import main
from cstree.cli.tables import print_front
from cstree.datasets import load_heart
from cstree.evolution import classifier as evolution
from cstree.pareto.front import Front
from cstree.persistence import load_model
from tests.handmade import AWKWARD, clinic

ROOT = Path(__file__).resolve().parents[1]
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)

    def call(*arguments: object) -> tuple[int, str, str]:
        code = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table, its costs, and a model of each method."""
    folder = tmp_path_factory.mktemp("clinic")
    X, y, costs = clinic(120, seed=5)
    X.assign(state=y, number=range(len(X))).to_csv(folder / "clinic.csv", index=False)
    costs.to_toml(folder / "costs.toml")
    common = ["fit", str(folder / "clinic.csv"), "--target", "state", "--ignore", "number"]
    common += ["--costs", str(folder / "costs.toml"), "--seed", "1", "-o"]
    assert main([*common, str(folder / "nnia.json")]) == 0
    assert main([*common, str(folder / "greedy.json"), "--method", "greedy", "--criterion", "mincost"]) == 0
    return folder


def in_a_process(*arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "cstree", *map(str, arguments)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        cwd=ROOT,
        check=False,
        **options,
    )


# --- what it does -----------------------------------------------------------------------------------


def test_demo_writes_and_prints_everything(run: Run, tmp_path: Path) -> None:
    pytest.importorskip("plotly", reason="the page needs the extra `plot`")
    code, out, _ = run("demo", "--seconds", 2)
    assert code == 0
    model = load_model("demo/model.json")
    assert model.export_text() in out
    assert out.count("<- chosen") == 1
    assert "first run" in out
    table = pd.read_csv("demo/front.csv", index_col="point")
    np.testing.assert_array_equal(table.iloc[:, :2].to_numpy(), model.front_.objectives)
    assert f"{len(table)} trees" in out
    for line in re.findall(r"^  (\S+)$", out.partition("Written:")[2], re.MULTILINE):
        assert (tmp_path / line).stat().st_size > 0
    written = sorted(path.name for path in (tmp_path / "demo").iterdir())
    assert written == ["front.csv", "front.html", "model.json", "tree.svg"]


def test_demo_without_the_extras_says_so_and_does_the_rest(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "plotly.graph_objects", None)
    monkeypatch.setattr("cstree.plot.tree.find_renderer", lambda: None)
    code, out, err = run("demo", "--seconds", 1, "--output", "a/b")
    assert code == 0
    assert re.search(r"front\.html is not written: plotly.*cstree\[plot\]", err)
    assert re.search(r"tree\.svg is not written:.*graphviz-pure", err)
    assert sorted(path.name for path in (tmp_path / "a" / "b").iterdir()) == ["front.csv", "model.json"]
    assert "browser" not in out


def test_same_seed_same_model(run: Run, folder: Path) -> None:
    fit = ["fit", folder / "clinic.csv", "--target", "state", "--ignore", "number"]
    code, out, _ = run(*fit, "--costs", folder / "costs.toml", "--seed", 1, "-o", "again.json")
    assert code == 0
    assert "Written: again.json" in out
    first, second = (json.loads(path.read_text()) for path in (folder / "nnia.json", Path("again.json")))
    assert first["front"]["info"].pop("seconds") > 0
    assert second["front"]["info"].pop("seconds") > 0
    assert first == second


def test_fit_passes_its_options_on(run: Run, folder: Path) -> None:
    fit = ["fit", folder / "clinic.csv", "--target", "state", "--ignore", "number", "-o", "m.json"]
    costs = ["--costs", folder / "costs.toml"]
    code, out, _ = run(*fit, *costs, "--select", "max_test_cost=1.5", "--max-depth", 3, "--min-support", 5)
    assert code == 0
    model = load_model("m.json")
    assert (model.select, model.max_depth, model.min_support) == ({"max_test_cost": 1.5}, 3, 5)
    assert model.test_cost(pd.read_csv(folder / "clinic.csv")[list(model.schema_.names)]).mean() <= 1.5
    assert max(tree.depth for tree in model.front_) <= 3
    assert run(*fit, *costs, "--select", "knee", "--seconds", 0.5)[0] == 0
    timed = load_model("m.json")
    assert (timed.time_budget, timed.generations, timed.patience, timed.verbose) == (0.5, None, None, 0)
    code, out, _ = run(
        *fit, "--method", "greedy", "--criterion", "gini", "--categorical", "sugar,age", "--max-depth", 2
    )
    assert code == 0
    assert "<- chosen" not in out
    model = load_model("m.json")
    assert (model.criterion, model.max_depth) == ("gini", 2)
    assert [feature.kind for feature in model.schema_] == [
        "categorical",
        "categorical",
        "numeric",
        "categorical",
    ]


def test_predict_writes_what_the_model_says(run: Run, folder: Path) -> None:
    table = pd.read_csv(folder / "clinic.csv", keep_default_na=False, na_values=[""])
    for name in ("nnia.json", "greedy.json"):
        model = load_model(folder / name)
        X = table[list(model.schema_.names)]
        assert run("predict", folder / name, folder / "clinic.csv", "-o", "out.csv") == (0, "", "")
        written = pd.read_csv("out.csv", keep_default_na=False)
        assert list(written) == ["prediction", "probability_ill", "probability_well", "test_cost"]
        assert written["prediction"].tolist() == model.predict(X).tolist()
        np.testing.assert_array_equal(written.iloc[:, 1:3].to_numpy(), model.predict_proba(X))
        np.testing.assert_array_equal(written["test_cost"].to_numpy(), model.test_cost(X))
        code, out, _ = run("predict", folder / name, folder / "clinic.csv")
        assert (code, out) == (0, Path("out.csv").read_text(encoding="utf-8"))


def test_front_as_table_file_and_page(run: Run, folder: Path) -> None:
    pytest.importorskip("plotly", reason="the page needs the extra `plot`")
    model = load_model(folder / "nnia.json")
    code, out, _ = run("front", folder / "nnia.json")
    assert code == 0
    assert f"{len(model.front_)} trees" in out
    assert run("front", folder / "nnia.json", "-o", "front.csv")[0] == 0
    code, out, _ = run("front", folder / "nnia.json", "-o", "-")
    assert out == Path("front.csv").read_text(encoding="utf-8") == model.front_.to_frame().to_csv()
    assert run("front", folder / "nnia.json", "--html", "front.html", "--title", "A <title>")[0] == 0
    assert "A &lt;title&gt;" in Path("front.html").read_text(encoding="utf-8")
    code, _, err = run("front", folder / "greedy.json")
    assert code == 2
    assert "one tree and no front" in err
    assert run("front", folder / "greedy.json", "--html", "one.html")[0] == 0


def test_long_fronts_are_thinned_out_on_the_terminal(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = load_model(folder / "nnia.json")
    model.front_ = Front([[100.0 - i, float(i)] for i in range(100)], range(100))
    model.selected_ = 57
    print_front(model)
    out = capsys.readouterr().out
    shown = [int(number) for number in re.findall(r"^(\d+) +\d+\.\d\d", out, re.MULTILINE)]
    assert shown[0] == 0
    assert shown[-1] == 99
    assert 57 in shown
    assert 15 < len(shown) < 30
    assert f"({len(shown)} of 100 rows)" in out


def test_draw(run: Run, folder: Path) -> None:
    code, out, _ = run("draw", folder / "nnia.json", "-o", "tree.dot", "--point", 0, "--direction", "LR")
    assert (code, out) == (0, "Written: tree.dot\n")
    model = load_model(folder / "nnia.json")
    text = Path("tree.dot").read_text(encoding="utf-8")
    assert "rankdir=LR" in text
    assert text.count("->") == model.front_[0].n_nodes - 1
    code, _, err = run("draw", folder / "nnia.json", "-o", "tree.dot", "--point", 9999)
    assert code == 2
    assert "point 9999 is not on the front" in err
    code, _, err = run("draw", folder / "nnia.json", "-o", "tree.doc")
    assert code == 2
    assert ".svg, .png" in err


def test_awkward_names_go_all_the_way(run: Run) -> None:
    table = pd.DataFrame({name: np.arange(30.0) for name in AWKWARD})
    table["label"] = [AWKWARD[i // 15] for i in range(30)]
    table.to_csv("names.csv", index=False, encoding="utf-8-sig")  # with the mark that spreadsheets write
    fit = ["fit", "names.csv", "--target", "label", "-o", "m.json", "--method", "greedy"]
    assert run(*fit)[0] == 0
    model = load_model("m.json")
    assert model.schema_.names == tuple(AWKWARD)
    code, out, _ = run("predict", "m.json", "names.csv")
    assert code == 0
    Path("out.csv").write_text(out, encoding="utf-8")
    assert pd.read_csv("out.csv")["prediction"].tolist() == table["label"].tolist()
    # A single column is named as it is, commas and all.
    assert (
        run(
            "fit",
            "names.csv",
            "--target",
            "label",
            "-o",
            "m.json",
            "--method",
            "greedy",
            "--ignore",
            AWKWARD[12],
        )[0]
        == 0
    )
    assert AWKWARD[12] not in load_model("m.json").schema_.names


def test_only_empty_cells_are_missing(run: Run) -> None:
    Path("t.csv").write_text("c,y\nNA,a\nnull,b\nNaN,a\n,b\nNA,a\nnull,b\n", encoding="utf-8")
    assert run("fit", "t.csv", "--target", "y", "-o", "m.json", "--method", "greedy")[0] == 0
    (feature,) = load_model("m.json").schema_
    assert feature.categories == ("NA", "NaN", "null")
    assert feature.has_missing


def test_compressed_tables(run: Run, folder: Path) -> None:
    Path("t.csv.gz").write_bytes(gzip.compress((folder / "clinic.csv").read_bytes()))
    code, out, _ = run("predict", folder / "greedy.json", "t.csv.gz")
    assert code == 0
    assert len(out.splitlines()) == 121


# --- how it fails -----------------------------------------------------------------------------------

TABLES = {
    "absent.csv": (None, "absent.csv: No such file"),
    "empty.csv": ("", "empty.csv: the file is empty"),
    "blank.csv": ("\n\n", "blank.csv: the file is empty"),
    "header.csv": ("a,y\n", "header.csv: the table has a header but no rows"),
    "target.csv": ("a,b\n1,2\n", "there is no column 'y'; the columns are 'a', 'b'"),
    "only.csv": ("y\n1\n2\n", "no column is left besides the target 'y'"),
    "twice.csv": ("a,a,y\n1,2,3\n", "two columns are called 'a'"),
    "unnamed.csv": (",a,y\n0,1,2\n", "column 1 has no name"),
    "long.csv": ("a,y\n1,2,3\n4,5,6\n", "no CSV table"),
    "ragged.csv": ("a,y\n1,2\n3,4,5,6\n", "no CSV table"),
    "hole.csv": ("a,y\n1,2\n3,\n", "row 2 has no 'y'"),
    "infinite.csv": ("a,y\n1,2\ninf,3\n", "'a' contains infinity"),
    "latin.csv": ("a,y\n\xe9,2\n".encode("latin-1"), "not in UTF-8"),
    "broken.csv.gz": (b"\x1f\x8bno", "broken.csv.gz: "),
}


@pytest.mark.parametrize("name", TABLES)
def test_bad_tables(run: Run, name: str) -> None:
    content, reason = TABLES[name]
    if content is not None:
        Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())
    code, out, err = run("fit", name, "--target", "y", "-o", "m.json", "--method", "greedy")
    assert (code, out) == (2, "")
    assert reason in err
    assert err.startswith("cstree: error: ")
    assert len(err.splitlines()) == 1
    assert not Path("m.json").exists()


def test_bad_requests(run: Run, folder: Path) -> None:
    fit = ["fit", folder / "clinic.csv", "--target", "state", "-o", "m.json"]
    Path("odd.toml").write_text("tests = 5\n")
    Path("unknown.toml").write_text("[tests]\nabsent = 5\n")
    Path("odd.json").write_text("{}")
    Path("other.csv").write_text("pain\nmild\n")
    for arguments, reason in (
        ([*fit, "--categorical", "absent"], "there is no column 'absent'"),
        ([*fit, "--ignore", "absent"], "there is no column 'absent'"),
        ([*fit, "--costs", "absent.toml"], "absent.toml"),
        ([*fit, "--costs", "odd.toml"], "odd.toml: "),
        ([*fit, "--costs", "unknown.toml"], "'absent'"),
        ([*fit, "--select", "best"], "unknown selection rule 'best'"),
        ([*fit, "--select", "max_test_cost=much"], "'much' is no number"),
        ([*fit, "--select", "max_test_cost"], "needs a number"),
        ([*fit, "--criterion", "gini"], "--criterion belongs to --method greedy"),
        ([*fit, "--method", "greedy", "--select", "knee"], "--select belongs to --method nnia"),
        ([*fit, "--method", "greedy", "--criterion", "magic"], "magic"),
        ([*fit, "--method", "greedy", "-o", "absent/m.json"], "absent does not exist"),
        (["predict", "absent.json", folder / "clinic.csv"], "absent.json"),
        (["predict", "odd.json", folder / "clinic.csv"], "odd.json: no model file"),
        (["predict", folder / "nnia.json", "other.csv"], "there is no column 'age'"),
        (["draw", "odd.json", "-o", "t.svg"], "odd.json: no model file"),
        (["demo", "--output", folder / "costs.toml"], "costs.toml"),
    ):
        code, _, err = run(*arguments)
        assert code == 2, arguments
        last = err.splitlines()[-1]
        assert last.startswith("cstree: error: ")
        assert reason in last
        assert "Traceback" not in err
    assert not Path("m.json").exists()


def test_a_number_that_became_text(run: Run, folder: Path) -> None:
    table = pd.read_csv(folder / "clinic.csv")
    table["age"] = "old"
    table.to_csv("t.csv", index=False)
    code, _, err = run("predict", folder / "nnia.json", "t.csv")
    assert code == 2
    assert "'age' is numeric" in err


@pytest.mark.parametrize(
    "arguments", [[], ["fly"], ["demo", "--seconds", "-1"], ["fit", "t.csv"], ["demo", "--seed", "x"]]
)
def test_wrong_usage(run: Run, arguments: list[str]) -> None:
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert "usage: cstree" in err


def test_warnings_are_one_line(run: Run, folder: Path) -> None:
    Path("some.toml").write_text("[tests]\nage = 1.0\n")
    code, _, err = run(
        "fit",
        folder / "clinic.csv",
        "--target",
        "state",
        "-o",
        "m.json",
        "--method",
        "greedy",
        "--costs",
        "some.toml",
    )
    assert code == 0
    (line,) = err.splitlines()
    assert line.startswith("cstree: warning: no test price for ")


# --- Ctrl-C, pipes, processes -----------------------------------------------------------------------


def interrupt_after(reports: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Press Ctrl-C when the search reports for the n-th time."""
    seen: list[object] = []

    def report(self: object, progress: object) -> None:
        seen.append(progress)
        if len(seen) >= reports:
            raise KeyboardInterrupt

    monkeypatch.setattr(evolution.ProgressBar, "__call__", report)


def test_ctrl_c_keeps_what_was_found(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    interrupt_after(2, monkeypatch)
    code, out, err = run("fit", folder / "clinic.csv", "--target", "state", "-o", "m.json")
    assert code == 130
    assert "interrupted; writing what was found" in err
    assert len(load_model("m.json").front_) >= 1
    assert "Written: m.json" in out
    interrupt_after(2, monkeypatch)
    code, out, _ = run("demo")
    assert code == 130
    assert Path("demo/front.csv").exists()
    assert "The chosen tree" in out


def test_ctrl_c_before_anything_was_found(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fit(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(evolution.ParetoTreeClassifier, "fit", fit)
    code, _, err = run("fit", folder / "clinic.csv", "--target", "state", "-o", "m.json")
    assert code == 130
    assert err.splitlines()[-1] == "cstree: interrupted"
    assert not Path("m.json").exists()


def test_python_m_cstree() -> None:
    done = in_a_process("--version")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("cstree ")
    done = in_a_process("--help")
    assert done.returncode == 0
    for command in ("demo", "fit", "predict", "front", "draw"):
        assert f"    {command} " in done.stdout
        text = in_a_process(command, "--help").stdout if command == "fit" else ""
        assert command != "fit" or "example:\n  cstree fit" in text


@pytest.mark.skipif(os.name == "nt", reason="pipes of POSIX")
def test_a_reader_that_goes_away(folder: Path) -> None:
    done = subprocess.run(
        f'"{sys.executable}" -m cstree predict nnia.json clinic.csv | head -n 1',
        shell=True,
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
    )
    assert done.stdout == "prediction,probability_ill,probability_well,test_cost\n"
    assert done.stderr == ""


def test_a_terminal_that_lacks_signs(folder: Path) -> None:
    done = in_a_process("front", folder / "nnia.json", env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0
    fit = in_a_process(
        "fit", folder / "clinic.csv", "--target", "state", "-o", folder / "x.json", "--method", "greedy",
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
    )  # fmt: skip
    assert fit.returncode == 0
    assert json.loads((folder / "x.json").read_text())["format"] == "cstree-model"


def test_a_rule_that_no_tree_meets_does_not_lose_the_front(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = load_heart().data.assign(y=load_heart().target)
    source, model = tmp_path / "heart.csv", tmp_path / "model.json"
    table.to_csv(source, index=False)
    arguments = ["fit", str(source), "--target", "y", "--seconds", "0.2", "-o", str(model)]
    assert main([*arguments, "--select", "max_misclassification_cost=-1"]) == 2
    assert "least total cost is taken instead" in capsys.readouterr().err
    kept = load_model(model)
    assert kept.selected_ == kept.front_.select("total_cost")


# --- held-out cases -----------------------------------------------------------------------------------


def test_a_choice_is_tried_on_held_out_cases(run: Run, folder: Path) -> None:
    table = folder / "clinic.csv"
    common = ["fit", table, "--target", "state", "--ignore", "number", "--max-depth", 2, "-o", "m.json"]
    code, out, _ = run(*common, "--validation", 2)
    assert code == 0
    assert "On held-out cases" in out
    assert out.count("<- taken") == 1
    assert load_model("m.json").validation == 2
    for wrong in ("1", "1.5", "some"):
        code, _, err = run(*common, "--validation", wrong)
        assert code == 2
        assert "no number of folds" in err
    code, _, err = run(*common, "--method", "greedy", "--validation", "0.3")
    assert code == 2
    assert "--validation belongs to --method nnia" in err


def test_a_front_is_shown_on_another_table(run: Run, folder: Path) -> None:
    X, y, _ = clinic(50, seed=77)
    X.assign(state=y).to_csv("new.csv", index=False)
    code, out, _ = run("front", folder / "nnia.json", "--on", "new.csv", "--target", "state", "-o", "-")
    assert code == 0
    wanted = load_model(folder / "nnia.json").front_.evaluate(X, y).to_frame()
    found = pd.read_csv(io.StringIO(out), index_col="point")
    pd.testing.assert_frame_equal(found, wanted)
    code, out, _ = run("front", folder / "nnia.json", "--on", "new.csv", "--target", "state")
    assert code == 0
    assert "survives" in out
    code, _, err = run("front", folder / "nnia.json", "--on", "new.csv")
    assert code == 2
    assert "--on and --target belong together" in err
    code, _, err = run("front", folder / "nnia.json", "--on", "new.csv", "--target", "status")
    assert code == 2
    assert "there is no column 'status'" in err
