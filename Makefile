# Two commands matter: `make up` and `make test`. Both set up everything they need.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
UP_FLAGS ?=
PYTEST := $(BIN)/python -m pytest -q
# What needs no server, nor many tries.
UNITS := $(addprefix tests/,app contracts engine store trust wire)
QUICK := not property and not acceptance and not simulation and not clients
# The real clients: large, installed once, each into an environment of its own.
export LASTCALL_CLIENTS ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/lastcall-clients

.DEFAULT_GOAL := help
.PHONY: help up test test-clients clients check bench fmt crash sim clean

help:  ## show this
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 14

$(VENV)/.ready: pyproject.toml
	@echo "setting up $(VENV) (once) ..."
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

up: $(VENV)/.ready  ## run the platform (UP_FLAGS="--clock virtual" for more)
	@$(BIN)/lastcall up $(UP_FLAGS)

test: check  ## everything: checks, unit tests, coverage of the engine, real processes, real clients
	@echo "== unit tests"
	@$(PYTEST) -n auto -m "$(QUICK)" $(UNITS)
	@echo "== the engine, every branch"
	@$(BIN)/python -m coverage run --source=lastcall.engine -m pytest -q tests/engine
	@$(BIN)/python -m coverage report --fail-under=100 --show-missing --skip-covered
	@echo "== the edges: control plane, metadata, command line"
	@$(PYTEST) -n auto -m "$(QUICK)" $(addprefix --ignore=,$(UNITS))
	@echo "== whatever is tried, real servers, real processes, seeded simulation"
	@$(PYTEST) -n auto -m "property or acceptance or simulation"
	@$(MAKE) --no-print-directory test-clients

test-clients: clients  ## the real az and the Azure SDKs, through the documents' commands
	@echo "== real clients"
	@$(PYTEST) -m clients

# A client that cannot be installed is skipped by its tests, with a sentence.
clients: $(VENV)/.ready  ## install the real clients that test-clients runs
	@$(PYTHON) tests/clients/install.py "$(LASTCALL_CLIENTS)"

check: $(VENV)/.ready  ## style, types, layers
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

fmt: $(VENV)/.ready  ## put the code in shape
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

bench: $(VENV)/.ready  ## speed, as ratios against references in the same run
	@$(BIN)/python -m bench

crash: $(VENV)/.ready  ## 200 rounds of kill -9 at random moments under load
	@$(BIN)/python -m tests.acceptance.crash --rounds 200

sim: $(VENV)/.ready  ## the seeded simulation, thousands of seeds
	@$(BIN)/python -m tests.simulation.run --seeds 5000

clean:  ## remove what the other targets made
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .coverage dist build
