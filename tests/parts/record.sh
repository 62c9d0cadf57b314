# shellcheck shell=bash
# Runs a part, and keeps its output, duration and counts. Sourced by run.sh.
#
# build/test-logs/NAME.log            the output of the part
# build/test-logs/results/NAME        "PASSED FAILED SKIPPED", and why it failed on the next line
# build/test-logs/parts.tsv           name, start (seconds since 1970), wall, user, system seconds,
#                                     how many cases failed, how many there were
# build/test-logs/planned             the parts that began or shall run
# build/test-logs/scenarios/NAME      the scenarios that failed, one a line

logs=$PWD/build/test-logs
results=$logs/results
scenarios=$logs/scenarios
# shellcheck disable=SC2034 # run.sh reads it
taken=$logs/taken  # an empty folder for each part that a chain has begun
repeated=${XDG_CACHE_HOME:-$HOME/.cache}/quota-controller-manager/passed
# shellcheck disable=SC2034 # run.sh sets it, parts.sh reads it
only_failed=false
# shellcheck disable=SC2034
all_versions=false

note() { printf '%s  %s\n' "$(date +%H:%M:%S)" "$*"; }

forget_results() {
  mkdir -p "$logs"
  # Nor may a part that never runs leave what an earlier run said of it.
  rm -rf "$results" "$taken" "$logs/planned" "$logs/parts.tsv" "$scenarios"
  rm -f "$logs"/*.log
  mkdir -p "$results" "$scenarios" "$taken"
}
has_result() { [ -e "$results/$1" ]; }
part_failed() { [ "$(cut -d' ' -f2 <"$results/$1" | head -n 1)" != 0 ]; }

# plan PART…: these shall end before the run does.
plan() { printf '%s\n' "$@" >>"$logs/planned"; }
# record_unended: records as failed what was planned and did not end. Its counts may be incomplete.
record_unended() {
  local part
  [ -e "$logs/planned" ] || return 0
  while read -r part; do
    grep -qs "^$part"$'\t' "$logs/parts.tsv" ||
      record "$part" 0 1 0 "$part: it never ran to its end"
  done < <(sort -u "$logs/planned")
}

failed_parts() {
  local file
  record_unended
  for file in "$results"/*; do
    [ ! -e "$file" ] || ! part_failed "${file##*/}" || echo "${file##*/}"
  done
}

# --failed reads these while the run writes new ones.
keep_failed_scenarios() {
  rm -rf "$scenarios.last"
  if [ -d "$scenarios" ]; then mv "$scenarios" "$scenarios.last"; fi
}

# record NAME PASSED FAILED SKIPPED [WHY]: records the result of a part. A second call for the same
# name adds to it, even from a concurrent process.
record() { (flock 9 && add_to_result "$@") 9>"$logs/results.lock"; }
add_to_result() {
  local name=$1 passed=0 failed=0 skipped=0
  [ ! -e "$results/$name" ] || read -r passed failed skipped <"$results/$name"
  {
    echo "$((passed + $2)) $((failed + $3)) $((skipped + $4))"
    if [ -e "$results/$name" ]; then tail -n +2 "$results/$name"; fi
    [ -z "${5:-}" ] || echo "$5"
  } >"$results/$name.new"
  mv "$results/$name.new" "$results/$name"
}

# run_part NAME: calls part_NAME, prints the result, and shows the end of its log after a failure.
run_part() {
  local name=$1 started=$EPOCHSECONDS times why
  local passed failed skipped
  plan "$name"
  : >"$logs/$name.log"
  rm -f "$scenarios/$name"
  rm -f "$logs/$name.code"
  # In the background, because on the left of `||` it would continue after an error.
  {
    local TIMEFORMAT='%R %U %S'
    time {
      (part_"${name//-/_}") >>"$logs/$name.log" 2>&1 </dev/null &
      wait $! || echo $? >"$logs/$name.code"
    }
  } 2>"$logs/$name.times"
  if [ -e "$logs/$name.code" ]; then
    record "$name" 0 1 0 "$name: exit code $(cat "$logs/$name.code")"
    rm -f "$logs/$name.code"
  elif ! has_result "$name"; then
    record "$name" 0 1 0 "$name: it counted nothing"
  fi
  read -r passed failed skipped <"$results/$name"
  read -r -a times < <(tail -n 1 "$logs/$name.times")
  printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$name" "$started" "${times[@]}" "$failed" \
    $((passed + failed)) >>"$logs/parts.tsv"
  why="$passed in ${times[0]%.*} s"
  if [ "$failed" -gt 0 ]; then
    note "FAILED  $name ($failed failed, $why)"
    excerpt "$name"
  elif [ "$passed" -eq 0 ] && [ "$skipped" -gt 0 ]; then
    note "SKIPPED $name ($skipped): $(tail -n 1 "$logs/$name.log")"
  else
    note "ok      $name ($why)"
  fi
}

# excerpt NAME: for scenarios those that failed or never ended, else the last lines of the log.
excerpt() {
  local log=$logs/$1.log
  if grep -qs '^scenario: ' "$log"; then
    awk '
      BEGIN { ended = "^(test cases|assertions|All tests|===|$)" }
      /^scenario: .* \.\.\.$/ { count = 0 }
      { lines[count++ % 80] = $0 }
      /^scenario: .*: FAILED in / { show() }
      END { if (count > 0 && lines[(count - 1) % 80] !~ ended) show() }
      function show(   i) {
        if (count > 80) print "..."
        for (i = count > 80 ? count - 80 : 0; i < count; ++i) print lines[i % 80]
        count = 0
      }' "$log"
  elif [ -e "$log" ]; then
    # All of it may be progress; then there is nothing to show.
    { grep -vE '^\[[0-9]+/[0-9]+\] (Building|Linking|Creating|Generating)' "$log" || true; } |
      tail -n 60
  fi | sed 's/^/    | /'
}

