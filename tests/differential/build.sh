#!/usr/bin/env bash
# Prints the program that answers as upstream's quota code does (upstream/). It is built once, from
# Go modules, and kept outside the work tree:
#
#   bash tests/differential/build.sh          of the version of Kubernetes that go.mod pins
#   bash tests/differential/build.sh v1.37    of the one that v1.37.mod pins
#
# Exit code 77: there is no Go to build it with (with CI=true that is a failure, exit code 1).
set -euo pipefail
cd "$(dirname "$0")"

say() { echo "tests/differential: $*" >&2; }

. ../find_go.sh

cache=${XDG_CACHE_HOME:-$HOME/.cache}/quota-controller-manager
modules=${1:-go}
[ -f "$modules.mod" ] || { say "there is no $modules.mod here"; exit 2; }
stamp=$(cat "$modules.mod" "$modules.sum" build.sh ../find_go.sh upstream/*.go | sha256sum |
  cut -c1-16)
program=$cache/upstream-$modules-$stamp
if [ -x "$program" ]; then
  echo "$program"
  exit
fi
go=$(find_go)
if [ -z "$go" ]; then
  say "NOTHING TO COMPARE WITH: upstream's evaluators need Go >= 1.26 to be built"
  [ "${CI:-}" != true ] || exit 1
  exit 77
fi
mkdir -p "$cache"
fresh=$(mktemp "$program.XXXXXX")
trap 'rm -f "$fresh"' EXIT
say "building upstream's evaluators ($modules.mod; once; about a minute with 2 cores) ..."
go_build "$go" -modfile="$modules.mod" -buildvcs=false -o "$fresh" ./upstream >&2 || {
  say "the Go build failed (its messages are above)"
  exit 1
}
rm -f "$cache/upstream-$modules"-????????????????
mv "$fresh" "$program"
trap - EXIT
echo "$program"
