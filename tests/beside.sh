#!/usr/bin/env bash
# What tests/run.sh does beside the e2e scenarios, which mostly wait: bash tests/beside.sh LOGS
# All of it at idle priority, so that the scenarios do not feel it.
#
# First the sanitizers' builds; LOGS/beside/PRESET.built says that one has ended, and whether it is right is
# judged by who repeats it. Then simulation and fuzzing: for each a log, and its exit code in LOGS/beside/NAME.code.
set -uo pipefail
cd "$(dirname "$0")/.."
logs=$1

# Where the kernel shares processors by session, this one's share is the least.
echo 19 2>/dev/null >/proc/self/autogroup || true
idle() {
  if command -v chrt >/dev/null; then chrt --idle 0 "$@"; else nice -n 19 "$@"; fi
}
# judged NAME COMMAND…
judged() {
  local name=$1 code=0
  shift
  idle "$@" >"$logs/beside/$name.log" 2>&1 || code=$?
  echo "$code" >"$logs/beside/$name.code"
}

mkdir -p "$logs/beside"
for preset in asan tsan; do
  idle bash cmd/build.sh "$preset" sanitized >"$logs/beside/$preset.log" 2>&1
  touch "$logs/beside/$preset.built"
done
judged simulation timeout 1800 build/bin/simulation --schedules 20000
judged simulation-of-classes timeout 1800 build/bin/simulation --api ironcore --schedules 10000
judged fuzz timeout 3600 bash tests/fuzz/run.sh --ci 60
