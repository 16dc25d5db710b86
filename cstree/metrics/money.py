"""What answers and tests cost, on average per case."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from cstree.costs.model import CostModel
from cstree.encoding.columns import Columns
from cstree.metrics.answers import named_costs, read_answers, read_weight

__all__ = ["judge", "misclassification_cost", "savings_score", "test_cost", "total_cost"]


def misclassification_cost(
    y_true: Any,
    y_pred: Any,
    costs: Any = None,
    *,
    labels: Any = None,
    sample_weight: Any = None,
    example_cost: Any = None,
) -> float:
    """Average cost of the answers, ``AMC = (1/n) sum_i C[y_i, z_i]``.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        The truth ``y``.
    y_pred : array-like of shape (n_samples,)
        The answers ``z``.
    costs : CostModel, BoundCosts, array-like of shape (K, K), {(true, predicted): cost} or None
        What answers cost; rows are true classes, columns answers. None: a wrong one costs 1.
    labels : sequence of labels, optional
        The K classes in the order of a bare matrix and of ``example_cost``. By default those that
        ``costs`` names, else the sorted labels of both lists.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the cases.
    example_cost : array-like of shape (n_samples, K), optional
        Cost of each answer for each case; replaces the matrix.

    Returns
    -------
    float
        In the unit of the costs, per unit of weight. Lower is better.

    Raises
    ------
    ValueError
        A class without costs, a matrix of the wrong size, missing labels, bad weights.

    Examples
    --------
    >>> misclassification_cost(["ill", "well"], ["well", "well"], {("ill", "well"): 90, ("well", "ill"): 10})
    45.0
    """
    return read_answers(y_true, y_pred, costs, labels, sample_weight, example_cost).average_cost()


def savings_score(
    y_true: Any,
    y_pred: Any,
    costs: Any = None,
    *,
    labels: Any = None,
    sample_weight: Any = None,
    example_cost: Any = None,
) -> float:
    """Share of the cost of the best constant answer that the answers save.

    ``1 - AMC / min_k (1/n) sum_i C[y_i, k]``. For any number of classes; one minus it is the normalised cost.

    Parameters
    ----------
    y_true, y_pred, costs, labels, sample_weight, example_cost
        As in :func:`misclassification_cost`.

    Returns
    -------
    float
        At most 1 where no cost is negative; 0 for the best constant answer, negative for worse ones. NaN
        where the best constant answer costs nothing (or less): there is nothing to save.

    Raises
    ------
    ValueError
        As :func:`misclassification_cost`.

    Examples
    --------
    >>> savings_score([0, 0, 0, 1], [0, 1, 0, 1], [[0, 1], [6, 0]])
    0.6666666666666667
    """
    answers = read_answers(y_true, y_pred, costs, labels, sample_weight, example_cost)
    best = float(answers.constant_costs().min())
    return 1.0 - answers.average_cost() / best if best > 0 else float("nan")


def test_cost(model: Any, X: Any, costs: CostModel | None = None, *, sample_weight: Any = None) -> float:
    """Average price of the tests that cases take when a model answers them.

    Parameters
    ----------
    model : fitted classifier
        One with ``test_cost(X)``: each case pays for the tests on its way; also at the end of a pipeline, or
        inside a search over parameters. Any other classifier reads the whole table: each case pays for
        all tests that ``costs`` prices.
    X : DataFrame or array-like of shape (n_samples, n_features)
        Cases.
    costs : CostModel, optional
        Prices of tests. By default, or if it prices none, the model's own.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the cases.

    Returns
    -------
    float
        In the unit of the prices, per unit of weight.

    Raises
    ------
    ValueError
        ``costs`` prices columns that the table lacks, or bad weights.
    """
    prices = _case_prices(model, X, costs)
    weight = read_weight(sample_weight, len(prices))
    return float(prices @ weight / weight.sum())


# A test runner that collects functions by their names shall leave this one alone.
test_cost.__test__ = False  # type: ignore[attr-defined]


def total_cost(
    model: Any,
    X: Any,
    y: Any,
    costs: Any = None,
    *,
    sample_weight: Any = None,
    example_cost: Any = None,
) -> float:
    """Average misclassification cost of a model's answers plus average price of its tests.

    Parameters
    ----------
    model : fitted classifier
        As in :func:`test_cost`.
    X : DataFrame or array-like of shape (n_samples, n_features)
        Cases.
    y : array-like of shape (n_samples,)
        The truth.
    costs : CostModel, array-like of shape (K, K) or {(true, predicted): cost}, optional
        What is paid. By default the costs that the model was trained with. A matrix says nothing of tests:
        their prices are the model's own.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the cases.
    example_cost : array-like of shape (n_samples, K), optional
        Cost of each answer for each case, in the order of the model's ``classes_``; replaces the matrix.

    Returns
    -------
    float
        In the unit of the costs, per unit of weight. Lower is better.

    Raises
    ------
    ValueError
        As :func:`misclassification_cost` and :func:`test_cost`.
    """
    own = getattr(_last_step(model), "costs_", None) if costs is None else costs
    wrong = judge(model, X, y, own, sample_weight, example_cost)
    return wrong + test_cost(model, X, costs, sample_weight=sample_weight)


def judge(
    model: Any, X: Any, y: Any, costs: Any, sample_weight: Any = None, example_cost: Any = None
) -> float:
    """Average misclassification cost of a model's answers; a bare matrix is in the order of its classes.

    Parameters
    ----------
    model : fitted classifier
        What answers.
    X : DataFrame or array-like of shape (n_samples, n_features)
        Cases.
    y : array-like of shape (n_samples,)
        The truth.
    costs, sample_weight, example_cost
        As in :func:`misclassification_cost`.

    Returns
    -------
    float
        In the unit of the costs.
    """
    labels = _label_order(model, costs, example_cost)
    return misclassification_cost(
        y, model.predict(X), costs, labels=labels, sample_weight=sample_weight, example_cost=example_cost
    )


def _label_order(model: Any, costs: Any, example_cost: Any) -> Any:
    """Return the model's classes where costs are in their order; None where the costs name their own."""
    known, matrix = named_costs(costs)
    classes = getattr(model, "classes_", None)
    if classes is None:
        return None
    if example_cost is not None:
        return classes if known is None or np.shape(example_cost)[-1:] == (len(classes),) else None
    return classes if known is None and matrix is not None and len(matrix) == len(classes) else None


