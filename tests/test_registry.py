"""Names and objects."""

from __future__ import annotations

import pytest

from cstree._registry import Registry


@pytest.fixture
def searches() -> Registry:
    registry: Registry = Registry("search", "an object with run()", lambda found: hasattr(found, "run"))
    registry.register("nnia")(dict)
    registry.register("exact")(list)
    return registry


def test_names_are_looked_up(searches):
    assert searches.resolve("nnia") is dict
    assert list(searches) == ["nnia", "exact"]
    assert searches["exact"] is list
    assert len(searches) == 2


def test_objects_that_fit_are_taken(searches):
    class Search:
        def run(self):
            return None

    found = Search()
    assert searches.resolve(found) is found
    for wrong in (3, None, Search):
        with pytest.raises(TypeError, match=r"search must be a name or an object with run\(\)"):
            searches.resolve(wrong)


def test_unknown_names_get_a_hint(searches):
    with pytest.raises(ValueError, match=r"Unknown search 'NNI'. Did you mean 'nnia'\? Choose one of 'nnia'"):
        searches.resolve("NNI")
    with pytest.raises(ValueError, match=r"Unknown search 'zzz'. Choose one of 'nnia', 'exact', or pass an"):
        searches.resolve("zzz")


def test_a_name_is_given_once(searches):
    with pytest.raises(ValueError, match="'nnia' is registered already"):
        searches.register("nnia")(set)
