"""Pictures of trees and fronts; drawing libraries are loaded when something is drawn."""

from cstree.plot.convergence import ConvergenceDisplay, convergence_figure
from cstree.plot.cost_curve import CostCurveDisplay, cost_curve_figure, model_cost_curves
from cstree.plot.front import front_figure
from cstree.plot.page import explore_front
from cstree.plot.tree import render_tree, tree_figure

__all__ = [
    "ConvergenceDisplay",
    "CostCurveDisplay",
    "convergence_figure",
    "cost_curve_figure",
    "explore_front",
    "front_figure",
    "model_cost_curves",
    "render_tree",
    "tree_figure",
]
