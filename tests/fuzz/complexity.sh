#!/usr/bin/env bash
# Does each target take time in proportion to its input? Grows inputs of the corpus, each in one
# place, to two sizes, and counts the instructions of both under callgrind:
#
#   bash tests/fuzz/complexity.sh [TARGET…]       default: all
#
# Exit code 1: some input needs too many instructions a byte, or the large one needs far more for
# each byte than the small one; or the target `quadratic`, which is made to be slow, is not found.
# 77: there is no valgrind. Gives the same result on a busy machine.
set -euo pipefail
cd "$(dirname "$0")/../.."
# n log n needs 1.3 times as many instructions a byte for the large input, and n² about ten times,
# beside all else that a target does.
most_times=1.7
most_a_byte=60000
jobs=${QCM_FUZZ_JOBS:-2}

if ! command -v valgrind >/dev/null; then
  bash .ci/install-packages.sh valgrind >&2 || { echo "valgrind is missing"; exit 77; }
fi
[ "${QCM_FUZZ_BUILT:-}" = true ] || bash cmd/build.sh release fuzz_regression_test >/dev/null
program=${QCM_BUILD_DIR:-build}/bin/fuzz_regression_test
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# measure TARGET: callgrind writes one file for each counted run.
measure() {
  local folder=$work/$1
  mkdir "$folder"
  QCM_FUZZ_TARGET=$1 valgrind --tool=callgrind --callgrind-out-file="$folder/out" \
    --collect-atstart=no '--toggle-collect=bench::Counted(*' \
    '--dump-after=bench::Counted(std::function<void ()> const&)' \
    "$program" "[.complexity]" >"$folder/log" 2>"$folder/valgrind" || {
    echo "$1: the run fails:"
    grep -vE '^COUNTED ' "$folder/log" | head -n 20
    return 1
  }
  grep '^COUNTED ' "$folder/log" | awk '{ print NR, $2, $3, $4 }' |
    while read -r number bytes file place; do
      echo "$bytes $(sed -nE 's/^(totals|summary): ([0-9]+)$/\2/p' "$folder/out.$number" |
        tail -n 1) $file ${place:-.}"
    done | awk -v target="$1" -v times="$most_times" -v most="$most_a_byte" '
      NR % 2 == 1 { small = $2 / $1; next }
      {
        large = $2 / $1
        runs++
        if (large > worst) worst = large
        if (small > 0 && large / small > steepest) steepest = large / small
        if (large > most || large > times * small) {
          bad = 1
          printf "SLOW   %s: %s grown in %s to %d bytes: ", target, $3, $4, $1
          printf "%.0f instructions a byte, %.0f for a tenth of them\n", large, small
        }
      }
      END {
        if (!runs) { print target ": nothing was counted"; exit 1 }
        printf "%-6s %-22s %3d places, at most %6.0f instructions a byte, ",
          bad ? "SLOW" : "ok", target, runs, worst
        printf "%.2f times as many in the large input\n", steepest
        exit bad
      }'
}

targets=("$@")
[ ${#targets[@]} -gt 0 ] || mapfile -t targets < <(ls tests/fuzz/corpus)
# One file for each target that is not as it should be.
mkdir "$work/failed"
fail() { touch "$work/failed/$1"; }

# A bound that nothing exceeds would prove nothing.
prove() {
  if measure quadratic >"$work/proof"; then
    fail quadratic
    echo "quadratic: is not found slow: $(cat "$work/proof")"
  elif ! grep -q '^SLOW' "$work/proof"; then
    fail quadratic
    cat "$work/proof"
  else
    echo "ok     quadratic              is found slow"
  fi
}

prove &
for target in "${targets[@]}"; do
  while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n || true; done
  { measure "$target" || fail "$target"; } &
done
wait
failed=$(find "$work/failed" -type f | wc -l)
echo "$((${#targets[@]} + 1 - failed)) passed, $failed failed"
[ "$failed" -eq 0 ]
