#!/usr/bin/env bash
# Fuzzes all targets, or the named ones:
#
#   run.sh [SECONDS [TARGET…]]        continues from the inputs that earlier runs collected
#   run.sh --ci [SECONDS [TARGET…]]   begins with the tree's corpus, is the same each time, and runs
#                                     as many executions as speeds.txt has for so many seconds
#   run.sh --merge [TARGET…]          adds inputs that reach new code to the tree
#   run.sh --build                    only builds
#
# Builds the preset asan with Debian's clang, unless QCM_FUZZ_BUILT=true says that it is built, and
# runs each target for SECONDS (60), QCM_FUZZ_JOBS (2) of them at a time. Prints one line for each
# target with its executions per second of CPU time; the last line is "N targets, N executions, N
# found". With --ci the random seed is QCM_FUZZ_SEED (1) and a number of executions ends a run, so
# that two runs of one program are the same and find the same. Inputs that break something are in
# build/fuzz/found; build/fuzz/total sums up the executions of all runs.
#
# Exit code 1: something was found. 77: there is no clang with libFuzzer (with CI=true that is a
# failure).
set -euo pipefail
cd "$(dirname "$0")/../.."

build=build/fuzz # what runs leave behind
programs=build/asan
tree=tests/fuzz/corpus
jobs=${QCM_FUZZ_JOBS:-2}
seed=${QCM_FUZZ_SEED:-1}
ci=false
launcher=()
longest=1800  # of a --ci run of one target, seconds
logs=$build/log

# Finds memory errors when they happen; other checks cost half of the speed. Use of a stack frame
# after its function returned is checked by running the corpus with the preset asan.
export ASAN_OPTIONS=quarantine_size_mb=8:malloc_context_size=4:detect_stack_use_after_return=0
export UBSAN_OPTIONS=print_stacktrace=1

say() { echo "tests/fuzz: $*"; }
usage() {
  sed -n '2,8s/^# \{0,1\}//p' "$0" >&2
  exit 2
}
unavailable() {
  say "$*"
  [ "${CI:-}" != true ] || exit 1
  exit 77
}

prepare() {
  bash .ci/install-packages.sh clang-16 libclang-rt-16-dev llvm-16 ||
    unavailable "NO CLANG WITH LIBFUZZER: install Debian's clang-16 and libclang-rt-16-dev"
  local started=$SECONDS log=$build/build.log
  mkdir -p "$build/found"
  [ "${QCM_FUZZ_BUILT:-}" != true ] || return 0
  say "building ..."
  bash cmd/build.sh asan fuzz_targets >"$log" 2>&1 || {
    grep -vE '^\[[0-9]+/[0-9]+\] ' "$log" | tail -n 60
    say "does not build"
    exit 1
  }
  say "built in $((SECONDS - started)) s"
}

dictionary() {
  local own=tests/fuzz/dictionaries/$1.dict
  [ -f "$own" ] || own=tests/fuzz/dictionaries/objects.dict
  echo "$own"
}

# executions_of TARGET SECONDS: prints nothing for a target that is not in speeds.txt.
executions_of() {
  awk -v target="$1" -v seconds="$2" '$1 == target { printf "%.0f", $2 * seconds }' \
    tests/fuzz/speeds.txt
}

# number LOG WORDS: the last number after the words.
number() { sed -nE "s/.*$2([0-9]+).*/\\1/p" "$1" | tail -n 1; }

# libfuzzer TARGET FLAG…: writes its CPU times to TARGET.times. The time limit is wall-clock time,
# against endless waits; busy inputs end by themselves.
libfuzzer() {
  local target=$1 TIMEFORMAT='%U %S'
  shift
  { time "${launcher[@]}" "$programs/bin/${target}_fuzz" -timeout=300 -rss_limit_mb=1024 \
    -malloc_limit_mb=128 -max_len=4096 -print_final_stats=1 "$@" >"$logs/$target.log" 2>&1
  } 2>"$logs/$target.times"
}

