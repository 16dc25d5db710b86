"""Run the cells of a study that are not finished yet."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from itertools import islice
from pathlib import Path
from typing import Any

from experiments.cell import make_fold, run_method
from experiments.records import Records
from experiments.study import Method, Settings, Study
from experiments.tables import DataAbsentError, Table, load_table, standard_cost

__all__ = ["load_tables", "run_study"]

Job = tuple[Table, Settings, int, int, tuple[Method, ...]]


def run_study(
    study: Study, out: Path, data: Path, *, jobs: int = 1, limit_seconds: float | None = None
) -> int:
    """Run a study, a repeat of all sets after the other, and append a line per finished cell.

    Parameters
    ----------
    study : Study
    out : path
        Results so far; cells that it holds are not run again.
    data : path
        Folder of the tables; sets whose files are not there are skipped, which stderr says.
    jobs : int
        Processes.
    limit_seconds : float, optional
        No fold begins after that time.

    Returns
    -------
    int
        Number of cells that were run.
    """
    records = Records(out)
    records.open_for(study.settings.to_dict())
    tables = load_tables(study, data)
    for table in tables:
        if table.name not in records.sets:
            records.append([_describe(table)])
    begin = time.monotonic()
    todo = _within(_jobs(study, tables, records), begin, limit_seconds)
    n = 0
    for lines in _results(todo, jobs):
        records.append(lines)
        n += len(lines)
        where = f"repeat {lines[0]['repeat']}, {lines[0]['set']}, fold {lines[0]['fold']}"
        print(f"{time.monotonic() - begin:7.0f} s  {where}", flush=True)
    return n


def load_tables(study: Study, data: Path) -> list[Table]:
    """Tables of a study; stderr names those that are skipped because a file is absent."""
    tables = []
    for name in study.sets:
        try:
            tables.append(load_table(name, study.sets_file, study.settings.level, data))
        except DataAbsentError as error:
            print(f"skipped {name}: {error} is not there; say where with --data", file=sys.stderr)
    return tables


def _describe(table: Table) -> dict[str, Any]:
    return {
        "set": table.name,
        "rows": len(table.y),
        "features": table.X.shape[1],
        "classes": table.costs.n_classes,
        "standard": round(standard_cost(table), 6),
    }


def _jobs(study: Study, tables: list[Table], records: Records) -> Iterator[Job]:
    done = records.done
    for repeat in range(study.repeats):
        for table in tables:
            for fold in range(study.settings.folds):
                missing = tuple(m for m in study.methods if (table.name, repeat, fold, m.name) not in done)
                if missing:
                    yield table, study.settings, repeat, fold, missing


def _within(jobs: Iterator[Job], begin: float, limit: float | None) -> Iterator[Job]:
    for job in jobs:
        if limit is not None and time.monotonic() - begin > limit:
            print(f"stopped after {limit:g} s; the same command goes on", file=sys.stderr)
            return
        yield job


def _run(job: Job) -> list[dict[str, Any]]:
    table, settings, repeat, number, methods = job
    fold = make_fold(table, settings, repeat, number)
    return [
        {"set": table.name, "repeat": repeat, "fold": number, "method": method.name}
        | run_method(method, fold, settings)
        for method in methods
    ]


def _results(todo: Iterator[Job], jobs: int) -> Iterator[list[dict[str, Any]]]:
    """Yield the lines of each fold as it is finished; few folds wait, so that a limit is soon obeyed."""
    if jobs == 1:
        yield from map(_run, todo)
        return
    with ProcessPoolExecutor(jobs) as pool:
        running: set[Future[list[dict[str, Any]]]] = {pool.submit(_run, job) for job in islice(todo, jobs)}
        while running:
            finished, running = wait(running, return_when=FIRST_COMPLETED)
            running |= {pool.submit(_run, job) for job in islice(todo, len(finished))}
            for future in finished:
                yield future.result()
