#!/usr/bin/env bash
# Proves that each linter finds what it is for: it must pass a good tree and
# fail, with the right words, once a single file in it is made bad.
# usage: tools/self_test.sh
# What it proved is not proved again until a file of tools/ or a rule changes.
set -uo pipefail
tools=$(cd "$(dirname "$0")" && pwd)

cache=${XDG_CACHE_HOME:-$HOME/.cache}/oci-backend-drain/self_test
proved=$cache/$({
  find "$tools" "$tools/../.clang-tidy" "$tools/../.clang-format" -type f \
    -not -path '*/__pycache__/*' -print0 | sort -z | xargs -0 sha256sum
  clang-tidy --version
  clang-format --version
  command -v shellcheck
} | sha256sum | cut -c1-64)
if [[ -e $proved ]]; then exit 0; fi
echo "  self-test: feeding each linter what it must refuse, half a minute" >&2

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export XDG_CACHE_HOME=$scratch/cache
tree=$scratch/tree
failures=0

complain() {
  printf '%s\n' "$*"
  failures=$((failures + 1))
}

# Lays the good tree anew.
fresh() {
  rm -rf "$tree"
  cp -r "$tools/testdata/tree" "$tree"
  cp "$tools/../.clang-format" "$tools/../.clang-tidy" "$tree"
}

# good COMMAND...: passes the good tree.
good() {
  fresh
  "$@" "$tree" >"$scratch/output" 2>&1 ||
    complain "$1 refuses a good tree: $(cat "$scratch/output")"
}

# bad WORDS FILE COMMAND...: fails, and says WORDS, once FILE has the text that
# comes on standard input.
bad() {
  local words=$1 file=$tree/$2
  shift 2
  fresh
  mkdir -p "$(dirname "$file")"
  cat >"$file"
  if "$@" "$tree" >"$scratch/output" 2>&1; then
    complain "$1 does not see: $words"
  elif ! grep -qF -- "$words" "$scratch/output"; then
    complain "$1 fails without saying '$words': $(cat "$scratch/output")"
  fi
}

# header NAME TEXT: a header whose guard is right.
header() {
  local guard
  guard=OCI_BACKEND_DRAIN_$(tr 'a-z/.' 'A-Z__' <<<"$1")_
  printf '#ifndef %s\n#define %s\n%s\n#endif  // %s\n' "$guard" "$guard" "$2" "$guard"
}

lines() { for ((i = 0; i < $1; i++)); do printf '%s\n' "$2"; done; }

test_formatting() {
  good "$tools/check_format.sh"
  bad "clang-format-violations" base/bad.cc "$tools/check_format.sh" <<<'int  F( ){return 1;}'
}

test_includes() {
  local lint=$tools/check_includes.py file includes words
  good "$lint"
  while IFS='|' read -r file includes words; do
    bad "$words" "$file" "$lint" <<<"#include $includes"
  done <<'END'
base/bad.cc|"kube/types.h"|base/ may include nothing else
drain/bad.cc|"oci/codec.h"|drain/ may include base, annotations, oci/types.h
capacity/bad.cc|"drain/plan.h"|capacity/ may include
kube/types.cc|"http/transport.h"|plain values include base/ only
controller/bad.cc|"sim/world.h"|controller/ may include
drain/bad_test.cc|"sim/world.h"|drain/ may include
oci/bad.cc|"types.h"|include by the path from the root
oci/bad.cc|"oci/missing.h"|there is no such file
oci/bad.cc|"kube/types.h"|oci/ may include base, http
sim/bad.cc|"cmd/flags.h"|sim/ may include
unknown/bad.cc|<string>|has no row in FOLDERS
oci/bad.cc|<cpprest/http_client.h>|cpprestsdk belongs to http/cpprest_transport.cc
oci/bad.cc|<openssl/ssl.h>|OpenSSL belongs to
drain/bad.cc|"rapidjson/document.h"|RapidJSON belongs to
controller/bad.cc|<gflags/gflags.h>|gflags belongs to
oci/bad.cc|<glog/logging.h>|glog belongs to
kube/bad.cc|<boost/beast.hpp>|Boost belongs to
oci/bad.cc|<yaml-cpp/yaml.h>|yaml-cpp belongs to
oci/bad.cc|<gtest/gtest.h>|GoogleTest belongs to
drain/bad_test.cc|<benchmark/benchmark.h>|Google Benchmark belongs to
oci/bad.cc|<curl/curl.h>|an unknown library
drain/bad.cc|<chrono>|the pure core has no clock
drain/bad.cc|<iostream>|the pure core has no clock
capacity/bad.cc|<mutex>|the pure core has no clock
annotations/bad.cc|<unistd.h>|the pure core has no clock
drain/bad.cc|"absl/time/clock.h"|the pure core has no clock
END
}

