"""All decision stumps of a table: judged together in every round, from one pass over the codes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cstree.encoding.columns import Columns
from cstree.encoding.dataset import Dataset
from cstree.encoding.schema import FeatureSchema, code_dtype
from cstree.ensemble._stump_kernels import (
    add_stump_votes,
    least_wrong,
    list_sides,
    sum_by_code,
)
from cstree.ensemble.learners import TIE, Choice, WeakLearners, first_least

__all__ = ["Questions", "Stump", "StumpPool", "add_votes", "constant_stump"]

Floats = NDArray[np.float64]

# A feature whose commonest code has this share of the cases is summed over the others only.
_SHARED = 2 / 3


@dataclass(frozen=True)
class Stump:
    """One question about one feature, and an answer to either outcome; or one answer to all cases.

    Attributes
    ----------
    feature : int
        Index of the feature; -1 for a constant answer.
    name : str
        Its name; empty for a constant answer.
    cut : float
        Numeric feature: whether the value is greater. Categorical feature: whether it is the category with
        this code. Infinity, or code -1: whether the value is missing.
    category : str, int, float, bool or None
        The category of a categorical feature.
    is_categorical : bool
    missing_says_yes : bool
        To which side missing values and unknown categories belong.
    answers : (int, int)
        Class index for "no" and for "yes".
    labels : (label, label)
        The classes that these are.
    """

    feature: int
    name: str
    cut: float
    category: Any
    is_categorical: bool
    missing_says_yes: bool
    answers: tuple[int, int]
    labels: tuple[Any, Any]

    def answer(self, schema: FeatureSchema, columns: Columns) -> NDArray[np.intp]:
        """Class index that the stump answers for each case, shape (n_samples,).

        Parameters
        ----------
        schema : FeatureSchema
            That of the table on which the stump was found.
        columns : Columns
            The cases.
        """
        scores = np.zeros((1, columns.n_samples))
        add_votes([self], np.array([[self.answers]], dtype=np.float64), schema, columns, scores)
        return scores[0].astype(np.intp)

    def __str__(self) -> str:
        no, yes = self.labels
        if self.feature < 0:
            return f"always {no}"
        if self.is_categorical:
            asked = f"{self.name} = {self.category}" if self.cut >= 0 else f"{self.name} is missing"
        else:
            asked = f"{self.name} > {self.cut:g}" if np.isfinite(self.cut) else f"{self.name} is missing"
        return f"{asked}: {yes}, else {no}"


def constant_stump(answer: int, classes: NDArray[Any]) -> Stump:
    """Return the stump that answers one class to all cases.

    Parameters
    ----------
    answer : int
        Class index.
    classes : ndarray of shape (n_classes,)
    """
    label = classes[answer : answer + 1].tolist()[0]
    return Stump(-1, "", np.inf, None, False, False, (answer, answer), (label, label))


@dataclass(frozen=True, eq=False)
class Questions:
    """Every question that stumps ask of a table, in the order of the pool.

    Numeric feature: is the code greater than ``code``, for every cut; where the training column has missing
    values, once with them under "no" and once under "yes", and last whether the value is missing.
    Categorical feature: is it this code, for every category, and where values are missing, for them
    (with two codes in all, only the first is asked).

    Attributes
    ----------
    features : ndarray of shape (F, 4), int64
        First code; codes of known values; whether categorical; whether values are missing.
    feature, code : ndarray of shape (Q,), int64
    missing_says_yes : ndarray of shape (Q,), int8
        -1: no case had a missing value.
    """

    features: NDArray[np.int64]
    feature: NDArray[np.int64]
    code: NDArray[np.int64]
    missing_says_yes: NDArray[np.int8]

    @classmethod
    def of(cls, schema: FeatureSchema) -> Questions:
        """List the questions about the features of a schema."""
        features = np.zeros((len(schema), 4), dtype=np.int64)
        parts: list[tuple[int, NDArray[np.int64], NDArray[np.int8]]] = []
        first = 0
        for j, feature in enumerate(schema):
            categorical, missing = feature.kind == "categorical", feature.has_missing
            features[j] = first, feature.n_bins, categorical, missing
            first += feature.n_bins + 1
            if categorical:
                n = feature.n_bins + missing
                codes = np.arange(n if n > 2 else max(n - 1, 0))
                parts.append((j, codes, (codes == feature.missing_code).astype(np.int8)))
            elif missing:
                codes = np.repeat(np.arange(feature.n_bins), 2)
                says = np.tile(np.array([0, 1], dtype=np.int8), feature.n_bins)
                kept = np.ones(len(codes), dtype=bool)
                kept[-2:-1] = False  # no known value is greater than the last code
                parts.append((j, codes[kept], says[kept]))
            else:
                codes = np.arange(feature.n_bins - 1)
                parts.append((j, codes, np.full(len(codes), -1, dtype=np.int8)))
        return cls(
            features,
            np.concatenate([np.full(len(codes), j) for j, codes, _ in parts]).astype(np.int64),
            np.concatenate([codes for _, codes, _ in parts]).astype(np.int64),
            np.concatenate([says for _, _, says in parts]).astype(np.int8),
        )

    def __len__(self) -> int:
        return len(self.feature)

    def outcomes(self, index: int) -> NDArray[np.bool_]:
        """Tell for every code of its feature (missing last) whether a question is answered with "yes"."""
        feature, code = int(self.feature[index]), int(self.code[index])
        _, n_known, categorical, _ = self.features[feature].tolist()
        codes = np.arange(n_known + 1)
        yes = codes == code if categorical else codes > code
        if not categorical:
            yes[n_known] = self.missing_says_yes[index] == 1
        return yes


class StumpPool(WeakLearners):
    """All stumps on a table, with both polarities, and the constant answers, which come first.

    Parameters
    ----------
    dataset : Dataset
    classes : ndarray of shape (n_classes,)

    Notes
    -----
    A round sums weights by feature, code and class, O(q n), and all stumps from these sums. Candidates in
    order: a constant answer for each class, "yes" means ``classes_[1]`` for every question, "yes" means
    ``classes_[0]`` for every question. With more than two classes each side answers its heaviest class.
    """

    def __init__(self, dataset: Dataset, classes: NDArray[Any]) -> None:
        self._schema, self._classes, self._codes = dataset.schema, classes, dataset.codes
        self._y = dataset.y.astype(np.intp)
        self.questions = Questions.of(dataset.schema)
        self._lay_out()
        self._totals = np.empty((int((self.questions.features[:, 1] + 1).sum()), len(classes)))
        self._sides = np.empty((2, len(classes), len(self.questions)))
        self._errors = np.zeros((2, self.n_candidates))
        self._sum_sides(dataset.weights() / dataset.total_weight)
        no, yes = self._sides.sum(axis=1)
        self._heavier_says_yes = yes > no

    def _lay_out(self) -> None:
        """Cells of all cases, in the form that :func:`sum_by_code` takes."""
        K, n = len(self._classes), len(self._y)
        features = self.questions.features
        dtype = code_dtype(int((features[:, 1] + 1).max()) * K)
        dense: list[int] = []
        lists, shares, rows = [], [], []
        for j, (start, n_known) in enumerate(features[:, :2].tolist()):
            counts = np.bincount(self._codes[j], minlength=n_known + 1)
            shared = int(counts.argmax())
            if counts[shared] < _SHARED * n:
                dense.append(j)
                continue
            others = self._codes[j] != shared
            rows.append(np.flatnonzero(others).astype(np.int32))
            lists.append((j, start, shared))
            shares.append(np.bincount(self._y[~others], minlength=K) > 0)
        cells = self._codes[dense].astype(dtype) * dtype(K)
        cells += self._y.astype(dtype)
        self._dense = (features[dense, 0].copy(), cells)
        listed = [
            self._codes[j][own] * dtype(K) + self._y[own].astype(dtype)
            for (j, *_), own in zip(lists, rows, strict=True)
        ]
        ends = np.cumsum([len(own) for own in rows], dtype=np.int64)
        of_list = [
            (start, shared, start + int(features[j, 1]) + 1, end)
            for (j, start, shared), end in zip(lists, ends.tolist(), strict=True)
        ]
        self._sparse = (
            np.array(of_list, dtype=np.int64).reshape(-1, 4),
            np.array(shares, dtype=np.bool_).reshape(-1, K),
            np.concatenate([np.empty(0, dtype=np.int32), *rows]),
            np.concatenate([np.empty(0, dtype=dtype), *listed]),
        )

    @property
    def n_candidates(self) -> int:
        """Number of binary stumps."""
        return 2 + 2 * len(self.questions)

    def _sum_sides(self, weight: Floats) -> Floats:
        """Fill the weights on both sides of all questions; return the weight of each class."""
        by_class: Floats = np.bincount(self._y, weights=weight, minlength=len(self._classes)).astype(float)
        sum_by_code(self._dense, self._sparse, weight, by_class, self._totals)
        list_sides(self._totals, self.questions.features, self._sides)
        return by_class

    def errors(self, weight: Floats) -> Floats:
        """Weight that each binary stump gets wrong, by class; the array is filled anew by the next call."""
        by_class = self._sum_sides(weight)
        n, errors, (no, yes) = len(self.questions), self._errors, self._sides
        errors[1, 0], errors[0, 1] = by_class[1], by_class[0]
        errors[0, 2 : 2 + n], errors[1, 2 : 2 + n] = yes[0], no[1]
        errors[0, 2 + n :], errors[1, 2 + n :] = no[0], yes[1]
        return errors

    def take(self, index: int) -> Choice:
        """Binary stump of this index."""
        if index < 2:
            return self._constant(index)
        reverse, question = divmod(index - 2, len(self.questions))
        return self._choice(question, (1, 0) if reverse else (0, 1))

    def best(self, weight: Floats) -> Choice:
        """Stump of least weighted error, for any number of classes."""
        by_class = self._sum_sides(weight)
        if len(by_class) == 2:
            return self.take(int(least_wrong(self._sides, by_class, TIE)))
        no, yes = self._sides
        total = by_class.sum()
        right = np.concatenate([by_class, no.max(axis=0) + yes.max(axis=0)])
        first = first_least(total - right)
        if first < len(by_class):
            return self._constant(first)
        question = first - len(by_class)
        answers = self._sides[:, :, question].argmax(axis=1).tolist()
        return self._choice(question, (answers[0], answers[1]))

    def _constant(self, answer: int) -> Choice:
        return Choice(constant_stump(answer, self._classes), self._y != answer)

    def _choice(self, question: int, answers: tuple[int, int]) -> Choice:
        asked = self.questions
        j, code = int(asked.feature[question]), int(asked.code[question])
        feature, says = self._schema[j], int(asked.missing_says_yes[question])
        labels = self._classes[list(answers)].tolist()
        if feature.kind == "categorical":
            is_missing = code == feature.missing_code
            cut, category = (-1.0, None) if is_missing else (float(code), feature.categories[code])
        else:
            cut, category = float(feature.cuts[code]) if code < len(feature.cuts) else np.inf, None
        stump = Stump(
            feature=j,
            name=feature.name,
            cut=cut,
            category=category,
            is_categorical=feature.kind == "categorical",
            missing_says_yes=bool(says if says >= 0 else self._heavier_says_yes[question]),
            answers=answers,
            labels=(labels[0], labels[1]),
        )
        answer = np.where(asked.outcomes(question), answers[1], answers[0])
        return Choice(stump, answer[self._codes[j]] != self._y)


def add_votes(
    stumps: Sequence[Stump], votes: Floats, schema: FeatureSchema, columns: Columns, scores: Floats
) -> None:
    """Add what stumps vote to the scores of cases, stump by stump.

    Parameters
    ----------
    stumps : sequence of T Stump
    votes : ndarray of shape (n_scores, T, 2)
        What "no" and "yes" of each stump add to each score.
    schema : FeatureSchema
    columns : Columns
        The cases.
    scores : ndarray of shape (n_scores, n_samples)
        Changed.
    """
    used = sorted({stump.feature for stump in stumps if stump.feature >= 0})
    questions = np.array(
        [
            (used.index(s.feature) if s.feature >= 0 else 0, s.is_categorical, s.missing_says_yes)
            for s in stumps
        ],
        dtype=np.int64,
    ).reshape(-1, 3)
    cuts = np.array([stump.cut for stump in stumps], dtype=np.float64)
    for start, stop, values in schema.blocks(columns, used):
        part = np.ascontiguousarray(scores[:, start:stop])
        add_stump_votes(np.ascontiguousarray(values), questions, cuts, votes, part)
        scores[:, start:stop] = part
