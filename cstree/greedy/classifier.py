"""A classifier that grows one tree from the top."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cstree.base import as_generator
from cstree.costs.model import CostModel
from cstree.encoding.dataset import Dataset
from cstree.greedy.criteria import make_criterion
from cstree.greedy.grower import Limits, grow_nodes
from cstree.greedy.pruning import check_pruning, hold_out, prune_grown, prune_held_out
from cstree.greedy.tabulator import check_categorical_split
from cstree.tree.classifier import TreeClassifier
from cstree.tree.evaluation import relabel
from cstree.tree.pruning import prune_by_cost, prune_by_support
from cstree.tree.tree import Tree

__all__ = ["GreedyTreeClassifier"]


class GreedyTreeClassifier(TreeClassifier):
    """Grow a decision tree that weighs gain, misclassification cost and test cost at every split.

    Parameters
    ----------
    costs : CostModel or None, default=None
        What mistakes and tests cost. None: a mistake costs 1, tests are free.
    criterion : str or callable, default="secsdt_mc"
        How candidate splits are scored: "secsdt_mc", "mincost", "pm", "eg2", "cs_id3", "idx", "cost",
        "gain", "gain_ratio", "gini", or a callable that takes
        :class:`~cstree.greedy.candidates.Candidates` and returns their scores.
    alpha : "heuristic" or float, default="heuristic"
        For "secsdt_mc": share of the gain in the score, from 0 (cost alone) to 1. "heuristic": at each
        node, the cost of the cheapest answer over that of the dearest.
    omega : float, sequence or mapping, default=1.0
        For "pm" and "eg2": how much prices count, in [0, 1]; one number, one per feature, or numbers by
        feature name (others count 1).
    max_depth : int or None, default=None
        Most tests on a path.
    max_leaf_nodes : int or None, default=None
        Most leaves; splits that reduce cost most come first.
    min_support : int, default=2
        Nodes with fewer training cases are not split; also the least branch that support pruning keeps.
    purity : float, default=1.0
        Nodes in which one class has this share of the weight are not split. Publications use 0.95;
        a rare, dear class may then be given up.
    min_purity_support : int, default=1
        Purer nodes with fewer cases are split all the same.
    too_dear : {"next", "stop"}, default="next"
        When the split with the best score costs more than it saves: take the best split that does
        not, or make a leaf ("stop", as published: with dear and cheap tests side by side the tree
        often is a single leaf).
    pruning : str, number or None, default="cost"
        "cost": splits that do not lower misclassification cost on the training cases become leaves.
        "support": branches with fewer than ``min_support`` cases go. "support+cost": both, in turn.
        "held_out": a third of the cases does not grow the tree but judges, by total cost, which splits stay.
        A number: splits stay that lower total cost by so much, per training case, for every leaf they add.
        "none" or None: the tree stays as it grew.
    categorical_features : "from_dtype", None or list, default="from_dtype"
        Which columns are categorical: by dtype, none, or these names, positions or booleans.
    categorical_split : {"multiway", "subset"}, default="multiway"
        A branch for each category, once per path; or two branches, by subsets of categories.
    max_bins : int or None, default=255
        Most bins of a numeric feature; None: every cut.
    random_state : int, Generator or None, default=None
        Draws the cases that are held out.

    Attributes
    ----------
    tree_ : Tree
        The tree.
    schema_ : FeatureSchema
        How features are read.
    costs_ : BoundCosts
        Costs bound to features and classes.
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X had string names.

    Examples
    --------
    >>> from cstree import CostModel, GreedyTreeClassifier
    >>> X = [[36.9, 4.0], [39.1, 5.0], [37.0, 9.5], [39.5, 9.9]]
    >>> y = ["well", "flu", "well", "flu"]
    >>> costs = CostModel({("flu", "well"): 9.0, ("well", "flu"): 2.0}, tests={"x0": 0.1, "x1": 2.5})
    >>> model = GreedyTreeClassifier(costs).fit(X, y)
    >>> model.predict([[39.0, 5.0]]).tolist(), model.test_cost([[39.0, 5.0]]).tolist()
    (['flu'], [0.1])
    """

    def __init__(
        self,
        costs: CostModel | None = None,
        *,
        criterion: str | Callable[[Any], Any] = "secsdt_mc",
        alpha: float | str = "heuristic",
        omega: float | Sequence[float] | Mapping[str, float] = 1.0,
        max_depth: int | None = None,
        max_leaf_nodes: int | None = None,
        min_support: int = 2,
        purity: float = 1.0,
        min_purity_support: int = 1,
        too_dear: str = "next",
        pruning: str | float | None = "cost",
        categorical_features: Any = "from_dtype",
        categorical_split: str = "multiway",
        max_bins: int | None = 255,
        random_state: Any = None,
    ) -> None:
        self.costs = costs
        self.criterion = criterion
        self.alpha = alpha
        self.omega = omega
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.min_support = min_support
        self.purity = purity
        self.min_purity_support = min_purity_support
        self.too_dear = too_dear
        self.pruning = pruning
        self.categorical_features = categorical_features
        self.categorical_split = categorical_split
        self.max_bins = max_bins
        self.random_state = random_state

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, example_cost: Any = None
    ) -> GreedyTreeClassifier:
        """Grow and prune the tree.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)
            Numbers, strings, booleans, categories; missing values are allowed.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), optional
            Weights; cases of weight 0 are left out.
        example_cost : array-like of shape (n_samples, n_classes), optional
            Cost of each answer for each case, in the order of ``classes_`` (a DataFrame with the
            classes as columns is read by name); replaces the cost matrix.

        Returns
        -------
        GreedyTreeClassifier
            The fitted estimator itself.

        Raises
        ------
        ValueError
            A parameter is out of range, or the data cannot be used; the message says what to change.
        """
        limits = Limits(
            self.max_depth,
            self.max_leaf_nodes,
            self.min_support,
            self.purity,
            self.min_purity_support,
            self.too_dear,
        )
        check_pruning(self.pruning)
        check_categorical_split(self.categorical_split)
        dataset = self._training_data(
            X,
            y,
            sample_weight,
            example_cost,
            categorical_features=self.categorical_features,
            max_bins=self.max_bins,
        )
        self.tree_ = self._grow(dataset, limits)
        return self

    def _grow(self, dataset: Dataset, limits: Limits) -> Tree:
        criterion = make_criterion(self.criterion, dataset.schema.names, self.alpha, self.omega)
        pruning = check_pruning(self.pruning)
        costs = self.costs_
        if pruning == "held_out" and dataset.n_samples > 1:
            kept, drawn = hold_out(dataset, as_generator(self.random_state))
            growing = dataset.take(kept)
            nodes = grow_nodes(growing, costs, criterion, limits, self.categorical_split)
            tree = prune_held_out(nodes, growing, dataset.take(drawn), costs)
            return relabel(tree, dataset, costs)
        nodes = grow_nodes(dataset, costs, criterion, limits, self.categorical_split)
        if pruning == "cost":
            prune_grown(nodes, dataset, costs)
        elif isinstance(pruning, float):
            prune_grown(nodes, dataset, costs, pruning)
        tree = nodes.to_tree(dataset)
        if pruning in ("support", "support+cost"):
            tree = prune_by_support(tree, dataset, costs, self.min_support)
        return prune_by_cost(tree, dataset, costs) if pruning == "support+cost" else tree
