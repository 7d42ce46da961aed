#!/usr/bin/env bash
# Checks that clang-format would change nothing, by .clang-format.
# usage: tools/check_format.sh [ROOT]
set -euo pipefail
tools=$(cd "$(dirname "$0")" && pwd)
cd "${1:-$tools/..}"

PYTHONPATH=$tools python3 -c '
import repo_files
for path in repo_files.list_files("."):
    if path.endswith(repo_files.CXX_SUFFIXES):
        print(path, end="\0")' |
  xargs -0 -r clang-format --style=file --dry-run -Werror 2>&1
