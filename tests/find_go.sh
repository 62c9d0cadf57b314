# shellcheck shell=bash
# Sourced by the scripts that build test tools from Go modules.

# Prints a Go that is new enough for the go.mod files here (1.26); nothing if there is none.
find_go() {
  local candidate release
  for candidate in "$(command -v go || true)" /usr/local/go/bin/go /usr/lib/go-1.2[6-9]/bin/go; do
    [ -x "$candidate" ] || continue
    release=$(GOTOOLCHAIN=local "$candidate" env GOVERSION 2>/dev/null || true)
    if [[ $release =~ ^go1\.([0-9]+) ]] && [ "${BASH_REMATCH[1]}" -ge 26 ]; then
      echo "$candidate"
      return
    fi
  done
}

# go_build GO ARGUMENT…: builds the modules that go.mod pins, without cgo. Without debug
# information, which nobody needs here, compiling takes a tenth less CPU. Without garbage collection
# below 2 GiB it takes a third less: most packages need far less memory. The flags are the same for
# all programs, so that they share packages in the Go build cache.
go_build() {
  local go=$1
  shift
  CGO_ENABLED=0 GOTOOLCHAIN=local GOFLAGS=-mod=readonly GOGC=off GOMEMLIMIT=2GiB \
    "$go" build -trimpath -gcflags=all=-dwarf=false "$@"
}
