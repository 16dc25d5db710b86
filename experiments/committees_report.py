"""Tables of the studies of committees."""

from __future__ import annotations

import pandas as pd

from experiments.kinds import Pages
from experiments.records import Records
from experiments.report import markdown_table, means, percent_of_standard, publish, write_report
from experiments.study import Study

__all__ = ["partial", "report"]


def partial(study: Study, records: Records) -> pd.DataFrame:
    """Costs in % of the standard cost, all members asked and only until the vote is decided."""
    cells, _ = percent_of_standard(study, records)
    standard = [records.sets[name]["standard"] for name in cells["set"]]
    cells["partial_percent"] = 100 * cells["partial_test_cost"] / standard
    own = cells.groupby(["set", "method"], observed=True)[
        ["error_percent", "test_percent", "partial_percent", "members"]
    ].mean()
    table = own.groupby("method", observed=True).mean()
    table["total_percent"] = table["error_percent"] + table["test_percent"]
    table["partial_total_percent"] = table["error_percent"] + table["partial_percent"]
    return table


def report(study: Study, records: Records, pages: Pages) -> str:
    """Write the tables of single trees, and one of what is saved by asking members one by one."""
    table = partial(study, records)
    rows = [
        [
            name,
            f"{own['members']:.1f}",
            f"{own['test_percent']:.2f}",
            f"{own['partial_percent']:.2f}",
            f"{own['total_percent']:.2f}",
            f"{own['partial_total_percent']:.2f}",
        ]
        for name, own in table.iterrows()
    ]
    head = ["method", "trees", "tests %, all asked", "tests %, until decided", "total %, all asked"]
    asked = markdown_table([*head, "total %, until decided"], rows)
    text = write_report(study, records) + f"\n### Asking members until the vote is decided\n\n{asked}\n"
    return publish(study, text, means(percent_of_standard(study, records)[0]).round(5), pages)
