"""Tables of a study, made from its results file."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from cstree._io import write_text
from experiments.kinds import Pages, find_kind
from experiments.records import Records
from experiments.statistics import friedman, holm, mean_ranks, resampled_t, wilcoxon
from experiments.study import Study

__all__ = [
    "finished_repeats",
    "markdown_table",
    "marks",
    "means",
    "percent_of_standard",
    "publish",
    "put_between",
    "write_report",
    "write_roots",
]

# Two methods differ on a set when the corrected resampled t-test says so at this level.
LEVEL = 0.05


def marks(name: str) -> tuple[str, str]:
    """Lines between which a page holds the tables of a study, or its roots."""
    return f"<!-- {name}: made by python -m experiments -->", f"<!-- {name}: end -->"


def write_report(
    study: Study, records: Records, *, markdown: Path | None = None, csv: Path | None = None
) -> str:
    """Make the tables of the repeats that are finished for every set and method.

    Parameters
    ----------
    study : Study
    records : Records
    markdown : path, optional
        An existing file; what stands between its two marks is replaced.
    csv : path, optional
        Means by set and method.

    Returns
    -------
    str
        The tables in Markdown.

    Raises
    ------
    ValueError
        No repeat is finished, or the Markdown file lacks the marks.
    """
    cells, repeats = percent_of_standard(study, records)
    text = _markdown(study, records, cells, repeats)
    if csv is not None:
        buffer = io.StringIO()
        means(cells).round(5).to_csv(buffer, lineterminator="\n")
        write_text(csv, buffer.getvalue())
    if markdown is not None:
        put_between(markdown, *marks(study.name), text)
    return text


def write_roots(study: Study, roots: Mapping[str, Mapping[str, Any]], markdown: Path | None = None) -> str:
    """Table of what SECSDT_MC sees at the roots of the sets; see :func:`experiments.roots.root_of`."""
    rows = [
        [
            name,
            f"{root['alpha']:.2f}",
            root["feature"],
            f"{root['price']:.1f}",
            "yes" if root["pays"] else "no",
            f"{root['paying']} of {root['candidates']}",
        ]
        for name, root in roots.items()
    ]
    text = (
        markdown_table(["set", "alpha", "chosen test", "its price", "it pays", "splits that pay"], rows)
        + "\n"
    )
    if markdown is not None:
        put_between(markdown, *marks(f"{study.name} roots"), text)
    return text


def put_between(page: Path, begin: str, end: str, text: str) -> None:
    """Replace what stands between two lines of a page."""
    old = page.read_text(encoding="utf-8")
    if old.count(begin) != 1 or old.count(end) != 1 or old.index(begin) > old.index(end):
        raise ValueError(f"{page.name} must hold the lines {begin} and {end}, in this order, once")
    head, rest = old.split(begin)
    write_text(page, f"{head}{begin}\n\n{text}\n{end}{rest.split(end)[1]}")


def publish(study: Study, text: str, frame: pd.DataFrame, pages: Pages) -> str:
    """Write the table to read by machine, and the text into the page; the text is returned."""
    if pages.csv is not None:
        buffer = io.StringIO()
        frame.to_csv(buffer, lineterminator="\n")
        write_text(pages.csv, buffer.getvalue())
    if pages.markdown is not None:
        put_between(pages.markdown, *marks(study.name), text)
    return text


def finished_repeats(study: Study, records: Records) -> pd.DataFrame:
    """One row per cell of the study's sets and methods; repeats that every set has finished.

    A set is finished without methods that cannot be run on it.
    """
    names = [method.name for method in study.methods]
    sets = [name for name in study.sets if name in records.sets]
    cells = pd.DataFrame(records.cells)
    if cells.empty:
        raise ValueError("there are no results yet")
    cells = cells[cells["set"].isin(sets) & cells["method"].isin(names)].drop_duplicates(
        ["set", "repeat", "fold", "method"]
    )
    applies = find_kind(study.kind).applies
    whole = study.settings.folds * sum(
        applies(method, records.sets[name]) for method in study.methods for name in sets
    )
    count = cells.groupby("repeat").size()
    finished = count.index[count == whole]
    if len(finished) == 0:
        raise ValueError("no repeat is finished for all sets and methods yet")
    cells = cells[cells["repeat"].isin(finished)].copy()
    cells["set"] = pd.Categorical(cells["set"], sets, ordered=True)
    cells["method"] = pd.Categorical(cells["method"], names, ordered=True)
    return cells


def percent_of_standard(study: Study, records: Records) -> tuple[pd.DataFrame, int]:
    """One row per cell with costs in per cent of the set's standard cost, and the number of repeats.

    Only repeats count of which every cell of the study's sets (those that have results) is finished.
    """
    cells = finished_repeats(study, records)
    standard = cells["set"].map({name: line["standard"] for name, line in records.sets.items()}).astype(float)
    cells["error_percent"] = 100 * cells["misclassification"] / standard
    cells["test_percent"] = 100 * cells["test_cost"] / standard
    cells["total_percent"] = cells["error_percent"] + cells["test_percent"]
    return cells, cells["repeat"].nunique()


def means(cells: pd.DataFrame) -> pd.DataFrame:
    """Averages by set and method; of seconds the median, as other work may disturb single cells."""
    groups = cells.assign(single_leaf=cells["leaves"] == 1).groupby(["set", "method"], observed=True)
    measures = ["total_percent", "error_percent", "test_percent", "accuracy", "leaves", "single_leaf"]
    result = groups[measures].mean()
    result["depth"] = groups["depth"].mean()
    result["seconds"] = groups["seconds"].median()
    return result


def _markdown(study: Study, records: Records, cells: pd.DataFrame, repeats: int) -> str:
    table = means(cells)
    total = table["total_percent"].unstack("method")
    chi, p = friedman(total.to_numpy())
    ranks = pd.Series(mean_ranks(total.to_numpy()), index=total.columns)
    order = list(ranks.sort_values(kind="stable").index)
    n_sets, folds = len(total), study.settings.folds
    parts = [
        f"{repeats} x {folds}-fold cross-validation, {n_sets} sets, {total.shape[1]} methods; "
        f"misclassification costs: {study.settings.level}.",
        "### Over all sets",
        _summary(study, cells, table, ranks[order]),
        f"Friedman test that all methods rank alike: chi-squared {chi:.1f}, {total.shape[1] - 1} degrees of "
        f"freedom, p {_p(p)}.",
        "### Total cost by set, in % of the standard cost",
        _by_set(total[order]),
        "### Test cost by set, in % of the standard cost",
        _by_set(table["test_percent"].unstack("method")[order], bold=False),
        "### Sets",
        _sets(study, records),
    ]
    return "\n\n".join(parts) + "\n"


def _summary(study: Study, cells: pd.DataFrame, table: pd.DataFrame, ranks: pd.Series) -> str:
    """One row per method, best rank first."""
    total = table["total_percent"].unstack("method")
    overall = table.groupby("method", observed=True).mean()
    others = [name for name in ranks.index if name != study.reference]
    p = dict(
        zip(
            others,
            holm([wilcoxon(total[study.reference].to_numpy(), total[name].to_numpy()) for name in others]),
            strict=True,
        )
    )
    rows = []
    for name, rank in zip(map(str, ranks.index), ranks, strict=True):
        own = overall.loc[name]
        against = "-" if name == study.reference else _record(study, cells, name)
        rows.append(
            [
                name,
                f"{rank:.2f}",
                f"{own['total_percent']:.2f}",
                f"{own['error_percent']:.2f}",
                f"{own['test_percent']:.2f}",
                f"{own['accuracy']:.3f}",
                f"{own['leaves']:.1f}",
                f"{100 * own['single_leaf']:.0f}",
                f"{own['seconds']:.3f}",
                against,
                _p(p[name]) if name in p else "-",
            ]
        )
    head = ["method", "mean rank", "total %", "errors %", "tests %", "accuracy", "leaves", "single leaf, %"]
    reference = study.reference
    return markdown_table(
        [*head, "seconds", f"{reference} better/same/worse", f"p against {reference}"], rows
    )


def _record(study: Study, cells: pd.DataFrame, name: str) -> str:
    """On how many sets the reference costs less, the same and more than another method."""
    wide = cells.pivot_table(
        index=["set", "repeat", "fold"], columns="method", values="total_percent", observed=True
    )
    difference = wide[study.reference] - wide[name]
    less = more = same = 0
    for _, own in difference.groupby("set", observed=True):
        values = own.to_numpy()
        if resampled_t(values, study.settings.folds) >= LEVEL:
            same += 1
        elif values.mean() < 0:
            less += 1
        else:
            more += 1
    return f"{less}/{same}/{more}"


def _by_set(values: pd.DataFrame, *, bold: bool = True) -> str:
    """One row per method, one column per set; the least of a column in bold."""
    columns = []
    for _, row in values.iterrows():
        least = f"{row.min():.1f}"
        shown = [f"{value:.1f}" for value in row]
        columns.append([f"**{text}**" if bold and text == least else text for text in shown])
    rows = [[name, *cells] for name, cells in zip(values.columns, zip(*columns, strict=True), strict=True)]
    return markdown_table(["method", *map(str, values.index)], rows)


def _sets(study: Study, records: Records) -> str:
    folds, limit = study.settings.folds, study.settings.max_train
    rows = []
    for name in study.sets:
        if name not in records.sets:
            continue
        line = records.sets[name]
        train = line["rows"] - -(-line["rows"] // folds)
        shown = f"{train}" if limit is None or train <= limit else f"{limit}, drawn from {train}"
        rows.append([name, line["rows"], shown, line["features"], line["classes"], f"{line['standard']:.2f}"])
    return markdown_table(["set", "cases", "training cases", "features", "classes", "standard cost"], rows)


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Table in Markdown; the first column to the left, the others to the right."""
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join(
        "| " + " | ".join(str(cell).replace("~", "\\~") for cell in line) + " |" for line in lines
    )


def _p(p: float) -> str:
    return "< 0.001" if p < 0.001 else f"{p:.3f}"
