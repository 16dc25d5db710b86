from __future__ import annotations

import copy
import pickle
import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from sklearn.base import BaseEstimator, clone

from cstree.costs.model import CostModel, FeatureTest, from_predicted_first
from tests.costs.strategies import any_models

ASYMMETRIC = [[0, 4, 6], [30, 0, 50], [3, 5, 0]]
LABELS = ["flu", "sepsis", "well"]


def matrix_of(model: CostModel, classes: list) -> list[list[float]]:
    return model.bind(["crp"], classes).matrix.tolist()


# misclassification costs


def test_default_is_nothing_for_right_and_one_for_wrong() -> None:
    assert matrix_of(CostModel(), ["b", "a", "c"]) == [[0, 1, 1], [1, 0, 1], [1, 1, 0]]
    assert matrix_of(CostModel(), ["only"]) == [[0]]


def test_matrix_follows_the_order_of_the_tables_classes() -> None:
    model = CostModel(ASYMMETRIC, classes=LABELS)
    assert matrix_of(model, LABELS) == ASYMMETRIC
    assert matrix_of(model, ["well", "flu", "sepsis"]) == [[0, 3, 5], [6, 0, 4], [50, 30, 0]]


def test_matrix_without_classes_is_in_sorted_order() -> None:
    assert matrix_of(CostModel(ASYMMETRIC), ["well", "flu", "sepsis"]) == [[0, 3, 5], [6, 0, 4], [50, 30, 0]]
    assert matrix_of(CostModel([[0, 1], [2, 0]]), [10, 9]) == [[0, 2], [1, 0]]


def test_a_fold_may_lack_a_class() -> None:
    model = CostModel(ASYMMETRIC, classes=LABELS)
    assert matrix_of(model, ["sepsis", "well"]) == [[0, 50], [5, 0]]
    assert matrix_of(model, ["well"]) == [[0]]
    assert matrix_of(CostModel(classes=LABELS), ["well", "flu"]) == [[0, 1], [1, 0]]


@pytest.mark.parametrize(
    ("of_model", "of_table"),
    [
        ([0, 1], np.array([0, 1])),
        ([0, 1], [False, True]),
        ([0, 1], np.array([False, True])),
        ([False, True], np.array([0, 1], dtype=np.uint8)),
        ([0, 1], np.array([0.0, 1.0], dtype=np.float32)),
        (["no", "yes"], np.array(["no", "yes"])),
        (["no", "yes"], np.array(["no", "yes"], dtype=object)),
        (["no", "yes"], pd.Index(["no", "yes"])),
        (np.array(["no", "yes"]), ["no", "yes"]),
        (pd.Series([3, 7]), np.array([3, 7], dtype=np.int16)),
    ],
)
def test_labels_match_whatever_holds_them(of_model: object, of_table: object) -> None:
    model = CostModel([[0, 1], [2, 0]], classes=of_model)
    bound = model.bind(["crp"], of_table)
    assert bound.matrix.tolist() == [[0, 1], [2, 0]]
    assert bound.classes == tuple(of_table)
    assert {type(label) for label in bound.classes} <= {str, int, float, bool}


def test_pairs_say_the_same_as_the_matrix() -> None:
    pairs = {
        (LABELS[t], LABELS[p]): c for t, row in enumerate(ASYMMETRIC) for p, c in enumerate(row) if t != p
    }
    assert CostModel(pairs) == CostModel(ASYMMETRIC, classes=LABELS)
    assert CostModel(pairs, classes=["well", "flu", "sepsis"]).misclassification.tolist() == [
        [0, 3, 5],
        [6, 0, 4],
        [50, 30, 0],
    ]


def test_pairs_may_price_right_answers_and_mix_types() -> None:
    model = CostModel({("1", 1): 3, (1, "1"): 4, (1, 1): -2.5, ("1", "1"): np.float32(0.5)})
    assert matrix_of(model, [1, "1"]) == [[-2.5, 4], [3, 0.5]]
    assert model.classes == ("1", 1)  # they do not compare: in the order in which they come


