# Every target sets up all it needs: a virtual environment with the locked versions.
PYTHON ?= python3
BIN := .venv/bin
export ESCGNN_DATA ?= $(abspath $(wildcard ../shared/data))

.PHONY: demo test lint bench mutants docs site tutorials lock clean

demo: .venv/ready
	$(BIN)/python examples/demo.py

test: lint
	$(BIN)/python -m pytest -n 2 -q

lint: .venv/ready
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/zensical build --clean --strict

bench: .venv/ready
	$(BIN)/python benchmarks/encoding.py
	$(BIN)/python benchmarks/bags.py
	$(BIN)/python benchmarks/counting.py
	$(BIN)/python benchmarks/reading.py
	$(BIN)/python benchmarks/loading.py
	$(BIN)/python benchmarks/training.py
	$(BIN)/python benchmarks/scale.py
	$(BIN)/python benchmarks/huge.py
	$(BIN)/python benchmarks/brec.py
	$(BIN)/python benchmarks/explorer.py

# Faults put into the code one at a time; which do the tests notice? ONLY=readers takes those with that word in their name.
mutants: .venv/ready
	$(BIN)/python -m tests.mutants --processes 2 --only "$(ONLY)"

# The site as one writes it, in a browser.
docs: .venv/ready
	$(BIN)/zensical serve --open

# The same as files, in the folder site.
site: .venv/ready
	$(BIN)/zensical build --clean --strict

# Run the tutorials, and keep what they show.
tutorials: .venv/ready
	$(BIN)/python -m tests.site

.venv/ready: requirements.lock pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "escgnn needs Python 3.11 or newer")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet -r requirements.lock
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation -e .
	touch $@

# Newest versions that the ranges in pyproject.toml admit, as the new pins; torch is the one whose CPU build is at hand.
lock:
	rm -rf .venv && $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet "torch==2.13.0" setuptools
	$(BIN)/python -m pip install --quiet --no-build-isolation -e '.[dev]'
	$(BIN)/python -m pip freeze --all --exclude-editable | grep -v '^pip==' | sed 's/+cpu//' > requirements.lock
	touch .venv/ready

clean:
	rm -rf .venv .cache site demo build *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
