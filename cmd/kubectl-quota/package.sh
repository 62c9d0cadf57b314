#!/usr/bin/env bash
# Packs the plugin as krew installs it: bash cmd/kubectl-quota/package.sh FOLDER [URL]
#
# FOLDER gets kubectl-quota-linux-amd64.tar.gz, with the libraries that the program loads beside it
# (all but those of glibc 2.36), and the manifest that names it. URL is where the archive will be
# found; the file itself, if it is not given, which `kubectl krew install --manifest
# --archive` takes.
set -euo pipefail
[ $# -ge 1 ] || { sed -nE '2,/^set /s/^# ?//p' "$0" >&2; exit 2; }
mkdir -p "$1"
out=$(cd "$1" && pwd)
archive=kubectl-quota-linux-amd64.tar.gz
url=${2:-file://$out/$archive}
cd "$(dirname "$0")/../.."

bash cmd/build.sh release kubectl-quota
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
cmake --install build --component kubectl-quota --prefix "$stage" --strip >/dev/null
mkdir "$stage/bin/lib"
for library in $(ldd build/bin/kubectl-quota | grep -oE '/[^ ]+'); do
  case $(basename "$library") in
    libc.so.* | libm.so.* | libpthread.so.* | ld-linux*) ;;  # every Linux has its own
    *) install -m 644 "$(realpath "$library")" "$stage/bin/lib/$(basename "$library")" ;;
  esac
done
tar -C "$stage/bin" --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -czf \
  "$out/$archive" .

version=$(build/bin/kubectl-quota version --client | sed -nE 's/^kubectl-quota //p')
cat >"$out/quota.yaml" <<EOF
apiVersion: krew.googlecontainertools.github.com/v1alpha2
kind: Plugin
metadata:
  name: quota
spec:
  version: v$version
  shortDescription: Who uses a quota, why it refuses, and whether this would fit
  description: |
    Shows what is used of what (top), who uses it (who), why something has not its pods (why),
    whether manifests would fit, also in CI without a cluster (check), a quota for what is used now
    (suggest), and a page to hand on (report). Needs nothing in the cluster and writes nothing.
  platforms:
    - selector:
        matchLabels: {os: linux, arch: amd64}
      uri: $url
      sha256: $(sha256sum "$out/$archive" | cut -d ' ' -f 1)
      bin: kubectl-quota
EOF
echo "$out/$archive"
echo "$out/quota.yaml"
