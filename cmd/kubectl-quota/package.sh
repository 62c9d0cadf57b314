#!/usr/bin/env bash
# Packs the plugin for krew: bash cmd/kubectl-quota/package.sh FOLDER [URL [BUILD…]]
#
# Writes to FOLDER an archive kubectl-quota-linux-ARCH.tar.gz for each build folder (default:
# build/, built first), and the manifest quota.yaml that lists the archives. An archive has the
# program, the libraries that it loads (except those of glibc 2.36), and their licences. URL is the
# future address of the archives. If it is empty, the manifest names FOLDER, for `kubectl krew
# install --manifest --archive`. A build folder of another architecture is given as BUILD:ROOT, with
# the root of .ci/sysroot.sh.
set -euo pipefail
shopt -s inherit_errexit
[ $# -ge 1 ] || { sed -nE '2,/^set /s/^# ?//p' "$0" >&2; exit 2; }
mkdir -p "$1"
out=$(cd "$1" && pwd)
url=${2:-file://$out}
builds=("${@:3}")
cd "$(dirname "$0")/../.."
# shellcheck source=.ci/libraries.sh
. .ci/libraries.sh

if [ ${#builds[@]} -eq 0 ]; then
  bash cmd/build.sh release kubectl-quota
  builds=(build)
fi
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT

# pack BUILD ROOT: prints the machine.
pack() {
  local program=$1/bin/kubectl-quota root=$2 arch library libraries=() package folder
  arch=$(machine_of "$program")
  folder=$stage/$arch
  cmake --install "$1" --component kubectl-quota --prefix "$folder" >/dev/null
  "$(binutil "$program" strip)" --strip-all "$folder/bin/kubectl-quota"
  mkdir "$folder/bin/lib" "$folder/bin/licenses"
  for library in $(libraries_of "$program" "$root"); do
    case $(basename "$library") in
      libc.so.* | libm.so.* | libpthread.so.* | ld-linux*) ;;  # every Linux has its own
      *)
        install -m 644 "$(realpath "$root$library")" "$folder/bin/lib/$(basename "$library")"
        libraries+=("$library")
        ;;
    esac
  done
  for package in $(printf '%s\n' "${libraries[@]}" | owners_of "$root"); do
    install -m 644 "$root/usr/share/doc/$package/copyright" "$folder/bin/licenses/$package.txt"
  done
  tar -C "$folder/bin" --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -cf - . |
    gzip -9n >"$out/kubectl-quota-linux-$arch.tar.gz"
  echo "$arch"
}

cat >"$out/quota.yaml" <<EOF
apiVersion: krew.googlecontainertools.github.com/v1alpha2
kind: Plugin
metadata:
  name: quota
spec:
  version: v$(bash .ci/version)
  shortDescription: Who uses a quota, why it refuses, and whether this would fit
  description: |
    Shows usage and limits (top), who uses them (who), why a workload lacks pods (why),
    whether manifests would fit, also in CI without a cluster (check), a quota for what is used now
    (suggest), and a page to share (report). Needs nothing in the cluster and writes nothing.
  platforms:
EOF
for build in "${builds[@]}"; do
  root=
  [[ $build != *:* ]] || root=${build#*:}
  arch=$(pack "${build%%:*}" "$root")
  archive=kubectl-quota-linux-$arch.tar.gz
  cat >>"$out/quota.yaml" <<EOF
    - selector:
        matchLabels: {os: linux, arch: $arch}
      uri: $url/$archive
      sha256: $(sha256sum "$out/$archive" | cut -d ' ' -f 1)
      bin: kubectl-quota
EOF
  echo "$out/$archive"
done
echo "$out/quota.yaml"
