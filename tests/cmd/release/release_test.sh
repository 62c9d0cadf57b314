#!/usr/bin/env bash
# Makes a release of built programs twice and checks its files: bash release_test.sh BUILD…
# (as for cmd/release.sh).
#
# Exit code 77: not root, so buildah cannot lay out an image.
set -euo pipefail
cd "$(dirname "$0")/../../.."
[ "$(id -u)" -eq 0 ] || { echo "not root"; exit 77; }
# shellcheck source=.ci/libraries.sh
. .ci/libraries.sh
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() { echo "FAILED: $*"; exit 1; }
expect() { [ "$2" = "$3" ] || fail "$1 is '$2', not '$3'"; }

openssl ecparam -name prime256v1 -genkey -noout -out "$folder/key.pem"
openssl ec -in "$folder/key.pem" -pubout -out "$folder/public.pem" 2>/dev/null
export SOURCE_DATE_EPOCH=1700000000 REVISION=abc
url=https://releases.example.com/v1
first=$folder/first second=$folder/in/another/place/second
bash cmd/release.sh --key "$folder/key.pem" --url "$url" "$first" "$@" >"$folder/log" 2>&1 ||
  fail "$(tail -n 20 "$folder/log")"
bash cmd/release.sh --url "$url" "$second" "$@" >"$folder/log" 2>&1 ||
  fail "$(tail -n 20 "$folder/log")"

diff "$first/SHA256SUMS" "$second/SHA256SUMS" || fail "two releases of the same differ"
(cd "$second" && sha256sum --quiet --check SHA256SUMS) || fail "a checksum is wrong"
expect "the number of checksums" "$(wc -l <"$second/SHA256SUMS")" \
  "$(find "$second" -type f ! -name SHA256SUMS | wc -l)"
verify() {
  openssl dgst -sha256 -verify "$folder/public.pem" -signature "$first/SHA256SUMS.sig" "$1"
}
verify "$first/SHA256SUMS" >/dev/null || fail "the signature is not that of the key"
sed 's/^./x/' "$first/SHA256SUMS" >"$folder/changed"
! verify "$folder/changed" >/dev/null 2>&1 || fail "the signature also fits other checksums"
code=0
bash cmd/release.sh "$first" "$@" >"$folder/log" 2>&1 || code=$?
expect "the exit code for a folder that is not empty" "$code" 2

version=$(bash .ci/version)
name=quota-controller-manager
tar -C "$folder" -xzf "$first/$name-$version.tgz"
expect "the version of the chart" "$version" \
  "$(sed -nE 's/^version: //p' "$folder/$name/Chart.yaml")"
[ -s "$folder/$name/files/prometheus-rule.yaml" ] || fail "the chart has no alerts"
[ -z "$(find "$folder/$name" -type l)" ] || fail "the chart has links that lead out of it"

for build in "$@"; do
  program=${build%%:*}/bin/$name
  arch=$(machine_of "$program")
  base=$first/$name-$version-linux-$arch
  grep -q "uri: $url/kubectl-quota-linux-$arch.tar.gz" "$first/quota.yaml" ||
    fail "quota.yaml does not know $arch"
  sum=$(sha256sum "$first/kubectl-quota-linux-$arch.tar.gz" | cut -d' ' -f1)
  grep -A1 "uri: $url/kubectl-quota-linux-$arch" "$first/quota.yaml" | grep "$sum" >/dev/null ||
    fail "quota.yaml has another checksum for $arch"

  for part in "$name" kubectl-quota; do
    sbom=$first/$part-$version-linux-$arch.spdx.json
    json_pp <"$sbom" >"$folder/sbom" || fail "$sbom is not JSON"
    for package in libssl3 libc6 libboost1.81-dev rapidjson-dev; do
      grep -q "\"name\" : \"$package\"" "$folder/sbom" || fail "$sbom: no $package"
    done
    grep -q 'Apache-2.0' "$sbom" || fail "$sbom: not the licence of OpenSSL"
  done

  mkdir "$folder/$arch" "$folder/$arch/"{oci,debug,plugin}
  tar -C "$folder/$arch/oci" -xf "$base.oci.tar"
  manifest=$(sed -nE 's/.*"digest":"sha256:([0-9a-f]+)".*/\1/p' "$folder/$arch/oci/index.json")
  blob() { cat "$folder/$arch/oci/blobs/sha256/$1"; }
  config=$(blob "$manifest" | sed -E 's/.*"config":\{[^}]*"digest":"sha256:([0-9a-f]+)".*/\1/')
  layer=$(blob "$manifest" | sed -E 's/.*"layers":\[\{[^}]*"digest":"sha256:([0-9a-f]+)".*/\1/')
  blob "$config" | grep "\"architecture\":\"$arch\"" >/dev/null || fail "the image is not for $arch"
  blob "$layer" | tar -tz >"$folder/$arch/files"
  for file in "usr/local/bin/$name" usr/share/doc/libssl3/copyright \
    "usr/share/doc/$name/sbom.spdx.json.gz"; do
    grep -qxF "$file" "$folder/$arch/files" || fail "the image has no $file"
  done

  # The symbols are in files of their own, under the build-id that the stripped program still has.
  tar -C "$folder/$arch/debug" -xzf "$base.debug.tar.gz"
  tar -C "$folder/$arch/plugin" -xzf "$first/kubectl-quota-linux-$arch.tar.gz"
  id=$(LC_ALL=C readelf -n "$folder/$arch/plugin/kubectl-quota" | sed -nE 's/^ *Build ID: *//p')
  symbols=$folder/$arch/debug/.build-id/${id:0:2}/${id:2}.debug
  nm "$symbols" 2>/dev/null | grep -E ' [Tt] main$' >/dev/null || fail "no symbols for build-id $id"
  ! readelf -S "$folder/$arch/plugin/kubectl-quota" | grep -E '\.(symtab|debug_info)' ||
    fail "the plugin is not stripped"
  [ -s "$folder/$arch/plugin/licenses/libssl3.txt" ] || fail "the plugin has no licences"
  echo "ok $arch"
done
