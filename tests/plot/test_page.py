"""The page, as text and in a real browser."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from cstree.costs.model import CostModel
from cstree.plot.data import bought_steps, front_data, page_data
from cstree.plot.page import explore_front, page_text
from cstree.tree.describe import describe
from cstree.tree.words import shown_name
from tests.handmade import AWKWARD, CLINIC_TREES, HandModel, clinic, make_model
from tests.plot.browser import Browser, browser

pytest.importorskip("plotly", reason="the page needs the extra `plot`")

ARROW_DOWN = "\ue015"


@pytest.fixture(scope="module")
def model() -> HandModel:
    return make_model(*clinic(300, seed=3), CLINIC_TREES)


@pytest.fixture(scope="module")
def awkward() -> HandModel:
    """A front of two trees in which every awkward name is a feature, a class, a category or a step."""
    n = len(AWKWARD)
    X = pd.DataFrame({name: np.roll(np.arange(4.0 * n), 3 * j) for j, name in enumerate(AWKWARD)})
    X["kind"] = [AWKWARD[i % n] for i in range(4 * n)]
    y = [AWKWARD[i % n] for i in range(4 * n)]
    nested: Any = ("kind", {name: k % 3 for k, name in enumerate(AWKWARD)}, [None, None, None])
    for name in AWKWARD:
        nested = (name, 30.5, nested, None)
    tests = {name: 0.01 for name in AWKWARD} | {"kind": 0}
    return make_model(X, y, CostModel(tests=tests, unit='<"&>'), [nested, None])


class Scripts(HTMLParser):
    """Collects the scripts of a page, and everything that would load something."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.scripts: list[tuple[dict[str, str | None], str]] = []
        self.loads: list[str] = []
        self._open = False

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self._open = tag == "script"
        if self._open:
            self.scripts.append((dict(attributes), ""))
        self.loads += [
            str(value)
            for name, value in attributes
            if name in ("src", "href", "srcset", "action") and not str(value).startswith(("data:", "#"))
        ]

    def handle_endtag(self, tag: str) -> None:
        self._open = False

    def handle_data(self, data: str) -> None:
        if self._open:
            attributes, text = self.scripts[-1]
            self.scripts[-1] = (attributes, text + data)


def embedded(text: str) -> dict[str, Any]:
    parser = Scripts()
    parser.feed(text)
    (found,) = [body for attributes, body in parser.scripts if attributes.get("id") == "data"]
    return json.loads(found, parse_constant=pytest.fail)


def test_data_of_the_page(model: HandModel) -> None:
    data = page_data(model, title="t")
    front = model.front_
    assert front is not None
    assert [[p["misclassification"], p["test"]] for p in data["points"]] == front.objectives.tolist()
    for point, tree in zip(data["points"], front, strict=True):
        assert len(point["nodes"]) == tree.n_nodes
        assert [rule["leaf"] for rule in point["rules"]] == tree.leaves().tolist()
        # What is bought adds up to the objective, and rules weighted by share to both.
        assert sum(step["cost"] for step in point["bought"]) == pytest.approx(point["test"])
        reached = [rule for rule in point["rules"] if rule["share"] > 0]
        assert sum(rule["share"] * rule["test"] for rule in reached) == pytest.approx(point["test"])
        mistakes = sum(rule["share"] * rule["misclassification"] for rule in reached)
        assert mistakes == pytest.approx(point["misclassification"])
    assert data["selected"] == front.trees.index(model.tree_)
    marks = {mark["label"]: mark["point"] for mark in data["marks"]}
    assert marks["least total cost"] == front.select("total_cost")
    assert marks["cheapest tests"] == len(front) - 1
    assert marks["fewest mistakes"] == 0


def test_steps_that_are_bought(model: HandModel) -> None:
    steps = {step["step"]: step for step in bought_steps(describe(model.tree_, model.schema_, model.costs_))}
    assert list(steps) == ["pain", "chol", "blood draw", "sugar"]
    assert steps["pain"]["share"] == pytest.approx(1.0)
    assert steps["blood draw"]["cost"] == pytest.approx(2.1 * steps["blood draw"]["share"])


def test_a_model_without_a_front_has_one_point(model: HandModel) -> None:
    single = HandModel(model.tree_, model.schema_, model.costs_, model.classes_)
    data = front_data(single)
    assert len(data.trees) == 1
    assert data.selected == 0
    front = model.front_
    assert front is not None
    at = front.trees.index(model.tree_)
    assert [data.misclassification_cost[0], data.test_cost[0]] == pytest.approx(front.objectives[at].tolist())


def test_page_is_one_file_that_loads_nothing(model: HandModel, tmp_path: Path) -> None:
    path = explore_front(model, tmp_path / "front.html", title="a <title> & more")
    assert [file.name for file in tmp_path.iterdir()] == ["front.html"]
    text = path.read_text(encoding="utf-8")
    parser = Scripts()
    parser.feed(text)
    assert parser.loads == []
    assert "default-src 'none'" in text
    assert "<title>a &lt;title&gt; &amp; more</title>" in text
    assert embedded(text)["points"]
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write", parser.scripts[-1][1])


