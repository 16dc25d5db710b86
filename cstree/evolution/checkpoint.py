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
from cstree.evolution.island import Island

__all__ = ["Checkpoint"]


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
            for name, array in island.members()._asdict().items():
                arrays[f"{name}{i}"] = array
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
            with np.load(io.BytesIO(self.path.read_bytes()), allow_pickle=False) as stored:
                arrays = {name: stored[name] for name in stored.files}
            found = arrays["search"].tobytes().decode()
            if found == _fingerprint(islands):
                for i, island in enumerate(islands):
                    _restore(island, arrays, i)
        except (OSError, ValueError, KeyError, IndexError, EOFError, zlib.error, zipfile.BadZipFile) as error:
            raise ValueError(
                f"{self.path}: this checkpoint cannot be read ({error}). Delete it to begin anew."
            ) from error
        if found != _fingerprint(islands):
            raise ValueError(
                f"{self.path}: this checkpoint belongs to another search (other data, costs, limits or "
                "settings). Delete it to begin anew, or name another file."
            )
        return True


def _restore(island: Island, arrays: dict[str, Any], i: int) -> None:
    """Put a stored island's trees back into the slots where they were."""
    state = arrays[f"state{i}"]
    slots = arrays[f"slots{i}"]
    count = int(state[0])
    if sorted(slots.tolist()) != list(range(len(island.pool.slots))) or not 0 < count <= len(slots):
        raise ValueError("its slots are damaged")
    island.pool.slots[:] = slots
    for name in ("test", "mask", "size", "badness", "n_nodes", "regret", "objectives"):
        getattr(island.pool, name)[slots[:count]] = arrays[f"{name}{i}"]
    island.state[:] = state
    island.rng.bit_generator.state = _with_arrays(json.loads(arrays[f"random{i}"].tobytes().decode()))


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
