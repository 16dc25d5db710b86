"""What is written on a drawn tree: payments, HTML-like labels of graphviz, colours of classes."""

from __future__ import annotations

import html
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

from cstree.tree.describe import NodeView
from cstree.tree.words import shown_cost, shown_label, shown_name

__all__ = [
    "FAINT",
    "FONT",
    "INK",
    "LINE",
    "PALETTE",
    "cases",
    "class_colors",
    "html_edge",
    "html_node",
    "payment",
    "tint",
]

# Okabe and Ito's palette, told apart by all common kinds of colour vision; black is left out.
PALETTE = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442")
INK, FAINT, LINE = "#1f2933", "#52606d", "#9aa5b1"
FONT = "Helvetica"


def payment(view: NodeView, decimals: int = 2) -> str:
    """Say what a split pays: only what is new on the path."""
    if not view.paid:
        return "already paid" if view.test else "free"
    text = f"pay {shown_cost(view.price, decimals)}"
    names = [name for name, _ in view.paid]
    if view.feature is not None and names == [view.feature.name]:
        return text
    parts = [f"{shown_name(name)} {shown_cost(price, decimals)}" for name, price in view.paid]
    return f"{text} ({' + '.join(parts)})"


def cases(support: int) -> str:
    """Say how many training cases there are."""
    return "1 case" if support == 1 else f"{support} cases"


def class_colors(classes: Sequence[Any], colors: Mapping[Any, str] | None = None) -> list[str]:
    """Return a colour for each class, in order.

    Parameters
    ----------
    classes : sequence of labels
    colors : mapping of label to colour, optional
        ``"#rrggbb"`` for the classes that shall have another colour than that of the palette.

    Returns
    -------
    list of str
        ``"#rrggbb"`` each; beyond the palette's colours they start again.
    """
    chosen = dict(colors or {})
    for label, color in chosen.items():
        if label not in classes:
            raise ValueError(f"colors names {label!r}, which is no class: {list(classes)}.")
        if not (isinstance(color, str) and len(color) == 7 and color[0] == "#" and _is_hex(color[1:])):
            raise ValueError(f"the colour of class {label!r} is {color!r}; write it as '#rrggbb'.")
    return [chosen.get(label, PALETTE[k % len(PALETTE)]) for k, label in enumerate(classes)]


def _is_hex(text: str) -> bool:
    return all(character in "0123456789abcdefABCDEF" for character in text)


def html_node(view: NodeView, decimals: int, show_costs: bool, color: str) -> str:
    """Return the HTML-like label of a node: a white box for a test, a tinted one for an answer."""
    if view.feature is not None:
        rows = [_row(shown_name(view.feature.name), 12, bold=True)]
        if show_costs:
            rows += [_row(line, 10, color=FAINT) for line in _lines(payment(view, decimals), 40)]
        return _box(rows, f'border="1" color="{LINE}" bgcolor="#ffffff"')
    rows = [
        _row(shown_label(view.answer), 12, bold=True),
        _row(f"{cases(view.support)}, {100 * view.share:.1f} %", 10),
    ]
    if show_costs:
        rows.append(_row(f"misclassification {shown_cost(view.expected_cost, decimals)}", 10))
        rows.append(_row(f"tests {shown_cost(view.path_cost, decimals)}", 10))
    return _box(rows, f'border="2" color="{color}" bgcolor="{tint(color)}"')


def _box(rows: list[str], frame: str, *, padding: int = 5, gap: int = 1) -> str:
    inner = f'<table border="0" cellborder="0" cellspacing="0" cellpadding="{gap}">{"".join(rows)}</table>'
    outer = f'<table style="rounded" {frame} cellborder="0" cellspacing="0" cellpadding="{padding}">'
    return f"<{outer}<tr><td>{inner}</td></tr></table>>"


def _row(text: str, size: int, *, bold: bool = False, color: str = INK) -> str:
    inner = f"<b>{_escape(text)}</b>" if bold else _escape(text)
    width = _width(text, size)
    fixed = f' width="{width}"' if width else ""
    return f'<tr><td{fixed}><font point-size="{size}" color="{color}">{inner}</font></td></tr>'


def html_edge(text: str) -> str:
    """Return the HTML-like label of an edge, broken into lines and kept off the edge."""
    return _box([_row(line, 11, color=FAINT) for line in _lines(text, 24)], 'border="0"', padding=3, gap=0)


def _lines(text: str, wide: int) -> list[str]:
    """Break a text at spaces; a word that is too long stays whole."""
    lines = [""]
    for word in text.split(" "):
        if lines[-1] and len(lines[-1]) + len(word) >= wide:
            lines.append("")
        lines[-1] += f" {word}" if lines[-1] else word
    return lines


def _escape(text: str) -> str:
    """Escape a text for graphviz's HTML-like labels, in which backslash sequences count as well."""
    return html.escape(text).replace("\\", "\\\\") or " "


def _width(text: str, size: int) -> int:
    """Least width in points where a text has signs whose width graphviz does not know; 0 elsewhere."""
    wide = sum(unicodedata.east_asian_width(sign) in "WF" for sign in text)
    return round(size * (wide + 0.6 * (len(text) - wide))) if wide else 0


def tint(color: str) -> str:
    """Mix a colour with white, so that dark text stays readable on it."""
    parts = (int(color[i : i + 2], 16) for i in (1, 3, 5))
    return "#" + "".join(f"{round(255 - 0.22 * (255 - part)):02x}" for part in parts)
