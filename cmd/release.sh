#!/usr/bin/env bash
# Makes the files of a release: bash cmd/release.sh [--key KEY] [--url URL] FOLDER [BUILD…]
#
#   the Helm chart                      quota-controller-manager-$version.tgz
#   the image, an OCI layout            …-linux-$arch.oci.tar (skopeo, podman load, docker load)
#   debug symbols by build-id           …-linux-$arch.debug.tar.gz
#   the parts of both programs          …-linux-$arch.spdx.json (SPDX 2.3, with all licences)
#   the plugin                          kubectl-quota-linux-$arch.tar.gz, and quota.yaml for krew
#   checksums                           SHA256SUMS, and with KEY (a private key, PEM) SHA256SUMS.sig
#
# for amd64 and arm64. The programs are compiled here, or taken from finished BUILD folders (of
# another architecture: BUILD:ROOT, with the root of .ci/sysroot.sh). FOLDER must be new or empty.
# URL is the future address of its files, for quota.yaml. With the same Debian packages, the same
# commit gives the same bytes, except for the signature. Needs root.
set -euo pipefail
shopt -s inherit_errexit
usage() { sed -nE '2,/^set /s/^# ?//p' "$0" >&2; exit 2; }
key='' url=''
while [[ ${1:-} == --* ]]; do
  case $1 in
    --key) key=$(realpath "${2:?}") ;;
    --url) url=${2:?} ;;
    *) usage ;;
  esac
  shift 2
done
[ $# -ge 1 ] || usage
mkdir -p "$1"
out=$(cd "$1" && pwd)
[ -z "$(ls -A "$out")" ] || { echo "release.sh: $out is not empty" >&2; exit 2; }
builds=("${@:2}")
cd "$(dirname "$0")/.."
# shellcheck source=.ci/libraries.sh
. .ci/libraries.sh

bash .ci/version --check
version=$(bash .ci/version)
name=quota-controller-manager
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
REVISION=${REVISION:-$(git rev-parse HEAD)}
export SOURCE_DATE_EPOCH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bash .ci/install-packages.sh buildah

# A reproducible archive of entries of a folder.
archive() { # FOLDER ENTRY…
  tar -C "$1" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner \
    --mode=u+rw,go+r-w --dereference -cf - "${@:2}"
}

compile() {
  bash cmd/build.sh package "$name" kubectl-quota
  bash cmd/build.sh package-arm64 "$name" kubectl-quota
  builds=("build/package" "build/package-arm64:${QCM_SYSROOT:-$PWD/build/sysroot-arm64}")
}

chart() {
  mkdir "$work/chart"
  cp -rL "manifests/helm/$name" "$work/chart/"
  rm "$work/chart/$name/.helmignore"
  archive "$work/chart" "$name" | gzip -9n >"$out/$name-$version.tgz"
}

# Debug symbols and parts list of each program.
parts() { # BUILD ROOT ARCH
  local program
  for program in "$name" kubectl-quota; do
    bash .ci/debug-symbols.sh "$1/bin/$program" "$work/debug-$3"
    bash .ci/sbom.sh "$1" "$program" "$version" "$2" \
      >"$out/$program-$version-linux-$3.spdx.json"
  done
  archive "$work/debug-$3" .build-id | gzip -9n >"$out/$name-$version-linux-$3.debug.tar.gz"
}

# The last stage of the Dockerfile.
image() { # BUILD ROOT ARCH
  local stage=$work/image-$3 image
  mkdir "$stage"
  bash .ci/image-root.sh "$1" "$stage/image" "$2"
  find "$stage" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
  image=$(b build -q --platform "linux/$3" --build-context "build=$stage" \
    --timestamp "$SOURCE_DATE_EPOCH" --build-arg "VERSION=$version" \
    --build-arg "REVISION=$REVISION" --build-arg "SOURCE_DATE_EPOCH=$SOURCE_DATE_EPOCH" \
    -f Dockerfile "$stage" | tail -n 1)
  b push -q "$image" "oci:$work/oci-$3:$name:$version"
  archive "$work/oci-$3" . >"$out/$name-$version-linux-$3.oci.tar"
}
b() {
  BUILDAH_ISOLATION=chroot buildah --storage-driver vfs --root "$work/store" \
    --runroot "$work/run" "$@"
}

[ ${#builds[@]} -gt 0 ] || compile
chart
bash cmd/kubectl-quota/package.sh "$out" "$url" "${builds[@]}" >/dev/null
[ -n "$url" ] || rm "$out/quota.yaml"  # without a URL it names a folder of this machine
for build in "${builds[@]}"; do
  root=
  [[ $build != *:* ]] || root=${build#*:}
  arch=$(machine_of "${build%%:*}/bin/$name")
  parts "${build%%:*}" "$root" "$arch"
  image "${build%%:*}" "$root" "$arch"
done
(cd "$out" && sha256sum -- * >"$work/sums")
mv "$work/sums" "$out/SHA256SUMS"
[ -z "$key" ] ||
  openssl dgst -sha256 -sign "$key" -out "$out/SHA256SUMS.sig" "$out/SHA256SUMS"
ls -l "$out"
