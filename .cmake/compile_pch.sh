#!/usr/bin/env bash
# Compiles a precompiled header by the command in the arguments, and writes a checksum of all files
# that it consists of beside it. ccache takes that for the header (CCACHE_PCH_EXTSUM) in the files
# that use it, because clang writes the path of the build folder into the header.
set -euo pipefail
"$@"
before='' output='' dependencies=''
for argument; do
  case $before in
    -o) output=$argument ;;
    -MF) dependencies=$argument ;;
  esac
  before=$argument
done
case $output in
  *.pch | *.gch)
    sed 's/^[^:]*: / /; s/\\$//' "$dependencies" | xargs sha256sum | cut -d' ' -f1 | LC_ALL=C sort |
      sha256sum >"$output.sum"
    ;;
esac
