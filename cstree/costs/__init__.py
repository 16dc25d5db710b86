"""What a mistake and a test cost."""

from cstree.costs.bound import BoundCosts
from cstree.costs.model import CostModel, FeatureTest, from_predicted_first

__all__ = ["BoundCosts", "CostModel", "FeatureTest", "from_predicted_first"]
