"""Tables of the studies of generalisation: each method beside a reference, paired by division."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from experiments.kinds import Pages
from experiments.records import Records
from experiments.report import finished_repeats, markdown_table, publish
from experiments.study import Study

__all__ = ["Difference", "compare", "percent", "report"]

# Costs are sums in another order: differences below this, in % of the standard cost, are none.
_ROUNDING = 1e-4


@dataclass(frozen=True)
class Difference:
    """Mean difference to the reference over divisions, with its paired standard error."""

    mean: float
    error: float

    @classmethod
    def of(cls, values: NDArray[np.float64]) -> Difference:
        """Take one difference per division."""
        values = np.where(np.abs(values) < _ROUNDING, 0.0, values)
        error = float(np.std(values, ddof=1)) / math.sqrt(len(values)) if len(values) > 1 else math.nan
        return cls(float(values.mean()), error)

    @property
    def verdict(self) -> str:
        """Whether it is more than one standard error off; a single division that differs never is."""
        if not abs(self.mean) > self.error * (1 + 1e-9):
            return "even"
        return "dearer" if self.mean > 0 else "cheaper"

    def __str__(self) -> str:
        return f"{self.mean:+.2f} ± {self.error:.2f}"


def percent(study: Study, records: Records) -> pd.DataFrame:
    """Return finished cells with their total cost in % of the set's standard cost at that level."""
    cells = finished_repeats(study, records)
    places = zip(cells["set"], cells["level"], strict=True)
    standard = [records.sets[name]["standard"][level] for name, level in places]
    cells["error_percent"] = 100 * cells["misclassification"] / standard
    cells["test_percent"] = 100 * cells["test_cost"] / standard
    cells["total_percent"] = cells["error_percent"] + cells["test_percent"]
    return cells


def compare(
    study: Study, cells: pd.DataFrame, method: str, by: list[str]
) -> dict[tuple[str, ...], Difference]:
    """Difference to the reference for each group, averaged over what else there is of a division."""
    wide = cells.pivot_table(
        index=["set", "level", "repeat"], columns="method", values="total_percent", observed=True
    )
    difference = (wide[method] - wide[study.reference]).groupby([*by, "repeat"], observed=True).mean()
    if not by:
        return {(): Difference.of(difference.to_numpy())}
    grouped = difference.groupby(by, observed=True)
    return {key if isinstance(key, tuple) else (key,): Difference.of(own.to_numpy()) for key, own in grouped}


def report(study: Study, records: Records, pages: Pages) -> str:
    """Write what each method costs over all sets, by set, and by set and level."""
    cells = percent(study, records)
    others = [method.name for method in study.methods if method.name != study.reference]
    text = "\n\n".join(
        [
            f"{cells['repeat'].nunique()} divisions, {cells['set'].nunique()} sets, levels "
            f"{', '.join(study.settings.levels)}.",
            "### Over all sets",
            _summary(study, cells, others),
            "### By set, mean of the levels",
            _by_set(study, cells, others),
            "### By set and level",
            _by_level(study, cells, others),
            "### Sets",
            _sets(study, records),
        ]
    )
    table = cells.groupby(["set", "level", "method"], observed=True)[
        ["total_percent", "error_percent", "test_percent", "depth", "leaves", "seconds"]
    ].mean()
    return publish(study, text + "\n", table.round(5), pages)


def _summary(study: Study, cells: pd.DataFrame, others: list[str]) -> str:
    own = cells.groupby("method", observed=True)
    mean = own[["total_percent", "error_percent", "test_percent", "depth", "leaves"]].mean()
    seconds = own["seconds"].sum() / cells["repeat"].nunique()
    rows = []
    for name, row in mean.iterrows():
        compared = ["-"] * 3
        if name in others:
            by_set = list(compare(study, cells, str(name), ["set"]).values())
            by_cell = list(compare(study, cells, str(name), ["set", "level"]).values())
            compared = [str(compare(study, cells, str(name), [])[()]), _count(by_set), _count(by_cell)]
        numbers = [f"{value:.2f}" for value in row]
        rows.append([name, *numbers, f"{seconds[name]:.1f}", *compared])
    head = ["method", "total %", "errors %", "tests %", "depth", "leaves", "seconds a division"]
    beside = f"against {study.reference}"
    return markdown_table([*head, beside, "sets cheaper/even/dearer", "sets x levels"], rows)


def _count(differences: list[Difference]) -> str:
    verdicts = [each.verdict for each in differences]
    return "/".join(str(verdicts.count(verdict)) for verdict in ("cheaper", "even", "dearer"))


def _by_set(study: Study, cells: pd.DataFrame, others: list[str]) -> str:
    total = cells.groupby(["set", "method"], observed=True)["total_percent"].mean().unstack()
    compared = {name: compare(study, cells, name, ["set"]) for name in others}
    rows = []
    for name, row in total.iterrows():
        shown = [f"{row[study.reference]:.2f}"]
        for other in others:
            shown += [f"{row[other]:.2f}", _mark(compared[other][(name,)])]
        rows.append([name, *shown])
    rows.append(["mean", f"{total[study.reference].mean():.2f}"])
    for other in others:
        rows[-1] += [f"{total[other].mean():.2f}", _mark(compare(study, cells, other, [])[()])]
    head = ["set", study.reference]
    for other in others:
        head += [other, "difference"]
    return markdown_table(head, rows)


def _mark(difference: Difference) -> str:
    return f"**{difference}**" if difference.verdict == "dearer" else str(difference)


def _by_level(study: Study, cells: pd.DataFrame, others: list[str]) -> str:
    total = cells.groupby(["set", "level", "method"], observed=True)["total_percent"].mean()
    compared = {name: compare(study, cells, name, ["set", "level"]) for name in others}
    levels = study.settings.levels
    parts = []
    for other in others:
        rows = []
        for name in cells["set"].cat.categories:
            shown = [f"{total[name, level, study.reference]:.2f}" for level in levels]
            rows.append([name, *shown, *(_mark(compared[other][name, level]) for level in levels)])
        head = ["set", *(f"{study.reference}: {level}" for level in levels)]
        parts.append(markdown_table([*head, *(f"{other}: {level}" for level in levels)], rows))
    return "\n\n".join(parts)


def _sets(study: Study, records: Records) -> str:
    rows = [
        [
            name,
            line["rows"],
            line["features"],
            line["classes"],
            max(line["depths"]),
            *(f"{line['standard'][level]:.2f}" for level in study.settings.levels),
        ]
        for name, line in records.sets.items()
        if name in study.sets
    ]
    head = ["set", "cases", "columns", "classes", "greatest depth"]
    return markdown_table([*head, *(f"standard cost, {level}" for level in study.settings.levels)], rows)
