PYTHON ?= python3
BIN := .venv/bin

.PHONY: help quickstart test lint clean

help:
	@echo "make quickstart  install into .venv and run the main job on bundled data, offline"
	@echo "make test        install everything into .venv, lint, type-check and run all tests"
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

quickstart: .venv/core
	$(BIN)/python -m semiordinal.quickstart

lint: .venv/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test: lint
	$(BIN)/pytest -n 2

clean:
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache
