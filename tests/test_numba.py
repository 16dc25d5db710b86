"""How kernels are compiled and kept."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest

import cstree
from cstree import _numba
from cstree._numba import compiled_before, kernel, lean_kernel, masked_sum, popcount, trailing_zeros


@kernel
def add_one(x):
    """One more."""
    return x + 1


@lean_kernel
def look_at_words(words, values, counts):
    """Bits, lowest bit and masked sum of each word."""
    for i in range(words.shape[0]):
        counts[i, 0] = popcount(words[i])
        counts[i, 1] = trailing_zeros(words[i])
        counts[i, 2] = masked_sum(values, 1, 64 * i, words[i])


def test_words_are_counted_and_summed() -> None:
    rng = np.random.default_rng(0)
    words = rng.integers(0, 2**64, 50, dtype=np.uint64)
    words[:3] = [0, 1, 2**64 - 1]
    values = rng.integers(-(2**40), 2**40, (2, 50 * 64))
    counts = np.zeros((50, 3), np.int64)
    look_at_words(words, values, counts)
    for i, word in enumerate(words.tolist()):
        bits = [b for b in range(64) if word >> b & 1]
        assert counts[i].tolist() == [
            len(bits),
            min(bits, default=64),
            sum(int(values[1, 64 * i + b]) for b in bits),
        ]


def test_compiled_before() -> None:
    add_one(1)
    assert compiled_before(add_one)


def test_machine_code_is_kept_apart_by_what_the_kernels_and_those_they_call_hold(tmp_path: Path) -> None:
    code = (
        "from pathlib import Path; from cstree._numba import _cache_folder;"
        "print([_cache_folder(Path('cstree', *file).resolve()).name for file in FILES])"
    ).replace("FILES", "(('evolution', '_kernels.py'), ('greedy', '_kernels.py'))")
    copy = tmp_path / "cstree"
    shutil.copytree(Path(cstree.__file__).parent, copy, ignore=shutil.ignore_patterns("__pycache__", "data"))

    def folders() -> list[str]:
        # The files alone decide, so the package's front, which needs everything, stays out.
        (copy / "__init__.py").write_text("")
        run = subprocess.run(
            [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
        )
        return ast.literal_eval(run.stdout)

    before = folders()
    assert folders() == before
    called = copy / "tree" / "_bit_kernels.py"
    called.write_text(called.read_text() + "\n# changed\n")
    after = folders()
    assert after[0] != before[0]  # the search calls these kernels
    assert after[1] == before[1]  # greedy growth does not


def test_a_folder_that_cannot_be_written_gives_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache_folder = _numba._cache_folder.__wrapped__
    here = Path(__file__)
    blocked = tmp_path / "blocked"
    blocked.write_text("a file, not a folder")
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(blocked))
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    folder = cache_folder(here)
    assert folder is not None
    assert folder.is_relative_to(tmp_path / ".cache" / "cstree")
    (tmp_path / "home").write_text("")
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "home")
    assert cache_folder(here) is None
