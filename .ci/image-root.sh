#!/usr/bin/env bash
# Lays out the root of the image: bash .ci/image-root.sh BUILD FOLDER [ROOT]
#
# The root has the daemon of a build folder, the libraries that it loads, certificates of public CAs
# and a user that is not root. For scanners it has the names, versions and licences of its Debian
# packages, and an SBOM (.ci/sbom.sh). It has no shell and no package manager. ROOT is the root of
# .ci/sysroot.sh that the program was linked against.
set -euo pipefail
[ $# -ge 2 ] || { echo "usage: bash .ci/image-root.sh BUILD FOLDER [ROOT]" >&2; exit 2; }
build=$1 image=$2 root=${3:-}
program=$build/bin/quota-controller-manager
# shellcheck source=.ci/libraries.sh
. "$(dirname "$0")/libraries.sh"

mkdir -p "$image"/{etc/ssl/certs,tmp,usr/lib,usr/lib64,usr/local/bin,usr/share/doc} \
  "$image/var/lib/dpkg/status.d"
ln -s usr/lib "$image/lib"
ln -s usr/lib64 "$image/lib64"
install -m 755 "$program" "$image/usr/local/bin/quota-controller-manager"
"$(binutil "$program" strip)" --strip-all "$image/usr/local/bin/quota-controller-manager"

libraries=$(libraries_of "$program" "$root")
for library in $libraries; do
  target=$image/usr/${library#/}
  [[ $library != /usr/* ]] || target=$image$library
  install -D -m 755 "$(realpath "$root$library")" "$target"
done
for package in ca-certificates base-files $(owners_of "$root" <<<"$libraries"); do
  dpkg-query --admindir="$root/var/lib/dpkg" -s "$package" \
    >"$image/var/lib/dpkg/status.d/$package"
  install -D -m 644 "$root/usr/share/doc/$package/copyright" \
    "$image/usr/share/doc/$package/copyright"
done
mkdir "$image/usr/share/doc/quota-controller-manager"
here=$(dirname "$0")
bash "$here/sbom.sh" "$build" quota-controller-manager "$(bash "$here/version")" "$root" |
  gzip -9n >"$image/usr/share/doc/quota-controller-manager/sbom.spdx.json.gz"

# Certificates do not depend on the architecture. Only an installed package has them in one file.
cp -L /etc/ssl/certs/ca-certificates.crt "$image/etc/ssl/certs/"
cp -L "$root/etc/os-release" "$image/etc/os-release"
echo 'hosts: files dns' >"$image/etc/nsswitch.conf"
echo 'nonroot:x:65532:65532:nonroot:/:/sbin/nologin' >"$image/etc/passwd"
echo 'nonroot:x:65532:' >"$image/etc/group"
chmod 1777 "$image/tmp"
