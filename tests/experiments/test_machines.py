"""The study of support vector machines: parts, objectives, a run that goes on, and its tables."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import issparse
from sklearn.svm import SVC

from cstree.svm.linear import CostLinearSVC
from experiments.cli import main
from experiments.machines import Part, _costs, choose, objective
from experiments.machines_report import agreement, excess
from experiments.machines_tasks import load_tasks, make_part
from experiments.records import Records
from experiments.report import finished_repeats
from experiments.study import Study, read_study

STUDY = """
kind = "machines"
sets_file = "sets.toml"
sets = ["drawn", "given"]
repeats = 2
ratios = [1, 5]
strengths = [0.01, 1]
rbf_strengths = [1]
max_choice = 60
max_kernel = 50
reference = "exact"
methods = [
    {name = "exact", learner = "CostLinearSVC", options = {tol = 1e-8}},
    {name = "pairs", learner = "CostLinearSVC", options = {solver = "rdcd", tol = 1e-2}},
    {name = "CSSVM", learner = "CostLinearSVC", cssvm = true},
    {name = "class ratio", learner = "CostLinearSVC", weights = "balanced"},
    {name = "hinge", learner = "LinearSVC", options = {loss = "hinge", max_iter = 10_000}},
    {name = "exact, sample", learner = "CostLinearSVC", sample = true},
    {name = "SVC, sample", learner = "SVC", sample = true, options = {kernel = "linear", tol = 1e-6}},
    {name = "rbf", learner = "SVC", weights = "blind", sample = true, options = {kernel = "rbf"}},
    {name = "one answer", learner = "constant"},
]
"""
SETS = """
[drawn]
table = "mixed"
positive = ["yes"]
[given]
table = "digits"
train_rows = 90
by_repeat = ["2", "0"]
divide = 16
max_train = 80
[halves]
table = "mixed"
test_table = "other"
negative = ["no"]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A study, and three small tables."""
    rng = np.random.default_rng(0)

    def write(name: str, columns: dict[str, object], text: list[str]) -> None:
        frame = pd.DataFrame(columns)
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
        numbers = [c for c in frame.columns if c not in text and c != "target"]
        (tmp_path / f"{name}.toml").write_text(
            f'numeric = {numbers!r}\ncategorical = {text!r}\ntarget = "target"\n'
        )

    for name, n in (("mixed", 120), ("other", 30)):
        y = rng.random(n) < 0.3
        kind = np.where(rng.random(n) < 0.1, None, rng.choice(["u", "v"] if n > 30 else ["u", "w"], n))
        columns = {"a": rng.normal(5, 2, n) + 2 * y, "flag": rng.integers(0, 2, n), "kind": kind}
        write(name, {**columns, "target": np.where(y, "yes", "no")}, ["kind"])
    y = rng.integers(0, 3, 130)
    pixels = {f"p{i}": rng.integers(0, 12, 130) + 4 * (y == i) for i in range(3)}
    write("digits", {**pixels, "target": y}, [])
    (tmp_path / "sets.toml").write_text(SETS)
    (tmp_path / "svm.toml").write_text(STUDY)
    return tmp_path


def _study(folder: Path, text: str = STUDY) -> Study:
    (folder / "svm.toml").write_text(text)
    return read_study(folder / "svm.toml")


def test_parts_are_those_of_the_table_or_drawn_and_encoded_by_training_cases(folder: Path) -> None:
    study = _study(folder, STUDY.replace('"given"]', '"given", "halves"]'))
    drawn, given, halves = load_tasks(study, folder)
    part = make_part(drawn, 0, 0)
    assert (
        issparse(part.X) and part.X.shape == (84, 5) and part.new.shape == (36, 5)
    )  # a, u, v, missing, flag
    assert make_part(drawn, 0, 1).y.sum() == part.y.sum()
    scale = part.X.toarray().std(axis=0)
    assert np.isclose(scale, 1.0).sum() == 1 and set(np.unique(part.X.toarray()[:, -1])) == {0.0, 1.0}
    for repeat, label in enumerate("20"):
        part = make_part(given, 0, repeat)
        assert part.X.shape == (80, 3) and part.X.max() <= 1
        assert np.array_equal(part.truth == 1, given.labels[90:] == label)
    part = make_part(halves, 0, 0)
    assert part.new.shape == (30, 5)  # a category that training cases do not have is no column
    assert np.array_equal(part.truth == 1, halves.labels[120:] == "yes")


def test_the_objective_is_that_of_the_machine_and_of_svc(folder: Path) -> None:
    (task, _) = load_tasks(_study(folder), folder)
    part = make_part(task, 0, 0)
    weight = {0: 2 / 6, 1: 10 / 6}
    model = CostLinearSVC(_costs(5), C=0.3, tol=1e-9).fit(part.X, part.y)
    own = objective(part, model.coef_, 0.3, weight)
    assert own == pytest.approx(model.objective_, rel=1e-9)
    peer = SVC(kernel="linear", C=0.3, class_weight=weight, tol=1e-8).fit(part.X, part.y)
    assert own == pytest.approx(objective(part, peer.coef_, 0.3, weight), rel=1e-7)
    dense = Part(part.X.toarray(), part.y, part.new, part.truth)
    assert own == pytest.approx(objective(dense, model.coef_, 0.3, weight), rel=1e-12)


def test_strengths_are_chosen_once_for_all_and_cost_least(folder: Path) -> None:
    study = _study(folder)
    (task, _) = load_tasks(study, folder)
    first = choose(task, study.settings, 0)
    choose.cache_clear()
    assert choose(task, study.settings, 0) == first
    assert first.linear in study.settings.strengths and first.rbf == 1


def test_a_run_goes_on_and_its_report_tells_what_it_holds(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    study, out = _study(folder), folder / "svm.jsonl"
    run = ["run", str(folder / "svm.toml"), "--out", str(out), "--data", str(folder)]
    assert main(run) == 0
    before = out.read_bytes()
    assert main(run) == 0 and out.read_bytes() == before
    cells = finished_repeats(study, Records(out))
    assert len(cells) == 2 * 2 * 2 * 9
    of = {name: own.set_index(["set", "repeat", "fold"]) for name, own in cells.groupby("method")}
    assert (of["rbf"]["cases"] == 50).all() and (of["exact"]["cases"] >= 80).all()
    assert (of["CSSVM"].xs(0, level="fold")["kappa"] == 1).all()  # of even costs there is no cheaper class
    assert (of["exact, sample"]["cost"] == of["SVC, sample"]["cost"]).all()
    assert of["one answer"]["recall"].isin([0, 1]).all()
    assert cells.groupby(["set", "repeat"], observed=True)["C"].nunique().le(2).all()
    cells["excess"] = excess(study, cells)
    assert cells.loc[cells["method"] == "exact", "excess"].max() <= 1e-8
    assert cells.loc[cells["method"] == "pairs", "excess"].between(0, 1e-2).all()
    assert cells.loc[cells["method"].isin(["CSSVM", "rbf", "one answer"]), "excess"].isna().all()
    table = agreement(study, cells)
    assert list(table["beside"]) == ["exact", "exact", "exact, sample"]
    assert table.loc["SVC, sample", "same"] == 1 and table.loc["SVC, sample", "worst"] == 0
    capsys.readouterr()
    assert main(["report", str(folder / "svm.toml"), "--out", str(out)]) == 0
    text = capsys.readouterr().out
    mean = of["class ratio"]["cost"].xs("given").xs(0, level="fold").mean()
    assert "### drawn" in text and f"{mean:.4f}" in text and "| SVC, sample | exact, sample | +0.00 |" in text


def test_tolerances_are_drawn_and_tabled(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = '{{solver = "{}", tol = {}}}'
    methods = [
        f'{{name = "{solver}, {tol}", learner = "CostLinearSVC", options = {options.format(solver, tol)}}}'
        for solver in ("hybrid", "dcd")
        for tol in ("1e-1", "1e-3")
    ]
    head = STUDY.split("reference")[0].replace("[1, 5]", "[5]").replace("repeats = 2", "repeats = 1")
    text = f'{head}view = "tolerances"\nreference = "hybrid, 1e-3"\nmethods = [{", ".join(methods)}]\n'
    (folder / "svm.toml").write_text(text)
    out = folder / "svm.jsonl"
    arguments = [str(folder / "svm.toml"), "--out", str(out)]
    assert main(["run", *arguments, "--data", str(folder)]) == 0
    capsys.readouterr()
    assert main(["report", *arguments, "--figures", str(folder)]) == 0
    shown = capsys.readouterr().out
    assert "| hybrid | drawn | 84 |" in shown and "| dcd | given | 80 |" in shown
    assert "excess of the objective" in (folder / "svm.svg").read_text()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[1, 5]", "[1, 0]", "ratios must be positive numbers"),
        ("repeats = 2", "folds = 2", "each ratio is one"),
        ('learner = "constant"', 'learner = "SVM"', "learner 'SVM' is none of"),
        ('learner = "constant"', 'learner = "SVC", cssvm = true', "are for CostLinearSVC"),
    ],
)
def test_what_is_wrong_is_named(folder: Path, old: str, new: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        _study(folder, STUDY.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('positive = ["yes"]', 'positive = ["maybe"]', "has no class 'maybe'"),
        ('positive = ["yes"]', "", "must have one of positive, negative and by_repeat"),
        ("divide", "dvide", "unknown key 'dvide'"),
    ],
)
def test_wrong_sets_are_named(folder: Path, old: str, new: str, message: str) -> None:
    (folder / "sets.toml").write_text(SETS.replace(old, new, 1))
    with pytest.raises(ValueError, match=message):
        load_tasks(_study(folder), folder)


def test_absent_tables_are_skipped(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "mixed.csv").unlink()
    assert [task.name for task in load_tasks(_study(folder), folder)] == ["given"]
    assert "skipped drawn" in capsys.readouterr().err
