#!/usr/bin/env bash
# The image of the programs: small enough, always the same, and with all that they need.
set -euo pipefail

python3 deploy/image/image_test.py --limit_mb=60 \
  cmd/oci-drain-controller cmd/oci-drain cmd/drain-wait
