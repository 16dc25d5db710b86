"""Results as JSON lines: appended whole, read back after a crash."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

__all__ = ["Records", "pack"]

Line = dict[str, Any]


class Records:
    """The results file of a study.

    Its first line holds the settings, lines with ``rows`` describe a set, all others are cells.

    Parameters
    ----------
    path : path
        A ``.jsonl`` file, or a packed ``.jsonl.gz`` one, which can be read only.
    """

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self.settings: Line | None = None
        self.sets: dict[str, Line] = {}
        self.cells: list[Line] = []
        if self.path.exists():
            for line in self._lines():
                self._take(line)

    def _lines(self) -> Iterable[Line]:
        packed = self.path.suffix == ".gz"
        raw = gzip.decompress(self.path.read_bytes()) if packed else self.path.read_bytes()
        for number, text in enumerate(raw.split(b"\n")[:-1], start=1):
            try:
                line = json.loads(text)
            except ValueError as error:
                raise ValueError(f"{self.path.name}, line {number}, is damaged: {error}") from error
            if not isinstance(line, dict):
                raise ValueError(f"{self.path.name}, line {number}, is no result")
            yield line

    def _take(self, line: Line) -> None:
        if "settings" in line:
            self.settings = line["settings"]
        elif "rows" in line:
            self.sets[line["set"]] = line
        else:
            self.cells.append(line)

    @property
    def done(self) -> set[tuple[str, int, int, str]]:
        """Cells that are finished: set, repeat, fold, method."""
        return {(c["set"], c["repeat"], c["fold"], c["method"]) for c in self.cells}

    def open_for(self, settings: Mapping[str, Any]) -> None:
        """Make ready for appending: a line that a crash cut short goes, other settings are refused.

        Raises
        ------
        ValueError
            The file is packed, or holds results of other settings.
        """
        if self.path.suffix == ".gz":
            raise ValueError(f"{self.path.name} is packed; unpack it (gunzip) to go on with it")
        if self.settings is None:
            if self.cells:
                raise ValueError(f"{self.path.name} holds results without settings; give another --out")
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.write_bytes(b"")
            self.append([{"settings": dict(settings)}])
            return
        changed = sorted(k for k in {*settings, *self.settings} if settings.get(k) != self.settings.get(k))
        if changed:
            raise ValueError(
                f"{self.path.name} holds results for another {', '.join(changed)}; give another --out"
            )
        raw = self.path.read_bytes()
        whole = raw.rfind(b"\n") + 1
        if whole < len(raw):
            os.truncate(self.path, whole)

    def append(self, lines: Iterable[Mapping[str, Any]]) -> None:
        """Add lines in one write, and see them onto the disk."""
        lines = list(lines)
        text = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)
        handle = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            os.write(handle, text.encode())
            os.fsync(handle)
        finally:
            os.close(handle)
        for line in lines:
            self._take(dict(line))


def pack(path: Path | str) -> Path:
    """Compress a results file beside itself; equal results give equal bytes."""
    path = Path(path)
    target = path.with_name(path.name + ".gz")
    temporary = target.with_name(target.name + ".part")
    temporary.write_bytes(gzip.compress(path.read_bytes(), 9, mtime=0))
    os.replace(temporary, target)
    return target
