#!/usr/bin/env bash
# Lays out the root of the image: bash .ci/image-root.sh PROGRAM FOLDER
#
# The program, the libraries that it loads, certificates of public CAs, a user that is not root, and
# the names and versions of the Debian packages in it, for scanners. No shell and no package
# manager.
set -euo pipefail
[ $# -eq 2 ] || { echo "usage: bash .ci/image-root.sh PROGRAM FOLDER" >&2; exit 2; }
program=$1 root=$2

mkdir -p "$root"/{etc/ssl/certs,tmp,usr/lib,usr/lib64,usr/local/bin,var/lib/dpkg/status.d}
ln -s usr/lib "$root/lib"
ln -s usr/lib64 "$root/lib64"
install -m 755 "$program" "$root/usr/local/bin/quota-controller-manager"
strip --strip-all "$root/usr/local/bin/quota-controller-manager"

packages=(ca-certificates base-files)
for library in $(ldd "$program" | grep -oE '/[^ ]+'); do
  real=$(realpath "$library")
  target=$root/usr/${library#/}
  [[ $library != /usr/* ]] || target=$root$library
  install -D -m 755 "$real" "$target"
  # dpkg knows a library by its packaged path, from before or after the merge of /usr.
  owner=$(dpkg -S "$real" 2>/dev/null || dpkg -S "${real#/usr}" 2>/dev/null || true)
  [ -z "$owner" ] || packages+=("${owner%%:*}")
done
for package in $(printf '%s\n' "${packages[@]}" | sort -u); do
  dpkg-query -s "$package" >"$root/var/lib/dpkg/status.d/$package"
done

cp -L /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
cp -L /etc/os-release "$root/etc/os-release"
echo 'hosts: files dns' >"$root/etc/nsswitch.conf"
echo 'nonroot:x:65532:65532:nonroot:/:/sbin/nologin' >"$root/etc/passwd"
echo 'nonroot:x:65532:' >"$root/etc/group"
chmod 1777 "$root/tmp"
