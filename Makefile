# make run: start Lookback    make test: everything    make check: the quick part    make format: tidy the code    make bench: measure
# make checkpoints: train all shipped weights again, some 50 minutes of one processor
# Settings: HOST, PORT, PYTHON (the interpreter), EXTRA_INDEX (a further package index, for a CPU or another CUDA build of torch).
HOST ?= 127.0.0.1
PORT ?= 8050
VENV := .venv
SETTINGS := pyproject.toml constraints.txt .ci/environment
export PATH := $(CURDIR)/$(VENV)/bin:$(PATH)
export PYTHON EXTRA_INDEX
# Playwright brings a Node that a small Debian cannot start (it wants libatomic): it takes the one that the tests use anyway.
export PLAYWRIGHT_NODEJS_PATH = $(shell PATH="$(PATH)"; command -v node)
# What Python compiled is kept, even where the shell says otherwise: the tests start some sixty processes.
unexport PYTHONDONTWRITEBYTECODE
SPREAD := -n auto --maxprocesses 4 --dist worksteal

.PHONY: run test check lint types imports unit assets browser format bench checkpoints clean

run: $(VENV)/.run
	@exec lookback serve --host $(HOST) --port $(PORT)

test: lint types imports unit assets browser

check: lint types imports
	pytest -q -m "not browser and not slow"
	node --test $$(find tests/assets -name '*.test.mjs')

lint: $(VENV)/.test
	ruff check .
	ruff format --check .

types: $(VENV)/.test
	mypy
	$(VENV)/node_modules/.bin/tsc --project assets

imports: $(VENV)/.test
	lint-imports

unit: $(VENV)/.test
	pytest -q $(SPREAD) -m "not browser"

assets: $(VENV)/.test
	node --test $$(find tests/assets -name '*.test.mjs')

browser: $(VENV)/.test
	pytest -q $(SPREAD) tests/browser

format: $(VENV)/.test
	ruff check --fix .
	ruff format .

bench: $(VENV)/.test
	python -m bench

checkpoints: $(VENV)/.run
	@while read -r name given; do lookback train $$given --out models/checkpoints/$$name.safetensors || exit 1; done < models/checkpoints/recipes

clean:
	rm -rf $(VENV) .pytest_cache .ruff_cache .mypy_cache .import_linter_cache

$(VENV)/.run: $(SETTINGS)
	@.ci/environment $(VENV)
	@touch $@

$(VENV)/.test: $(SETTINGS) .ci/test-tools
	@.ci/environment $(VENV) test
	@.ci/test-tools $(VENV)
	@touch $@ $(VENV)/.run
