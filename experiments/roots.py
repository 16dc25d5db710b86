"""What SECSDT_MC sees at the root of each set: why it splits, or does not."""

from __future__ import annotations

import numpy as np

from cstree.encoding.columns import Columns
from cstree.encoding.dataset import Dataset
from cstree.encoding.schema import FeatureSchema
from cstree.greedy.alpha import heuristic_alpha
from cstree.greedy.criteria import ROUNDING, SecsdtMc
from cstree.greedy.grower import candidates_at
from experiments.tables import Table

__all__ = ["root_of"]


def root_of(table: Table) -> dict[str, object]:
    """Alpha, the split that is chosen and whether it pays, and how many splits would.

    Parameters
    ----------
    table : Table
        All of its cases are at the root.

    Returns
    -------
    dict
        ``alpha``; ``feature`` and ``price`` of the split of highest score; ``pays``: it reduces expected
        cost by more than the test costs; ``paying`` of ``candidates`` splits do.
    """
    columns = Columns(table.X)
    schema = FeatureSchema.infer(columns, categorical_features="from_dtype", max_bins=255)
    dataset = Dataset(schema, schema.encode(columns), table.y, table.costs.n_classes)
    candidates = candidates_at(dataset, table.costs)
    chosen = int(np.argmax(SecsdtMc()(candidates)))
    pays = candidates.cost_reduction > ROUNDING * candidates.expected_cost[0]
    return {
        "alpha": float(heuristic_alpha(candidates.regret)[0]),
        "feature": table.costs.feature_names[int(candidates.feature[chosen])],
        "price": float(candidates.price[chosen]),
        "pays": bool(pays[chosen]),
        "paying": int(pays.sum()),
        "candidates": len(candidates),
    }
