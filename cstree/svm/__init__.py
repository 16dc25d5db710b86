"""Margin, kernel and neighbour classifiers that count costs."""

from cstree.svm.kernel_logistic import CostKernelLogisticRegression
from cstree.svm.linear import CostLinearSVC
from cstree.svm.multiclass import MulticlassCostSVC
from cstree.svm.neighbors import CostKNeighborsClassifier

__all__ = [
    "CostKNeighborsClassifier",
    "CostKernelLogisticRegression",
    "CostLinearSVC",
    "MulticlassCostSVC",
]
