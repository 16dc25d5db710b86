"""Evaluations a second beside the same search written with DEAP alone, and what the seconds buy.

Goal: NNIA as published evaluates at least 100 times as many trees a second as the peer, on breast cancer with
8 cuts a feature and depth limit 6. Beside them stand NSGA-II and SPEA2 of this package, which run on DEAP's
toolbox with compiled operators, and the default NNIA. All search the same trees: the peer's objectives are
compared with the compiled ones before anything is timed. The hypervolume is that of the reference box (best
cost without tests times the price of all tests). Polished trees take longer each, and trees of few nodes are
evaluated fast: so the mean size of the trees that a search ends with stands there, too.
"""

from __future__ import annotations

import argparse
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer

from benchmarks._deap_peer import DeapSearch
from benchmarks.nnia import problem
from benchmarks.timing import verdict
from cstree.evolution.genetic import NSGA2, SPEA2
from cstree.evolution.nnia import NNIA
from cstree.pareto._kernels import hypervolume_2d
from cstree.tree.problem import TreeProblem
from cstree.tree.search import reference_point

WANTED = 100


def share(points: NDArray[np.float64], on: TreeProblem) -> float:
    """Part of the reference box that points dominate."""
    corner = reference_point(on)
    return float(hypervolume_2d(np.ascontiguousarray(points), corner) / corner.prod())


class Run(NamedTuple):
    """What one run came to."""

    rate: float
    volume: float
    nodes: float


def run_peer(peer: DeapSearch, on: TreeProblem, seconds: float, seed: int) -> Run:
    """Search with DEAP alone."""
    outcome = peer.run(seconds, seed)
    rate = outcome.evaluations / outcome.seconds
    return Run(rate, share(outcome.objectives, on), outcome.mean_nodes)


def run_ours(search: Any, on: TreeProblem, seed: int) -> Run:
    """Search with one of ours."""
    front = search.run(on, np.random.default_rng(seed))
    last = search.history_[-1]
    nodes = float(np.mean([tree.n_nodes for tree in front]))
    return Run(last.evaluations / last.seconds, share(front.objectives, on), nodes)


def check_peer(peer: DeapSearch, on: TreeProblem) -> None:
    """Make sure that both searches mean the same by a tree's objectives and by pruning it."""
    for individual in peer.toolbox.population(200):
        genes = peer.preorder(individual)
        test, _, objectives = on.prune_and_evaluate(genes, np.zeros(len(genes), np.uint64))
        assert np.allclose(peer.evaluate(individual), objectives)
        assert np.array_equal(peer.preorder(individual), test)


def main(argv: list[str]) -> None:
    """Print a row per search: evaluations a second, how many times the peer's, hypervolume."""
    parser = argparse.ArgumentParser(prog="benchmarks deap")
    parser.add_argument("--seconds", type=float, default=5.0, help="time of each search")
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args(argv)
    cancer = load_breast_cancer()
    on = problem(cancer.data, cancer.target, 8)
    peers = {
        "DEAP alone": DeapSearch(on),
        "DEAP alone, sorting by 'log'": DeapSearch(on, nd="log"),
        "DEAP alone, with copies": DeapSearch(on, copies=True),
    }
    for peer in peers.values():
        check_peer(peer, on)
    clock: dict[str, Any] = {"generations": None, "patience": None, "time_budget": options.seconds}
    ours = {
        "NNIA, published": NNIA(polish=0, **clock),
        "NNIA": NNIA(**clock),
        "NSGA2, no polish": NSGA2(polish=0, **clock),
        "NSGA2": NSGA2(**clock),
        "SPEA2, no polish": SPEA2(polish=0, **clock),
        "SPEA2": SPEA2(**clock),
    }
    found: dict[str, list[Run]] = {name: [] for name in (*peers, *ours)}
    for seed in range(options.seeds):  # all take turns, so that a busy moment hits all
        for name, peer in peers.items():
            found[name].append(run_peer(peer, on, options.seconds, seed))
        for name, search in ours.items():
            found[name].append(run_ours(search, on, seed))
    rates = {name: max(run.rate for run in runs) for name, runs in found.items()}
    peer_rate = max(rates[name] for name in peers if "copies" not in name)
    print(f"{'breast cancer 569 x 30, 8 cuts':30}{'trees/s':>10}{'x peer':>9}{'nodes':>7}{'hypervolume':>13}")
    for name, runs in found.items():
        nodes, volume = np.mean([run.nodes for run in runs]), np.mean([run.volume for run in runs])
        print(f"{name:30}{rates[name]:10,.0f}{rates[name] / peer_rate:8.1f}x{nodes:7.1f}{volume:13.4f}")
    print(f"NNIA, published, beside DEAP alone: {verdict(rates['NNIA, published'] / peer_rate, WANTED)}")
