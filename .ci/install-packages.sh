#!/usr/bin/env bash
# Installs what building and testing need on Debian 12, and the named packages: bash
# .ci/install-packages.sh [PACKAGE…]. Prints and changes nothing if everything is installed.
#
# On Debian 13 it installs that release's compiler and Boost. Tests also need Catch2 2, which only
# Debian 12 has: without a source and a preference for it (tests/manifests/next_debian_test.sh),
# only QCM_BUILD_TESTS=OFF can be built there, as the Dockerfile does.
set -euo pipefail

packages=(
  g++-12 g++ cmake ninja-build ccache mold
  libboost1.81-dev rapidjson-dev libyaml-cpp-dev libgflags-dev libcli11-dev libgoogle-glog-dev
  libssl-dev zlib1g-dev libjemalloc-dev prometheus-cpp-dev libprotozero-dev catch2
  openssl ca-certificates
  "$@"
)
# shellcheck source=/dev/null
if [ "$(. /etc/os-release && echo "${VERSION_ID:-}")" != 12 ]; then
  mapfile -t packages < <(printf '%s\n' "${packages[@]}" |
    sed -E '/^g\+\+-12$/d; s/^libboost1\.81-dev$/libboost-dev/')
fi

find_missing() {
  local package state
  missing=()
  for package in "${packages[@]}"; do
    state=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$state" = installed ] || missing+=("$package")
  done
}
find_missing
[ ${#missing[@]} -gt 0 ] || exit 0
# The parts of a test run install at the same time, and apt does not wait for another apt.
exec 9<"$0"
flock 9
find_missing
[ ${#missing[@]} -gt 0 ] || exit 0

fail() {
  echo "install-packages.sh: $1" >&2
  echo "install-packages.sh: needed and missing: ${missing[*]}" >&2
  exit 1
}

command -v apt-get >/dev/null || fail "no apt-get here; this script knows Debian only"
as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null ||
    fail "neither root nor sudo; ask an administrator to install the packages"
  as_root=(sudo)
fi
apt() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o Dpkg::Use-Pty=0 "$@" 9<&-
}

log=$(mktemp)
trap 'rm -f "$log"' EXIT
echo "installing ${#missing[@]} packages: ${missing[*]}"
# The package lists of a new machine are empty or old: fetch them before the first install.
{ apt update && apt install -y --no-install-recommends "${missing[@]}"; } >"$log" 2>&1 || {
  tail -n 25 "$log" >&2
  fail "apt-get failed (its last lines are above)"
}
