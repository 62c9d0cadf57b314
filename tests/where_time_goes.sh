#!/usr/bin/env bash
# Where does the time go, in builds and in tests?
#
#   bash tests/where_time_goes.sh                      what is in build/: steps of the builds, parts
#                                                      and scenarios of the last test run
#   bash tests/where_time_goes.sh --headers [TARGET…]  compiles again, in build/times: headers,
#                                                      templates, functions and files by seconds
#   bash tests/where_time_goes.sh --unit FILE.cc       GCC's phases for one file
#
# --headers builds the quickstart's targets if none is named, with the flags of a release but with
# clang, each file alone and without precompiled headers, because only then the cost of a header is
# visible. Clang measures wall-clock time: let nothing else run meanwhile.
#
# QCM_BUILD_DIR names another folder than build. Exit code 1: something that it reads is missing.
set -euo pipefail
export LC_ALL=C
started_in=$PWD
cd "$(dirname "$0")/.."
build=${QCM_BUILD_DIR:-build}
slowest=15  # lines of a table of slowest things

usage() {
  echo "usage: bash tests/where_time_goes.sh [--headers [TARGET…] | --unit FILE.cc]" >&2
  exit 2
}
# missing FILE COMMAND…: prints what is missing, and the command that makes it.
missing() {
  echo "where_time_goes.sh: $1 is missing; this makes it: ${*:2}" >&2
  return 1
}
# need PROGRAM PACKAGE
need() {
  command -v "$1" >/dev/null || bash .ci/install-packages.sh "$2" >&2
}

# table COUNT TOTAL HEAD…: prints the first COUNT rows by seconds; columns are separated by tabs.
# The first column is seconds, and its share of the total (of all rows if TOTAL is empty) is added
# after it. The last column is a name, which is cut at the end of the line; all others are numbers.
table() {
  local count=$1 total=$2 IFS=$'\t'
  shift 2
  sort -t $'\t' -k 1,1nr | awk -F '\t' -v count="$count" -v total="$total" -v head="$*" '
    function cell(text) { return sprintf("%9s", text) }
    function line(seconds, share,   i, text) {
      text = cell(seconds) cell(share)
      for (i = 2; i < size; ++i) text = text cell(cells[i])
      text = text "  " cells[size]
      if (length(text) > 100) text = substr(text, 1, 97) "..."
      print text
    }
    { rows[NR] = $0; sum += $1 }
    END {
      size = split(head, cells, "\t")
      line(cells[1], "%")
      if (total == "") total = sum
      if (total == 0) total = 1
      for (i = 1; i <= NR && i <= count; ++i) {
        size = split(rows[i], cells, "\t")
        line(sprintf("%.1f", cells[1]), sprintf("%.1f", 100 * cells[1] / total))
      }
      if (NR > count) printf "%9s%9s  (%d more)\n", "...", "", NR - count
    }'
  echo
}

# sums COLUMN: seconds, count and longest, grouped by the value of the column.
sums() {
  awk -F '\t' -v key="$1" '
    {
      sum[$key] += $1
      ++number[$key]
      if ($1 > most[$key]) most[$key] = $1
    }
    END { for (k in sum) printf "%s\t%d\t%.1f\t%s\n", sum[k], number[k], most[k], k }'
}

# latest_steps LOG: for each step of ninja its last run: seconds, number of the ninja call, start
# and end in milliseconds of that call, output. Ninja's clock starts at zero with each call, and
# steps are logged as they end. So a step that ends before the one above it belongs to a new call,
# and so does a step whose output is newer than the clock of the previous call allows.
latest_steps() {
  awk -F '\t' '
    /^#/ || NF < 5 { next }
    {
      began = $3 > 0 ? $3 / 1e6 - $2 : 0  # start of the call, by the time of the output
      if (NR == 1 || $2 < ended || (began > 0 && clock > 0 && began > clock + ended)) {
        ++call
        clock = 0
      }
      if (began > clock) clock = began
      ended = $2
      step = call "\t" $1 "\t" $2
      # A step with several outputs has a line for each, with the same hash.
      if (seen[step "\t" $5]++) next
      latest[$4] = step
    }
    END {
      for (output in latest) {
        split(latest[output], parts, "\t")
        printf "%.1f\t%s\t%s\n", (parts[3] - parts[2]) / 1000, latest[output], output
      }
    }' "$1"
}

