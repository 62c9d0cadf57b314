#!/usr/bin/env bash
# Does the daemon's most frequent work cost more instructions than before? Counts the instructions
# of an event, a recount, a decision and a review under callgrind, and compares them with
# instruction_bounds.txt:
#   bash tests/bench/instructions.sh [--set] [QUESTION…]       default: all; --set writes the file
#
# Exit code 1: something needs over a tenth more than its bound. Work that needs over a tenth less
# is reported, so that the bound is lowered. 77: there is no valgrind. Takes two minutes of CPU, and
# gives the same result on a busy machine.
set -euo pipefail
cd "$(dirname "$0")/../.."
bounds=tests/bench/instruction_bounds.txt
slack=10 # per cent

set_bounds=false
if [ "${1:-}" = --set ]; then
  set_bounds=true
  shift
fi
if ! command -v valgrind >/dev/null; then
  bash .ci/install-packages.sh valgrind >&2 || { echo "valgrind is missing"; exit 77; }
fi
bash cmd/build.sh release instructions >/dev/null
program=${QCM_BUILD_DIR:-build}/bin/instructions
counts=$(mktemp)
trap 'rm -f "$counts"' EXIT

# Switches off the C library's choice by the machine's CPU: each choice has other functions to copy
# and compare memory, and other sizes at which it changes between them.
features=AVX512F,AVX512VL,AVX512BW,AVX2,AVX,AVX_Fast_Unaligned_Load,ERMS,FSRM,RTM
features+=,SSSE3,SSE4_1,SSE4_2,BMI1,BMI2,LZCNT,MOVBE
tunables=glibc.cpu.hwcaps=-${features//,/,-}
tunables+=:glibc.cpu.x86_non_temporal_threshold=0xc0000:glibc.cpu.x86_rep_movsb_threshold=0x10000

# count QUESTION: prints the instructions for each time that the work was done.
count() {
  local output times
  output=$(env -i GLIBC_TUNABLES="$tunables" valgrind --tool=callgrind \
    --callgrind-out-file=/dev/null --collect-atstart=no \
    '--toggle-collect=bench::Counted(*' '--toggle-collect=bench::Uncounted(*' \
    "$program" "$1" 2>"$counts") || { cat "$counts" >&2; return 1; }
  times=$(sed -nE 's/^==[0-9]+== Collected : ([0-9]+)$/\1/p' "$counts")
  [ "${times:-0}" -gt 0 ] || { echo "instructions.sh: $1: nothing was counted" >&2; return 1; }
  echo $((times / output))
}

questions=("$@")
if [ ${#questions[@]} -eq 0 ]; then
  read -ra questions < <("$program" 2>&1 | sed -nE 's/^questions: //p')
fi

failed=0
new=""
printf '| instructions | measured | bound | ratio | |\n|---|---|---|---|---|\n'
for question in "${questions[@]}"; do
  measured=$(count "$question") || { failed=1; continue; }
  new+="$question $measured"$'\n'
  bound=$(sed -nE "s/^$question ([0-9]+)\$/\\1/p" "$bounds" 2>/dev/null || true)
  if $set_bounds; then
    say="written as the bound"
    bound=$measured
  elif [ -z "$bound" ]; then
    say="NO BOUND"
    failed=1
    bound=0
  elif [ $((measured * 100)) -gt $((bound * (100 + slack))) ]; then
    say="ABOVE"
    failed=1
  elif [ $((measured * 100)) -lt $((bound * (100 - slack))) ]; then
    say="below: lower the bound to $measured"
  else
    say=ok
  fi
  per_mille=$((bound > 0 ? measured * 1000 / bound : 0))
  printf '| %s | %d | %d | %d.%03d | %s |\n' "$question" "$measured" "$bound" \
    $((per_mille / 1000)) $((per_mille % 1000)) "$say"
done
if $set_bounds; then
  {
    echo "# Instructions, as tests/bench/instructions.sh --set counted them;" \
      "a tenth more is let pass."
    printf '%s' "$new"
  } >"$bounds"
  exit 0
fi
exit $failed
