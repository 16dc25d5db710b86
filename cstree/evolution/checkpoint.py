"""Searches that survive being killed: the state of all islands in one file."""

from __future__ import annotations

import hashlib
import io
import json
import time
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from cstree._io import write_bytes
from cstree.evolution._kernels import ARCHIVED, MEMBERS
from cstree.evolution.island import Island, Members

__all__ = ["Checkpoint"]

_NO_ARCHIVE = (zlib.error, zipfile.BadZipFile)


class Checkpoint:
    """Saves a search now and then, and resumes one that is the same.

    The file holds numbers only (numpy's ``.npz``, read without pickle). It is written to a temporary file and
    renamed, so a kill at any moment leaves the last complete state.

    Parameters
    ----------
    path : str or Path
    seconds : float
        Least time between two states.
    """

    def __init__(self, path: str | Path, seconds: float) -> None:
        self.path = Path(path)
        self.seconds = seconds
        self.saved = time.monotonic()

    def save_when_due(self, islands: Sequence[Island]) -> None:
        """Save when the last state is old enough."""
        if time.monotonic() - self.saved >= self.seconds:
            self.save(islands)

    def save(self, islands: Sequence[Island]) -> None:
        """Write the state of all islands."""
        arrays: dict[str, Any] = {"search": np.frombuffer(_fingerprint(islands).encode(), np.uint8)}
        for i, island in enumerate(islands):
            arrays[f"state{i}"] = island.state
            arrays[f"random{i}"] = np.frombuffer(_random_state(island).encode(), np.uint8)
            arrays[f"slots{i}"] = island.pool.slots
            arrays[f"seen{i}"] = island.archive.seen
            for store, trees in _stores(island).items():
                for name, array in trees._asdict().items():
                    arrays[f"{store}{name}{i}"] = array
        buffer = io.BytesIO()
        np.savez_compressed(buffer, **arrays)
        write_bytes(self.path, buffer.getvalue())
        self.saved = time.monotonic()

    def load(self, islands: Sequence[Island]) -> bool:
        """Resume the islands from the file; False where there is none yet.

        Raises
        ------
        ValueError
            The file is damaged, or belongs to another search.
        """
        if not self.path.exists():
            return False
        try:
            content = io.BytesIO(self.path.read_bytes())
            if not zipfile.is_zipfile(content):
                raise ValueError("it was cut off, or is no checkpoint")
            with np.load(content, allow_pickle=False) as stored:
                arrays = {name: stored[name] for name in stored.files}
            found = arrays["search"].tobytes().decode()
            if found == _fingerprint(islands):
                for i, island in enumerate(islands):
                    _restore(island, arrays, i)
        except (OSError, ValueError, TypeError, KeyError, IndexError, EOFError, *_NO_ARCHIVE) as error:
            raise ValueError(
                f"{self.path}: this checkpoint cannot be read ({error}). Delete it to begin anew."
            ) from error
        if found != _fingerprint(islands):
            raise ValueError(
                f"{self.path}: this checkpoint belongs to another search (other data, costs, limits or "
                "settings). Delete it to begin anew, or name another file."
            )
        return True


def _stores(island: Island) -> dict[str, Members]:
    """Trees of an island by where they are."""
    return {"": island.members(), **({"archive_": island.found()} if island.settings.archive_size else {})}


