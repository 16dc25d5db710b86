"""How each feature becomes a small integer code, learned once from the training table."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cstree.encoding.binning import CutGrids, infer_cuts
from cstree.encoding.columns import Columns, plain_scalar

__all__ = ["Feature", "FeatureSchema", "code_dtype"]

# Also of whole numbers, which JSON may hold of any size.
_GREATEST = sys.float_info.max

Kind = Literal["numeric", "categorical"]


def code_dtype(n_codes: int) -> type[np.unsignedinteger[Any]]:
    """Smallest unsigned integer type that can hold ``n_codes`` different codes."""
    if n_codes <= 256:
        return np.uint8
    return np.uint16 if n_codes <= 65_536 else np.uint32


@dataclass(frozen=True, eq=False)
class Feature:
    """What is known of one column.

    Attributes
    ----------
    name : str
    kind : {"numeric", "categorical"}
    cuts : ndarray of shape (n_cuts,)
        Increasing cut points of a numeric feature; ``x <= cuts[c]`` is ``code <= c``.
    categories : tuple
        Values of a categorical feature; a category's code is its index.
    has_missing : bool
        Whether the training column had missing values.
    """

    name: str
    kind: Kind
    cuts: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    categories: tuple[Any, ...] = ()
    has_missing: bool = False

    @property
    def n_bins(self) -> int:
        """Number of codes for known values; the next code means missing or unknown."""
        return len(self.categories) if self.kind == "categorical" else len(self.cuts) + 1

    @property
    def missing_code(self) -> int:
        """Code of missing and unknown values."""
        return self.n_bins

    @cached_property
    def _index(self) -> pd.Index:
        return pd.Index(list(self.categories), dtype=object)

    def category_codes(self, values: pd.Series) -> NDArray[np.int64]:
        """Index of each value among the categories; -1 for missing and unknown ones."""
        if isinstance(values.dtype, pd.CategoricalDtype):
            known = self._lookup(pd.Index(values.cat.categories).astype(object))
            codes = values.cat.codes.to_numpy()
            return np.where(codes < 0, -1, known[codes] if len(known) else -1)
        try:
            codes, uniques = pd.factorize(values)
        except TypeError as error:
            raise TypeError(
                f"Feature {self.name!r} holds a value that is no text, number or boolean ({error})."
            ) from error
        known = self._lookup(pd.Index(uniques).astype(object))
        return np.where(codes < 0, -1, known[codes] if len(known) else -1)

    def _lookup(self, values: pd.Index) -> NDArray[np.int64]:
        return np.asarray(self._index.get_indexer(values), dtype=np.int64)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        plain: dict[str, Any] = {"name": self.name, "kind": self.kind, "has_missing": self.has_missing}
        if self.kind == "numeric":
            plain["cuts"] = [float(cut) for cut in self.cuts]
        else:
            plain["categories"] = list(self.categories)
        return plain

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Feature:
        """Rebuild a feature, refusing what :meth:`to_dict` never writes.

        Raises
        ------
        ValueError
            A value is missing or of the wrong kind.
        """
        name, kind = plain.get("name"), plain.get("kind")
        if not isinstance(name, str) or kind not in ("numeric", "categorical"):
            raise ValueError(f"feature {name!r}: wants a name and a kind 'numeric' or 'categorical'")
        missing = bool(plain.get("has_missing", False))
        if kind == "categorical":
            categories = plain.get("categories")
            if not isinstance(categories, list) or not all(
                isinstance(value, (str, bool, int, float)) for value in categories
            ):
                raise ValueError(
                    f"feature {name!r}: categories must be a list of strings, numbers or booleans"
                )
            if len(set(categories)) < len(categories):
                raise ValueError(f"feature {name!r}: a category stands twice")
            return cls(name, "categorical", categories=tuple(categories), has_missing=missing)
        cuts = plain.get("cuts")
        if not isinstance(cuts, list) or not all(
            isinstance(cut, (int, float)) and not isinstance(cut, bool) and abs(cut) <= _GREATEST
            for cut in cuts
        ):
            raise ValueError(f"feature {name!r}: cuts must be a list of finite numbers")
        if any(right <= left for left, right in pairwise(cuts)):
            raise ValueError(f"feature {name!r}: cuts must increase")
        return cls(name, "numeric", cuts=np.array(cuts, dtype=np.float64), has_missing=missing)


@dataclass(frozen=True, eq=False)
class FeatureSchema:
    """The features of a table, in order.

    Attributes
    ----------
    features : tuple of Feature
    """

    features: tuple[Feature, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the features."""
        return tuple(feature.name for feature in self.features)

    def __len__(self) -> int:
        return len(self.features)

    def __getitem__(self, j: int) -> Feature:
        return self.features[j]

    def __iter__(self) -> Iterator[Feature]:
        return iter(self.features)

    @classmethod
    def infer(
        cls,
        X: Any,
        *,
        categorical_features: Any = "from_dtype",
        max_bins: int | None = 255,
    ) -> FeatureSchema:
        """Learn cut points and categories from a training table.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features), or Columns
        categorical_features : "from_dtype", None, or list of names, positions or booleans
            Which columns are categorical: by their dtype (strings, booleans, pandas categories),
            none, or exactly the ones that are listed.
        max_bins : int or None
            At most this many bins for a numeric feature, cut at quantiles. None: a cut between
            every two neighbouring values.

        Returns
        -------
        FeatureSchema

        Raises
        ------
        ValueError
            An infinite value, an unknown name in ``categorical_features``, ``max_bins`` below 2.
        TypeError
            A column of dates or other objects.
        """
        if max_bins is not None and (
            isinstance(max_bins, bool) or not isinstance(max_bins, (int, np.integer)) or max_bins < 2
        ):
            raise ValueError(f"max_bins must be at least 2, or None for every cut; got {max_bins!r}.")
        columns = X if isinstance(X, Columns) else Columns(X)
        forced = _chosen_columns(columns, categorical_features)
        kinds = [_kind_of_feature(columns, j, forced) for j in range(len(columns))]
        numeric = [j for j, kind in enumerate(kinds) if kind == "numeric"]
        cuts = dict(zip(numeric, infer_cuts(columns, numeric, max_bins), strict=True))
        return cls(
            tuple(
                _infer_categories(columns, j)
                if kind == "categorical"
                else Feature(columns.names[j], "numeric", cuts=cuts[j][0], has_missing=cuts[j][1])
                for j, kind in enumerate(kinds)
            )
        )

    def encode(self, X: Any) -> NDArray[np.unsignedinteger[Any]]:
        """Codes of a table, one row per feature.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features), or Columns

        Returns
        -------
        ndarray of shape (n_features, n_samples), uint8, uint16 or uint32
            The last code of a feature means missing or unknown.
        """
        columns = X if isinstance(X, Columns) else Columns(X)
        dtype = code_dtype(max((feature.n_bins + 1 for feature in self.features), default=1))
        codes = np.empty((len(self.features), columns.n_samples), dtype=dtype)
        numeric = [j for j, feature in enumerate(self.features) if feature.kind == "numeric"]
        if numeric:
            self._grids.encode(columns, numeric, codes)
        for j, feature in enumerate(self.features):
            if feature.kind == "categorical":
                found = feature.category_codes(columns.values(j))
                codes[j] = np.where(found < 0, feature.missing_code, found)
        return codes

    @cached_property
    def _grids(self) -> CutGrids:
        return CutGrids([feature.cuts for feature in self.features if feature.kind == "numeric"])

    def blocks(self, X: Any, features: Sequence[int]) -> Iterator[tuple[int, int, NDArray[np.float64]]]:
        """Yield ``(start, stop, values)``: raw values of the named features, block by block.

        Categorical features appear as their codes; missing and unknown values are NaN.
        """
        columns = X if isinstance(X, Columns) else Columns(X)
        translated = _TranslatedColumns(columns, self)
        return translated.blocks(features)

    def values(self, X: Any, features: Sequence[int]) -> NDArray[np.float64]:
        """Raw values of the named features, shape (len(features), n_samples); see :meth:`blocks`."""
        columns = X if isinstance(X, Columns) else Columns(X)
        result = np.empty((len(features), columns.n_samples))
        for start, stop, values in self.blocks(columns, features):
            result[:, start:stop] = values[: len(features)]
        return result

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {"features": [feature.to_dict() for feature in self.features]}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> FeatureSchema:
        """Rebuild a schema from :meth:`to_dict`; raises ValueError on anything else."""
        features = plain.get("features")
        if not isinstance(features, list) or not all(isinstance(feature, dict) for feature in features):
            raise ValueError("schema: wants a list of features")
        return cls(tuple(Feature.from_dict(feature) for feature in features))


