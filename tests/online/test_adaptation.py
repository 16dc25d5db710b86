"""What can be adapted, on which tables, and what is left of it afterwards."""

from __future__ import annotations

import dataclasses
import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import RandomForestClassifier, VotingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from cstree import CostModel, GreedyTreeClassifier, ParetoTreeClassifier, load_model, save_model
from cstree.datasets import load_hepatitis
from cstree.metrics import make_cost_scorer, misclassification_cost
from cstree.metrics import test_cost as price_of_tests
from cstree.online import CSOCClassifier, OCSCAClassifier
from cstree.online.margins import hinge_scale, margins
from tests.online.problems import BLIND, FIVE_TO_ONE, random_stream, two_clouds


def cost_of(model: Any, X: Any, y: Any, costs: CostModel) -> float:
    return misclassification_cost(y, model.predict(X), costs)


FITTED = [
    LinearSVC(),
    LogisticRegression(),
    SVC(),
    DecisionTreeClassifier(max_depth=3, random_state=0),
    RandomForestClassifier(10, random_state=0),
    VotingClassifier([("a", LinearSVC()), ("b", LogisticRegression()), ("c", SVC())]),  # predicts only
    make_pipeline(StandardScaler(), LogisticRegression()),
    GreedyTreeClassifier(BLIND, max_depth=3),
    ParetoTreeClassifier(BLIND, max_depth=2, generations=5, random_state=0),
]


@pytest.mark.parametrize("estimator", FITTED, ids=lambda estimator: type(estimator).__name__)
def test_classifiers_of_all_kinds_begin_as_they_are_and_come_to_new_costs(estimator: Any) -> None:
    X, y = two_clouds(300, seed=5)
    labels = np.array(["no", "yes"])
    old = clone(estimator).fit(X, labels[y])
    costs = CostModel({("no", "yes"): 1, ("yes", "no"): 5})
    X_new, y_new = two_clouds(6000, seed=6)
    model = OCSCAClassifier(costs, estimator=old).partial_fit(X_new[:1], labels[y_new[:1]])
    assert model.classes_.tolist() == ["no", "yes"]  # the classifier names them
    agree = np.mean(model.predict(X_new) == old.predict(X_new))
    assert agree > 0.99
    model.partial_fit(X_new, labels[y_new])
    X_test, y_test = two_clouds(20_000, seed=7)
    before, after = (cost_of(m, X_test, labels[y_test], costs) for m in (old, model))
    assert before > 0.42 and after < 0.41 and after < 0.8 * before  # least cost: 0.300


@pytest.mark.parametrize(
    "estimator",
    [LogisticRegression(), SVC(break_ties=True), GreedyTreeClassifier(max_depth=3), LinearSVC()],
    ids=repr,
)
def test_margins_of_many_classes_answer_as_the_classifier(estimator: Any) -> None:
    X, y, _ = random_stream(0, n=300, n_classes=3)
    old = estimator.fit(X, y)
    assert np.array_equal(margins(old, X).argmax(axis=1), old.predict(X))


def test_leaves_of_a_dear_tree_answer_as_the_tree() -> None:
    X, y = two_clouds(400)
    for seed in range(3):
        weight = np.random.default_rng(seed).integers(0, 3, 400)
        costs = CostModel([[-2, 1], [30, 0]] if seed else [[0, 1], [9, 0]])
        old = GreedyTreeClassifier(costs, pruning=None).fit(X, y, sample_weight=weight)
        assert np.array_equal(margins(old, X) > 0, old.predict(X) == 1)


