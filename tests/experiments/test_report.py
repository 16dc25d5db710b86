from __future__ import annotations

import pytest

from experiments.cli import ROOT
from experiments.records import Records
from experiments.report import percent_of_standard, write_report
from experiments.study import read_study

PAGE = (ROOT.parent / "docs" / "studies" / "greedy.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["greedy", "greedy_high", "greedy_total"])
def test_the_page_shows_the_kept_results(name):
    study = read_study(ROOT / "studies" / f"{name}.toml")
    records = Records(ROOT / "results" / f"{name}.jsonl.gz")
    assert records.settings == study.settings.to_dict()
    assert write_report(study, records) in PAGE


def test_minimal_cost_is_secsdt_mc_with_alpha_zero_cell_by_cell():
    study = read_study(ROOT / "studies" / "greedy.toml")
    cells, _ = percent_of_standard(study, Records(ROOT / "results" / "greedy.jsonl.gz"))
    wide = cells.pivot_table(
        index=["set", "repeat", "fold"], columns="method", values="total_percent", observed=True
    )
    assert (wide["MinCost"] == wide["SECSDT_MC a=0"]).all()
    two_classes = wide[[name in ("heart", "pima", "bupa", "breast") for name, _, _ in wide.index]]
    assert (two_classes["SECSDT_MC P~1/L"] == two_classes["SECSDT_MC"]).all()
