"""Fitted models as JSON files: readable, exact to the last bit, and safe to load from strangers.

A file holds numbers and names, no code; loading checks everything before a model is built. What is kept: the
parameters, the features, the costs, the classes, the tree, and the whole front where there is one.
"""

from __future__ import annotations

import inspect
import json
import math
import os
import re
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from cstree._io import write_text
from cstree.costs.bound import BoundCosts
from cstree.costs.model import CostModel
from cstree.costs.steps import FeatureTest
from cstree.encoding.columns import plain_scalar
from cstree.encoding.schema import FeatureSchema
from cstree.evolution.classifier import ParetoTreeClassifier
from cstree.greedy.classifier import GreedyTreeClassifier
from cstree.pareto.front import Front
from cstree.tree.front_evaluator import FrontEvaluator
from cstree.tree.tree import Tree

__all__ = ["load_model", "save_model"]

FORMAT, VERSION = "cstree-model", 1

# The only classes that a file may name.
_ESTIMATORS: dict[str, type] = {kind.__name__: kind for kind in (GreedyTreeClassifier, ParetoTreeClassifier)}
_LISTED = " and ".join(_ESTIMATORS)
_DTYPE = re.compile(r"[<>=|][biufUO]\d*")


def save_model(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted model to a JSON file, which `load_model` reads.

    Parameters
    ----------
    model : GreedyTreeClassifier or ParetoTreeClassifier
        Fitted.
    path : str or path
        The file to make or to replace; a crash leaves the old one whole.

    Raises
    ------
    NotFittedError
        The model holds no tree yet.
    TypeError
        It is no estimator of this package that has a tree.
    OSError
        The file cannot be written.

    Warns
    -----
    UserWarning
        A parameter is no plain value (a function, a search object, a random generator); the loaded model will
        have its default. Predictions do not depend on it.
    """
    kind: type = type(model)
    name = kind.__name__
    if kind is not _ESTIMATORS.get(name):
        raise TypeError(f"a {name} cannot be saved as a model; {_LISTED} can")
    check_is_fitted(model, "tree_")
    params, omitted = _plain_params(model)
    if omitted:
        warnings.warn(
            f"not saved, because no plain values: {', '.join(omitted)}; the loaded model has their defaults",
            UserWarning,
            stacklevel=2,
        )
    front = getattr(model, "front_", None)
    plain = {
        "format": FORMAT,
        "version": VERSION,
        "estimator": name,
        "params": params,
        "classes": {"dtype": model.classes_.dtype.str, "labels": model.classes_.tolist()},
        "named_features": hasattr(model, "feature_names_in_"),
        "schema": model.schema_.to_dict(),
        "costs": model.costs_.to_dict(),
        "tree": _tree_or_point(model.tree_, front),
        "front": None if front is None else _plain_front(front),
    }
    write_text(path, json.dumps(plain, ensure_ascii=True, allow_nan=False, separators=(",", ":")) + "\n")


def load_model(path: str | os.PathLike[str]) -> Any:
    """Read a model that `save_model` wrote; it predicts as the saved one did.

    Parameters
    ----------
    path : str or path
        The file. It may come from a stranger: no code in it is run.

    Returns
    -------
    GreedyTreeClassifier or ParetoTreeClassifier
        Fitted.

    Raises
    ------
    OSError
        The file cannot be read.
    ValueError
        It is no model file, damaged, or written by a newer version; the message begins with its name.
    """
    data = Path(path).read_bytes()
    try:
        return _build(_parse(data))
    except (ValueError, TypeError) as error:
        raise ValueError(f"{os.fspath(path)}: {error}") from error


# --- writing --------------------------------------------------------------------------------------


def _plain_params(model: Any) -> tuple[dict[str, Any], list[str]]:
    """Parameters that are plain values, and the names of the others."""
    kept: dict[str, Any] = {}
    omitted = []
    for name, value in model.get_params(deep=False).items():
        if isinstance(value, CostModel):
            kept[name] = _plain_costs(value)
        else:
            plain = _plain_value(value)
            if plain is _NOT_PLAIN:
                omitted.append(name)
            else:
                kept[name] = plain
    return kept, omitted


_NOT_PLAIN = object()


def _plain_value(value: Any) -> Any:
    """Return the JSON value of a plain value, `_NOT_PLAIN` for anything else."""
    value = plain_scalar(value)
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else _NOT_PLAIN
    if isinstance(value, (list, tuple)):
        entries = [_plain_value(entry) for entry in value]
        return _NOT_PLAIN if any(entry is _NOT_PLAIN for entry in entries) else entries
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        pairs = {key: _plain_value(entry) for key, entry in value.items()}
        return _NOT_PLAIN if any(entry is _NOT_PLAIN for entry in pairs.values()) else pairs
    return _NOT_PLAIN


def _plain_costs(costs: CostModel) -> dict[str, Any]:
    tests = costs.tests
    return {
        "misclassification": None if costs.misclassification is None else costs.misclassification.tolist(),
        "tests": {name: _plain_test(test) for name, test in tests.items()}
        if isinstance(tests, Mapping)
        else None
        if tests is None
        else [_plain_test(test) for test in tests],
        "operations": {name: [price, list(needs)] for name, (price, needs) in costs.operations.items()},
        "classes": None if costs.classes is None else list(costs.classes),
        "unit": costs.unit,
    }


def _plain_test(test: FeatureTest) -> dict[str, Any]:
    needs = dict(test.needs) if isinstance(test.needs, Mapping) else list(test.needs)
    return {"price": test.price, "needs": needs, "columns": list(test.columns)}


def _tree_or_point(tree: Tree, front: Front[Tree] | None) -> Any:
    """Return the tree's index on the front, where it is written anyway; else the tree itself."""
    return tree.to_dict() if front is None else _position(tree, front)


def _position(tree: Tree, front: Front[Tree]) -> int:
    for index, other in enumerate(front):
        if other is tree:
            return index
    raise ValueError("the model's tree is not on its front: take one with choose(index)")


def _plain_front(front: Front[Tree]) -> dict[str, Any]:
    info = {str(key): _plain_value(value) for key, value in front.info.items()}
    return {
        "objective_names": list(front.objective_names),
        "objectives": front.objectives.tolist(),
        "complete": front.complete,
        "info": {key: value for key, value in info.items() if value is not _NOT_PLAIN},
        "trees": [tree.to_dict() for tree in front],
    }


# --- reading --------------------------------------------------------------------------------------


def _parse(data: bytes) -> dict[str, Any]:
    """Read strict JSON and check what kind of file it is."""
    try:
        plain = json.loads(data.decode("utf-8"), parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"no model file, or a damaged or truncated one ({error})") from error
    if not isinstance(plain, dict) or plain.get("format") != FORMAT:
        raise ValueError(f"no model file: it does not say that its format is {FORMAT!r}")
    version = plain.get("version")
    if type(version) is not int or version < 1:
        raise ValueError(f"damaged: its version is {version!r}")
    if version > VERSION:
        raise ValueError(
            f"written by a newer cstree (format {version}, this one reads up to {VERSION}): upgrade cstree"
        )
    return plain


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def _get(plain: Mapping[str, Any], key: str, *kinds: type | None) -> Any:
    """Value of a key, if it is of one of these types (None: null)."""
    if key not in plain:
        raise ValueError(f"damaged: {key!r} is missing")
    value = plain[key]
    if type(value) not in kinds and not (value is None and None in kinds):
        raise ValueError(f"damaged: {key!r} is a {type(value).__name__}")
    return value


def _build(plain: dict[str, Any]) -> Any:
    name = _get(plain, "estimator", str)
    if name not in _ESTIMATORS:
        raise ValueError(f"it names the estimator {name!r}; only {_LISTED} are loaded")
    estimator = _ESTIMATORS[name]
    model = estimator(**_read_params(estimator, _get(plain, "params", dict)))
    schema = FeatureSchema.from_dict(_get(plain, "schema", dict))
    costs = BoundCosts.from_dict(_get(plain, "costs", dict))
    classes = _read_classes(_get(plain, "classes", dict))
    if costs.feature_names != schema.names:
        raise ValueError("damaged: costs and schema name different features")
    if list(costs.classes) != classes.tolist():
        raise ValueError("damaged: the costs name other classes than the model")
    n_bins = [len(feature.categories) for feature in schema]
    front = _read_front(_get(plain, "front", dict, None), n_bins, len(classes))
    tree = _read_tree(_get(plain, "tree", dict, int), front, n_bins, len(classes))
    model.classes_, model.n_classes_ = classes, len(classes)
    model.schema_, model.costs_, model.tree_ = schema, costs, tree
    model.n_features_in_ = len(schema)
    if _get(plain, "named_features", bool):
        model.feature_names_in_ = np.array(schema.names, dtype=object)
    if front is not None:
        named = hasattr(model, "feature_names_in_")
        model.front_ = front.attach(FrontEvaluator(schema, costs, named_features=named))
        model.selected_ = _position(tree, front)
    return model


def _read_params(estimator: type, plain: dict[str, Any]) -> dict[str, Any]:
    known = inspect.signature(estimator).parameters
    params = {}
    for name, value in plain.items():
        if name not in known:
            raise ValueError(f"damaged: {estimator.__name__} has no parameter {name!r}")
        if name == "costs" and isinstance(value, dict):
            value = _read_costs(value)
        elif isinstance(value, list) and isinstance(known[name].default, tuple):
            value = tuple(value)
        params[name] = value
    return params


def _read_costs(plain: dict[str, Any]) -> CostModel:
    tests = _get(plain, "tests", dict, list, None)
    if isinstance(tests, dict):
        tests = {name: _read_test(test) for name, test in tests.items()}
    elif isinstance(tests, list):
        tests = [_read_test(test) for test in tests]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # whoever made these costs was warned
        return CostModel(
            _get(plain, "misclassification", list, None),
            tests=tests,
            operations=_get(plain, "operations", dict),
            classes=_get(plain, "classes", list, None),
            unit=_get(plain, "unit", str),
        )


def _read_test(plain: Any) -> FeatureTest:
    if not isinstance(plain, dict):
        raise ValueError(f"damaged: the test {plain!r} is not an object")
    return FeatureTest(
        _get(plain, "price", float, int), _get(plain, "needs", dict, list), _get(plain, "columns", list)
    )


def _read_classes(plain: dict[str, Any]) -> NDArray[Any]:
    dtype, labels = _get(plain, "dtype", str), _get(plain, "labels", list)
    if not _DTYPE.fullmatch(dtype):
        raise ValueError(f"damaged: {dtype!r} is no dtype of class labels")
    try:
        classes = np.array(labels, dtype=dtype)
    except (ValueError, TypeError, OverflowError) as error:
        raise ValueError(f"damaged: the class labels are not of dtype {dtype!r}") from error
    if classes.ndim != 1 or len(classes) == 0:
        raise ValueError("damaged: the class labels are no list")
    return classes


def _read_front(plain: dict[str, Any] | None, n_bins: list[int], n_classes: int) -> Front[Tree] | None:
    if plain is None:
        return None
    objectives = _get(plain, "objectives", list)
    trees = [
        Tree.from_dict(_as_dict(tree), n_bins=n_bins, n_classes=n_classes)
        for tree in _get(plain, "trees", list)
    ]
    front = Front(
        objectives,
        trees,
        objective_names=_get(plain, "objective_names", list),
        complete=_get(plain, "complete", bool),
        info=_get(plain, "info", dict),
    )
    # The constructor sorts and drops what is dominated: a whole file gives back exactly what it holds.
    if front.objectives.tolist() != objectives:
        raise ValueError("damaged: the points of the front are not in order, or dominated")
    return front


def _read_tree(plain: Any, front: Front[Tree] | None, n_bins: list[int], n_classes: int) -> Tree:
    if front is None:
        return Tree.from_dict(_as_dict(plain), n_bins=n_bins, n_classes=n_classes)
    if type(plain) is not int or not 0 <= plain < len(front):
        raise ValueError(f"damaged: its tree is point {plain!r} of a front that has no such point")
    return front[plain]


def _as_dict(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"damaged: a tree is a {type(value).__name__}")
    return value
