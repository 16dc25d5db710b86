"""Trees as pictures, drawn by graphviz: by `dot` where it is installed, else by `graphviz-pure`."""

from __future__ import annotations

import importlib.metadata
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import graphviz
from graphviz.backend import dot_command

from cstree._io import write_bytes
from cstree.plot.data import tree_of
from cstree.tree.export import to_dot

__all__ = ["find_renderer", "render_tree", "tree_figure"]

_TEXT = (".dot", ".gv")
_DRAWN = (".svg", ".png", ".pdf")
_PURE = "graphviz-pure"


def tree_figure(model: Any, point: int | None = None, **options: Any) -> graphviz.Digraph:
    """Return the tree of a fitted model as a drawing; notebooks show it.

    Parameters
    ----------
    model : fitted classifier with a tree
    point : int, optional
        Point of ``model.front_`` whose tree is wanted; by default the model's own tree.
    **options
        As of :func:`cstree.tree.export.to_dot`: ``decimals``, ``show_costs``, ``colors``, ``direction``, ...

    Returns
    -------
    graphviz.Digraph
        Its ``source`` is DOT text; to write a file use :func:`render_tree`.
    """
    figure = to_dot(tree_of(model, point), model.schema_, model.costs_, **options)
    renderer = find_renderer()
    if renderer is not None:
        dot_command.DOT_BINARY = renderer  # what the drawing itself calls, in a notebook
    return figure


def render_tree(model: Any, path: str | os.PathLike[str], point: int | None = None, **options: Any) -> Path:
    """Write the tree of a fitted model as a picture.

    Parameters
    ----------
    model : fitted classifier with a tree
    path : str or path
        The suffix says the format: ``.svg``, ``.png``, ``.pdf`` (drawn by `dot` only), or ``.dot`` and
        ``.gv`` (DOT text, which needs no program to draw it).
    point : int, optional
        Point of ``model.front_`` whose tree is wanted; by default the model's own tree.
    **options
        As of :func:`cstree.tree.export.to_dot`.

    Returns
    -------
    Path
        The file that was written.

    Raises
    ------
    ValueError
        The suffix is no known format.
    RuntimeError
        No program to draw with is installed, or it fails.
    """
    target = Path(path)
    suffix = target.suffix.lower()
    if suffix not in _TEXT + _DRAWN:
        known = ", ".join(_DRAWN + _TEXT)
        raise ValueError(
            f"{target.name!r} does not say a format that can be written; the suffixes are {known}"
        )
    figure = tree_figure(model, point, **options)
    data = figure.source.encode("utf-8") if suffix in _TEXT else _draw(figure, suffix)
    write_bytes(target, data)
    return target


def find_renderer() -> Path | None:
    """Find the program that draws: `dot` on the PATH, else `graphviz-pure`; None if neither is there.

    Returns
    -------
    Path or None
    """
    found = shutil.which("dot")
    if found:
        return Path(found)
    for candidate in _pure_candidates():
        if candidate.is_file() and os.access(candidate, os.X_OK):
            return candidate
    return None


def _pure_candidates() -> list[Path]:
    """Places where pip puts the program: its own record, this Python's scripts, the PATH."""
    names = (_PURE, f"{_PURE}.exe")
    try:
        files = importlib.metadata.files(_PURE) or []
    except importlib.metadata.PackageNotFoundError:
        files = []
    recorded = [Path(str(file.locate())).resolve() for file in files if file.name in names]
    beside = [Path(sys.executable).parent / name for name in names]
    on_path = shutil.which(_PURE)
    return [*recorded, *beside, *([Path(on_path)] if on_path else [])]


def _draw(figure: graphviz.Digraph, suffix: str) -> bytes:
    renderer = find_renderer()
    if renderer is None:
        raise RuntimeError(
            "no program to draw trees with was found: install Graphviz, so that `dot` is on the PATH, "
            "or run `pip install graphviz-pure`. A file that ends in .dot needs neither."
        )
    if suffix == ".pdf" and renderer.stem == _PURE:
        raise RuntimeError(
            "graphviz-pure draws .svg and .png; for .pdf install Graphviz, so that `dot` is on the PATH"
        )
    if suffix == ".png":
        figure = figure.copy()
        figure.graph_attr["dpi"] = "144"  # graphviz's 96 is too coarse to read
    try:
        # quiet: both programs report that they guess the width of some signs.
        drawn: bytes = figure.pipe(format=suffix[1:], quiet=True)
    except graphviz.CalledProcessError as error:
        said = (error.stderr or b"").decode("utf-8", "replace").strip()
        raise RuntimeError(f"{renderer} could not draw the tree: {said}") from error
    except OSError as error:  # it cannot be started, or ends before it has read the tree
        raise RuntimeError(f"{renderer} could not draw the tree: {error}") from error
    return drawn
