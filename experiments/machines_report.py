"""Tables and a figure of the studies of support vector machines."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from experiments.figures import Panel, draw
from experiments.kinds import Pages
from experiments.records import Records
from experiments.report import finished_repeats, markdown_table, publish
from experiments.study import Study

__all__ = ["agreement", "excess", "report"]

# Excesses below this are rounding, or the tolerance of the best method.
FLOOR = 1e-9


def excess(study: Study, cells: pd.DataFrame) -> pd.Series:
    """How far each objective is above the least one that is proved or known, relative to that.

    Methods of one problem on the same cases share it; without a duality gap the best of them is the least.
    """
    problem = cells["method"].astype(str).map({m.name: str(m.problem) for m in study.methods})
    value = cells["objective"].astype(float)
    bound = (value - cells["gap"].astype(float)).fillna(-np.inf)
    groups = [cells["set"].astype(str), cells["repeat"], cells["fold"], problem]
    proved = bound.groupby(groups).transform("max")
    least = proved.where(np.isfinite(proved), value.groupby(groups).transform("min"))
    return ((value - least) / least).clip(lower=0.0)


def agreement(study: Study, cells: pd.DataFrame) -> pd.DataFrame:
    """How far costs and recognition rates are from those of the first method of the same problem.

    One row per method: differences (the largest, and on average of the absolute ones), the share of cells in
    which both are the same, geometric mean of times beside that method's, and the median excess.
    """
    cells = cells.assign(excess=excess(study, cells))
    first: dict[Any, str] = {}
    rows = []
    for method in study.methods:
        if method.problem is None:
            continue
        reference = first.setdefault(method.problem, method.name)
        if reference == method.name:
            continue
        own, other = (
            cells[cells["method"] == name].astype({"set": str}).set_index(["set", "repeat", "fold"])
            for name in (method.name, reference)
        )
        cost, recall = own["cost"] - other["cost"], own["recall"] - other["recall"]
        relative = cost / other["cost"]
        rows.append(
            {
                "method": method.name,
                "beside": reference,
                "mean": relative.mean(),
                "worst": relative.abs().max(),
                "recall": recall.abs().max(),
                "same": ((cost == 0) & (recall == 0)).mean(),
                "times": float(np.exp(np.log(own["seconds"] / other["seconds"]).mean())),
                "excess": own["excess"].median(),
                "worst excess": own["excess"].max(),
            }
        )
    return pd.DataFrame(rows).set_index("method")


def report(study: Study, records: Records, pages: Pages) -> str:
    """Write the tables: of costs, one per set; of tolerances, times at several excesses, and the figure."""
    cells = finished_repeats(study, records)
    cells["excess"] = excess(study, cells)
    if study.settings.view == "tolerances":
        text = _tolerances(study, cells)
        if pages.figures is not None:
            draw(pages, study.name, _panels(study, cells), columns=3)
    else:
        text = _costs(study, records, cells)
    measures = ["cost", "recall", "accuracy", "seconds", "objective", "excess", "iterations"]
    means = cells.groupby(["set", "fold", "method"], observed=True)[measures].mean()
    return publish(study, text, means.round(6), pages)


def _costs(study: Study, records: Records, cells: pd.DataFrame) -> str:
    ratios = ", ".join(f"{ratio:g}:1" for ratio in study.settings.ratios)
    parts = [
        f"Repeats: {cells['repeat'].nunique()}. Ratios of what missing a positive case costs to what a false "
        f"alarm costs, which is 1: {ratios}. In brackets, at the middle one: standard errors over repeats. "
        "Seconds: the median over ratios and repeats."
    ]
    for name in cells["set"].cat.categories:
        parts += [f"### {name}", _table_of(study, cells[cells["set"] == name])]
    parts += ["### Beside the exact solution of the same problem", _agreement(study, cells)]
    parts += ["### Sets", _sets(study, records, cells)]
    return "\n\n".join(parts) + "\n"


def _table_of(study: Study, cells: pd.DataFrame) -> str:
    """Costs by ratio, and what is recognised, by method; the least cost of a ratio is bold."""
    ratios = study.settings.ratios
    groups = cells.groupby(["method", "fold"], observed=True)
    cost = groups["cost"].mean().unstack("fold")
    error = groups["cost"].sem().unstack("fold")
    shown = cost.map("{:.4f}".format)
    shown = shown.where(cost > cost.min() * (1 + 1e-9), "**" + shown + "**")
    middle = len(ratios) // 2
    if cells["repeat"].nunique() > 1:
        shown[middle] += " (" + error[middle].map("{:.4f}".format) + ")"
    recall = groups["recall"].mean().unstack("fold")
    accuracy = groups["accuracy"].mean().unstack("fold")
    by_method = cells.groupby("method", observed=True)
    seconds, beyond = by_method["seconds"].median(), by_method["excess"].median()
    rows = [
        [
            name,
            *shown.loc[name],
            *(f"{recall.loc[name, fold]:.3f}" for fold in (0, middle, len(ratios) - 1)),
            f"{accuracy.loc[name, middle]:.3f}",
            _short(seconds[name]),
            "-" if np.isnan(beyond[name]) else _power(beyond[name]),
        ]
        for name in cost.index
    ]
    picked = [ratios[fold] for fold in (0, middle, len(ratios) - 1)]
    head = ["method", *(f"cost, {ratio:g}:1" for ratio in ratios)]
    head += [f"recall, {ratio:g}:1" for ratio in picked]
    return markdown_table([*head, f"accuracy, {ratios[middle]:g}:1", "seconds", "excess"], rows)


def _agreement(study: Study, cells: pd.DataFrame) -> str:
    rows = [
        [
            name,
            own["beside"],
            f"{100 * own['mean']:+.2f}",
            f"{100 * own['worst']:.2f}",
            f"{own['recall']:.4f}",
            f"{100 * own['same']:.0f}",
            f"{own['times']:.2g}",
            _power(own["excess"]),
            _power(own["worst excess"]),
        ]
        for name, own in agreement(study, cells).iterrows()
    ]
    head = ["method", "beside", "cost, % more on average", "cost, % apart at most", "recall, apart at most"]
    return markdown_table([*head, "the same, %", "times as long", "excess", "excess at most"], rows)


def _sets(study: Study, records: Records, cells: pd.DataFrame) -> str:
    rows = []
    for name in cells["set"].cat.categories:
        line, own = records.sets[name], cells[cells["set"] == name]
        linear = own.loc[own["method"] == study.reference, "C"].drop_duplicates()
        kernel = [m.name for m in study.methods if dict(m.options).get("kernel", "linear") != "linear"]
        rbf = own.loc[own["method"].isin(kernel), "C"].drop_duplicates()
        rows.append(
            [
                name,
                line["rows"],
                own["cases"].min(),
                line["test"],
                line["features"],
                f"{100 * line['filled']:.0f}",
                f"{100 * line['positive']:.1f}",
                f"{100 * line['positive of test']:.1f}",
                ", ".join(f"{value:g}" for value in linear),
                ", ".join(f"{value:g}" for value in rbf),
            ]
        )
    head = [
        "set",
        "training",
        "sample",
        "test",
        "features",
        "filled, %",
        "positive, %",
        "positive of test, %",
    ]
    return markdown_table([*head, "C", "C, rbf"], rows)


def _tolerances(study: Study, cells: pd.DataFrame) -> str:
    """Seconds until each excess is reached, by set and solver."""
    goals = (1e-1, 1e-2, 1e-3, 1e-4, 1e-6)
    rows = []
    for name in cells["set"].cat.categories:
        for solver, own in _by_solver(cells[cells["set"] == name]):
            times = [own.loc[own["excess"] <= goal, "seconds"].min() for goal in goals]
            shown = ["-" if np.isnan(seconds) else _short(seconds) for seconds in times]
            rows.append([solver, name, own["cases"].iloc[0], *shown])
    head = ["solver", "set", "cases", *(f"to {goal:.0e}".replace("e-0", "e-") for goal in goals)]
    ratio = study.settings.ratios[0]
    return (
        f"Seconds until the objective is so near to the least one; costs {ratio:g}:1. A hyphen: not reached "
        f"at any tolerance within the iterations of the study.\n\n{markdown_table(head, rows)}\n"
    )


def _by_solver(cells: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    """Cells by solver, which a method's name begins with; a tolerance follows."""
    solver = cells["method"].astype(str).str.rpartition(", ")[0]
    means = cells.assign(solver=solver).sort_values("seconds", kind="stable")
    return [(name, means[means["solver"] == name]) for name in dict.fromkeys(solver)]


def _panels(study: Study, cells: pd.DataFrame) -> list[Panel]:
    panels = []
    for name in cells["set"].cat.categories:
        lines = {
            solver: (own["seconds"].to_numpy(), own["excess"].clip(lower=FLOOR).cummin().to_numpy())
            for solver, own in _by_solver(cells[cells["set"] == name])
        }
        panels.append(Panel(name, "seconds", "excess of the objective", lines, logarithmic=True))
    return panels


def _short(seconds: float) -> str:
    return f"{seconds:.3f}" if seconds < 1 else f"{seconds:.1f}"


def _power(value: float) -> str:
    return "< 1e-9" if value < FLOOR else f"{value:.0e}".replace("e-0", "e-").replace("e+0", "e")
