"""Kinds of studies: what each reads from TOML, runs as a fold, and reports."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from experiments.records import Records
    from experiments.study import Study

__all__ = ["KINDS", "Kind", "Pages", "find_kind"]

# The module that holds each kind as KIND.
KINDS = {
    "trees": "experiments.trees",
    "boosting": "experiments.boosting",
    "searches": "experiments.searches",
    "committees": "experiments.committees",
    "machines": "experiments.machines",
    "generalisation": "experiments.generalisation",
}


@dataclass(frozen=True)
class Pages:
    """Where a report goes.

    Attributes
    ----------
    markdown : path or None
        An existing file; what stands between the marks of the study is replaced.
    csv : path or None
        The table, to read by machine.
    figures : path or None
        A folder.
    """

    markdown: Path | None = None
    csv: Path | None = None
    figures: Path | None = None


@dataclass(frozen=True)
class Kind:
    """What the runner has to know of a kind of study.

    Attributes
    ----------
    keys : frozenset of str
        Keys of a study file, besides those that all have.
    read_settings, read_method : callable
        Make settings (with ``folds`` and ``to_dict``) from the study's TOML, a method (with ``name``) from
        one entry.
    load : callable
        ``load(study, data)``: the sets, each with a ``name``; those whose files are absent are left out.
    describe : callable
        ``describe(one)``: a line of results about a set, with ``set`` and ``rows``.
    applies : callable
        ``applies(method, line)``: whether a method can be run on the set that a line of results is about.
    run_fold : callable
        ``run_fold(one, settings, repeat, fold, methods)``: results of each method, in order.
    report : callable
        ``report(study, records, pages)``: tables in Markdown.
    """

    keys: frozenset[str]
    read_settings: Callable[[dict[str, Any]], Any]
    read_method: Callable[[dict[str, Any]], Any]
    load: Callable[[Study, Path], Sequence[Any]]
    describe: Callable[[Any], dict[str, Any]]
    run_fold: Callable[[Any, Any, int, int, Sequence[Any]], list[dict[str, Any]]]
    report: Callable[[Study, Records, Pages], str]
    applies: Callable[[Any, dict[str, Any]], bool] = lambda method, line: True


def find_kind(name: Any) -> Kind:
    """Return a kind by its name.

    Raises
    ------
    ValueError
        There is none of that name.
    """
    if name not in KINDS:
        raise ValueError(f"kind {name!r} is none of {', '.join(map(repr, KINDS))}")
    kind = import_module(KINDS[name]).KIND
    assert isinstance(kind, Kind)
    return kind
