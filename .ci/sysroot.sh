#!/usr/bin/env bash
# Makes a root folder to cross-compile and link against: bash .ci/sysroot.sh ARCH FOLDER
#
# It has the libraries that the programs are built with, from Debian 12's packages for ARCH (arm64).
# Nothing in it is run. Its dpkg database lists every package and its files. A complete folder is
# not changed.
set -euo pipefail
[ $# -eq 2 ] || { sed -nE '2,6s/^# ?//p' "$0" >&2; exit 2; }
arch=$1 root=$2
[ ! -e "$root/complete" ] || exit 0
here=$(cd "$(dirname "$0")" && pwd)
bash "$here/install-packages.sh" mmdebstrap

mapfile -t packages < <(sed -nE '/^packages=\(/,/^\)/p' "$here/install-packages.sh" |
  grep -oE '[a-z0-9.+-]+-dev')
include=$(printf '%s,' "${packages[@]}" ca-certificates base-files libstdc++-12-dev)
mirror=http://deb.debian.org/debian
mkdir -p "$(dirname "$root")"
rm -rf "$root.new"
# mmdebstrap extracts packages without registering them. It runs this script with the root as $1.
# shellcheck disable=SC2016
register='for deb in "$1"/var/cache/apt/archives/*.deb; do
  name=$(dpkg-deb -f "$deb" Package)
  { dpkg-deb -f "$deb" | sed "1a Status: install ok installed"; echo; } >>"$1/var/lib/dpkg/status"
  list=$1/var/lib/dpkg/info/$name.list
  [ "$(dpkg-deb -f "$deb" Multi-Arch)" != same ] || list=$1/var/lib/dpkg/info/$name:'$arch'.list
  dpkg-deb --fsys-tarfile "$deb" | tar -t | sed -E "s|^\./|/|; s|/$||; /^$/d" >"$list"
done'
mmdebstrap --quiet --variant=extract --architectures="$arch" --include="${include%,}" \
  --hook-dir=/usr/share/mmdebstrap/hooks/merged-usr --extract-hook="$register" \
  bookworm "$root.new" "deb $mirror bookworm main" "deb $mirror bookworm-updates main" \
  "deb ${mirror}-security bookworm-security main" >&2
echo 1 >"$root.new/var/lib/dpkg/info/format"
# Absolute links would point to files of this machine.
find "$root.new" -type l -lname '/*' | while read -r link; do
  ln -sfnr "$root.new$(readlink "$link")" "$link"
done
touch "$root.new/complete"
rm -rf "$root"
mv "$root.new" "$root"
