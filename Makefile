# Everything happens in .venv, made on first use. PYTHON chooses the interpreter it is made from.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: help demo test lint docs links bench fuzz clean

help:
	@echo "make demo    install into .venv and align two small vocabularies"
	@echo "make test    the tests that need neither torch, a browser nor a cluster"
	@echo "make lint    ruff and mypy"
	@echo "make docs    the site, in docs/_build/html; a warning is an error"
	@echo "make links   check the links of the built site and of every page in the repository"
	@echo "make bench   speed and memory beside other libraries"
	@echo "make fuzz    hostile files, forged models, random calls and kills, for hours"
	@echo "make clean   remove .venv and caches"

demo: $(VENV)/.stamp-demo
	$(BIN)/invarot demo

test: $(VENV)/.stamp-test
	$(BIN)/python -m pytest -n auto --maxprocesses 8 --dist worksteal -m "not torch and not gpu and not browser and not engines"

lint: $(VENV)/.stamp-lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: $(VENV)/.stamp-docs
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	@echo "docs/_build/html/index.html"

links: docs
	$(BIN)/python docs/check_links.py docs/_build/html

bench: $(VENV)/.stamp-bench
	$(BIN)/python -m benchmarks.speed

fuzz: $(VENV)/.stamp-test
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.fuzz --out results/fuzz.md

clean:
	rm -rf docs/_build docs/api docs/gallery $(VENV) .venv-lowest .pytest_cache .hypothesis .mypy_cache .ruff_cache

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# A stamp says which extras are installed, and is out of date when pyproject.toml is newer.
$(VENV)/.stamp-demo: extras = report
$(VENV)/.stamp-test: extras = test
$(VENV)/.stamp-lint: extras = lint,test
$(VENV)/.stamp-docs: extras = docs
$(VENV)/.stamp-bench: extras = bench

$(VENV)/.stamp-%: pyproject.toml | $(BIN)/python
	$(PIP) --editable ".[$(extras)]"
	@touch $@
