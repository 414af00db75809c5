.DEFAULT_GOAL := help
PYTHON ?= python3
PYTEST_FLAGS ?= -n 2 --dist worksteal
BIN := .venv/bin
STUDIES ?= tables released radar radar_released surface surface_released
REPRODUCED ?= reproduced
JOBS ?= 2
MINUTES ?= 10
KILLS ?= 50
KERNEL_TESTS ?= tests/core tests/pacing tests/metrics tests/model_selection tests/estimators tests/test_kernels.py

help: ## this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 14

demo: .venv/demo ## fit a model to song reviews with missing and wrong tags; figure and report in demo/
	$(BIN)/python examples/demo.py

test: .venv/test ## run the tests (set SPMLD_DATA to a folder with the real data sets to test on them too)
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 SCIPY_ARRAY_API=1 $(BIN)/python -m pytest $(PYTEST_FLAGS)

coverage: .venv/test ## run the tests with line and branch coverage of src/ (at least 95 %)
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 SCIPY_ARRAY_API=1 $(BIN)/python -m pytest $(PYTEST_FLAGS) --cov

test-oldest: ## run the tests with the oldest supported versions of all dependencies, in .venv-oldest
	$(PYTHON) -m venv .venv-oldest
	.venv-oldest/bin/python -m pip install --quiet --upgrade pip
	$(PYTHON) -m tests.oldest > .venv-oldest/constraints.txt
	.venv-oldest/bin/python -m pip install --quiet --constraint .venv-oldest/constraints.txt --editable . --group test
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 SCIPY_ARRAY_API=1 .venv-oldest/bin/python -m pytest $(PYTEST_FLAGS)

smoke: ## build the wheel, install it into an empty environment, and use it there
	rm -rf dist .venv-smoke
	$(PYTHON) -m venv .venv-smoke
	.venv-smoke/bin/python -m pip wheel --quiet --no-deps --wheel-dir dist .
	.venv-smoke/bin/python -m pip install --quiet "$$(ls dist/*.whl)[cli,data,files,report]"
	.venv-smoke/bin/python -I tests/smoke.py

test-kernels: .venv/test ## run the numerical tests under each BLAS kernel of this CPU, and without NumPy's dispatched CPU features
	SCIPY_ARRAY_API=1 $(BIN)/python -m tests.kernels $(PYTEST_FLAGS) $(KERNEL_TESTS)

fuzz: .venv/test ## random bad input for readers, reviews and estimators, for MINUTES minutes (default 10)
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m tests.fuzz $(MINUTES)

fuzz-coverage: .venv/fuzz ## coverage-guided fuzzing of the readers and the model loader, for MINUTES minutes (Linux)
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m tests.fuzz.coverage $(MINUTES)

faults: .venv/test ## kill each command KILLS times (default 50), write to full and read-only disks
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -W ignore -m tests.faults $(KILLS)

load: .venv/test ## mixed use for MINUTES minutes with constant memory, then predictions of a million rows
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m tests.load $(MINUTES)
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m tests.large_predictions

audit-dependencies: .venv/bin/python ## known vulnerabilities of the installed versions (needs a network)
	$(BIN)/python -m pip install --quiet pip-audit
	$(BIN)/pip-audit --skip-editable

lint: .venv/test ## style, types, import layers and security
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/bandit --quiet --configfile pyproject.toml --recursive src

bench: .venv/bench ## print speed and memory ratios
	$(BIN)/python -m benchmarks

docs: .venv/docs ## the documentation site with its gallery, into docs/_build/html
	OMP_NUM_THREADS=1 $(BIN)/python -m sphinx -W --keep-going -b html docs docs/_build/html

reproduce: .venv/test ## fit the studies of the paper into reproduced/, and compare with the records (hours; resumes; set SPMLD_DATA)
	$(BIN)/python -m studies run $(STUDIES) --out $(REPRODUCED)/results.jsonl --jobs $(JOBS)
	$(BIN)/python -m studies report $(REPRODUCED)/results.jsonl --out $(REPRODUCED)/results
	$(BIN)/python -m studies compare $(REPRODUCED)/results.jsonl studies/records/results.jsonl.xz

clean: ## remove the environment and what was written, except reproduced/
	rm -rf .venv .venv-oldest .venv-smoke docs/_build docs/gallery docs/api docs/api.rst docs/studies demo .pytest_cache .ruff_cache .mypy_cache .import_linter_cache .coverage* dist

.venv/bin/python:
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip

.venv/demo: .venv/bin/python pyproject.toml constraints.txt
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[data,report]'
	touch $@

.venv/test: .venv/bin/python pyproject.toml constraints.txt
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable . --group test
	touch $@ .venv/demo

.venv/fuzz: .venv/test
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable . --group fuzz
	touch $@

.venv/bench: .venv/test
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable . --group bench
	touch $@

.venv/docs: .venv/bin/python pyproject.toml constraints.txt
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable . --group docs
	touch $@

.PHONY: help demo test coverage test-oldest smoke test-kernels fuzz fuzz-coverage faults load audit-dependencies lint bench docs reproduce clean