def _case_prices(model: Any, X: Any, costs: Any) -> NDArray[np.float64]:
    """Return what each case pays for tests, shape (n_samples,)."""
    priced = isinstance(costs, CostModel) and costs.tests is not None
    last, table = model, X
    while not hasattr(last, "test_cost"):
        if hasattr(last, "best_estimator_"):
            last = last.best_estimator_
        elif isinstance(last, Pipeline):
            table = _before_last(last, table)
            last = last[-1]
        else:
            price = _price_of_all(costs, X) if priced else 0.0
            return np.full(Columns(X).n_samples, price)
    if priced and "costs" in inspect.signature(last.test_cost).parameters:
        return np.asarray(last.test_cost(table, costs=costs), dtype=np.float64)
    return np.asarray(last.test_cost(table), dtype=np.float64)


def _before_last(pipeline: Pipeline, X: Any) -> Any:
    """Transform a table as a pipeline does before its last step; samplers sleep except in training."""
    for _, step in pipeline.steps[:-1]:
        if step not in (None, "passthrough") and not hasattr(step, "fit_resample"):
            X = step.transform(X)
    return X


def _last_step(model: Any) -> Any:
    """Take the classifier out of searches and pipelines."""
    while True:
        if hasattr(model, "best_estimator_"):
            model = model.best_estimator_
        elif isinstance(model, Pipeline):
            model = model[-1]
        else:
            return model


def _price_of_all(costs: CostModel, X: Any) -> float:
    """Price of testing every column of a table, each step once."""
    # Which classes there are does not matter to prices.
    prices = CostModel(tests=costs.tests, operations=costs.operations).bind(Columns(X).names, [0, 1])
    paid: set[int] = set()
    total = 0.0
    for feature in range(prices.n_features):
        for step, price in prices.newly_paid(feature, paid):
            paid.add(step)
            total += price
    return total
