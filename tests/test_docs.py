"""The README and the documentation are run: what they show works, and prints what they say.

In every Markdown file, from top to bottom, in one empty folder and one namespace:

- ```` ```python ```` is executed;
- ```` ```console ```` holds commands (``$ cstree ...``), each run through the command line, and what they
  print, with ``...`` for what may vary;
- ```` ```toml ```` and ```` ```csv ```` whose first line is ``# name.toml`` are written to that file;
- ```` ```text ```` after a line ``<!-- output -->`` is what the block before it prints.

A block after ``<!-- not run: reason -->`` is left out, and the file's name with the reason is in ``NOT_RUN``.
"""

from __future__ import annotations

import contextlib
import doctest
import importlib
import io
import re
import shlex
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])

# Every block that is left out, with its reason: nothing is skipped that is not named here.
NOT_RUN: set[tuple[str, str]] = set()

FENCE = re.compile(r"^(?P<indent> *)(?P<fence>`{3,})(?P<language>[\w{}-]*)(?: .*)?$")
COMMENT = re.compile(r"^\s*<!-- (?P<word>output|not run)(?:: (?P<reason>.*?))? -->\s*$")
LINK = re.compile(r"(?<!\!)\[[^\]]*\]\((?P<target>[^)\s]+)\)")
COMPARE = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its text, the line of its fence, and the comment right above it."""

    language: str
    text: str
    line: int
    comment: str = ""
    reason: str = ""


def blocks_of(text: str) -> Iterator[Block]:
    lines = iter(enumerate(text.splitlines(), start=1))
    comment = reason = ""
    for number, line in lines:
        if found := COMMENT.match(line):
            comment, reason = found["word"], found["reason"] or ""
        elif opened := FENCE.match(line):
            body = []
            for _, inner in lines:
                if inner.strip() == opened["fence"]:
                    break
                body.append(inner.removeprefix(opened["indent"]))
            else:
                raise ValueError(f"line {number}: the block is never closed")
            yield Block(opened["language"], "\n".join(body) + "\n", number, comment, reason)
            comment = reason = ""
        elif line.strip():
            comment = reason = ""


def commands_of(block: Block) -> Iterator[tuple[list[str], str]]:
    """The commands of a console block, each with the output that the page shows under it."""
    command, shown = "", []
    for line in block.text.splitlines():
        if line.startswith("$ "):
            if command:
                yield shlex.split(command), "\n".join(shown)
            command, shown = line[2:], []
        elif command.endswith("\\"):
            command = command[:-1] + line.strip()
        else:
            shown.append(line)
    yield shlex.split(command), "\n".join(shown)


def check_output(page: str, line: int, expected: str, printed: str) -> None:
    if not doctest.OutputChecker().check_output(expected.strip() + "\n", printed.strip() + "\n", COMPARE):
        pytest.fail(f"{page}:{line} shows\n{expected}\nbut this is printed:\n{printed}", pytrace=False)


def run_command(words: list[str]) -> str:
    """Run ``cstree ...`` as the installed script would; give back what it prints."""
    if words[0] != "cstree":
        raise ValueError(f"a console block runs cstree only, not {words[0]!r}; use a sh block")
    from cstree.cli import main

    printed, before = io.StringIO(), sys.argv
    sys.argv = words
    try:
        with contextlib.redirect_stdout(printed):
            code = main()
    except SystemExit as stop:
        code = stop.code
    finally:
        sys.argv = before
    assert not code, f"{shlex.join(words)} ended with {code}:\n{printed.getvalue()}"
    return printed.getvalue()


def run_page(path: Path, name: str) -> None:
    """Run all blocks of one Markdown file in the current folder."""
    namespace: dict[str, object] = {"__name__": "__main__"}
    printed = ""
    for block in blocks_of(path.read_text(encoding="utf-8")):
        if block.comment == "not run":
            assert (name, block.reason) in NOT_RUN, f"{name}:{block.line} is left out but not in NOT_RUN"
        elif block.language == "python":
            out = io.StringIO()
            # blank lines before the code: a traceback then names the line of the page
            code = compile("\n" * block.line + block.text, str(path), "exec")
            with contextlib.redirect_stdout(out):
                exec(code, namespace)
            printed = out.getvalue()
        elif block.language == "console":
            printed = ""
            for words, shown in commands_of(block):
                output = run_command(words)
                if shown.strip():
                    check_output(name, block.line, shown, output)
                printed += output
        elif block.comment == "output":
            check_output(name, block.line, block.text, printed)
        elif block.language in ("toml", "csv"):
            first, _, rest = block.text.partition("\n")
            if file := re.fullmatch(r"# ([\w-]+\.(?:toml|csv))", first):
                Path(file[1]).write_text(rest, encoding="utf-8")


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_page_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():  # a page may not change the filters of the tests after it
        run_page(path, path.relative_to(ROOT).as_posix())


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(path: Path) -> None:
    text = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    targets = [found["target"].partition("#")[0] for found in LINK.finditer(text)]
    local = [t for t in targets if t and not re.match(r"[a-z]+:", t)]
    assert [t for t in local if not (path.parent / t).exists()] == []


def test_every_named_exception_exists() -> None:
    left_out = {
        (path.relative_to(ROOT).as_posix(), block.reason)
        for path in PAGES
        for block in blocks_of(path.read_text(encoding="utf-8"))
        if block.comment == "not run"
    }
    assert left_out == NOT_RUN


def test_readme_shows_make_then_ten_lines_of_python() -> None:
    blocks = list(blocks_of((ROOT / "README.md").read_text(encoding="utf-8")))
    assert [b.language for b in blocks[:2]] == ["sh", "python"]
    assert [line.split("#")[0].strip() for line in blocks[0].text.splitlines()] == ["make demo", "make test"]
    assert len(blocks[1].text.splitlines()) <= 10


MODULES = sorted((ROOT / "cstree").rglob("*.py"))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_examples_of_docstrings(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    parts = path.relative_to(ROOT).with_suffix("").parts
    module = importlib.import_module(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
    assert doctest.testmod(module, optionflags=COMPARE).failed == 0


# The machinery itself: a page that is wrong must fail.
WRONG = {
    "raises": "```python\n1 / 0\n```\n",
    "prints something else": "```python\nprint(1)\n```\n<!-- output -->\n```text\n2\n```\n",
    "left out and not named": "<!-- not run: too long -->\n```python\nprint(1)\n```\n",
    "another program": "```console\n$ rm -r x\n```\n",
    "never closed": "```python\nprint(1)\n",
}


@pytest.mark.parametrize("text", WRONG.values(), ids=WRONG.keys())
def test_wrong_page_fails(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    page = tmp_path / "page.md"
    page.write_text(text, encoding="utf-8")
    with pytest.raises((ZeroDivisionError, AssertionError, ValueError, pytest.fail.Exception)):
        run_page(page, "page.md")


def test_sound_page_passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    page = tmp_path / "page.md"
    page.write_text(
        "```toml\n# costs.toml\nunit = 'CHF'\n```\n\n- in a list:\n\n  ```python\n  x = 3\n  ```\n\n"
        "```python\nfrom pathlib import Path\nprint(x, Path('costs.toml').read_text(), 0.123)\n```\n\n"
        "<!-- output -->\n```text\n3 unit = 'CHF'\n0.1...\n```\n",
        encoding="utf-8",
    )
    run_page(page, "page.md")
