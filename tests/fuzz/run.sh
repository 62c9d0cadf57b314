#!/usr/bin/env bash
# Fuzzes: bash tests/fuzz/run.sh [SECONDS_PER_TARGET [TARGET…]], 60 seconds and all targets if it is
# not said; and bash tests/fuzz/run.sh --merge takes what was found to reach new code into the tree.
#
# Builds the preset fuzz with Debian's clang, and runs the targets, QCM_FUZZ_JOBS (2) at a time. One
# line a target. The inputs that runs collect stay in build/fuzz/corpus, so that the next run goes on
# from there; those that break something are in build/fuzz/found.
#
# Exit 1: something was found. Exit 77: no clang with libFuzzer here (with CI=true that is a failure).
set -euo pipefail
cd "$(dirname "$0")/../.."

build=${QCM_BUILD_DIR:-build/fuzz}
tree=tests/fuzz/corpus
jobs=${QCM_FUZZ_JOBS:-2}

say() { echo "tests/fuzz: $*"; }
unavailable() {
  say "$*"
  [ "${CI:-}" != true ] || exit 1
  exit 77
}

prepare() {
  bash .ci/install-packages.sh clang-16 libclang-rt-16-dev llvm-16 ||
    unavailable "NO CLANG WITH LIBFUZZER: install Debian's clang-16 and libclang-rt-16-dev"
  local started=$SECONDS log=$build/build.log
  mkdir -p "$build"
  say "building ..."
  bash cmd/build.sh fuzz fuzz_targets >"$log" 2>&1 || {
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

number() { sed -nE "s/.*$2([0-9]+).*/\\1/p" "$1" | tail -n 1; }

# fuzz TARGET SECONDS: leaves its line in the log's place with the ending .line.
fuzz() {
  local target=$1 seconds=$2 log=$build/log/$1.log code=0 word=ok
  mkdir -p "$build/corpus/$target"
  "$build/bin/${target}_fuzz" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=4096 \
    -reload=0 -print_final_stats=1 -artifact_prefix="$build/found/$target-" \
    -dict="$(dictionary "$target")" "$build/corpus/$target" "$tree/$target" >"$log" 2>&1 || code=$?
  [ $code -eq 0 ] || word=FOUND
  printf '%-6s %-22s %11s executions %7s/s %6s edges %6s inputs\n' $word "$target" \
    "$(number "$log" 'number_of_executed_units: ')" "$(number "$log" 'average_exec_per_sec: +')" \
    "$(number "$log" ' cov: ')" "$(number "$log" ' corp: ')" | tee "$build/log/$target.line"
  [ $code -eq 0 ] || explain "$target" "$log"
}

explain() {
  local target=$1 log=$2 input
  input=$(sed -nE 's/.*Test unit written to (.*)$/\1/p' "$log" | tail -n 1)
  {
    grep -m 8 -E 'what\(\)|^  (one|other): |runtime error|ERROR: |SUMMARY: ' "$log" | sed 's/^/    | /' || true
    echo "    input:  ${input:-none was written, see $log}"
    echo "    replay: $build/bin/${target}_fuzz ${input:-}"
    echo "    then:   fix it, and keep the input in $tree/$target"
  } | tee -a "$build/log/$target.line"
}

run() {
  local seconds=$1 target executions=0 found=0
  shift
  mkdir -p "$build/log" "$build/found"
  rm -f "$build"/log/*.line
  for target in "$@"; do
    [ -x "$build/bin/${target}_fuzz" ] || { say "there is no target $target"; exit 2; }
    while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n; done
    fuzz "$target" "$seconds" &
  done
  wait
  executions=$(cat "$build"/log/*.line | awk '$4 == "executions" { sum += $3 } END { printf "%.0f", sum }')
  found=$(cat "$build"/log/*.line | grep -c '^FOUND' || true)
  echo
  say "$# targets, $executions executions, $found found something"
  [ "$found" -eq 0 ]
}

# The inputs that reach what the tree's do not, and no more; large ones stay out.
merge() {
  local target small
  for target in "$@"; do
    small=$(mktemp -d)
    find "$build/corpus/$target" -type f -size -3k -exec cp -t "$small" {} + 2>/dev/null || true
    "$build/bin/${target}_fuzz" -merge=1 -timeout=10 "$tree/$target" "$small" >"$build/log/$target-merge.log" 2>&1
    rm -rf "$small"
    say "$target: $(find "$tree/$target" -type f | wc -l) inputs"
  done
}

prepare
mapfile -t targets < <(grep . "$build/fuzz_targets.txt")
case ${1:-} in
  --merge) merge "${targets[@]}" ;;
  *)
    seconds=${1:-60}
    [[ $seconds =~ ^[0-9]+$ ]] || { echo "usage: bash tests/fuzz/run.sh [SECONDS [TARGET…] | --merge]" >&2; exit 2; }
    [ $# -lt 2 ] || targets=("${@:2}")
    run "$seconds" "${targets[@]}"
    ;;
esac
