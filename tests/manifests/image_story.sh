# shellcheck shell=bash
# shellcheck disable=SC2154,SC2153 # background.sh and the test set them: folder, pids, kubectl
# For tests of a daemon that runs from the root of an image: a story in which it counts and refuses
# pods, on a sandbox API server of this machine. Sourced after background.sh.

start_api_server() {
  build/bin/sandbox-apiserver --bind-address=127.0.0.1:0 "--kubeconfig-out=$KUBECONFIG" \
    >"$folder/server.log" 2>&1 &
  pids+=($!)
  within 20 "the server writes its kubeconfig" test -s "$KUBECONFIG"
}

# start_daemon PROGRAM ARGUMENT…: sets `daemon`, its process. PROGRAM is no function: that would run
# in a shell of its own, which would get the signals.
start_daemon() {
  local address=127.0.0.1:$((20000 + $$ % 10000))
  "$@" --metrics-bind-address= --health-probe-bind-address= --enforce=core \
    "--admission-bind-address=$address" "--admission-url=https://$address" \
    >"$folder/daemon.log" 2>&1 &
  daemon=$!
  pids+=("$daemon")
}

k() { timeout 30 "$kubectl" "--cache-dir=$folder/cache" "$@"; }
used() { [ "$(k get quota q -o 'jsonpath={.status.used.pods}')" = "$1" ]; }
refused() {
  ! k run b --image=i --restart=Never 2>"$folder/refusal" &&
    grep -q 'exceeded quota: q, requested: pods=1' "$folder/refusal"
}

# The daemon counts a pod, refuses a second one, and sees the first one go.
count_and_refuse() {
  k create quota q --hard=pods=1 >/dev/null
  within 60 "the quota is counted" used 0
  k run a --image=i --restart=Never >/dev/null 2>&1
  within 30 "the pod is counted" used 1
  within 30 "the second pod is refused" refused
  k delete pod a --force --grace-period=0 >/dev/null 2>&1
  within 30 "the pod is released" used 0
}

stop_daemon() {
  local code=0
  kill -TERM "$daemon"
  wait "$daemon" || code=$?
  expect "the daemon's exit code" "$code" 0
}
