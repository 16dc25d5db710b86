"""What every test needs: kernels compiled afresh when they changed, figures without a window."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

from tests.kernel_cache import cache_folder

# Before anything imports numba or matplotlib; processes that tests start inherit both.
os.environ.setdefault("NUMBA_CACHE_DIR", str(cache_folder()))
os.environ.setdefault("MPLBACKEND", "Agg")

# The first example may compile kernels; in CI the same examples are tried each time.
settings.register_profile(
    "cstree",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=os.environ.get("CI", "").lower() == "true",
)
settings.load_profile("cstree")
