#!/usr/bin/env bash
# Builds one preset: bash cmd/build.sh [release|debug|asan|tsan|package|package-arm64] [target …]
# release lands in build/bin, the others in build/<preset>/bin.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${1:-release}
shift || true
case $preset in
  release) directory=build ;;
  debug | asan | tsan | package | package-arm64) directory=build/$preset ;;
  *) echo "build.sh: unknown preset '$preset' (they are in .cmake/presets)" >&2; exit 2 ;;
esac
directory=${QCM_BUILD_DIR:-$directory}
# The preset is read again at every call, so a changed preset reaches an existing build folder.
cmake -G Ninja -S . -B "$directory" -C ".cmake/presets/$preset.cmake" >/dev/null
exec ninja -C "$directory" "$@"
