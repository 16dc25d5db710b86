"""Where river is not installed."""

from __future__ import annotations

import importlib.util
import sys

import pytest

import cstree.online.river


@pytest.mark.parametrize("name", ["OCSCA", "CSOC"])
def test_the_adapters_say_what_is_missing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("river", "river.base", "river.utils"):
        monkeypatch.setitem(sys.modules, module, None)
    spec = importlib.util.spec_from_file_location("without_river", cstree.online.river.__file__)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    with pytest.raises(ImportError, match=r"pip install 'cstree\[river\]'"):
        getattr(module, name)()