# finish: prints the failures again, because only the end may be read, and the sum.
finish() {
  local file passed=0 failed=0 skipped=0 p f s
  record_unended
  echo
  for file in "$results"/*; do
    read -r p f s <"$file"
    passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
    [ "$f" -eq 0 ] || { echo "what ${file##*/} said at the end:"; excerpt "${file##*/}"; }
  done
  for file in "$results"/*; do tail -n +2 "$file" | sed 's/^/failed: /'; done
  [ "$failed" -eq 0 ] || echo "to repeat only those: bash tests/run.sh --failed"
  echo "took $((SECONDS / 60)) min $((SECONDS % 60)) s"
  echo "$passed passed, $failed failed, $skipped skipped"
  [ "$failed" -eq 0 ]
  exit
}

# count_cases LOG PATTERN: the number in Catch2's summary; nothing if there is none.
count_cases() { sed -nE "s/$2/\\1/p" "$1" | tail -n 1; }

# catch NAME LIMIT PROGRAM [FILTER…]: runs a Catch2 program. Each listed test that did not pass
# counts as failed, so a crash or a timeout counts every test that it prevented.
catch() {
  local name=$1 limit=$2 code=0 expected ok output
  shift 2
  output=$(mktemp "$logs/catch.XXXXXX")
  timeout --kill-after=10 "$limit" "$@" >"$output" 2>&1 || code=$?
  cat "$output"
  # Catch2's exit code is the number of listed names.
  expected=$(timeout 60 "$@" --list-test-names-only 2>/dev/null | grep -c . || true)
  if [ "$code" -eq 0 ]; then
    ok=$(count_cases "$output" '^All tests passed \(.* in ([0-9]+) test cases?\)$')
  else
    ok=$(count_cases "$output" '^test cases: .* ([0-9]+) passed.*$')
  fi
  rm -f "$output"
  ok=${ok:-0}
  if [ "$expected" -eq 0 ]; then
    record "$name" 0 1 0 "$name: no test in $1, or it does not start"
  elif [ "$code" -eq 0 ] && [ "$ok" -eq "$expected" ]; then
    record "$name" "$ok" 0 0
  else
    [ "$code" -ne 124 ] && [ "$code" -ne 137 ] || code="$code: not done within $limit s"
    record "$name" "$ok" $((expected > ok ? expected - ok : 1)) 0 \
      "$name: $((expected - ok)) of $expected tests of ${1##*/}, exit code $code"
  fi
}

# script NAME LIMIT COMMAND…: runs one test; exit code 77 means that its requirements are missing.
script() {
  local name=$1 limit=$2 code=0
  shift 2
  timeout --kill-after=10 "$limit" "$@" || code=$?
  case $code in
    0) record "$name" 1 0 0 ;;
    77)
      if [ "${CI:-}" != true ]; then
        record "$name" 0 0 1
      else
        record "$name" 0 1 0 "$name: what it needs is not here"
      fi
      ;;
    *) record "$name" 0 1 0 "$name: exit code $code" ;;
  esac
}

# repeatable NAME LIMIT FILE… -- COMMAND…: as script, for a command whose result depends only on
# these files, folders and words. What passed once on this machine is not run again, except in CI.
repeatable() {
  local name=$1 limit=$2 files=() key
  shift 2
  while [ "$1" != -- ]; do files+=("$1") && shift; done
  shift
  key=$({
    find "${files[@]}" -type f -print0 | sort -z | xargs -0 sha256sum
    printf '%s\n' "$@"
  } | sha256sum | cut -d' ' -f1)
  if [ "${CI:-}" != true ] && [ -e "$repeated/$key" ]; then
    echo "the same passed on $(date -r "$repeated/$key" '+%F %T'): $*"
    record "$name" 1 0 0
    return
  fi
  script "$name" "$limit" "$@"
  [ "$(head -n 1 "$results/$name" | cut -d' ' -f2-)" = "0 0" ] || return 0  # failed or skipped
  mkdir -p "$repeated"
  touch "$repeated/$key"
}

# tally NAME LIMIT COMMAND…: runs a program whose last line is "N passed, N failed".
tally() {
  local name=$1 limit=$2 code=0 line output
  shift 2
  output=$(mktemp "$logs/tally.XXXXXX")
  timeout --kill-after=10 "$limit" "$@" >"$output" 2>&1 || code=$?
  cat "$output"
  line=$(grep -E '^[0-9]+ passed, [0-9]+ failed' "$output" | tail -n 1 || true)
  rm -f "$output"
  if [[ $line =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed ]]; then
    local passed=${BASH_REMATCH[1]} failed=${BASH_REMATCH[2]}
    [ "$code" -eq 0 ] || [ "$failed" -gt 0 ] || failed=1
    record "$name" "$passed" "$failed" 0 "$([ "$failed" -eq 0 ] || echo "$name: $failed failed")"
  elif [ "$code" -eq 77 ] && [ "${CI:-}" != true ]; then
    record "$name" 0 0 1
  else
    record "$name" 0 1 0 "$name: exit code $code"
  fi
}
