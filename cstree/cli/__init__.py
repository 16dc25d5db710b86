"""The command line: ``cstree demo | fit | predict | front | draw | curve``."""

from cstree.cli.entry import main

__all__ = ["main"]
