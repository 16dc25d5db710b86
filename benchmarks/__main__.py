"""Run benchmarks by name, or all of them."""

from __future__ import annotations

import importlib
import pkgutil
import sys

import benchmarks
from benchmarks.timing import describe_machine


def names() -> list[str]:
    """Modules of this package that have a ``main``."""
    found = []
    for module in pkgutil.iter_modules(benchmarks.__path__):
        if not module.name.startswith("_") and hasattr(
            importlib.import_module(f"benchmarks.{module.name}"), "main"
        ):
            found.append(module.name)
    return sorted(found)


def main(argv: list[str]) -> int:
    """Run the benchmarks named before the first option, with the options."""
    known = names()
    wanted = []
    while argv and not argv[0].startswith("-"):
        wanted.append(argv.pop(0))
    unknown = [name for name in wanted if name not in known]
    if unknown:
        print(f"No benchmark {unknown[0]!r}. There are: {', '.join(known)}.", file=sys.stderr)
        return 2
    print(describe_machine())
    for name in wanted or known:
        print(f"\n== {name}")
        importlib.import_module(f"benchmarks.{name}").main(list(argv))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
