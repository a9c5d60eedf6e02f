PYTHON ?= python3
BIN := .venv/bin

.PHONY: help quickstart test test-oldest fuzz lint clean

help:
	@echo "make quickstart  install into .venv and run the main job on bundled data, offline"
	@echo "make test        install everything into .venv, lint, type-check and run all tests"
	@echo "make test-oldest the tests with the oldest versions of the dependencies"
	@echo "make fuzz        damaged and forged files through every reader, for FUZZ_SECONDS each"
	@echo "make lint        ruff and mypy only"
	@echo "make clean       remove .venv and caches"

.venv/core: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet -e ".[plot]"
	touch .venv/core

.venv/dev: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet -c constraints.txt -e ".[dev,torch]"
	touch .venv/core .venv/dev

# --force: over the picture of the last run.
quickstart: .venv/core
	$(BIN)/semiordinal quickstart --picture quickstart.png --force

lint: .venv/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test: lint
	$(BIN)/pytest -n 2

# Another environment, with the oldest versions that pyproject.toml allows.
test-oldest:
	$(PYTHON) -m venv .venv-oldest
	.venv-oldest/bin/pip install --quiet -c constraints-oldest.txt -e ".[oldest]"
	.venv-oldest/bin/pytest -n 2 -W "ignore::DeprecationWarning"

# Changed at random; with atheris installed, python tests/fuzz.py TARGET --guided does better.
FUZZ_SECONDS ?= 60
FUZZ_COUNT ?= 5000
fuzz: .venv/dev
	$(BIN)/python tests/fuzz.py --seconds $(FUZZ_SECONDS)
	$(BIN)/python tests/mutated_models.py --count $(FUZZ_COUNT)

clean:
	rm -rf .venv .venv-oldest .pytest_cache .mypy_cache .ruff_cache
