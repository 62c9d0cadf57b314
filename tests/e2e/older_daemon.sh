#!/usr/bin/env bash
# Builds the daemon of the last commit before reservations stood in the quotas, and prints the path
# of its program:
#   bash tests/e2e/older_daemon.sh
#
# Exit code 77: the history does not have that commit (a clone of the newest commits only).
set -euo pipefail
cd "$(dirname "$0")/../.."
commit=7a3a688
source=$PWD/build/older

if ! git cat-file -e "$commit^{commit}" 2>/dev/null; then
  echo "there is no commit $commit" >&2
  exit 77
fi
if [ ! -f "$source/CMakeLists.txt" ]; then
  mkdir -p "$source"
  git archive "$commit" | tar -x -C "$source"
fi
bash "$source/cmd/build.sh" release quota-controller-manager >&2
echo "$source/build/bin/quota-controller-manager"
