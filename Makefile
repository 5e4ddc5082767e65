# Every target creates what it needs: Python >= 3.11 and make are enough.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check
CHECK_PYTHON := import sys; sys.exit(sys.version_info < (3, 11) and 'latefusion needs Python 3.11 or newer; set PYTHON=python3.x')

# Two processes share the cores; a pool of BLAS threads in each would only make them wait for one another.
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
PYTEST := $(ONE_THREAD) $(BIN)/python -m pytest -n 2
PAGES := docs/_build docs/gallery docs/reference/generated docs/reference/uses

.PHONY: demo test test-slow test-nightly test-browser test-lowest test-newest coverage mutants docs lint format clean

$(VENV)/.installed: pyproject.toml
	$(PYTHON) -c "$(CHECK_PYTHON)"
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP_INSTALL) --editable '.[dev]'
	touch $@

# The demo needs less than the tests: no linters, no torch.
$(VENV)/.demo-installed: pyproject.toml
	$(PYTHON) -c "$(CHECK_PYTHON)"
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP_INSTALL) --editable '.[plot,report]'
	touch $@

demo: $(VENV)/.demo-installed
	$(BIN)/latefusion demo

test: lint
	$(PYTEST) -m "not slow and not browser"

test-slow: $(VENV)/.installed
	$(PYTEST) -m slow

# Properties on examples that are drawn anew, fifty times as many as usual.
test-nightly: $(VENV)/.installed
	LATEFUSION_EXAMPLES=50 $(PYTEST) $$(grep -rl '@given' tests)

# The core tests with the lowest versions that pyproject.toml declares, and with the newest ones that can be had.
test-lowest test-newest: test-%:
	$(PYTHON) -c "$(CHECK_PYTHON)"
	$(PYTHON) -m tests.trust.versions $* $(VENV)-$*

# Lines of the core rooms that their own tests and those of the estimators reach.
coverage: $(VENV)/.installed
	$(ONE_THREAD) $(BIN)/coverage run -m pytest -q -m "not slow and not browser" \
	  $(addprefix tests/,solvers encoding similarities partitions kernels metrics assignment estimators)
	$(BIN)/coverage report

# Small faults in the core rooms, and whether a test notices: a tenth of them, those whose number ends in 7; `make mutants
# MUTANTS='*'` runs all. What has not changed since the last run is not run again. Survivors: `mutmut results`, `mutmut show`.
MUTANTS := *7
mutants: $(VENV)/.installed
	mkdir -p mutants/src
	$(ONE_THREAD) PYTHONPATH=$(CURDIR)/mutants/src $(BIN)/mutmut run --max-children 2 '$(MUTANTS)'
	$(BIN)/mutmut results --all true | grep -v 'not checked' | sed -E 's/^ *latefusion\.([a-z]+)\..*: /\1 /' | sort | uniq -c

# Chromium comes from the system; where it cannot be had, the tests are skipped and say so. One after the other: some
# of them measure time.
CHROMIUM := chromium chromium-driver
$(VENV)/.browser-installed: pyproject.toml
	$(PYTHON) -c "$(CHECK_PYTHON)"
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP_INSTALL) --editable '.[test,browser]'
	command -v chromium > /dev/null && command -v chromedriver > /dev/null \
	  || apt-get install --yes --no-install-recommends $(CHROMIUM) \
	  || { apt-get update && apt-get install --yes --no-install-recommends $(CHROMIUM); } \
	  || echo 'No Chromium here, and apt-get cannot install it: the browser tests will be skipped.'
	touch $@

test-browser: $(VENV)/.browser-installed
	$(PYTEST) -n 0 -m browser tests/browser

# Pages from scratch, without a network; a warning is an error. Pictures and the example report come first: pages show them.
$(VENV)/.docs-installed: $(VENV)/.installed
	$(PIP_INSTALL) --editable '.[docs]'
	touch $@

docs: $(VENV)/.docs-installed
	rm -rf $(PAGES)
	$(ONE_THREAD) $(BIN)/python docs/picture.py docs/_build/pictures
	$(ONE_THREAD) $(BIN)/python -m sphinx --builder html --fail-on-warning --keep-going --quiet docs docs/_build/html
	@echo 'Open docs/_build/html/index.html'

lint: $(VENV)/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.installed
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .import_linter_cache mutants demo-output $(PAGES)
