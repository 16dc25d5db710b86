"""Stop watches, and tables of ratios."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

PACKAGES = ("cstree", "numpy", "numba", "scikit-learn", "lightgbm")


def describe_machine() -> str:
    """Processor, Python and the packages compared."""
    found = []
    for name in PACKAGES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    processor = platform.processor() or platform.machine()
    information = Path("/proc/cpuinfo")
    if information.exists():
        models = [
            line.split(":", 1)[1].strip()
            for line in information.read_text().splitlines()
            if line.startswith("model name")
        ]
        processor = models[0] if models else processor
    return f"{processor}, {os.cpu_count()} cores; Python {platform.python_version()}; {', '.join(found)}"


def best_times(
    tasks: Mapping[str, Callable[[], Any]], repeats: int, clock: Callable[[], float] = time.perf_counter
) -> dict[str, float]:
    """Shortest time of each task in seconds; the tasks take turns, so that a busy moment hits all."""
    best = dict.fromkeys(tasks, float("inf"))
    for _ in range(repeats):
        for name, task in tasks.items():
            start = clock()
            task()
            best[name] = min(best[name], clock() - start)
    return best


def verdict(ratio: float, wanted: float) -> str:
    """A ratio, beside what it should be at least."""
    return f"{ratio:7.2f}x  (wanted {wanted:g}x: {'yes' if ratio >= wanted else 'NO'})"


def resident_bytes() -> int:
    """Resident memory of this process now; Linux only."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")
