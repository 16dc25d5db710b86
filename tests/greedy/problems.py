"""Random problems as the package and as the slow twins see them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cstree.costs.bound import BoundCosts
from cstree.encoding.dataset import Dataset
from cstree.encoding.schema import FeatureSchema
from tests.reference import PlainCosts, bound_arrays, plain_rows
from tests.strategies import PlainTable


class Encoded(NamedTuple):
    """One problem twice: arrays for the package, lists for the twins."""

    dataset: Dataset
    costs: BoundCosts
    rows: list[list[Any]]
    cuts: list[list[float] | None]
    plain: PlainCosts

    @property
    def y(self) -> list[int]:
        return self.dataset.y.tolist()

    @property
    def kinds(self) -> list[str]:
        return [feature.kind for feature in self.dataset.schema]

    @property
    def weights(self) -> list[float] | None:
        return None if self.dataset.weight is None else self.dataset.weight.tolist()

    @property
    def example_cost(self) -> list[list[float]] | None:
        return None if self.dataset.example_cost is None else self.dataset.example_cost.tolist()

    @property
    def arguments(self) -> dict[str, Any]:
        """What the twins' ``training`` and ``grow`` take."""
        return {
            "rows": self.rows,
            "y": self.y,
            "costs": self.plain,
            "kinds": self.kinds,
            "weights": self.weights,
            "example_cost": self.example_cost,
            "cuts": self.cuts,
        }


def bound(costs: PlainCosts, names: tuple[str, ...]) -> BoundCosts:
    arrays = bound_arrays(costs)
    return BoundCosts(
        feature_names=names,
        classes=tuple(range(len(costs.matrix))),
        unit="",
        matrix=np.array(arrays["matrix"], dtype=np.float64),
        step_names=arrays["step_names"],
        step_start=np.array(arrays["step_start"], dtype=np.int32),
        steps=np.array(arrays["steps"], dtype=np.int32),
        prices=np.array(arrays["prices"], dtype=np.float64),
        test_names=tuple(names),
    )


def encode(table: PlainTable, costs: PlainCosts, max_bins: int | None = None) -> Encoded:
    """Drop cases of weight 0, learn the schema, encode."""
    frame = table.frame()
    weights = None if table.weights is None else np.array(table.weights)
    kept = np.ones(len(table.y), dtype=bool) if weights is None else weights > 0
    frame = frame.loc[kept]
    schema = FeatureSchema.infer(frame, max_bins=max_bins)
    dataset = Dataset(
        schema,
        schema.encode(frame),
        np.array(table.y, dtype=np.int32)[kept],
        table.n_classes,
        None if weights is None else weights[kept],
        None if table.example_cost is None else np.array(table.example_cost, dtype=np.float64)[kept],
    )
    cuts = [list(map(float, f.cuts)) if f.kind == "numeric" else None for f in schema]
    return Encoded(dataset, bound(costs, schema.names), plain_rows(frame, schema), cuts, costs)
