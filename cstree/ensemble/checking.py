"""A check for weak learners of one's own; `cstree.testing` offers it."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.utils.validation import has_fit_parameter

from cstree.ensemble.cgada import CGAdaClassifier

__all__ = ["check_weak_learner"]

_LABELS = np.array(["no", "yes"])


def check_weak_learner(estimator: Any, *, n_tables: int = 5, seed: int = 0) -> None:
    """Check that a classifier can be boosted.

    It must be a classifier that scikit-learn can clone and whose ``fit`` takes ``sample_weight``. On random
    tables in which every case stands twice, with both labels, the weights say which label counts; the
    classifier must be wrong about less than half of the weight, whichever it is. It must answer labels that
    it was trained with, leave its parameters and the data alone, and answer the same when trained again with
    the same ``random_state``. Boosted it must survive pickling, unless it was defined in the session at hand.

    Parameters
    ----------
    estimator : classifier
        What would be passed as ``estimator``.
    n_tables : int, default=5
        Number of random tables.
    seed : int, default=0
        Seed of the tables.

    Raises
    ------
    AssertionError
        The classifier fails one of the checks.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from cstree.testing import check_weak_learner
    >>> check_weak_learner(DecisionTreeClassifier(max_depth=1))
    """
    assert not isinstance(estimator, type), "hand over an object, not a class: write ...Classifier()"
    assert hasattr(estimator, "get_params"), "it has no get_params: derive it from sklearn's BaseEstimator"
    assert is_classifier(estimator), "scikit-learn does not take it for a classifier: use ClassifierMixin"
    assert has_fit_parameter(estimator, "sample_weight"), "its fit takes no sample_weight"
    rng = np.random.default_rng(seed)
    for _ in range(n_tables):
        X = rng.normal(size=(40, 3))
        for turned in (False, True):
            _check_table(estimator, X, (X[:, 0] > 0) != turned)
    _check_boosted(estimator, rng)


def _seeded(estimator: Any) -> Any:
    """Copy with a fixed seed."""
    model = clone(estimator)
    seeds = [name for name in model.get_params() if name.rpartition("__")[2] == "random_state"]
    return model.set_params(**dict.fromkeys(seeds, 0))


def _check_table(estimator: Any, X: NDArray[np.float64], counts: NDArray[np.bool_]) -> None:
    """Check a table in which cases stand with both labels; ``counts`` tells for which "yes" is right."""
    both = np.vstack([X, X])
    y = _LABELS[np.repeat([0, 1], len(X))]
    weight = np.where(np.concatenate([~counts, counts]), 1.95, 0.05)
    before = both.copy(), y.copy(), weight.copy()
    model = _seeded(estimator)
    parameters = model.get_params(deep=False)
    fitted = model.fit(both, y, sample_weight=weight)
    assert fitted is model, "fit must return the estimator itself"
    for array, old in zip((both, y, weight), before, strict=True):
        assert np.array_equal(array, old), "fit changed the data or the weights that it was given"
    now = model.get_params(deep=False)
    for name, value in parameters.items():
        assert now[name] is value, f"fit changed the parameter {name!r}"
    said = np.asarray(model.predict(both))
    assert said.shape == (len(both),), f"predict gave the shape {said.shape} for {len(both)} cases"
    assert set(said.tolist()) <= set(_LABELS.tolist()), f"predict gave labels other than {_LABELS.tolist()}"
    wrong = float(weight[said != y].sum() / weight.sum())
    assert wrong < 0.5 - 1e-6, (
        f"it is wrong about {wrong:.3f} of the weight where one feature tells the classes apart: "
        "sample_weight seems not to count"
    )
    again = _seeded(estimator).fit(both, y, sample_weight=weight).predict(both)
    assert np.array_equal(said, again), "trained again with the same random_state it answers otherwise"


def _check_boosted(estimator: Any, rng: np.random.Generator) -> None:
    X = rng.normal(size=(60, 3))
    y = _LABELS[(X.sum(axis=1) > 0).astype(int)]
    model = CGAdaClassifier(estimator=estimator, n_estimators=3, random_state=0).fit(X, y)
    if type(estimator).__module__ == "__main__":
        return  # classes of a session are known to that session only
    try:
        copied = pickle.loads(pickle.dumps(model))
    except Exception as error:
        raise AssertionError(f"a committee of it cannot be pickled: {error}") from error
    assert np.array_equal(copied.predict(X), model.predict(X)), "a pickled committee answers otherwise"
