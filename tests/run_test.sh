#!/usr/bin/env bash
# run.sh with parts that only pretend: what it counts, and how it ends, if a part fails, a chain of
# parts is killed or the whole run is.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$(realpath "$(mktemp -d)")
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder/tests/parts" "$folder/.ci" "$folder/bin"
# On a busy machine idle chains would wait for minutes.
printf '#!/bin/sh\n' | tee "$folder/bin/chrt" >"$folder/bin/renice"
chmod +x "$folder/bin/chrt" "$folder/bin/renice"
cp tests/run.sh "$folder/tests"
cp tests/parts/record.sh "$folder/tests/parts"
cp tests/parts/parts.sh "$folder/tests/parts/real.sh"
echo 'exit 0' >"$folder/.ci/install-packages.sh"
# The parts of the real table. Each passes one test, except that $PART does $WHAT.
cat >"$folder/tests/parts/parts.sh" <<'END'
. tests/parts/real.sh
while read -r name _; do
  eval "part_${name//-/_}() { pretend $name; }"
done < <(list_parts)
pretend() {
  echo "$1 runs"
  if [ "$1" = "$PART" ]; then "$WHAT" "$1"; fi
  record "$1" 1 0 0
}
only_progress() {
  echo "[1/2] Building a.o" >"$logs/$1.log"
  exit 1
}
# The leader of a part's process group is the shell of its chain, or else run.sh.
kill_leader() {
  record "$1" 1 0 0
  kill -9 "$(awk '{ print $5 }' /proc/$BASHPID/stat)"
  exit 0
}
END

failed=0
# run PART WHAT ARGUMENT…: the lines without times are in $folder/said.
run() {
  code=0
  PATH=$folder/bin:$PATH XDG_CACHE_HOME=$folder PART=$1 WHAT=$2 setsid --wait \
    bash "$folder/tests/run.sh" "${@:3}" >"$folder/said" 2>&1 || code=$?
}
# expect CODE NAME LINE…: the last run ended so, and said these lines.
expect() {
  local line expected=$1 name=$2
  shift 2
  [ "$code" -eq "$expected" ] || complain "$name: exit code $code, expected was $expected"
  for line; do grep -qxE "$line" "$folder/said" || complain "$name: it did not say: $line"; done
}
complain() {
  echo "run_test: $1" >&2
  sed 's/^/    | /' "$folder/said" >&2
  failed=1
}

run none - 
parts=$(grep -c ' ok  ' "$folder/said")
expect 0 "all parts pass" "$parts passed, 0 failed, 0 skipped"
run none - --failed
expect 0 "nothing to repeat" "nothing failed last time"

# asan is the second of a chain, and others wait for it.
run asan only_progress
expect 1 "a part fails, and its log has only progress" \
  "failed: asan: exit code 1" "$((parts - 1)) passed, 1 failed, 0 skipped"

run asan kill_leader
expect 1 "a chain is killed" ".*FAILED  a chain of parts ended early" \
  "failed: asan: it never ran to its end" "failed: asan-e2e: it never ran to its end" \
  "failed: tidy: it never ran to its end"
run none - --failed
expect 0 "what did not run is repeated" ".*ok      asan .*" ".*ok      asan-e2e .*" \
  ".*ok      tidy .*" "[0-9]+ passed, 0 failed, 0 skipped"
! grep -q 'ok      lint ' "$folder/said" || complain "it repeats what had passed"

run lint kill_leader --quick
expect 137 "run.sh is killed"
run none - --failed
expect 0 "the part in which it was killed is repeated" ".*ok      lint .*" \
  "[0-9]+ passed, 0 failed, 0 skipped"

[ $failed -eq 0 ]
