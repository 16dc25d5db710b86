"""Committees: boosting, bagging and other methods that combine classifiers."""

from cstree.ensemble.adac import AdaC1Classifier, AdaC2Classifier, AdaC3Classifier
from cstree.ensemble.adacost import AdaCostClassifier
from cstree.ensemble.bagging import CostBaggingClassifier
from cstree.ensemble.cgada import CGAdaClassifier
from cstree.ensemble.csa import CSAdaBoostClassifier
from cstree.ensemble.csb import CSB0Classifier, CSB1Classifier, CSB2Classifier
from cstree.ensemble.double_base import AdaBoostDBClassifier
from cstree.ensemble.metacost import MetaCostClassifier
from cstree.ensemble.minimum_cost import MinimumCostClassifier
from cstree.ensemble.multi_subset import MultiSubsetClassifier
from cstree.ensemble.rescaling import RescalingClassifier
from cstree.ensemble.stumps import Stump
from cstree.ensemble.test_cost import PartialVote
from cstree.ensemble.threshold import ThresholdMovingClassifier
from cstree.ensemble.weighting import InstanceWeightingTreeClassifier

__all__ = [
    "AdaBoostDBClassifier",
    "AdaC1Classifier",
    "AdaC2Classifier",
    "AdaC3Classifier",
    "AdaCostClassifier",
    "CGAdaClassifier",
    "CSAdaBoostClassifier",
    "CSB0Classifier",
    "CSB1Classifier",
    "CSB2Classifier",
    "CostBaggingClassifier",
    "InstanceWeightingTreeClassifier",
    "MetaCostClassifier",
    "MinimumCostClassifier",
    "MultiSubsetClassifier",
    "PartialVote",
    "RescalingClassifier",
    "Stump",
    "ThresholdMovingClassifier",
]
