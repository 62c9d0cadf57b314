#!/usr/bin/env bash
# Writes the flags that the program's --help prints into README.md of this folder, between marks:
#   bash cmd/quota-controller-manager/readme.sh [--check] [PROGRAM]
#
# --check writes nothing: it prints what would change, and exits with 1 if anything would.
# PROGRAM is build/bin/quota-controller-manager by default.
set -euo pipefail
cd "$(dirname "$0")/../.."

check=false
if [ "${1:-}" = --check ]; then check=true; shift; fi
program=${1:-build/bin/quota-controller-manager}
readme=cmd/quota-controller-manager/README.md
begin='<!-- flags: written by readme.sh -->'
end='<!-- /flags -->'

for line in "$begin" "$end"; do
  grep -qxF -- "$line" "$readme" || { echo "readme.sh: $readme has no line $line" >&2; exit 1; }
done
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$program" --help >"$folder/help"

# A flag is two lines of --help: "  --NAME=DEFAULT" and its text. --v and --vmodule are glog's; the
# README explains --v by hand.
table() {
  echo '| flag | default | meaning |'
  echo '|---|---|---|'
  awk '
    /^  --/ {
      at = index($0, "=")
      name = at ? substr($0, 3, at - 3) : substr($0, 3)
      value = at ? substr($0, at + 1) : ""
      next
    }
    /^      / && name != "" && name !~ /^--v(module)?$/ {
      sub(/^ +/, "")
      gsub(/\|/, "\\|")
      printf "| `%s` |%s | %s |\n", name, value == "" ? "" : " `" value "`", $0
    }' "$folder/help"
}

{
  awk -v mark="$begin" '{ print } $0 == mark { exit }' "$readme"
  echo
  table
  echo
  awk -v mark="$end" '$0 == mark { shown = 1 } shown' "$readme"
} >"$folder/README.md"
[ "$(grep -c '^| `--' "$folder/README.md")" -gt 20 ] || {
  echo "readme.sh: $program --help shows no flags" >&2
  exit 1
}
if $check; then
  diff -u --label "$readme" --label "$program --help" "$readme" "$folder/README.md" || {
    echo "readme.sh: the list of flags is stale: bash cmd/quota-controller-manager/readme.sh" >&2
    exit 1
  }
else
  cat "$folder/README.md" >"$readme"
fi
