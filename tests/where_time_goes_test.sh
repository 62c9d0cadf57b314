#!/usr/bin/env bash
# where_time_goes.sh on small made-up logs and traces: its sums, its order, its messages if
# something is missing. Exit code 77: there is no jq.
set -euo pipefail
cd "$(dirname "$0")/.."
command -v jq >/dev/null || bash .ci/install-packages.sh jq >&2 || exit 77
folder=$(realpath "$(mktemp -d)")
trap 'rm -rf "$folder"' EXIT
export QCM_BUILD_DIR=$folder/build
mkdir -p "$QCM_BUILD_DIR/test-logs/release" "$folder/bin"

failed=0
# expect CODE NAME ARGUMENT…: runs the tool; standard input is its expected output.
expect() {
  local code=0 expected=$1 name=$2
  shift 2
  bash tests/where_time_goes.sh "$@" >"$folder/out" 2>&1 || code=$?
  sed -i "s|$folder/||g; s|$PWD/||g" "$folder/out"
  if ! diff -u --label expected --label printed - "$folder/out" || [ $code -ne "$expected" ]; then
    echo "where_time_goes_test: $name: exit code $code, expected was $expected" >&2
    failed=1
  fi
}
# tabbed: rows with tabs, from rows with spaces.
tabbed() { tr -s ' ' '\t'; }

usage='usage: bash tests/where_time_goes.sh [--headers [TARGET…] | --unit FILE.cc]'
expect 2 "an unknown word" --fast <<<"$usage"
expect 2 "no file" --unit <<<"$usage"
expect 2 "an option as target" --headers --fast <<<"$usage"
expect 2 "an option as file" --unit --fast <<<"$usage"

expect 1 "no logs" <<'END'
where_time_goes.sh: build/.ninja_log is missing; this makes it: bash cmd/build.sh
where_time_goes.sh: build/test-logs/parts.tsv is missing; this makes it: bash tests/run.sh
END
expect 1 "no commands" --unit tests/catch_main.cc <<'END'
where_time_goes.sh: build/compile_commands.json is missing; this makes it: bash cmd/build.sh
END

# Two calls of ninja: the second is recognized by a step that ends before the one above it. a.cc was
# compiled in both; one step makes x.h and x.cc; the globs have no time of their own.
mkdir -p "$QCM_BUILD_DIR/asan"
{
  echo '# ninja log v5'
  tabbed <<'END'
0 9000 1000000000009000000000 pkg/a/CMakeFiles/pkg_a.dir/sub/a.cc.o aa
0 10000 1000000000010000000000 CMakeFiles/asio_pch.dir/cmake_pch.hxx.gch bb
10000 12000 1000000000012000000000 cmd/CMakeFiles/cmd.dir/Unity/unity_0_cxx.cxx.o cc
0 0 0 build/CMakeFiles/cmake.verify_globs 11
0 4000 1000000200004000000000 pkg/a/CMakeFiles/pkg_a.dir/sub/a.cc.o aa
1000 4500 1000000200004500000000 pkg/a/x.cc dd
1000 4500 1000000200004500000000 pkg/a/x.h dd
4500 5000 1000000200005000000000 pkg/a/libpkg_a.a ee
5000 6000 1000000200006000000000 bin/program ff
END
} >"$QCM_BUILD_DIR/.ninja_log"
# Here the second call is recognized only by the age of its output.
tabbed >"$QCM_BUILD_DIR/asan/.ninja_log" <<'END'
0 1000 1000000000001000000000 pkg/a/CMakeFiles/pkg_a.dir/a.cc.o aa
0 2000 1000000100002000000000 pkg/a/CMakeFiles/pkg_a.dir/b.cc.o bb
END
tabbed >"$QCM_BUILD_DIR/test-logs/parts.tsv" <<'END'
release/a_test 100 20.0 15.5 2.5 0 12
release/e2e-sandbox 110 70.5 40.0 10.0 1 33
release/quickstart 170 30.0 2.0 1.0 0
END
cat >"$QCM_BUILD_DIR/test-logs/release/e2e-sandbox.log" <<'END'
scenario: a quota: status and used ...
E1122 not a scenario: at all
scenario: a quota: status and used: ok in 3.2 s
scenario: a pod goes: FAILED in 12.9 s
END
echo 'scenario: a pod goes: ok in 13.9 s' >"$QCM_BUILD_DIR/test-logs/release/e2e-real.log"

