"""Class labels and names as plain Python values, and how they are spoken of in messages."""

from __future__ import annotations

import difflib
import math
from collections.abc import Collection, Iterable, Sized
from typing import Any, TypeAlias

import numpy as np

__all__ = [
    "Label",
    "closest",
    "counted",
    "listed",
    "plain_label",
    "plain_labels",
    "plain_name",
    "plain_names",
]

Label: TypeAlias = str | int | float | bool

# More names than this make a message unreadable.
_LISTED = 20


def plain_label(value: Any) -> Label:
    """Return a class label as text, integer, float or boolean.

    Parameters
    ----------
    value : str, int, float, bool or numpy scalar
        One class label.

    Returns
    -------
    str, int, float or bool
        The same label as a Python scalar.

    Raises
    ------
    TypeError
        The label is of another type.
    ValueError
        The label is not a finite number.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if not isinstance(value, Label):
        raise TypeError(
            f"class label {value!r} is of type {type(value).__name__}; "
            "use text, numbers or booleans as classes"
        )
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{value} is no class label; leave out the cases whose class is unknown")
    return value


def plain_labels(values: Iterable[Any], what: str) -> tuple[Label, ...]:
    """Return class labels as Python scalars, each of them once.

    Parameters
    ----------
    values : iterable of labels
        At least one; ``1``, ``1.0`` and ``True`` are one label.
    what : str
        What the list is called in an error.

    Returns
    -------
    tuple of str, int, float or bool
        In the order given.

    Raises
    ------
    TypeError
        The list is a single value, or a label has a type that is no label's.
    ValueError
        The list is empty or holds a label twice.
    """
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise TypeError(f"{what} is {values!r}; give a list of class labels")
    labels = tuple(plain_label(value) for value in values)
    if not labels:
        raise ValueError(f"{what} is empty; name at least one class")
    if len(set(labels)) < len(labels):
        twice = next(label for i, label in enumerate(labels) if label in labels[:i])
        raise ValueError(f"class {twice!r} stands twice in {what}; name each class once")
    return labels


def plain_name(value: Any, what: str) -> str:
    """Return the name of a feature, test or operation as text.

    Parameters
    ----------
    value : str
        The name.
    what : str
        What bears it: "feature", "test" or "operation".

    Returns
    -------
    str
        The name, as a plain ``str``.

    Raises
    ------
    TypeError
        The name is not text.
    ValueError
        The name is empty.
    """
    if not isinstance(value, str):
        raise TypeError(f"the name of a {what} is {value!r}; names are text")
    if not value:
        raise ValueError(f"the name of a {what} is empty; give it a name")
    return str(value)


def plain_names(values: Any, what: str, where: str) -> tuple[str, ...]:
    """Return names as a tuple of text, each of them once; a single text is one name.

    Parameters
    ----------
    values : str or sequence of str
        The names.
    what : str
        What bears them: "feature" or "operation".
    where : str
        The place that lists them, for an error.

    Returns
    -------
    tuple of str
        In the order given.

    Raises
    ------
    TypeError
        Not a sequence, or a name that is not text.
    ValueError
        A name is empty or stands twice.
    """
    if isinstance(values, str):
        values = (values,)
    if isinstance(values, bytes) or not isinstance(values, Iterable):
        raise TypeError(f"{where}: {values!r} is no list of names")
    names = tuple(plain_name(value, what) for value in values)
    if len(set(names)) < len(names):
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        raise ValueError(f"{what} {twice!r} stands twice in {where}; name each {what} once")
    return names


def listed(values: Iterable[Any]) -> str:
    """Join values for a message; a long list is cut.

    Parameters
    ----------
    values : iterable
        Names or labels.

    Returns
    -------
    str
        Their representations with commas between.
    """
    shown = [repr(value) for value in values]
    if len(shown) > _LISTED:
        shown = [*shown[:_LISTED], f"and {len(shown) - _LISTED} more"]
    return ", ".join(shown)


def closest(value: Any, known: Collection[Any]) -> str:
    """Suggest what may have been meant.

    Parameters
    ----------
    value : object
        A label or name that is not known.
    known : collection
        Those that are.

    Returns
    -------
    str
        A question for the end of a message, or nothing.
    """
    for other in known:
        if str(other) == str(value):  # 1 and "1": reading a file as text or numbers decides which
            return f" (it has {other!r}, of type {type(other).__name__})"
    matches = difflib.get_close_matches(str(value), [str(other) for other in known], n=1)
    return f" (did you mean {matches[0]!r}?)" if matches else ""


def counted(things: Sized, one: str, many: str) -> str:
    """Say how many things there are.

    Parameters
    ----------
    things : sized
        The things.
    one, many : str
        What one of them is called, and what several are.

    Returns
    -------
    str
        As in "3 tests".
    """
    return f"{len(things)} {one if len(things) == 1 else many}"
