#!/usr/bin/env bash
# Installs, builds and runs all tests:
#   bash tests/run.sh [--quick | --failed | --versions | --packages | --only PART… | --list]
#
#   (nothing)   every part, as CI runs them
#   --quick     the release build: lint, unit tests, scenarios on the sandbox, quickstart
#   --failed    the parts that failed last time, and only the scenarios that failed
#   --versions  all scenarios on the oldest Kubernetes, one in the middle and the newest, which are
#               built first, and on servers and daemons of two versions at once
#   --packages  a release that is compiled twice, its programs for arm64, and the build, unit tests
#               and image with the packages of the next Debian stable
#   --only      the named parts in turn, after building what they need
#   --list      the names of the parts, and what each one is
#
# The parts that fail most often run first, and a failure of theirs ends the run: the release
# build, lint, unit tests. The rest runs in parallel: scenarios mostly wait, so parts that compute
# run beside them at idle priority.
#
# The last line is "N passed, N failed, N skipped"; the exit code is 0 only if nothing failed. A
# part that did not run to its end has failed. A part whose tools are not available here is skipped
# and counted so; with CI=true that is a failure. Logs, times and results: build/test-logs.
# tests/where_time_goes.sh shows where the time went.
set -euo pipefail
cd "$(dirname "$0")/.."

# shellcheck source=tests/parts/record.sh
. tests/parts/record.sh
# shellcheck source=tests/parts/parts.sh
. tests/parts/parts.sh

usage() {
  sed -nE '2,13s/^# ?//p' tests/run.sh >&2
  exit 2
}

# The parts of a full run in chains. The parts of a chain run in turn, each once its requirements
# are there; the chains run in parallel. Three chains wait for servers and sockets, with deadlines.
# tsan-e2e follows e2e-real: both have many scenarios with deadlines, and beside each other they
# miss some on two processors. The parts that compute run in two more chains, which share one list,
# so that both end at about the same time. The builds are early there, because others need them;
# what uses one processor is at the end, where both chains are needed to use two. differential is
# last, because kubernetes has compiled most of what it builds.
readonly first=(release lint units)
readonly sandbox_chain=(e2e-sandbox quickstart alerts dashboard image release-files
  where-time-goes scripts)
readonly sanitized_chain=(tsan-units asan-units asan-e2e)
readonly real_chain=(kubernetes e2e-real tsan-e2e sandbox-kubectl plugin chart manifests
  suite oldest newest)
readonly computed=(tsan simulation asan simulation-of-classes tidy simulation-of-trees fuzz growth
  instructions differential)
# The parts of a quick run; once the first have ended, the rest run in parallel.
readonly quick_first=(release lint)
readonly quick=(units e2e-sandbox quickstart)
readonly versions=(oldest middle newest skew older)
readonly packages=(release-files arm64 release-twice next-debian)

# chain PRIORITY PART…: runs the parts in the background, in a process group of their own, without
# those that another chain has taken.
chains=()
chain() {
  local priority=$1
  shift
  plan "$@"
  set -m
  run_chain "$priority" "$@" &
  set +m
  chains+=($!)
}
run_chain() {
  local priority=$1 part
  shift
  trap - EXIT
  [ "$priority" = normal ] || yield_processor
  for part in "$@"; do
    # If it cannot be marked, it runs twice rather than never.
    mkdir "$taken/$part" 2>/dev/null || [ ! -d "$taken/$part" ] || continue
    wait_for_needs "$part"
    run_part "$part"
  done
}

# wait_for_needs PART: waits until the parts that it needs have ended, in any chain.
wait_for_needs() {
  local need
  for need in $(needs_of "$1"); do
    until has_result "$need"; do sleep 1; done
  done
}

# If the kernel shares the processors by session, this session gets the smallest share.
yield_processor() {
  if command -v chrt >/dev/null; then chrt --idle -p 0 "$BASHPID"; else renice -n 19 "$BASHPID"; fi
} >/dev/null

# wait_for_chains: returns when all have ended. One that is killed, or ends by an error of these
# scripts, ends the others, too: they could wait for its parts forever.
wait_for_chains() {
  local running=" ${chains[*]} " ended
  while [ "$running" != " " ]; do
    # shellcheck disable=SC2086 # the numbers of processes
    wait -n -p ended $running || { note "FAILED  a chain of parts ended early"; break; }
    running=${running/ $ended / }
  done
  end_chains
  chains=()
}

end_chains() {
  local group
  for group in "${chains[@]}"; do kill -- -"$group" 2>/dev/null || true; done
}
trap end_chains EXIT

# in_turn PART…: runs the parts in the foreground; the first failure ends the run.
in_turn() {
  local part
  for part in "$@"; do
    run_part "$part"
    ! part_failed "$part" || finish
  done
}

run_all() {
  in_turn "${first[@]}"
  chain normal "${real_chain[@]}"
  chain normal "${sandbox_chain[@]}"
  chain normal "${sanitized_chain[@]}"
  chain idle "${computed[@]}"
  chain idle "${computed[@]}"
  wait_for_chains
}

run_quick() {
  local part
  in_turn "${quick_first[@]}"
  for part in "${quick[@]}"; do chain normal "$part"; done
  wait_for_chains
}

run_failed() {
  local part parts
  mapfile -t parts < <(failed_parts)
  [ ${#parts[@]} -gt 0 ] || { echo "nothing failed last time"; exit 0; }
  only_failed=true
  all_versions=true
  keep_failed_scenarios
  forget_results
  run_named "${parts[@]}"
}

# The named parts, and the parts that they need.
run_named() {
  local part need
  for part in "$@"; do
    is_part "$part" || { echo "run.sh: there is no part '$part' (--list)" >&2; exit 2; }
  done
  plan "$@"
  for part in "$@"; do
    for need in $(needs_of "$part") "$part"; do has_result "$need" || run_part "$need"; done
  done
}

mode=all
case ${1:-} in
  '') ;;
  --quick | --failed | --versions | --packages | --list) mode=${1#--}; [ $# -eq 1 ] || usage ;;
  --only) mode=only; shift; [ $# -gt 0 ] || usage ;;
  *) usage ;;
esac
[ "$mode" != list ] || { list_parts; exit; }

bash .ci/install-packages.sh
[ "$mode" = failed ] || forget_results
case $mode in
  all) run_all ;;
  quick) run_quick ;;
  failed) run_failed ;;
  versions) all_versions=true; run_named "${versions[@]}" ;;
  packages) run_named "${packages[@]}" ;;
  only) run_named "$@" ;;
esac
finish
