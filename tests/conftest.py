"""What every test needs: figures without a window, the same examples in CI."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

# Before anything imports matplotlib; processes that tests start inherit it.
os.environ.setdefault("MPLBACKEND", "Agg")

# The first example may compile kernels; in CI the same examples are tried each time.
settings.register_profile(
    "cstree",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=os.environ.get("CI", "").lower() == "true",
)
settings.load_profile("cstree")
