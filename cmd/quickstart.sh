#!/usr/bin/env bash
# From a fresh Debian 12 machine to a quota that is counted: bash cmd/quickstart.sh
#
#   --keep           leave the API server, the daemon and the namespace there, and say how to go on
#   --kubeconfig F   the same story in a throw-away namespace of your own cluster: the daemon runs
#                    against it meanwhile, and counts every quota it finds there
#
# Ctrl-C and errors leave no process behind.
set -euo pipefail

keep=false
kubeconfig=
usage() { echo "usage: bash cmd/quickstart.sh [--keep] [--kubeconfig FILE]" >&2; exit 2; }
while [ $# -gt 0 ]; do
  case $1 in
    --keep) keep=true ;;
    --kubeconfig=*) kubeconfig=${1#*=} ;;
    --kubeconfig) [ $# -ge 2 ] || usage; kubeconfig=$2; shift ;;
    *) usage ;;
  esac
  shift
done
fail() { echo "quickstart: $*" >&2; exit 1; }
if [ -n "$kubeconfig" ]; then
  [ -r "$kubeconfig" ] || fail "cannot read the kubeconfig $kubeconfig"
  kubeconfig=$(realpath "$kubeconfig")
fi
cd "$(dirname "$0")/.."

home=$(mktemp -d "${TMPDIR:-/tmp}/quota-quickstart.XXXXXX")
processes=()
story=
finish() {
  local code=$?
  trap - EXIT INT TERM
  # The story first: it takes its namespace away again, and needs the API server for that.
  if [ -n "$story" ]; then
    kill "$story" 2>/dev/null || true
    wait "$story" 2>/dev/null || true
  fi
  if [ $code -ne 0 ] && [ -s "$home/daemon.log" ]; then
    echo "the daemon's last lines:" >&2
    tail -n 5 "$home/daemon.log" >&2
  fi
  if [ $code -ne 0 ] || ! $keep; then
    [ ${#processes[@]} -eq 0 ] || kill "${processes[@]}" 2>/dev/null || true
    wait 2>/dev/null || true
    rm -rf "$home"
  fi
  exit $code
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# start LOG PROGRAM…: in the background. Without --keep the kernel ends it when this script dies,
# however that happens; with --keep it must outlive the terminal.
start() {
  local log=$1
  shift
  if $keep; then
    setsid "$@" >"$log" 2>&1 </dev/null &
  else
    setpriv --pdeathsig TERM "$@" >"$log" 2>&1 </dev/null &
  fi
  processes+=($!)
}

echo "[1/4] packages"
bash .ci/install-packages.sh

echo "[2/4] building (the first time takes some minutes)"
targets=(quota-controller-manager quickstart-story)
[ -n "$kubeconfig" ] || targets+=(sandbox-apiserver)
bash cmd/build.sh release "${targets[@]}"

if [ -z "$kubeconfig" ]; then
  echo "[3/4] starting an API server in memory and the daemon"
  kubeconfig=$home/kubeconfig
  start "$home/apiserver.log" build/bin/sandbox-apiserver \
    --bind-address=127.0.0.1:0 "--kubeconfig-out=$kubeconfig"
  for _ in {1..100}; do
    [ -s "$kubeconfig" ] && break
    kill -0 "${processes[0]}" 2>/dev/null || break
    sleep 0.1
  done
  [ -s "$kubeconfig" ] || { cat "$home/apiserver.log" >&2; fail "the sandbox API server did not start"; }
  where="the API server in memory"
else
  echo "[3/4] starting the daemon against your cluster"
  where="your cluster"
fi
# Without a lease it leaves nothing behind in your cluster, and waits for nobody.
start "$home/daemon.log" build/bin/quota-controller-manager "--kubeconfig=$kubeconfig" --leader-elect=false \
  --metrics-bind-address= --health-probe-bind-address=
daemon=${processes[-1]}

echo "[4/4] a quota in $where"
echo
namespace=quota-quickstart-$$
arguments=("--kubeconfig=$kubeconfig" "--namespace=$namespace")
if $keep; then arguments+=(--keep); fi
# In the background, because a signal interrupts `wait` but not a program in the foreground.
setpriv --pdeathsig TERM build/bin/quickstart-story "${arguments[@]}" </dev/null &
story=$!
wait "$story" || {
  story=
  kill -0 "$daemon" 2>/dev/null || echo "quickstart: the daemon has ended" >&2
  fail "the story did not come to its end"
}
story=

echo
if $keep; then
  cat <<END
Both go on running. To look around:
  kubectl --kubeconfig $kubeconfig -n $namespace describe quota compute
  kubectl --kubeconfig $kubeconfig -n $namespace delete pod web-2 --grace-period=0 --force
  tail -f $home/daemon.log
To end it:
  kill ${processes[*]}; rm -r $home
END
else
  cat <<END
All of it is gone again. To go on:
  bash cmd/quickstart.sh --keep             leaves it running, for kubectl and curiosity
  bash cmd/quickstart.sh --kubeconfig FILE  the same in your own cluster
  bash tests/run.sh                         everything that proves it
END
fi
