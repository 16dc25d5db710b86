# Every target sets itself up: it needs Python 3.11 to 3.13 and make, nothing else.
#
#   make demo      fit a front on the heart table and write the page that explores it
#   make test      the tests (make test-all: the slow ones too)
#   make dev       everything for working on cstree, with the pre-commit hooks
#   make check     format, lint, types, docstrings
#   make bench     timings
#   make docs      the documentation as HTML

VENV ?= .venv
BIN := $(VENV)/bin
PYTHON ?= python3
PYTEST_ARGS ?=
# Processes that run the tests; most of the first run is compiling, which each of them does for its own part.
TEST_JOBS ?= 2
BENCH_ARGS ?=

.PHONY: help demo test test-all dev check format bench docs clean
.DEFAULT_GOAL := help

help:
	@sed -n '/^#   make/s/^#   //p' Makefile

demo: $(VENV)/.set-up-demo
	@$(BIN)/cstree demo

test: $(VENV)/.set-up-test
	@$(BIN)/python -m pytest -q -n $(TEST_JOBS) --dist loadfile -m "not slow" $(PYTEST_ARGS)

test-all: $(VENV)/.set-up-test
	@$(BIN)/python -m pytest -q -n $(TEST_JOBS) --dist loadfile $(PYTEST_ARGS)

dev: $(VENV)/.set-up-dev
	@if [ -d .git ]; then $(BIN)/pre-commit install; fi
	@echo "Ready: $(BIN)/python has cstree and its tools. Next: make check, make test."

check: $(VENV)/.set-up-dev
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/numpydoc lint $$(find cstree -name '*.py')

format: $(VENV)/.set-up-dev
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

bench: $(VENV)/.set-up-test
	@$(BIN)/python -m benchmarks $(BENCH_ARGS)

docs: $(VENV)/.set-up-docs
	$(BIN)/sphinx-build -q -W --keep-going -b html docs build/docs
	@echo "Open build/docs/index.html"

clean:
	rm -rf build dist .pytest_cache .mypy_cache .ruff_cache

# One stamp per set of extras, renewed when pyproject.toml changes. A larger set makes the smaller ones too.
EXTRAS_demo := plot,render
EXTRAS_test := test
EXTRAS_docs := docs
EXTRAS_dev := dev
ALSO_test := demo
ALSO_dev := demo test docs

$(VENV)/.set-up-%: pyproject.toml | $(BIN)/python
	@echo "Setting up '$*' in $(VENV) (once; this downloads packages and may take a minute or two)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[$(EXTRAS_$*)]'
	@touch $@ $(addprefix $(VENV)/.set-up-,$(ALSO_$*))

# The first Python that fits: the one named by PYTHON, else a versioned one from the PATH.
$(BIN)/python:
	@for python in "$(PYTHON)" python3.13 python3.12 python3.11; do \
	    if "$$python" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 14))' 2>/dev/null; then \
	        "$$python" -m venv $(VENV) && exit 0; \
	        echo "'$$python -m venv' failed. On Debian and Ubuntu: apt-get install python3-venv" >&2; \
	        rm -rf $(VENV); exit 1; \
	    fi; \
	done; \
	echo "cstree needs Python 3.11, 3.12 or 3.13; '$(PYTHON)' is $$("$(PYTHON)" --version 2>&1)." >&2; \
	echo "Install one of them, or name it: make PYTHON=/path/to/python3.12 ..." >&2; \
	exit 1
