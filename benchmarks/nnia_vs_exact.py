"""How much of the complete front's hypervolume the search reaches in a given time, over seeds.

The sets are those of ``_streed.py``; the reference of the hypervolume is the best cost without tests and
the price of all tests. ``published`` is NNIA as published, ``polished`` has the sixth operator, ``islands``
four populations that share their fronts, on one core.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from benchmarks import _streed
from cstree.evolution.nnia import NNIA
from cstree.exact.search import ExactSearch
from cstree.tree.problem import TreeProblem
from cstree.tree.search import reference_point

VARIANTS: dict[str, dict[str, Any]] = {
    "published": {"polish": 0.0},
    "polished": {},
    "islands": {"islands": 4},
}
SETS = ["heart", "hepatitis", "diabetes", "car", "glass", "nursery", "flare"]


def shares(problem: TreeProblem, variant: dict[str, Any], seconds: float, seeds: int) -> list[float]:
    """Hypervolume of each seed's front over that of the complete one."""
    reference = reference_point(problem)
    complete = ExactSearch().run(problem).hypervolume(reference)
    search = NNIA(generations=None, patience=None, time_budget=seconds, **variant)
    search.run(problem, np.random.default_rng(0))  # the first call compiles
    fronts = (search.run(problem, np.random.default_rng(seed)) for seed in range(seeds))
    return [front.hypervolume(reference) / complete for front in fronts]


def main(argv: list[str]) -> None:
    """Print the worst and the mean share of each set and variant."""
    parser = argparse.ArgumentParser(prog="benchmarks nnia_vs_exact")
    parser.add_argument("--depth", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--sets", nargs="+", default=SETS)
    options = parser.parse_args(argv)
    if not _streed.is_there():
        print(f"Skipped: the sets are not in {_streed.FOLDER.name}/ beside the repository.")
        return
    print(f"depth {options.depth}, {options.seconds:g} s, {options.seeds} seeds: worst and mean share")
    for name in options.sets:
        problem = _streed.load(name, _streed.LEVELS[name]).problem(options.depth)
        for label, variant in VARIANTS.items():
            found = shares(problem, variant, options.seconds, options.seeds)
            print(f"{name:12}{label:>12}{min(found):9.4f}{np.mean(found):9.4f}", flush=True)
