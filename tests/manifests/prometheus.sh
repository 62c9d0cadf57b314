#!/usr/bin/env bash
# Prints a program of Prometheus (prometheus, promtool): the one on PATH, else Debian's, extracted
# from the package "prometheus" and kept outside the work tree. Installing that package would start
# a server.
#
#   bash prometheus.sh PROGRAM
#
# Exit code 77: neither is available (with CI=true that is a failure, exit code 1).
set -euo pipefail

name=${1:?usage: prometheus.sh PROGRAM}
cache=${XDG_CACHE_HOME:-$HOME/.cache}/quota-controller-manager
for program in "$(command -v "$name" || true)" "$cache/$name"; do
  if [ -n "$program" ] && [ -x "$program" ]; then
    echo "$program"
    exit
  fi
done

say() { echo "tests/manifests: $*" >&2; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
chmod 755 "$folder"
fetch() { (cd "$folder" && apt-get -q download prometheus) >"$folder/log" 2>&1; }
if command -v apt-get >/dev/null; then
  # The package lists of a new machine are empty or old.
  fetch || { [ "$(id -u)" -eq 0 ] && apt-get -q update >/dev/null 2>&1 && fetch; } || true
fi
package=$(find "$folder" -name 'prometheus_*.deb' -print -quit)
if [ -z "$package" ]; then
  say "NO $name: install it, or have Debian's package prometheus within reach of apt-get"
  [ "${CI:-}" != true ] || exit 1
  exit 77
fi
mkdir -p "$cache"
dpkg-deb --fsys-tarfile "$package" | tar -x -C "$folder" ./usr/bin/promtool ./usr/bin/prometheus
for program in promtool prometheus; do
  mv "$folder/usr/bin/$program" "$cache/$program.$$"
  mv "$cache/$program.$$" "$cache/$program"
done
echo "$cache/$name"
