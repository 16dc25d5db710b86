"""The study of learning on a stream: honest parts, resumable, and a report of what it holds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from experiments import online
from experiments.records import Records

FEW = ["SVM of old costs", "OCSCA of the SVM", "CSOGD-II", "offline SECSDT_MC"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with one small table, and few methods."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 150)
    table = pd.DataFrame({"a": rng.normal(size=150) + y, "b": rng.choice(["u", "v"], 150), "target": y + 1})
    table.to_csv(tmp_path / "german_credit.csv", index=False)
    monkeypatch.setattr(online, "METHODS", {name: online.METHODS[name] for name in FEW})
    monkeypatch.setattr(online, "OLD_CLASSIFIERS", {"SVM": online.OLD_CLASSIFIERS["SVM"]})
    return tmp_path


def test_parts_do_not_overlap_and_are_the_same_for_all(folder: Path) -> None:
    X, y = online.read_set("german_credit", folder)
    assert X.shape == (150, 3) and set(y) == {0, 1}
    number = np.column_stack([np.arange(150.0), X])
    tests = []
    for fold in range(10):
        parts = online.Fold.of(number, y, "german_credit", 0, fold)
        cases = [np.round(part[0][:, 0], 9) for part in (parts.old, parts.stream, parts.test)]
        assert [len(c) for c in cases] == [30, 105, 15]
        assert len(set(np.concatenate(cases))) == 150
        again = online.Fold.of(number, y, "german_credit", 0, fold)
        assert np.array_equal(again.stream[0], parts.stream[0])
        assert np.abs(parts.old[0].mean(axis=0)).max() < 1e-9  # scaled by the old cases
        tests.append(parts.test[1])
    assert sum(map(len, tests)) == 150


def test_a_run_goes_on_and_its_report_tells_what_it_holds(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = folder / "online.jsonl"
    online.run(out, folder, ["german_credit", "spambase"], repeats=1)
    assert "skipped spambase" in capsys.readouterr().err
    records = Records(out)
    assert len(records.cells) == 40 and records.sets["german_credit"]["rows"] == 150
    before = out.read_bytes()
    online.run(out, folder, ["german_credit"], repeats=1)
    assert out.read_bytes() == before
    text = online.report(records)
    means = pd.DataFrame(records.cells).groupby("method")["cost"].mean()
    for name in FEW:
        assert f"| {name} |" in text and f"{means[name]:.3f}" in text
    assert f"**{means.min():.3f}**" in text and "| german_credit | 150 | 3 |" in text
    page = folder / "page.md"
    page.write_text("\n".join(["before", *online.MARKS, "after"]))
    online.main(["report", "--out", str(out), "--markdown", str(page)])
    assert text in page.read_text() and page.read_text().endswith("after")


def test_online_methods_keep_the_step_that_costs_least_on_the_way(folder: Path) -> None:
    X, y = online.read_set("german_credit", folder)
    fold = online.Fold.of(X, y, "german_credit", 0, 0)
    fold.classifiers["SVM"] = online.OLD_CLASSIFIERS["SVM"]().fit(*fold.old)
    model = online.METHODS["OCSCA of the SVM"](fold)
    costs = []
    for step in online.STEPS:
        other = online.OCSCAClassifier(online.NEW, estimator=fold.classifiers["SVM"], alpha=step)
        costs.append(other.fit(*fold.stream).prequential_cost_)
    assert model.prequential_cost_ == min(costs) and model.n_cases_ == len(fold.stream[1])
