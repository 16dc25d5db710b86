"""Decision trees that know what a mistake costs and what a test costs."""

from importlib.metadata import PackageNotFoundError, version

from cstree.costs.model import CostModel, FeatureTest
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
from cstree.ensemble.threshold import ThresholdMovingClassifier
from cstree.ensemble.weighting import InstanceWeightingTreeClassifier
from cstree.evolution.classifier import ParetoTreeClassifier
from cstree.greedy.classifier import GreedyTreeClassifier
from cstree.online.csoc import CSOCClassifier
from cstree.online.ocsca import OCSCAClassifier
from cstree.pareto.front import Front
from cstree.persistence import load_model, save_model
from cstree.sampling.proportionate import CostProportionateSampler
from cstree.sampling.rebalance import RebalanceSampler
from cstree.sampling.sizes import CostOverSampler, CostUnderSampler
from cstree.svm.kernel_logistic import CostKernelLogisticRegression
from cstree.svm.linear import CostLinearSVC
from cstree.svm.multiclass import MulticlassCostSVC
from cstree.svm.neighbors import CostKNeighborsClassifier

try:
    __version__ = version("cstree")
except PackageNotFoundError:  # run from a source tree that was never installed
    __version__ = "0+unknown"

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
    "CSOCClassifier",
    "CostBaggingClassifier",
    "CostKNeighborsClassifier",
    "CostKernelLogisticRegression",
    "CostLinearSVC",
    "CostModel",
    "CostOverSampler",
    "CostProportionateSampler",
    "CostUnderSampler",
    "FeatureTest",
    "Front",
    "GreedyTreeClassifier",
    "InstanceWeightingTreeClassifier",
    "MetaCostClassifier",
    "MinimumCostClassifier",
    "MultiSubsetClassifier",
    "MulticlassCostSVC",
    "OCSCAClassifier",
    "ParetoTreeClassifier",
    "RebalanceSampler",
    "RescalingClassifier",
    "ThresholdMovingClassifier",
    "load_model",
    "save_model",
]
