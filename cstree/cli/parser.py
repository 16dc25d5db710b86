"""The arguments of the command line, with their help."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from cstree.cli.commands import demo, draw, fit, front, predict
from cstree.cli.curve import curve
from cstree.plot.cost_curve import KINDS

__all__ = ["build_parser"]


def _positive(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is no number above 0")
    return value


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number from 1")
    return int(text)


def _folds_or_share(text: str) -> int | float:
    if text.isdecimal() and int(text) >= 2:
        return int(text)
    try:
        share = float(text)
    except ValueError:
        share = 0.0
    if not 0 < share < 1:
        raise argparse.ArgumentTypeError(
            f"{text!r} is no number of folds from 2, and no share between 0 and 1"
        )
    return share


def build_parser() -> argparse.ArgumentParser:
    """Return the parser; what it parses has ``run``, the chosen command (None: none was)."""
    parser = argparse.ArgumentParser(
        prog="cstree",
        description="Decision trees for problems in which mistakes have a price, and so do tests.",
        epilog="Begin with `cstree demo`. `cstree COMMAND --help` explains a command and shows an example.",
    )
    parser.add_argument("--version", action="version", version=f"cstree {_version()}")
    parser.set_defaults(run=None)
    commands = parser.add_subparsers(metavar="COMMAND")
    for add in (_add_demo, _add_fit, _add_predict, _add_front, _add_draw, _add_curve):
        add(commands)
    return parser


def _version() -> str:
    try:
        return version("cstree")
    except PackageNotFoundError:  # run from a folder without installation
        return "(not installed)"


def _command(
    commands: Any, run: Callable[[argparse.Namespace], int], summary: str, text: str, example: str
) -> argparse.ArgumentParser:
    command: argparse.ArgumentParser = commands.add_parser(
        run.__name__,
        help=summary,
        description=text,
        epilog=f"example:\n  {example}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.set_defaults(run=run)
    return command


_CSV = "CSV file in UTF-8, the columns named in its first line; an empty cell is missing, nothing else is"


def _add_demo(commands: Any) -> None:
    command = _command(
        commands,
        demo,
        "fit the heart table and write a page that explores its front",
        """\
Searches trees for the heart disease table that comes with cstree, with its published costs.
Prints the front and the tree of least total cost; writes front.html (a page to explore),
front.csv, tree.svg and model.json.""",
        "cstree demo --output demo --seed 1",
    )
    command.add_argument(
        "--output", default="demo", metavar="DIR", help="folder for the files (default: demo)"
    )
    command.add_argument(
        "--seconds", type=_positive, metavar="S", help="search for this long (default: until it stalls)"
    )
    command.add_argument(
        "--seed", type=int, default=0, metavar="N", help="same seed, same front (default: 0)"
    )


def _add_fit(commands: Any) -> None:
    command = _command(
        commands,
        fit,
        "fit a model to a CSV table",
        """\
Fits a front of trees (--method nnia) or one greedy tree, and saves the model as JSON. Columns of
text are categorical, columns of numbers numeric unless --categorical names them. Ctrl-C ends the
search early and keeps what was found.""",
        "cstree fit patients.csv --target disease --costs costs.toml -o model.json --select max_test_cost=20",
    )
    command.add_argument("table", help=_CSV)
    command.add_argument("--target", required=True, metavar="COLUMN", help="column with the classes")
    command.add_argument(
        "--costs", metavar="FILE", help="cost file (TOML); without it a mistake costs 1 and tests are free"
    )
    command.add_argument("-o", "--output", required=True, metavar="FILE", help="model file to write (JSON)")
    command.add_argument("--method", choices=("nnia", "greedy"), default="nnia", help="default: nnia")
    command.add_argument("--criterion", metavar="NAME", help="greedy: secsdt_mc, mincost, pm, ...")
    command.add_argument(
        "--select",
        metavar="RULE",
        help="nnia: total_cost (default), knee, max_test_cost=X, max_misclassification_cost=X "
        "or exchange_rate=R",
    )
    command.add_argument(
        "--validation",
        type=_folds_or_share,
        metavar="N",
        help="nnia: let held-out cases say how cautious the rule must be: so many folds, or a share; each "
        "takes a search of its own",
    )
    command.add_argument(
        "--seconds", type=_positive, metavar="S", help="nnia: search for this long (default: until it stalls)"
    )
    command.add_argument("--max-depth", type=_count, metavar="N", help="most splits on a path")
    command.add_argument("--min-support", type=_count, metavar="N", help="fewest training cases in a leaf")
    command.add_argument("--categorical", metavar="A,B", help="columns of numbers that are categories")
    command.add_argument("--ignore", metavar="A,B", help="columns to leave out")
    command.add_argument(
        "--seed", type=int, default=0, metavar="N", help="same seed, same model (default: 0)"
    )


def _add_predict(commands: Any) -> None:
    command = _command(
        commands,
        predict,
        "predict the cases of a CSV table",
        """\