class _TranslatedColumns(Columns):
    """Columns whose categorical features read as codes."""

    def __init__(self, columns: Columns, schema: FeatureSchema) -> None:
        self.__dict__.update(columns.__dict__)
        self._source = columns
        self._schema = schema

    def numeric(self, j: int) -> NDArray[np.floating[Any]]:
        feature = self._schema.features[j]
        if feature.kind == "numeric":
            return self._source.numeric(j)
        codes = feature.category_codes(self._source.values(j))
        return np.where(codes < 0, np.nan, codes)


def _chosen_columns(columns: Columns, chosen: Any) -> frozenset[int] | None:
    """Positions the user declared categorical; None leaves it to the dtypes."""
    if isinstance(chosen, str):
        if chosen != "from_dtype":
            raise ValueError(
                "categorical_features must be 'from_dtype', None, or a list of names or positions; "
                f"got {chosen!r}."
            )
        return None
    if chosen is None:
        return frozenset()
    listed = np.asarray(chosen)
    if listed.dtype == bool:
        if listed.shape != (len(columns),):
            raise ValueError(
                f"categorical_features as booleans wants one for each of the {len(columns)} features; "
                f"got shape {listed.shape}."
            )
        return frozenset(int(j) for j in np.flatnonzero(listed))
    return frozenset(_position(columns, plain_scalar(entry)) for entry in chosen)


