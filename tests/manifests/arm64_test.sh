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
bash .ci/install-packages.sh qemu-user-static g++-12-aarch64-linux-gnu
export QCM_SYSROOT=${QCM_SYSROOT:-$PWD/build/sysroot-arm64}
bash .ci/sysroot.sh arm64 "$QCM_SYSROOT"
bash cmd/build.sh package-arm64 quota-controller-manager kubectl-quota

# shellcheck source=tests/manifests/background.sh
. tests/manifests/background.sh
image=$folder/image
arm64() { qemu-aarch64-static -L "$image" "$@"; }

bash .ci/image-root.sh build/package-arm64 "$image" "$QCM_SYSROOT"
[ "$(arm64 "$image/usr/local/bin/quota-controller-manager" --version)" = \
  "quota-controller-manager $(bash .ci/version)" ] || fail "another version"

build/bin/sandbox-apiserver --bind-address=127.0.0.1:0 "--kubeconfig-out=$KUBECONFIG" \
  >"$folder/server.log" 2>&1 &
pids+=($!)
within 20 "the server writes its kubeconfig" test -s "$KUBECONFIG"
port=$((20000 + $$ % 10000))
qemu-aarch64-static -L "$image" "$image/usr/local/bin/quota-controller-manager" \
  "--kubeconfig=$KUBECONFIG" --metrics-bind-address= --health-probe-bind-address= --enforce=core \
  "--admission-bind-address=127.0.0.1:$port" "--admission-url=https://127.0.0.1:$port" \
  >"$folder/daemon.log" 2>&1 &
daemon=$!
pids+=("$daemon")

k() { timeout 30 "$kubectl" "--cache-dir=$folder/cache" "$@"; }
used() { [ "$(k get quota q -o 'jsonpath={.status.used.pods}')" = "$1" ]; }
k create quota q --hard=pods=1 >/dev/null
within 60 "the quota is counted" used 0
k run a --image=i --restart=Never >/dev/null 2>&1
within 30 "the pod is counted" used 1
refused() {
  ! k run b --image=i --restart=Never 2>"$folder/refusal" &&
    grep -q 'exceeded quota: q, requested: pods=1' "$folder/refusal"
}
within 30 "the second pod is refused" refused
k delete pod a --force --grace-period=0 >/dev/null 2>&1
within 30 "the pod is released" used 0

arm64 build/package-arm64/bin/kubectl-quota top >"$folder/top"
grep -E '^q +pods +0/1 ' "$folder/top" || fail "kubectl quota says: $(cat "$folder/top")"
kill -TERM "$daemon"
code=0
wait "$daemon" || code=$?
[ "$code" -eq 0 ] || fail "its exit code is $code"
echo ok
