#!/usr/bin/env bash
# docs/configuration.md says what the programs say, and the commands that are shown run.
set -euo pipefail

python3 tools/make_configuration.py --check --programs=cmd
python3 tools/run_docs.py cmd
