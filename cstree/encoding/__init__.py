"""How a case becomes codes and bits."""

from cstree.encoding.dataset import Dataset
from cstree.encoding.schema import Feature, FeatureSchema

__all__ = ["Dataset", "Feature", "FeatureSchema"]
