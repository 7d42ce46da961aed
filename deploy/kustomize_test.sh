#!/usr/bin/env bash
# kubectl renders the base and each overlay, and what comes out is what is promised.
set -euo pipefail

if ! command -v kubectl >/dev/null; then
  echo "SKIP: kubectl is not there (Debian package kubernetes-client)"
  exit 0
fi
out=${TEST_TMPDIR:-$(mktemp -d)}
# kubectl follows no links out of its folder.
cp -rL deploy/kustomize "$out/source"
for folder in "$out"/source/base "$out"/source/overlays/*; do
  name=$(basename "$folder")
  # It says of the words that old kubectls understand that they are old.
  if ! kubectl kustomize "$folder" >"$out/$name.yaml" 2>"$out/$name.log"; then
    cat "$out/$name.log"
    exit 1
  fi
done
cmd/oci-drain-controller --help >"$out/help"
python3 deploy/kustomize_test.py "$out" "$out/help"
