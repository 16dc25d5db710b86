"""Medical tables whose tests and mistakes have published costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any, Literal, TypeAlias

import pandas as pd
from sklearn.utils import Bunch

from cstree.costs.model import CostModel

__all__ = ["load_bupa", "load_heart", "load_hepatitis", "load_pima"]

Level: TypeAlias = Literal["low", "middle", "high"]

# Findings of which the table has codes, not words.
_CODES = (
    "steroid antivirals fatigue malaise anorexia liver_big liver_firm spleen_palpable spiders ascites "
    "varices histology"
).split()


@dataclass(frozen=True)
class _Table:
    """One bundled table: its columns in order with their dtypes, its classes and its costs."""

    name: str
    dtypes: Mapping[str, str]
    classes: tuple[str, str]
    # Cost of answering the second class when the truth is the first, and the other way round.
    mistakes: Mapping[str, tuple[float, float]]
    full: Mapping[str, float]
    discount: Mapping[str, float] = field(default_factory=dict)
    groups: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def costs(self, level: str) -> CostModel:
        """Costs with the mistakes of one level."""
        if level not in self.mistakes:
            raise ValueError(f"level is {level!r}; choose one of {', '.join(map(repr, self.mistakes))}")
        first, second = self.mistakes[level]
        return CostModel.from_groups(
            self.full,
            self.discount,
            self.groups,
            misclassification=[[0, first], [second, 0]],
            classes=self.classes,
            unit="CAD",
        )

    def load(self, level: str, return_X_y: bool) -> Any:
        """Read the bundled file."""
        costs = self.costs(level)
        folder = files("cstree.datasets") / "data"
        dtypes: Any = {**self.dtypes, "target": "str"}
        with (folder / f"{self.name}.csv").open("rb") as file:
            data = pd.read_csv(file, dtype=dtypes, keep_default_na=False, na_values=[""])
        target = data.pop("target")
        if return_X_y:
            return data, target
        return Bunch(
            data=data,
            target=target,
            feature_names=list(self.dtypes),
            target_names=list(self.classes),
            costs=costs,
            DESCR=(folder / f"{self.name}.md").read_text(encoding="utf-8"),
        )


_HEART = _Table(
    name="heart",
    dtypes={
        "age": "int64",
        "sex": "str",
        "cp": "str",
        "trestbps": "int64",
        "chol": "int64",
        "fbs": "str",
        "restecg": "str",
        "thalach": "int64",
        "exang": "str",
        "oldpeak": "float64",
        "slope": "str",
        "ca": "int64",
        "thal": "str",
    },
    classes=("absent", "present"),
    mistakes={"low": (75, 88), "middle": (151, 177), "high": (455, 531)},
    full={
        "age": 1,
        "sex": 1,
        "cp": 1,
        "trestbps": 1,
        "chol": 7.27,
        "fbs": 5.2,
        "restecg": 15.5,
        "thalach": 102.9,
        "exang": 87.3,
        "oldpeak": 87.3,
        "slope": 87.3,
        "ca": 100.9,
        "thal": 102.9,
    },
    discount={"chol": 5.17, "fbs": 3.1, "thalach": 1, "thal": 1, "exang": 1, "oldpeak": 1, "slope": 1},
    groups={
        "blood draw": ["chol", "fbs"],
        "thallium stress test": ["thalach", "thal"],
        "exercise electrocardiogram": ["exang", "oldpeak", "slope"],
    },
)

_HEPATITIS_BLOOD = {
    "bilirubin": "float64",
    "alk_phosphate": "float64",
    "sgot": "float64",
    "albumin": "float64",
    "protime": "float64",
}

_HEPATITIS = _Table(
    name="hepatitis",
    dtypes={
        "age": "int64",
        "sex": "str",
        **dict.fromkeys(_CODES[:-1], "str"),
        **_HEPATITIS_BLOOD,
        "histology": "str",
    },
    classes=("die", "live"),
    mistakes={"low": (12, 3), "middle": (25, 6), "high": (76, 19)},
    full={
        "age": 1,
        "sex": 1,
        **dict.fromkeys(_CODES, 1),
        **dict.fromkeys(_HEPATITIS_BLOOD, 7.27),
        "protime": 8.3,
    },
    discount={**dict.fromkeys(_HEPATITIS_BLOOD, 5.17), "protime": 6.2},
    groups={"blood draw": list(_HEPATITIS_BLOOD)},
)

_PIMA = _Table(
    name="pima",
    dtypes={
        "preg": "int64",
        "plas": "int64",
        "pres": "int64",
        "skin": "int64",
        "insu": "int64",
        "mass": "float64",
        "pedi": "float64",
        "age": "int64",
    },
    classes=("negative", "positive"),
    mistakes={"low": (5, 10), "middle": (10, 20), "high": (32, 60)},
    full={"preg": 1, "plas": 17.61, "pres": 1, "skin": 1, "insu": 22.78, "mass": 1, "pedi": 1, "age": 1},
    discount={"plas": 15.51, "insu": 20.68},
    groups={"blood draw": ["plas", "insu"]},
)

_BUPA = _Table(
    name="bupa",
    dtypes=dict.fromkeys(["mcv", "alkphos", "sgpt", "sgot", "gammagt"], "int64"),
    classes=("few", "many"),
    mistakes={"low": (5, 4), "middle": (10, 9), "high": (31, 29)},
    full={"mcv": 7.27, "alkphos": 7.27, "sgpt": 7.27, "sgot": 7.27, "gammagt": 9.86},
    discount={"mcv": 5.17, "alkphos": 5.17, "sgpt": 5.17, "sgot": 5.17, "gammagt": 7.76},
    groups={"blood draw": ["mcv", "alkphos", "sgpt", "sgot", "gammagt"]},
)


def load_heart(level: Level = "middle", *, return_X_y: bool = False) -> Any:
    """Load the heart disease table of Cleveland.

    Numbers and categories, nothing missing; three groups of tests share a step.

    Parameters
    ----------
    level : {"low", "middle", "high"}, default="middle"
        How much mistakes cost compared with tests.
    return_X_y : bool, default=False
        Return ``(data, target)`` instead of a Bunch.

    Returns
    -------
    Bunch
        ``data`` (DataFrame of shape (297, 13)), ``target`` (Series of "absent" and "present"),
        ``feature_names``, ``target_names``, ``costs`` (CostModel) and ``DESCR``, which tells where everything
        comes from.
    (DataFrame, Series)
        If ``return_X_y``.

    Raises
    ------
    ValueError
        There is no such level.

    Examples
    --------
    >>> heart = load_heart()
    >>> heart.costs
    CostModel(2 classes, 13 tests, 3 operations, unit='CAD')
    """
    return _HEART.load(level, return_X_y)


def load_hepatitis(level: Level = "middle", *, return_X_y: bool = False) -> Any:
    """Load the hepatitis table.

    Numbers and categories, 167 values missing; the blood tests share the blood draw.

    Parameters
    ----------
    level : {"low", "middle", "high"}, default="middle"
        How much mistakes cost compared with tests.
    return_X_y : bool, default=False
        Return ``(data, target)`` instead of a Bunch.

    Returns
    -------
    Bunch
        ``data`` (DataFrame of shape (155, 19)), ``target`` (Series of "die" and "live"),
        ``feature_names``, ``target_names``, ``costs`` (CostModel) and ``DESCR``, which tells where everything
        comes from.
    (DataFrame, Series)
        If ``return_X_y``.

    Raises
    ------
    ValueError
        There is no such level.

    Examples
    --------
    >>> hepatitis = load_hepatitis()
    >>> hepatitis.costs
    CostModel(2 classes, 19 tests, 1 operation, unit='CAD')
    """
    return _HEPATITIS.load(level, return_X_y)


def load_pima(level: Level = "middle", *, return_X_y: bool = False) -> Any:
    """Load the diabetes table of the Pima.

    Numbers only; the two blood tests share the blood draw.

    Parameters
    ----------
    level : {"low", "middle", "high"}, default="middle"
        How much mistakes cost compared with tests.
    return_X_y : bool, default=False
        Return ``(data, target)`` instead of a Bunch.

    Returns
    -------
    Bunch
        ``data`` (DataFrame of shape (768, 8)), ``target`` (Series of "negative" and "positive"),
        ``feature_names``, ``target_names``, ``costs`` (CostModel) and ``DESCR``, which tells where everything
        comes from.
    (DataFrame, Series)
        If ``return_X_y``.

    Raises
    ------
    ValueError
        There is no such level.

    Examples
    --------
    >>> pima = load_pima()
    >>> pima.costs
    CostModel(2 classes, 8 tests, 1 operation, unit='CAD')
    """
    return _PIMA.load(level, return_X_y)


def load_bupa(level: Level = "middle", *, return_X_y: bool = False) -> Any:
    """Load the liver disorders table of BUPA.

    Numbers only, all of them blood tests. Its misclassification costs are not published: `DESCR` says how
    they were chosen.

    Parameters
    ----------
    level : {"low", "middle", "high"}, default="middle"
        How much mistakes cost compared with tests.
    return_X_y : bool, default=False
        Return ``(data, target)`` instead of a Bunch.

    Returns
    -------
    Bunch
        ``data`` (DataFrame of shape (345, 5)), ``target`` (Series of "few" and "many"),
        ``feature_names``, ``target_names``, ``costs`` (CostModel) and ``DESCR``, which tells where everything
        comes from.
    (DataFrame, Series)
        If ``return_X_y``.

    Raises
    ------
    ValueError
        There is no such level.

    Examples
    --------
    >>> bupa = load_bupa()
    >>> bupa.costs
    CostModel(2 classes, 5 tests, 1 operation, unit='CAD')
    """
    return _BUPA.load(level, return_X_y)
