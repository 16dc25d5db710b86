"""Cost curves: normalised expected cost of a two-class problem at every operating point."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cstree.costs.labels import Label, counted, listed, plain_label, plain_labels
from cstree.costs.matrix import sorted_labels
from cstree.metrics.answers import cost_table, named_costs, read_labels, read_weight

__all__ = [
    "CostCurve",
    "cost_curve",
    "normalized_expected_cost",
    "probability_cost",
    "recognition_rate",
    "threshold_cost_curves",
]

_ANY_NUMBER = "savings_score takes any number"


@dataclass(frozen=True)
class CostCurve:
    """The cost curve of one classifier: a straight line from (0, FP) to (1, FN).

    Attributes
    ----------
    false_negative_rate : float
        Share of the positive cases that are answered negative; NaN without positive cases.
    false_positive_rate : float
        Share of the negative cases that are answered positive; NaN without negative cases.
    threshold : float or None
        Where scores of at least this much are answered positive; None for answers without scores.
    """

    false_negative_rate: float
    false_positive_rate: float
    threshold: float | None = None

    def __call__(self, probability_cost: Any) -> Any:
        """Return ``NEC = FN * PCF + FP * (1 - PCF)``.

        Parameters
        ----------
        probability_cost : float or array-like
            Operating points, 0 to 1; see :func:`probability_cost`.

        Returns
        -------
        float or ndarray
            Normalised expected cost, 0 to 1.
        """
        at = np.asarray(probability_cost, dtype=np.float64)
        cost = self.false_negative_rate * at + self.false_positive_rate * (1.0 - at)
        return float(cost) if cost.ndim == 0 else cost


def cost_curve(
    y_true: Any, y_pred: Any, *, pos_label: Any = None, labels: Any = None, sample_weight: Any = None
) -> CostCurve:
    """Return the cost curve of a classifier's answers (Drummond and Holte).

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        The truth.
    y_pred : array-like of shape (n_samples,)
        The answers.
    pos_label : label, optional
        The positive class; all others are negative. By default the second of two.
    labels : sequence of labels, optional
        The classes; by default the sorted labels of both lists.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the cases.

    Returns
    -------
    CostCurve
        Holds both error rates; called with operating points it gives costs. A rate is NaN where the
        test cases lack its class.

    Raises
    ------
    ValueError
        There are not two classes and ``pos_label`` is not given, or it is no class.

    Examples
    --------
    >>> curve = cost_curve([0, 0, 0, 0, 1, 1], [0, 0, 0, 1, 1, 0])
    >>> curve.false_negative_rate, curve.false_positive_rate, curve(0.9)
    (0.5, 0.25, 0.475)
    """
    return _curve(*_positives(y_true, y_pred, pos_label, labels, sample_weight))


def threshold_cost_curves(
    y_true: Any, y_score: Any, *, pos_label: Any = None, labels: Any = None, sample_weight: Any = None
) -> list[CostCurve]:
    """Return the cost curves of all thresholds on a classifier's scores.

    Their :func:`~cstree.metrics.lower_envelope` is what the classifier costs when its threshold fits each
    operating point.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        The truth.
    y_score : array-like of shape (n_samples,)
        Scores or probabilities of the positive class.
    pos_label, labels, sample_weight
        As in :func:`cost_curve`.

    Returns
    -------
    list of CostCurve
        By falling ``threshold``, from infinity (all cases are answered negative) to the least score
        (all positive).

    Raises
    ------
    ValueError
        As :func:`cost_curve`; or a score that is not a number.

    Examples
    --------
    >>> for curve in threshold_cost_curves([0, 1, 1], [0.2, 0.1, 0.7]):
    ...     print(curve)
    CostCurve(false_negative_rate=1.0, false_positive_rate=0.0, threshold=inf)
    CostCurve(false_negative_rate=0.5, false_positive_rate=0.0, threshold=0.7)
    CostCurve(false_negative_rate=0.5, false_positive_rate=1.0, threshold=0.2)
    CostCurve(false_negative_rate=0.0, false_positive_rate=1.0, threshold=0.1)
    """
    positive, _, weight = _positives(y_true, y_true, pos_label, labels, sample_weight)
    score = np.asarray(y_score, dtype=np.float64)
    if score.shape != positive.shape:
        raise ValueError(
            f"y_score has shape {score.shape} for {len(positive)} cases: give one score per case"
        )
    if np.isnan(score).any():
        raise ValueError(f"y_score of case {int(np.argmax(np.isnan(score)))} is NaN: give a number")
    order = np.argsort(-score, kind="stable")
    last = np.append(np.flatnonzero(np.diff(score[order])), len(order) - 1)
    of_positives = np.append(0.0, np.cumsum((weight * positive)[order])[last])
    of_negatives = np.append(0.0, np.cumsum((weight * ~positive)[order])[last])
    thresholds = np.append(np.inf, score[order][last])
    n_positive, n_negative = of_positives[-1], of_negatives[-1]
    return [
        CostCurve(_ratio(n_positive - found, n_positive), _ratio(false, n_negative), float(threshold))
        for found, false, threshold in zip(of_positives, of_negatives, thresholds, strict=True)
    ]


def recognition_rate(
    y_true: Any, y_pred: Any, *, pos_label: Any = None, labels: Any = None, sample_weight: Any = None
) -> float:
    """Share of the cases of the positive class that are recognised, ``1 - FN``.

    Parameters
    ----------
    y_true, y_pred, pos_label, labels, sample_weight
        As in :func:`cost_curve`.

    Returns
    -------
    float
        0 to 1; NaN without positive cases.

    Raises
    ------
    ValueError
        As :func:`cost_curve`.

    Examples
    --------
    >>> recognition_rate(["owner", "owner", "guest"], ["owner", "guest", "guest"], pos_label="owner")
    0.5
    """
    positive, answered, weight = _positives(y_true, y_pred, pos_label, labels, sample_weight)
    return _ratio(weight @ (positive & answered), weight @ positive)


def probability_cost(costs: Any, positive_prior: Any, *, pos_label: Any = None, labels: Any = None) -> Any:
    """Return the operating point, ``PCF = p(+) C_P / (p(+) C_P + p(-) C_N)``.

    ``C_P = C[+, -] - C[+, +]`` is what a false negative costs more than the right answer, ``C_N`` the same
    for a false positive.

    Parameters
    ----------
    costs : CostModel, BoundCosts, array-like of shape (2, 2), {(true, predicted): cost} or None
        Costs of two classes.
    positive_prior : float or array-like
        ``p(+)``, 0 to 1.
    pos_label : label, optional
        The positive class; by default the second of ``labels`` or of the classes that ``costs`` names.
    labels : sequence of two labels, optional
        The classes of a bare matrix; by default 0 and 1.

    Returns
    -------
    float or ndarray
        0 to 1. With a prior of 1/2 this is the asymmetry ``C_P / (C_P + C_N)``.

    Raises
    ------
    ValueError
        There are not two classes, a prior is outside 0 to 1, or a mistake is no dearer than the right answer.

    Examples
    --------
    >>> probability_cost([[0, 1], [9, 0]], 0.1)
    0.5
    """
    given, matrix = named_costs(costs)
    if labels is None and given is None:
        labels = range(2 if matrix is None else len(matrix))
    classes, matrix = cost_table(costs, labels)
    positive = _two_classes(classes, pos_label, _ANY_NUMBER)
    prior = np.asarray(positive_prior, dtype=np.float64)
    if not ((prior >= 0) & (prior <= 1)).all():
        raise ValueError(f"positive_prior is {positive_prior!r}: a prior is a number from 0 to 1")
    dear = matrix - np.diag(matrix)[:, None]
    c_p, c_n = dear[positive, 1 - positive], dear[1 - positive, positive]
    if c_p < 0 or c_n < 0 or c_p + c_n == 0:
        raise ValueError(
            f"a wrong answer costs {c_p:g} more than the right one for {classes[positive]!r} and "
            f"{c_n:g} more for {classes[1 - positive]!r}: normalised costs want both >= 0, and not both 0"
        )
    of_positives, of_negatives = prior * c_p, (1.0 - prior) * c_n
    with np.errstate(invalid="ignore"):  # a class that is sure, and whose mistakes are free: 0 / 0
        point = of_positives / (of_positives + of_negatives)
    return float(point) if point.ndim == 0 else point


def normalized_expected_cost(
    y_true: Any,
    y_pred: Any,
    costs: Any = None,
    *,
    positive_prior: float | None = None,
    pos_label: Any = None,
    labels: Any = None,
    sample_weight: Any = None,
) -> float:
    """Return ``NEC = FN * PCF + FP * (1 - PCF)``: 0 for no mistake, 1 for nothing but mistakes.

    With right answers free and the prior of the test cases, the average misclassification cost is
    ``NEC * (p(+) C_P + p(-) C_N)``.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        The truth.
    y_pred : array-like of shape (n_samples,)
        The answers.
    costs : CostModel, BoundCosts, array-like of shape (2, 2), {(true, predicted): cost} or None
        Costs of two classes. None: every mistake costs 1.
    positive_prior : float, optional
        ``p(+)`` where the classifier is used; by default the share of positive test cases.
    pos_label : label, optional
        The positive class; by default the second of the two.
    labels : sequence of two labels, optional
        The classes in the order of a bare matrix. By default those that ``costs`` names, else the sorted
        labels of both lists.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the cases.

    Returns
    -------
    float
        NaN where the test cases lack a class. For more than two classes see
        :func:`~cstree.metrics.savings_score`.

    Raises
    ------
    ValueError
        As :func:`cost_curve` and :func:`probability_cost`.

    Examples
    --------
    >>> normalized_expected_cost([0, 0, 0, 0, 1, 1], [0, 0, 0, 1, 1, 0], [[0, 1], [18, 0]])
    0.475
    """
    if labels is None:
        seen = (*read_labels(y_true, "y_true")[1], *read_labels(y_pred, "y_pred")[1])
        labels = cost_table(costs, None, seen)[0]
    _two_classes(plain_labels(labels, "labels"), pos_label, _ANY_NUMBER)
    positive, answered, weight = _positives(y_true, y_pred, pos_label, labels, sample_weight)
    prior = _ratio(weight @ positive, weight.sum()) if positive_prior is None else positive_prior
    at = probability_cost(costs, prior, pos_label=pos_label, labels=labels)
    return float(_curve(positive, answered, weight)(at))


def _positives(
    y_true: Any, y_pred: Any, pos_label: Any, labels: Any, sample_weight: Any
) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.float64]]:
    """Tell which cases are positive and which are answered so, and their weights."""
    true, true_labels = read_labels(y_true, "y_true")
    predicted, predicted_labels = read_labels(y_pred, "y_pred")
    if len(true) != len(predicted):
        raise ValueError(f"y_true has {len(true)} labels, y_pred {len(predicted)}: give one of each per case")
    seen = tuple(dict.fromkeys((*true_labels, *predicted_labels)))
    classes = sorted_labels(seen) if labels is None else plain_labels(labels, "labels")
    for label in seen:
        if label not in classes:
            raise ValueError(f"class {label!r} is not among labels: {listed(classes)}")
    if pos_label is None:
        positive = classes[_two_classes(classes, None, "name the one that matters with pos_label")]
    else:
        positive = plain_label(pos_label)
        if labels is not None and positive not in classes:
            raise ValueError(f"pos_label {positive!r} is not among labels: {listed(classes)}")
    is_positive = np.array([label == positive for label in true_labels])[true]
    answered = np.array([label == positive for label in predicted_labels])[predicted]
    return is_positive, answered, read_weight(sample_weight, len(true))


def _two_classes(classes: tuple[Label, ...], pos_label: Any, remedy: str) -> int:
    """Index of the positive one of two classes, by default the second."""
    if len(classes) != 2:
        what = counted(classes, "class", "classes")
        if len(classes) == 1:
            remedy = "name both with labels=[negative, positive]"
        raise ValueError(f"there should be two classes, but there are {what}: {listed(classes)}; {remedy}")
    if pos_label is None:
        return 1
    if plain_label(pos_label) not in classes:
        raise ValueError(f"pos_label {pos_label!r} is no class; the classes are {listed(classes)}")
    return classes.index(plain_label(pos_label))


def _curve(
    positive: NDArray[np.bool_], answered: NDArray[np.bool_], weight: NDArray[np.float64]
) -> CostCurve:
    missed, false = weight @ (positive & ~answered), weight @ (~positive & answered)
    return CostCurve(_ratio(missed, weight @ positive), _ratio(false, weight @ ~positive))


def _ratio(part: Any, whole: Any) -> float:
    return float(part / whole) if whole > 0 else float("nan")
