"""Samplers that turn costs into numbers of cases."""

from cstree.sampling.proportionate import CostProportionateSampler
from cstree.sampling.rebalance import RebalanceSampler
from cstree.sampling.sizes import CostOverSampler, CostUnderSampler
from cstree.sampling.subsets import deal_subsets
from cstree.sampling.weights import class_costs, class_weights, consistent_weights, rebalance_factor

__all__ = [
    "CostOverSampler",
    "CostProportionateSampler",
    "CostUnderSampler",
    "RebalanceSampler",
    "class_costs",
    "class_weights",
    "consistent_weights",
    "deal_subsets",
    "rebalance_factor",
]
