#!/usr/bin/env bash
# kubectl finds the plugin that `cmake --install` installs and that krew would unpack, and asks it
# for completions: bash install_test.sh
#
# kubectl is $QCM_KUBECTL, else the one on PATH; without one the exit code is 77 (skipped).
set -euo pipefail
cd "$(dirname "$0")/../../.."
kubectl=${QCM_KUBECTL:-$(command -v kubectl || true)}
if [ -z "$kubectl" ] || [ ! -x "$kubectl" ]; then
  echo "SKIPPED: no kubectl (QCM_KUBECTL or PATH)"
  exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export HOME=$folder KUBECONFIG=/dev/null
fail() { echo "install_test: $*" >&2; exit 1; }

# finds FOLDER: kubectl runs the plugin of this folder.
finds() {
  local version words
  version=$(PATH=$1:$PATH "$kubectl" quota version --client) || fail "$1: kubectl finds no plugin"
  [ "$version" = "$(build/bin/kubectl-quota version --client)" ] || fail "$1: version '$version'"
  words=$(PATH=$1:$PATH "$kubectl" __complete quota w 2>/dev/null) || fail "$1: no completion"
  [ "$words" = $'who\nwhy\n:4' ] || fail "$1: completed by '$words'"
  PATH=$1:$PATH "$kubectl" quota check -f cmd/kubectl-quota/examples/shop.yaml \
    --quota-file cmd/kubectl-quota/examples/quota.yaml \
    --limitrange-file cmd/kubectl-quota/examples/limits.yaml \
    --used-file cmd/kubectl-quota/examples/used.yaml >"$folder/out" ||
    fail "$1: $(cat "$folder/out")"
  grep -qxF 'Yes: all of it fits.' "$folder/out" || fail "$1: $(cat "$folder/out")"
}

cmake --install build --component kubectl-quota --prefix "$folder/installed" >/dev/null
finds "$folder/installed/bin"

bash cmd/kubectl-quota/package.sh "$folder/krew" >"$folder/out" 2>&1 || fail "$(cat "$folder/out")"
archive=$folder/krew/kubectl-quota-linux-amd64.tar.gz
manifest=$folder/krew/quota.yaml
field() { sed -nE "s/^ *$1: (.*)$/\1/p" "$manifest"; }
[ "$(field sha256)" = "$(sha256sum "$archive" | cut -d ' ' -f 1)" ] || fail "another checksum"
[ "$(field uri)" = "file://$archive" ] || fail "uri $(field uri)"
[ "$(field version)" = "v$(build/bin/kubectl-quota version --client | cut -d ' ' -f 2)" ] ||
  fail "version $(field version)"
mkdir "$folder/unpacked"
tar -C "$folder/unpacked" -xzf "$archive"
[ -x "$folder/unpacked/$(field bin)" ] || fail "no $(field bin) in the archive"
# All libraries that it loads come from the archive, except the C library.
ldd "$folder/unpacked/kubectl-quota" | grep -E '=> /' >"$folder/out"
! grep -vE "$folder|/lib(c|m|pthread)\.so" "$folder/out" ||
  fail "loads what is not in the archive"
finds "$folder/unpacked"
echo "1 passed, 0 failed"
