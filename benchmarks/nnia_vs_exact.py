"""How long the search takes to reach a share of the complete front's hypervolume, over seeds.

The sets are those of ``_streed.py``; the reference of the hypervolume is the best cost without tests and
the price of all tests. ``default`` is what ``ParetoTreeClassifier`` does, making the seeds counted;
``unseeded`` begins with random trees; ``published`` is NNIA as published (no seeds, polish off). A run ends
when it has reached the share that is wanted; the share at the end stands beside the time. The clock is that
of the process, one thread, compiling apart.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

from benchmarks import _streed
from cstree.evolution.classifier import ParetoTreeClassifier
from cstree.evolution.searches import make_search, make_starts
from cstree.exact.search import ExactSearch
from cstree.tree.problem import TreeProblem
from cstree.tree.search import Progress, SearchInterrupted, reference_point

VARIANTS: dict[str, dict[str, Any]] = {
    "default": {"seeds": "exact"},
    "unseeded": {"seeds": None},
    "published": {"seeds": None, "polish": False},
}
SETS = ["heart", "hepatitis", "diabetes", "car", "glass", "nursery", "flare", "soybean", "breast_cancer"]
# Share wanted and seconds allowed at a depth, unless a set has its own.
WANTED = {3: (0.999, 2.0), 4: (0.995, 10.0)}
OWN = {("breast_cancer", 4): (0.995, 15.0), ("soybean", 4): (0.99, 10.0)}


def problem_of(name: str, depth: int) -> TreeProblem:
    """The search problem of a set at its cost level."""
    if name == "breast_cancer":
        return _streed.breast_cancer().problem(depth)
    return _streed.load(name, _streed.LEVELS.get(name, "middle")).problem(depth)


def reach(
    problem: TreeProblem, variant: dict[str, Any], complete: float, share: float, seconds: float, seed: int
) -> tuple[float, float]:
    """Seconds until the share is reached, and the share at the end."""
    begin = time.process_time()

    def stop(progress: Progress) -> None:
        used = time.process_time() - begin
        if used >= seconds or progress.hypervolume >= share * complete:
            raise KeyboardInterrupt

    model = ParetoTreeClassifier(generations=None, patience=None, time_budget=60 * seconds, **variant)
    try:
        starts = make_starts(model, problem)
        make_search(model).run(problem, np.random.default_rng(seed), stop, **starts)
    except SearchInterrupted as interruption:
        used = time.process_time() - begin
        box = reference_point(problem)
        return used, interruption.front.hypervolume(box) / box.prod() / complete
    raise RuntimeError("the search ended by itself")


def main(argv: list[str]) -> None:
    """Print how many seeds reach what is wanted, how long the slowest took, and the worst share."""
    parser = argparse.ArgumentParser(prog="benchmarks nnia_vs_exact")
    parser.add_argument("--depth", type=int, default=3, choices=sorted(WANTED))
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--variants", nargs="+", default=list(VARIANTS), choices=list(VARIANTS))
    options = parser.parse_args(argv)
    if not _streed.is_there():
        print(f"Skipped: the sets are not in {_streed.FOLDER.name}/ beside the repository.")
        return
    print(f"depth {options.depth}, {options.seeds} seeds; seconds of one thread until the share is reached")
    print(
        f"{'set':14}{'variant':>10}{'wanted':>8}{'within':>8}{'reached':>9}{'median':>8}{'slowest':>9}{'worst':>8}"
    )
    for name in options.sets:
        problem = problem_of(name, options.depth)
        box = reference_point(problem)
        complete = ExactSearch().run(problem).hypervolume(box) / box.prod()
        share, seconds = OWN.get((name, options.depth), WANTED[options.depth])
        for label in options.variants:
            variant = VARIANTS[label]
            reach(problem, variant, complete, 0.0, seconds, 0)  # compiles
            runs = [reach(problem, variant, complete, share, seconds, seed) for seed in range(options.seeds)]
            times, shares = (np.array(figures) for figures in zip(*runs, strict=True))
            print(
                f"{name:14}{label:>10}{share:8.3f}{seconds:7.0f}s{(shares >= share).sum():5d}/{len(runs):<3d}"
                f"{np.median(times):8.2f}{times.max():9.2f}{shares.min():8.4f}",
                flush=True,
            )
