"""Islands and checkpoints: the same front however a search is cut up."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cstree.evolution.nnia import NNIA, Progress, SearchInterrupted
from cstree.pareto.front import Front
from cstree.tree.problem import TreeProblem
from cstree.tree.tree import Tree
from tests.problems import random_problem


def search(**options: Any) -> NNIA:
    """A small search of some islands."""
    return NNIA(
        **{
            "dominant_size": 20,
            "active_size": 6,
            "clone_size": 20,
            "generations": 60,
            "patience": None,
            **options,
        }
    )


@pytest.fixture(scope="module")
def problem() -> TreeProblem:
    """A problem with a front of several trees."""
    return random_problem(np.random.default_rng(8), n_rows=(60, 60), n_features=(4, 4))[0]


def assert_same(first: Front[Tree], second: Front[Tree]) -> None:
    assert np.array_equal(first.objectives, second.objectives)
    assert all(a.same_as(b) for a, b in zip(first.trees, second.trees, strict=True))


def test_the_outcome_does_not_depend_on_the_number_of_threads(problem: TreeProblem) -> None:
    fronts = [
        search(islands=3, migration=20, n_jobs=n, restart=3).run(problem, np.random.default_rng(5))
        for n in (None, 2, -1)
    ]
    assert fronts[0].info["islands"] == 3
    for other in fronts[1:]:
        assert_same(fronts[0], other)


def test_islands_share_their_fronts(problem: TreeProblem) -> None:
    options: dict[str, Any] = {"islands": 3, "migration": 20, "generations": 40, "restart": None}
    run = search(**options).start(problem, np.random.default_rng(5))
    run.search(None)
    first = run.islands[0].members().objectives
    for island in run.islands[1:]:
        assert np.array_equal(first, island.members().objectives)


@pytest.mark.parametrize("islands", [1, 3])
@pytest.mark.parametrize("stop", [1, 17, 20, 39])
@pytest.mark.parametrize("restart", [None, 3])
def test_a_search_that_was_cut_off_goes_on_as_if_it_was_not(
    problem: TreeProblem, tmp_path: Path, islands: int, stop: int, restart: int | None
) -> None:
    path = tmp_path / "state.npz"
    options: dict[str, Any] = {"islands": islands, "migration": 20, "restart": restart}
    whole = search(**options).run(problem, np.random.default_rng(5))
    search(**options, generations=stop, checkpoint=path).run(problem, np.random.default_rng(5))
    resumed = search(**options, checkpoint=path)
    assert_same(whole, resumed.run(problem, np.random.default_rng(999)))
    assert resumed.history_[0].generation == stop


def test_ctrl_c_saves_the_state(problem: TreeProblem, tmp_path: Path) -> None:
    path = tmp_path / "state.npz"

    def stop(progress: Progress) -> None:
        if progress.generation > 3:
            signal.raise_signal(signal.SIGINT)

    whole = search().run(problem, np.random.default_rng(5))
    with pytest.raises(SearchInterrupted):
        search(checkpoint=path).run(problem, np.random.default_rng(5), stop)
    assert_same(whole, search(checkpoint=path).run(problem, np.random.default_rng(5)))


def test_other_searches_and_damaged_files_are_refused(problem: TreeProblem, tmp_path: Path) -> None:
    path = tmp_path / "state.npz"
    search(generations=5, checkpoint=path).run(problem, np.random.default_rng(0))
    with pytest.raises(ValueError, match="another search"):
        search(clone_size=21, checkpoint=path).run(problem, np.random.default_rng(0))
    whole = path.read_bytes()
    for damaged in (whole[: len(whole) // 2], b"", b"no numbers", whole[:50] + b"\0" * 50 + whole[100:]):
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match="cannot be read"):
            search(checkpoint=path).run(problem, np.random.default_rng(0))


@pytest.mark.parametrize(
    ("name", "entry"),
    [
        ("test0", 10**5),
        ("test0", -5),
        ("size0", 10**6),
        ("size0", 2),
        ("size0", -1),
        ("n_nodes0", 10**6),
        ("n_nodes0", 0),
        ("regret0", np.nan),
        ("objectives0", np.inf),
        ("badness0", np.nan),
        ("slots0", 10**6),
        ("archive_test0", 10**5),
        ("archive_size0", -1),
        ("archive_n_nodes0", 10**6),
        ("archive_objectives0", np.nan),
        ("state0", -1),
        ("state0", 10**6),
    ],
)
def test_hostile_numbers_are_refused_before_compiled_code_reads_them(
    problem: TreeProblem, tmp_path: Path, name: str, entry: float
) -> None:
    path = tmp_path / "state.npz"
    search(generations=5, checkpoint=path).run(problem, np.random.default_rng(0))
    with np.load(path) as stored:
        arrays = {key: stored[key].copy() for key in stored.files}
    arrays[name][...] = entry
    np.savez(path, **arrays)
    with pytest.raises(ValueError, match="cannot be read"):
        search(checkpoint=path).run(problem, np.random.default_rng(0))
    arrays[name] = arrays[name].astype(np.float32)[..., None]
    np.savez(path, **arrays)
    with pytest.raises(ValueError, match="cannot be read"):
        search(checkpoint=path).run(problem, np.random.default_rng(0))


KILLED_OVER_AND_OVER = """
import os, signal, sys, time
import numpy as np
from tests.evolution.test_checkpoint import killed_problem, killed_search
problem = killed_problem()
killed_search(generations=3).run(problem, np.random.default_rng(5))  # loads the kernels
rng = np.random.default_rng(0)
kills = 0
while kills < int(sys.argv[2]):
    process = os.fork()
    if process == 0:
        killed_search(checkpoint=sys.argv[1], checkpoint_seconds=0.0).run(problem, np.random.default_rng(5))
        os._exit(0)
    time.sleep(0.01 + 0.09 * rng.random())
    os.kill(process, signal.SIGKILL)
    if os.WIFEXITED(os.waitpid(process, 0)[1]):
        break
    kills += 1
print(kills)
"""


def killed_problem() -> TreeProblem:
    """Return the problem of the search that is killed."""
    return random_problem(np.random.default_rng(8), n_rows=(60, 60), n_features=(4, 4))[0]


def killed_search(**options: Any) -> NNIA:
    """Return a search that takes longer than the kills."""
    return search(**{"islands": 2, "restart": 15, "generations": 3_000, **options})


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_search_that_is_killed_fifty_times_ends_as_if_it_was_not(tmp_path: Path) -> None:
    path = tmp_path / "state.npz"
    root = Path(__file__).resolve().parents[2]
    run = subprocess.run(
        [sys.executable, "-c", KILLED_OVER_AND_OVER, str(path), "50"],
        cwd=root,
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(run.stdout) == 50
    whole = killed_search().run(killed_problem(), np.random.default_rng(5))
    resumed = killed_search(checkpoint=path)
    assert_same(whole, resumed.run(killed_problem(), np.random.default_rng(5)))
    assert 0 < resumed.history_[0].generation < 3_000
