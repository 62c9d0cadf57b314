#!/usr/bin/env bash
# Prints a helm: $QCM_HELM if that is set, else built once from the Go modules that go.mod pins, and
# kept outside the work tree.
#
# Exit code 77: there is no Go to build it with (with CI=true that is a failure, exit code 1).
set -euo pipefail
cd "$(dirname "$0")"

if [ -n "${QCM_HELM:-}" ]; then
  echo "$QCM_HELM"
  exit
fi
say() { echo "tests/manifests: $*" >&2; }

. ../find_go.sh

cache=${XDG_CACHE_HOME:-$HOME/.cache}/quota-controller-manager
stamp=$(cat go.mod go.sum helm.sh ../find_go.sh | sha256sum | cut -c1-16)
program=$cache/helm-$stamp
if [ -x "$program" ]; then
  echo "$program"
  exit
fi
go=$(find_go)
if [ -z "$go" ]; then
  say "NO HELM: set QCM_HELM, or install Go >= 1.26"
  [ "${CI:-}" != true ] || exit 1
  exit 77
fi
version=$(awk '$2 == "helm.sh/helm/v3" { print $3 } $1 == "helm.sh/helm/v3" { print $2 }' go.mod)
mkdir -p "$cache"
fresh=$(mktemp "$program.XXXXXX")
trap 'rm -f "$fresh"' EXIT
say "building helm $version (once; two to three minutes with 2 cores) ..."
# Without a Kubernetes version, helm would act as if it were built for 1.20.
kubernetes=helm.sh/helm/v3/pkg/chartutil
flags="-s -w -X helm.sh/helm/v3/internal/version.version=$version"
flags+=" -X $kubernetes.k8sVersionMajor=1 -X $kubernetes.k8sVersionMinor=36"
go_build "$go" -buildvcs=false -ldflags "$flags" -o "$fresh" helm.sh/helm/v3/cmd/helm >&2 || {
  say "the Go build failed (its messages are above)"
  exit 1
}
rm -f "$cache"/helm-????????????????
mv "$fresh" "$program"
trap - EXIT
echo "$program"
