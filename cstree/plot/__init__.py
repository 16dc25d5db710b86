"""Pictures of trees and fronts; drawing libraries are loaded when something is drawn."""

from cstree.plot.convergence import ConvergenceDisplay, convergence_figure
from cstree.plot.front import front_figure
from cstree.plot.page import explore_front
from cstree.plot.tree import render_tree, tree_figure

__all__ = [
    "ConvergenceDisplay",
    "convergence_figure",
    "explore_front",
    "front_figure",
    "render_tree",
    "tree_figure",
]
