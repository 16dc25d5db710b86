"""What every estimator refuses and reads before it is fitted."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from cstree import CostModel, GreedyTreeClassifier, ParetoTreeClassifier

X = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], "b": list("xyxyxy")})
Y = ["no", "no", "no", "yes", "yes", "yes"]


@pytest.fixture(params=[GreedyTreeClassifier, lambda c=None: ParetoTreeClassifier(c, generations=2)])
def make(request):
    return request.param


def test_rows_in_lists_are_read_as_the_frame(make):
    frame = X.assign(c=[True, False] * 3)
    rows = frame.to_numpy().tolist()
    of_rows = make().fit(rows, Y)
    assert [feature.kind for feature in of_rows.schema_] == ["numeric", "categorical", "categorical"]
    of_frame = make().fit(frame.set_axis(range(3), axis=1), Y)
    np.testing.assert_array_equal(of_frame.predict(rows), of_frame.predict(frame.set_axis(range(3), axis=1)))


@pytest.mark.parametrize("labels", [[True, False], [1, 0], [1.0, 0.0]])
def test_plain_labels_in_object_arrays_are_what_they_stand_for(labels):
    y = pd.Series([labels[0]] * 3 + [labels[1]] * 3, dtype=object)
    model = GreedyTreeClassifier().fit(X, y)
    assert model.classes_.tolist() == sorted(labels)
    assert type(model.classes_.tolist()[0]) is type(labels[0])
    assert model.predict(X).tolist() == y.tolist()


def test_mixed_labels_are_not_turned_into_texts():
    with pytest.raises(TypeError, match="y mixes labels"):
        GreedyTreeClassifier().fit(X, [1, 1, 1, "yes", "yes", "yes"])


def test_costs_by_case_in_a_frame_are_read_by_class(make):
    no = np.array([truth == "no" for truth in Y])
    costs = pd.DataFrame({"yes": np.where(no, 5.0, 0.0), "no": np.where(no, 0.0, 3.0)})
    by_name = make().fit(X, Y, example_cost=costs)
    assert by_name.predict(X).tolist() == Y
    in_order = make().fit(X, Y, example_cost=costs[["no", "yes"]].to_numpy())
    np.testing.assert_array_equal(by_name.tree_.label_cost[0], in_order.tree_.label_cost[0])


def test_costs_by_case_for_an_unknown_class_name_it():
    costs = CostModel([[0, 1], [2, 0]], classes=["no", "maybe"])
    with pytest.raises(ValueError, match="class 'yes'"):
        GreedyTreeClassifier(costs).fit(X, [*Y[:-1], "maybe"], example_cost=np.ones((6, 2)))


@pytest.mark.parametrize("name", ["sample_weight", "example_cost"])
@pytest.mark.parametrize("entry", ["many", 1j, pd.NA])
def test_what_is_no_number_is_named(name, entry):
    values = np.full((6, 2) if name == "example_cost" else 6, entry, dtype=object)
    with pytest.raises(ValueError, match=f"{name} holds something that is not a number"):
        GreedyTreeClassifier().fit(X, Y, **{name: values})


@pytest.mark.parametrize(
    ("costs", "extra", "named"),
    [
        (None, {"sample_weight": np.full(6, 1e308)}, "sample_weight"),
        (None, {"sample_weight": np.full(6, 1e-310)}, "sample_weight"),
        (None, {"example_cost": np.full((6, 2), 1e300)}, "example_cost"),
        (CostModel([[0, 1e308], [1e308, 0]]), {}, "the misclassification costs"),
        (CostModel(tests=[1e200, 1.0]), {}, "the prices of tests"),
    ],
)
def test_numbers_that_would_overflow_are_refused(make, costs, extra, named):
    with pytest.raises(ValueError, match=f"the greatest number in {named} is"):
        make(costs).fit(X, Y, **extra)


@pytest.mark.parametrize("max_bins", ["many", 2.5, True, 1])
def test_bins_are_a_whole_number(make, max_bins):
    with pytest.raises(ValueError, match="max_bins must be at least 2"):
        make().set_params(max_bins=max_bins).fit(X, Y)


def test_dates_are_not_read_as_numbers_at_prediction(make):
    model = make().fit(X[["a"]], Y)
    with pytest.raises(ValueError, match="'a' is numeric"):
        model.predict(pd.DataFrame({"a": pd.date_range("2020", periods=6)}))


def test_values_that_are_no_category_are_named():
    model = GreedyTreeClassifier().fit(X[["b"]], list("xyxyxy"))
    with pytest.raises(TypeError, match="Feature 'b' holds a value that is no text"):
        model.predict(pd.DataFrame({"b": [["x"]]}))


def test_an_index_beside_the_front_is_named():
    model = ParetoTreeClassifier(generations=2).fit(X, Y)
    with pytest.raises(IndexError, match="index 99 is not on the front"):
        model.choose(99)
    with pytest.raises(TypeError, match="True is not a selection rule"):
        model.choose(True)


def test_infinity_is_no_category_as_it_could_not_be_saved():
    with pytest.raises(ValueError, match="Feature 'a' has the category inf"):
        GreedyTreeClassifier(categorical_features=["a", "b"]).fit(X.assign(a=np.inf), Y)


def test_whole_numbers_beyond_floats_are_named_in_a_case():
    model = GreedyTreeClassifier().fit(X[["a"]], Y)
    with pytest.raises(ValueError, match="feature 'a' is numeric"):
        model.explain({"a": 10**400})
