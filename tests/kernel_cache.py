"""Where compiled kernels are kept while the project is worked on.

A compiled caller is not renewed when a kernel that it calls in *another* file changes. So tests and
``make`` keep them in a folder named by a hash of all kernel files, and of the files that say how they
are compiled: a change to any of them starts a new folder. ``tests/conftest.py`` and the Makefile both ask
this file, which imports nothing but the standard library.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def cache_folder(root: Path = ROOT) -> Path:
    """Folder for ``NUMBA_CACHE_DIR``, named by what all kernel files hold now."""
    digest = hashlib.sha256()
    for path in sorted([*root.glob("cstree/_[a-z]*.py"), *root.glob("cstree/**/*_kernels.py")]):
        digest.update(path.relative_to(root).as_posix().encode() + b"\0")
        digest.update(path.read_bytes() + b"\0")
    return root / ".numba_cache" / digest.hexdigest()[:16]


if __name__ == "__main__":
    print(cache_folder())
