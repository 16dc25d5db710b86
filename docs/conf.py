"""Settings of the documentation (Sphinx, Markdown through MyST, docstrings through numpydoc)."""

import tomllib
from pathlib import Path

_file = Path(__file__).parents[1] / "pyproject.toml"
_project = tomllib.loads(_file.read_text(encoding="utf-8"))["project"]

project = "cstree"
author = "The cstree developers"
copyright = "2026, the cstree developers"
version = release = _project["version"]

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "numpydoc"]
exclude_patterns = ["_templates"]
myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 3
suppress_warnings = [
    "misc.highlighting_failure",  # there is no lexer for CSV
    "toc.empty_glob",  # studies/ may hold no table yet
]

autodoc_typehints = "none"  # the docstrings say it better
autosummary_generate = True
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

templates_path = ["_templates"]
html_theme = "furo"
html_title = "cstree"
