"""Sets of trade-offs between objectives, and rules to choose from them."""

from cstree.pareto.evaluation import FrontEvaluation
from cstree.pareto.front import Front
from cstree.pareto.selection import SelectionRule

__all__ = ["Front", "FrontEvaluation", "SelectionRule"]
