"""Tables and a figure of the studies of searches."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from experiments.figures import Panel, draw
from experiments.kinds import Pages
from experiments.records import Records
from experiments.report import finished_repeats, markdown_table, publish
from experiments.study import Study

__all__ = ["expected_roots", "report", "summary"]

_SUMMED = ["rounds", "contributing", "evaluations", "roots", "search_seconds", "seconds"]


def expected_roots(contributing: float) -> float:
    """Roots of a search in random order: the best so far is beaten ``H_K = ln K + 0.577`` times, roughly."""
    return float(np.log(contributing) + np.euler_gamma)


def summary(study: Study, records: Records) -> pd.DataFrame:
    """One row per pool and method: numbers by round, and times beside those of the reference.

    Times of the ratios and repeats are summed before they are divided.
    """
    cells = finished_repeats(study, records)
    sums = cells.groupby(["set", "method"], observed=True)[_SUMMED].sum()
    table = sums[["contributing", "evaluations", "roots"]].div(sums["rounds"], axis=0)
    table["search_ms"] = 1e3 * sums["search_seconds"] / sums["rounds"]
    table["fit_ms"] = 1e3 * sums["seconds"] / sums["rounds"]
    full = table.xs(study.reference, level="method").reindex(table.index.get_level_values("set"))
    full.index = table.index
    table["avoided"] = 1 - table["roots"] / full["roots"]
    table["search_share"] = table["search_ms"] / full["search_ms"]
    table["fit_share"] = table["fit_ms"] / full["fit_ms"]
    wide = cells.astype({"set": str, "method": str}).pivot(
        index=["set", "repeat", "fold"], columns="method", values="committee"
    )
    full_of = {method.name: _full(study, method) for method in study.methods}
    same = wide.eq(wide[[full_of[name] for name in wide.columns]].to_numpy()).groupby("set").mean()
    table["same"] = [same.loc[name, method] for name, method in table.index]
    table["size"] = [records.sets[name]["size"] for name, _ in table.index]
    return table


def _full(study: Study, method: Any) -> str:
    """Name of the method that solves every candidate and selects as this one does."""
    for other in study.methods:
        if other.search == "exhaustive" and other.select == method.select:
            return str(other.name)
    return study.reference


def report(study: Study, records: Records, pages: Pages) -> str:
    """Write the table, and draw roots and time against the size if there are pools enough and a folder."""
    table = summary(study, records)
    ratios = ", ".join(f"{p}:{n}" for p, n in study.settings.ratios)
    repeats = finished_repeats(study, records)["repeat"].nunique()
    text = (
        f"Drawings of the data: {repeats}; {study.settings.rounds} rounds; C_P:C_N {ratios}. Shares are of "
        f'"{study.reference}"; the committee is compared with that of all roots and the same selection.\n\n'
        f"{_markdown(table)}\n\n### Time of the search by ratio of costs, in % of {study.reference}\n\n"
        f"{_by_ratio(study, records)}\n"
    )
    if pages.figures is not None and len(table.index.unique("set")) > 2:
        _draw(study, table, pages)
    return publish(study, text, table.round(6), pages)


def _markdown(table: pd.DataFrame) -> str:
    rows = [
        [
            method,
            name,
            f"{own['contributing']:,.0f}",
            f"{own['roots']:,.1f}",
            f"{100 * own['avoided']:.3f}",
            f"{own['search_ms']:.3f}",
            f"{100 * own['search_share']:.2f}",
            f"{own['fit_ms']:.2f}",
            f"{100 * own['fit_share']:.0f}",
            f"{100 * own['same']:.0f}",
        ]
        for (name, method), own in table.iterrows()
    ]
    head = ["search", "pool", "contributing", "roots by round", "roots avoided, %", "search, ms by round"]
    more = ["search, % of all", "fit, ms by round", "fit, % of all", "same committee, %"]
    return markdown_table([*head, *more], rows)


def _by_ratio(study: Study, records: Records) -> str:
    """Time of each search beside the reference, for each ratio."""
    cells = finished_repeats(study, records)
    seconds = cells.groupby(["method", "set", "fold"], observed=True)["search_seconds"].sum().unstack("fold")
    rows = []
    for (method, name), own in seconds.iterrows():
        share = 100 * own / seconds.loc[(study.reference, name)]
        rows.append([method, name, *(f"{value:.2f}" for value in share)])
    return markdown_table(["search", "pool", *(f"{p}:{n}" for p, n in study.settings.ratios)], rows)


def _draw(study: Study, table: pd.DataFrame, pages: Pages) -> None:
    roots, times = {}, {}
    for method in [m.name for m in study.methods]:
        own = table.xs(method, level="method")
        roots[method] = (own["size"].to_numpy(), own["roots"].to_numpy())
        times[method] = (own["size"].to_numpy(), own["search_ms"].to_numpy())
    own = table.xs(study.reference, level="method")
    roots["ln K + 0.577"] = (own["size"].to_numpy(), own["contributing"].map(expected_roots).to_numpy())
    panels = [
        Panel("Roots by round", "stumps in the pool", "roots", roots, logarithmic=True),
        Panel("Time of the search", "stumps in the pool", "ms by round", times, logarithmic=True),
    ]
    draw(pages, study.name, panels, columns=2)
