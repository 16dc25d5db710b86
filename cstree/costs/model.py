"""What mistakes and tests cost, as a value that is given to an estimator."""

from __future__ import annotations

import os
import warnings
from collections.abc import Hashable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from cstree.costs.bound import BoundCosts
from cstree.costs.catalogue import Tests, own_figures, plain_tests, tests_of_columns
from cstree.costs.groups import group_steps
from cstree.costs.labels import Label, closest, counted, listed, plain_labels, plain_names
from cstree.costs.matrix import from_predicted_first, plain_matrix, sorted_labels, warn_if_odd
from cstree.costs.steps import FeatureTest, Operation, plain_operations, step_entries
from cstree.costs.toml import read_costs, write_costs

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["CostModel", "FeatureTest", "from_predicted_first"]


class CostModel:
    """Costs of wrong answers and prices of tests.

    A value: it cannot be changed, is compared by content, and survives `copy`, `pickle` and scikit-learn's
    `clone`. What needs no table is checked when it is made; `bind` checks the rest.

    Parameters
    ----------
    misclassification : array-like of shape (K, K) or {(true, predicted): cost}, optional
        Cost of each answer: rows true, columns predicted. Any finite numbers; negative ones are profits. In
        a mapping right answers cost 0 unless given. A DataFrame with class labels as index and columns is
        read by label. By default a right answer costs 0 and a wrong one 1.
    tests : {name: price or FeatureTest} or array-like of shape (F,), optional
        What it costs to learn a column. A name is the column's, or any name where `FeatureTest` says the
        columns; prices without names are in the order of the table's columns. Columns under no test are free,
        which a warning says; by default all columns are.
    operations : {name: price or (price, (needed, ...))}, optional
        Steps that tests share: on a path each is paid once. An operation may need others, in no circle.
    classes : sequence of labels, optional
        Classes in the order of the matrix, and perhaps more than a table holds. By default the sorted labels
        of the table.
    unit : str, default=""
        What the costs are in, for reports.

    Raises
    ------
    TypeError
        A part has the wrong type.
    ValueError
        Wrong shape, a cost that is not finite, a negative price, an unknown name, or operations that need one
        another in a circle.

    Warns
    -----
    UserWarning
        A wrong answer is cheaper than the right one, or one answer is never dearer than the right one.

    Examples
    --------
    >>> costs = CostModel(
    ...     {("well", "flu"): 3, ("flu", "well"): 6},
    ...     tests={"fever": 0.1, "crp": FeatureTest(0.3, needs=("blood draw",))},
    ...     operations={"blood draw": 0.6},
    ...     unit="EUR",
    ... )
    >>> costs
    CostModel(2 classes, 2 tests, 1 operation, unit='EUR')
    >>> bound = costs.bind(["fever", "crp"], ["flu", "well"])
    >>> round(bound.price(1), 2)
    0.9
    """

    _matrix: NDArray[np.float64] | None
    _classes: tuple[Label, ...] | None
    _tests: Tests
    _operations: dict[str, Operation]
    _unit: str

    def __init__(
        self,
        misclassification: Any = None,
        *,
        tests: Any = None,
        operations: Mapping[str, Any] | None = None,
        classes: Iterable[Any] | None = None,
        unit: str = "",
    ) -> None:
        if not isinstance(unit, str):
            raise TypeError(f"unit is {unit!r}; write text, like unit='EUR'")
        labels = None if classes is None else plain_labels(classes, "classes")
        matrix = None
        if misclassification is not None:
            matrix, labels = plain_matrix(misclassification, labels)
            matrix.setflags(write=False)
        priced = plain_operations(operations)
        _refuse_circles(priced)
        state = {
            "_matrix": matrix,
            "_classes": labels,
            "_tests": plain_tests(tests, priced),
            "_operations": priced,
            "_unit": str(unit),
        }
        self.__dict__.update(state)
        if matrix is not None:
            warn_if_odd(matrix, labels)

    @classmethod
    def binary(
        cls,
        *,
        false_positive: float,
        false_negative: float,
        classes: Sequence[Any] | None = None,
        tests: Any = None,
        operations: Mapping[str, Any] | None = None,
        unit: str = "",
    ) -> CostModel:
        """Costs of a problem with two classes, right answers free.

        Parameters
        ----------
        false_positive : float
            Cost of answering the positive class when the truth is the negative one.
        false_negative : float
            Cost of answering the negative class when the truth is the positive one.
        classes : (negative, positive), optional
            The two labels; by default the smaller one is negative.
        tests, operations, unit : optional
            As in `CostModel`.

        Returns
        -------
        CostModel
            With the matrix ``[[0, false_positive], [false_negative, 0]]``.

        Examples
        --------
        >>> CostModel.binary(false_positive=1, false_negative=20).misclassification.tolist()
        [[0.0, 1.0], [20.0, 0.0]]
        """
        matrix = [[0, false_positive], [false_negative, 0]]
        return cls(matrix, tests=tests, operations=operations, classes=classes, unit=unit)

    @classmethod
    def from_groups(
        cls,
        full: Mapping[str, float],
        discount: Mapping[str, float],
        group: Mapping[str, Sequence[str]],
        *,
        misclassification: Any = None,
        classes: Iterable[Any] | None = None,
        unit: str = "",
    ) -> CostModel:
        """Prices with group discounts, as in Turney's cost files.

        The first test of a group on a path costs its full price, every later one its discount price. The
        difference becomes an operation with the group's name. Where it differs within a group, the test that
        is the first on the path pays its own difference.

        Parameters
        ----------
        full : {feature: price}
            What a test costs alone.
        discount : {feature: price}
            What it costs after another test of its group. Features in no group may be left out.
        group : {name: [feature, ...]}
            The groups; a feature is in one of them or in none.
        misclassification, classes, unit : optional
            As in `CostModel`.

        Returns
        -------
        CostModel
            A test per feature, an operation per group.

        Raises
        ------
        TypeError
            One of the three is not a mapping, or a part has the wrong type.
        ValueError
            A price that is no price, an unknown feature, a feature in two groups, a discount that lacks or
            that is above the full price.

        Examples
        --------
        >>> costs = CostModel.from_groups(
        ...     {"chol": 7.27, "fbs": 5.2}, {"chol": 5.17, "fbs": 3.1}, {"blood draw": ["chol", "fbs"]}
        ... )
        >>> dict(costs.operations)
        {'blood draw': (2.1, ())}
        """
        tests, operations = group_steps(full, discount, group)
        return cls(misclassification, tests=tests, operations=operations, classes=classes, unit=unit)

    @classmethod
    def from_toml(cls, path: str | os.PathLike[str]) -> CostModel:
        """Read a cost file; `cstree.costs.toml` describes its layout.

        Parameters
        ----------
        path : str or path
            The file.

        Returns
        -------
        CostModel
            What the file says.

        Raises
        ------
        OSError
            The file cannot be opened.
        ValueError
            The file is damaged or says something that `CostModel` refuses; the message begins with its name.
        """
        try:
            return cls(**read_costs(path))
        except (TypeError, ValueError) as error:
            raise ValueError(f"{os.fspath(path)}: {error}") from error

    def to_toml(self, path: str | os.PathLike[str]) -> None:
        """Write a cost file that `from_toml` reads into an equal model.

        Parameters
        ----------
        path : str or path
            The file to make or to replace; a crash leaves the old one whole.

        Raises
        ------
        OSError
            The file cannot be written.
        """
        write_costs(
            path,
            {
                "unit": self._unit,
                "classes": self._classes,
                "misclassification": self._matrix,
                "operations": self._operations,
                "tests": self._tests,
            },
        )

    @property
    def misclassification(self) -> NDArray[np.float64] | None:
        """``C[true, predicted]`` of shape (K, K), read-only; None: 0 right, 1 wrong."""
        return self._matrix

    @property
    def tests(self) -> Mapping[str, FeatureTest] | tuple[FeatureTest, ...] | None:
        """Tests by name, or by position of their column; None: all columns are free."""
        return MappingProxyType(self._tests) if isinstance(self._tests, dict) else self._tests

    @property
    def operations(self) -> Mapping[str, Operation]:
        """Price of each operation and the operations it needs."""
        return MappingProxyType(self._operations)

    @property
    def classes(self) -> tuple[Label, ...] | None:
        """Classes in the order of the matrix; None: the sorted labels of the table."""
        return self._classes

    @property
    def unit(self) -> str:
        """What the costs are in."""
        return self._unit

    def bind(
        self, feature_names: Sequence[str], classes: Sequence[Any], *, stacklevel: int = 2
    ) -> BoundCosts:
        """Apply the costs to a table.

        Parameters
        ----------
        feature_names : sequence of str
            Names of the table's F columns.
        classes : sequence of labels
            The table's K classes, in the order of ``classes_``. The model may know more.
        stacklevel : int, default=2
            Where a warning points, as in `warnings.warn`.

        Returns
        -------
        BoundCosts
            Arrays in the order of these features and classes.

        Raises
        ------
        TypeError
            A name or label has a type that it cannot have.
        ValueError
            The model prices columns that the table lacks, or the table has classes that the model lacks.

        Warns
        -----
        UserWarning
            Tests are priced, but some columns are under none.
        """
        names = plain_names(feature_names, "feature", "feature_names")
        labels = plain_labels(classes, "the list of the table's classes")
        matrix = self._matrix_of(labels)
        tests = tests_of_columns(self._tests, names, self._operations)
        free = [name for name in names if name not in tests]
        if free and self._tests is not None:
            warnings.warn(
                f"no test price for {listed(free)}: taken as free; price them at 0 to say so yourself",
                UserWarning,
                stacklevel=stacklevel,
            )
        needed = _closed((test for _, test in tests.values()), self._operations)
        entries = [
            step_entries(*tests[name], self._operations, needed[tests[name][1]]) if name in tests else []
            for name in names
        ]
        test_names = [tests[name][0] if name in tests else "" for name in names]
        return BoundCosts.from_entries(names, labels, self._unit, matrix, test_names, entries)

    def _matrix_of(self, labels: tuple[Label, ...]) -> NDArray[np.float64]:
        """Select the rows and columns of a table's classes."""
        known = self._classes
        if known is None:
            known = sorted_labels(labels)
            if self._matrix is not None and len(self._matrix) != len(known):
                raise ValueError(
                    f"misclassification has shape {self._matrix.shape}, but the table has {len(known)} "
                    f"{'class' if len(known) == 1 else 'classes'}: {listed(known)}; name the classes of the "
                    "matrix with classes=[...], which may be more than the table's"
                )
        for label in labels:
            if label not in known:
                raise ValueError(
                    f"the table has class {label!r}, for which the model has no costs"
                    f"{closest(label, known)}; its classes are {listed(known)}"
                )
        if self._matrix is None:
            return 1.0 - np.eye(len(labels))
        rows = [known.index(label) for label in labels]
        return self._matrix[np.ix_(rows, rows)]

    def _key(self) -> tuple[Hashable, ...]:
        """Give everything that makes two models equal."""
        matrix = None if self._matrix is None else tuple(map(tuple, self._matrix.tolist()))
        tests = frozenset(self._tests.items()) if isinstance(self._tests, dict) else self._tests
        return matrix, self._classes, tests, frozenset(self._operations.items()), self._unit

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, CostModel) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        parts = []
        if self._matrix is not None:
            parts.append(counted(self._matrix, "class", "classes"))
        elif self._classes is not None:
            parts.append(f"{counted(self._classes, 'class', 'classes')} at 0/1")
        else:
            parts.append("0/1")
        parts.append("free tests" if self._tests is None else counted(self._tests, "test", "tests"))
        operations = self._operations.keys() | own_figures(self._tests)
        if operations:
            parts.append(counted(operations, "operation", "operations"))
        if self._unit:
            parts.append(f"unit={self._unit!r}")
        return f"CostModel({', '.join(parts)})"

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError(f"a CostModel cannot be changed; make a new one to set {name!r}")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"a CostModel cannot be changed; make a new one without {name!r}")

    def __copy__(self) -> CostModel:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> CostModel:
        return self

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if self._matrix is not None:
            self._matrix.setflags(write=False)  # pickle forgets it


