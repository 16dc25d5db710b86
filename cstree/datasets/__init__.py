"""Tables that come with their costs, and tables drawn from known distributions."""

from cstree.datasets.loaders import load_bupa, load_heart, load_hepatitis, load_pima
from cstree.datasets.synthetic import make_bayes, make_two_clouds

__all__ = ["load_bupa", "load_heart", "load_hepatitis", "load_pima", "make_bayes", "make_two_clouds"]