def test_frames_with_text_are_read_by_the_tree_and_numbers_by_the_adaptation() -> None:
    table = load_hepatitis()
    X, y = table.data, table.target
    tree = GreedyTreeClassifier(table.costs, max_depth=3).fit(X, y)
    other = CostModel({("die", "live"): 500.0, ("live", "die"): 20.0}, classes=tree.classes_.tolist())
    leaf = OCSCAClassifier(other, estimator=tree, features="leaf").fit(X, y)
    assert leaf.coef_.shape == (1, tree.tree_.n_nodes)
    assert leaf.feature_names_in_.tolist() == list(X.columns)
    filled = X.fillna({name: X[name].median() for name in X.select_dtypes("number")})
    numbers = OCSCAClassifier(other, estimator=tree).fit(filled, y)
    assert numbers.coef_.shape[1] == X.select_dtypes(["number", "bool"]).shape[1] < X.shape[1]
    transformer = ColumnTransformer(
        [
            (
                "text",
                OneHotEncoder(handle_unknown="ignore"),
                X.select_dtypes(exclude=["number", "bool"]).columns,
            )
        ]
    )
    coded = OCSCAClassifier(other, estimator=tree, features=transformer).fit(X, y)
    assert coded.coef_.shape[1] > 3 and not hasattr(transformer, "transformers_")
    for model in (leaf, coded):
        assert cost_of(model, X, y, other) <= cost_of(tree, X, y, other)
        with pytest.raises(ValueError, match="feature names"):
            model.predict(X.rename(columns={"age": "years"}))
    with pytest.raises(ValueError, match="give frames from then on"):
        numbers.predict(filled.to_numpy())
    with pytest.raises(ValueError, match=r"Input X contains NaN"):
        OCSCAClassifier(other, estimator=tree).fit(X, y)


def test_leaves_come_to_the_answers_of_least_cost() -> None:
    rng = np.random.default_rng(0)
    group = rng.integers(0, 12, 400)
    share = np.linspace(0.02, 0.9, 12)  # of the second class, by group
    costs = CostModel.binary(false_positive=1, false_negative=4)
    X, y = group[:, None].astype(float), (rng.random(400) < share[group]).astype(int)
    y[:12], X[:12, 0] = np.arange(12) % 2, np.arange(12)
    tree = GreedyTreeClassifier(BLIND, pruning=None, min_support=1).fit(X, y)
    assert tree.get_n_leaves() == 12
    group = rng.integers(0, 12, 60_000)
    X_new, y_new = group[:, None].astype(float), (rng.random(60_000) < share[group]).astype(int)
    model = OCSCAClassifier(costs, estimator=tree, features="leaf", average=True, fit_intercept=False)
    model.fit(X_new, y_new)
    bayes = share > 1 / 5
    every = np.arange(12.0)[:, None]
    assert (tree.predict(every) != bayes).sum() >= 3
    assert np.array_equal(model.predict(every) == 1, bayes)
    model.set_costs(CostModel.binary(false_positive=4, false_negative=1)).partial_fit(X_new, y_new)
    assert np.array_equal(model.predict(every) == 1, share > 4 / 5)


def test_leaves_of_many_classes_come_to_the_least_cost_where_one_class_has_most() -> None:
    share = np.array([[0.7, 0.2, 0.1], [0.15, 0.75, 0.1], [0.1, 0.1, 0.8], [0.6, 0.2, 0.2]])
    rng = np.random.default_rng(1)
    group = rng.integers(0, 4, 30_000)
    y = (rng.random((30_000, 1)) > share[group].cumsum(axis=1)).sum(axis=1)
    X = group[:, None].astype(float)
    tree = GreedyTreeClassifier(CostModel([[0, 1, 1], [1, 0, 1], [90, 90, 0]])).fit(X[:2000], y[:2000])
    even = CostModel([[0, 1, 1], [1, 0, 1], [1, 1, 0]])
    free = GreedyTreeClassifier(even, pruning=None).fit(X[:2000], y[:2000])
    assert (tree.predict(np.arange(4.0)[:, None]) == 2).all() and free.get_n_leaves() == 4
    model = OCSCAClassifier(even, estimator=free, features="leaf").fit(X, y)
    assert model.predict(np.arange(4.0)[:, None]).tolist() == share.argmax(axis=1).tolist()


