"""Tables that come with their costs."""

from cstree.datasets.loaders import load_bupa, load_heart, load_hepatitis, load_pima

__all__ = ["load_bupa", "load_heart", "load_hepatitis", "load_pima"]
