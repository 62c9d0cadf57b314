#!/usr/bin/env bash
# Prints the folder with a kube-apiserver of another Kubernetes version, beside etcd and kubectl of
# the version that build.sh builds. Built once from Go modules, and kept outside the work tree:
#
#   bash tests/k8s/version.sh --list               the versions: v1.29 …, each a folder here
#   bash tests/k8s/version.sh [--cached] v1.29     --cached: only if it was built already
#
# There is no kube-controller-manager: scenarios that need it do not run on these versions.
#
# Exit code 77: not available (with CI=true and without --cached that is a failure, exit code 1).
set -euo pipefail
cd "$(dirname "$0")"

say() { echo "tests/k8s: $*" >&2; }
cached=false
case ${1:-} in
  --list) printf '%s\n' v*/ | tr -d / | sort -V; exit ;;
  --cached) cached=true; shift ;;
esac
minor=${1:?usage: version.sh [--list | [--cached] VERSION]}
[ -f "$minor/go.mod" ] || { say "there is no $minor here (--list)"; exit 2; }

version=$(awk '$1 == "require" && $2 == "k8s.io/kubernetes" { print $3 }' "$minor/go.mod")
stamp=$(cat "$minor/go.mod" "$minor/go.sum" version.sh ../find_go.sh | sha256sum | cut -d' ' -f1)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/quota-controller-manager/k8s-$version
if [ "$(cat "$cache/stamp" 2>/dev/null || true)" = "$stamp" ]; then
  echo "$cache"
  exit
fi
if $cached; then
  say "kube-apiserver $version was not built yet (bash tests/run.sh --versions)"
  exit 77
fi

assets=$(bash build.sh)
. ../find_go.sh
go=$(find_go)
if [ -z "$go" ]; then
  say "no Go >= 1.26 to build kube-apiserver $version with"
  if [ "${CI:-}" = true ]; then exit 1; fi
  exit 77
fi

package=k8s.io/component-base/version
flags="-s -w -X $package.gitVersion=$version -X $package.gitMajor=1
  -X $package.gitMinor=${minor#v1.}"
fresh=$(mktemp -d "$cache.XXXXXX")
trap 'rm -rf "$fresh"' EXIT
say "building kube-apiserver $version into $cache (once; 4 to 8 minutes with 2 cores) ..."
started=$SECONDS
# The cloud providers of the oldest version import modules that are not to be had any more.
(cd "$minor" && go_build "$go" -tags providerless -ldflags "$flags" -o "$fresh/" \
  k8s.io/kubernetes/cmd/kube-apiserver) >&2 || {
  say "the Go build failed (its messages are above)"
  exit 1
}
for program in etcd kubectl; do ln -s "$assets/$program" "$fresh/$program"; done
echo "$stamp" >"$fresh/stamp"
chmod 755 "$fresh"
rm -rf "$cache"
mv -T "$fresh" "$cache" 2>/dev/null || [ -f "$cache/stamp" ]
trap - EXIT
rm -rf "$fresh"
say "built in $((SECONDS - started)) s"
echo "$cache"
