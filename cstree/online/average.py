"""The mean of weights over the latter part of a stream, at the price of a step per change."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["RunningAverage"]


class RunningAverage:
    """Mean of the weights after each of the last cases: half of those since it began, or more.

    Windows end 1, 2, 4, 8, ... cases after the beginning. The mean goes over the last whole window and the
    one that is still open, so it never asks how long the stream will be, nor depends on how it is cut into
    blocks.

    With ``M = sum_u u D_u`` over the changes ``D_u`` since case ``s`` and ``n = t - s``, the mean of
    ``w_{s+1}, ..., w_t`` is ``w_s + ((t + 1) (w_t - w_s) - M) / n``: kernels keep ``M``, nothing is added up
    where nothing changes.

    Parameters
    ----------
    weights : ndarray of shape (m, d + 1)
        Weights at the beginning.
    case : int
        Number of cases so far.

    Attributes
    ----------
    moments : ndarray of shape (m, d + 1)
        ``M`` of the open window.
    """

    def __init__(self, weights: NDArray[np.float64], case: int) -> None:
        self._origin = self._start = self._middle = case
        self._at_start = self._at_middle = weights.copy()
        self._earlier = np.zeros_like(weights)
        self.moments: NDArray[np.float64] = np.zeros_like(weights)

    @property
    def next_end(self) -> int:
        """Case with which the open window ends."""
        return self._origin + max(1, 2 * (self._middle - self._origin))

    def close(self, weights: NDArray[np.float64]) -> None:
        """End the open window and begin another; ``next_end`` cases have been seen."""
        self._start, self._middle = self._middle, self.next_end
        self._at_start, self._at_middle = self._at_middle, weights.copy()
        self._earlier, self.moments = self.moments, np.zeros_like(weights)

    def mean(self, weights: NDArray[np.float64], case: int) -> NDArray[np.float64]:
        """Mean up to now.

        Parameters
        ----------
        weights : ndarray of shape (m, d + 1)
            Weights now.
        case : int
            Number of cases so far.

        Returns
        -------
        ndarray of shape (m, d + 1)
        """
        n = case - self._start
        if n == 0:
            return weights.copy()
        change = (case + 1) * (weights - self._at_start) - (self._earlier + self.moments)
        return self._at_start + change / n
