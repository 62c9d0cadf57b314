#!/usr/bin/env bash
# Builds one preset: bash cmd/build.sh [release|debug|asan|tsan|package|package-arm64] [target …]
# release lands in build/bin, the others in build/<preset>/bin. package-arm64 is linked against the
# root QCM_SYSROOT, by default build/sysroot-arm64, which is made if it is not there.
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
if [ "$preset" = package-arm64 ]; then
  export QCM_SYSROOT=${QCM_SYSROOT:-$PWD/build/sysroot-arm64}
  bash .ci/sysroot.sh arm64 "$QCM_SYSROOT"
  bash .ci/install-packages.sh g++-12-aarch64-linux-gnu
fi
# The preset is read again at every call, so a changed preset reaches an existing build folder.
cmake -G Ninja -S . -B "$directory" -C ".cmake/presets/$preset.cmake" >/dev/null
exec ninja -C "$directory" "$@"
