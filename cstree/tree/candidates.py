"""The binary tests that a search may choose from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cstree.encoding.dataset import Dataset
from cstree.encoding.schema import FeatureSchema

__all__ = ["ENUMERATED_CATEGORIES", "CandidateTests", "group_categories"]

# Every subset of up to this many categories is a candidate with a row of bits of its own.
ENUMERATED_CATEGORIES = 6
# A subset is one 64-bit mask: of more categories the rarest share the last bit.
_MASK_CATEGORIES = 64


@dataclass(frozen=True, eq=False)
class CandidateTests:
    """The binary tests that have a row of bits.

    Attributes
    ----------
    feature : int64 (R,)
    cut : int64 (R,)
        Numeric tests: ``code <= cut`` takes branch 0; -1 for subsets.
    subset : uint64 (R,)
        Subset tests: bit ``g`` is set when category group ``g`` takes branch 0.
    missing_left : bool (R,)
        Whether missing values take branch 0 (only where the training column has some).
    """

    feature: NDArray[np.int64]
    cut: NDArray[np.int64]
    subset: NDArray[np.uint64]
    missing_left: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.feature)

    @classmethod
    def of(cls, schema: FeatureSchema) -> CandidateTests:
        """List every cut of every numeric feature, and every subset of few categories."""
        rows: list[tuple[int, int, int, bool]] = []
        for j, feature in enumerate(schema):
            sides = (True, False) if feature.has_missing else (False,)
            if feature.kind == "numeric":
                rows += [(j, cut, 0, side) for cut in range(len(feature.cuts)) for side in sides]
            elif feature.n_bins <= ENUMERATED_CATEGORIES:
                # A subset and its complement are one test: the last category always takes branch 1.
                rows += [
                    (j, -1, s, side) for s in range(1, 2 ** max(feature.n_bins - 1, 0)) for side in sides
                ]
        columns = list(zip(*rows, strict=True)) if rows else [(), (), (), ()]
        return cls(
            np.array(columns[0], dtype=np.int64),
            np.array(columns[1], dtype=np.int64),
            np.array(columns[2], dtype=np.uint64),
            np.array(columns[3], dtype=np.bool_),
        )


def group_categories(dataset: Dataset) -> dict[int, NDArray[np.int64]]:
    """Group of each category of each categorical feature: its own, but the rarest of very many share one."""
    groups = {}
    for j, feature in enumerate(dataset.schema):
        if feature.kind == "categorical":
            group = np.arange(feature.n_bins, dtype=np.int64)
            if feature.n_bins > _MASK_CATEGORIES:
                count = np.bincount(dataset.codes[j], minlength=feature.n_bins + 1)[: feature.n_bins]
                group[np.argsort(-count, kind="stable")] = np.minimum(group, _MASK_CATEGORIES - 1)
            groups[j] = group
    return groups
