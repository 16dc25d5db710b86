"""The adapters in river: its own checks, and the same steps as the learners on tables."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest

river = pytest.importorskip("river", reason="river is not installed (pip install 'cstree[river]')")

from river import checks, compose, datasets, evaluate, metrics, preprocessing, tree  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402

from cstree import CostModel, GreedyTreeClassifier  # noqa: E402
from cstree.datasets import load_hepatitis  # noqa: E402
from cstree.online import CSOCClassifier, OCSCAClassifier  # noqa: E402
from cstree.online.river import CSOC, OCSCA  # noqa: E402
from tests.online.problems import FIVE_TO_ONE, random_stream, two_clouds  # noqa: E402

MODELS = [OCSCA(), OCSCA(FIVE_TO_ONE, scale=None), CSOC(variant="I", objective="sum", decay="sqrt")]
LONG = "check_bounded_memory_growth"  # takes ten times the cases of the other checks


@pytest.mark.parametrize("model", MODELS, ids=["OCSCA", "OCSCA-costs", "CSOC"])
def test_checks_of_river(model: Any) -> None:
    done = 0
    for check in checks.yield_checks(model):
        if check.__name__ != LONG:
            check(model.clone())
            done += 1
    assert done > 30


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS, ids=["OCSCA", "OCSCA-costs", "CSOC"])
def test_memory_check_of_river(model: Any) -> None:
    for check in checks.yield_checks(model):
        if check.__name__ == LONG:
            check(model.clone())


def cases(X: Any) -> list[dict[str, float]]:
    return [{f"x{j}": float(v) for j, v in enumerate(row)} for row in X]


@pytest.mark.parametrize("scale", ["auto", None])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_cases_one_by_one_are_the_table(scale: str | None, n_classes: int) -> None:
    X, y, _ = random_stream(0, n=150, n_classes=n_classes)
    costs = FIVE_TO_ONE if n_classes == 2 else CostModel([[0, 1, 4], [2, 0, 1], [7, 3, 0]], classes=[0, 1, 2])
    ours, theirs = OCSCAClassifier(costs, scale=scale), OCSCA(costs, scale=scale)
    ours.partial_fit(X, y, classes=range(n_classes))
    wrong = 0
    for x, label in zip(cases(X), y.tolist(), strict=True):
        answer = theirs.predict_one(x)
        wrong += (False if answer is None else answer) != label
        theirs.learn_one(x, label)
    assert wrong / 150 == pytest.approx(ours.prequential_error_)
    assert [theirs.predict_one(x) for x in cases(X)] == ours.predict(X).tolist()
    learnt = np.array([[w.get(f"x{j}", 0.0) for j in range(4)] for w in theirs._weights])
    assert np.allclose(learnt, ours.coef_, rtol=1e-10, atol=1e-14)


SETTINGS: list[dict[str, Any]] = [{}, {"variant": "I"}, {"objective": "sum", "decay": "sqrt", "scale": None}]


@pytest.mark.parametrize("options", SETTINGS)
def test_csoc_one_by_one_is_the_table(options: dict[str, Any]) -> None:
    X, y, _ = random_stream(1, n=150)
    ours = CSOCClassifier(FIVE_TO_ONE, **options).partial_fit(X, y, classes=[0, 1])
    theirs = CSOC(FIVE_TO_ONE, **options)
    for x, label in zip(cases(X), y.tolist(), strict=True):
        theirs.learn_one(x, bool(label))
    assert [theirs.predict_one(x) for x in cases(X)] == (ours.predict(X) == 1).tolist()
    assert theirs._weights[0].get("x2") == pytest.approx(ours.coef_[0, 2], rel=1e-10)
    assert theirs._intercepts[0] == pytest.approx(ours.intercept_[0], rel=1e-10)


def test_a_third_class_may_come_later() -> None:
    X, y, _ = random_stream(2, n=120, n_classes=3)
    late = np.where(np.arange(120) < 50, y % 2, y)
    whole = OCSCAClassifier().partial_fit(X, late, classes=[0, 1, 2])
    model = OCSCA()
    for x, label in zip(cases(X), late.tolist(), strict=True):
        model.learn_one(x, label)
    # As long as there were two, the third was no rival: not the same path, but the same kind of answers.
    answers = [model.predict_one(x) for x in cases(X)]
    agree = np.mean(np.array(answers) == whole.predict(X))
    assert len(model._weights) == 3 and agree > 0.6
    assert np.isclose(sum(model._intercepts), 0.0, atol=1e-12)


def test_in_a_pipeline_of_river() -> None:
    dear = CostModel.binary(false_positive=1, false_negative=10)
    found = {}
    for name, model in {
        "even": OCSCA(),
        "dear": OCSCA(dear),
        "csoc even": CSOC(),
        "csoc dear": CSOC(dear),
    }.items():
        pipeline = preprocessing.StandardScaler() | model
        score = metrics.Accuracy() + metrics.Recall()
        found[name] = [m.get() for m in evaluate.progressive_val_score(datasets.Phishing(), pipeline, score)]
    assert found["even"][0] > 0.85 and found["csoc even"][0] > 0.85
    assert found["dear"][1] > max(0.93, found["even"][1]) and found["csoc dear"][1] > found["csoc even"][1]


def test_a_tree_of_cstree_on_mixed_cases() -> None:
    table = load_hepatitis()
    X, y = table.data, table.target
    fitted = GreedyTreeClassifier(table.costs, max_depth=3).fit(X, y)
    costs = CostModel({("die", "live"): 30.0, ("live", "die"): 60.0}, classes=["die", "live"])
    ours = OCSCAClassifier(costs, estimator=fitted, features="leaf").fit(X, y)
    theirs = OCSCA(costs, estimator=fitted, features="leaf")
    rows = X.astype(object).where(X.notna(), None).to_dict("records")
    for x, label in zip(rows, y, strict=True):
        theirs.learn_one(x, label)
    assert [theirs.predict_one(x) for x in rows] == ours.predict(X).tolist()
    copy = theirs.clone()
    assert copy.estimator.tree_.n_nodes == fitted.tree_.n_nodes
    assert copy.predict_one(rows[0]) == fitted.predict(X.iloc[:1])[0]
    numbers = OCSCA(costs, estimator=fitted)  # reads the numbers of a mixed case
    numbers.learn_one({k: v for k, v in rows[0].items() if v is not None}, "live")
    assert "age" in numbers._weights[0].to_dict()


def test_classifiers_of_scikit_learn_and_of_river_are_adapted() -> None:
    X, y = two_clouds(500, seed=3)
    frame = pd.DataFrame(X, columns=["x0", "x1"])
    old = LogisticRegression().fit(frame[:200], y[:200])
    hoeffding = tree.HoeffdingTreeClassifier()
    for x, label in zip(cases(X[:200]), (y[:200] == 1).tolist(), strict=True):
        hoeffding.learn_one(x, label)
    before = [hoeffding.predict_one(x) for x in cases(X)]
    for base in (old, hoeffding):
        model = OCSCA(FIVE_TO_ONE, estimator=base)
        assert repr(model.clone()).count(type(base).__name__) == 1
        start = np.mean([model.predict_one(x) == (p == 1) for x, p in zip(cases(X), y, strict=True)])
        for x, label in zip(cases(X[200:]), (y[200:] == 1).tolist(), strict=True):
            model.learn_one(x, label)
        missed = np.mean([not model.predict_one(x) for x, p in zip(cases(X), y, strict=True) if p])
        assert start > 0.75 and missed < 0.12
        kept = pickle.loads(pickle.dumps(model))
        assert kept.predict_one(cases(X)[0]) == model.predict_one(cases(X)[0])
        if base is hoeffding:
            assert model.clone().predict_one(cases(X)[7]) == before[7]
    assert [hoeffding.predict_one(x) for x in cases(X)] == before
    scaled = OCSCA(FIVE_TO_ONE, estimator=old, features=preprocessing.StandardScaler())
    assert isinstance(compose.Pipeline(scaled), compose.Pipeline)
    for x, label in zip(cases(X[:100]), (y[:100] == 1).tolist(), strict=True):
        scaled.learn_one(x, label)
    assert scaled.features.counts["x0"] == 100 and scaled.clone().features.counts.get("x0", 0) == 0


def test_costs_change_in_the_middle_and_weights_count() -> None:
    X, y = two_clouds(600)
    for make in (OCSCA, CSOC):
        model, twice = make(scale=None), make(scale=None)
        for x, label in zip(cases(X), (y == 1).tolist(), strict=True):
            model.learn_one(x, label, w=2.0)
            twice.learn_one(x, label)
            if make is OCSCA:
                twice.learn_one(x, label)
        if make is OCSCA:
            assert [model.predict_one(x) for x in cases(X)] == [twice.predict_one(x) for x in cases(X)]
        before = sum(model.predict_one(x) for x in cases(X))
        model.set_costs(FIVE_TO_ONE)
        for x, label in zip(cases(X), (y == 1).tolist(), strict=True):
            model.learn_one(x, label)
        assert sum(model.predict_one(x) for x in cases(X)) > 1.1 * before
    model = OCSCA(alpha=0.1)
    model.mutate({"alpha": 0.2})
    assert model.alpha == 0.2


def test_what_they_refuse() -> None:
    with pytest.raises(TypeError, match=r"feature 'a' holds 'red', which is no number"):
        OCSCA().learn_one({"a": "red"}, True)
    with pytest.raises(ValueError, match="feature 'a' is not finite"):
        CSOC().learn_one({"a": float("nan")}, True)
    with pytest.raises(ValueError, match="the label is 'x', but the classes are"):
        CSOC().learn_one({"a": 1.0}, "x")
    with pytest.raises(ValueError, match="no costs for the class 'x'"):
        OCSCA(FIVE_TO_ONE).learn_one({"a": 1.0}, "x")
    with pytest.raises(ValueError, match="does not show its classes at once"):
        OCSCA(CostModel(1 - np.eye(3)))
    with pytest.raises(ValueError, match="takes two classes"):
        CSOC(CostModel(1 - np.eye(3), classes=["a", "b", "c"]))
    with pytest.raises(ValueError, match="does not know its features by name"):
        OCSCA(estimator=LogisticRegression().fit([[0.0], [1.0]], [False, True]))
    with pytest.raises(ValueError, match="alpha must be greater than 0"):
        OCSCA(alpha=0)
    model = OCSCA()
    model.learn_one({"a": 1.0}, "x")
    assert OCSCA().predict_one({"a": 1.0}) is None and model.predict_one({}) == "x"
    with pytest.raises(ValueError, match="the costs lack the class 'x'"):
        model.set_costs(CostModel({("a", "b"): 1, ("b", "a"): 2}))
