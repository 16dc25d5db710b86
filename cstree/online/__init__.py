"""Classifiers that learn case by case, and adapt fitted ones to new costs."""

from cstree.online.csoc import CSOCClassifier
from cstree.online.ocsca import OCSCAClassifier

__all__ = ["CSOCClassifier", "OCSCAClassifier"]
