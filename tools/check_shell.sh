#!/usr/bin/env bash
# Runs shellcheck on every shell script: a name in .sh or a shebang says which.
# usage: tools/check_shell.sh [ROOT]
set -euo pipefail
tools=$(cd "$(dirname "$0")" && pwd)
cd "${1:-$tools/..}"

PYTHONPATH=$tools python3 -c '
import re, repo_files
for path in repo_files.list_files("."):
    with open(path, "rb") as file:
        first = file.readline()
    if path.endswith(".sh") or re.match(rb"#!.*\b(ba|da)?sh$", first.strip()):
        print(path, end="\0")' |
  xargs -0 -r shellcheck