def test_awkward_names_stay_data(awkward: HandModel) -> None:
    text = page_text(awkward, title="@data@ @plotly@")
    parser = Scripts()
    parser.feed(text)
    assert len(parser.scripts) == 3
    data = embedded(text)
    assert data["title"] == "@data@ @plotly@"
    assert [entry["name"] for entry in data["classes"]] == [shown_name(name) for name in sorted(AWKWARD)]
    (raw,) = [body for attributes, body in parser.scripts if attributes.get("id") == "data"]
    assert "<" not in raw


def test_needs_plotly(model: HandModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "plotly.graph_objects", None)
    with pytest.raises(ImportError, match=r"cstree\[plot\]"):
        explore_front(model, tmp_path / "front.html")
    assert list(tmp_path.iterdir()) == []


# --- in a browser -----------------------------------------------------------------------------------

READY = (
    "return document.querySelectorAll('#chart .point').length > 0 && !!document.querySelector('#drawing svg')"
)
SELECTED = "return Number(document.querySelector('#tree').dataset.point)"
TREE = "return [...document.querySelectorAll('#drawing svg .name')].map(t => t.textContent)"
HOVER = "document.querySelector('#chart .hoverlayer')?.textContent ?? ''"


@pytest.fixture(scope="module")
def window(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browser(tmp_path_factory.mktemp("browser")) as opened:
        yield opened


@pytest.fixture
def page(window: Browser, model: HandModel, tmp_path: Path) -> Iterator[Browser]:
    window.open("about:blank")
    window.messages()
    window.open(explore_front(model, tmp_path / "front.html").as_uri())
    window.wait_for(READY)
    yield window
    assert window.messages() == []  # the console stays empty whatever was done


def test_a_click_on_a_point_shows_its_tree(page: Browser, model: HandModel) -> None:
    front = model.front_
    assert front is not None
    assert len(front) > 2
    start = page.run(SELECTED)
    assert front[start] is model.tree_
    seen = {start: page.run(TREE)}
    for index in [*(i for i in range(len(front)) if i != start), start]:
        x, y = page.run(
            "const points = document.querySelectorAll('#chart .scatterlayer .trace:nth-child(3) .point');"
            "const box = points[arguments[0]].getBoundingClientRect();"
            "return [box.x + box.width / 2, box.y + box.height / 2]",
            index,
        )
        page.move_to(x, y)
        hover = page.wait_for(f"const text = {HOVER}; return text.includes('point {index}') && text")
        assert f"{front[index].n_leaves} lea" in hover
        time.sleep(0.4)  # two clicks within 0.3 s would be a double click
        page.click()
        page.wait_for(f"{SELECTED} === {index}")
        names = page.run(TREE)
        assert len(names) == front[index].n_nodes
        assert names == seen.setdefault(index, names)
        assert page.run("return location.hash") == f"#point={index}"
        rules = page.run("return document.querySelectorAll('#rules tbody tr').length")
        assert rules == front[index].n_leaves
        figures = page.run("return [...document.querySelectorAll('#figures dd')].map(d => d.textContent)")
        assert figures[:2] == [f"{value:.2f}" for value in front.objectives[index]]
    assert len({tuple(names) for names in seen.values()}) == len(front)


def test_the_table_sorts_and_follows_keys(page: Browser, model: HandModel) -> None:
    front = model.front_
    assert front is not None
    order = "return [...document.querySelectorAll('#points tbody tr')].map(r => Number(r.dataset.point))"
    assert page.run(order) == list(range(len(front)))
    page.run("document.querySelectorAll('#points th button')[2].click()")  # test cost, rising
    by_test_cost = np.argsort(front.objectives[:, 1], kind="stable").tolist()
    assert page.run(order) == by_test_cost
    assert page.run("return document.querySelectorAll('#points th')[2].ariaSort") == "ascending"
    page.run("document.querySelectorAll('#points tbody tr')[0].click()")
    page.run("document.querySelector('#points tr[aria-selected=true]').focus()")
    page.press(ARROW_DOWN)
    assert page.run(SELECTED) == by_test_cost[1]
    assert page.run("return document.activeElement.dataset.point") == str(by_test_cost[1])
    assert page.run("return document.querySelectorAll('#points tr[tabindex=\"0\"]').length") == 1


def test_address_names_the_point(page: Browser, model: HandModel, tmp_path: Path) -> None:
    front = model.front_
    assert front is not None
    last = len(front) - 1
    page.run("location.hash = '#point=0'")
    page.wait_for(f"{SELECTED} === 0")
    page.run(f"location.hash = '#point={last}'")
    page.wait_for(f"{SELECTED} === {last}")
    page.run("location.hash = '#point=999'")
    page.run("location.hash = '#nonsense'")
    assert page.run(SELECTED) == last
    page.open("about:blank")
    page.open((tmp_path / "front.html").as_uri() + "#point=1")
    page.wait_for(READY)
    assert page.run(SELECTED) == 1


def test_names_appear_as_they_are(window: Browser, awkward: HandModel, tmp_path: Path) -> None:
    window.open("about:blank")
    window.messages()
    window.open(explore_front(awkward, tmp_path / "front.html", title="<img src=x>").as_uri())
    window.wait_for(READY)
    text = window.run("return document.body.innerText")
    drawn = window.run(TREE)
    for name in AWKWARD:
        assert shown_name(name) in drawn
        assert shown_name(name) in text
    assert window.run("return document.querySelectorAll('b, img, main script').length") == 0
    assert window.messages() == []
