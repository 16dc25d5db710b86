"""Pictures of trees, drawn by whatever program is there."""

from __future__ import annotations

import subprocess
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import graphviz
import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from cstree.costs.model import CostModel
from cstree.plot import tree as plot
from cstree.tree.words import shown_name
from tests.handmade import AWKWARD, CLINIC_TREES, HandModel, clinic, make_model

SVG = "{http://www.w3.org/2000/svg}"
needs_renderer = pytest.mark.skipif(
    plot.find_renderer() is None, reason="needs `dot` on the PATH or the package graphviz-pure"
)


@pytest.fixture(scope="module")
def model() -> HandModel:
    return make_model(*clinic(), CLINIC_TREES)


def texts(path: Path) -> list[str]:
    found = ["".join(element.itertext()) for element in ET.parse(path).iter(f"{SVG}text")]
    return [text.replace("\xa0", " ") for text in found]  # graphviz keeps runs of spaces so


@needs_renderer
def test_svg_shows_names_conditions_and_costs(model: HandModel, tmp_path: Path) -> None:
    path = plot.render_tree(model, tmp_path / "tree.svg")
    shown = texts(path)
    for text in (
        "pain",
        "pay 1.00",
        "pay 7.27 (chol 5.17 + blood draw 2.10)",
        "free",
        "chol > 200.5 or missing",
        "ill",
        "6 cases, 10.0 %",
        "misclassification 15.00",
        "tests 8.27",
    ):
        assert text in shown
    assert shown.count("ill") + shown.count("well") == model.tree_.n_leaves
    assert [file.name for file in tmp_path.iterdir()] == ["tree.svg"]


@needs_renderer
def test_awkward_names_come_out_right(tmp_path: Path) -> None:
    n = len(AWKWARD)
    X = pd.DataFrame({name: np.arange(4.0 * n) for name in AWKWARD})
    X["kind"] = [AWKWARD[i % n] for i in range(4 * n)]
    y = [AWKWARD[i % n] for i in range(4 * n)]
    multiway = {name: k for k, name in enumerate(AWKWARD)}
    nested: Any = ("kind", multiway, [None] * n)
    for k, name in enumerate(AWKWARD):
        nested = (name, 4 * n - 2.5 - k, nested, None)
    tests = {name: 1.0 for name in AWKWARD} | {"kind": 0}
    model = make_model(X, y, CostModel(tests=tests), [nested])
    shown = texts(plot.render_tree(model, tmp_path / "tree.svg"))
    for name in AWKWARD:
        assert shown_name(name) in shown  # as a feature and as an answer
    together = " ".join(shown)
    for name in AWKWARD:
        words = shown_name(name).split()
        assert all(word in together for word in words)
    # Each leaf below the multiway split answers its own category's class.
    assert sum(shown.count(shown_name(name)) for name in AWKWARD) >= 2 * n


@needs_renderer
def test_png_is_one(model: HandModel, tmp_path: Path) -> None:
    data = plot.render_tree(model, tmp_path / "tree.PNG").read_bytes()
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    assert len(data) > 5000


def test_dot_needs_no_program(model: HandModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plot, "find_renderer", lambda: None)
    for name in ("tree.dot", "tree.gv"):
        text = plot.render_tree(model, tmp_path / name).read_text(encoding="utf-8")
        assert text == plot.tree_figure(model).source
        assert text.startswith("digraph tree {")
    with pytest.raises(RuntimeError, match=r"`dot` is on the PATH.*`pip install graphviz-pure`"):
        plot.render_tree(model, tmp_path / "tree.svg")
    assert not (tmp_path / "tree.svg").exists()


def program(path: Path, text: str = "exit 1") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def test_dot_comes_first_then_graphviz_pure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dot = program(tmp_path / "bin" / "dot")
    pure = program(tmp_path / "other" / "graphviz-pure")
    monkeypatch.setenv("PATH", f"{dot.parent}:{pure.parent}")
    assert plot.find_renderer() == dot
    dot.unlink()
    monkeypatch.setattr(plot.importlib.metadata, "files", lambda name: None)
    monkeypatch.setattr(plot.sys, "executable", str(tmp_path / "nowhere" / "python"))
    assert plot.find_renderer() == pure
    beside = program(tmp_path / "nowhere" / "graphviz-pure")
    assert plot.find_renderer() == beside
    monkeypatch.setenv("PATH", "")
    beside.unlink()
    assert plot.find_renderer() is None


def test_a_failing_program_is_quoted(
    model: HandModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = program(tmp_path / "bin" / "dot", "cat > /dev/null; echo 'no fonts' >&2; exit 3")
    monkeypatch.setenv("PATH", f"{broken.parent}:/bin:/usr/bin")
    with pytest.raises(RuntimeError, match="could not draw the tree: no fonts"):
        plot.render_tree(model, tmp_path / "tree.svg")
    broken.write_text("no program")
    with pytest.raises(RuntimeError, match=r"could not draw the tree: .*Exec format"):
        plot.render_tree(model, tmp_path / "tree.svg")
    assert not (tmp_path / "tree.svg").exists()


def test_pdf_is_dots_alone(model: HandModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pure = program(tmp_path / "graphviz-pure")
    monkeypatch.setattr(plot, "find_renderer", lambda: pure)
    with pytest.raises(RuntimeError, match=r"for \.pdf install Graphviz"):
        plot.render_tree(model, tmp_path / "tree.pdf")


@needs_renderer
def test_figure_draws_itself_in_notebooks(model: HandModel) -> None:
    figure = plot.tree_figure(model, direction="LR")
    assert isinstance(figure, graphviz.Digraph)
    assert b"<svg" in figure.pipe("svg", quiet=True)


@needs_renderer
def test_a_point_of_the_front(model: HandModel, tmp_path: Path) -> None:
    front = model.front_
    assert front is not None
    last = plot.render_tree(model, tmp_path / "last.svg", point=len(front) - 1)
    assert "chol" not in texts(last)
    with pytest.raises(ValueError, match="point 99 is not on the front"):
        plot.render_tree(model, tmp_path / "x.svg", point=99)
    single = HandModel(model.tree_, model.schema_, model.costs_, model.classes_)
    with pytest.raises(ValueError, match="has no front"):
        plot.render_tree(single, tmp_path / "x.svg", point=0)


def test_clear_errors(model: HandModel, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"'tree\.bmp'.*\.svg, \.png"):
        plot.render_tree(model, tmp_path / "tree.bmp")
    with pytest.raises(ValueError, match="'tree' does not say a format"):
        plot.render_tree(model, tmp_path / "tree")
    with pytest.raises(NotFittedError, match="fit"):
        plot.render_tree(object(), tmp_path / "tree.svg")


@needs_renderer
def test_graphviz_accepts_the_source(model: HandModel, tmp_path: Path) -> None:
    path = plot.render_tree(model, tmp_path / "tree.dot")
    run = subprocess.run([str(plot.find_renderer()), "-Tcanon", str(path)], capture_output=True, check=True)
    assert b"syntax" not in run.stderr.lower()
