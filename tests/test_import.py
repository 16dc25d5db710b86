"""What a user gets from ``import cstree``: the names, the version, the types; and without the extras."""

from __future__ import annotations

import importlib
import importlib.metadata
import inspect
import pkgutil
import re
import subprocess
import sys
import tomllib
from importlib.resources import files
from pathlib import Path

import pytest

import cstree

ROOT = Path(__file__).resolve().parents[1]

# The public contract: these names stay.
PUBLIC = {
    "cstree": {
        "AdaBoostDBClassifier",
        "AdaC1Classifier",
        "AdaC2Classifier",
        "AdaC3Classifier",
        "AdaCostClassifier",
        "CGAdaClassifier",
        "CSAdaBoostClassifier",
        "CSB0Classifier",
        "CSB1Classifier",
        "CSB2Classifier",
        "CostModel",
        "FeatureTest",
        "Front",
        "GreedyTreeClassifier",
        "ParetoTreeClassifier",
        "__version__",
        "load_model",
        "save_model",
    },
    "cstree.datasets": {
        "load_bupa",
        "load_heart",
        "load_hepatitis",
        "load_pima",
        "make_bayes",
        "make_two_clouds",
    },
    "cstree.metrics": {
        "cost_curve",
        "lower_envelope",
        "make_cost_scorer",
        "misclassification_cost",
        "normalized_expected_cost",
        "probability_cost",
        "recognition_rate",
        "savings_score",
        "test_cost",
        "total_cost",
    },
    "cstree.plot": {"convergence_figure", "explore_front", "front_figure", "render_tree", "tree_figure"},
}
OBJECTS = sorted(f"{module}.{name}" for module, names in PUBLIC.items() for name in names - {"__version__"})
MODULES = sorted(module.name for module in pkgutil.walk_packages(cstree.__path__, "cstree."))


@pytest.mark.parametrize("module", PUBLIC)
def test_public_names_are_there_and_listed(module: str) -> None:
    front = importlib.import_module(module)
    assert PUBLIC[module] - set(front.__all__) - {"__version__"} == set()
    assert [name for name in PUBLIC[module] if not hasattr(front, name)] == []


@pytest.mark.parametrize("module", MODULES)
def test_every_module_imports_and_offers_what_it_lists(module: str) -> None:
    loaded = importlib.import_module(module)
    assert [name for name in getattr(loaded, "__all__", ()) if not hasattr(loaded, name)] == []


@pytest.mark.parametrize("path", OBJECTS)
def test_public_docstring_names_every_parameter(path: str) -> None:
    module, _, name = path.rpartition(".")
    thing = getattr(importlib.import_module(module), name)
    parameters = [p.lstrip("*") for p in inspect.signature(thing).parameters]
    text = inspect.getdoc(thing) or ""
    section = re.search(r"^Parameters\n-+\n(.*?)(?=^\w[\w ]*\n-{3,}|\Z)", text, re.DOTALL | re.MULTILINE)
    heads = re.findall(r"^([*\w][*\w, ]*?)(?: ?:|$)", section[1] if section else "", re.MULTILINE)
    documented = {word.strip(" *") for head in heads for word in head.split(",")}
    assert [p for p in parameters if p not in documented] == []


def test_version_is_that_of_the_project_file() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert cstree.__version__ == project["version"] == importlib.metadata.version("cstree")


def test_package_says_that_it_is_typed() -> None:
    assert files("cstree").joinpath("py.typed").is_file()


def test_fitting_and_exporting_need_no_extra() -> None:
    code = """
import sys
for name in ("matplotlib", "plotly", "graphviz_pure"):
    sys.modules[name] = None  # as if it were not installed
import cstree, cstree.cli, cstree.plot
from cstree.datasets import load_hepatitis
table = load_hepatitis()
model = cstree.GreedyTreeClassifier(table.costs).fit(table.data, table.target)
print(model.export_text())
"""
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False, encoding="utf-8"
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip()
