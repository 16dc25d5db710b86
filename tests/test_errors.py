"""Every line of docs/errors.md is run: what is written in it says what the line says."""

from __future__ import annotations

import doctest
import re
import warnings
from pathlib import Path
from typing import Any

import pytest

from tests.test_docs import blocks_of

PAGE = (Path(__file__).resolve().parents[1] / "docs" / "errors.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| `(?P<code>[^|`]+)` \| `(?P<message>[^|`]+)` \|", re.MULTILINE)
ROWS = [(row["code"], row["message"]) for row in ROW.finditer(PAGE)]


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the first block of the page defines; the lines of its tables use it."""
    first = next(block for block in blocks_of(PAGE) if block.language == "python")
    namespace: dict[str, Any] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("errors"))
        exec(first.text, namespace)
    return namespace


def what_it_says(code: str, names: dict[str, Any]) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            exec(code, dict(names))
        except Exception as error:
            return f"{type(error).__name__}: {error}"
    return "nothing"


def test_the_page_was_read() -> None:
    assert len([line for line in PAGE.splitlines() if line.startswith("| `")]) == len(ROWS) > 30


@pytest.mark.parametrize(("code", "message"), ROWS, ids=[code for code, _ in ROWS])
def test_line_of_the_page(
    code: str, message: str, names: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    said = what_it_says(code, names)
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    assert doctest.OutputChecker().check_output(message + "\n", said + "\n", flags), said
