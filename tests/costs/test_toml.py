from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import cstree.costs.toml
from cstree.costs.model import CostModel, FeatureTest
from tests.costs.strategies import any_models

FULL = """
unit = "CAD"
classes = ["absent", "present"]
misclassification = [
    [0, 75],   # whole numbers are fine
    [88, -0.5],
]

[operations]
"blood draw" = 2.1
scan = { price = 80, needs = ["blood draw"] }

[tests]
age = 1
chol = { price = 5.17, needs = ["blood draw"] }
thal = { price = 1, needs = { scan = 75 } }
panel = { price = 9, columns = ["sodium", "potassium"] }
sugar = { price = 3, needs = "blood draw", columns = "glucose" }
"""


def read(folder: Path, text: str | bytes) -> CostModel:
    path = folder / "costs.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8"))
    return CostModel.from_toml(path)


def test_layout_of_the_documentation(tmp_path: Path) -> None:
    expected = CostModel(
        [[0, 75], [88, -0.5]],
        tests={
            "age": 1,
            "chol": FeatureTest(5.17, ["blood draw"]),
            "thal": FeatureTest(1, {"scan": 75}),
            "panel": FeatureTest(9, columns=["sodium", "potassium"]),
            "sugar": FeatureTest(3, ["blood draw"], ["glucose"]),
        },
        operations={"blood draw": 2.1, "scan": (80, ["blood draw"])},
        classes=["absent", "present"],
        unit="CAD",
    )
    assert read(tmp_path, FULL) == expected


def test_example_in_the_module_is_read(tmp_path: Path) -> None:
    texts = []
    for block in cstree.costs.toml.__doc__.split("::\n\n")[1:]:
        lines = []
        for line in block.splitlines():
            if line and not line.startswith("    "):
                break
            lines.append(line[4:])
        texts.append("\n".join(lines))
    assert len(texts) == 3
    model = read(tmp_path, texts[0])
    assert len(model.tests) == 4 and len(model.operations) == 2 and model.unit == "CAD"
    assert read(tmp_path, texts[2] + '\n[operations]\n"blood draw" = 2.1').tests == (
        FeatureTest(1.0),
        FeatureTest(7.27),
        FeatureTest(5.17, ("blood draw",)),
    )
    second = texts[1].replace("absent", "x", 1)  # one pair is no matrix: the other direction lacks
    with pytest.raises(ValueError, match="lacks the pair"):
        read(tmp_path, second)


def test_pairs(tmp_path: Path) -> None:
    text = "".join(
        f"[[misclassification]]\ntrue = {t}\npredicted = {p}\ncost = {c}\n"
        for t, p, c in [("1", '"1"', 3), ('"1"', "1", 4.5), ("1", "1", -2)]
    )
    assert read(tmp_path, text) == CostModel({(1, "1"): 3, ("1", 1): 4.5, (1, 1): -2})


def test_empty_file_is_the_default(tmp_path: Path) -> None:
    assert read(tmp_path, "") == CostModel()


def test_byte_order_mark_and_windows_line_ends(tmp_path: Path) -> None:
    assert read(tmp_path, b"\xef\xbb\xbf" + FULL.replace("\n", "\r\n").encode()) == read(tmp_path, FULL)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(any_models())
@example(CostModel(classes=[True, False], unit="x"))
@example(CostModel([[0, 1e300], [5e-324, -0.0]], classes=[0.5, 1e22]))
@example(CostModel(tests=[0, FeatureTest(1e-7, {"x": 1e16})]))
@example(CostModel(operations={"a": (1, "b"), "b": 2}))
def test_round_trip(tmp_path: Path, model: CostModel) -> None:
    path = tmp_path / "costs.toml"
    model.to_toml(path)
    again = CostModel.from_toml(str(path))
    assert again == model
    assert list(map(type, again.classes or ())) == list(map(type, model.classes or ()))
    again.to_toml(path2 := tmp_path / "again.toml")
    if isinstance(model.tests, tuple) or model.tests is None or len(model.tests) < 2:
        assert path2.read_bytes() == path.read_bytes()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["again.toml", "costs.toml"]


def test_file_reads_well(tmp_path: Path) -> None:
    model = CostModel(
        [[0, 75], [88.5, 0]],
        classes=["absent", "present"],
        tests={"age": 1.0},
        operations={"draw": 2.1},
        unit="CAD",
    )
    model.to_toml(tmp_path / "costs.toml")
    assert (tmp_path / "costs.toml").read_text(encoding="utf-8") == (
        "# Costs of mistakes and tests.\n"
        'unit = "CAD"\n'
        "classes = [\n"
        '    "absent",\n'
        '    "present",\n'
        "]\n"
        "\n"
        "# Rows: the true class. Columns: the answer.\n"
        "misclassification = [\n"
        "    [0, 75],\n"
        "    [88.5, 0],\n"
        "]\n"
        "\n"
        "[operations]\n"
        "draw = 2.1\n"
        "\n"
        "[tests]\n"
        "age = 1.0\n"
    )


def test_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "costs.toml"
    CostModel(unit="old").to_toml(path)

    def fail(*_: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        CostModel(unit="new").to_toml(path)
    assert CostModel.from_toml(path).unit == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["costs.toml"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"unit = '\xff'", "not text in UTF-8 (byte 8)"),
        (b"PK\x03\x04\x00\x00", "the file is not TOML"),
        (b"tests = " + b"[" * 100_000, "nested too deeply"),
        (b"tests = 1979-05-27", "tests is neither"),
        (b"[tests]\ncrp = 1979-05-27", "test 'crp': the price is"),
        (b"unit = 3", "unit is 3"),
        (b"[tests]\ncrp = 1\ncrp = 2", "the file is not TOML"),
        (b"misclassification = [{true = 1, predicted = 0, cost = 1}, [0, 1]]", "has not the keys"),
        (b"classes = [1979-05-27]", "class label"),
        (b"[tests]\ncrp = inf", "test 'crp': the price is inf"),
        (b"[tests.crp]\nprice = 1\nneeds = 5", "the needs of test 'crp'"),
        (b"[tests.crp]\nprice = 1\ncolumns = [5]", "the name of a column is 5"),
        (b"[operations]\nx = [1, 2, 3]", "operation 'x'"),
    ],
)
def test_damaged_file_is_refused_by_name(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "my costs.toml"
    path.write_bytes(content)
    with pytest.raises(ValueError) as caught:
        CostModel.from_toml(path)
    assert type(caught.value) is ValueError
    assert str(caught.value).startswith(f"{path}: ")
    assert message in str(caught.value)


@given(st.binary(max_size=60), st.integers(0, 600))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_damage_gets_further_than_a_value_error(tmp_path: Path, noise: bytes, at: int) -> None:
    whole = FULL.encode()
    path = tmp_path / "costs.toml"
    path.write_bytes(whole[:at] + noise + whole[at + len(noise) :])
    try:
        CostModel.from_toml(path)
    except ValueError as error:
        assert str(error).startswith(f"{path}: ")


def test_missing_file_is_said_as_usual(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        CostModel.from_toml(tmp_path / "nothing.toml")
