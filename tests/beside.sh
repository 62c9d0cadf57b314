#!/usr/bin/env bash
# What tests/run.sh does beside the e2e scenarios, which mostly wait: bash tests/beside.sh LOGS
# At idle priority, so that the scenarios do not feel it. Whether a build is right is judged by who
# needs it: there it is repeated, and has nothing to do if it was.
set -uo pipefail
cd "$(dirname "$0")/.."
logs=$1

idle() {
  if command -v chrt >/dev/null; then chrt --idle 0 "$@"; else nice -n 19 "$@"; fi
}

for preset in asan tsan; do
  idle bash cmd/build.sh "$preset" sanitized >"$logs/beside-$preset.log" 2>&1
done
touch "$logs/beside.built"