def test_labelled_frame_is_read_by_label() -> None:
    frame = pd.DataFrame(ASYMMETRIC, index=LABELS, columns=LABELS)
    assert CostModel(frame) == CostModel(ASYMMETRIC, classes=LABELS)
    shuffled = frame[["well", "flu", "sepsis"]].loc[["sepsis", "well", "flu"]]
    assert matrix_of(CostModel(shuffled), LABELS) == ASYMMETRIC
    assert CostModel(shuffled, classes=LABELS) == CostModel(ASYMMETRIC, classes=LABELS)
    assert CostModel(pd.DataFrame(ASYMMETRIC)) == CostModel(ASYMMETRIC)
    with pytest.raises(ValueError, match=r"lacks the pair \('flu', 'sepsis'\)"):
        CostModel(frame.drop(columns="sepsis"))


def test_binary_has_the_negative_class_first() -> None:
    model = CostModel.binary(false_positive=1, false_negative=20, classes=["well", "ill"], unit="EUR")
    assert model == CostModel({("well", "ill"): 1, ("ill", "well"): 20}, classes=["well", "ill"], unit="EUR")
    assert matrix_of(model, ["ill", "well"]) == [[0, 20], [1, 0]]
    priced = CostModel.binary(
        false_positive=1,
        false_negative=2,
        tests={"crp": FeatureTest(1, "draw")},
        operations={"draw": 3},
    )
    assert priced.bind(["crp"], [0, 1]).price(0) == 4


def test_from_predicted_first_transposes_and_nothing_else_does() -> None:
    elkan = np.array([[0.0, 5.0, 2.0], [1.0, 0.0, 3.0], [7.0, 8.0, 0.0]])
    turned = from_predicted_first(elkan)
    assert turned.tolist() == elkan.T.tolist()
    assert turned.flags.c_contiguous and not np.shares_memory(turned, elkan)
    assert CostModel(elkan).misclassification.tolist() == elkan.tolist()


def test_profits_and_priced_right_answers_are_legal() -> None:
    model = CostModel([[-5, 1], [20, 3]])
    assert model.bind(["crp"], [0, 1]).regrets.tolist() == [[0, 6], [17, 0]]


# tests and operations


def test_prices_by_position_take_the_columns_names() -> None:
    for tests in (
        [1, 2.5],
        np.array([1, 2.5]),
        pd.Series([1, 2.5]),
        (1, FeatureTest(2.5)),
        [Fraction(1), 2.5],
    ):
        bound = CostModel(tests=tests).bind(["age", "crp"], [0, 1])
        assert [bound.price(0), bound.price(1)] == [1, 2.5]
        assert bound.test_names == ("age", "crp")
    shared = CostModel(tests=[FeatureTest(1, "draw"), FeatureTest(2, {"draw": 7})], operations={"draw": 5})
    bound = shared.bind(["crp", "chol"], [0, 1])
    assert [bound.price(0), bound.price(1)] == [6, 9]


def test_named_series_is_read_by_name() -> None:
    prices = pd.Series({"crp": 2.5, "age": 1.0})
    assert CostModel(tests=prices) == CostModel(tests={"age": 1, "crp": 2.5})


def test_no_tests_are_free_without_a_word_and_some_with_one() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for tests in (None, {}):
            assert CostModel(tests=tests).bind(["age", "crp"], [0, 1]).n_steps == 0
        assert CostModel(tests={"age": 0, "crp": 0}).bind(["age", "crp"], [0, 1]).n_steps == 0
    with pytest.warns(UserWarning) as caught:
        bound = CostModel(tests={"crp": 1}).bind(["age", "crp", "sex"], [0, 1])
    assert [str(w.message).split(":")[0] for w in caught] == ["no test price for 'age', 'sex'"]
    assert [bound.price(j) for j in range(3)] == [0, 1, 0]


