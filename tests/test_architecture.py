"""The plan of the house, as data: which file may import what, and how long it may be."""

from __future__ import annotations

import ast
import fnmatch
import graphlib
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

# A room may import the rooms of lower floors: never a higher one, never a neighbour on its own.
FLOORS = {
    9: {"__main__"},
    8: {"cli"},
    7: {"persistence", "testing"},
    6: {"evolution", "ensemble"},
    5: {"greedy", "exact", "plot"},
    4: {"tree", "online", "svm", "sampling"},
    3: {"base", "metrics"},
    2: {"encoding", "pareto", "datasets"},
    1: {"costs", "_registry", "_numba", "_lanes"},
    0: {"_io"},
}
FLOOR_OF = {room: floor for floor, rooms in FLOORS.items() for room in rooms}

# Libraries that live behind one door. What is not named here may be imported anywhere.
DOORS = {
    "numba": ("_numba.py", "_lanes.py", "*_kernels.py"),
    "llvmlite": ("_numba.py", "_lanes.py"),
    "deap": ("evolution/toolbox.py",),
    "graphviz": ("tree/export.py", "plot/tree.py"),
    "graphviz_pure": ("plot/tree.py",),
    "networkx": ("tree/export.py", "plot/tree.py", "costs/model.py"),
    "matplotlib": ("plot/*",),
    "plotly": ("plot/*",),
    "river": ("online/river.py",),
}

# What `import cstree` must not load: it costs time, or is an extra that may be missing.
NOT_LOADED = ("matplotlib", "plotly", "deap", "graphviz", "graphviz_pure", "cstree.cli")

MAX_LINES = 450

# Import name -> name on the package index, where they differ.
DISTRIBUTIONS = {"sklearn": "scikit-learn", "tomli_w": "tomli-w", "graphviz_pure": "graphviz-pure"}
# These come with a dependency which is built on them and names them in its own public interface.
COMES_WITH = {"llvmlite": "numba", "scipy": "scikit-learn", "joblib": "scikit-learn"}


@dataclass(frozen=True)
class Import:
    """One imported module, as a dotted name, and where it is asked for."""

    file: Path
    line: int
    module: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line} imports {self.module}"


class Package:
    """The Python files below one folder and what they import."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.name = folder.name
        self.files = sorted(path.relative_to(folder) for path in folder.rglob("*.py"))
        self.modules = {self.module(file): file for file in self.files}
        self.imports = {file: list(self._imports(file)) for file in self.files}

    def module(self, file: Path) -> str:
        parts = [self.name, *file.with_suffix("").parts]
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    def room(self, file: Path) -> str:
        """The folder or single file right below the package; "" for the package's own front."""
        room = file.parts[0].removesuffix(".py")
        return "" if room == "__init__" else room

    def is_front(self, module: str) -> bool:
        return module in self.modules and self.modules[module].name == "__init__.py"

    def inside(self, file: Path) -> Iterator[Import]:
        return (i for i in self.imports[file] if i.module.split(".")[0] == self.name)

    def outside(self, file: Path) -> Iterator[Import]:
        for i in self.imports[file]:
            top = i.module.split(".")[0]
            if top != self.name and top not in sys.stdlib_module_names:
                yield i

    def _imports(self, file: Path) -> Iterator[Import]:
        tree = ast.parse((self.folder / file).read_text(encoding="utf-8"))
        for node in ast.walk(tree):  # also inside functions and `if TYPE_CHECKING`
            if isinstance(node, ast.Import):
                for alias in node.names:
                    yield Import(file, node.lineno, alias.name)
            elif isinstance(node, ast.ImportFrom):
                base = self._base(file, node)
                for alias in node.names:
                    full = f"{base}.{alias.name}"
                    yield Import(file, node.lineno, full if full in self.modules else base)

    def _base(self, file: Path, node: ast.ImportFrom) -> str:
        if not node.level:
            return node.module or ""
        package = [self.name, *file.parts[:-1]]
        base = package[: len(package) - node.level + 1]
        return ".".join([*base, node.module] if node.module else base)


def unknown_rooms(package: Package) -> list[str]:
    return sorted({package.room(file) for file in package.files} - set(FLOOR_OF) - {""})


def upward_imports(package: Package) -> list[str]:
    found = []
    for file in package.files:
        here = package.room(file)
        for i in package.inside(file):
            there = package.room(package.modules[i.module]) if i.module in package.modules else "?"
            if here and there != here and FLOOR_OF.get(there, 99) >= FLOOR_OF[here]:
                found.append(f"{i} (floor {FLOOR_OF[here]} -> {FLOOR_OF.get(there)})")
    return found


def imports_from_fronts(package: Package) -> list[str]:
    return [
        str(i)
        for file in package.files
        if package.room(file)  # the package's own front gathers what the fronts of the rooms offer
        for i in package.inside(file)
        if package.is_front(i.module)
    ]


