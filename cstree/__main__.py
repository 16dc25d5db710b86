"""``python -m cstree`` is ``cstree``."""

from __future__ import annotations

import sys

from cstree.cli.entry import main

if __name__ == "__main__":
    sys.exit(main())
