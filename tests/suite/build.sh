#!/usr/bin/env bash
# Prints the program that runs upstream's end-to-end tests of ResourceQuota (main.go, built from the
# Go modules that go.mod pins). It is built once and kept outside the work tree.
#
# Exit code 77: there is no Go to build it with (with CI=true that is a failure, exit code 1).
set -euo pipefail
cd "$(dirname "$0")"

say() { echo "tests/suite: $*" >&2; }

. ../find_go.sh

cache=${XDG_CACHE_HOME:-$HOME/.cache}/quota-controller-manager
stamp=$(cat go.mod go.sum build.sh ../find_go.sh main.go | sha256sum | cut -c1-16)
program=$cache/suite-$stamp
if [ -x "$program" ]; then
  echo "$program"
  exit
fi
go=$(find_go)
if [ -z "$go" ]; then
  say "NO SUITE: upstream's end-to-end tests need Go >= 1.26 to be built"
  [ "${CI:-}" != true ] || exit 1
  exit 77
fi
mkdir -p "$cache"
fresh=$(mktemp "$program.XXXXXX")
trap 'rm -f "$fresh"' EXIT
say "building upstream's end-to-end tests of ResourceQuota (once; some minutes with 2 cores) ..."
go_build "$go" -buildvcs=false -ldflags '-s -w' -o "$fresh" . >&2 || {
  say "the Go build failed (its messages are above)"
  exit 1
}
rm -f "$cache"/suite-????????????????
mv "$fresh" "$program"
trap - EXIT
echo "$program"
