"""NNIA where the exact search cannot go: depth 6, 64 cuts a feature, up to 494,021 cases and 23 classes.

The front that the default settings find in a stated time, beside the greedy trees of every criterion, with
several alphas and omegas, unpruned and pruned, and beside pystreed's best tree after the same time. All keep
the same limits: depth, cuts, one case in a branch. A tree is *covered* when a point of the front is in
neither cost worse (but for rounding, 1e-9 of its costs); "volume" and "least sum" are those of the others in
shares of ours. Seconds are processor time of one thread, compiling apart; the peer's limit is by the wall
clock, stretched as much as our search was by other work of the machine, and the processor time that it had
stands beside its answer. Greedy trees with a branch for each category (``--multiway``) are of another kind:
at depth 6 they have hundreds of leaves. Where the peer finds no tree, for want of memory (11 GiB) or time, it
gets a tenth of the cases. Needs the tables of ``_large.py``, and ``pip install pystreed``.
"""

from __future__ import annotations

import argparse
import copy
import importlib.util
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import _large
from benchmarks._large_peer import Answer, Peer
from cstree.evolution.classifier import ParetoTreeClassifier
from cstree.evolution.nnia import Progress
from cstree.greedy.criteria import CRITERIA, make_criterion
from cstree.greedy.grower import Limits, grow_nodes
from cstree.greedy.pruning import hold_out, prune_grown, prune_held_out
from cstree.pareto._kernels import hypervolume_2d
from cstree.tree.evaluation import relabel
from cstree.tree.problem import TreeProblem
from cstree.tree.pruning import prune_by_cost, prune_by_support
from cstree.tree.search import reference_point, tree_objectives
from cstree.tree.tree import Tree

SECONDS = {"german_credit": 60.0, "spambase": 60.0, "adult": 60.0, "kdd99": 180.0}
ALPHAS = ("heuristic", 0.0, 0.25, 0.5, 0.75, 1.0)
OMEGAS = (1.0, 0.5, 0.0)
# Shares of the best single answer's cost that a leaf must save.
PER_LEAF = (0.0, 1e-4, 1e-3, 1e-2)
COSTS = ("misclassification_cost", "test_cost")

Points = NDArray[np.float64]


def search(table: _large.Table, seconds: float) -> tuple[Points, float, float]:
    """Points of the front after so much processor time; seconds of the whole fit, and by the wall clock."""
    begin, clock = time.process_time(), time.perf_counter()

    def stop(progress: Progress) -> None:
        if time.process_time() - begin >= seconds:
            raise KeyboardInterrupt

    model = _classifier(callback=stop, generations=None, patience=None, costs=table.costs)
    try:
        model.fit(table.X, table.y)
    except KeyboardInterrupt:
        return model.front_.objectives, time.process_time() - begin, time.perf_counter() - clock
    raise RuntimeError("the search ended by itself")


def _classifier(**options: Any) -> ParetoTreeClassifier:
    return ParetoTreeClassifier(
        max_bins=_large.MAX_BINS,
        max_depth=_large.MAX_DEPTH,
        min_support=_large.MIN_SUPPORT,
        random_state=0,
        time_budget=1e6,
        **options,
    )


def growths() -> Iterator[tuple[str, float | str, float]]:
    """Every criterion with its settings: name, alpha, omega."""
    for name in CRITERIA:
        parameters = CRITERIA[name].parameters
        for alpha in ALPHAS if "alpha" in parameters else ALPHAS[:1]:
            for omega in OMEGAS if "omega" in parameters else OMEGAS[:1]:
                yield name, alpha, omega


def greedy_points(problem: TreeProblem, split: str) -> Points:
    """Points of the trees of all criteria, growth and prunings."""
    points = [
        tree_objectives(tree, problem, COSTS)
        for name, alpha, omega in growths()
        for too_dear in ("stop", "next")
        for tree in greedy_trees(
            problem, make_criterion(name, problem.dataset.schema.names, alpha, omega), too_dear, split
        )
    ]
    return np.array(points)


def greedy_trees(problem: TreeProblem, criterion: Any, too_dear: str, split: str) -> Iterator[Tree]:
    """The trees that a criterion grows, unpruned and pruned in every way there is."""
    dataset, costs = problem.dataset, problem.costs
    limits = Limits(max_depth=problem.max_depth, too_dear=too_dear)
    nodes = grow_nodes(dataset, costs, criterion, limits, split)
    grown = nodes.to_tree(dataset)
    yield grown
    supported = prune_by_support(grown, dataset, costs, limits.min_support)
    yield supported
    yield prune_by_cost(supported, dataset, costs)
    leaf = float(grown.label_cost[0].min() / dataset.total_weight)
    for per_leaf in (None, *(leaf * share for share in PER_LEAF)):
        pruned = copy.deepcopy(nodes)
        prune_grown(pruned, dataset, costs, per_leaf)
        yield pruned.to_tree(dataset)
    kept, drawn = hold_out(dataset, np.random.default_rng(0))
    growing = dataset.take(kept)
    nodes = grow_nodes(growing, costs, criterion, limits, split)
    yield relabel(prune_held_out(nodes, growing, dataset.take(drawn), costs), dataset, costs)