def _graph(operations: Mapping[str, Operation]) -> nx.DiGraph:
    """Draw an edge from each operation to those it needs."""
    import networkx as nx  # on use: most models have no such needs, and loading it takes a while

    graph = nx.DiGraph()
    graph.add_nodes_from(operations)
    graph.add_edges_from((name, other) for name, (_, needs) in operations.items() for other in needs)
    return graph


def _refuse_circles(operations: Mapping[str, Operation]) -> None:
    """Raise when operations need one another in a circle; the message walks along it."""
    if not any(needs for _, needs in operations.values()):
        return
    import networkx as nx

    try:
        circle = nx.find_cycle(_graph(operations))
    except nx.NetworkXNoCycle:
        return
    walk = " -> ".join([*(edge[0] for edge in circle), circle[0][0]])
    raise ValueError(f"operations need one another in a circle: {walk}; take one of these needs away")


def _closed(
    tests: Iterable[FeatureTest], operations: Mapping[str, Operation]
) -> dict[FeatureTest, list[str]]:
    """List for each test all operations that it needs, directly or through others."""
    every = set(tests)
    if not any(needs for _, needs in operations.values()):
        return {test: list(test.needs) for test in every}
    import networkx as nx

    graph = _graph(operations)
    return {
        test: list(
            dict.fromkeys(
                step
                for direct in test.needs
                for step in (nx.dfs_preorder_nodes(graph, direct) if direct in graph else (direct,))
            )
        )
        for test in every
    }
