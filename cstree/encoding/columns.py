"""One view on the tables users hand in: pandas frames, arrays, lists of rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import issparse

from cstree.encoding._kernels import gather_columns

__all__ = ["Columns", "plain_scalar"]

_SCALARS = (str, bool, int, float)


def plain_scalar(value: Any) -> Any:
    """Return a numpy scalar as the Python scalar it stands for, anything else as it is."""
    return value.item() if isinstance(value, np.generic) else value


def _reads_as_other_number(dtype: Any) -> bool:
    """Whether a dtype gives nanoseconds (dates, durations) or half its value (complex) when made floats."""
    return getattr(dtype, "kind", "O") in "mMc"


class Columns:
    """Columns of a table by position, without copying the table.

    Parameters
    ----------
    X : DataFrame, array-like of shape (n_samples, n_features)
        Numeric arrays are kept as they are; arrays of objects get the dtypes that
        pandas infers for their columns.

    Attributes
    ----------
    names : tuple of str
        Column names; ``x0, x1, ...`` where the table has none.
    n_samples : int
    """

    def __init__(self, X: Any) -> None:
        if issparse(X):
            raise TypeError(
                "Sparse data was passed for X, but dense data is required: cstree's trees "
                "do not read sparse matrices. Use X.toarray() to convert."
            )
        self.frame: pd.DataFrame | None = None
        self.array: NDArray[Any] | None = None
        if isinstance(X, pd.DataFrame):
            self.frame = X
        else:
            self._take_array(X)
        table = self.frame if self.frame is not None else self.array
        assert table is not None
        self.n_samples, self.n_features = (int(size) for size in table.shape)
        self.names = self._column_names()

    def _take_array(self, X: Any) -> None:
        array = np.asarray(X)
        if array.dtype.kind == "U" and not hasattr(X, "dtype"):
            # Rows of numbers, texts and booleans: numpy would turn all of them into texts.
            array = np.asarray(X, dtype=object)
        if array.ndim != 2:
            raise ValueError(
                f"Expected a 2D table of shape (n_samples, n_features), got a {array.ndim}D array. "
                "Reshape your data: X.reshape(-1, 1) for one feature, X.reshape(1, -1) for one case."
            )
        if np.iscomplexobj(array):
            raise ValueError("Complex data not supported: give real and imaginary parts as two features.")
        if array.dtype.kind in "OUS":
            objects = pd.DataFrame(array.astype(object)).infer_objects()
            self.frame = objects
        else:
            self.array = array

    def _column_names(self) -> tuple[str, ...]:
        if self.frame is None or isinstance(self.frame.columns, pd.RangeIndex):
            return tuple(f"x{j}" for j in range(self.n_features))
        return tuple(str(name) for name in self.frame.columns)

    def __len__(self) -> int:
        return self.n_features

    def column(self, j: int) -> pd.Series | NDArray[Any]:
        """Return column ``j`` as a Series (frames) or a one-dimensional array view."""
        if self.frame is not None:
            return self.frame.iloc[:, j]
        assert self.array is not None
        return self.array[:, j]

    def numeric(self, j: int) -> NDArray[Any]:
        """Return column ``j`` as numbers, missing values as NaN.

        Columns of numpy's number types are not copied, nor cast.

        Raises
        ------
        ValueError
            The column holds something that is not a number; the error names the feature.
        """
        column = self.column(j)
        if isinstance(column.dtype, np.dtype) and column.dtype.kind in "fiub":
            return column if isinstance(column, np.ndarray) else column.to_numpy()
        try:
            if isinstance(column.dtype, pd.CategoricalDtype):
                column = column.astype(column.cat.categories.dtype)
            if isinstance(column, np.ndarray) or _reads_as_other_number(column.dtype):
                raise TypeError("only numbers are numbers")
            if column.dtype == object or isinstance(column.dtype, pd.StringDtype):
                column = pd.to_numeric(column)
            return column.to_numpy(dtype=np.float64, na_value=np.nan)
        except (TypeError, ValueError, OverflowError) as error:
            raise ValueError(
                f"Feature {self.names[j]!r} is numeric, but its column (dtype {column.dtype}) holds values "
                "that are not numbers. Convert it with pandas.to_numeric, or name it in "
                "categorical_features when you fit."
            ) from error

    def flat(self) -> tuple[NDArray[np.float64], int, int] | None:
        """Return the cells of a float64 array without copying, and the strides of rows and columns.

        Returns
        -------
        (ndarray of shape (n_samples * n_features,), int, int) or None
            Cell ``(i, j)`` stands at ``i * row_stride + j * column_stride``. None for other tables.
        """
        array = self.array
        if array is None or array.dtype != np.float64 or not array.dtype.isnative:
            return None
        if array.flags.c_contiguous:
            return array.reshape(-1), self.n_features, 1
        if array.flags.f_contiguous:
            return array.T.reshape(-1), 1, self.n_samples
        return None

    def sums_are_finite(self, features: Sequence[int]) -> NDArray[np.bool_]:
        """Tell for numeric columns whether their sum is finite: then they hold no NaN and no infinity."""
        with np.errstate(all="ignore"):
            if self.array is not None:
                return np.isfinite(self.array[:, features[0] : features[-1] + 1].sum(axis=0))[
                    np.array(features) - features[0]
                ]
            return np.array([bool(np.isfinite(self.numeric(j).sum())) for j in features])

    def gather(self, features: Sequence[int], rows: NDArray[np.int64] | None = None) -> NDArray[np.float64]:
        """Copy numeric columns of some rows, shape (len(features), len(rows)); all rows by default."""
        n = self.n_samples if rows is None else len(rows)
        result = np.empty((len(features), n))
        flat = self.flat()
        if flat is not None:
            rows = np.arange(n) if rows is None else rows
            gather_columns(*flat, rows, np.array(features, dtype=np.int64), result)
            return result
        for k, j in enumerate(features):
            column = self.numeric(j)
            result[k] = column if rows is None else column[rows]
        return result

    def values(self, j: int) -> pd.Series:
        """Return column ``j`` as a Series, whatever the table was."""
        column = self.column(j)
        return column if isinstance(column, pd.Series) else pd.Series(column)

    def kind(self, j: int) -> str:
        """Tell "numeric" or "categorical" from the column's dtype.

        Raises
        ------
        TypeError
            Dates, durations, complex numbers, or cells that are no string, number or boolean.
        """
        column = self.column(j)
        if isinstance(column, np.ndarray):
            if column.dtype.kind in "fiub":
                return "numeric"
            raise TypeError(self._unusable(j, f"dtype {column.dtype}"))
        types = pd.api.types
        if isinstance(column.dtype, (pd.CategoricalDtype, pd.StringDtype)) or types.is_bool_dtype(
            column.dtype
        ):
            return "categorical"
        if types.is_numeric_dtype(column.dtype) and not types.is_complex_dtype(column.dtype):
            return "numeric"
        if column.dtype == object:
            return self._kind_of_objects(j, column)
        raise TypeError(self._unusable(j, f"dtype {column.dtype}"))

    def _kind_of_objects(self, j: int, column: pd.Series) -> str:
        found = pd.api.types.infer_dtype(column, skipna=True)
        if found in ("integer", "floating", "mixed-integer-float", "decimal", "empty"):
            return "numeric"
        for value in column[column.notna()].unique() if found in ("string", "boolean") else column:
            value = plain_scalar(value)
            if not isinstance(value, _SCALARS) and not pd.api.types.is_scalar(value):
                raise TypeError(self._unusable(j, f"a {type(value).__name__}"))
            if not isinstance(value, _SCALARS) and not pd.isna(value):
                raise TypeError(self._unusable(j, f"a {type(value).__name__}"))
        return "categorical"

    def _unusable(self, j: int, what: str) -> str:
        return (
            f"Feature {self.names[j]!r} holds {what}: an argument must be a string, a number or a boolean. "
            "Turn dates and durations into numbers (days since a date), other objects into strings."
        )

    def blocks(
        self, features: Sequence[int], size: int = 8192
    ) -> Iterator[tuple[int, int, NDArray[np.float64]]]:
        """Yield ``(start, stop, values)`` with ``values[k]`` the float64 rows of ``features[k]``.

        The buffer is reused: a block stays in the processor's cache, and a million rows are
        never copied as a whole.
        """
        columns = [self.numeric(j) for j in features]
        buffer = np.empty((max(len(columns), 1), size), dtype=np.float64)
        for start in range(0, self.n_samples, size):
            stop = min(start + size, self.n_samples)
            for k, column in enumerate(columns):
                buffer[k, : stop - start] = column[start:stop]
            yield start, stop, buffer[:, : stop - start]