expect 0 "the last builds and tests" <<'END'
build/.ninja_log: 7 steps, 21.0 s of work if each ran once, as it last did.
The last call of ninja: 5 steps and 9.0 s of work in 6.0 s, 1.50 at a time.

  seconds        %    steps  longest  kind of step
     10.0     47.6        1     10.0  precompiled header
      6.0     28.6        2      4.0  compile
      3.5     16.7        2      3.5  other
      1.0      4.8        1      1.0  link
      0.5      2.4        1      0.5  archive

  seconds        %    steps  longest  folder
     10.0     47.6        1     10.0  .
      8.0     38.1        3      4.0  pkg/a
      2.0      9.5        1      2.0  cmd
      1.0      4.8        1      1.0  bin
      0.0      0.0        1      0.0  build

  seconds        %  slowest steps
     10.0     47.6  cmake_pch.hxx.gch
      4.0     19.0  pkg/a/sub/a.cc
      3.5     16.7  pkg/a/x.cc
      2.0      9.5  cmd/cmd.dir/Unity/unity_0_cxx.cxx
      1.0      4.8  bin/program
      0.5      2.4  pkg/a/libpkg_a.a
      0.0      0.0  build/CMakeFiles/cmake.verify_globs

build/asan/.ninja_log: 2 steps, 3.0 s of work if each ran once, as it last did.
The last call of ninja: 1 steps and 2.0 s of work in 2.0 s, 1.00 at a time.

  seconds        %    steps  longest  kind of step
      3.0    100.0        2      2.0  compile

  seconds        %    steps  longest  folder
      3.0    100.0        2      2.0  pkg/a

  seconds        %  slowest steps
      2.0     66.7  pkg/a/b.cc
      1.0     33.3  pkg/a/a.cc

build/test-logs/parts.tsv: 3 parts in 100.0 s; 120.5 s one after the other, 1.21 at a time;
71.0 s of processor, 0.71 processors busy.

  seconds        %     user   system    cases  slowest parts
     70.5     58.5     40.0     10.0       33  release/e2e-sandbox (exit code 1)
     30.0     24.9      2.0      1.0        -  release/quickstart
     20.0     16.6     15.5      2.5       12  release/a_test

  seconds        %scenarios  longest  scenarios of
     16.1     53.7        2     12.9  release/e2e-sandbox
     13.9     46.3        1     13.9  release/e2e-real

  seconds        %  slowest scenarios
     13.9     46.3  release/e2e-real: a pod goes
     12.9     43.0  release/e2e-sandbox: a pod goes (FAILED)
      3.2     10.7  release/e2e-sandbox: a quota: status and used

END

