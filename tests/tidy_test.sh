#!/usr/bin/env bash
# Which files .ci/tidy checks of a small repository, and when it cannot tell. Exit code 77: there is
# no jq.
set -euo pipefail
cd "$(dirname "$0")/.."
command -v jq >/dev/null || bash .ci/install-packages.sh jq >&2 || exit 77
folder=$(realpath "$(mktemp -d)")
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder/repository/.ci" "$folder/bin"
cp .ci/tidy "$folder/repository/.ci"
# Stand-ins for the tools: clang-tidy says which file it checks.
cat >"$folder/bin/cmake" <<'END'
#!/bin/sh
mkdir -p build/tidy && echo '[]' >build/tidy/compile_commands.json
END
cat >"$folder/bin/clang-tidy-14" <<'END'
#!/bin/sh
[ "$1" = --version ] && exit
for file; do :; done
echo "checks $file"
exit 1
END
chmod +x "$folder/bin"/*
export PATH=$folder/bin:$PATH XDG_CACHE_HOME=$folder/cache
unset BASE

failed=0
# expect NAME FILE…: these are checked, and no others.
expect() {
  local name=$1 file
  shift
  bash .ci/tidy >"$folder/said" 2>&1 || true
  sed -n 's/^checks //p' "$folder/said" | sort >"$folder/checked"
  for file; do echo "$file"; done | sort | diff - "$folder/checked" || complain "$name"
}
# refuse NAME WORDS: it ends with an error that contains these words.
refuse() {
  if bash .ci/tidy >"$folder/said" 2>&1; then complain "$1: exit code 0"; fi
  grep -q "$2" "$folder/said" || complain "$1: it did not say: $2"
}
complain() {
  echo "tidy_test: $1" >&2
  sed 's/^/    | /' "$folder/said" >&2
  failed=1
}
commit() {
  git add -A
  git -c user.name=t -c user.email=t@example.com commit -qm "$1"
}

cd "$folder/repository"
git init -q -b main .
printf 'build/\n' >.gitignore
touch .clang-tidy
# a.h has a source of its own and is included by b.h, which is included by c.h. d.h is included by
# nobody, e.h by five.
includes() {
  local file=$1 header
  shift
  for header; do echo "#include \"$header\""; done >"$file"
}
touch a.h e.h d.h
includes a.cc a.h
includes b.h a.h
includes b.cc b.h
includes c.h b.h
includes c.cc c.h
includes far.cc c.h
includes farther.cc c.h
for name in e 1 2 3 4; do includes "in_$name.cc" e.h; done
mv in_e.cc e.cc
commit "all"
git branch base

change() {
  git reset -q --hard base
  local file
  for file; do echo "// changed" >>"$file"; done
}
export BASE=base
change b.cc
expect "a source" b.cc
change a.h
expect "a header with few sources of its own" a.cc b.cc c.cc far.cc
change e.h
expect "a header with many" e.cc in_1.cc in_2.cc in_3.cc
change d.h
expect "a header that nobody includes"
change a.h c.h
commit "a change"
expect "the headers of a commit" a.cc b.cc c.cc far.cc farther.cc

refuse_without_base() { (unset BASE && refuse "$@" && exit "$failed") || failed=1; }
cd "$folder"
git clone -q --depth 1 "file://$folder/repository" shallow
cd shallow
refuse_without_base "a shallow clone" "set BASE"
BASE=$(git -C ../repository rev-parse base)
refuse "a shallow clone without that commit" "$BASE"
printf '#!/bin/sh\nexit 1\n' >"$folder/bin/git"
chmod +x "$folder/bin/git"
if bash .ci/tidy >"$folder/said" 2>&1; then complain "git fails: exit code 0"; fi

[ $failed -eq 0 ]
