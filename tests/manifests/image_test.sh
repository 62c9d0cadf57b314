#!/usr/bin/env bash
# Tests the image of the Dockerfile, built by buildah without a container daemon, and run as its
# user, without capabilities, on a read-only root: bash image_test.sh FOLDER_OF_PROGRAMS (build/bin)
#
# The first stage is skipped: the daemon is already built, and laid out by the same script. kubectl
# is $QCM_KUBECTL, else the one on PATH.
#
# Exit code 77: no buildah, no kubectl, or not root.
set -euo pipefail
bin=$(cd "${1:?usage: image_test.sh FOLDER_OF_PROGRAMS}" && pwd)
cd "$(dirname "$0")/../.."
kubectl=${QCM_KUBECTL:-$(command -v kubectl || true)}
command -v buildah >/dev/null || { echo "no buildah here"; exit 77; }
[ -x "$kubectl" ] || { echo "no kubectl here (QCM_KUBECTL or PATH)"; exit 77; }
if [ "$(id -u)" -ne 0 ] || ! unshare --mount true; then
  echo "not root, or no mounts of one's own"
  exit 77
fi

# shellcheck source=tests/manifests/background.sh
. tests/manifests/background.sh
# shellcheck source=tests/manifests/image_story.sh
. tests/manifests/image_story.sh
export BUILDAH_ISOLATION=chroot
b() { buildah --storage-driver vfs --root "$folder/store" --runroot "$folder/run" "$@"; }

image() { # NAME: its id, two builds of the same being the same
  mkdir -p "$folder/$1"
  SOURCE_DATE_EPOCH=0 bash .ci/image-root.sh "${bin%/bin}" "$folder/$1/image"
  find "$folder/$1" -exec touch -h -d @0 {} +
  b build -q --build-context "build=$folder/$1" --timestamp 0 --build-arg REVISION=abc \
    --build-arg VERSION=1.2.3 --build-arg SOURCE_DATE_EPOCH=0 -t "localhost/$1" -f Dockerfile \
    "$folder/$1" | tail -n 1
}
expect "the second image of the same" "$(image second)" "$(image first)"

look() { b inspect --type image --format "$1" localhost/first; }
expect user "$(look '{{.OCIv1.Config.User}}')" 65532:65532
expect "the entry point" "$(look '{{index .OCIv1.Config.Entrypoint 0}}')" \
  /usr/local/bin/quota-controller-manager
expect version "$(look '{{index .OCIv1.Config.Labels "org.opencontainers.image.version"}}')" 1.2.3
expect revision "$(look '{{index .OCIv1.Config.Labels "org.opencontainers.image.revision"}}')" abc

root=$(b mount "$(b from localhost/first)")
[ "$(du -sm "$root" | cut -f1)" -lt 40 ] || fail "the image is larger than 40 MB"
[ -z "$(find "$root" -name 'sh' -o -name 'bash' -o -name 'apt*' -type f)" ] ||
  fail "there is a shell in it"
[ -z "$(find "$root" -perm /6000)" ] || fail "something in it runs as somebody else"
! readelf -S "$root/usr/local/bin/quota-controller-manager" | grep -q '\.symtab' ||
  fail "not stripped"
[ -s "$root/var/lib/dpkg/status.d/libssl3" ] || fail "scanners do not see libssl3"
[ -s "$root/usr/share/doc/libssl3/copyright" ] || fail "no licence of libssl3"
zcat "$root/usr/share/doc/quota-controller-manager/sbom.spdx.json.gz" |
  grep '"name": "libjemalloc-dev"' >/dev/null || fail "no list of what is compiled into it"

start_api_server
install -m 644 "$KUBECONFIG" "$root/etc/kubeconfig"

# The inner shell expands the arguments.
# shellcheck disable=SC2016
start_daemon unshare --mount bash -c '
  root=$1
  shift
  mount --bind "$root" "$root" && mount -o remount,bind,ro "$root" && cd "$root" &&
  exec chroot --userspec=65532:65532 "$root" /usr/local/bin/quota-controller-manager "$@"' \
  run "$root" --kubeconfig=/etc/kubeconfig -v=1
within 30 "the daemon leads" grep -q 'became leader' "$folder/daemon.log"
expect "its user" "$(awk '/^Uid:/ { print $3 }' "/proc/$daemon/status")" 65532
expect "its capabilities" "$(awk '/^CapEff:/ { print $2 }' "/proc/$daemon/status")" 0000000000000000
awk '$5 == "'"$root"'" || $5 == "/" { print $6 }' "/proc/$daemon/mountinfo" | grep -q '^ro' ||
  fail "its root can be written"

count_and_refuse
stop_daemon

# OpenShift gives a pod a user of its own, and the group 0.
chroot --userspec=1000650000:0 "$root" /usr/local/bin/quota-controller-manager \
  --kubeconfig=/etc/kubeconfig --metrics-bind-address= --health-probe-bind-address= -v=1 \
  >"$folder/any-user.log" 2>&1 &
pids+=($!)
within 30 "the daemon leads as any user" grep -q 'became leader' "$folder/any-user.log"
echo "ok: $(du -sm "$root" | cut -f1) MB"
