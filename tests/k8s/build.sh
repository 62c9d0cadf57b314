#!/usr/bin/env bash
# Prints the folder with a real etcd, kube-apiserver, kube-controller-manager and kubectl:
# $KUBEBUILDER_ASSETS if that is set, else built once from the Go modules that go.mod pins, and kept
# outside the work tree.
#
# Exit code 77: neither is available, and the real tier cannot run (with CI=true that is a failure,
# exit code 1).
set -euo pipefail
cd "$(dirname "$0")"

say() { echo "tests/k8s: $*" >&2; }
unavailable() {
  say "$*"
  say "NO REAL KUBE-APISERVER: set KUBEBUILDER_ASSETS (a folder with etcd, kube-apiserver," \
    "kube-controller-manager, kubectl) or install Go >= 1.26"
  if [ "${CI:-}" = true ]; then exit 1; fi
  exit 77
}

if [ -n "${KUBEBUILDER_ASSETS:-}" ]; then
  for program in etcd kube-apiserver kube-controller-manager kubectl; do
    [ -x "$KUBEBUILDER_ASSETS/$program" ] ||
      unavailable "KUBEBUILDER_ASSETS=$KUBEBUILDER_ASSETS has no $program"
  done
  (cd "$KUBEBUILDER_ASSETS" && pwd)
  exit
fi

version=$(awk '$1 == "k8s.io/kubernetes" { print $2; exit }' go.mod)
stamp=$(cat go.mod go.sum build.sh ../find_go.sh | sha256sum | cut -d' ' -f1)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/quota-controller-manager/k8s-$version
if [ "$(cat "$cache/stamp" 2>/dev/null || true)" = "$stamp" ]; then
  echo "$cache"
  exit
fi

. ../find_go.sh
go=$(find_go)
[ -n "$go" ] || unavailable "no Go >= 1.26 (found: $(go version 2>/dev/null || echo none))"

minor=${version#v*.}
minor=${minor%%.*}
major=${version#v}
major=${major%%.*}
package=k8s.io/component-base/version
flags="-s -w -X $package.gitVersion=$version -X $package.gitMajor=$major
  -X $package.gitMinor=$minor"

# The folder appears whole or not at all. Two builds at once leave one result.
mkdir -p "$(dirname "$cache")"
fresh=$(mktemp -d "$cache.XXXXXX")
trap 'rm -rf "$fresh"' EXIT
say "building etcd and Kubernetes $version into $cache (once; 4 to 10 minutes with 2 cores) ..."
started=$SECONDS
# One command for all four: they share most packages, and the compiler need not wait for a linker.
go_build "$go" -ldflags "$flags" -o "$fresh/" \
  go.etcd.io/etcd/server/v3 k8s.io/kubernetes/cmd/kube-apiserver \
  k8s.io/kubernetes/cmd/kube-controller-manager k8s.io/kubernetes/cmd/kubectl >&2 || {
  say "the Go build failed (its messages are above)"
  exit 1
}
mv "$fresh/server" "$fresh/etcd"
echo "$stamp" >"$fresh/stamp"
chmod 755 "$fresh"
rm -rf "$cache"
mv -T "$fresh" "$cache" 2>/dev/null || [ -f "$cache/stamp" ]
trap - EXIT
rm -rf "$fresh"
say "built in $((SECONDS - started)) s"
echo "$cache"
