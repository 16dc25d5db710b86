"""GreedyTreeClassifier as its users meet it."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from cstree import CostModel, GreedyTreeClassifier
from cstree.greedy import CRITERIA, Criterion
from cstree.tree.evaluation import evaluate
from cstree.tree.pruning import prune_by_cost, prune_by_support


def patients(n: int = 300, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    sick = rng.random(n) < 0.3
    frame = pd.DataFrame(
        {
            "fever": 37 + sick + rng.normal(0, 0.7, n),
            "crp": np.where(rng.random(n) < 0.1, np.nan, np.exp(1 + sick + rng.normal(0, 0.6, n))),
            "cough": pd.Categorical(np.where(rng.random(n) < 0.3 + 0.4 * sick, "wet", "dry")),
            "smoker": pd.array(rng.random(n) < 0.4, dtype="boolean"),
            "visits": pd.array(rng.integers(0, 9, n), dtype="Int64"),
        }
    )
    frame.loc[::17, "visits"] = pd.NA
    return frame, np.where(sick, "sick", "well")


COSTS = CostModel(
    {("sick", "well"): 50.0, ("well", "sick"): 8.0},
    tests={"fever": 0.1, "crp": 1.5, "cough": 0.0, "smoker": 0.0, "visits": 0.2},
)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_every_criterion_on_a_mixed_table(criterion):
    X, y = patients()
    model = GreedyTreeClassifier(COSTS, criterion=criterion).fit(X, y)
    assert set(model.predict(X)) <= {"sick", "well"}
    assert model.predict_proba(X).sum(axis=1) == pytest.approx(1)
    assert (model.test_cost(X) >= 0).all()
    assert model.tree_.n_leaves > 1


def test_dear_mistakes_are_avoided():
    X, y = patients()
    model = GreedyTreeClassifier(COSTS, max_depth=4).fit(X, y)
    blind = GreedyTreeClassifier(max_depth=4, criterion="gain").fit(X, y)
    missed = [np.mean(m.predict(X)[y == "sick"] == "well") for m in (model, blind)]
    assert missed[0] < missed[1]


def test_prices_are_heeded():
    X, y = patients()
    dear = CostModel(COSTS.misclassification, tests=dict.fromkeys(X.columns, 1000.0))
    assert GreedyTreeClassifier(dear).fit(X, y).tree_.n_nodes == 1


def test_exact_cuts_of_numeric_arrays_are_no_worse_than_bins():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    exact = GreedyTreeClassifier(criterion="gini", max_bins=None, pruning=None, max_depth=1).fit(X, y)
    peer = DecisionTreeClassifier(max_depth=1).fit(X, y)
    assert exact.tree_.feature[0] == peer.tree_.feature[0]
    assert exact.tree_.threshold[0] == pytest.approx(peer.tree_.threshold[0])
    assert exact.score(X, y) == pytest.approx(peer.score(X, y))


@pytest.mark.parametrize("labels", [[0, 1], [False, True], ["no", "yes"], [-3, 7]])
def test_labels_of_any_kind(labels):
    X, y = patients(80)
    own = np.array(labels)[(y == "sick").astype(int)]
    costs = CostModel({(labels[0], labels[1]): 3.0, (labels[1], labels[0]): 9.0})
    model = GreedyTreeClassifier(costs).fit(X, own)
    assert model.classes_.tolist() == sorted(labels)
    assert model.predict(X).dtype == own.dtype


class TestPruning:
    """Each pruning, against the functions that prune finished trees."""

    @pytest.fixture
    def table(self):
        return patients(400, seed=3)

    def fitted(self, table, pruning, **options):
        return GreedyTreeClassifier(COSTS, criterion="gain", pruning=pruning, **options).fit(*table)

    def test_none(self, table):
        full = self.fitted(table, None)
        assert full.tree_.same_as(self.fitted(table, "none").tree_)
        shallow = [self.fitted(table, pruning, max_depth=3).tree_.n_nodes for pruning in (None, "cost")]
        assert shallow[0] > shallow[1]

    def test_support_and_cost(self, table):
        full = self.fitted(table, None, min_support=9)
        dataset = full._training_data(*table)
        by_support = prune_by_support(full.tree_, dataset, full.costs_, 9)
        assert self.fitted(table, "support", min_support=9).tree_.same_as(by_support)
        assert (by_support.support >= 9).all()
        both = self.fitted(table, "support+cost", min_support=9).tree_
        assert both.same_as(prune_by_cost(by_support, dataset, full.costs_))

    def test_strength_lowers_total_cost(self, table):
        models = [self.fitted(table, pruning) for pruning in ("cost", 0.0)]
        dataset = models[0]._training_data(*table)
        totals = [evaluate(m.tree_, dataset, m.costs_).total_cost for m in models]
        assert totals[1] <= totals[0]
        assert models[1].tree_.n_leaves >= self.fitted(table, 0.5).tree_.n_leaves

    def test_held_out(self, table):
        first = self.fitted(table, "held_out", random_state=0)
        again = self.fitted(table, "held_out", random_state=0)
        other = self.fitted(table, "held_out", random_state=1)
        assert first.tree_.same_as(again.tree_)
        assert not first.tree_.same_as(other.tree_)
        assert first.tree_.n_nodes < self.fitted(table, "cost").tree_.n_nodes
        assert first.tree_.support[0] == 400  # leaves are labelled by all cases

    def test_held_out_from_very_few(self):
        X, y = patients(3)
        assert self.fitted((X, y), "held_out").tree_.n_nodes >= 1
        assert self.fitted((X[:1], y[:1]), "held_out").tree_.n_nodes == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"criterion": "entropy"}, "Unknown criterion 'entropy'"),
        ({"pruning": "ccp"}, "pruning must be one of"),
        ({"categorical_split": "onehot"}, "categorical_split must be"),
        ({"max_depth": "deep"}, "max_depth must be a whole number"),
        ({"max_bins": 1}, "max_bins must be at least 2"),
        ({"alpha": 7}, "alpha must be"),
        ({"omega": {"weight": 1.0}}, "omega names the feature 'weight'"),
    ],
)
def test_wrong_parameters_are_named(options, message):
    X, y = patients(30)
    with pytest.raises(ValueError, match=message):
        GreedyTreeClassifier(**options).fit(X, y)


def test_weights_and_costs_by_case():
    X, y = patients()
    light = GreedyTreeClassifier(COSTS, max_depth=2).fit(X, y)
    heavy = GreedyTreeClassifier(COSTS, max_depth=2).fit(X, y, sample_weight=np.where(y == "sick", 10.0, 1.0))
    assert (heavy.predict(X) == "sick").mean() > (light.predict(X) == "sick").mean()
    amounts = np.linspace(1, 200, len(y))
    by_case = np.zeros((len(y), 2))
    by_case[y == "sick", 1] = amounts[y == "sick"]
    by_case[y == "well", 0] = 8.0
    model = GreedyTreeClassifier(COSTS).fit(X, y, example_cost=by_case)
    rows = by_case[np.arange(len(y)), np.searchsorted(model.classes_, model.predict(X))]
    assert rows.sum() < by_case.sum(axis=0).min()
    same = GreedyTreeClassifier(COSTS).fit(
        X, y, example_cost=np.array([[0.0, 50.0], [8.0, 0.0]])[(y == "well").astype(int)]
    )
    assert (same.predict(X) == GreedyTreeClassifier(COSTS).fit(X, y).predict(X)).all()


def test_cases_of_weight_zero_are_as_if_absent():
    X, y = patients()
    weight = np.where(np.arange(len(y)) % 3 == 0, 0.0, 1.0)
    kept = weight > 0
    with_zeros = GreedyTreeClassifier(COSTS).fit(X, y, sample_weight=weight)
    assert with_zeros.tree_.same_as(GreedyTreeClassifier(COSTS).fit(X[kept], y[kept]).tree_)


def test_metadata_is_routed():
    X, y = patients()
    by_case = np.array([[0.0, 50.0], [8.0, 0.0]])[(y == "well").astype(int)]
    with sklearn.config_context(enable_metadata_routing=True):
        model = GreedyTreeClassifier().set_fit_request(sample_weight=True, example_cost=True)
        model.set_score_request(sample_weight=True)
        search = GridSearchCV(model, {"max_depth": [1, 3]}, cv=3)
        search.fit(X, y, sample_weight=np.ones(len(y)), example_cost=by_case)
    assert search.best_estimator_.tree_.label_cost[0] == pytest.approx(by_case.sum(axis=0))


class Thrifty(Criterion):
    """Gain less a tenth of the price."""

    stop = "gain"

    def __call__(self, candidates):
        return candidates.gain - candidates.price / 10


def test_in_pipelines_searches_and_files():
    X, y = patients()
    X = X.drop(columns=["smoker", "visits"])
    columns = ColumnTransformer(
        [("scale", StandardScaler(), ["fever", "crp"]), ("code", OneHotEncoder(), ["cough"])]
    )
    pipeline = make_pipeline(columns, GreedyTreeClassifier(criterion=Thrifty()))
    search = GridSearchCV(
        pipeline,
        {
            "greedytreeclassifier__costs": [None, CostModel({("sick", "well"): 5.0, ("well", "sick"): 1.0})],
            "greedytreeclassifier__criterion": ["secsdt_mc", "pm", Thrifty()],
            "greedytreeclassifier__pruning": ["cost", 0.01],
        },
        cv=2,
        error_score="raise",
    ).fit(X, y)
    assert len(search.cv_results_["params"]) == 12
    best = search.best_estimator_
    assert (pickle.loads(pickle.dumps(best)).predict(X) == best.predict(X)).all()
    model = GreedyTreeClassifier(COSTS, criterion=Thrifty(), omega={"crp": 0.5})
    assert clone(model).get_params()["costs"] == COSTS
    scores = cross_validate(model.set_params(costs=None, omega=1.0), X, y, cv=3)
    assert scores["test_score"].mean() > 0.6


def test_unknown_categories_and_missing_values_at_prediction():
    X, y = patients()
    model = GreedyTreeClassifier(COSTS, criterion="gain", pruning=None).fit(X, y)
    other = X.copy()
    other["cough"] = other["cough"].cat.add_categories("barking")
    other.loc[other.index[:5], "cough"] = "barking"
    gone = X.copy()
    gone.loc[gone.index[:5], "cough"] = np.nan
    assert (model.apply(other) == model.apply(gone)).all()


def test_a_fit_leaves_the_table_alone():
    X, y = patients()
    before, labels = X.copy(), y.copy()
    GreedyTreeClassifier(COSTS).fit(X, y)
    pd.testing.assert_frame_equal(X, before)
    assert (y == labels).all()
