"""The command line of studies that are one module: run, and report."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from experiments.cli import DATA, ROOT
from experiments.records import Records
from experiments.report import markdown_table, put_between


def frame_as_markdown(table: pd.DataFrame) -> str:
    """Table of texts in Markdown, the index first."""
    rows = ([str(name), *row] for name, row in zip(table.index, table.to_numpy(), strict=True))
    return markdown_table([str(table.index.name), *table.columns], rows)


def run_or_report(
    arguments: Sequence[str] | None,
    name: str,
    about: str | None,
    *,
    sets: Sequence[str],
    repeats: int,
    run: Callable[[Path, Path, Sequence[str], int], None],
    report: Callable[[Records], str],
    marks: tuple[str, str],
    ignored: dict[str, Any],
) -> None:
    """Read the command line of a study and do what it asks.

    Parameters
    ----------
    arguments : sequence of str or None
        None: those of the process.
    name : str
        Of the module and of its results.
    about : str
    sets : sequence of str
    repeats : int
        By default.
    run : callable
        Called with the file of results, the folder of tables, the sets and the repeats.
    report : callable
    marks : (str, str)
        Lines of a page between which the report stands.
    ignored : dict
        Warnings that say nothing here, as :func:`warnings.filterwarnings` takes them.
    """
    parser = argparse.ArgumentParser(
        prog=f"python -m experiments.{name}",
        description=about,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("command", choices=["run", "report"])
    parser.add_argument("--out", type=Path, help=f"results (default: results/{name}.jsonl, packed or not)")
    parser.add_argument(
        "--data", type=Path, default=DATA, help="folder of the tables (default: ../shared/data)"
    )
    parser.add_argument("--sets", nargs="+", default=list(sets), choices=list(sets))
    parser.add_argument("--repeats", type=int, default=repeats)
    parser.add_argument("--markdown", type=Path, help="file whose part between the marks is replaced")
    options = parser.parse_args(arguments)
    out = options.out or ROOT / "results" / f"{name}.jsonl"
    if options.command == "run":
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", **ignored)
            run(out, options.data, options.sets, options.repeats)
        return
    text = report(Records(out if out.exists() else out.with_name(out.name + ".gz")))
    if options.markdown is None:
        print(text)
    else:
        put_between(options.markdown, *marks, text)