# Stand-ins for the build: ninja writes the traces, and names two files of the target.
cat >"$folder/bin/cmake" <<'END'
#!/bin/sh
echo "cmake $*" >>"$(dirname "$0")/called"
END
cat >"$folder/bin/ninja" <<'END'
#!/bin/sh
echo "ninja $*" >>"$(dirname "$0")/called"
[ "$3" = -t ] || exec cp -r "$(dirname "$0")/../traces/." "$2"
printf '%s.o\n' pkg/CMakeFiles/pkg.dir/a/b.cc pkg/CMakeFiles/pkg.dir/c.cc
END
printf '#!/bin/sh\n' >"$folder/bin/clang++-16"
chmod +x "$folder/bin"/*
export PATH=$folder/bin:$PATH

# event START MICROSECONDS NAME [DETAIL]: the next event of a trace.
event() {
  local separator=','
  [ -s "$trace" ] || separator='{"traceEvents":['
  printf '%s{"pid":1,"tid":1,"ph":"X","ts":%d,"dur":%d,"name":"%s","args":{"detail":"%s"}}\n' \
    "$separator" "$1" "$2" "$3" "${4:-}" >>"$trace"
}
totals() {
  event 0 "$1" "Total ExecuteCompiler"
  event 0 "$2" "Total Frontend"
  event 0 "$3" "Total Backend"
  event 0 "$4" "Total Source"
  event 0 "$5" "Total InstantiateClass"
  event 0 "$6" "Total InstantiateFunction"
  echo '],"beginningOfTime":1}' >>"$trace"
}
include=/usr/bin/../lib/gcc/x86_64-linux-gnu/12/../../../../include
mkdir -p "$folder/traces/pkg/CMakeFiles/pkg.dir/a"
# Inner events come first, as clang writes them.
trace=$folder/traces/pkg/CMakeFiles/pkg.dir/a/b.cc.json
event 1000000 2000000 Source $include/c++/12/string
event 3200000 500000 Source /usr/include/x86_64-linux-gnu/sys/time.h
event 1000000 3000000 Source "$PWD/pkg/base/error.h"
event 4500000 100000 InstantiateClass 'std::vector<std::map<int, A>>'
event 4400000 400000 InstantiateFunction 'std::vector<int>::operator-><int>'
event 4300000 1000000 InstantiateClass 'std::vector<int>'
event 6000000 300000 OptFunction _ZN3FooIiE3BarEv
event 6300000 200000 OptFunction _ZN3FooIlE3BarEv
totals 8000000 5500000 2400000 3000000 1000000 400000
trace=$folder/traces/pkg/CMakeFiles/pkg.dir/c.cc.json
event 1000000 1500000 Source $include/c++/12/string
totals 2000000 1800000 200000 1500000 0 0
# Not part of the target.
echo 'no trace' >"$folder/traces/pkg/CMakeFiles/pkg.dir/d.cc.json"

expect 0 "headers" --headers some-program <<'END'
some-program: 2 files, 10.0 s in clang,
7.3 s (73 %) in its frontend and 2.6 s (26 %) in its backend;
4.5 s (45 %) reading headers, 1.4 s (14 %) instantiating templates.
own: without what it includes or instantiates in turn. In (): the header of the
project that brings it longest, and for how long.

  seconds        %      own    files  slowest headers
      3.5     35.0      3.5        2  <string>  (2.0 pkg/base/error.h)
      3.0     30.0      0.5        1  pkg/base/error.h  (3.0 files alone)
      0.5      5.0      0.5        1  <sys/time.h>  (0.5 pkg/base/error.h)

      own        %  seconds    files  slowest headers by themselves
      3.5     35.0      3.5        2  <string>  (2.0 pkg/base/error.h)
      0.5      5.0      0.5        1  <sys/time.h>  (0.5 pkg/base/error.h)
      0.5      5.0      3.0        1  pkg/base/error.h  (3.0 files alone)

  seconds        %      own    files  slowest headers of the project
      3.0     30.0      0.5        1  pkg/base/error.h  (3.0 files alone)

  seconds        %      own    times    files  slowest templates
      1.0     10.0      0.7        2        1  std::vector
      0.4      4.0      0.3        1        1  std::vector::operator->

  seconds        %      own    times    files  slowest functions to optimise
      0.5      5.0      0.5        2        1  Foo::Bar

  seconds        % frontend  backend  headers  slowest files
      8.0     80.0      5.5      2.4      3.0  pkg/a/b.cc
      2.0     20.0      1.8      0.2      1.5  pkg/c.cc

END
expected="cmake -G Ninja -S . -B $QCM_BUILD_DIR/times -C .cmake/presets/release.cmake \
-D CMAKE_CXX_COMPILER=clang++-16 -D CMAKE_CXX_FLAGS=-ftime-trace -w \
-D QCM_UNITY=0 -D QCM_PRECOMPILE=OFF -D QCM_CCACHE=OFF
ninja -C $QCM_BUILD_DIR/times some-program
ninja -C $QCM_BUILD_DIR/times -t inputs some-program"
diff -u <(echo "$expected") "$folder/bin/called" || failed=1

# A compiler that reports its arguments as the last phase, and one that fails.
cat >"$folder/bin/compiler" <<'END'
#!/bin/sh
cat >&2 <<REPORT
Time variable                                   usr           sys          wall           GGC
 phase parsing                      :   2.00 ( 22%)   0.86 ( 44%)   1.96 ( 30%)   148M ( 44%)
 phase opt and generate             :  10.00 ( 54%)   0.74 ( 38%)   3.20 ( 49%)   111M ( 33%)
 |name lookup                       :   0.29 (  7%)   0.29 ( 15%)   0.51 (  8%)  6935k (  2%)
 callgraph ipa passes               :  10.82 ( 18%)   0.41 ( 21%)   1.25 ( 19%)    36M ( 11%)
 template instantiation             :   9.29 ( 29%)   0.75 ( 38%)   2.04 ( 31%)   170M ( 50%)
 TOTAL                              :  $*
REPORT
END
printf '#!/bin/sh\necho "cannot compile" >&2\nexit 1\n' >"$folder/bin/broken"
chmod +x "$folder/bin/compiler" "$folder/bin/broken"
unity=$QCM_BUILD_DIR/tests/CMakeFiles/t.dir/Unity/unity_0_cxx.cxx
mkdir -p "$(dirname "$unity")" "$folder/src"
touch "$folder/src"/{alone,together,failing,other}.cc
echo "#include \"$folder/src/together.cc\"" >"$unity"
cat >"$QCM_BUILD_DIR/compile_commands.json" <<END
[
{"directory": "$folder", "command": "compiler -O2 -o alone.o -c src/alone.cc",
 "file": "$folder/src/alone.cc"},
{"directory": "$folder", "command": "compiler -O2 -o unity.o -c $unity", "file": "$unity"},
{"directory": "$folder", "command": "broken -o x.o", "file": "$folder/src/failing.cc"}
]
END
phases() {
  cat <<'END'
Time variable                                   usr           sys          wall           GGC
 phase parsing                      :   2.00 ( 22%)   0.86 ( 44%)   1.96 ( 30%)   148M ( 44%)
 phase opt and generate             :  10.00 ( 54%)   0.74 ( 38%)   3.20 ( 49%)   111M ( 33%)
what takes longest in these phases; one may enclose another:
 callgraph ipa passes               :  10.82 ( 18%)   0.41 ( 21%)   1.25 ( 19%)    36M ( 11%)
 template instantiation             :   9.29 ( 29%)   0.75 ( 38%)   2.04 ( 31%)   170M ( 50%)
 |name lookup                       :   0.29 (  7%)   0.29 ( 15%)   0.51 (  8%)  6935k (  2%)
END
  echo " TOTAL                              :  $1"
}
expect 0 "a file compiled alone" --unit "$folder/src/alone.cc" \
  < <(phases "-O2 -c src/alone.cc -o /dev/null -ftime-report")
expect 0 "a file compiled with others" --unit "$folder/src/together.cc" \
  < <(phases "-O2 -c src/together.cc -o /dev/null -ftime-report")
expect 1 "a file that does not compile" --unit "$folder/src/failing.cc" <<<"cannot compile"
expect 1 "a file of no target" --unit "$folder/src/other.cc" <<'END'
where_time_goes.sh: src/other.cc is compiled by no command in build/compile_commands.json
END

[ $failed -eq 0 ]
