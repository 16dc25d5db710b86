"""What every test needs: figures without a window, the same examples in every run."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

# Before anything imports matplotlib; processes that tests start inherit it.
os.environ.setdefault("MPLBACKEND", "Agg")

# The first example may compile kernels. The same examples are tried each time, so that a failure is of the
# change at hand; `HYPOTHESIS_SEEK=1 make test` looks for new ones.
settings.register_profile(
    "cstree",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=os.environ.get("HYPOTHESIS_SEEK", "") in ("", "0"),
)
settings.load_profile("cstree")