def test_many_free_columns_make_a_short_message() -> None:
    names = [f"x{i}" for i in range(5000)]
    with pytest.warns(UserWarning, match="and 4979 more") as caught:
        CostModel(tests={"x0": 1}).bind(names, [0, 1])
    assert len(str(caught[0].message)) < 400


def test_warnings_point_at_the_line_that_asked() -> None:
    with pytest.warns(UserWarning) as caught:
        CostModel([[5, 1], [2, 0]])
        CostModel.binary(false_positive=0, false_negative=2)
        CostModel.from_groups({"crp": 1}, {}, {}, misclassification=[[5, 1], [2, 0]])
        CostModel(tests={"crp": 1}).bind(["crp", "age"], [0, 1])
    assert [w.filename for w in caught] == [__file__] * 4


def test_a_matrix_may_be_odd_and_still_works() -> None:
    with pytest.warns(UserWarning, match="'well' when the truth is 'flu'"):
        model = CostModel([[5, 1], [2, 0]], classes=["flu", "well"])
    assert matrix_of(model, ["flu", "well"]) == [[5, 1], [2, 0]]
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # said once, when it was made
        copy.deepcopy(model), pickle.loads(pickle.dumps(model)), model.bind(["crp"], ["well"])


def test_circle_is_printed_without_what_leads_to_it() -> None:
    needs = {"visit": (1, "draw"), "draw": (1, "tube"), "tube": (1, "lab"), "lab": (1, ("draw",))}
    with pytest.raises(ValueError, match="circle: draw -> tube -> lab -> draw;"):
        CostModel(operations=needs)
    with pytest.raises(ValueError, match="circle: lab -> lab;"):
        CostModel(operations={"lab": (1, ("lab",))})


def test_long_chains_of_operations_are_closed() -> None:
    chain = {f"op {i}": (1, (f"op {i + 1}",)) for i in range(5000)} | {"op 5000": 1}
    bound = CostModel(tests={"crp": FeatureTest(1, "op 0")}, operations=chain).bind(["crp"], [0, 1])
    assert bound.price(0) == 5002


def test_one_name_needs_no_tuple() -> None:
    assert FeatureTest(1, "draw", "crp") == FeatureTest(1, ("draw",), ["crp"])
    assert CostModel(operations={"a": 1, "b": (2, "a")}) == CostModel(
        operations={"a": (1, ()), "b": (2, ["a"])}
    )


# a value


def variants() -> list[CostModel]:
    """Models of which no two are equal."""
    return [
        CostModel(),
        CostModel([[0, 1], [1, 0]]),
        CostModel([[0, 1], [2, 0]]),
        CostModel([[0, 1], [2, 0]], classes=["a", "b"]),
        CostModel([[0, 1], [2, 0]], classes=["b", "a"]),
        CostModel(classes=["a", "b"]),
        CostModel(unit="EUR"),
        CostModel(tests={"crp": 1}),
        CostModel(tests=[1]),
        CostModel(tests={"crp": 2}),
        CostModel(tests={"crp": FeatureTest(1, "draw")}, operations={"draw": 2}),
        CostModel(tests={"crp": FeatureTest(1, {"draw": 2})}, operations={"draw": 2}),
        CostModel(tests={"crp": FeatureTest(1, {"draw": 2})}),
        CostModel(tests={"crp": FeatureTest(1, columns="x")}),
        CostModel(operations={"draw": 2}),
        CostModel(operations={"draw": 2, "visit": (1, "draw")}),
    ]


def test_models_are_equal_when_they_say_the_same() -> None:
    first, second = variants(), variants()
    for i, a in enumerate(first):
        for j, b in enumerate(second):
            assert (a == b) == (i == j)
            assert (a != b) == (i != j)
    assert len({*first, *second}) == len(first)
    assert CostModel() != "CostModel()"


