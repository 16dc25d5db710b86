"""`cstree curve` as a user meets it."""

from __future__ import annotations

from pathlib import Path

import pytest

from cstree.cli import main
from cstree.metrics import lower_envelope
from cstree.persistence import load_model
from cstree.plot.cost_curve import model_cost_curves
from tests.handmade import clinic


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two tables, and a greedy model of the first with costs."""
    folder = tmp_path_factory.mktemp("curve")
    for name, seed in (("old", 5), ("new", 6)):
        X, y, costs = clinic(120, seed=seed)
        X.assign(state=y, number=range(len(X))).to_csv(folder / f"{name}.csv", index=False)
    costs.to_toml(folder / "costs.toml")
    common = ["fit", str(folder / "old.csv"), "--target", "state", "--ignore", "number", "--method", "greedy"]
    assert main([*common, "--costs", str(folder / "costs.toml"), "-o", str(folder / "model.json")]) == 0
    assert main([*common, "--max-depth", "1", "-o", str(folder / "blind.json")]) == 0
    return folder


def test_models_are_compared_and_drawn(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib", reason="the picture needs the extra `plot`")
    models = [str(folder / "model.json"), str(folder / "blind.json")]
    picture = folder / "curve.svg"
    code = main(["curve", *models, "--on", str(folder / "new.csv"), "--target", "state", "-o", str(picture)])
    out = capsys.readouterr().out
    assert code == 0
    X, y, _ = clinic(120, seed=6)
    for name in ("model", "blind"):
        area = lower_envelope(model_cost_curves(load_model(folder / f"{name}.json"), X, y)).area
        assert f"{name}: area {area:.4f}" in out
    assert "the model's answers" in out and "never answer" in out
    assert "Your costs, at the class frequencies of this table, are at 0." in out
    assert picture.read_bytes().startswith(b"<?xml")


def test_thresholds_and_the_other_class(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = load_model(folder / "model.json").classes_.tolist()[0]
    on = ["--on", str(folder / "new.csv"), "--target", "state"]
    code = main(["curve", str(folder / "model.json"), *on, "--kind", "thresholds", "--positive", str(first)])
    out = capsys.readouterr().out
    assert code == 0
    assert f"answer {first} from probability" in out


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (["--positive", "martian"], "--positive martian: the classes are"),
        (["--kind", "front"], "has no front_"),
        (["-o", "curve.docx"], "does not say a format that can be written"),
    ],
)
def test_what_it_refuses(
    folder: Path, capsys: pytest.CaptureFixture[str], change: list[str], message: str
) -> None:
    code = main(
        ["curve", str(folder / "model.json"), "--on", str(folder / "new.csv"), "--target", "state", *change]
    )
    assert code == 2
    assert message in capsys.readouterr().err
