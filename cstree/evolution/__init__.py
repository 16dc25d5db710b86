"""Multi-objective search over trees."""

from typing import TYPE_CHECKING, Any

from cstree.evolution.classifier import ParetoTreeClassifier
from cstree.evolution.nnia import NNIA

if TYPE_CHECKING:
    from cstree.evolution.genetic import NSGA2, SPEA2
    from cstree.evolution.toolbox import TreeToolbox

__all__ = ["NNIA", "NSGA2", "SPEA2", "ParetoTreeClassifier", "TreeToolbox"]


def __getattr__(name: str) -> Any:
    """Load what needs DEAP when it is asked for."""
    if name in ("NSGA2", "SPEA2"):
        from cstree.evolution import genetic

        return getattr(genetic, name)
    if name == "TreeToolbox":
        from cstree.evolution.toolbox import TreeToolbox

        return TreeToolbox
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