# Adds kind and folder of the step, and the name of what it compiles, before the output.
named_steps() {
  awk -F '\t' -v OFS='\t' '
    {
      name = $5
      kind = "other"
      if (name ~ /\.gch$/) kind = "precompiled header"
      else if (name ~ /\.o$/) kind = "compile"
      else if (name ~ /\.a$/) kind = "archive"
      else if (name ~ /(^|\/)bin\//) kind = "link"
      folder = name
      if (!sub(/\/?CMakeFiles\/.*/, "", folder) && !sub(/\/[^\/]*$/, "", folder)) folder = ""
      # Files that are compiled together have the same names in all targets of a folder.
      if (name ~ /\/Unity\//) sub(/CMakeFiles\//, "", name)
      else sub(/CMakeFiles\/[^\/]*\.dir\//, "", name)
      sub(/\.o$/, "", name)
      print $1, $2, $3, $4, kind, folder == "" ? "." : folder, name
    }'
}

# report_build LOG
report_build() {
  local steps
  steps=$(latest_steps "$1" | named_steps)
  awk -F '\t' -v log_name="$1" '
    { all += $1 }
    $2 > call { call = $2; steps = work = wall = 0 }
    $2 == call { ++steps; work += $1; if ($4 > wall) wall = $4 }
    END {
      wall /= 1000
      printf "%s: %d steps, %.1f s of work if each ran once, as it last did.\n", log_name, NR, all
      printf "The last call of ninja: %d steps and %.1f s of work in %.1f s, %.2f at a time.\n\n",
             steps, work, wall, (wall > 0 ? work / wall : 0)
    }' <<<"$steps"
  sums 5 <<<"$steps" | table 99 "" seconds steps longest "kind of step"
  sums 6 <<<"$steps" | table 99 "" seconds steps longest "folder"
  cut -f 1,7 <<<"$steps" | table $slowest "" seconds "slowest steps"
}

# report_parts FILE: for the file that tests/run.sh writes, with a line for each part: name, start
# in seconds since 1970, seconds, CPU seconds in user mode and in the kernel, exit code, cases.
report_parts() {
  awk -F '\t' -v file="$1" '
    NR == 1 || $2 < first { first = $2 }
    NR == 1 || $2 + $3 > last { last = $2 + $3 }
    { wall += $3; cpu += $4 + $5 }
    END {
      run = last - first
      printf "%s: %d parts in %.1f s; %.1f s one after the other, %.2f at a time;\n", file, NR, run,
             wall, (run > 0 ? wall / run : 0)
      printf "%.1f s of processor, %.2f processors busy.\n\n", cpu,
             (run > 0 ? cpu / run : 0)
    }' "$1"
  awk -F '\t' '
    {
      printf "%s\t%.1f\t%.1f\t%s\t%s%s\n", $3, $4, $5, ($7 == "" ? "-" : $7), $1,
             ($6 == 0 ? "" : " (exit code " $6 ")")
    }' "$1" | table $((2 * slowest)) "" seconds user system cases "slowest parts"
}

# scenarios FOLDER: seconds, part and scenario, from the logs of e2e programs.
scenarios() {
  find "$1" -name '*.log' -exec awk -v folder="$1/" '
    /^scenario: .*: [A-Za-z]+ in [0-9.]+ s$/ {
      part = substr(FILENAME, length(folder) + 1)
      sub(/\.log$/, "", part)
      seconds = $(NF - 1)
      name = substr($0, 11)
      result = name
      sub(/: [A-Za-z]+ in [0-9.]+ s$/, "", name)
      result = substr(result, length(name) + 3)
      sub(/ .*/, "", result)
      printf "%s\t%s\t%s: %s%s\n", seconds, part, part, name, result == "ok" ? "" : " (" result ")"
    }' {} +
}
report_scenarios() {
  local rows
  rows=$(scenarios "$1")
  [ -n "$rows" ] || return 0
  sums 2 <<<"$rows" | table 99 "" seconds scenarios longest "scenarios of"
  cut -f 1,3 <<<"$rows" | table $slowest "" seconds "slowest scenarios"
}

report_last() {
  local code=0 log
  if [ -s "$build/.ninja_log" ]; then
    report_build "$build/.ninja_log"
  else
    missing "$build/.ninja_log" bash cmd/build.sh || code=1
  fi
  for log in "$build"/{asan,tsan,debug,fuzz}/.ninja_log; do
    [ ! -s "$log" ] || report_build "$log"
  done
  if [ -s "$build/test-logs/parts.tsv" ]; then
    report_parts "$build/test-logs/parts.tsv"
  else
    missing "$build/test-logs/parts.tsv" bash tests/run.sh || code=1
  fi
  [ ! -d "$build/test-logs" ] || report_scenarios "$build/test-logs"
  return $code
}

# traced FOLDER TARGET…: the traces of the targets' files.
traced() {
  ninja -C "$1" -t inputs "${@:2}" | sed -nE "s|^(.*)\\.o\$|$1/\\1.json|p" | sort -u
}

# events TRACE…: for each file a line F with the seconds in total, in the frontend, in the backend,
# in headers and in templates, and a line for each header (S), template (T) and function (O): start
# and microseconds, name. An enclosing event comes before the events in it.
events() {
  jq -r '
    .traceEvents
    | (map(select(.name | startswith("Total ")) | {key: .name[6:], value: (.dur / 1e6)})
       | from_entries) as $total
    | ["F", (input_filename | sub("\\.json$"; "")),
       ("ExecuteCompiler", "Frontend", "Backend", "Source", "InstantiateClass",
        "InstantiateFunction" | $total[.] // 0)],
      (map({kind: {Source: "S", InstantiateClass: "T", InstantiateFunction: "T",
                   OptFunction: "O"}[.name], ts, dur, detail: .args.detail}
           | select(.kind))
       | sort_by(.ts, -.dur)[] | [.kind, .ts, .dur, .detail])
    | @tsv' "$@"
}

# Sums the events of each kind and name: seconds including nested events, own seconds, count, files
# and, for a header, the project's header through which it costs most. Nested events of one name
# count once. The name of a template or a function has no template arguments.
priced() {
  awk -F '\t' -v root="$PWD/" '
    function header(path) {
      while (sub(/\/[^\/.][^\/]*\/\.\.\//, "/", path)) { }
      if (index(path, root) == 1) return substr(path, length(root) + 1)
      if (sub(/^.*\/include\/([^\/]*-linux-gnu\/)?c\+\+\/[0-9.]+\//, "<", path)) return path ">"
      if (sub(/^.*\/include\/([^\/]*-linux-gnu\/)?/, "<", path)) return path ">"
      return path
    }
    function family(name) {
      gsub(/\(lambda at [^)]*\//, "(lambda at ", name)
      gsub(/->/, "-\001", name)
      while (gsub(/<[^<>]*>/, "", name)) { }
      gsub(/-\001/, "->", name)
      return name
    }
    function finish(kind, until,   top) {
      while ((top = depth[kind]) > 0 && ends[kind, top] <= until) {
        --open[names[kind, top]]
        --depth[kind]
      }
    }
    $1 == "F" {
      for (kind in depth) finish(kind, 1e18)
      ++file
      next
    }
    {
      kind = $1
      finish(kind, $2)
      name = kind "\t" (kind == "S" ? header($4) : family($4))
      top = depth[kind]
      if (top > 0) own[names[kind, top]] -= $3
      own[name] += $3
      ++times[name]
      if (!open[name]++) all[name] += $3
      if (last_file[name] != file) { last_file[name] = file; ++files[name] }
      ends[kind, top + 1] = $2 + $3
      names[kind, top + 1] = name
      depth[kind] = top + 1
      if (kind != "S") next
      by = top > 0 ? ours[top] : "files alone"
      ours[top + 1] = name ~ /^S\t[<\/]/ ? by : substr(name, 3)
      if ((brought[name, by] += $3) > most[name]) {
        most[name] = brought[name, by]
        bringer[name] = by
      }
    }
    END {
      for (name in all) {
        split(name, parts, "\t")
        from = bringer[name] == "" ? "" : sprintf("  (%.1f %s)", most[name] / 1e6, bringer[name])
        printf "%s\t%.3f\t%.1f\t%d\t%d\t%s%s\n", parts[1], all[name] / 1e6, own[name] / 1e6,
               times[name], files[name], parts[2], from
      }
    }'
}

# of KIND: seconds, own seconds, count, files and name of the summed events of that kind.
of() { awk -F '\t' -v kind="$1" '$1 == kind' "$rows.priced" | cut -f 2-; }

report_headers() {
  local times=$build/times targets=("$@") rows files total traces
  [ $# -gt 0 ] || targets=(quota-controller-manager sandbox-apiserver quickstart-story)
  need clang++-16 clang-16
  need jq jq
  mkdir -p "$times"
  # Warnings are left to GCC. Objects from ccache would have no traces.
  cmake -G Ninja -S . -B "$times" -C .cmake/presets/release.cmake \
    -D CMAKE_CXX_COMPILER=clang++-16 -D CMAKE_CXX_FLAGS="-ftime-trace -w" \
    -D QCM_UNITY=0 -D QCM_PRECOMPILE=OFF -D QCM_CCACHE=OFF >"$times/cmake.log" 2>&1 || {
    cat "$times/cmake.log" >&2
    return 1
  }
  ninja -C "$times" "${targets[@]}" >&2
  mapfile -t traces < <(traced "$times" "${targets[@]}")
  rows=$(mktemp)
  # shellcheck disable=SC2064 # the name of now
  trap "rm -f '$rows' '$rows.priced'" EXIT
  events "${traces[@]}" | c++filt -p >"$rows"

  files=$(grep $'^F\t' "$rows")
  total=$(awk -F '\t' '{ s += $3 } END { printf "%.2f", s }' <<<"$files")
  awk -F '\t' -v what="${targets[*]}" '
    { all += $3; front += $4; back += $5; headers += $6; templates += $7 + $8 }
    function share(x) { return sprintf("%.1f s (%.0f %%)", x, all > 0 ? 100 * x / all : 0) }
    END {
      printf "%s: %d files, %.1f s in clang,\n", what, NR, all
      printf "%s in its frontend and %s in its backend;\n", share(front), share(back)
      printf "%s reading headers, %s instantiating templates.\n", share(headers), share(templates)
      print "own: without what it includes or instantiates in turn. In (): the header of the"
      print "project that brings it longest, and for how long.\n"
    }' <<<"$files"
  priced <"$rows" >"$rows.priced"
  local columns=(seconds own times files)
  of S | cut -f 1,2,4,5 | table $((2 * slowest)) "$total" seconds own files "slowest headers"
  of S | awk -F '\t' -v OFS='\t' '{ print sprintf("%.3f", $2), sprintf("%.1f", $1), $4, $5 }' |
    table $slowest "$total" own seconds files "slowest headers by themselves"
  of S | cut -f 1,2,4,5 | grep -v $'\t[</][^\t]*$' |
    table $((2 * slowest)) "$total" seconds own files "slowest headers of the project"
  of T | table $((2 * slowest)) "$total" "${columns[@]}" "slowest templates"
  of O | table $slowest "$total" "${columns[@]}" "slowest functions to optimise"
  awk -F '\t' -v prefix="$times/" '
    {
      name = substr($2, length(prefix) + 1)
      sub(/CMakeFiles\/[^\/]*\.dir\//, "", name)
      printf "%.2f\t%.1f\t%.1f\t%.1f\t%s\n", $3, $4, $5, $6, name
    }' <<<"$files" | table $((2 * slowest)) "" seconds frontend backend headers "slowest files"
}

# command_of FILE: the folder and the command that compile it, separated by a tab. For a file that
# is compiled together with others, their command with only this file.
command_of() {
  local commands=$build/compile_commands.json together
  jq -er --arg file "$1" '
    first(.[] | select(.file == $file)) | [.directory, .command] | @tsv' "$commands" && return
  together=$(grep -rlF --include='unity_*.cxx' "#include \"$1\"" "$build" | head -n 1)
  [ -n "$together" ] || return 1
  jq -er --arg file "$1" --arg together "$(realpath "$together")" '
    first(.[] | select(.file == $together))
    | [.directory, (.command | split($together) | join($file))] | @tsv' "$commands"
}

report_unit() {
  local commands=$build/compile_commands.json file found directory command report
  [ -s "$commands" ] || missing "$commands" bash cmd/build.sh
  need jq jq
  file=$(cd "$started_in" && realpath -m -- "$1")
  found=$(command_of "$file") || {
    echo "where_time_goes.sh: $1 is compiled by no command in $commands" >&2
    return 1
  }
  IFS=$'\t' read -r directory command <<<"$found"
  command=$(sed -E 's/ -o [^ ]+//; s/$/ -o \/dev\/null -ftime-report/' <<<"$command")
  report=$(cd "$directory" && CCACHE_DISABLE=1 bash -c "$command" 2>&1) || {
    echo "$report" >&2
    return 1
  }
  grep -E '^(Time variable| phase )' <<<"$report"
  echo "what takes longest in these phases; one may enclose another:"
  grep -E ' : +[0-9.]+ \( *[0-9]+%\)' <<<"$report" | grep -v '^ phase ' |
    sort -t : -k 2,2nr | awk -v count=$slowest 'NR <= count'
  grep '^ TOTAL' <<<"$report"
}

case ${1:-} in
  '') report_last ;;
  --headers)
    shift
    for target in "$@"; do [[ $target != -* ]] || usage; done
    report_headers "$@"
    ;;
  --unit)
    if [ $# -ne 2 ] || [[ $2 == -* ]]; then usage; fi
    report_unit "$2"
    ;;
  *) usage ;;
esac
