"""What a search reports while it runs: the bar that shows it, and the history that is kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any, overload

import pandas as pd
from tqdm.auto import tqdm

from cstree.tree.search import Progress

__all__ = ["History", "ProgressBar"]

_COLUMNS = ("generation", "evaluations", "seconds", "front_size", "hypervolume")
_MOST_REPORTS = 1000


class History(Sequence[Progress]):
    """Reports of one search; of long ones every second, fourth, ... report, and always the last.

    Parameters
    ----------
    most : int, default=1000
        Reports that are kept at most, so that a search of days needs no more memory than one of minutes.
    """

    def __init__(self, most: int = _MOST_REPORTS) -> None:
        self.most = most
        self._kept: list[Progress] = []
        self._last: Progress | None = None
        self._seen = 0
        self._every = 1

    def __call__(self, progress: Progress) -> None:
        """Take a report."""
        self._last = progress
        if self._seen % self._every == 0:
            if len(self._kept) == self.most:
                del self._kept[1::2]
                self._every *= 2
            if self._seen % self._every == 0:
                self._kept.append(progress)
        self._seen += 1

    @property
    def reports(self) -> list[Progress]:
        """Reports that are kept, in order."""
        if self._last is None or self._kept[-1] is self._last:
            return list(self._kept)
        return [*self._kept, self._last]

    def __len__(self) -> int:
        return len(self.reports)

    @overload
    def __getitem__(self, index: int) -> Progress: ...
    @overload
    def __getitem__(self, index: slice) -> list[Progress]: ...
    def __getitem__(self, index: int | slice) -> Progress | list[Progress]:
        return self.reports[index]

    def to_frame(self) -> pd.DataFrame:
        """Table with a row per report, in order.

        Returns
        -------
        DataFrame
            Columns ``generation``, ``evaluations``, ``seconds``, ``front_size``, ``hypervolume``; see
            :class:`~cstree.tree.search.Progress`. Without rows if the search did not report.
        """
        return pd.DataFrame([asdict(report) for report in self.reports], columns=list(_COLUMNS))


class ProgressBar:
    """Shows searches on the terminal or in a notebook and passes their reports on.

    Parameters
    ----------
    verbose : int
        0: nothing is shown.
    callback : callable or None
        Gets every report.
    """

    def __init__(self, verbose: int, callback: Callable[[Progress], None] | None) -> None:
        self.verbose = verbose
        self.callback = callback
        self.bar: Any = None
        self.label = "search"
        self.history = History()

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.close()

    def begin(self, label: str) -> History:
        """Begin a search, with a bar of its own; return what will note its reports."""
        if self.bar is not None:
            self.bar.close()
        self.bar, self.label, self.history = None, label, History()
        return self.history

    def __call__(self, progress: Progress) -> None:
        """Note a report, show it and pass it on."""
        self.history(progress)
        if self.verbose:
            if self.bar is None:
                self.bar = tqdm(total=progress.generations, desc=self.label, unit="gen")
            self.bar.update(progress.generation - self.bar.n)
            self.bar.set_postfix(
                evaluations=progress.evaluations,
                front=progress.front_size,
                hypervolume=f"{progress.hypervolume:.4f}",
            )
        if self.callback is not None:
            self.callback(progress)
