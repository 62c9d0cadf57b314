#!/usr/bin/env bash
# Builds with the compiler and the libraries of the next Debian stable (13), in a root that
# mmdebstrap makes of its packages, and runs the unit tests there. Then the daemon runs from the
# root of its image, against a sandbox API server of this machine: bash next_debian_test.sh
#
# The root stays in build/next-debian. The first build takes some 20 CPU minutes; ccache keeps its
# objects outside the work tree. kubectl is $QCM_KUBECTL, else the one on PATH. Exit code 77: no
# kubectl, not root, or no mounts of one's own.
set -euo pipefail
cd "$(dirname "$0")/../.."
kubectl=${QCM_KUBECTL:-$(command -v kubectl || true)}
[ -x "$kubectl" ] || { echo "no kubectl here (QCM_KUBECTL or PATH)"; exit 77; }
if [ "$(id -u)" -ne 0 ] || ! unshare --mount true; then
  echo "not root, or no mounts of one's own"
  exit 77
fi
bash .ci/install-packages.sh mmdebstrap
root=$PWD/build/next-debian
cache=${XDG_CACHE_HOME:-$HOME/.cache}/quota-controller-manager/next-debian-ccache

make_root() {
  local mirror=http://deb.debian.org/debian
  rm -rf "$root"
  mkdir -p "${root%/*}"
  mmdebstrap --quiet --variant=apt --include=ca-certificates trixie "$root" \
    "deb $mirror trixie main" "deb $mirror trixie-updates main" \
    "deb ${mirror}-security trixie-security main"
  # Catch2 is Debian 12's: Debian 13 has version 3, whose headers have other names.
  echo "deb $mirror bookworm main" >"$root/etc/apt/sources.list.d/catch2.list"
  cat >"$root/etc/apt/preferences.d/catch2" <<END
Package: catch2
Pin: release n=bookworm
Pin-Priority: 1001

Package: *
Pin: release n=bookworm
Pin-Priority: -1
END
  # No package has these files.
  cp -L /etc/resolv.conf "$root/etc/"
  printf '%s localhost\n' 127.0.0.1 ::1 >"$root/etc/hosts"
  mkdir -p "$root/src" "$root/root/.cache/ccache"
  touch "$root/complete"
}

# inside COMMAND…: runs it in the root. /src is this folder, and read-only; /build is in the root.
inside() {
  # The inner shell expands the arguments.
  # shellcheck disable=SC2016
  unshare --mount bash -c '
    set -e
    root=$1 source=$2 cache=$3
    shift 3
    mount --rbind /proc "$root/proc"
    mount --rbind /dev "$root/dev"
    mount --bind "$cache" "$root/root/.cache/ccache"
    mount --bind "$source" "$root/src"
    mount -o remount,bind,ro "$root/src"
    exec chroot "$root" env -i -C /src HOME=/root LANG=C.UTF-8 \
      PATH=/usr/sbin:/usr/bin:/sbin:/bin QCM_BUILD_DIR=/build "$@"' \
    inside "$root" "$PWD" "$cache" "$@"
}

unit_tests() {
  # shellcheck disable=SC2016 # the inner shell expands it
  inside bash -c 'grep . /build/unit_tests.txt | xargs -P 3 -I TEST bash -c "
    if timeout 900 /build/bin/TEST >/tmp/TEST.log 2>&1; then tail -n 2 /tmp/TEST.log; else
      tail -n 60 /tmp/TEST.log; echo FAILED: TEST; exit 1; fi"'
}

mkdir -p "$cache"
[ -e "$root/complete" ] || make_root
inside bash .ci/install-packages.sh
inside c++ --version | head -n 1
inside bash cmd/build.sh release unit_tests quota-controller-manager kubectl-quota sandbox-apiserver
unit_tests
rm -rf "$root/image"
inside bash .ci/image-root.sh /build /image

# shellcheck source=tests/manifests/background.sh
. tests/manifests/background.sh
# shellcheck source=tests/manifests/image_story.sh
. tests/manifests/image_story.sh
image=$root/image
grep -q '^VERSION_ID="13"' "$image/etc/os-release" || fail "the image is not of Debian 13"
program=(chroot --userspec=65532:65532 "$image" /usr/local/bin/quota-controller-manager)
expect "its version" "$("${program[@]}" --version)" "quota-controller-manager $(bash .ci/version)"
start_api_server
install -m 644 "$KUBECONFIG" "$image/etc/kubeconfig"
start_daemon "${program[@]}" --kubeconfig=/etc/kubeconfig
count_and_refuse
stop_daemon
echo "ok: $(du -sm "$image" | cut -f1) MB"
