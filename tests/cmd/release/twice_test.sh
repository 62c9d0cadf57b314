#!/usr/bin/env bash
# Compiles a release of the last commit twice, in clones in different folders, and checks that all
# files are the same: bash twice_test.sh
#
# It takes some 20 CPU minutes. Exit code 77: not root.
set -euo pipefail
cd "$(dirname "$0")/../../.."
[ "$(id -u)" -eq 0 ] || { echo "not root"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for clone in "$folder/first" "$folder/in/another/place/second"; do
  git clone -q . "$clone"
  (cd "$clone" && bash cmd/release.sh --url https://releases.example.com "$clone-files")
done
diff "$folder/first-files/SHA256SUMS" "$folder/in/another/place/second-files/SHA256SUMS"
cat "$folder/first-files/SHA256SUMS"
