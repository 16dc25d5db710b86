"""What every test needs: kernels compiled afresh when they changed, figures without a window."""

from __future__ import annotations

import os

from tests.kernel_cache import cache_folder

# Before anything imports numba or matplotlib; processes that tests start inherit both.
os.environ.setdefault("NUMBA_CACHE_DIR", str(cache_folder()))
os.environ.setdefault("MPLBACKEND", "Agg")