# fuzz TARGET SECONDS: writes its line to TARGET.line.
fuzz() {
  local target=$1 code=0 word=ok executions how
  if $ci; then
    # Ordered by name and kept in memory: a fresh start that does not depend on a folder's order.
    find "$tree/$target" -type f | LC_ALL=C sort | paste -sd, | tr -d '\n' >"$logs/$target.inputs"
    how=(-seed="$seed" -seed_inputs="@$logs/$target.inputs" -runs="$(executions_of "$target" "$2")"
      -max_total_time="$longest")
  else
    mkdir -p "$build/corpus/$target"
    how=(-max_total_time="$2" "$build/corpus/$target" "$tree/$target")
  fi
  libfuzzer "$target" -reload=0 -artifact_prefix="$build/found/$target-" \
    -dict="$(dictionary "$target")" "${how[@]}" || code=$?
  [ $code -eq 0 ] || word=FOUND
  executions=$(number "$logs/$target.log" 'number_of_executed_units: ')
  {
    printf '%-6s %-22s %11s executions %7s/s %6s edges %6s inputs' \
      $word "$target" "${executions:-0}" \
      "$(awk -v n="${executions:-0}" 'END { printf "%.0f", n / ($1 + $2 + 0.01) }' \
        "$logs/$target.times")" \
      "$(number "$logs/$target.log" ' cov: ')" "$(number "$logs/$target.log" ' corp: ')"
    if $ci; then printf '  seed %s\n' "$seed"; else printf '\n'; fi
    [ $code -eq 0 ] || explain "$target"
  } >"$logs/$target.part"
  mv "$logs/$target.part" "$logs/$target.line"
  cat "$logs/$target.line"
  add_to_total "$target" "${executions:-0}"
}

explain() {
  local log=$logs/$1.log input
  input=$(sed -nE 's/.*Test unit written to (.*)$/\1/p' "$log" | tail -n 1)
  grep -m 8 -E 'what\(\)|^  (one|other): |runtime error|ERROR: |SUMMARY: ' "$log" |
    sed 's/^/    | /' || true
  echo "    input:  ${input:-none was written, see $log}"
  [ -z "$input" ] || echo "    base64: $(base64 -w 0 "$input")"
  echo "    replay: $programs/bin/$1_fuzz ${input:-}"
  echo "    then:   fix it, and keep the input in $tree/$1"
}

# add_to_total TARGET EXECUTIONS: runs may overlap.
add_to_total() {
  (
    flock 9
    touch "$build/total"
    awk -v target="$1" -v more="$2" '
      $1 != "all" { sum[$1] = $2; all += $2 }
      END {
        sum[target] += more
        for (name in sum) printf "%-22s %14.0f\n", name, sum[name] | "sort"
        close("sort")
        printf "%-22s %14.0f\n", "all", all + more
      }' "$build/total" >"$build/total.new"
    mv "$build/total.new" "$build/total"
  ) 9>"$build/total.lock"
}

run() {
  local seconds=$1 target executions found
  shift
  mkdir -p "$logs"
  rm -f "$logs"/*.line
  for target in "$@"; do
    while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n; done
    fuzz "$target" "$seconds" &
  done
  wait
  executions=$(awk '$4 == "executions" { sum += $3 } END { printf "%.0f", sum }' "$logs"/*.line)
  found=$(cat "$logs"/*.line | grep -c '^FOUND' || true)
  echo
  say "$# targets, $executions executions, $found found"
  [ "$found" -eq 0 ]
}

# Adds the inputs that reach code that the tree's inputs do not; large ones are left out.
merge() {
  local target small
  mkdir -p "$logs"
  for target in "$@"; do
    small=$(mktemp -d)
    find "$build/corpus/$target" -type f -size -3k -exec cp -t "$small" {} + 2>/dev/null || true
    libfuzzer "$target" -merge=1 -use_counters=0 "$tree/$target" "$small" || {
      say "$target: not merged, see $logs/$target.log"
      exit 1
    }
    rm -rf "$small"
    say "$target: $(find "$tree/$target" -type f | wc -l) inputs"
  done
}

mode=run
case ${1:-} in
  --ci) ci=true logs=$build/log-ci; shift ;;
  --merge) mode=merge logs=$build/log-merge; shift ;;
  --build) mode=build; shift ;;
esac
seconds=60
if [ $mode = run ] && [ $# -gt 0 ]; then
  [[ $1 =~ ^[0-9]+$ ]] || usage
  seconds=$1
  shift
fi
prepare
[ $mode != build ] || exit 0
# libFuzzer tries values that were compared, and some are addresses. They must not be random, nor
# depend on the environment, which is at the end of the stack.
if $ci; then
  launcher=(env -i PATH=/usr/bin:/bin ASAN_OPTIONS="$ASAN_OPTIONS" UBSAN_OPTIONS="$UBSAN_OPTIONS")
  if setarch -R true 2>/dev/null; then launcher+=(setarch -R); fi
fi
mapfile -t targets < <(grep . "$programs/fuzz_targets.txt")
for target in "$@"; do
  printf '%s\n' "${targets[@]}" | grep -qx -- "$target" || {
    say "there is no target $target"
    exit 2
  }
done
[ $# -eq 0 ] || targets=("$@")
for target in "${targets[@]}"; do
  [ -n "$(executions_of "$target" 1)" ] || {
    say "tests/fuzz/speeds.txt has no line for $target"
    exit 2
  }
done
case $mode in
  merge) merge "${targets[@]}" ;;
  run) run "$seconds" "${targets[@]}" ;;
esac
