"""Trees grown from the top."""

from cstree.greedy.candidates import Candidates
from cstree.greedy.classifier import GreedyTreeClassifier
from cstree.greedy.criteria import CRITERIA, Criterion
from cstree.greedy.grower import candidates_at, grow

__all__ = ["CRITERIA", "Candidates", "Criterion", "GreedyTreeClassifier", "candidates_at", "grow"]