def circles(package: Package) -> list[str]:
    graph = {
        package.module(file): {i.module for i in package.inside(file)} - {package.module(file)}
        for file in package.files
    }
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        return [" -> ".join(error.args[1])]
    return []


def wrong_doors(package: Package) -> list[str]:
    return [
        str(i)
        for file in package.files
        for i in package.outside(file)
        for doors in [DOORS.get(i.module.split(".")[0])]
        if doors is not None and not any(fnmatch.fnmatch(file.as_posix(), door) for door in doors)
    ]


def long_files(package: Package) -> list[str]:
    lengths = {
        file: len((package.folder / file).read_text(encoding="utf-8").splitlines()) for file in package.files
    }
    return [f"{file}: {n} lines" for file, n in lengths.items() if n > MAX_LINES]


RULES = [unknown_rooms, upward_imports, imports_from_fronts, circles, wrong_doors, long_files]


@pytest.fixture(scope="module")
def package() -> Package:
    return Package(ROOT / "cstree")


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_package_keeps_the_rule(package: Package, rule) -> None:
    assert rule(package) == []


def test_every_import_is_declared(package: Package) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["plot"]]
    wanted += project["optional-dependencies"]["render"]
    declared = {re.match(r"[\w.-]+", line).group() for line in wanted}
    missing = []
    for file in package.files:
        for i in package.outside(file):
            top = i.module.split(".")[0]
            name = COMES_WITH.get(top, DISTRIBUTIONS.get(top, top))
            if name not in declared and top != "river":
                missing.append(str(i))
    assert missing == []


def test_importing_the_package_loads_no_extras() -> None:
    code = "import sys, cstree; print(*sys.modules, sep='\\n')"
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert run.returncode == 0, run.stderr
    loaded = set(run.stdout.split())
    assert "cstree" in loaded
    assert loaded.isdisjoint(NOT_LOADED), sorted(loaded.intersection(NOT_LOADED))


# The rules themselves, on a small package that breaks one of them at a time.
SOUND = {
    "__init__.py": "from cstree.tree import Tree",
    "_numba.py": "import numba\nfrom llvmlite import ir",
    "costs/__init__.py": "from cstree.costs.model import CostModel",
    "costs/model.py": "import networkx\nclass CostModel: ...",
    "tree/__init__.py": "from .tree import Tree",
    "tree/_kernels.py": "from numba import types\nfrom cstree._numba import kernel",
    "tree/tree.py": "import json\nfrom cstree.costs import model\nfrom . import _kernels\nclass Tree: ...",
    "plot/tree.py": "def draw():\n    import matplotlib.pyplot\n    from cstree.tree.tree import Tree",
}
BROKEN = [
    (unknown_rooms, {"helpers.py": ""}),
    (upward_imports, {"costs/model.py": "from cstree.tree.tree import Tree"}),
    (upward_imports, {"costs/model.py": "def f():\n    import cstree.tree.tree"}),
    (upward_imports, {"costs/model.py": "from ..tree.tree import Tree"}),
    (upward_imports, {"pareto/front.py": "from cstree.encoding.schema import X", "encoding/schema.py": ""}),
    (upward_imports, {"costs/model.py": "from cstree.nowhere import x"}),
    (imports_from_fronts, {"plot/tree.py": "from cstree.tree import Tree"}),
    (imports_from_fronts, {"plot/tree.py": "from cstree import tree"}),
    (imports_from_fronts, {"plot/tree.py": "import cstree"}),
    (circles, {"costs/model.py": "from cstree.costs import bound", "costs/bound.py": "from . import model"}),
    (
        circles,
        {
            "costs/model.py": "if TYPE_CHECKING:\n    from cstree.costs.bound import B",
            "costs/bound.py": "from cstree.costs.model import M",
        },
    ),
    (wrong_doors, {"tree/tree.py": "import numba"}),
    (wrong_doors, {"tree/tree.py": "def f():\n    from deap import base"}),
    (wrong_doors, {"tree/text.py": "import networkx as nx"}),
    (wrong_doors, {"costs/model.py": "import plotly.graph_objects as go"}),
    (long_files, {"costs/model.py": "x = 1\n" * (MAX_LINES + 1)}),
]


def write_package(folder: Path, files: dict[str, str]) -> Package:
    for name, text in files.items():
        path = folder / "cstree" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return Package(folder / "cstree")


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_rule_accepts_a_sound_package(tmp_path: Path, rule) -> None:
    assert rule(write_package(tmp_path, SOUND)) == []


@pytest.mark.parametrize(("rule", "change"), BROKEN, ids=lambda value: getattr(value, "__name__", ""))
def test_rule_sees_the_breach(tmp_path: Path, rule, change: dict[str, str]) -> None:
    assert len(rule(write_package(tmp_path, SOUND | change))) == 1
