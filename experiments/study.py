"""What a study is: read from TOML, checked, nothing else."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments.kinds import find_kind

__all__ = [
    "Method",
    "Settings",
    "Study",
    "check_choice",
    "check_keys",
    "read_study",
    "read_tree_method",
    "read_tree_settings",
    "whole",
]

LEVELS = ("low", "middle", "high")
GROWERS = ("cstree", "scikit-learn")
ANSWERS = ("least cost", "majority", "weighted")
PRUNINGS = ("cost", "none", "total")


@dataclass(frozen=True)
class Settings:
    """Everything that the result of a cell depends on, besides set, repeat, fold and method."""

    seed: int
    folds: int
    inner_folds: int
    depths: tuple[int, ...]
    prunings: tuple[str, ...]
    level: str
    max_train: int | None

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {
            "seed": self.seed,
            "folds": self.folds,
            "inner_folds": self.inner_folds,
            "depths": list(self.depths),
            "prunings": list(self.prunings),
            "level": self.level,
            "max_train": self.max_train,
        }


@dataclass(frozen=True)
class Method:
    """How one method grows its trees.

    Attributes
    ----------
    name : str
    grower : {"cstree", "scikit-learn"}
    criterion : str
        Of the greedy grower; scikit-learn's trees use its default.
    alpha : "heuristic" or float
    answers : {"least cost", "majority", "weighted"}
        What leaves of scikit-learn's trees answer. "weighted": classes weighted by what it costs to
        miss them, in growth and in answers.
    """

    name: str
    grower: str = "cstree"
    criterion: str = "secsdt_mc"
    alpha: str | float = "heuristic"
    answers: str = "least cost"


@dataclass(frozen=True)
class Study:
    """A study file, read and checked; what settings and methods are depends on the kind."""

    name: str
    kind: str
    title: str
    sets_file: Path
    sets: tuple[str, ...]
    repeats: int
    settings: Any
    methods: tuple[Any, ...]
    reference: str


_KEYS = frozenset(
    {"kind", "title", "sets_file", "sets", "seed", "repeats", "folds", "reference", "methods", "based_on"}
)


def read_study(path: Path | str) -> Study:
    """Read and check a study file; what it does not say is as in the file it is ``based_on``.

    Parameters
    ----------
    path : path

    Returns
    -------
    Study

    Raises
    ------
    OSError
        The file cannot be opened.
    ValueError
        It is not TOML, or a value is missing, unknown or out of range.
    """
    path = Path(path)
    plain = _read_toml(path)
    if "based_on" in plain:
        base = _read_toml(path.parent / plain["based_on"])
        if "based_on" in base:
            raise ValueError(f"{path.name} is based on {plain['based_on']}, which is based on another file")
        plain = base | plain
    kind = find_kind(plain.get("kind", "trees"))
    check_keys(plain, _KEYS | kind.keys, path.name)
    for key in ("sets_file", "sets", "methods", "reference"):
        if not plain.get(key):
            raise ValueError(f"{path.name} has no {key}")
    for entry in plain["methods"]:
        if not isinstance(entry.get("name"), str):
            raise ValueError(f"the method {dict(entry)!r} has no name")
    methods = tuple(kind.read_method(entry) for entry in plain["methods"])
    names = [method.name for method in methods]
    _check_unique(names, "method")
    _check_unique(plain["sets"], "set")
    if plain["reference"] not in names:
        raise ValueError(f"reference {plain['reference']!r} is none of the methods {', '.join(names)}")
    return Study(
        name=path.stem,
        kind=plain.get("kind", "trees"),
        title=str(plain.get("title", path.stem)),
        sets_file=path.parent / plain["sets_file"],
        sets=tuple(plain["sets"]),
        repeats=whole(plain, "repeats", 1, default=1),
        settings=kind.read_settings(plain),
        methods=methods,
        reference=plain["reference"],
    )


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{path.name} is not TOML: {error}") from error


def read_tree_settings(plain: Mapping[str, Any]) -> Settings:
    """Read the settings of a study of single trees."""
    depths = plain.get("depths", [0, 1, 2, 3, 4, 6, 8, 12])
    if not depths or any(not isinstance(depth, int) or depth < 0 for depth in depths):
        raise ValueError(f"depths must be whole numbers from 0 on; got {depths!r}")
    prunings = plain.get("prunings", ["cost", "none"])
    for pruning in prunings:
        check_choice(pruning, PRUNINGS, "pruning")
    level = plain.get("level", "middle")
    check_choice(level, LEVELS, "level")
    return Settings(
        seed=whole(plain, "seed", 0, default=0),
        folds=whole(plain, "folds", 2, default=10),
        inner_folds=whole(plain, "inner_folds", 2, default=3),
        depths=tuple(sorted(depths)),
        prunings=tuple(prunings),
        level=level,
        max_train=whole(plain, "max_train", 1) if "max_train" in plain else None,
    )


def read_tree_method(plain: Mapping[str, Any]) -> Method:
    """Read how a method grows its trees."""
    check_keys(plain, {"name", "grower", "criterion", "alpha", "answers"}, f"method {plain['name']!r}")
    method = Method(**plain)
    check_choice(method.grower, GROWERS, "grower")
    check_choice(method.answers, ANSWERS, "answers")
    if method.grower == "cstree" and method.answers != "least cost":
        raise ValueError(f"method {method.name!r}: trees of cstree answer at least cost")
    return method


def check_keys(plain: Mapping[str, Any], known: AbstractSet[str], where: str) -> None:
    """Raise a ValueError that names a key which is not known."""
    unknown = sorted(set(plain) - known)
    if unknown:
        raise ValueError(f"{where} has the unknown key {unknown[0]!r}; known: {', '.join(sorted(known))}")


def _check_unique(names: Sequence[str], what: str) -> None:
    for name in names:
        if list(names).count(name) > 1:
            raise ValueError(f"{what} {name!r} is listed twice")


def check_choice(value: Any, known: Sequence[str], what: str) -> None:
    """Raise a ValueError if a value is none of those known."""
    if value not in known:
        raise ValueError(f"{what} {value!r} is none of {', '.join(map(repr, known))}")


def whole(plain: Mapping[str, Any], key: str, least: int, default: int | None = None) -> int:
    """Read a whole number; a ValueError says what it must be."""
    value = plain.get(key, default)
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise ValueError(f"{key} must be a whole number from {least} on; got {value!r}")
    return value
