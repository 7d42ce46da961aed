#!/usr/bin/env bash
# fake_oci as a program: what it refuses, how it starts and how it ends.
set -euo pipefail

fake_oci=$PWD/sim/fake_oci
state=$PWD/sim/sdk_test/state.json

fail() {
  echo "FAILED: $1"
  exit 1
}

# One clear line on standard error and status 2.
refuses() {
  local want=$1 status=0 errors
  shift
  errors=$("$fake_oci" "$@" 2>&1 >/dev/null </dev/null) || status=$?
  ((status == 2)) || fail "$*: ended with $status"
  [[ $(wc -l <<<"$errors") == 1 && $errors == *"$want"* ]] || fail "$*: said $errors"
}

refuses "--state is missing"
refuses "No such file" --state=/nonexistent
refuses "JSON error" --state="$0"
refuses "not a duration" --state="$state" --service_time=soon
refuses "give one of acceptance, completion, both" --state="$state" --etag=never
refuses "give one of at_once, work_request" --state="$state" --limit_refusal=x
refuses "give one of none, unmodified" --state="$state" --rival=x
refuses "--rival_kube" --state="$state" --rival=unmodified --rival_kube=nonsense
refuses "not a port" --state="$state" --port=70000
refuses "is not a flag" --state="$state" word
refuses "No such file" --state="$state" --tls_cert=/nonexistent --tls_key=/nonexistent
refuses "No such file" --state="$state" --write_config=/nonexistent
refuses "not a PEM public key" --state="$state" --public_key="$state"

# It listens, refuses who did not sign, and ends on SIGTERM.
exec {out}< <(exec "$fake_oci" --state="$state" --request_log="$TEST_TMPDIR/requests")
fake=$!
read -r -t 60 -u "$out" line
[[ $line == "listening on 127.0.0.1:"* ]] || fail "said $line"
exec {socket}<>"/dev/tcp/127.0.0.1/${line##*:}"
printf 'GET /20170115/loadBalancers/x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n' >&"$socket"
answer=$(cat <&"$socket")
[[ $answer == "HTTP/1.1 401"* && $answer == *NotAuthenticated* ]] || fail "answered $answer"
grep -q '"status":401' "$TEST_TMPDIR/requests" || fail "the request log lacks the request"
kill -TERM "$fake"
wait "$fake" || fail "SIGTERM: ended with $?"

# It ends with its standard input.
status=0
timeout 60 "$fake_oci" --state="$state" --exit_with_stdin </dev/null >/dev/null || status=$?
((status == 0)) || fail "--exit_with_stdin: ended with $status"
