#!/usr/bin/env bash
# Installs, builds and runs all tests: bash tests/run.sh [--quick]
#
#   unit tests, then the e2e scenarios on the sandbox and on a real kube-apiserver, which mostly wait
#   and so run at once, then random objects against upstream's own evaluators and the bounds of
#   instructions, then unit tests and sandbox scenarios again under address+undefined and under thread
#   sanitizer; beside all this, at idle priority, 20 000 simulated schedules of core, 10 000 of classes, and fuzzing.
#   --quick: the release build's unit tests and sandbox scenarios only, built incrementally.
#
# The last line is "N passed, N failed, N skipped"; the exit code is 0 only if nothing failed. The
# real tier and the comparison are skipped, and counted so, where tests/k8s/build.sh and
# tests/differential/build.sh have nothing to run them on; with CI=true that counts as a failure.
# Logs: build/test-logs.
set -euo pipefail
cd "$(dirname "$0")/.."

quick=false
case ${1:-} in
  '') ;;
  --quick) quick=true ;;
  *) echo "usage: bash tests/run.sh [--quick]" >&2; exit 2 ;;
esac

passed=0 failed=0 skipped=0
failures=()
logs=$PWD/build/test-logs
# The build may overwrite build/, the logs must not depend on its order.
mkdir -p "$logs"
rm -f "$logs/failed"

note() { printf '%s  %s\n' "$(date +%H:%M:%S)" "$*"; }
add_failure() {
  failed=$((failed + $1))
  failures+=("$2")
}

# count_cases LOG PATTERN: the number before the words, in the summary that Catch2 prints; 0 if none.
count_cases() { sed -nE "s/$2/\\1/p" "$1" | tail -n 1; }

# excerpt LOG: of scenarios those that failed or never ended, the last lines of anything else. At the end
# it is said again, since the end may be all that is seen.
excerpt() {
  if grep -q '^scenario: ' "$1"; then
    awk '
      /^scenario: .* \.\.\.$/ { count = 0 }
      { lines[count++ % 80] = $0 }
      /^scenario: .*: FAILED in / { show() }
      END { if (count > 0 && lines[(count - 1) % 80] !~ /^(test cases|assertions|All tests|===|$)/) show() }
      function show(   i) {
        if (count > 80) print "..."
        for (i = count > 80 ? count - 80 : 0; i < count; ++i) print lines[i % 80]
        count = 0
      }' "$1"
  else
    tail -n 120 "$1"
  fi | sed 's/^/    | /' | tee -a "$logs/failed"
}

