#!/usr/bin/env bash
# Prints a program that builds folders with the kustomize of some older kubectl
# (kustomize/render.go), built once from Go modules and kept outside the work tree:
#
#   bash kustomize.sh --list       the versions
#   bash kustomize.sh v5.5.0
#
# v5.0.3 is a month older than that of kubectl 1.29, v5.5.0 is that of 1.32, v5.7.1 that of 1.34 and
# 1.35.
# The newest one is in the kubectl of tests/k8s/build.sh.
#
# Exit code 77: there is no Go to build it with (with CI=true that is a failure, exit code 1).
set -euo pipefail
cd "$(dirname "$0")"

if [ "${1:-}" = --list ]; then
  (cd kustomize && printf '%s\n' v*.mod) | sed 's/\.mod$//' | sort -V
  exit
fi
version=${1:?usage: kustomize.sh --list | VERSION}
say() { echo "tests/manifests: $*" >&2; }
[ -f "kustomize/$version.mod" ] || { say "there is no kustomize $version here (--list)"; exit 2; }

. ../find_go.sh
cd kustomize
cache=${XDG_CACHE_HOME:-$HOME/.cache}/quota-controller-manager
stamp=$(cat render.go "$version.mod" "$version.sum" ../../find_go.sh | sha256sum | cut -c1-16)
program=$cache/kustomize-$version-$stamp
if [ -x "$program" ]; then
  echo "$program"
  exit
fi
go=$(find_go)
if [ -z "$go" ]; then
  say "NO KUSTOMIZE $version: install Go >= 1.26"
  [ "${CI:-}" != true ] || exit 1
  exit 77
fi
mkdir -p "$cache"
fresh=$(mktemp "$program.XXXXXX")
trap 'rm -f "$fresh"' EXIT
say "building kustomize $version (once; half a minute with 2 cores) ..."
go_build "$go" -buildvcs=false -modfile="$version.mod" -o "$fresh" . >&2 || {
  say "the Go build failed (its messages are above)"
  exit 1
}
rm -f "$cache/kustomize-$version"-????????????????
mv "$fresh" "$program"
trap - EXIT
echo "$program"
