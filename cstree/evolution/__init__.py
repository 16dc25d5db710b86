"""Multi-objective search over trees."""

from cstree.evolution.classifier import ParetoTreeClassifier
from cstree.evolution.nnia import NNIA

__all__ = ["NNIA", "ParetoTreeClassifier"]