# What runs now, by name; it ends with this script.
declare -A pid_of=()
beside=
end_all() {
  [ ${#pid_of[@]} -eq 0 ] || kill "${pid_of[@]}" 2>/dev/null || true
  [ -z "$beside" ] || kill -- -"$beside" 2>/dev/null || true
}
trap end_all EXIT

# start NAME LIMIT COMMAND…: runs it in the background; its output goes to the log of that name.
start() {
  local name=$1 limit=$2 log=$logs/$1.log
  shift 2
  mkdir -p "$(dirname "$log")"
  timeout --kill-after=10 "$limit" "$@" >"$log" 2>&1 </dev/null &
  pid_of[$name]=$!
}

# await NAME: waits for it, and sets `code`.
await() {
  code=0
  wait "${pid_of[$1]}" || code=$?
  unset "pid_of[$1]"
}

# judge NAME LIMIT COMMAND…: waits for what was started so, a Catch2 program, and counts its test cases.
# Each that is listed and did not pass counts as failed, so a crash or a timeout counts all that it kept
# from running.
judge() {
  local name=$1 limit=$2 log=$logs/$1.log expected ok code
  shift 2
  await "$name"
  # Catch2 exits with the number of listed names.
  expected=$(timeout 60 "$@" --list-test-names-only 2>/dev/null | grep -c . || true)
  if [ "$expected" -eq 0 ]; then
    add_failure 1 "$name: no test in it, or it does not start"
    return
  fi
  if [ "$code" -eq 0 ]; then
    ok=$(count_cases "$log" '^All tests passed \(.* in ([0-9]+) test cases?\)$')
  else
    ok=$(count_cases "$log" '^test cases: .* ([0-9]+) passed.*$')
  fi
  ok=${ok:-0}
  passed=$((passed + ok))
  if [ "$code" -eq 0 ] && [ "$ok" -eq "$expected" ]; then
    note "ok      $name ($ok)"
    return
  fi
  local why="exit code $code"
  [ "$code" -ne 124 ] && [ "$code" -ne 137 ] || why="not done within $limit s"
  add_failure $((expected > ok ? expected - ok : 1)) "$name: $((expected - ok)) of $expected, $why"
  note "FAILED  $name ($why)"
  excerpt "$log"
}

run_program() { start "$@" && judge "$@"; }

# build PRESET TARGET…: with ninja's own progress on a terminal, and only its errors in a log.
build() {
  local preset=$1 started=$SECONDS
  shift
  note "building $preset ..."
  if [ -t 1 ]; then
    bash cmd/build.sh "$preset" "$@" || return 1
  else
    bash cmd/build.sh "$preset" "$@" >"$logs/build-$preset.log" 2>&1 || {
      grep -vE '^\[[0-9]+/[0-9]+\] (Building|Linking|Creating|Generating)' "$logs/build-$preset.log" | tail -n 80
      return 1
    }
  fi
  note "built $preset in $((SECONDS - started)) s"
}

# unit PRESET BIN_FOLDER LIMIT
unit() {
  local test
  while read -r test; do
    [ -z "$test" ] || run_program "$1/$test" "$3" "$2/$test"
  done <"$2/../unit_tests.txt"
}

# script NAME LIMIT COMMAND…: one test; exit code 77 says that what it needs is not here.
script() {
  local code
  start "$@"
  await "$1"
  count_script "$1" "$code"
}
count_script() {
  local name=$1 code=$2 log=$logs/$1.log
  case $code in
    0) passed=$((passed + 1)); note "ok      $name" ;;
    77) skipped=$((skipped + 1)); note "SKIPPED $name: $(tail -n 1 "$log")" ;;
    *)
      add_failure 1 "$name: exit code $code"
      note "FAILED  $name"
      excerpt "$log"
      ;;
  esac
}

# e2e start|judge PRESET TIER BIN_FOLDER LIMIT: the other tier's own scenarios are left out.
e2e() {
  local other=real-only
  [ "$3" = sandbox ] || other=sandbox-only
  QCM_E2E_SERVER=$3 "$1" "$2/e2e-$3" "$5" "$4/e2e_test" "~[$other]"
}

# absent CODE NAME PROGRAM TESTS…: what these tests of the program need was not had. By CODE it is not
# to be had here (77: they are skipped), or could not be made.
absent() {
  local code=$1 name=$2 program=$3 cases
  shift 3
  cases=$("$program" --list-test-names-only "$@" 2>/dev/null | grep -c . || true)
  if [ "$code" -eq 77 ]; then
    note "SKIPPED $name: $cases tests (see above what they need)"
    skipped=$((skipped + cases))
  else
    note "FAILED  $name: $cases tests do not have what they need (see above)"
    add_failure "$cases" "$name: what it needs could not be made"
  fi
}

# The scenarios on both servers at once: they mostly wait. The sandbox's are judged by who calls this.
real_tier() {
  local assets code=0
  assets=$(bash tests/k8s/build.sh) || code=$?
  [ $code -ne 0 ] || export QCM_KUBECTL=${QCM_KUBECTL:-$assets/kubectl}
  e2e start release sandbox build/bin 1800
  script release/quickstart 300 bash tests/cmd/quickstart/quickstart_test.sh
  script release/alerts 120 bash tests/manifests/alerts_test.sh
  script release/sandbox-kubectl 180 bash tests/pkg/sandbox/kubectl_test.sh build/bin/sandbox-apiserver
  script release/image 180 bash tests/manifests/image_test.sh build/bin
  if [ $code -ne 0 ]; then
    absent $code release/e2e-real build/bin/e2e_test '~[sandbox-only]'
    return
  fi
  KUBEBUILDER_ASSETS=$assets e2e start release real build/bin 2700
  KUBEBUILDER_ASSETS=$assets e2e judge release real build/bin 2700
  KUBEBUILDER_ASSETS=$assets chart
}

