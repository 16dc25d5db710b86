"""The linear part of an online learner: its weights, and what is counted on the way."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from cstree.online._kernels import binary_steps, multiclass_steps
from cstree.online.average import RunningAverage
from cstree.online.rows import Rows

__all__ = ["LinearPart"]


class LinearPart:
    """Weights that move case by case.

    Parameters
    ----------
    n_outputs : int
        1 for two classes, else their number.
    n_features : int
        Number of features, d.

    Attributes
    ----------
    weights : ndarray of shape (n_outputs, d + 1)
        The last column holds intercepts.
    """

    def __init__(self, n_outputs: int, n_features: int) -> None:
        self.weights: NDArray[np.float64] = np.zeros((n_outputs, n_features + 1))
        self._state = np.zeros(5)
        self._average: RunningAverage | None = None

    @property
    def n_cases(self) -> int:
        """Number of cases that were learnt from."""
        return int(self._state[0])

    @property
    def n_steps(self) -> int:
        """Number of cases that moved the weights."""
        return int(self._state[2])

    @property
    def n_capped(self) -> int:
        """Number of steps that were as long as their cap."""
        return int(self._state[3])

    @property
    def mean_square(self) -> float:
        """Mean of ``||x||^2`` so far."""
        return float(self._state[1] / max(self._state[0], 1.0))

    def settled(self, average: bool) -> NDArray[np.float64]:
        """Weights to answer with: the last ones, or their running average."""
        if average and self._average is not None:
            return self._average.mean(self.weights, self.n_cases)
        return self.weights

    def begin_anew(self) -> None:
        """Let the average begin here: what went before served other costs."""
        if self._average is not None:
            self._average = RunningAverage(self.weights, self.n_cases)

    def learn_two(
        self,
        rows: Rows,
        cases: NDArray[np.float64],
        scores: NDArray[np.float64],
        passive: bool,
        constant: float,
        scaled: bool,
        average: bool,
    ) -> None:
        """Learn from cases of two classes; ``scores`` (n,) become the answers before each was learnt.

        Parameters
        ----------
        rows : Rows
        cases : ndarray of shape (n, 3)
            Sign, margin and cap of each, as :func:`~cstree.online._kernels.binary_steps` wants them.
        scores : ndarray of shape (n,)
            Of the classifier that is adapted.
        passive : bool
            Steps end where the margin is reached.
        constant : float
            The constant feature; 0 for no intercept.
        scaled : bool
            Caps are divided by the mean of ``||x||^2`` so far.
        average : bool
        """
        flags = np.array([passive, scaled, average])
        self._state[4] = constant**2
        for part, moments in self._parts(len(rows), average):
            binary_steps(
                *(rows.part(part), cases[part], scores[part]), *(self.weights, moments, self._state, flags)
            )

    def learn_many(
        self,
        rows: Rows,
        target: NDArray[np.int32],
        regrets: NDArray[np.float64],
        caps: NDArray[np.float64],
        scores: NDArray[np.float64],
        constant: float,
        scaled: bool,
        average: bool,
    ) -> None:
        """Learn from cases of many classes; ``scores`` (n, K) become the answers before each was learnt.

        Parameters
        ----------
        rows : Rows
        target : ndarray of shape (n, 2)
        regrets : ndarray of shape (any, K)
        caps : ndarray of shape (n,)
            As :func:`~cstree.online._kernels.multiclass_steps` wants them.
        scores : ndarray of shape (n, K)
            Of the classifier that is adapted.
        constant : float
            The constant feature; 0 for no intercept.
        scaled : bool
            Caps are divided by the mean of ``||x||^2`` so far.
        average : bool
        """
        flags = np.array([True, scaled, average])
        self._state[4] = constant**2
        for part, moments in self._parts(len(rows), average):
            what = (target[part], caps[part], regrets)
            multiclass_steps(
                *(rows.part(part), what, scores[part]), *(self.weights, moments, self._state, flags)
            )

    def _parts(self, n: int, average: bool) -> Iterator[tuple[slice, NDArray[np.float64]]]:
        """Cut ``n`` cases where windows of the average end."""
        if not average:
            self._average = None
            yield slice(0, n), np.zeros((len(self.weights), 0))
            return
        if self._average is None:
            self._average = RunningAverage(self.weights, self.n_cases)
        start = 0
        while start < n:
            stop = min(n, start + self._average.next_end - self.n_cases)
            yield slice(start, stop), self._average.moments
            start = stop
            if self.n_cases == self._average.next_end:
                self._average.close(self.weights)
