"""Extension points take a name or an object: one way to look a name up, one error when it is unknown."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches
from typing import Any, Generic, TypeVar

T = TypeVar("T")

__all__ = ["Registry"]


class Registry(Generic[T], Mapping[str, T]):
    """Named implementations of one extension point.

    Parameters
    ----------
    what : str
        What is looked up, for messages: "criterion", "search".
    wanted : str
        What an object must be to be taken as it is, for messages: "a callable of Candidates".
    accepts : callable
        Tells whether an object that is no name can be taken as it is.
    """

    def __init__(self, what: str, wanted: str, accepts: Callable[[Any], bool] = callable) -> None:
        self.what = what
        self.wanted = wanted
        self._accepts = accepts
        self._entries: dict[str, T] = {}

    def register(self, name: str) -> Callable[[T], T]:
        """Return a decorator that enters what it decorates under ``name``.

        Parameters
        ----------
        name : str

        Returns
        -------
        callable

        Raises
        ------
        ValueError
            The name is taken.
        """

        def enter(entry: T) -> T:
            if name in self._entries:
                raise ValueError(f"the {self.what} {name!r} is registered already")
            self._entries[name] = entry
            return entry

        return enter

    def resolve(self, name_or_object: Any) -> Any:
        """Return the entry of a name, or the object itself when it can serve.

        Parameters
        ----------
        name_or_object : str or object

        Returns
        -------
        object

        Raises
        ------
        ValueError
            No entry has this name.
        TypeError
            Neither a name nor a suitable object.
        """
        if isinstance(name_or_object, str):
            if name_or_object in self._entries:
                return self._entries[name_or_object]
            near = get_close_matches(name_or_object.lower(), self._entries, n=1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            names = ", ".join(repr(name) for name in self._entries)
            raise ValueError(
                f"Unknown {self.what} {name_or_object!r}.{hint} Choose one of {names}, or pass {self.wanted}."
            )
        if not isinstance(name_or_object, type) and self._accepts(name_or_object):
            return name_or_object
        raise TypeError(f"{self.what} must be a name or {self.wanted}; got {name_or_object!r}.")

    def __getitem__(self, name: str) -> T:
        return self._entries[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)