# The Helm chart, beside kubectl's kustomize and on a real kube-apiserver; needs KUBEBUILDER_ASSETS.
chart() {
  local helm code=0
  helm=$(bash tests/manifests/helm.sh) || code=$?
  if [ $code -ne 0 ]; then
    absent $code release/helm build/bin/manifests_test
    return
  fi
  QCM_HELM=$helm QCM_E2E_SERVER=real run_program release/helm 300 build/bin/manifests_test
}

# Random objects, counted by us and by upstream's own code.
differential() {
  local upstream code=0
  upstream=$(bash tests/differential/build.sh) || code=$?
  if [ $code -ne 0 ]; then
    absent $code release/differential build/bin/differential_test
    return
  fi
  run_program release/differential 600 build/bin/differential_test --upstream "$upstream"
}

# A session of its own, so that all of it ends with this script.
start_beside() {
  rm -rf "$logs/beside"
  setsid bash tests/beside.sh "$logs" </dev/null >"$logs/beside.log" 2>&1 &
  beside=$!
}
judge_beside() {
  local name
  wait "$beside" || true
  beside=
  for name in simulation simulation-of-classes fuzz; do
    count_script "beside/$name" "$(cat "$logs/beside/$name.code" || echo "none, it did not end")"
    [ ! -s "$logs/beside/$name.log" ] || note "        $(tail -n 1 "$logs/beside/$name.log")"
  done
}
wait_for_build() {
  while [ ! -e "$logs/beside/$1.built" ] && kill -0 "$beside" 2>/dev/null; do sleep 1; done
}

# sanitized PRESET: what the sanitizer can judge, and nothing else is built. Scenarios are only started.
sanitized() {
  wait_for_build "$1"
  if ! build "$1" sanitized; then
    add_failure 1 "$1: does not build"
    return
  fi
  unit "$1" "build/$1/bin" 300
  e2e start "$1" sandbox "build/$1/bin" 2400
  built+=("$1")
}
judge_sanitized() {
  local preset
  for preset in "${built[@]}"; do e2e judge "$preset" sandbox "build/$preset/bin" 2400; done
}

finish() {
  local failure
  echo
  [ ! -s "$logs/failed" ] || { echo "what failed, again:"; tail -n 200 "$logs/failed"; echo; }
  for failure in "${failures[@]}"; do echo "failed: $failure"; done
  echo "$passed passed, $failed failed, $skipped skipped"
  [ "$failed" -eq 0 ]
}

export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_stack_use_after_return=1:strict_string_checks=1}
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}
export TSAN_OPTIONS=${TSAN_OPTIONS:-halt_on_error=1:second_deadlock_stack=1}

bash .ci/install-packages.sh
# For the bounds of instructions and for fuzzing, which say so themselves where there is none.
$quick || bash .ci/install-packages.sh valgrind clang-16 libclang-rt-16-dev llvm-16 || true
# For the test of the image, which is skipped where there is none.
[ "${CI:-}" != true ] || bash .ci/install-packages.sh buildah || true
built=()
if ! build release; then
  add_failure 1 "release: does not build"
elif $quick; then
  unit release build/bin 120
  e2e start release sandbox build/bin 1200
  e2e judge release sandbox build/bin 1200
  script release/quickstart 300 bash tests/cmd/quickstart/quickstart_test.sh
else
  unit release build/bin 120
  start_beside
  real_tier
  e2e judge release sandbox build/bin 1800
  differential
  script release/instructions 600 bash tests/bench/instructions.sh
  sanitized asan
  sanitized tsan
  judge_sanitized
  judge_beside
fi
finish
