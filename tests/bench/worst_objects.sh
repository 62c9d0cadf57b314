#!/usr/bin/env bash
# What does a byte cost in the nastiest object that a stranger can write? Counts the instructions of
# an event, of a list, each with a recount, and of a review, for every kind that a quota API counts
# and for every list, map and text in it (worst_objects.cc), under callgrind:
#   bash tests/bench/worst_objects.sh [KIND…]       default: all
#
# Exit code 1: some object costs more than the bound below, which pkg/quota/DESIGN.md states. Work
# that is not linear costs many times more. 77: there is no valgrind. Takes some minutes, and gives
# the same result on a busy machine.
set -euo pipefail
cd "$(dirname "$0")/../.."

# Instructions for each byte: of maps in the order in which API servers write them, and of maps in
# another order, which are sorted.
bound=200
bound_unsorted=250

if ! command -v valgrind >/dev/null; then
  bash .ci/install-packages.sh valgrind >&2 || { echo "valgrind is missing"; exit 77; }
fi
bash cmd/build.sh release worst_objects >/dev/null
program=${QCM_BUILD_DIR:-build}/bin/worst_objects
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# measure KIND: prints "INSTRUCTIONS BYTES FORM WHAT" for each object, from the file that callgrind
# wrote for it.
measure() {
  rm -f "$folder"/*
  valgrind --tool=callgrind --callgrind-out-file="$folder/out" --collect-atstart=no \
    '--toggle-collect=bench::Counted(*' \
    "$program" "$1" >"$folder/objects" 2>"$folder/log" || { cat "$folder/log" >&2; return 1; }
  local number=0 line
  while read -r line; do
    number=$((number + 1))
    printf '%s %s\n' "$(sed -nE 's/^(totals|summary): ([0-9]+)$/\2/p' "$folder/out.$number" |
      tail -n 1)" "$line"
  done <"$folder/objects"
}

kinds=("$@")
if [ ${#kinds[@]} -eq 0 ]; then
  read -ra kinds < <("$program" 2>&1 | sed -nE 's/^kinds: //p')
fi

failed=0
printf '| kind | form | instructions a byte | bound | the most expensive of | |\n'
printf '|---|---|---|---|---|---|\n'
for kind in "${kinds[@]}"; do
  measured=$(measure "$kind") || { failed=1; continue; }
  for form in event-protobuf list-protobuf event-json list-json review; do
    worst=$(awk -v form="$form" -v sorted="$bound" -v unsorted="$bound_unsorted" '
      $3 != form { next }
      {
        ++count
        each = $1 / $2
        limit = /names in descending order/ ? unsorted : sorted
        if (each / limit <= most) next
        most = each / limit
        $1 = $2 = $3 = ""
        worst = sprintf("%d %d", each + 0.5, limit)
        what = $0
      }
      END { if (count > 0) print worst, count, what }' <<<"$measured")
    [ -n "$worst" ] || continue
    read -r each limit count what <<<"$worst"
    say=ok
    if [ "$each" -gt "$limit" ]; then
      say=ABOVE
      failed=1
    fi
    printf '| %s | %s | %d | %d | %d: %s | %s |\n' \
      "$kind" "$form" "$each" "$limit" "$count" "$what" "$say"
  done
done
exit $failed
