# `make demo` does the main job on a fresh machine; `make test` is what CI runs. Every target works by itself: it makes
# its own .venv with pinned dependencies. Needs only Python >= 3.11 with venv and pip.

PYTHON ?= $(shell for candidate in python3 python3.13 python3.12 python3.11; do \
	$$candidate -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$candidate && break; done)
VENV ?= .venv
BIN := $(VENV)/bin
# How many tests run at a time: one more than there are processors, because some only wait. Each worker takes half a
# gigabyte.
WORKERS ?= $(shell $(PYTHON) -c 'import os; print(min(4, 1 + (os.cpu_count() or 1)))')

.PHONY: demo test lint format check-types unit bench bench-gate bench-peers soak test-real client-diff test-system engines test-engines test-web test-oldest test-newest pictures map trace package clean

demo: $(VENV)/.ready
	@$(BIN)/collector demo

test: lint check-types unit

$(VENV)/.ready: requirements-dev.txt pyproject.toml
	@test -n "$(PYTHON)" || { echo "collector needs Python >= 3.11; none was found on the PATH." >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

lint: $(VENV)/.ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

check-types: $(VENV)/.ready
	$(BIN)/mypy

unit: $(VENV)/.ready
	$(BIN)/python -m pytest -q -n $(WORKERS) --dist worksteal -m "not slow and not system and not engines and not browser"

format: $(VENV)/.ready
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.ready
	$(BIN)/python -m tests.bench

# Fails where a line costs a fifth more than it did when the limit was set, in tests/bench/gate.py.
bench-gate: $(VENV)/.ready
	$(BIN)/python -m tests.bench.gate

# Ours beside rsyslog, syslog-ng, an OpenTelemetry Collector and Filebeat, in one run. They are unpacked or built into
# $COLLECTOR_ENGINES, as engines are; what cannot be had is said, and skipped.
bench-peers: $(VENV)/.ready
	@$(BIN)/python -m tests.bench.peers

soak: $(VENV)/.ready
	$(BIN)/python -m pytest -q -s -m slow

# WRITER is a program that takes a directory and has the real Claude Code write a session below it, offline.
test-real: $(VENV)/.ready
	@test -n "$(WRITER)" || { echo "make test-real WRITER=/path/to/write-session" >&2; exit 2; }
	CLAUDE_CODE_SESSION_WRITER=$(WRITER) $(BIN)/python -m pytest -q -m slow tests/real

# What the real client's program writes that our tables do not name; without VERSION, of the two newest on npm.
client-diff: $(VENV)/.ready
	@$(BIN)/python -m tests.client_diff $(VERSION)

test-system: $(VENV)/.ready
	$(BIN)/python -m pytest -q -m system

# Real engines, by name and version, into $COLLECTOR_ENGINES (default: collector-engines in the cache folder); ENGINES
# names some of them. Needs what each is built with: go, mvn and java, apt-get. What cannot be had is said, and skipped.
engines: $(VENV)/.ready
	@$(BIN)/python -m tests.engines.install $(ENGINES)

# Every sink into its real engine, and the shipped SQL in its databases: those that `make engines` installed, DuckDB, which
# is installed for it, and PostgreSQL where Debian's package is installed.
test-engines: $(VENV)/.ready
	@$(BIN)/python -c 'import duckdb' 2>/dev/null || $(BIN)/python -m pip install --quiet --disable-pip-version-check duckdb
	$(BIN)/python -m pytest -q -m engines

# The pages in Debian's Chromium, which must be installed (apt-get install chromium); what drives it is installed here. With
# WRITER (see test-real), a session that the real Claude Code wrote is looked at, too.
test-web: $(VENV)/.ready
	@$(BIN)/python -c 'import playwright, axe_playwright_python' 2>/dev/null \
		|| $(BIN)/python -m pip install --quiet --disable-pip-version-check playwright axe-playwright-python
	CLAUDE_CODE_SESSION_WRITER=$(WRITER) $(BIN)/python -m pytest -q -m browser tests/web

# `make test` with the oldest packages that pyproject.toml allows, or the newest of the index, each in its own environment.
test-oldest: OTHERS = --resolution lowest-direct --editable .[s3]
test-newest: OTHERS = --editable .[s3,dev]
test-oldest test-newest:
	@$(PYTHON) -m venv --clear build/$@
	@build/$@/bin/python -m pip install --quiet --disable-pip-version-check uv -r requirements-dev.txt
	build/$@/bin/uv pip install --quiet --python build/$@ --upgrade $(OTHERS)
	@touch build/$@/.ready
	@$(MAKE) test VENV=build/$@

# The screenshots of the documentation, of the generated home.
pictures: $(VENV)/.ready
	@$(BIN)/python -c 'import PIL, playwright, axe_playwright_python' 2>/dev/null \
		|| $(BIN)/python -m pip install --quiet --disable-pip-version-check pillow playwright axe-playwright-python
	$(BIN)/python -m tests.web.pictures docs/pictures

# Who imports whom, room by room; MODULES=yes: module by module. Fails on what the table of rooms does not allow.
map: $(VENV)/.ready
	@$(BIN)/python -m tests.map $(if $(MODULES),--modules)

# Which functions one line passes through on its way out, by room and file.
trace: $(VENV)/.ready
	@$(BIN)/python -m tests.trace

package: $(VENV)/.ready
	$(BIN)/python packaging/build

clean:
	rm -rf $(VENV) dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis
