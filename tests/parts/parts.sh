# shellcheck shell=bash
# shellcheck disable=SC2154 # the variables of record.sh
# The parts of a test run. part_NAME runs one and records its counts. Sourced by run.sh.

# A report shows eight frames of an allocation. Storing thirty of them at each allocation takes a
# quarter of the CPU time of long tests.
asan_options=malloc_context_size=8:detect_stack_use_after_return=1:strict_string_checks=1
export ASAN_OPTIONS=${ASAN_OPTIONS:-$asan_options}
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}
export TSAN_OPTIONS=${TSAN_OPTIONS:-halt_on_error=1:second_deadlock_stack=1}

durations=${XDG_CACHE_HOME:-$HOME/.cache}/quota-controller-manager/e2e-times

# The name of a part, what must be built before it, and what it is.
readonly part_table='
release|-|the release build of everything
lint|-|formatting, shell scripts, lines within 100 columns, names of files in comments and documents
units|release|unit tests, and the list of flags in the documents
e2e-sandbox|release|scenarios on the sandbox API server
quickstart|release|the quickstart, stopped at any moment, too
sandbox-kubectl|release|kubectl against the sandbox API server
plugin|release|kubectl quota as cmake and krew install it, found by kubectl
alerts|release|alert rules, by promtool
dashboard|release|every query of the dashboard, asked of a Prometheus that scrapes a live daemon
image|release|the image, by buildah
release-files|release|a release of the programs just built, made twice
release-twice|-|a release that is compiled twice
arm64|release|daemon and plugin for arm64, under qemu-user, and their files of a release
next-debian|release|build, unit tests and image with the packages of the next Debian stable, 13
where-time-goes|-|the tool that shows where the time of a build and a run goes
scripts|-|what a run counts if parts fail, end early or never run; which files clang-tidy reads
kubernetes|-|builds etcd, kube-apiserver, kube-controller-manager and kubectl from Go modules, once
e2e-real|release|scenarios on a real kube-apiserver
oldest|release|scenarios that depend on the server, on Kubernetes 1.29, if it was built, or in CI
middle|release|the same on Kubernetes 1.33
newest|release|the same on Kubernetes 1.37
skew|release|API servers of two versions over one etcd
older|release|a replica of an older version beside one of this
suite|release|the end-to-end tests of ResourceQuota that Kubernetes has, beside the daemon
chart|release|the Helm chart, beside kustomize, on a real kube-apiserver
manifests|-|kubectl kustomize of each folder, helm lint of the chart
asan|-|the build for the address and undefined behaviour sanitizers
asan-units|asan|unit tests under these sanitizers
asan-e2e|release asan|scenarios on the sandbox: daemon and sandbox under these sanitizers
tsan|-|the build of the daemon and of the tests of pkg/http for the thread sanitizer
tsan-units|tsan|unit tests of pkg/http under this sanitizer
tsan-e2e|release tsan|scenarios of outages and strangers: daemon under the thread sanitizer
differential|release|random objects, counted by us and by the code of Kubernetes
instructions|release|instructions that an event, a recount and a review may take, at worst, too
simulation|release|21 000 simulated schedules of three replicas
simulation-of-classes|release|10 000 simulated schedules of ironcore classes
simulation-of-trees|release|5 000 simulated schedules of ClusterQuotas, 3 000 with ResourceQuotas
fuzz|asan|fuzzing of every parser
growth|release|whether each parser takes time in proportion to its input
tidy|-|clang-tidy on what the last day changed
'
row_of() { grep "^$1|" <<<"$part_table"; }
is_part() { row_of "$1" >/dev/null; }
needs_of() { row_of "$1" | cut -d'|' -f2 | sed 's/^-$//'; }
list_parts() { awk -F'|' 'NF { printf "%-22s %s\n", $1, $3 }' <<<"$part_table"; }

# build NAME PRESET TARGET…: ninja's progress goes to the log, and to the terminal if there is one.
build() {
  local name=$1 preset=$2
  shift 2
  if [ -t 3 ]; then
    bash cmd/build.sh "$preset" "$@" | tee /dev/fd/3
  else
    bash cmd/build.sh "$preset" "$@"
  fi
  record "$name" 1 0 0
}

# units NAME FOLDER LIMIT: runs the unit test programs of a build, three at a time, because some
# mostly wait. Their output is printed program by program.
units() {
  local test output
  output=$(mktemp -d "$logs/units.XXXXXX")
  while read -r test; do
    [ -n "$test" ] || continue
    while [ "$(jobs -rp | wc -l)" -ge 3 ]; do wait -n; done
    catch "$1" "$3" "$2/bin/$test" >"$output/$test" 2>&1 &
  done <"$2/unit_tests.txt"
  wait
  cat "$output"/*
  rm -r "$output"
}

# e2e NAME TIER JOBS LIMIT [ENVIRONMENT…]: runs the scenarios of a tier, without those that are only
# for the other one, or those that FILTER selects. The longest start first. Their durations are in
# the user's cache, so that a fresh clone knows them, too.
e2e() {
  local name=$1 tier=$2 jobs=$3 limit=$4 other=real-only arguments=()
  shift 4
  [ "$tier" = sandbox ] || other=sandbox-only
  local filter=${FILTER:-~[$other]~[skew]~[older]~[suite]~[hostile]$(without_later "$(pinned)")}
  mkdir -p "$logs/e2e/$name" "$durations"
  arguments=(--jobs "$jobs" --failed-out "$scenarios/$name" --logs "$logs/e2e/$name"
    --times "$durations/$name.txt")
  if $only_failed && [ -s "$scenarios.last/$name" ]; then
    arguments+=(--names-from "$scenarios.last/$name")
  fi
  catch "$name" "$limit" env QCM_E2E_SERVER="$tier" "$@" build/bin/e2e_test "${arguments[@]}" \
    "$filter"
}

# without_later VERSION: the end of a filter, without scenarios that need a later version (v1.36).
without_later() {
  local tag minor=${1#v1.}
  for tag in $(build/bin/e2e_test --list-tags | grep -oE 'since-1\.[0-9]+' | sort -u); do
    [ "${tag#since-1.}" -le "${minor%%.*}" ] || printf '~[%s]' "$tag"
  done
}
# The version of Kubernetes that tests/k8s/build.sh builds.
pinned() { awk '$1 == "k8s.io/kubernetes" { print $2 }' tests/k8s/go.mod; }

# on_version NAME VERSION: runs scenarios on another version of kube-apiserver (v1.29). Without
# --versions only the short set, and, except in CI, only if that version was built already, because
# building one takes some minutes.
on_version() {
  local name=$1 version=$2
  local filter='~[sandbox-only]~[controller-manager]~[skew]~[older]~[suite]~[hostile]'
  local folder code=0 cached=
  filter+=$(without_later "$version")
  $all_versions || filter+='[server]'
  $all_versions || [ "${CI:-}" = true ] || cached=--cached
  # shellcheck disable=SC2086 # no argument if it is empty
  folder=$(bash tests/k8s/version.sh $cached "$version") || code=$?
  [ $code -eq 0 ] || { absent "$name" $code build/bin/e2e_test "$filter"; return 0; }
  FILTER=$filter e2e "$name" real 4 2700 KUBEBUILDER_ASSETS="$folder" QCM_KUBECTL="$folder/kubectl"
}
part_oldest() { on_version oldest v1.29; }
part_middle() { on_version middle v1.33; }
part_newest() { on_version newest v1.37; }
part_skew() {
  local pinned newest
  assets skew build/bin/e2e_test "[skew]" || return 0
  pinned=$assets
  newest=$(bash tests/k8s/version.sh v1.37) ||
    { absent skew $? build/bin/e2e_test "[skew]"; return 0; }
  FILTER="[skew]" e2e skew real 1 600 KUBEBUILDER_ASSETS="$pinned" QCM_OLDER_ASSETS="$pinned" \
    QCM_NEWER_ASSETS="$newest"
}

part_older() {
  local program code=0
  program=$(bash tests/e2e/older_daemon.sh) || code=$?
  [ $code -eq 0 ] || { absent older $code build/bin/e2e_test "[older]"; return 0; }
  FILTER="[older]" e2e older sandbox 1 600 QCM_OLDER_DAEMON="$program"
}

part_suite() {
  local program code=0
  assets suite build/bin/e2e_test "[suite]" || return 0
  program=$(bash tests/suite/build.sh) || code=$?
  [ $code -eq 0 ] || { absent suite $code build/bin/e2e_test "[suite]"; return 0; }
  FILTER="[suite]" e2e suite real 3 1200 KUBEBUILDER_ASSETS="$assets" QCM_SUITE="$program"
}

part_release() { build release release; }
part_asan() {
  bash .ci/install-packages.sh clang-16 libclang-rt-16-dev llvm-16
  build asan asan sanitized
}
# Besides the daemon's own thread there is only that of Asio's resolver (tests/layers_test.cc). It
# starts with the first look-up of a host name. So in these scenarios the API server has a name, and
# only those run that connect again or cancel what waits; in the others there is nothing to see.
part_tsan() { build tsan tsan quota-controller-manager http_test; }

part_lint() { tally lint 600 bash .ci/lint; }
part_tidy() { LIMIT=24 script tidy 3600 bash .ci/tidy; }
part_scripts() {
  script scripts 300 bash tests/run_test.sh
  script scripts 120 bash tests/tidy_test.sh
}
part_where_time_goes() { script where-time-goes 120 bash tests/where_time_goes_test.sh; }

part_units() {
  units units build 300
  script units 60 bash cmd/quota-controller-manager/readme.sh --check
}
part_asan_units() { units asan-units build/asan 900; }
part_tsan_units() { catch tsan-units 300 build/tsan/bin/http_test; }

part_e2e_sandbox() { e2e e2e-sandbox sandbox 8 1800; }
part_asan_e2e() { e2e asan-e2e sandbox 6 2400 QCM_E2E_PROGRAMS="$PWD/build/asan/bin"; }
part_tsan_e2e() {
  ln -sf "$PWD/build/bin/sandbox-apiserver" build/tsan/bin/
  local tag filter=
  for tag in outage faults leader strangers log access; do
    filter+="[$tag]~[real-only]~[skew]~[older]~[suite],"
  done
  FILTER=${filter%,} e2e tsan-e2e sandbox 6 2400 QCM_E2E_PROGRAMS="$PWD/build/tsan/bin" \
    QCM_E2E_HOST=localhost
}
part_e2e_real() {
  assets e2e-real build/bin/e2e_test "~[sandbox-only]~[skew]~[older]~[suite]" || return 0
  e2e e2e-real real 4 2700 KUBEBUILDER_ASSETS="$assets" \
    QCM_KUBECTL="${QCM_KUBECTL:-$assets/kubectl}"
}
part_chart() {
  local helm
  assets chart build/bin/manifests_test || return 0
  helm=$(bash tests/manifests/helm.sh) || { absent chart $? build/bin/manifests_test; return 0; }
  catch chart 300 env KUBEBUILDER_ASSETS="$assets" QCM_KUBECTL="${QCM_KUBECTL:-$assets/kubectl}" \
    QCM_HELM="$helm" QCM_E2E_SERVER=real build/bin/manifests_test
}

part_kubernetes() { script kubernetes 2400 bash tests/k8s/build.sh; }
part_quickstart() { script quickstart 300 bash tests/cmd/quickstart/quickstart_test.sh; }
part_alerts() {
  tools alerts "prometheus.sh promtool" helm.sh || return 0
  script alerts 180 bash tests/manifests/alerts_test.sh
}
part_dashboard() {
  local prometheus
  prometheus=$(bash tests/manifests/prometheus.sh prometheus) ||
    { absent dashboard $? build/bin/dashboard_test; return 0; }
  catch dashboard 180 env QCM_PROMETHEUS="$prometheus" build/bin/dashboard_test
}
part_manifests() {
  local older
  mapfile -t older < <(bash tests/manifests/kustomize.sh --list)
  assets manifests || return 0
  tools manifests helm.sh "${older[@]/#/kustomize.sh }" || return 0
  tally manifests 600 bash tests/manifests/lint_test.sh
}
part_sandbox_kubectl() {
  assets sandbox-kubectl || return 0
  QCM_KUBECTL=${QCM_KUBECTL:-$assets/kubectl} script sandbox-kubectl 180 \
    bash tests/cmd/sandbox-apiserver/kubectl_test.sh build/bin/sandbox-apiserver
}
part_plugin() {
  assets plugin || return 0
  QCM_KUBECTL=${QCM_KUBECTL:-$assets/kubectl} script plugin 180 \
    bash tests/cmd/kubectl-quota/install_test.sh
}
part_image() {
  [ "${CI:-}" != true ] || bash .ci/install-packages.sh buildah
  script image 300 bash tests/manifests/image_test.sh build/bin
}

part_release_files() {
  bash .ci/install-packages.sh buildah perl
  script release-files 300 bash tests/cmd/release/release_test.sh build
}
part_release_twice() { script release-twice 7200 bash tests/cmd/release/twice_test.sh; }
part_arm64() {
  assets arm64 || return 0
  QCM_KUBECTL=${QCM_KUBECTL:-$assets/kubectl} script arm64 3600 bash tests/manifests/arm64_test.sh
  [ -e build/package-arm64/bin/kubectl-quota ] || return 0
  bash .ci/install-packages.sh buildah perl
  script arm64 300 bash tests/cmd/release/release_test.sh \
    "build/package-arm64:${QCM_SYSROOT:-$PWD/build/sysroot-arm64}"
}
part_next_debian() {
  assets next-debian || return 0
  QCM_KUBECTL=${QCM_KUBECTL:-$assets/kubectl} script next-debian 5400 \
    bash tests/manifests/next_debian_test.sh
}

part_differential() {
  local upstream
  upstream=$(bash tests/differential/build.sh) ||
    { absent differential $? build/bin/differential_test; return 0; }
  catch differential 900 env QCM_UPSTREAM="$upstream" build/bin/differential_test
  # What the evaluators of the next version count; all else is the same code.
  upstream=$(bash tests/differential/build.sh v1.37) ||
    { absent differential $? build/bin/differential_test; return 0; }
  catch differential 900 env QCM_UPSTREAM="$upstream" QCM_COUNT=10000 build/bin/differential_test
}
part_instructions() {
  repeatable instructions 900 build/bin/instructions tests/bench/instruction_bounds.txt \
    tests/bench/instructions.sh -- bash tests/bench/instructions.sh
  repeatable instructions 1800 build/bin/worst_objects tests/bench/worst_objects.sh -- \
    bash tests/bench/worst_objects.sh
}
# The limit is for what hangs: at idle priority the processors go to the builds first.
simulated() { repeatable "$1" 5000 build/bin/simulation -- build/bin/simulation "${@:2}"; }
# with_odd NAME API PLAIN: and 500 odd ones.
with_odd() {
  simulated "$1" --api "$2" --schedules "$3"
  simulated "$1" --api "$2" --schedules 500 --odd 1
}
part_simulation() { with_odd simulation core 20500; }
part_simulation_of_classes() { with_odd simulation-of-classes ironcore 9500; }
part_simulation_of_trees() {
  with_odd simulation-of-trees cluster 4500
  with_odd simulation-of-trees joint 2500
}
# The key is made of the fuzz targets alone: unit tests in that folder contain the path of the work
# tree, so they differ between clones.
part_fuzz() {
  repeatable fuzz 3600 build/asan/bin/*_fuzz tests/fuzz -- env QCM_FUZZ_BUILT=true \
    bash tests/fuzz/run.sh --ci 20
}

part_growth() { tally growth 1800 env QCM_FUZZ_BUILT=true bash tests/fuzz/complexity.sh; }

# assets NAME [PROGRAM FILTER…]: sets `assets` to the folder of etcd, kube-apiserver and kubectl.
# Exit code 1: there is none; then the program's tests are counted.
assets() {
  local name=$1 code=0
  shift
  assets=$(bash tests/k8s/build.sh) || code=$?
  [ $code -ne 0 ] || return 0
  absent "$name" $code "$@"
  return 1
}

# tools NAME SCRIPT…: what scripts of tests/manifests, each with its argument, build or fetch once
# on a machine; before the part, so that this takes nothing of its time limit.
tools() {
  local name=$1 tool
  shift
  for tool in "$@"; do
    # shellcheck disable=SC2086 # a script and its argument
    bash tests/manifests/$tool >/dev/null || { absent "$name" $?; return 1; }
  done
}

# absent NAME CODE [PROGRAM FILTER…]: the requirements of these tests are missing. With CODE 77 they
# are not available, and the tests are skipped; else building them failed.
absent() {
  local name=$1 code=$2 cases=1
  shift 2
  [ $# -eq 0 ] || cases=$("$@" --list-test-names-only 2>/dev/null | grep -c . || true)
  if [ "$code" -eq 77 ]; then
    record "$name" 0 0 "$cases"
  else
    record "$name" 0 "$cases" 0 "$name: what it needs could not be made"
  fi
}
