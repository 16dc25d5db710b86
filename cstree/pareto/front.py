"""A set of trade-offs: points none of which is dominated, and the tree behind each."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from numbers import Integral
from types import MappingProxyType
from typing import Any, TypeVar, overload

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from cstree.pareto import _kernels
from cstree.pareto.evaluation import FrontEvaluation
from cstree.pareto.selection import MISCLASSIFICATION_COST, TEST_COST, SelectionRule, select

__all__ = ["Front"]

_Tree = TypeVar("_Tree")
Floats = NDArray[np.float64]


def _as_numbers(values: ArrayLike, what: str) -> Floats:
    """Copy of ``values`` as float64; a TypeError that says ``what`` if they are not real numbers."""
    try:
        array = np.asarray(values)
    except ValueError as error:  # rows of unequal length
        raise ValueError(f"{what} must be an array of numbers: {error}") from error
    if array.dtype.kind == "O":  # pandas' nullable columns and Python's big integers arrive as objects
        try:
            return np.array(array, dtype=np.float64)
        except (TypeError, ValueError, OverflowError) as error:
            raise TypeError(f"{what} must be numbers: {error}") from error
    if array.dtype.kind not in "iuf":
        raise TypeError(f"{what} must be numbers, got an array of {array.dtype}")
    return np.array(array, dtype=np.float64, order="C")


def _check_names(objective_names: Iterable[str], n_objectives: int) -> tuple[str, ...]:
    if isinstance(objective_names, str):
        raise TypeError(f"objective_names must be a sequence of names, got the string {objective_names!r}")
    names = tuple(objective_names)
    if len(names) != n_objectives:
        raise ValueError(
            f"objectives have {n_objectives} columns but there are {len(names)} objective_names: {names}"
        )
    for name in names:
        if not isinstance(name, str) or not name:
            raise TypeError(f"objective_names must be non-empty strings, got {name!r}")
        if names.count(name) > 1:
            raise ValueError(f"objective_names must differ, {name!r} is there twice")
    return names


def _check_objectives(
    objectives: ArrayLike, objective_names: Iterable[str]
) -> tuple[Floats, tuple[str, ...]]:
    """Objectives as a finite float64 (p, m) array with p, m >= 1, and their names."""
    points = _as_numbers(objectives, "objectives")
    if points.ndim != 2 or points.shape[1] == 0:
        raise ValueError(f"objectives must have shape (points, objectives), got {points.shape}")
    names = _check_names(objective_names, points.shape[1])
    if len(points) == 0:
        raise ValueError("a front needs at least one point, got none: a single leaf is always one")
    wrong = np.argwhere(~np.isfinite(points))
    if len(wrong):
        i, j = wrong[0]
        raise ValueError(f"objective {names[j]!r} of point {i} is {points[i, j]}: objectives must be finite")
    return points, names


def _sizes(trees: Sequence[object]) -> Floats:
    """Count the nodes of each tree; infinitely many where the object does not say."""
    sizes = [getattr(tree, "n_nodes", None) for tree in trees]
    return np.array([float(size) if isinstance(size, Integral) else np.inf for size in sizes])


def _choose_points(points: Floats, trees: Sequence[object]) -> NDArray[np.intp]:
    """Index the nondominated points, sorted; of equal ones the smallest tree, then the first given."""
    small_first = np.argsort(_sizes(trees), kind="stable")
    kept = small_first[_kernels.nondominated(np.ascontiguousarray(points[small_first]))]
    order: NDArray[np.intp] = kept[np.lexsort(points[kept].T[::-1])]
    return order


class Front(Sequence[_Tree]):
    """Trees none of which is dominated by another, sorted by the first objective, then the others.

    A sequence of the trees; it can't be changed.  All objectives are minimised.  The constructor keeps the
    nondominated points: one is dropped if another is nowhere worse and somewhere better.  Of points with
    equal objectives one stays: the tree with the fewest ``n_nodes`` (objects without that attribute come
    last), then the first given.  Numbers are compared exactly, without a tolerance: points that differ by
    rounding alone may both stay, so sum objectives in one fixed order.

    Parameters
    ----------
    objectives : array-like of shape (p, m)
        Objectives of each tree, all finite; averages per case, in the unit of the prices.
    trees : iterable of length p
        The objects behind the points: trees, or anything else.
    objective_names : sequence of m str, default=("misclassification_cost", "test_cost")
        What the columns are.  Selection rules find the two costs by these names.
    complete : bool, default=False
        Whether the front is proven to hold every trade-off there is (exact search).
    info : mapping, optional
        What the search says about itself (evaluations, seconds, ...).

    Attributes
    ----------
    objectives : float64 (n_points, m)
        Objectives, read-only.
    trees : tuple
        The object behind each point.
    objective_names : tuple of str
        What the columns of ``objectives`` are.
    complete : bool
        Whether the front is proven to be complete.
    info : mapping
        Read-only.

    Raises
    ------
    TypeError
        If objectives are not numbers, or names not strings.
    ValueError
        If shapes and lengths do not fit, there is no point, or an objective is not finite.

    Examples
    --------
    >>> front = Front([[3.0, 0.0], [1.0, 4.0], [2.0, 5.0], [2.0, 1.0]], ["leaf", "deep", "poor", "stump"])
    >>> list(front)
    ['deep', 'stump', 'leaf']
    >>> front.objectives
    array([[1., 4.],
           [2., 1.],
           [3., 0.]])
    >>> front[front.select({"max_test_cost": 2.0})]
    'stump'
    """

    _objectives: Floats
    _trees: tuple[_Tree, ...]
    _objective_names: tuple[str, ...]
    _complete: bool
    _info: dict[str, Any]
    _evaluator: Callable[..., FrontEvaluation] | None = None

    def __init__(
        self,
        objectives: ArrayLike,
        trees: Iterable[_Tree],
        *,
        objective_names: Iterable[str] = (MISCLASSIFICATION_COST, TEST_COST),
        complete: bool = False,
        info: Mapping[str, Any] | None = None,
    ) -> None:
        points, names = _check_objectives(objectives, objective_names)
        given = tuple(trees)
        if len(given) != len(points):
            raise ValueError(
                f"there are {len(points)} points but {len(given)} trees: each point needs its tree"
            )
        chosen = _choose_points(points, given)
        self.__setstate__(
            {
                "_objectives": np.ascontiguousarray(points[chosen]),
                "_trees": tuple(given[i] for i in chosen),
                "_objective_names": names,
                "_complete": bool(complete),
                "_info": dict(info or {}),
            }
        )

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._objectives.setflags(write=False)  # pickle and deepcopy forget it

    @property
    def objectives(self) -> Floats:
        """Objectives of the points, float64 (n_points, m), sorted by the first, read-only."""
        return self._objectives

    @property
    def trees(self) -> tuple[_Tree, ...]:
        """The object behind each point."""
        return self._trees

    @property
    def objective_names(self) -> tuple[str, ...]:
        """What the columns of ``objectives`` are."""
        return self._objective_names

    @property
    def complete(self) -> bool:
        """Whether the front is proven to hold every trade-off there is."""
        return self._complete

    @property
    def info(self) -> Mapping[str, Any]:
        """What the search said about itself, read-only."""
        return MappingProxyType(self._info)

    def __len__(self) -> int:
        return len(self._trees)

    def __iter__(self) -> Iterator[_Tree]:
        return iter(self._trees)

    @overload
    def __getitem__(self, index: int) -> _Tree: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[_Tree, ...]: ...
    def __getitem__(self, index: int | slice) -> _Tree | tuple[_Tree, ...]:
        try:
            return self._trees[index]
        except IndexError:
            raise IndexError(
                f"index {index} is not on the front, which has {self._describe_size()}"
            ) from None

    def _describe_size(self) -> str:
        return "1 point" if len(self) == 1 else f"{len(self)} points"

    def __repr__(self) -> str:
        ranges = [
            f"{name} {low:.4g}" if low == high else f"{name} {low:.4g} to {high:.4g}"
            for name, low, high in zip(
                self._objective_names, self._objectives.min(axis=0), self._objectives.max(axis=0), strict=True
            )
        ]
        return f"Front({', '.join([self._describe_size(), *ranges])}{', complete' if self._complete else ''})"

    def select(self, rule: SelectionRule) -> int:
        """Index of the point that a rule chooses.

        Parameters
        ----------
        rule : str, mapping with one entry, or callable
            - ``"total_cost"``: least misclassification cost + test cost;
            - ``"knee"``: farthest below the chord of the extremes, objectives scaled to [0, 1]; where no
              point is below it (always so with one or two points): least total cost if the front has
              both costs, else the first;
            - ``{"max_test_cost": x}``: least misclassification cost where the test cost is at most x;
            - ``{"max_misclassification_cost": x}``: least test cost, likewise;
            - ``{"exchange_rate": r}``: least misclassification cost + r * test cost, r >= 0;
            - a callable that gets this front and gives an index.

            Ties go to the lowest index; differences of 1e-12 (relative) count as rounding.

        Returns
        -------
        int
            Index of the chosen point.

        Raises
        ------
        TypeError
            If the rule is of no such kind, or a callable gives something else than an index.
        ValueError
            If the rule is unknown, needs an objective that the front lacks, or no point satisfies its bound.
        IndexError
            If a callable gives an index that is not on the front.
        """
        return select(self, rule)

    def evaluate(
        self, X: Any, y: Any, sample_weight: Any = None, example_cost: Any = None
    ) -> FrontEvaluation:
        """Measure every tree on other cases than those of the search.

        A front shows what its trees cost on the cases that chose them; on new cases they cost more, and the
        large ones most.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)
            The features of training. Missing values and categories never seen are allowed.
        y : array-like of shape (n_samples,)
            Labels, from the classes of training.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the cases.
        example_cost : array-like of shape (n_samples, n_classes), optional
            Cost of each answer for each case, instead of the cost matrix.

        Returns
        -------
        FrontEvaluation
            Costs with standard errors, and which points survive; ``to_frame()`` is a table of them.

        Raises
        ------
        ValueError
            The front does not know the table its trees were made for (that of a bare search), a class is
            new, or the table does not fit.
        """
        if self._evaluator is None:
            raise ValueError(
                "this front does not know the features, classes and costs that its trees were made for: "
                "evaluate front_ of a fitted ParetoTreeClassifier (its parameter search takes your search), "
                "or front.attach(cstree.tree.FrontEvaluator(schema, costs))."
            )
        return self._evaluator(self, X, y, sample_weight, example_cost)

    @property
    def evaluator(self) -> Callable[..., FrontEvaluation] | None:
        """What :meth:`evaluate` calls; None where nothing is attached."""
        return self._evaluator

    def attach(self, evaluator: Callable[..., FrontEvaluation]) -> Front[_Tree]:
        """Return this front with something that can measure its trees.

        Parameters
        ----------
        evaluator : callable
            Called as ``evaluator(front, X, y, sample_weight, example_cost)`` by :meth:`evaluate`, such as a
            :class:`~cstree.tree.FrontEvaluator`.

        Returns
        -------
        Front
            Another one, with the same trees.
        """
        attached = copy.copy(self)
        attached._evaluator = evaluator
        return attached

    def hypervolume(self, reference: ArrayLike | None = None) -> float:
        """Volume of what the front dominates below a reference point; larger is better.

        Parameters
        ----------
        reference : array-like of shape (m,), optional
            Upper corner, finite.  Points that are not below it in every objective add nothing.  By default
            the largest value of each objective on this front, so that the extremes add nothing and a single
            point has volume 0; to compare fronts, give all of them the same reference.

        Returns
        -------
        float
            Volume, in the product of the objectives' units.

        Raises
        ------
        TypeError
            If the reference is not made of numbers.
        ValueError
            If the reference does not have one finite number per objective.
        """
        if reference is None:
            return float(_kernels.hypervolume(self._objectives, self._objectives.max(axis=0)))
        corner = _as_numbers(reference, "the reference point")
        names = ", ".join(self._objective_names)
        if corner.shape != (self._objectives.shape[1],):
            raise ValueError(
                f"the reference point needs one number for each of {names}; got shape {corner.shape}"
            )
        if not np.isfinite(corner).all():
            raise ValueError(f"the reference point ({names}) must be finite, got {corner.tolist()}")
        return float(_kernels.hypervolume(self._objectives, corner))

    def to_frame(self) -> pd.DataFrame:
        """Table with one row per point, in the order of the front.

        Returns
        -------
        DataFrame
            A column per objective; ``total_cost`` if both costs are objectives; then, where every tree
            says it, ``n_leaves``, ``depth``, and ``tests``, the number of different features that the tree
            tests.  The index, named ``point``, is that of the front.
        """
        columns: dict[str, Any] = {
            name: self._objectives[:, j] for j, name in enumerate(self._objective_names)
        }
        if MISCLASSIFICATION_COST in columns and TEST_COST in columns:
            columns.setdefault("total_cost", columns[MISCLASSIFICATION_COST] + columns[TEST_COST])
        for name in ("n_leaves", "depth"):
            values = [getattr(tree, name, None) for tree in self._trees]
            if all(isinstance(value, Integral) for value in values):
                columns.setdefault(name, np.array(values, dtype=np.int64))
        if all(callable(getattr(tree, "used_features", None)) for tree in self._trees):
            columns.setdefault("tests", np.array([len(_used_features(tree)) for tree in self._trees]))
        return pd.DataFrame(columns, index=pd.RangeIndex(len(self), name="point"))


def _used_features(tree: Any) -> Sequence[int]:
    features: Sequence[int] = tree.used_features()
    return features