Writes a row for each case: prediction, probability_CLASS for each class (its share of the training
cases in the leaf), and test_cost, what the tests cost that the case takes. The table may have more
columns than the model needs.""",
        "cstree predict model.json new.csv -o predicted.csv",
    )
    command.add_argument("model", help="model file")
    command.add_argument("table", help=_CSV)
    command.add_argument("-o", "--output", metavar="FILE", help="CSV file to write (default: print it)")


def _add_front(commands: Any) -> None:
    command = _command(
        commands,
        front,
        "show the front of a model, as a table or as a page",
        """\
Prints the points of the front, or writes them as a CSV file or as a page to explore. With --on, it
shows what the trees cost on the cases of another table, with standard errors, and which survive.""",
        "cstree front model.json --html front.html",
    )
    command.add_argument("model", help="model file")
    command.add_argument("-o", "--output", metavar="FILE", help="CSV file to write ('-': print it)")
    command.add_argument("--on", metavar="TABLE", help="CSV file with other cases and their classes")
    command.add_argument("--target", metavar="COLUMN", help="column of that table with the classes")
    command.add_argument("--html", metavar="FILE", help="page to write")
    command.add_argument("--title", default="What mistakes and tests cost", help="headline of the page")


def _add_draw(commands: Any) -> None:
    command = _command(
        commands,
        draw,
        "draw a tree of a model",
        """\
Draws the model's tree, or that of a point of its front. The suffix says the format: .svg, .png,
.pdf or .dot.""",
        "cstree draw model.json -o tree.svg --point 3",
    )
    command.add_argument("model", help="model file")
    command.add_argument("-o", "--output", required=True, metavar="FILE", help="picture to write")
    command.add_argument(
        "--point", type=int, metavar="I", help="point of the front (default: the chosen tree)"
    )
    command.add_argument(
        "--direction", choices=("TB", "LR"), default="TB", help="top to bottom, or left to right"
    )


def _add_curve(commands: Any) -> None:
    command = _command(
        commands,
        curve,
        "compare models when costs are not certain",
        """\
Prints, for each model, what it costs at every operating point on the cases of a table: there costs
and class frequencies are one number from 0 to 1. Says which tree of a front is best where, and where
answering always the same is. With -o, draws the cost curves of all models.""",
        "cstree curve model.json greedy.json --on other.csv --target disease -o curve.svg",
    )
    command.add_argument("models", nargs="+", metavar="MODEL", help="model file")
    command.add_argument("--on", required=True, metavar="TABLE", help="CSV file with cases and their classes")
    command.add_argument(
        "--target", required=True, metavar="COLUMN", help="column of that table with the classes"
    )
    command.add_argument(
        "--positive", metavar="CLASS", help="class that matters (default: the second of two)"
    )
    command.add_argument(
        "--kind",
        choices=KINDS,
        default="auto",
        help="what is judged: answers, thresholds on probabilities, or all trees of a front "
        "(default: the front, if there is one, else the answers)",
    )
    command.add_argument("-o", "--output", metavar="FILE", help="picture to write (.svg, .png, .pdf)")
