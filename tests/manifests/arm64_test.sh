#!/usr/bin/env bash
# Compiles daemon and plugin for arm64, and runs them under qemu-user from the root of their image
# against a sandbox API server of this machine: bash arm64_test.sh
#
# kubectl is $QCM_KUBECTL, else the one on PATH. Exit code 77: no kubectl, or this machine is arm64.
set -euo pipefail
cd "$(dirname "$0")/../.."
kubectl=${QCM_KUBECTL:-$(command -v kubectl || true)}
[ -x "$kubectl" ] || { echo "no kubectl here (QCM_KUBECTL or PATH)"; exit 77; }
[ "$(uname -m)" = x86_64 ] || { echo "this machine is not amd64"; exit 77; }
bash .ci/install-packages.sh qemu-user-static
bash cmd/build.sh package-arm64 quota-controller-manager kubectl-quota

# shellcheck source=tests/manifests/background.sh
. tests/manifests/background.sh
# shellcheck source=tests/manifests/image_story.sh
. tests/manifests/image_story.sh
image=$folder/image
arm64=(qemu-aarch64-static -L "$image")
program=("${arm64[@]}" "$image/usr/local/bin/quota-controller-manager")

bash .ci/image-root.sh build/package-arm64 "$image" "${QCM_SYSROOT:-$PWD/build/sysroot-arm64}"
expect "its version" "$("${program[@]}" --version)" "quota-controller-manager $(bash .ci/version)"
start_api_server
start_daemon "${program[@]}" "--kubeconfig=$KUBECONFIG"
count_and_refuse
"${arm64[@]}" build/package-arm64/bin/kubectl-quota top >"$folder/top"
grep -E '^q +pods +0/1 ' "$folder/top" || fail "kubectl quota says: $(cat "$folder/top")"
stop_daemon
echo ok
