"""The lower envelope of cost curves: the best of several classifiers at every operating point."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from cstree.metrics.curve import CostCurve

__all__ = ["LowerEnvelope", "lower_envelope"]


@dataclass(frozen=True, eq=False)
class LowerEnvelope:
    """The least of several cost curves at every operating point; ``m`` straight pieces.

    Attributes
    ----------
    probability_cost : ndarray of shape (m + 1,)
        Where the pieces begin and end, from 0 to 1.
    normalized_expected_cost : ndarray of shape (m + 1,)
        Heights there.
    best : ndarray of shape (m,), intp
        Index of the curve that is least on each piece; ``ALL_NEGATIVE`` (-1) or ``ALL_POSITIVE`` (-2) where
        the best thing is to answer always the same.
    pieces : tuple of m CostCurve
        These curves.
    """

    probability_cost: NDArray[np.float64]
    normalized_expected_cost: NDArray[np.float64]
    best: NDArray[np.intp]
    pieces: tuple[CostCurve, ...]

    ALL_NEGATIVE: ClassVar[int] = -1
    ALL_POSITIVE: ClassVar[int] = -2

    @property
    def area(self) -> float:
        """Area below the envelope: 0 is perfect, 0.25 what the two constant answers reach."""
        widths, heights = np.diff(self.probability_cost), self.normalized_expected_cost
        return float(widths @ (heights[1:] + heights[:-1]) / 2.0)

    def __call__(self, probability_cost: Any) -> Any:
        """Return the least normalised expected cost at operating points.

        Parameters
        ----------
        probability_cost : float or array-like
            Operating points, 0 to 1.

        Returns
        -------
        float or ndarray
            The height of the envelope.
        """
        at = np.asarray(probability_cost, dtype=np.float64)
        piece = np.searchsorted(self.probability_cost[1:-1], at)
        fn = np.array([curve.false_negative_rate for curve in self.pieces])[piece]
        fp = np.array([curve.false_positive_rate for curve in self.pieces])[piece]
        cost = fn * at + fp * (1.0 - at)
        return float(cost) if cost.ndim == 0 else cost


def lower_envelope(curves: Iterable[CostCurve], *, trivial: bool = True) -> LowerEnvelope:
    """Return the least of several cost curves at every operating point, exactly.

    Lines are sorted by falling slope ``FN - FP``; each hides those before it which it undercuts before they
    are least themselves. ``O(K log K)`` for K curves.

    Parameters
    ----------
    curves : iterable of CostCurve
        May be empty when the constant answers are added.
    trivial : bool, default=True
        Add the two classifiers that always answer the same: all negative costs ``PCF``, all positive
        ``1 - PCF``.

    Returns
    -------
    LowerEnvelope

    Raises
    ------
    ValueError
        There is no curve, or one whose test cases lack a class.
    TypeError
        Something is no CostCurve.

    Examples
    --------
    >>> envelope = lower_envelope([CostCurve(false_negative_rate=0.2, false_positive_rate=0.1)])
    >>> envelope.best.tolist(), round(envelope.area, 6)
    ([-1, 0, -2], 0.126263)
    """
    lines: list[tuple[int, CostCurve]] = list(enumerate(curves))
    for index, curve in lines:
        if not isinstance(curve, CostCurve):
            raise TypeError(f"curve {index} is a {type(curve).__name__}; make it with cost_curve")
        if not np.isfinite([curve.false_negative_rate, curve.false_positive_rate]).all():
            raise ValueError(f"a rate of curve {index} is NaN: its test cases lack a class; leave it out")
    if trivial:
        lines.append((LowerEnvelope.ALL_NEGATIVE, CostCurve(1.0, 0.0)))
        lines.append((LowerEnvelope.ALL_POSITIVE, CostCurve(0.0, 1.0)))
    if not lines:
        raise ValueError("lower_envelope wants at least one curve, or trivial=True")
    least = _least_lines(lines)
    points = np.array([0.0, *(start for start, _, _ in least[1:]), 1.0])
    pieces = tuple(curve for _, _, curve in least)
    return LowerEnvelope(
        points,
        np.array([curve(at) for curve, at in zip((*pieces, pieces[-1]), points, strict=True)]),
        np.array([index for _, index, _ in least], dtype=np.intp),
        pieces,
    )


def _least_lines(lines: list[tuple[int, CostCurve]]) -> list[tuple[float, int, CostCurve]]:
    """Lines of the envelope over [0, 1] from left to right, each with the point from which it is least."""
    kept: list[tuple[float, int, CostCurve]] = []
    for index, curve in sorted(lines, key=lambda line: (-_slope(line[1]), line[1].false_positive_rate)):
        if kept and _slope(curve) == _slope(kept[-1][2]):  # parallel to a line that lies no higher
            continue
        while kept and _crossing(kept[-1][2], curve) <= kept[-1][0]:
            kept.pop()
        kept.append((_crossing(kept[-1][2], curve) if kept else -np.inf, index, curve))
    ends = [*(start for start, _, _ in kept[1:]), np.inf]
    return [line for line, end in zip(kept, ends, strict=True) if end > 0.0 and line[0] < 1.0]


def _slope(curve: CostCurve) -> float:
    return curve.false_negative_rate - curve.false_positive_rate


def _crossing(steep: CostCurve, flat: CostCurve) -> float:
    """Operating point from which the flatter of two lines is the lower one."""
    return (flat.false_positive_rate - steep.false_positive_rate) / (_slope(steep) - _slope(flat))
