#!/usr/bin/env bash
# usage: helm_test.sh CASES; see helm_test.py.
set -euo pipefail

help=${TEST_TMPDIR:-$(mktemp -d)}/help
cmd/oci-drain-controller --help >"$help"
python3 deploy/helm_test.py "$help" "$1"
