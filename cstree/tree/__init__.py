"""The one tree: representation, evaluation, pruning, export."""

from cstree.tree.front_evaluator import FrontEvaluator
from cstree.tree.tree import Tree

__all__ = ["FrontEvaluator", "Tree"]