test_tidy() {
  local lint=$tools/tidy.py
  good "$lint"
  bad "function of 72 lines" base/bad.cc "$lint" < <(
    printf 'namespace base {\nint F(int a) {\n'
    lines 70 '  ++a;'
    printf '}\n}\n'
  )
  bad "function of 71 lines" base/bad.h "$lint" < <(
    header base/bad.h "$(printf 'class C : public D {\n public:\n  C() : a_(1) {\n' &&
      lines 69 '    ++a_;' && printf '  }\n};')"
  )
  bad "file of 501 lines" base/bad.cc "$lint" < <(lines 501 'int x;')
  bad "header guard OCI_BACKEND_DRAIN_BASE_BAD_H_" base/bad.h "$lint" <<<'#pragma once'
  bad "left-over mark" docs/bad.md "$lint" < <(printf 'TO%s: later\n' DO)
  bad "path of one machine" docs/bad.md "$lint" < <(printf 'see /%s/shared\n' work)
  bad "path of one machine" base/bad.cc "$lint" < <(printf 'const char* k = "/%s/x";\n' tmp)
  bad "reads the real clock" oci/bad.cc "$lint" <<<'absl::Time t = absl::Now();'
  bad "reads the real clock" oci/bad_test.cc "$lint" <<<'void F() { absl::SleepFor(x); }'
  bad "no virtual functions" drain/bad.cc "$lint" <<<'struct A { virtual int F() = 0; };'
  bad "white space at the end" base/bad.cc "$lint" <<<'int x; '
  bad "tab" base/bad.cc "$lint" < <(printf '\tint x;\n')
  bad "no line break at the end" base/bad.cc "$lint" < <(printf 'int x;')
}

