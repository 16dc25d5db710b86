"""``python -m experiments run | report | roots | pack``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from experiments.kinds import Pages, find_kind
from experiments.records import Records, pack
from experiments.report import write_roots
from experiments.roots import root_of
from experiments.runner import run_study
from experiments.study import Study, read_study
from experiments.trees import load_tables

__all__ = ["main"]

ROOT = Path(__file__).resolve().parent
DATA = ROOT.parents[1] / "shared" / "data"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; 0 for success, 2 for a problem that is named on stderr."""
    options = _parser().parse_args(arguments)
    try:
        return int(options.command(options))
    except (OSError, ValueError) as error:
        print(f"experiments: {error}", file=sys.stderr)
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m experiments", description=__doc__)
    commands = parser.add_subparsers(required=True)
    run = commands.add_parser("run", help="run the cells that are not finished")
    run.add_argument("study", type=Path, help="a study file, such as experiments/studies/greedy.toml")
    run.add_argument("--out", type=Path, help="results; default: results/NAME.jsonl beside this package")
    run.add_argument("--data", type=Path, default=DATA, help="folder of the tables (default: ../shared/data)")
    run.add_argument("--jobs", type=int, default=1, help="processes")
    run.add_argument("--limit-seconds", type=float, help="begin no fold after that time")
    run.set_defaults(command=_run)
    report = commands.add_parser("report", help="make tables of the finished repeats")
    report.add_argument("study", type=Path)
    report.add_argument("--out", type=Path, help="results, .jsonl or .jsonl.gz")
    report.add_argument("--markdown", type=Path, help="file whose part between the marks is replaced")
    report.add_argument("--csv", type=Path, help="file for the means by set and method")
    report.add_argument("--figures", type=Path, help="folder for figures, in studies that have some")
    report.set_defaults(command=_report)
    roots = commands.add_parser("roots", help="what SECSDT_MC sees at the root of each set")
    roots.add_argument("study", type=Path)
    roots.add_argument("--data", type=Path, default=DATA, help="folder of the tables")
    roots.add_argument("--markdown", type=Path, help="file whose part between the marks is replaced")
    roots.set_defaults(command=_roots)
    packing = commands.add_parser("pack", help="compress results for keeping")
    packing.add_argument("results", type=Path)
    packing.set_defaults(command=_pack)
    return parser


def _results_of(study: Study, out: Path | None) -> Path:
    return out or ROOT / "results" / f"{study.name}.jsonl"


def _run(options: argparse.Namespace) -> int:
    if options.jobs < 1:
        raise ValueError(f"--jobs must be 1 or more; got {options.jobs}")
    study = read_study(options.study)
    out = _results_of(study, options.out)
    n = run_study(study, out, options.data, jobs=options.jobs, limit_seconds=options.limit_seconds)
    print(f"{n} cells run; results in {out}")
    return 0


def _report(options: argparse.Namespace) -> int:
    study = read_study(options.study)
    out = _results_of(study, options.out)
    if not out.exists() and options.out is None:
        out = out.with_name(out.name + ".gz")
    if not out.exists():
        raise ValueError(f"there are no results at {out}; run the study first")
    pages = Pages(options.markdown, options.csv, options.figures)
    text = find_kind(study.kind).report(study, Records(out), pages)
    if options.markdown is None:
        print(text)
    return 0


def _roots(options: argparse.Namespace) -> int:
    study = read_study(options.study)
    if study.kind != "trees":
        raise ValueError(f"{options.study.name} is no study of trees: it has no roots")
    roots = {table.name: root_of(table) for table in load_tables(study, options.data)}
    text = write_roots(study, roots, options.markdown)
    if options.markdown is None:
        print(text)
    return 0


def _pack(options: argparse.Namespace) -> int:
    print(pack(options.results))
    return 0
