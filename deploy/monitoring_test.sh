#!/usr/bin/env bash
# The alerts fire when they should and not before, and alerts and dashboard use the
# metrics that there are.
set -euo pipefail

rules=${TEST_TMPDIR:-$(mktemp -d)}/dashboard.yaml
python3 deploy/monitoring_test.py "$rules"
if ! command -v promtool >/dev/null; then
  echo "SKIP: promtool is not there (Debian package prometheus)"
  exit 0
fi
promtool check rules "$rules"
promtool check rules deploy/prometheus/alerts.yaml
promtool test rules deploy/prometheus/alerts_test.yaml
