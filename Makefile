# Everything happens in .venv, made on first use. PYTHON chooses the interpreter it is made from.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: help demo test lint bench fuzz clean

help:
	@echo "make demo    install into .venv and align two small vocabularies"
	@echo "make test    the tests that need neither torch, a browser nor a cluster"
	@echo "make lint    ruff and mypy"
	@echo "make bench   speed and memory beside other libraries"
	@echo "make fuzz    hostile files, forged models, random calls and kills, for hours"
	@echo "make clean   remove .venv and caches"

demo: $(VENV)/.stamp-demo
	$(BIN)/invarot demo

test: $(VENV)/.stamp-test
	$(BIN)/python -m pytest -m "not torch and not gpu and not browser and not engines"

lint: $(VENV)/.stamp-lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(VENV)/.stamp-bench
	$(BIN)/python -m benchmarks.speed

fuzz: $(VENV)/.stamp-test
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.fuzz --out results/fuzz.md

clean:
	rm -rf $(VENV) .venv-lowest .pytest_cache .hypothesis .mypy_cache .ruff_cache

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# A stamp says which extras are installed, and is out of date when pyproject.toml is newer.
$(VENV)/.stamp-demo: extras = report
$(VENV)/.stamp-test: extras = test
$(VENV)/.stamp-lint: extras = lint,test
$(VENV)/.stamp-bench: extras = bench

$(VENV)/.stamp-%: pyproject.toml | $(BIN)/python
	$(PIP) --editable ".[$(extras)]"
	@touch $@