def _position(columns: Columns, entry: Any) -> int:
    if isinstance(entry, int) and not isinstance(entry, bool):
        if not 0 <= entry < len(columns):
            raise ValueError(f"categorical_features names position {entry}; X has {len(columns)} features.")
        return entry
    if entry not in columns.names:
        raise ValueError(
            f"categorical_features names {entry!r}, which is no column of X: {list(columns.names)}."
        )
    return columns.names.index(entry)


def _kind_of_feature(columns: Columns, j: int, forced: frozenset[int] | None) -> Kind:
    kind = columns.kind(j)
    if forced is None:
        return "categorical" if kind == "categorical" else "numeric"
    if j in forced:
        return "categorical"
    if kind == "categorical" and not pd.api.types.is_bool_dtype(columns.column(j).dtype):
        raise ValueError(
            f"Feature {columns.names[j]!r} holds strings or categories but is not listed in "
            "categorical_features: add it there, or turn it into numbers."
        )
    return "numeric"


def _infer_categories(columns: Columns, j: int) -> Feature:
    values = columns.values(j)
    missing = bool(values.isna().any())
    if isinstance(values.dtype, pd.CategoricalDtype):
        used = np.unique(values.cat.codes.to_numpy())
        found = [values.cat.categories[code] for code in used if code >= 0]
    else:
        found = list(pd.unique(values[values.notna()]))
    categories = [plain_scalar(value) for value in found]
    for value in categories:
        if not isinstance(value, (str, bool, int, float)):
            raise TypeError(
                f"Feature {columns.names[j]!r} has the category {value!r} ({type(value).__name__}): "
                "an argument must be a string, a number or a boolean."
            )
        if isinstance(value, float) and not np.isfinite(value):
            raise ValueError(
                f"Feature {columns.names[j]!r} has the category {value!r}: "
                "write infinity as a text, or as NaN (missing)."
            )
    if not isinstance(values.dtype, pd.CategoricalDtype):
        categories.sort(key=lambda value: (isinstance(value, str), value))
    return Feature(columns.names[j], "categorical", categories=tuple(categories), has_missing=missing)
