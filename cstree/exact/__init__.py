"""Complete fronts of small trees."""

from cstree.exact.search import ExactSearch

__all__ = ["ExactSearch"]