def test_an_adapted_tree_is_a_tree(tmp_path: Any) -> None:
    table = load_hepatitis()
    X, y = table.data, table.target
    front = ParetoTreeClassifier(table.costs, max_depth=3, generations=5, random_state=0).fit(X, y)
    tree = front.choose({"max_test_cost": 10.0})
    dear = CostModel({("die", "live"): 20.0, ("live", "die"): 2000.0}, classes=tree.classes_.tolist())
    model = OCSCAClassifier(dear, estimator=FrozenEstimator(tree), features="leaf", alpha=0.1).fit(X, y)
    made = model.adapted_tree()
    assert np.array_equal(made.predict(X), model.predict(X))
    assert not np.array_equal(made.predict(X), tree.predict(X))
    # Tests cost what they cost before: the new costs price none.
    assert np.array_equal(model.test_cost(X), tree.test_cost(X))
    assert np.array_equal(made.test_cost(X), tree.test_cost(X))
    assert price_of_tests(model, X, table.costs) == pytest.approx(tree.test_cost(X).mean())
    assert made.costs_.matrix.max() == 2000.0 and "live |" in made.export_text()
    save_model(made, tmp_path / "tree.json")
    assert np.array_equal(load_model(tmp_path / "tree.json").predict(X), model.predict(X))
    priced = CostModel({("die", "live"): 9.0, ("live", "die"): 2.0}, tests=dict.fromkeys(X.columns, 1.0))
    model.set_costs(priced)
    assert set(np.unique(model.test_cost(X))) <= {0.0, 1.0, 2.0, 3.0}
    assert np.array_equal(model.adapted_tree().test_cost(X), model.test_cost(X))
    assert not hasattr(OCSCAClassifier(estimator=tree), "test_cost")
    assert not hasattr(OCSCAClassifier(features="leaf"), "adapted_tree")
    three = [0, 1, 2] * 20
    small = GreedyTreeClassifier(pruning=None).fit(np.array(three)[:, None], three)
    many = OCSCAClassifier(estimator=small, features="leaf").fit(np.array(three)[:, None], three)
    assert many.adapted_tree().predict([[0.0], [1.0], [2.0]]).tolist() == [0, 1, 2]


def test_a_leaf_without_cases_answers_as_its_ancestor() -> None:
    X = np.array([[0.0], [0.0], [0.0], [1.0], [1.0], [2.0]])
    tree = GreedyTreeClassifier(pruning=None, min_support=1).fit(X, [0, 0, 0, 1, 1, 0])
    weight = tree.tree_.class_weight.copy()
    node = int(tree.apply([[2.0]])[0])
    weight[node] = 0
    cost = tree.tree_.label_cost.copy()
    cost[node] = 0
    tree.tree_ = dataclasses.replace(tree.tree_, class_weight=weight, label_cost=cost)
    parent = int(tree.tree_.parents()[node])
    assert np.sign(margins(tree, [[2.0]])[0]) == 2 * tree.tree_.answer[parent] - 1


def test_clones_keep_what_is_fitted_and_forget_what_was_learnt() -> None:
    X, y = two_clouds(500)
    tree = GreedyTreeClassifier(max_depth=2).fit(X[:200], y[:200])
    scaler = StandardScaler().fit(X[:200])
    model = OCSCAClassifier(FIVE_TO_ONE, estimator=tree, features=scaler).fit(X, y)
    assert model.estimator is tree and model.features is scaler  # a constructor keeps what it is given
    again = clone(model)
    assert isinstance(again.estimator, FrozenEstimator) and again.estimator.estimator is tree
    assert again.features.mean_ is scaler.mean_ and not hasattr(again, "classes_")
    assert clone(again).estimator is again.estimator
    assert np.array_equal(again.fit(X, y).coef_, model.coef_)
    assert clone(OCSCAClassifier(features=StandardScaler())).features is not None
    grid = GridSearchCV(model, {"alpha": [1e-3, 1e-1]}, scoring=make_cost_scorer(FIVE_TO_ONE), cv=3)
    assert grid.fit(X, y).best_estimator_.f0_scale_ == 1.0


