"""Studies of boosting: honest parts, known error rates, envelopes, and pages that show the kept results."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from cstree.metrics.curve import CostCurve
from cstree.metrics.envelope import lower_envelope
from experiments.boosting import binary_costs
from experiments.boosting_report import Series, largest_gap
from experiments.cli import ROOT, main
from experiments.kinds import Pages, find_kind
from experiments.problems import bayes_rule, load_problem
from experiments.records import Records
from experiments.study import read_study

SETS = """
[bayes]
made = "bayes"
cases = 60
test_cases = 200
angles = 4
[two_clouds]
made = "two_clouds"
cases = 90
angles = 4
[moon]
table = "moon"
positive = "b"
"""
STUDY = """
kind = "boosting"
sets_file = "sets.toml"
sets = ["bayes", "two_clouds", "moon"]
repeats = 2
folds = 3
rounds = 5
asymmetries = [0.2, 0.5, 0.8]
reference = "CS-AdaBoost"
methods = [
    {name = "AdaBoostDB", learner = "AdaBoostDB"},
    {name = "CS-AdaBoost", learner = "CS-AdaBoost"},
    {name = "AdaBoost", learner = "AdaBoost"},
    {name = "moved", learner = "AdaBoost", moved = true},
    {name = "Bayes rule", learner = "Bayes rule"},
]
"""


@pytest.fixture
def study(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    label = rng.choice(["a", "b"], 60)
    frame = pd.DataFrame({"u": rng.normal(size=60) + (label == "b"), "v": rng.choice(["x", "y"], 60)})
    frame.assign(target=label).to_csv(tmp_path / "moon.csv", index=False)
    (tmp_path / "moon.toml").write_text('target = "target"\nnumeric = ["u"]\ncategorical = ["v"]\n')
    (tmp_path / "sets.toml").write_text(SETS)
    path = tmp_path / "small.toml"
    path.write_text(STUDY)
    return path


def test_a_run_counts_mistakes_and_goes_on(study: Path, tmp_path: Path) -> None:
    out = tmp_path / "small.jsonl"
    run = ["run", str(study), "--out", str(out), "--data", str(tmp_path)]
    assert main(run) == 0
    records = Records(out)
    assert len(records.cells) == 2 * 3 * (5 + 5 + 4)  # the table has no Bayes rule
    for cell in records.cells:
        assert (
            cell["positive"] + cell["negative"] == {"bayes": 200, "two_clouds": 30, "moon": 20}[cell["set"]]
        )
        assert max(cell["missed"]) <= cell["positive"] and max(cell["alarms"]) <= cell["negative"]
    plain = {(c["set"], c["repeat"], c["fold"], c["method"]): c for c in records.cells}
    for (name, repeat, fold, method), cell in plain.items():
        if method == "moved":  # at equal costs nothing moves
            other = plain[name, repeat, fold, "AdaBoost"]
            assert (cell["missed"][1], cell["alarms"][1]) == (other["missed"][1], other["alarms"][1])
            assert len(set(other["missed"])) == 1
    before = out.read_bytes()
    assert main(run) == 0 and out.read_bytes() == before
    page = tmp_path / "page.md"
    page.write_text("<!-- small: made by python -m experiments -->\n<!-- small: end -->\n")
    told = ["--markdown", str(page), "--figures", str(tmp_path / "figures"), "--csv", str(tmp_path / "x.csv")]
    assert main(["report", str(study), "--out", str(out), *told]) == 0
    assert "| Bayes rule | two_clouds |" in page.read_text()
    table = pd.read_csv(tmp_path / "x.csv")
    assert len(table) == 14 * 3
    row = table[(table["set"] == "bayes") & (table["method"] == "AdaBoost")].iloc[0]
    cells = [c for c in records.cells if (c["set"], c["method"]) == ("bayes", "AdaBoost")]
    assert row["FN"] == pytest.approx(np.mean([c["missed"][0] / c["positive"] for c in cells]), abs=1e-6)
    assert row["NEC"] == pytest.approx(0.2 * row["FN"] + 0.8 * row["FP"], abs=1e-5)
    drawn = {path.name: path.read_text() for path in (tmp_path / "figures").iterdir()}
    assert sorted(drawn) == ["small_curves.svg", "small_envelopes.svg"]
    main(["report", str(study), "--out", str(out), *told])
    assert all((tmp_path / "figures" / name).read_text() == text for name, text in drawn.items())


def test_parts_are_divided_or_drawn_anew(study: Path) -> None:
    clouds = load_problem("two_clouds", study.parent / "sets.toml", study.parent)
    parts = [clouds.parts(1, 3, 0, fold) for fold in range(3)]
    assert sorted(np.concatenate([part.X_test[:, 0] for part in parts])) == sorted(
        np.concatenate([parts[0].X[:, 0], parts[0].X_test[:, 0]])
    )
    assert not np.array_equal(clouds.parts(1, 3, 1, 0).X, parts[0].X)
    bayes = load_problem("bayes", study.parent / "sets.toml", study.parent)
    assert np.array_equal(bayes.parts(1, 1, 0, 0).X_test, bayes.parts(1, 1, 0, 0).X_test)
    assert not set(bayes.parts(1, 2, 0, 1).X_test[:, 0]) & set(bayes.parts(1, 2, 1, 1).X_test[:, 0])
    with pytest.raises(ValueError, match="takes 2 folds or more; got 1"):
        clouds.parts(1, 1, 0, 0)


def test_the_bayes_rules_have_their_known_rates() -> None:
    sets = ROOT / "studies" / "boosting_sets.toml"
    bayes, clouds = (load_problem(name, sets, ROOT) for name in ("bayes", "two_clouds"))
    for asymmetry in (0.05, 0.5, 0.8):
        part = bayes.parts(3, 1, 0, 0)
        answer = bayes_rule(bayes, part.X_test, asymmetry)
        k = np.log((1 - asymmetry) / asymmetry) / 2
        assert abs((answer[part.y_test == 1] == 0).mean() - norm.cdf(k - 1)) < 0.025
        assert abs((answer[part.y_test == 0] == 1).mean() - norm.cdf(-k - 1)) < 0.025
    for asymmetry, missed, alarms in ((0.25, 0.679, 0.0), (0.26, 0.0, 0.236)):
        answer = bayes_rule(clouds, clouds.X, asymmetry)
        assert abs((answer[clouds.y == 1] == 0).mean() - missed) < 0.07
        assert abs((answer[clouds.y == 0] == 1).mean() - alarms) < 0.07


def test_measures_and_gaps() -> None:
    costs = binary_costs(0.8).misclassification
    assert costs is not None and np.allclose(np.asarray(costs), [[0, 0.4], [1.6, 0]])
    one = Series(np.array([[0.2, 0.1]]), np.array([[0.1, 0.3]]), 0.25, np.array([0.5, 0.75]))
    assert np.allclose(one.operating_points, [0.25, 0.5])
    assert np.allclose(one.measures["CE"], [[0.125, 0.25]])
    assert np.allclose(one.measures["NEC"], [[0.125, 0.2]])
    steep, flat = lower_envelope([CostCurve(0.3, 0.0)]), lower_envelope([CostCurve(0.1, 0.1)])
    grid = np.linspace(0, 1, 20001)
    assert abs(largest_gap(steep, flat) - np.abs(steep(grid) - flat(grid)).max()) < 1e-4


@pytest.mark.parametrize(
    ("page", "name"),
    [
        *(("boosting.md", f"boosting_{name}") for name in ("bayes", "clouds", "tables")),
        *(("boosting.md", name) for name in ("searches", "searches_poly")),
        *(("committees.md", name) for name in ("committees", "committees_two")),
    ],
)
def test_pages_show_the_kept_results(page: str, name: str) -> None:
    study = read_study(ROOT / "studies" / f"{name}.toml")
    records = Records(ROOT / "results" / f"{name}.jsonl.gz")
    assert records.settings == study.settings.to_dict()
    text = find_kind(study.kind).report(study, records, Pages())
    assert text in (ROOT.parent / "docs" / "studies" / page).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[0.2, 0.5, 0.8]", "[0.2, 1.0]", "asymmetries must be numbers between 0 and 1"),
        ("rounds = 5", "rounds = 0", "rounds must be a whole number from 1 on"),
        ('learner = "CS-AdaBoost"', 'learner = "Boost"', "learner 'Boost' is none of"),
        ('learner = "CS-AdaBoost"', 'learner = "CGAda", moved = true', "AdaBoost whose threshold is moved"),
        ('kind = "boosting"', 'kind = "magic"', "kind 'magic' is none of 'trees', 'boosting'"),
        ("rounds = 5", "depths = [1]", "unknown key 'depths'"),
    ],
)
def test_what_is_wrong_is_named(study: Path, old: str, new: str, message: str) -> None:
    study.write_text(STUDY.replace(old, new))
    with pytest.raises(ValueError, match=message):
        read_study(study)