def peer_answers(problem: TreeProblem, seconds: float, every: int = 1) -> Iterator[Answer]:
    """Answers at the depths that it finishes, at the first that it does not, and at full depth."""
    peer = Peer(problem, every)
    for depth in range(2, problem.max_depth):
        answer = peer.solve(depth, seconds)
        yield answer
        if not answer.proven:
            break
    yield peer.solve(problem.max_depth, seconds)


def covered(points: Points, front: Points) -> NDArray[np.bool_]:
    """Whether each point is weakly dominated by one of the front."""
    allowed = points + 1e-9 * np.abs(points)
    return np.array([bool((front <= point).all(axis=1).any()) for point in allowed])


def compare(what: str, points: Points, front: Points, reference: Points) -> None:
    """Print a line: how many of the points are covered, their volume and their least sum beside ours."""
    reached = covered(points, front)
    volume = hypervolume_2d(np.ascontiguousarray(points), reference) / hypervolume_2d(front, reference)
    ratio = points.sum(axis=1).min() / front.sum(axis=1).min()
    verdict = "yes" if reached.all() else "NO"
    print(
        f"  {what:54}{verdict:>4}{reached.sum():6d}/{len(points):<5d}{volume:9.4f}{ratio:11.4f}", flush=True
    )
    for point in points[~reached][:5]:
        excess = ((front - point) / reference).max(axis=1).min()
        print(f"      not covered: {point[0]:.6f}, {point[1]:.6f}; by {excess:.1e} of the reference")


def measure(name: str, seconds: float, with_peer: bool, multiway: bool) -> None:
    """Print what all methods reach on a table."""
    table = _large.load(name)
    problem = table.problem
    dataset, reference = problem.dataset, reference_point(problem)
    _classifier(costs=table.costs, generations=2).fit(table.X[:500], table.y[:500])  # compiles
    front, used, elapsed = search(table, seconds)
    front = np.ascontiguousarray(front)
    share = hypervolume_2d(front, reference) / reference.prod()
    subsets = len(problem.arrays.subset_feature)
    print(
        f"\n{name}: {dataset.n_samples:,} cases, {len(dataset.schema)} features, {dataset.n_classes} "
        f"classes, {len(problem.candidates)} tests and {subsets} features by any subset of categories"
    )
    print(
        f"  front of {len(front)} trees; {seconds:.0f} s, with the trees' labels {used:.0f} s; "
        f"volume {share:.4f}, least sum {front.sum(axis=1).min():.4f}"
    )
    print(f"  {'':54}{'covered':>15}{'volume':>9}{'least sum':>11}", flush=True)
    compare("greedy trees", greedy_points(problem, "subset"), front, reference)
    if multiway:
        compare("greedy trees, multiway", greedy_points(problem, "multiway"), front, reference)
    if not with_peer:
        return
    allowed = seconds * max(elapsed / used, 1.0)
    found = show_peer(peer_answers(problem, allowed), "", front, reference)
    if not found:
        show_peer(peer_answers(problem, allowed, every=10), ", a tenth of the cases", front, reference)


def show_peer(answers: Iterator[Answer], given: str, front: Points, reference: Points) -> bool:
    """Print the peer's answers beside the front; return whether it found a tree."""
    found = False
    for answer in answers:
        proven = ", proven" if answer.proven else ""
        what = f"pystreed, depth {answer.depth}{given}, {answer.seconds:.0f} s{proven}"
        if answer.point is None:
            print(f"  {what}: no tree", flush=True)
        else:
            compare(what, answer.point[None], front, reference)
            found = True
    return found


def main(argv: list[str]) -> None:
    """Measure the tables asked for."""
    parser = argparse.ArgumentParser(prog="benchmarks large")
    parser.add_argument("--tables", nargs="+", default=list(_large.TABLES), choices=list(_large.TABLES))
    parser.add_argument("--seconds", type=float, help="of each search; by default 60, for kdd99 180")
    parser.add_argument("--alone", action="store_true", help="do not run pystreed")
    parser.add_argument("--multiway", action="store_true", help="greedy trees with a branch a category, too")
    options = parser.parse_args(argv)
    with_peer = not options.alone and importlib.util.find_spec("pystreed") is not None
    if not with_peer and not options.alone:
        print("pystreed is not installed: greedy trees alone.")
    for name in options.tables:
        if not _large.is_there(name):
            print(f"Skipped {name}: it is not in {_large.FOLDER.name}/ beside the repository.")
            continue
        measure(name, options.seconds or SECONDS[name], with_peer, options.multiway)
