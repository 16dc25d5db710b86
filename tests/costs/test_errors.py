"""Every line of docs/errors-costs.md is run, and every message of the code stands there."""

from __future__ import annotations

import ast
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cstree.costs import BoundCosts, CostModel, FeatureTest, from_predicted_first

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "errors-costs.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| `(?P<code>[^|`]+)` \| `(?P<message>[^|`]+)` \|", re.MULTILINE)


def saved(**changes: Any) -> dict[str, Any]:
    """What a model file holds of some costs, with some values changed."""
    costs = CostModel(tests={"crp": FeatureTest(0.3, needs=["draw"])}, operations={"draw": 0.6})
    return costs.bind(["crp"], ["flu", "well"]).to_dict() | changes


NAMESPACE = {
    "np": np,
    "BoundCosts": BoundCosts,
    "CostModel": CostModel,
    "FeatureTest": FeatureTest,
    "from_predicted_first": from_predicted_first,
    "saved": saved,
}


def rows(section: str = "") -> list[tuple[str, str]]:
    parts = re.split(r"^## ", PAGE, flags=re.MULTILINE)
    chosen = [
        part
        for part in parts
        if (part.startswith("Cost files") if section else not part.startswith("Cost files"))
    ]
    return [(row["code"], row["message"]) for part in chosen for row in ROW.finditer(part)]


PYTHON, FILES = rows(), rows("Cost files")


def what_it_says(code: str) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            exec(code, dict(NAMESPACE))
        except Exception as error:
            return f"{type(error).__name__}: {error}"
    return "nothing"


def test_the_page_was_read() -> None:
    lines = [line for line in PAGE.splitlines() if line.startswith("| `")]
    assert len(lines) == len(PYTHON) + len(FILES) > 80


@pytest.mark.parametrize(("code", "message"), PYTHON, ids=[code for code, _ in PYTHON])
def test_python(code: str, message: str) -> None:
    assert what_it_says(code) == message


@pytest.mark.parametrize(("text", "message"), FILES, ids=[text for text, _ in FILES])
def test_cost_file(text: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("costs.toml").write_text(text, encoding="utf-8")
    assert what_it_says('CostModel.from_toml("costs.toml")') == message


def fragments() -> list[tuple[str, str]]:
    """The longest constant piece of each message in the code, with its place."""
    found = []
    for path in sorted((ROOT / "cstree" / "costs").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Raise) or not isinstance(node.exc, ast.Call) or not node.exc.args:
                continue
            texts = [
                piece.value
                for piece in ast.walk(node.exc.args[0])
                if isinstance(piece, ast.Constant) and isinstance(piece.value, str)
            ]
            if texts:
                found.append((f"{path.name}:{node.lineno}", max(texts, key=len)))
    return found


# What only a file that is no text, or is absurdly deep, can bring up; test_toml has these.
ELSEWHERE = {
    "the file is not text in UTF-8 (byte ",
    "the file is not a cost file: it is nested too deeply",
    "of type ",
}


@pytest.mark.parametrize(("place", "fragment"), fragments(), ids=[place for place, _ in fragments()])
def test_every_message_is_on_the_page(place: str, fragment: str) -> None:
    assert fragment in PAGE or fragment in ELSEWHERE, place
