#!/usr/bin/env bash
# Writes the debug symbols of a program to FOLDER/.build-id/ab/cdef….debug, named by its build-id.
# Debuggers find them there for the stripped program: bash .ci/debug-symbols.sh PROGRAM FOLDER
set -euo pipefail
[ $# -eq 2 ] || { sed -nE '2,3s/^# ?//p' "$0" >&2; exit 2; }
# shellcheck source=.ci/libraries.sh
. "$(dirname "$0")/libraries.sh"
id=$(LC_ALL=C readelf -n "$1" | sed -nE 's/^ *Build ID: *//p')
[ -n "$id" ] || { echo "debug-symbols.sh: $1 has no build-id" >&2; exit 1; }
mkdir -p "$2/.build-id/${id:0:2}"
"$(binutil "$1" objcopy)" --only-keep-debug "$1" "$2/.build-id/${id:0:2}/${id:2}.debug"
chmod 644 "$2/.build-id/${id:0:2}/${id:2}.debug"
