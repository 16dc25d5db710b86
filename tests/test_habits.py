"""What users of scikit-learn do without thinking, with every public estimator."""

from __future__ import annotations

import io
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline

from cstree import CostModel, GreedyTreeClassifier, ParetoTreeClassifier
from cstree.datasets import load_hepatitis
from cstree.metrics import make_cost_scorer

ESTIMATORS = [
    GreedyTreeClassifier(criterion="cost"),
    ParetoTreeClassifier(generations=5, seeds=None, random_state=0),
]


@pytest.fixture(scope="module")
def table() -> Any:
    """A table with numbers, categories and missing values."""
    return load_hepatitis()


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_joblib_keeps_a_model(estimator: Any, table: Any) -> None:
    model = clone(estimator).set_params(costs=table.costs).fit(table.data, table.target)
    file = io.BytesIO()
    joblib.dump(model, file)
    file.seek(0)
    again = joblib.load(file)
    assert np.array_equal(again.predict(table.data), model.predict(table.data))
    assert np.array_equal(again.test_cost(table.data), model.test_cost(table.data))


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_a_pipeline_that_hands_on_frames(estimator: Any, table: Any) -> None:
    numeric = list(table.data.select_dtypes("number"))
    transformer = ColumnTransformer(
        [("numbers", SimpleImputer(), numeric)], remainder="passthrough", verbose_feature_names_out=False
    )
    pipeline = make_pipeline(transformer, clone(estimator).set_params(costs=table.costs))
    pipeline.set_output(transform="pandas").fit(table.data, table.target)
    model = pipeline[-1]
    assert set(model.schema_.names) == set(table.data.columns)
    assert {f.kind for f in model.schema_} == {"numeric", "categorical"}
    found = cross_validate(pipeline, table.data, table.target, cv=3, scoring=make_cost_scorer(table.costs))
    assert np.isfinite(found["test_score"]).all()


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_grids_over_costs_and_other_parameters(estimator: Any, table: Any) -> None:
    free = CostModel(table.costs.misclassification, classes=table.costs.classes)
    grid = GridSearchCV(
        clone(estimator),
        {"costs": [free, table.costs], "max_depth": [1, 3]},
        cv=3,
        scoring=make_cost_scorer(table.costs),
    )
    grid.fit(table.data, table.target)
    assert grid.best_estimator_.costs in (free, table.costs)
    assert len(grid.cv_results_["params"]) == 4


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_columns_are_known_by_name(estimator: Any, table: Any) -> None:
    model = clone(estimator).fit(table.data, table.target)
    assert model.feature_names_in_.tolist() == list(table.data.columns)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(table.data.rename(columns={"age": "years"}))
    with pytest.raises(ValueError, match="feature"):
        model.predict(table.data[table.data.columns[::-1]])


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("labels", [(False, True), (3, 7), ("no", "yes")])
def test_labels_keep_their_kind(estimator: Any, table: Any, labels: tuple[Any, Any]) -> None:
    y = np.where(np.asarray(table.target) == np.asarray(table.target)[0], *labels)
    model = clone(estimator).fit(table.data, pd.Series(y))
    assert model.classes_.tolist() == sorted(labels)
    assert all(type(label) is type(labels[0]) for label in model.classes_.tolist())
    assert set(model.predict(table.data).tolist()) <= set(labels)
    assert model.score(table.data, y) > 0.7
