"""Saved and loaded: the same to the last bit, and no harm from a damaged or hostile file."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.tree import DecisionTreeClassifier

from cstree.costs.model import CostModel, FeatureTest
from cstree.evolution.classifier import ParetoTreeClassifier
from cstree.greedy.classifier import GreedyTreeClassifier
from cstree.persistence import load_model, save_model
from tests.handmade import AWKWARD, clinic

X, Y, COSTS = clinic(120, seed=5)


@pytest.fixture(scope="module")
def pareto() -> ParetoTreeClassifier:
    return ParetoTreeClassifier(COSTS, generations=8, random_state=1).fit(X, Y)


@pytest.fixture(scope="module")
def greedy() -> GreedyTreeClassifier:
    return GreedyTreeClassifier(COSTS, max_depth=4).fit(X, Y)


def round_trip(model: Any, folder: Path) -> Any:
    save_model(model, folder / "model.json")
    return load_model(folder / "model.json")


def assert_same(loaded: Any, model: Any, table: Any) -> None:
    assert type(loaded) is type(model)
    assert loaded.classes_.dtype == model.classes_.dtype
    assert loaded.classes_.tolist() == model.classes_.tolist()
    assert loaded.tree_.same_as(model.tree_)
    assert loaded.n_features_in_ == model.n_features_in_
    np.testing.assert_array_equal(loaded.predict(table), model.predict(table))
    np.testing.assert_array_equal(loaded.predict_proba(table), model.predict_proba(table))
    np.testing.assert_array_equal(loaded.test_cost(table), model.test_cost(table))
    assert loaded.export_text() == model.export_text()


def test_greedy_comes_back(greedy: GreedyTreeClassifier, tmp_path: Path) -> None:
    loaded = round_trip(greedy, tmp_path)
    assert_same(loaded, greedy, X)
    assert loaded.get_params() == greedy.get_params()
    assert loaded.feature_names_in_.tolist() == list(X.columns)


def test_a_front_comes_back_to_the_last_bit(pareto: ParetoTreeClassifier, tmp_path: Path) -> None:
    loaded = round_trip(pareto, tmp_path)
    assert_same(loaded, pareto, X)
    np.testing.assert_array_equal(loaded.front_.objectives, pareto.front_.objectives)
    assert loaded.front_.objective_names == pareto.front_.objective_names
    assert loaded.front_.complete == pareto.front_.complete
    assert len(loaded.front_) > 2
    for mine, theirs in zip(loaded.front_, pareto.front_, strict=True):
        assert mine.same_as(theirs)
    assert loaded.selected_ == pareto.selected_
    assert loaded.tree_ is loaded.front_[loaded.selected_]
    for index in range(len(pareto.front_)):
        np.testing.assert_array_equal(loaded.choose(index).predict(X), pareto.choose(index).predict(X))


def test_saving_twice_writes_the_same_file(pareto: ParetoTreeClassifier, tmp_path: Path) -> None:
    save_model(round_trip(pareto, tmp_path), tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "model.json").read_bytes()
    assert sorted(file.name for file in tmp_path.iterdir()) == ["again.json", "model.json"]


def test_a_chosen_tree_comes_back(pareto: ParetoTreeClassifier, tmp_path: Path) -> None:
    chosen = pareto.choose(len(pareto.front_) - 1)
    assert_same(round_trip(chosen, tmp_path), chosen, X)


def test_loaded_models_can_be_cloned_and_fitted(pareto: ParetoTreeClassifier, tmp_path: Path) -> None:
    loaded = round_trip(pareto, tmp_path)
    assert loaded.costs == pareto.costs
    again = clone(loaded).fit(X, Y)
    np.testing.assert_array_equal(again.front_.objectives, pareto.front_.objectives)


@pytest.mark.parametrize(
    "labels",
    [
        np.array([3, 1, 2]),
        np.array([True, False, True]),
        np.array([0.0, 1.0, -1.0]),
        np.array(["b", "a", "ü<"]),
        np.array(["b", "a", "c"], dtype=object),
        np.array([1, 2, 3], dtype=np.uint8),
    ],
    ids=lambda labels: labels.dtype.str,
)
def test_labels_keep_their_dtype(labels: Any, tmp_path: Path) -> None:
    y = labels[np.arange(len(X)) % 3]
    model = GreedyTreeClassifier(max_depth=3).fit(X, y)
    loaded = round_trip(model, tmp_path)
    assert_same(loaded, model, X)
    assert loaded.predict(X).dtype == model.predict(X).dtype


def test_tables_without_names(tmp_path: Path) -> None:
    table = X[["age", "chol", "sugar"]].to_numpy()
    model = GreedyTreeClassifier(max_depth=3).fit(table, Y)
    loaded = round_trip(model, tmp_path)
    assert_same(loaded, model, table)
    assert not hasattr(loaded, "feature_names_in_")


def test_awkward_names_and_every_kind_of_cost(tmp_path: Path) -> None:
    names = AWKWARD[:4]
    table = pd.DataFrame({name: np.arange(40.0) for name in names})
    table[names[3]] = pd.Categorical([AWKWARD[4 + i % 3] for i in range(40)])
    y = np.array(AWKWARD[8:10])[np.arange(40) // 20]
    costs = CostModel(
        {(AWKWARD[8], AWKWARD[9]): 0.1, (AWKWARD[9], AWKWARD[8]): 1 / 3},
        tests={
            names[0]: FeatureTest(0.001, needs=("op",)),
            "panel": FeatureTest(1e-9, needs={"own": 0.0002}, columns=names[1:3]),
            names[3]: 0,
        },
        operations={"op": (0.002, ("other",)), "other": 0.0001},
        unit=AWKWARD[5],
    )
    model = GreedyTreeClassifier(costs, criterion="mincost").fit(table, y)
    assert model.tree_.n_leaves > 1
    loaded = round_trip(model, tmp_path)
    assert_same(loaded, model, table)
    assert loaded.costs == costs
    by_position = GreedyTreeClassifier(CostModel(tests=[0.1, 0.2, 0.3, 0.4])).fit(table, y)
    assert round_trip(by_position, tmp_path).costs == by_position.costs


def test_a_parameter_that_is_no_value_is_named(tmp_path: Path) -> None:
    model = GreedyTreeClassifier(random_state=np.random.RandomState(0), max_depth=np.int64(2)).fit(X, Y)
    with pytest.warns(UserWarning, match=r"not saved.*: random_state;"):
        save_model(model, tmp_path / "model.json")
    loaded = load_model(tmp_path / "model.json")
    assert loaded.get_params()["random_state"] is None
    assert loaded.get_params()["max_depth"] == 2


def test_odd_costs_do_not_warn_again(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        costs = CostModel([[5.0, 1.0], [1.0, 0.0]])  # a wrong answer cheaper than the right one
        model = GreedyTreeClassifier(costs).fit(X, Y)
    save_model(model, tmp_path / "model.json")
    assert load_model(tmp_path / "model.json").costs == costs


def test_only_fitted_trees_of_this_package_are_saved(tmp_path: Path) -> None:
    class GreedyTreeClassifierOfMine(GreedyTreeClassifier):
        pass

    with pytest.raises(NotFittedError):
        save_model(GreedyTreeClassifier(), tmp_path / "x.json")
    for model in (DecisionTreeClassifier(), object(), GreedyTreeClassifierOfMine().fit(X, Y)):
        with pytest.raises(TypeError, match="cannot be saved"):
            save_model(model, tmp_path / "x.json")
    assert list(tmp_path.iterdir()) == []


# --- damaged and hostile files ----------------------------------------------------------------------


@pytest.fixture(scope="module")
def saved(pareto: ParetoTreeClassifier, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("saved") / "model.json"
    save_model(pareto, path)
    return path


def refused(path: Path, reason: str) -> None:
    with pytest.raises(ValueError, match=reason) as caught:
        load_model(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 0.999])
def test_a_truncated_file(saved: Path, tmp_path: Path, share: float) -> None:
    data = saved.read_bytes()
    path = tmp_path / "cut.json"
    path.write_bytes(data[: int(len(data) * share)])
    refused(path, "damaged or truncated")


@pytest.mark.parametrize(
    "data",
    [b"\x80\x04K\x01.", b"\xff\xfe{}", b"[" * 100_000, b"PK\x03\x04", b"1" * 5000, b'{"a": NaN}'],
    ids=["pickle", "utf-16", "nested", "zip", "long number", "NaN"],
)
def test_no_json_at_all(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "odd.json"
    path.write_bytes(data)
    refused(path, "no model file")


def change(plain: Any, keys: list[Any], value: Any) -> Any:
    """Set a value deep inside; the marker DELETE removes it."""
    here = plain
    for key in keys[:-1]:
        here = here[key]
    if value is DELETE:
        del here[keys[-1]]
    else:
        here[keys[-1]] = value
    return plain


DELETE = object()
CHANGES: list[tuple[list[Any], Any, str]] = [
    (["format"], "other", "no model file"),
    (["version"], 2, "newer cstree.*upgrade"),
    (["version"], "1", "version"),
    (["version"], 0, "version"),
    (["estimator"], "os.system", "names the estimator 'os.system'"),
    (["estimator"], "DecisionTreeClassifier", "names the estimator"),
    (["estimator"], ["x"], "'estimator' is a list"),
    (["params", "shell"], "rm", "no parameter 'shell'"),
    (["params", "costs", "tests", "pain", "price"], -1.0, "price"),
    (["params", "costs", "unit"], DELETE, "'unit' is missing"),
    (["schema"], DELETE, "'schema' is missing"),
    (["schema"], [], "'schema' is a list"),
    (["schema", "features", 0, "cuts"], [2.0, 1.0], "cuts must increase"),
    (["schema", "features", 0, "name"], "other", "different features"),
    (["costs", "matrix", 0, 0], "free", "damaged costs"),
    (["costs", "classes"], ["a", "b"], "other classes"),
    (["classes", "dtype"], "M8[s]", "no dtype of class labels"),
    (["classes", "dtype"], "<i8", "not of dtype"),
    (["classes", "labels"], ["ill"], "other classes"),
    (["classes", "labels"], [], "no list"),
    (["tree"], 10_000, "no such point"),
    (["tree"], -1, "no such point"),
    (["tree"], True, "'tree' is a bool"),
    (["tree"], {}, "no such point"),
    (["front", "objectives", 0, 0], 1e9, "not in order, or dominated"),
    (["front", "objectives", 0], [1.0], "objectives"),
    (["front", "trees", 0], 5, "a tree is a int"),
    (["front", "trees", 0, "feature", 0], 99, "lacks"),
    (["front", "trees", 0, "size", 0], 1, "size"),
    (["front", "trees", 0, "answer", 0], 7, "answer"),
    (["front", "complete"], "yes", "'complete' is a str"),
    (["front"], DELETE, "'front' is missing"),
    (["front"], None, "a tree is a int"),
    (["named_features"], 1, "'named_features' is a int"),
]


@pytest.mark.parametrize(
    ("keys", "value", "reason"),
    CHANGES,
    ids=[f"{'.'.join(map(str, k))}-{n}" for n, (k, _, _) in enumerate(CHANGES)],
)
def test_a_damaged_value_is_refused(
    saved: Path, tmp_path: Path, keys: list[Any], value: Any, reason: str
) -> None:
    path = tmp_path / "damaged.json"
    path.write_text(json.dumps(change(json.loads(saved.read_text()), keys, value)))
    refused(path, reason)


def test_infinite_numbers_do_not_slip_in(saved: Path, tmp_path: Path) -> None:
    plain = json.loads(saved.read_text())
    number = repr(plain["front"]["trees"][0]["class_weight"][0][0])
    path = tmp_path / "endless.json"
    path.write_text(saved.read_text().replace(f'"class_weight":[[{number}', '"class_weight":[[1e999', 1))
    refused(path, "not finite")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        load_model(tmp_path / "absent.json")


@pytest.mark.parametrize(
    ("feature", "damage", "said"),
    [
        ("age", {"cuts": [10**400]}, "cuts must be a list of finite numbers"),
        ("pain", {"categories": ["no", "no"]}, "a category stands twice"),
    ],
)
def test_damaged_features_are_refused(tmp_path, feature, damage, said):
    table = pd.DataFrame({"age": [34, 61, 52, 47], "pain": ["no", "yes", "yes", "no"]})
    path = tmp_path / "model.json"
    save_model(GreedyTreeClassifier().fit(table, ["well", "ill", "ill", "well"]), path)
    plain = json.loads(path.read_text())
    entries = {entry["name"]: entry for entry in plain["schema"]["features"]}
    entries[feature].update(damage)
    path.write_text(json.dumps(plain))
    with pytest.raises(ValueError, match=f"{feature}.*{said}"):
        load_model(path)
