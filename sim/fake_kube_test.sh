#!/usr/bin/env bash
# fake_kube as a program: what it refuses, how it starts, rolls out and ends.
set -euo pipefail

fake_kube=$PWD/sim/fake_kube
manifests=$PWD/testdata/demo

fail() {
  echo "FAILED: $1"
  exit 1
}

# One clear line on standard error and status 2.
refuses() {
  local want=$1 status=0 errors
  shift
  errors=$("$fake_kube" "$@" 2>&1 >/dev/null </dev/null) || status=$?
  ((status == 2)) || fail "$*: ended with $status"
  [[ $(wc -l <<<"$errors") == 1 && $errors == *"$want"* ]] || fail "$*: said $errors"
}

refuses "cannot read" --manifests=/nonexistent
refuses "--ready_after: 'soon' is not a duration" --ready_after=soon
refuses "not a duration" --slices_lag=soon
refuses "give one of never, after_removal" --ip_reuse=x
refuses "not a port" --port=70000
refuses "give --tls too" --client_certificates
refuses "is not a flag" word
refuses "cannot be written" --pod_log=/nonexistent/log
refuses "No such file" --write_kubeconfig=/nonexistent/config
echo 'a: [' >"$TEST_TMPDIR/bad.yaml"
refuses "end of sequence" --manifests="$TEST_TMPDIR/bad.yaml"
echo '{apiVersion: apps/v1, kind: Deployment, metadata: {name: d}, spec: {}}' \
  >"$TEST_TMPDIR/invalid.yaml"
refuses "spec.selector: Required value" --manifests="$TEST_TMPDIR/invalid.yaml"

# It listens, rolls a Deployment out and ends on SIGTERM.
exec {out}< <(exec "$fake_kube" --manifests="$manifests,$manifests/neighbour" \
  --write_kubeconfig="$TEST_TMPDIR/kubeconfig" --pod_log="$TEST_TMPDIR/pods" \
  --request_log="$TEST_TMPDIR/requests" --startup=1ms --ready_after=2ms)
fake=$!
read -r -t 60 -u "$out" line
[[ $line == "listening on 127.0.0.1:"* ]] || fail "said $line"
port=${line##*:}
grep -q "server: http://127.0.0.1:$port" "$TEST_TMPDIR/kubeconfig" || fail "kubeconfig"

# usage: send METHOD TARGET [BODY]
send() {
  local method=$1 target=$2 body=${3-}
  exec {socket}<>"/dev/tcp/127.0.0.1/$port"
  {
    printf '%s %s HTTP/1.1\r\nHost: x\r\nUser-Agent: curl/1\r\n' "$method" "$target"
    printf 'Connection: close\r\nContent-Type: application/merge-patch+json\r\n'
    printf 'Content-Length: %d\r\n\r\n%s' "${#body}" "$body"
  } >&"$socket"
  cat <&"$socket"
  exec {socket}>&-
}

[[ $(send GET /version) == *'"v1.36'* ]] || fail "no version"
# usage: await_ready COUNT
await_ready() {
  while (($(grep -c '"event":"ready"' "$TEST_TMPDIR/pods" || true) < $1)); do
    kill -0 "$fake" 2>/dev/null || fail "it ended early"
  done
}

await_ready 14
[[ $(send PATCH /apis/apps/v1/namespaces/demo/deployments/web \
  '{"spec":{"template":{"metadata":{"annotations":{"v":"2"}}}}}') == "HTTP/1.1 200"* ]] ||
  fail "the Deployment cannot be patched"
await_ready 24
(($(grep -c '"event":"deleted"' "$TEST_TMPDIR/pods") >= 7)) || fail "nothing was deleted"
grep -q '"userAgent":"curl/1"' "$TEST_TMPDIR/requests" || fail "the request log lacks requests"
kill -TERM "$fake"
wait "$fake" || fail "SIGTERM: ended with $?"

# It ends with its standard input.
status=0
timeout 60 "$fake_kube" --exit_with_stdin --tls --client_certificates --token=secret \
  </dev/null >/dev/null || status=$?
((status == 0)) || fail "--exit_with_stdin: ended with $status"
