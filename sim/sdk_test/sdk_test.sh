#!/usr/bin/env bash
# Oracle's own SDK against fake_oci, over HTTP and over TLS. Installs the npm
# package once and keeps it; says so and passes where npm cannot be reached.
set -euo pipefail

version=2.139.1
fake_oci=$PWD/sim/fake_oci
here=$PWD/sim/sdk_test

skip() {
  echo "SKIP: $1"
  exit 0
}
for program in node npm; do
  command -v "$program" >/dev/null || skip "there is no $program"
done

# Bazel gives tests no HOME; npm wants one, and the cache belongs there.
home=${HOME:-$(getent passwd "$(id -u)" | cut -d: -f6)}
export HOME=${home:-$TEST_TMPDIR}
cache=$HOME/.cache/oci-backend-drain
mkdir -p "$cache" 2>/dev/null || cache=$TEST_TMPDIR
sdk=$cache/oci-loadbalancer-$version

if [[ ! -d $sdk ]]; then
  fresh=$(mktemp -d "$cache/fresh.XXXXXX")
  trap 'rm -rf "$fresh"' EXIT
  status=0
  timeout 90 npm install --prefix "$fresh" --ignore-scripts --no-audit --no-fund \
    --fetch-retries=1 --fetch-timeout=30000 "oci-loadbalancer@$version" \
    >"$fresh/log" 2>&1 || status=$?
  if ((status == 124)); then skip "npm got no answer from its registry in 90 s"; fi
  if ((status != 0)); then
    tail -n 20 "$fresh/log"
    if grep -qE 'ENOTFOUND|EAI_AGAIN|ECONN|ETIMEDOUT|ENETUNREACH|network|code E[45]' "$fresh/log"; then
      skip "npm cannot reach a registry that has oci-loadbalancer"
    fi
    echo "npm install failed for another reason than the network"
    exit 1
  fi
  # Several runs may install at once; the first one wins.
  mv -T "$fresh" "$sdk" 2>/dev/null || [[ -d $sdk ]]
fi

run() {
  local scheme=$1
  shift
  local folder
  folder=$(mktemp -d "$TEST_TMPDIR/$scheme.XXXXXX")
  exec {out}< <(exec "$fake_oci" --state="$here/state.json" --write_config="$folder" \
    --request_log="$folder/requests" --service_time=200ms "$@")
  local fake=$!
  # shellcheck disable=SC2064
  trap "kill $fake 2>/dev/null || true" EXIT
  local line
  read -r -t 60 -u "$out" line
  echo "$scheme: $line"
  if [[ $scheme == https ]]; then export NODE_EXTRA_CA_CERTS=$folder/ca.pem; fi
  NODE_PATH=$sdk/node_modules \
    timeout 60 node "$here/sdk_test.js" "$scheme://${line##* }" "$folder" "$folder/requests"
  kill "$fake"
  exec {out}<&-
  trap - EXIT
}

run http
run https --tls
