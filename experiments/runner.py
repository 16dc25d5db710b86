"""Run the cells of a study that are not finished yet."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from itertools import islice
from pathlib import Path
from typing import Any

from experiments.kinds import find_kind
from experiments.records import Records
from experiments.study import Study

__all__ = ["run_study"]

# Name of the kind, set, settings, repeat, fold, methods.
Job = tuple[str, Any, Any, int, int, tuple[Any, ...]]


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
    kind = find_kind(study.kind)
    sets = kind.load(study, data)
    for one in sets:
        if one.name not in records.sets:
            records.append([kind.describe(one)])
    begin = time.monotonic()
    todo = _within(_jobs(study, sets, records), begin, limit_seconds)
    n = 0
    for lines in _results(todo, jobs):
        records.append(lines)
        n += len(lines)
        where = f"repeat {lines[0]['repeat']}, {lines[0]['set']}, fold {lines[0]['fold']}"
        print(f"{time.monotonic() - begin:7.0f} s  {where}", flush=True)
    return n


def _jobs(study: Study, sets: Sequence[Any], records: Records) -> Iterator[Job]:
    done = records.done
    applies = find_kind(study.kind).applies
    for repeat in range(study.repeats):
        for one in sets:
            for fold in range(study.settings.folds):
                missing = tuple(
                    method
                    for method in study.methods
                    if (one.name, repeat, fold, method.name) not in done
                    and applies(method, records.sets[one.name])
                )
                if missing:
                    yield study.kind, one, study.settings, repeat, fold, missing


def _within(jobs: Iterator[Job], begin: float, limit: float | None) -> Iterator[Job]:
    for job in jobs:
        if limit is not None and time.monotonic() - begin > limit:
            print(f"stopped after {limit:g} s; the same command goes on", file=sys.stderr)
            return
        yield job


def _run(job: Job) -> list[dict[str, Any]]:
    kind, one, settings, repeat, fold, methods = job
    results = find_kind(kind).run_fold(one, settings, repeat, fold, methods)
    return [
        {"set": one.name, "repeat": repeat, "fold": fold, "method": method.name} | result
        for method, result in zip(methods, results, strict=True)
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