def test_a_pickle_goes_on_where_the_stream_was() -> None:
    X, y = two_clouds(900)
    tree = GreedyTreeClassifier(max_depth=2).fit(X[:100], y[:100])
    for model in (
        OCSCAClassifier(FIVE_TO_ONE, estimator=tree, features="leaf", average=True, window=70),
        CSOCClassifier(objective="sum", decay="sqrt", features=StandardScaler(), average=True, window=70),
    ):
        whole = model.partial_fit(X[:400], y[:400], classes=[0, 1])
        copy = pickle.loads(pickle.dumps(whole))
        for part in (whole, copy):
            part.partial_fit(X[400:], y[400:])
        assert np.array_equal(whole.coef_, copy.coef_)
        assert whole.prequential_curve_.equals(copy.prequential_curve_)


@pytest.mark.parametrize("seed", range(5))
def test_hinge_scale_is_the_least_of_all(seed: int) -> None:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2 if seed < 3 else 3, 60)
    scores = (
        rng.normal(size=60) * 20 + (2 * y - 1) * 9
        if seed < 3
        else rng.normal(size=(60, 3)) * 9 + 9 * np.eye(3)[y]
    )
    if seed < 3:
        margin = (2 * y - 1) * scores
    else:
        margin = np.array([f[k] - max(np.delete(f, k)) for f, k in zip(scores, y, strict=True)])
    found = hinge_scale(scores, y)
    loss = [np.maximum(0, 1 - s * margin).sum() for s in (found, *np.geomspace(1e-4, 10, 3000))]
    assert loss[0] <= min(loss) + 1e-9
    assert (
        hinge_scale(-np.abs(scores), np.ones_like(y)) == pytest.approx(1 / np.abs(scores).max()) or seed >= 3
    )
    assert hinge_scale(np.zeros(20), np.ones(20, dtype=int)) == 1.0


def test_hinge_scale_is_measured_on_the_first_call() -> None:
    X, y = two_clouds(600)
    old = LinearSVC().fit(X[:100] * 1000, y[:100])
    wild = OCSCAClassifier(estimator=FrozenEstimator(old), f0_scale="hinge")
    wild.partial_fit(X[:300], y[:300])
    scale = wild.f0_scale_
    wild.partial_fit(X[300:], y[300:])
    assert scale == wild.f0_scale_ > 5
    with pytest.raises(ValueError, match="10 or more"):
        clone(wild).partial_fit(X[:9], y[:9])


def test_sparse_tables_reach_the_classifier_and_the_transformer_as_they_are() -> None:
    from scipy.sparse import csr_array

    X, y = two_clouds(200)
    old = LogisticRegression().fit(X, y)
    dense = OCSCAClassifier(FIVE_TO_ONE, estimator=old).fit(X, y)
    sparse = OCSCAClassifier(FIVE_TO_ONE, estimator=old).fit(csr_array(X), y)
    assert np.allclose(dense.coef_, sparse.coef_)
    scaled = OCSCAClassifier(features=StandardScaler(with_mean=False)).fit(csr_array(X), y)
    assert np.allclose(
        scaled.coef_, OCSCAClassifier(features=StandardScaler(with_mean=False)).fit(X, y).coef_
    )


def test_labels_and_frames_of_all_kinds() -> None:
    X, y = two_clouds(60)
    frame = pd.DataFrame(X, columns=["a", "b"]).assign(c=pd.array(y, dtype="Int64"), d=y == 1)
    for labels in (y == 1, np.where(y, "b", "a"), pd.Series(y, dtype="Int64"), y * 2.0):
        model = OCSCAClassifier().fit(frame, labels)
        assert set(model.predict(frame).tolist()) <= set(np.unique(np.asarray(labels)).tolist())
    assert model.coef_.shape == (1, 4)
    named = CostModel({("a", "b"): 1, ("b", "a"): 3})
    stream = OCSCAClassifier(named).partial_fit(X[:1], ["b"])  # the costs name the classes
    assert stream.partial_fit(X[1:2], ["a"]).classes_.tolist() == ["a", "b"]
    assert OCSCAClassifier(named).fit(X[:1], ["b"]).classes_.tolist() == ["a", "b"]
    with pytest.raises(ValueError, match=r"y holds 'c'"):
        stream.partial_fit(X[:1], ["c"])


