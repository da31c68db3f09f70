#!/usr/bin/env bash
# Sets up .venv and runs every check: format, lint, types, floors, our own lints, all tests.
# Arguments go to pytest, for example: ./test.sh tests/core -k clock
set -euo pipefail
cd "$(dirname "$0")"
source tools/setup.sh
# OpenGL in software for the colour cameras, and the genuine gz-transport command line as a peer;
# without them their tests are skipped and say so.
ghost_setup dev,pybullet libegl1 libgl1 libgl1-mesa-dri ignition-transport-cli

ghost_say "ruff (format, lint)"
.venv/bin/ruff format --check --quiet .
.venv/bin/ruff check --quiet .
ghost_say "mypy --strict"
.venv/bin/mypy
ghost_say "import-linter (the floors of the house)"
.venv/bin/lint-imports --no-cache >/tmp/ghost-lint-imports.$$ || {
    cat "/tmp/ghost-lint-imports.$$"
    exit 1
}
rm -f "/tmp/ghost-lint-imports.$$"
ghost_say "lint_random, lint_wall_clock"
.venv/bin/python tools/lint_random.py
.venv/bin/python tools/lint_wall_clock.py
ghost_say "pytest"
exec .venv/bin/python -m pytest -n 2 "$@"
