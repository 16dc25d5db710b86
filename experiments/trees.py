"""Studies of single trees: methods of growing, depth and pruning chosen by inner cross-validation."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from experiments.cell import make_fold, run_method
from experiments.kinds import Kind, Pages
from experiments.records import Records
from experiments.report import write_report
from experiments.study import Method, Settings, Study, read_tree_method, read_tree_settings
from experiments.tables import DataAbsentError, Table, load_table, standard_cost

__all__ = ["KIND", "describe", "load_tables"]


def load_tables(study: Study, data: Path) -> list[Table]:
    """Tables of a study; stderr names those that are skipped because a file is absent."""
    tables = []
    for name in study.sets:
        try:
            tables.append(load_table(name, study.sets_file, study.settings.level, data))
        except DataAbsentError as error:
            print(f"skipped {name}: {error} is not there; say where with --data", file=sys.stderr)
    return tables


def describe(table: Table) -> dict[str, Any]:
    """Return the line of results about a table."""
    return {
        "set": table.name,
        "rows": len(table.y),
        "features": table.X.shape[1],
        "classes": table.costs.n_classes,
        "standard": round(standard_cost(table), 6),
    }


def _run_fold(
    table: Table, settings: Settings, repeat: int, number: int, methods: Sequence[Method]
) -> list[dict[str, Any]]:
    fold = make_fold(table, settings, repeat, number)
    return [run_method(method, fold, settings) for method in methods]


def _report(study: Study, records: Records, pages: Pages) -> str:
    return write_report(study, records, markdown=pages.markdown, csv=pages.csv)


KIND = Kind(
    keys=frozenset({"inner_folds", "depths", "prunings", "level", "max_train"}),
    read_settings=read_tree_settings,
    read_method=read_tree_method,
    load=load_tables,
    describe=describe,
    run_fold=_run_fold,
    report=_report,
)
