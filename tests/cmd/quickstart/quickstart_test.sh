#!/usr/bin/env bash
# The quickstart tells its story to the end, and leaves nothing behind: neither then nor when stopped.
set -euo pipefail
cd "$(dirname "$0")/../../.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export TMPDIR=$folder
fail() { echo "quickstart_test: $*" >&2; cat "$folder/out" >&2; exit 1; }
# Whatever it starts has a path in $folder among its arguments.
nothing_left() {
  for _ in {1..50}; do
    pgrep -f -- "$folder/quota-quickstart" >/dev/null || break
    read -rt 0.1 <> <(:) || true
  done
  ! pgrep -af -- "$folder/quota-quickstart" || fail "left a process behind after $1"
  [ -z "$(ls -d "$folder"/quota-quickstart.* 2>/dev/null)" ] || fail "left files behind after $1"
}

bash cmd/quickstart.sh >"$folder/out" 2>&1 || fail "exit code $?"
grep -qE '^counted after [0-9.]+ ms:$' "$folder/out" || fail "no count"
grep -qE '^usage fell after [0-9.]+ ms:$' "$folder/out" || fail "no fall"
[ "$(grep -cE '^pods +3 +10$' "$folder/out")" -eq 1 ] || fail "three pods are not shown once"
[ "$(grep -cE '^pods +2 +10$' "$folder/out")" -eq 1 ] || fail "two pods are not shown once"
nothing_left "a whole run"

# Stopped as soon as there is something to leave behind.
setsid bash cmd/quickstart.sh >"$folder/out" 2>&1 &
quickstart=$!
until grep -q '^\[3/4\]' "$folder/out"; do kill -0 "$quickstart" || fail "ended early"; done
kill -TERM "$quickstart"
wait "$quickstart" && fail "a stopped run ends with 0" || true
nothing_left "SIGTERM"

if bash cmd/quickstart.sh --kubeconfig /no/such/file >"$folder/out" 2>&1; then fail "took a file that is not there"; fi
grep -q '/no/such/file' "$folder/out" || fail "does not name the file"
