# `make run` opens the app; `make test` passes the tests. Both need Python 3.11 or newer.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: run test test-model check bench clean

run: $(VENV)/.local
	@$(BIN)/gh-tui

test: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pytest -m "not model"

test-model: $(VENV)/.dev $(VENV)/.local
	$(BIN)/pytest -m model

bench: $(VENV)/.dev
	$(BIN)/python -m tests.benchmarks $(if $(DATA),--data "$$DATA")

$(VENV)/.base: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "gh-tui needs Python 3.11 or newer; name it with: make PYTHON=python3.11 ..."; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null \
		|| { echo "Python's venv module is missing; on Debian: apt-get install python3-venv"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

$(VENV)/.local: $(VENV)/.base
	@$(BIN)/python -c 'import ctypes; ctypes.CDLL("libgomp.so.1")' 2>/dev/null \
		|| echo "libgomp.so.1 is missing, which the local model needs; on Debian: apt-get install libgomp1"
	@echo "Installing the local model (about 1 GB, once)."
	$(BIN)/python -m pip install --quiet --editable '.[local]'
	@touch $@

$(VENV)/.dev: $(VENV)/.base
	$(BIN)/python -m pip install --quiet --group dev
	@touch $@

clean:
	rm -rf $(VENV)