test_docs() {
  local lint=$tools/check_docs.py text words
  good "$lint"
  while IFS='|' read -r text words; do
    bad "$words" docs/bad.md "$lint" <<<"$text"
  done <<'END'
[a page](missing.md)|there is no docs/missing.md
[up](../base/missing.h)|there is no base/missing.h
[part](guide.md#missing)|has no such heading
[line](../base/good.h#L3)|line anchors rot
[`base::Missing`](../base/good.h)|does not mention base::Missing
[ref]: missing.md|there is no docs/missing.md
see `base/missing.cc`|there is no base/missing.cc
see `base/missing/`|there is no base/missing/
see `missing/`|there is no missing/
by `Good.Missing`|there is no such test
run //base:missing|has no target missing
run //docs:all|docs/ has no BUILD.bazel
run //base/missing/...|no such folder
END
  bad "there is no testdata/drain/a_missing_case.in.json" docs/field_reports.md "$lint" \
    < <(printf '| 1 | a | b | \140a_missing_case\140 |\n')
  bad "neither a case nor what is open" docs/field_reports.md "$lint" <<<'| 1 | a | b | later |'
  bad "does not list 0002-b.md" docs/adr/0002-b.md "$lint" <<<'# B'
  bad "does not list \`other\`" third_party/other/BUILD.bazel "$lint" <<<''
  bad "tools/run_docs.py cannot run this" docs/bad.md "$lint" \
    < <(printf '\140\140\140sh\nkubectl get pods\n\140\140\140\n')
  bad "is run, or marked cluster or source" docs/bad.md "$lint" \
    < <(printf '\140\140\140sh later\nls\n\140\140\140\n')
  bad "there is no tools/missing" docs/bad.md "$lint" \
    < <(printf '\140\140\140sh source\ntools/missing\n\140\140\140\n')
  bad "it lacks --missing of cmd/bad.cc" cmd/bad.cc "$lint" <<<'DEFINE_bool(missing, false, "a");'
  bad "--good of cmd/bad.cc says something else" cmd/bad.cc "$lint" \
    <<<'DEFINE_bool(good, false, "Another meaning");'
  bad "lacks the reason Missing" controller/bad.cc "$lint" \
    <<<'void F() { Tell(object, {true, "Missing", note, ""}); }'
  bad "Missing is told nowhere" annotations/reasons.cc "$lint" \
    <<<'constexpr Event kEvents[] = {{"Missing", true, "Service"}};'
  bad "lacks kMaxBadBytes" base/bad.h "$lint" <<<'inline constexpr int kMaxBadBytes = 3;'
  bad "is 2, not 3" docs/limits.md "$lint" \
    < <(printf '| a | 3 | \140kMaxGoodBytes\140 | [base](../base/good.h) |\n')
  bad "\`lib\` has no licence" third_party/README.md "$lint" \
    < <(printf '| target | licence | why |\n| \140lib\140 | | tests |\n')
}

test_shell() {
  command -v shellcheck >/dev/null || return 0
  good "$tools/check_shell.sh"
  bad "SC2086" tools/bad.sh "$tools/check_shell.sh" < <(printf '#!/bin/bash\necho $%s\n' '1')
  bad "SC2086" tool "$tools/check_shell.sh" < <(printf '#!/usr/bin/env bash\necho $%s\n' '1')
}

test_clang_tidy() {
  local lint=$tools/run_clang_tidy.py
  good "$lint"
  bad "bugprone-use-after-move" base/bad.cc "$lint" < <(
    printf '#include <string>\n#include <utility>\n'
    printf 'bool F(std::string a) { std::string b = std::move(a); return a == b; }\n'
  )
  bad "error" base/bad.cc "$lint" <<<'int F() { return missing; }'
  # What passed is remembered, but not once a header of it has changed.
  fresh
  "$lint" "$tree" >/dev/null 2>&1 || complain "clang-tidy does not pass what it has passed"
  header base/good.h 'int Good(;' >"$tree/base/good.h"
  if "$lint" "$tree" >/dev/null 2>&1; then complain "clang-tidy does not see a changed header"; fi
}

# counted EXPECTED STATUS: what count_tests.py makes of tools/testdata/events.
counted() {
  local got
  rm -f "$scratch/results"
  "$tools/count_tests.py" "$scratch/events" "$2" "$scratch/results" all >/dev/null
  got=$(cat "$scratch/results")
  [[ $got == "$1 all" ]] || complain "count_tests.py counts '$got', not '$1 all'"
}

test_counting() {
  local data=$tools/testdata/events
  sed "s|@DIR@|$data|" "$data/mixed.json" >"$scratch/events"
  counted "4 4 3" 1
  sed "s|@DIR@|$data|" "$data/mixed.json" | grep -E 'good_test' >"$scratch/events"
  counted "2 0 0" 0
  counted "2 1 0" 1
  : >"$scratch/events"
  counted "0 1 0" 4
  counted "0 1 0" 0
}

# verdict LAST_LINE STATUS: what verdict.py makes of the rows on standard input.
verdict() {
  local got status
  cat >"$scratch/results"
  got=$("$tools/verdict.py" "$scratch/results")
  status=$?
  [[ $(tail -n 1 <<<"$got") == "$1" && $status == "$2" ]] ||
    complain "verdict.py says '$got' with status $status, not '$1' with $2"
}

test_verdict() {
  verdict "5 passed, 0 failed" 0 < <(printf '1 0 0 a\n4 0 0 b c\n')
  verdict "5 passed, 0 failed, 2 skipped" 0 < <(printf '1 0 0 a\n4 0 2 b\n')
  verdict "5 passed, 1 failed" 1 < <(printf '1 1 0 a\n4 0 0 b\n')
  verdict "0 passed, 0 failed" 1 < <(printf '')
}

test_installer() {
  local list=$scratch/packages
  printf 'bash | package | build | a shell\ng++ | command sh | check | a compiler\n' >"$list"
  OCI_BACKEND_DRAIN_PACKAGES=$list PATH=/usr/bin:/bin "$tools/install_packages.sh" check \
    >"$scratch/output" 2>&1 || complain "install_packages.sh fails with nothing missing"
  [[ ! -s $scratch/output ]] || complain "install_packages.sh speaks with nothing missing"
  # A foreign apt-get stands in, so that nothing is installed and no network used.
  mkdir -p "$scratch/bin"
  printf '#!/bin/sh\necho "$@" >>"%s/asked"\nexit 1\n' "$scratch" >"$scratch/bin/apt-get"
  # shellcheck disable=SC2016 # the stand-in expands it
  printf '#!/bin/sh\n[ "$1" = -v ] || exec "$@"\n' >"$scratch/bin/sudo"
  chmod +x "$scratch/bin/apt-get" "$scratch/bin/sudo"
  printf 'no-such-package | package | build | to be missed\n' >"$list"
  OCI_BACKEND_DRAIN_PACKAGES=$list PATH=$scratch/bin:$PATH "$tools/install_packages.sh" build \
    >"$scratch/output" 2>&1 && complain "install_packages.sh hides a failed installation"
  grep -q 'no-such-package *to be missed' "$scratch/output" ||
    complain "install_packages.sh does not say what is missing and why"
  grep -q 'install.*no-such-package' "$scratch/asked" ||
    complain "install_packages.sh does not ask apt-get"
}

test_mutants() {
  local lint=("$tools/mutants" --check)
  bad "is 0 times in base/good.cc" tools/mutants.toml "${lint[@]}" < <(
    printf '[[mutant]]\nname = "a"\nwhy = "b"\nfile = "base/good.cc"\n'
    printf 'search = "no such text"\nreplace = ""\ntests = []\n'
  )
}

# fuzzer NAME BODY: a program of libFuzzer, and a seed for it.
fuzzer() {
  mkdir -p "$scratch/fuzz/testdata/fuzz/$1"
  printf 'seed' >"$scratch/fuzz/testdata/fuzz/$1/seed"
  printf '#include <cstdint>\n#include <cstdlib>\n%s {\n%s\n return 0;\n}\n' \
    'extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)' "$2" |
    clang++ -g -fsanitize=fuzzer -x c++ - -o "$scratch/fuzz/$1_fuzzer" || complain "no libFuzzer"
}

# shellcheck disable=SC2016 # quotes of C++
test_fuzz() {
  local status
  fuzzer good '(void)data; (void)size;'
  fuzzer bad "if (size > 0 && data[0] == '!') abort();"
  (
    cd "$scratch/fuzz" || exit
    "$tools/run_fuzzers.py" --programs=. --seconds=2 --results="$scratch/fuzz_results" good bad
  ) >"$scratch/output" 2>&1
  status=$?
  ((status == 1)) || complain "run_fuzzers.py ends with $status after a crash"
  grep -q 'ok *good: [1-9]' "$scratch/output" || complain "run_fuzzers.py does not count inputs"
  grep -q 'FAILED *bad' "$scratch/output" || complain "run_fuzzers.py does not name what crashed"
  grep -q 'to repeat: .*bad_fuzzer' "$scratch/output" ||
    complain "run_fuzzers.py does not say how to repeat a crash"
  verdict "1 passed, 1 failed" 1 <"$scratch/fuzz_results"
}

for subject in formatting includes tidy docs shell clang_tidy counting verdict mutants fuzz installer; do
  "test_$subject"
done
if ((failures > 0)); then
  printf '%d failures\n' "$failures"
  exit 1
fi
mkdir -p "$cache"
touch "$proved"
