# shellcheck shell=bash
# For tests of manifests that run programs in the background. Sets `folder`, a temporary folder, and
# makes it HOME; programs log into *.log there, and `pids` has those to end. Sourced.

folder=$(mktemp -d)
pids=()
finish() {
  [ ${#pids[@]} -eq 0 ] || kill "${pids[@]}" 2>/dev/null || true
  wait
  rm -rf "$folder"
}
trap finish EXIT
export HOME=$folder KUBECONFIG=$folder/kubeconfig
fail() { echo "FAILED: $*"; exit 1; }
expect() { [ "$2" = "$3" ] || fail "$1 is '$2', not '$3'"; }
within() { # SECONDS WHAT COMMAND…
  local limit=$((SECONDS + $1)) what=$2
  shift 2
  until "$@"; do
    [ $SECONDS -lt $limit ] || { tail -n 20 "$folder"/*.log; fail "not in time: $what"; }
    sleep 0.2
  done
}
