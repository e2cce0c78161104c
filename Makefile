# Everything runs on a fresh machine with Python 3.11 or later and make: targets install what they need into .venv.

PYTHON ?= python3
VENV   ?= .venv
RUN    ?= RUN
bin    := $(VENV)/bin

.DEFAULT_GOAL := help
.PHONY: help certify catalogue test test-slow lint bench scale clean

help: ## Show the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

certify: $(VENV)/.installed ## Certify all game files of configs/ into RUN; goes on where it was stopped
	$(bin)/autohold certify configs/*.toml --out $(RUN) --resume $(ARGS)

catalogue: certify ## The same, and the tables of configs/CATALOGUE.md and README.md from it
	$(bin)/python -m tests.catalogue $(RUN)

test: lint ## What CI runs: lint, formatting, types, and all tests but the exhaustive ones
	$(bin)/python -m pytest -q -n auto --dist loadfile --no-loadscope-reorder -m "not slow" $(ARGS)

test-slow: $(VENV)/.installed-dev ## All tests, the exhaustive ones too
	$(bin)/python -m pytest -q -n auto --dist loadfile --no-loadscope-reorder $(ARGS)

lint: $(VENV)/.installed-dev ## Lint, formatting and types
	$(bin)/ruff check
	$(bin)/ruff format --check
	$(bin)/mypy

bench: $(VENV)/.installed-dev ## Measure speed and memory against the targets; ARGS=--all for all games as well
	$(bin)/python -m tests.bench $(ARGS)

scale: $(VENV)/.installed-dev ## Measure how a run grows with the number of parts and workers, for the table of README.md
	$(bin)/python -m tests.scale

clean: ## Remove the environment and all caches, but no run directory
	rm -rf $(VENV) build *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis tests/.programs
	find evaluator pipeline tests -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "autohold needs Python 3.11 or later")'
	$(PYTHON) -m venv $(VENV)

# Installing again is needed only when pyproject.toml has changed since the stamp.
$(VENV)/.installed: pyproject.toml | $(VENV)/bin/python
	$(bin)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(VENV)/.installed-dev: pyproject.toml | $(VENV)/bin/python
	$(bin)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@ $(VENV)/.installed
