"""Tables drawn from known distributions, whose best answers are known too."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["make_bayes", "make_two_clouds"]

Floats = NDArray[np.float64]

# Means of the negative and the positive class, and the standard deviation of both coordinates.
_MEANS = np.array([[-1.0, -0.75], [1.0, 0.75]])
_DEVIATION = 1.25
# The annulus of the negative class: centre, inner and outer radius. The positive class fills the unit disc.
_CENTRE = np.array([0.5, 0.25])
_RADII = (0.6, 1.8)


def make_bayes(
    n_samples: int = 1000, *, n_angles: int | None = None, random_state: Any = None
) -> tuple[Floats, NDArray[np.int64]]:
    """Draw two overlapping normal distributions in the plane, whose means are two deviations apart.

    Parameters
    ----------
    n_samples : int, default=1000
        Cases; half of them (rounded down) are positive.
    n_angles : int or None, default=None
        None: the two coordinates. Otherwise so many features, the projections ``x_1 cos t + x_2 sin t`` with
        ``t = k pi / n_angles``: stumps on them cut along lines in many directions.
    random_state : int, Generator, RandomState or None, default=None
        Seed.

    Returns
    -------
    X : ndarray of shape (n_samples, 2) or (n_samples, n_angles)
    y : ndarray of shape (n_samples,)
        0 for negative and 1 for positive cases, in random order.

    Raises
    ------
    ValueError
        ``n_samples`` is below 2, or ``n_angles`` below 1.

    Notes
    -----
    ``x | + ~ N((1, .75), 1.25^2 I)``, ``x | - ~ N((-1, -.75), 1.25^2 I)``. With costs ``C_P`` of missing a
    positive case and ``C_N`` of a false alarm the best answer is "positive" where ``w . x >= ln(C_N /
    C_P)``, ``w = (1.28, 0.96)``; it misses ``Phi(k - 1)`` of the positive and alarms at ``Phi(-k - 1)`` of
    the negative cases, ``k = ln(C_N / C_P) / 2``.

    Examples
    --------
    >>> X, y = make_bayes(20_000, random_state=0)
    >>> missed = X[y == 1] @ [1.28, 0.96] < 0  # costs are equal: Phi(-1) = 0.159
    >>> print(f"{missed.mean():.2f}")
    0.16
    """
    rng, y = _draw_classes(n_samples, random_state)
    X = _MEANS[y] + _DEVIATION * rng.normal(size=(n_samples, 2))
    return _project(X, n_angles), y


def make_two_clouds(
    n_samples: int = 1000, *, n_angles: int | None = None, random_state: Any = None
) -> tuple[Floats, NDArray[np.int64]]:
    """Draw a disc and a ring around another centre, which overlap.

    Parameters
    ----------
    n_samples : int, default=1000
        Cases; half of them (rounded down) are positive.
    n_angles : int or None, default=None
        As in :func:`make_bayes`.
    random_state : int, Generator, RandomState or None, default=None
        Seed.

    Returns
    -------
    X : ndarray of shape (n_samples, 2) or (n_samples, n_angles)
    y : ndarray of shape (n_samples,)
        0 for negative and 1 for positive cases, in random order.

    Raises
    ------
    ValueError
        ``n_samples`` is below 2, or ``n_angles`` below 1.

    Notes
    -----
    Positive cases are uniform on the disc of radius 1 around the origin, negative ones on the ring between
    the radii 0.6 and 1.8 around (0.5, 0.25). The ring holds 0.679 of the positive, the disc 0.236 of the
    negative cases; only these can be mistaken by the best answer, which calls all of them positive where
    that costs less.

    Examples
    --------
    >>> X, y = make_two_clouds(20_000, random_state=0)
    >>> in_disc = np.hypot(*X[y == 0].T) < 1
    >>> print(f"{in_disc.mean():.2f}")
    0.23
    """
    rng, y = _draw_classes(n_samples, random_state)
    inner, outer = np.where(y[:, None], [0.0, 1.0], _RADII).T
    # Areas, not radii, are uniform.
    radius = np.sqrt(rng.uniform(inner**2, outer**2))
    angle = rng.uniform(0, 2 * np.pi, n_samples)
    X = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)]) + np.where(y[:, None], 0.0, _CENTRE)
    return _project(X, n_angles), y


def _draw_classes(n_samples: int, random_state: Any) -> tuple[np.random.Generator, NDArray[np.int64]]:
    """Random generator, and half of the cases positive, in random order."""
    if isinstance(n_samples, bool) or not isinstance(n_samples, (int, np.integer)) or n_samples < 2:
        raise ValueError(f"n_samples must be an integer of at least 2, got {n_samples!r}.")
    if isinstance(random_state, np.random.RandomState):
        random_state = random_state.randint(2**31)
    rng = np.random.default_rng(random_state)
    y = (np.arange(n_samples) >= (n_samples + 1) // 2).astype(np.int64)
    return rng, rng.permutation(y)


def _project(X: Floats, n_angles: int | None) -> Floats:
    if n_angles is None:
        return X
    if isinstance(n_angles, bool) or not isinstance(n_angles, (int, np.integer)) or n_angles < 1:
        raise ValueError(f"n_angles must be an integer of at least 1, or None; got {n_angles!r}.")
    angle = np.arange(n_angles) * (np.pi / n_angles)
    return X @ np.vstack([np.cos(angle), np.sin(angle)])