def _restore(island: Island, arrays: dict[str, Any], i: int) -> None:
    """Put a stored island's trees back into the slots where they were."""
    state, slots, seen = arrays[f"state{i}"], arrays[f"slots{i}"], arrays[f"seen{i}"]
    if state.dtype != island.state.dtype or state.shape != island.state.shape or (state < 0).any():
        raise ValueError("its counters are damaged")
    count, archived = int(state[MEMBERS]), int(state[ARCHIVED])
    if sorted(slots.tolist()) != list(range(len(island.pool.slots))) or not 0 < count <= len(slots):
        raise ValueError("its slots are damaged")
    if archived > island.settings.archive_size or (island.settings.archive_size and not archived):
        raise ValueError("its archive is damaged")
    if seen.dtype != island.archive.seen.dtype or seen.shape != island.archive.seen.shape:
        raise ValueError("its keys are damaged")
    members = _stored_trees(island, arrays, "", i, count)
    kept = _stored_trees(island, arrays, "archive_", i, archived) if archived else None
    island.pool.slots[:] = slots
    for name, array in members._asdict().items():
        getattr(island.pool, name)[slots[:count]] = array
    for name, array in kept._asdict().items() if kept is not None else ():
        getattr(island.archive, name)[:archived] = array
    island.archive.seen[:] = seen
    island.state[:] = state
    island.rng.bit_generator.state = _with_arrays(json.loads(arrays[f"random{i}"].tobytes().decode()))


def _stored_trees(island: Island, arrays: dict[str, Any], store: str, i: int, count: int) -> Members:
    """Read trees from the file and check that they are trees of this search."""
    trees = Members(*(arrays[f"{store}{name}{i}"] for name in Members._fields))
    for name, array in trees._asdict().items():
        wanted = getattr(island.pool, name)
        if array.dtype != wanted.dtype or array.shape != (count, *wanted.shape[1:]):
            raise ValueError(f"its {store}{name} is of another kind or size")
    _check_trees(trees, island)
    return trees


def _check_trees(members: Members, island: Island) -> None:
    """Refuse trees with tests, sizes or depths that the kernels, which check nothing, would stumble over."""
    problem = island.problem
    n_tests = len(problem.arrays.bits) + 2 * len(problem.arrays.subset_feature)
    if not (np.isfinite(members.regret).all() and np.isfinite(members.objectives).all()):
        raise ValueError("an objective is not finite")
    for row, n in enumerate(members.n_nodes.tolist()):
        if not 1 <= n <= members.test.shape[1]:
            raise ValueError(f"tree {row} has {n} nodes")
        test, size = members.test[row, :n].tolist(), members.size[row, :n].tolist()
        if not _is_preorder(test, size, n_tests, problem.max_depth):
            raise ValueError(f"tree {row} is no tree of this search")
        if not np.isfinite(members.badness[row, :n][members.test[row, :n] < 0]).all():
            raise ValueError(f"a leaf of tree {row} has a cost that is not finite")


def _is_preorder(test: list[int], size: list[int], n_tests: int, max_depth: int) -> bool:
    """Whether sizes nest, every split has two branches and a known test, and no path is too long."""
    n, height = len(test), [0] * len(test)
    for node in range(n - 1, -1, -1):
        if test[node] == -1:
            if size[node] != 1:
                return False
            continue
        left = node + 1
        right = left + size[left] if left < n else n
        if right >= n or not 0 <= test[node] < n_tests or size[node] != 1 + size[left] + size[right]:
            return False
        height[node] = 1 + max(height[left], height[right])
    return size[0] == n and height[0] <= max_depth


def _random_state(island: Island) -> str:
    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: plain(part) for name, part in value.items()}
        return {"array": value.tolist()} if isinstance(value, np.ndarray) else value

    return json.dumps(plain(dict(island.rng.bit_generator.state)))


def _with_arrays(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    if set(value) == {"array"}:
        return np.array(value["array"], dtype=np.uint64)
    return {name: _with_arrays(part) for name, part in value.items()}


def _fingerprint(islands: Sequence[Island]) -> str:
    """Hash of the problem, the settings and the number of islands; the same seed is the user's to give."""
    digest = hashlib.sha256()
    for part in (*islands[0].problem.arrays, islands[0].operator_share, islands[0].objective_kind):
        digest.update(np.ascontiguousarray(part).tobytes())
    digest.update(repr((len(islands), tuple(islands[0].settings))).encode())
    return digest.hexdigest()
