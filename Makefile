VENV ?= .venv
PYTHON ?= python3
BIN := $(VENV)/bin
DEMO ?= runs/demo

.PHONY: install demo test lint check format

install: $(VENV)/.installed

$(VENV)/.installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --constraint constraints.txt --editable '.[train,dev]'
	touch $@

demo: install  ## the whole loop on the CPU with the bundled miniature, then its report; goes on where it stopped
	@if [ -d $(DEMO) ]; then $(BIN)/envwright resume $(DEMO); else $(BIN)/envwright run cpu --output $(DEMO); fi

test: install  ## everything but the tests marked gpu
	$(BIN)/pytest -m "not gpu"

lint: install
	$(BIN)/ruff check src tests benchmarks
	$(BIN)/ruff format --check src tests benchmarks

check: lint  ## lint, format and types
	$(BIN)/pyright

format: install
	$(BIN)/ruff check --fix src tests benchmarks
	$(BIN)/ruff format src tests benchmarks
