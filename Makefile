PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet
# All that users can ask for, but models that are downloaded.
EXTRAS := plot,report,excel,formula,dask,torch,onnx,peers

.PHONY: help quickstart test test-oldest fuzz lint docs dist clean

help:
	@echo "make quickstart  install into .venv and run the main job on bundled data, offline"
	@echo "make test        install everything into .venv, lint, type-check and run all tests"
	@echo "make test-oldest the tests with the oldest versions of the dependencies"
	@echo "make fuzz        damaged and forged files through every reader, for FUZZ_SECONDS each"
	@echo "make lint        ruff and mypy only"
	@echo "make docs        build the site into docs/_build/html, run its examples, check its links"
	@echo "make dist        build wheel and sdist into dist, and try both in fresh environments"
	@echo "make clean       remove environments, caches and what was built"

.venv/core: pyproject.toml
	$(PYTHON) -m venv .venv
	$(PIP) -e ".[plot]"
	touch .venv/core

# Dependency groups need a pip of 2025 or newer, which venv may not bring.
.venv/dev: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(PIP) "pip>=25.1"
	$(PIP) -c constraints.txt -e ".[$(EXTRAS)]" --group dev
	touch .venv/core .venv/dev

.venv/docs: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(PIP) "pip>=25.1"
	$(PIP) -c constraints.txt -e ".[plot,report,dask,torch]" --group docs
	touch .venv/core .venv/docs

.venv/release: pyproject.toml .venv/dev
	$(PIP) --group release
	touch .venv/release

# --force: over the picture of the last run.
quickstart: .venv/core
	$(BIN)/semiordinal quickstart --picture quickstart.png --force

lint: .venv/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# worksteal: tests of a file stay in one process, as far as they can, and so does what they share.
# Each process has one thread: two times as many as there are cores would wait for each other.
test: lint
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/pytest -n 2 --dist worksteal

# Another environment, with the oldest versions that pyproject.toml allows.
test-oldest:
	$(PYTHON) -m venv .venv-oldest
	.venv-oldest/bin/python -m pip install --quiet "pip>=25.1"
	.venv-oldest/bin/python -m pip install --quiet -c constraints-oldest.txt -e ".[report,excel,formula]" --group oldest
	.venv-oldest/bin/pytest -n 2 --dist worksteal -W "ignore::DeprecationWarning"

# -W: a warning is an error.
docs: .venv/docs
	$(BIN)/python -m sphinx -b html -q -W --keep-going docs docs/_build/html
	$(BIN)/python docs/check_links.py docs/_build/html

dist: .venv/release
	rm -rf dist
	$(BIN)/python -m build --quiet
	$(BIN)/twine check --strict dist/*
	$(BIN)/python tools/check_dist.py dist

# Changed at random; with atheris installed, python tests/fuzz.py TARGET --guided does better.
FUZZ_SECONDS ?= 60
FUZZ_COUNT ?= 5000
fuzz: .venv/dev
	$(BIN)/python tests/fuzz.py --seconds $(FUZZ_SECONDS)
	$(BIN)/python tests/mutated_models.py --count $(FUZZ_COUNT)

clean:
	rm -rf .venv .venv-oldest .pytest_cache .mypy_cache .ruff_cache
	rm -rf build dist docs/_build docs/api docs/gallery
