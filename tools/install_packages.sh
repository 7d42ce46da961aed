#!/usr/bin/env bash
# Installs through apt what tools/packages.txt lists and this machine lacks.
# Silent, and without any network access, when nothing is missing.
#
# usage: tools/install_packages.sh build|check
#   build   what it takes to build and run
#   check   that, and what the tests and the linters need
# Exit status 2 when something that is needed cannot be had.
set -euo pipefail
cd "$(dirname "$0")/.."

list=${OCI_BACKEND_DRAIN_PACKAGES:-tools/packages.txt}
what_for=${1:-}
case $what_for in
  build | check) ;;
  *)
    echo "usage: tools/install_packages.sh build|check" >&2
    exit 2
    ;;
esac

say() { printf '%s\n' "$*" >&2; }

# Succeeds if the machine has what the line of the list stands for.
is_there() {
  local package=$1 probe=$2 state
  case $probe in
    package)
      state=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null) || return 1
      [[ $state == installed ]]
      ;;
    'command '*) command -v "${probe#command }" >/dev/null ;;
    'file '*) [[ -e ${probe#file } ]] ;;
    *)
      say "tools/packages.txt: $package: unknown probe '$probe'"
      exit 2
      ;;
  esac
}

needed=()
optional=()
reasons=()
while IFS='|' read -r package probe for reason; do
  package=$(xargs <<<"$package")
  probe=$(xargs <<<"$probe")
  for=$(xargs <<<"$for")
  [[ -z $package || $package == \#* ]] && continue
  [[ $what_for == build && $for != build ]] && continue
  is_there "$package" "$probe" && continue
  if [[ $for == optional ]]; then optional+=("$package"); else needed+=("$package"); fi
  reasons+=("  $(printf '%-20s' "$package")${reason}")
done < <(grep -v '^#' "$list")

if ((${#needed[@]} + ${#optional[@]} == 0)); then exit 0; fi

say "Installing through apt what this machine lacks:"
printf '%s\n' "${reasons[@]}" >&2

as_root=()
if ((EUID != 0)); then
  if command -v sudo >/dev/null; then
    as_root=(sudo)
    say "(with sudo, which may ask for your password)"
  else
    as_root=(false)
    say "(but this is neither root, nor is there sudo)"
  fi
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT

# Runs apt-get quietly, with a line every ten seconds while it works.
apt() {
  local start=$SECONDS pid
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y "$@" </dev/null >>"$log" 2>&1 &
  pid=$!
  while kill -0 "$pid" 2>/dev/null; do
    sleep 0.2
    if (((SECONDS - start) >= 10 && (SECONDS - start) % 10 == 0)); then
      say "  apt-get $1: $((SECONDS - start)) s so far"
      sleep 1
    fi
  done
  wait "$pid"
}

# Without sudo's ticket a background job could not ask for the password.
if [[ ${as_root[0]:-} == sudo ]]; then sudo -v || as_root=(false); fi

if [[ ${as_root[0]:-} != false ]]; then apt update || true; fi
if ((${#needed[@]} > 0)) && ! apt install --no-install-recommends "${needed[@]}"; then
  say ""
  tail -n 5 "$log" >&2
  say "Could not install: ${needed[*]}"
  say "Install them on a Debian 12 with its package servers in reach, as root:"
  say "  apt-get update && apt-get install --no-install-recommends ${needed[*]}"
  exit 2
fi
if ((${#optional[@]} > 0)) && ! apt install --no-install-recommends "${optional[@]}"; then
  say "Could not install ${optional[*]}; going on without."
else
  say "Installed."
fi
