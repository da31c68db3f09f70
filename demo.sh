#!/usr/bin/env bash
# Sets up .venv and flies the demo: a quadrotor takes off, flies a square and lands.
# Arguments go to `ghost run`, for example: ./demo.sh --seed 7 --json
set -euo pipefail
cd "$(dirname "$0")"
source tools/setup.sh
ghost_setup demo
if [ $# -eq 0 ]; then
    ghost_say ".venv/bin/ghost run square"
fi
exec .venv/bin/ghost run square "$@"