def test_order_of_names_and_sign_of_zero_do_not_matter() -> None:
    a = CostModel([[0, 1], [2, -0.0]], tests={"crp": 1, "age": -0.0}, operations={"x": 1, "y": 2})
    b = CostModel([[-0.0, 1], [2, 0]], tests={"age": 0, "crp": 1}, operations={"y": 2, "x": 1})
    assert a == b and hash(a) == hash(b)


@given(any_models())
def test_copies_are_equal_and_as_unchangeable(model: CostModel) -> None:
    pickled = pickle.loads(pickle.dumps(model))
    for other in (pickled, copy.copy(model), copy.deepcopy(model)):
        assert other == model and hash(other) == hash(model)
        assert repr(other) == repr(model)
        with pytest.raises(AttributeError):
            other.unit = "EUR"
        with pytest.raises(AttributeError):
            del other._unit
        if other.misclassification is not None:
            with pytest.raises(ValueError, match="read-only"):
                other.misclassification[0, 0] = 1
        with pytest.raises(TypeError):
            other.operations["x"] = 1


def test_what_was_given_is_copied() -> None:
    matrix, tests, needs = np.array([[0.0, 1.0], [2.0, 0.0]]), {"crp": 1.0}, {"draw": 1.0}
    model, test = CostModel(matrix, tests=tests), FeatureTest(1, needs)
    matrix[0, 1], tests["age"], needs["draw"] = 9, 9, 9
    assert model == CostModel([[0, 1], [2, 0]], tests={"crp": 1})
    assert dict(test.needs) == {"draw": 1}
    model.bind(["crp"], [0, 1]).matrix[0, 1] = 9
    assert model.misclassification[0, 1] == 1


class Estimator(BaseEstimator):
    def __init__(self, costs: CostModel | None = None) -> None:
        self.costs = costs


def test_clone_and_printing_of_an_estimator() -> None:
    model = CostModel(ASYMMETRIC, tests={"crp": FeatureTest(1, {"draw": 2})}, unit="EUR")
    cloned = clone(Estimator(model))
    assert cloned.costs == model
    assert repr(cloned) == "Estimator(costs=CostModel(3 classes, 1 test, 1 operation, unit='EUR'))"


def test_repr_is_short() -> None:
    assert repr(CostModel()) == "CostModel(0/1, free tests)"
    assert repr(CostModel(classes=["a"])) == "CostModel(1 class at 0/1, free tests)"
    big = CostModel(1 - np.eye(50), tests=range(700), operations={"x": 1, "y": 2})
    assert repr(big) == "CostModel(50 classes, 700 tests, 2 operations)"
    assert repr(FeatureTest(1.5, {"x": 2}, "c")) == "FeatureTest(1.5, needs={'x': 2}, columns=('c',))"
    assert repr(FeatureTest(1.5)) == "FeatureTest(1.5)"


def test_tests_and_operations_can_be_read() -> None:
    model = CostModel(tests={"crp": 1}, operations={"a": 1, "b": (2, "a")}, classes=["x", np.str_("y")])
    assert dict(model.tests) == {"crp": FeatureTest(1.0)}
    assert dict(model.operations) == {"a": (1.0, ()), "b": (2.0, ("a",))}
    assert model.classes == ("x", "y") and model.unit == "" and model.misclassification is None
    assert CostModel(tests=[1, 2]).tests == (FeatureTest(1.0), FeatureTest(2.0))
    with pytest.raises(TypeError):
        model.tests["age"] = FeatureTest(1)


def test_feature_test_is_a_value() -> None:
    test = FeatureTest(1, {"draw": 2.0}, ["crp"])
    for other in (
        pickle.loads(pickle.dumps(test)),
        copy.deepcopy(test),
        FeatureTest(1, {"draw": 2}, ("crp",)),
    ):
        assert other == test and hash(other) == hash(test)
    assert FeatureTest(1, {}) == FeatureTest(1) == FeatureTest(1, ())
    with pytest.raises(AttributeError):
        test.price = 3
    with pytest.raises(TypeError):
        test.needs["draw"] = 3