BAD: list[tuple[dict[str, Any], str]] = [
    ({"alpha": 0}, "alpha must be greater than 0"),
    ({"alpha": "big"}, "alpha must be a number"),
    ({"f0_scale": "auto"}, "f0_scale must be 'hinge' or a positive number"),
    ({"f0_scale": -1.0}, "f0_scale must be greater than 0"),
    ({"intercept_scaling": 0}, "intercept_scaling must be greater than 0"),
    ({"scale": "yes"}, "scale must be 'auto' or None"),
    ({"window": 0}, "window must be a whole number"),
    ({"features": "leaf"}, "features='leaf' wants an estimator that is one tree; it is None"),
    ({"features": "leaves"}, "features must be 'x', 'leaf' or a transformer"),
    ({"features": StandardScaler}, "features must be 'x', 'leaf' or a transformer"),
    ({"estimator": GreedyTreeClassifier()}, "is not fitted: fit it first"),
    ({"estimator": StandardScaler()}, "must be a fitted classifier"),
    ({"costs": [[0, 1], [1, 0]]}, "costs must be a CostModel"),
    ({"estimator": SVC(decision_function_shape="ovo").fit(np.eye(4), range(4))}, "one score per class"),
]


@pytest.mark.parametrize(("options", "message"), BAD)
def test_settings_that_cannot_be(options: dict[str, Any], message: str) -> None:
    X = np.arange(16.0).reshape(4, 4)
    with pytest.raises((ValueError, TypeError), match=message.replace("(", r"\(")):
        OCSCAClassifier(**options).fit(X, [0, 1, 0, 1])


def test_streams_that_cannot_be() -> None:
    X, y = two_clouds(20)
    model = OCSCAClassifier()
    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        model.partial_fit(X, y)
    with pytest.raises(ValueError, match="two classes or more; got one class"):
        model.fit(X, np.ones(20))
    with pytest.raises(ValueError, match="sample_weight of case 0 is negative"):
        model.fit(X, y, sample_weight=-np.ones(20))
    with pytest.raises(NotFittedError):
        model.predict(X)
    model.partial_fit(X, y, classes=[0, 1])
    with pytest.raises(ValueError, match="at the first call they were 0, 1"):
        model.partial_fit(X, y, classes=[0, 1, 2])
    before = model.coef_
    with pytest.raises(ValueError, match="classes"):
        model.set_costs(CostModel({("a", "b"): 1, ("b", "a"): 2}))
    with pytest.raises(TypeError, match="CostModel"):
        model.set_costs([[0, 1], [2, 0]])
    assert model.costs is None and np.array_equal(
        model.partial_fit(X[:0] if False else X, y).classes_, [0, 1]
    )
    assert not np.array_equal(before, model.coef_)
    with pytest.raises(ValueError, match="the estimator knows 0, 1"):
        OCSCAClassifier(estimator=LinearSVC().fit(X, y)).partial_fit(X, y, classes=[1, 2])
    with pytest.raises(ValueError, match="hold none: give a transformer"):
        OCSCAClassifier().fit(pd.DataFrame({"a": range(20), "b": ["x"] * 20}), y)
    with pytest.raises(ValueError, match="what features made of X contains NaN"):
        OCSCAClassifier(features=FunctionTransformer(lambda x: x * np.nan)).fit(X, y)
    with pytest.raises(ValueError, match="scale X"), np.errstate(all="ignore"):
        CSOCClassifier(scale=None, learning_rate=1e150).fit(X * 1e200, y)
