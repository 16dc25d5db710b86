"""The one tree: representation, evaluation, pruning, export."""

from cstree.tree.tree import Tree

__all__ = ["Tree"]
