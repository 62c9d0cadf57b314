#!/usr/bin/env bash
# Measures the daemon and what Kubernetes has built in, and compares the daemon with its targets:
#   bash tests/bench/run.sh                         everything; about an hour on 2 cores
#   bash tests/bench/run.sh controller [SIZE…]      counting, on a real kube-apiserver; sizes of the
#                                                   namespace in pods, rising; default 0 1000 30000
#                                                   100000: 15 minutes and 20 GB of memory, without
#                                                   the last one 6 minutes and 8 GB
#   bash tests/bench/run.sh scale [QUESTION…]       memory, new-quota, burst, recounts,
#                                                   defined; 11 minutes
#   bash tests/bench/run.sh churn                   500 changes a second of one quota, on the
#                                                   sandbox; 2 minutes
#   bash tests/bench/run.sh load                    the same over 5 000 quotas; 4 minutes
#   bash tests/bench/run.sh admission [QUESTION…]   on real kube-apiservers: rate, quiet, limit,
#                                                   two, replicas, namespaces, leak, killed,
#                                                   memory; rate and memory 9 minutes, all 24
#   bash tests/bench/run.sh cluster [QUESTION…]     ClusterQuotas: cluster, both, defined, tree,
#                                                   reach on real kube-apiservers, groups; 20
#                                                   minutes
#   bash tests/bench/run.sh kubectl-quota           how long its users wait, on a real
#                                                   kube-apiserver; 1 minute
#
# Tables go to stdout and to tests/bench/results, one file for each part or question, plots to the
# same folder, and all of it into tests/bench/README.md. Flags before questions are for their
# program (--rounds 5). With QCM_OLDER_DAEMON=PROGRAM (tests/e2e/older_daemon.sh prints one), rate
# compares the daemon with that one and the built-in plugin, and replicas two with two of those. A
# number that misses its target is marked "missed". Run it on a machine that does nothing else.
set -euo pipefail
cd "$(dirname "$0")/../.."

what=${1:-all}
shift || true
parts=(controller scale churn load admission cluster kubectl-quota)
[ "$what" = all ] || parts=("$what")
case $what in
  all | controller | scale | churn | load | admission | cluster | kubectl-quota) ;;
  *) sed -nE '3,/^#$/s/^# ? ?//p' "$0" >&2; exit 2 ;;
esac

bin=${QCM_BUILD_DIR:-build}/bin
results=tests/bench/results
mkdir -p "$results"
bash .ci/install-packages.sh >&2
bash cmd/build.sh release controller_bench scale_bench load_bench admission_bench allow_everything \
  kubectl_quota_bench kubectl-quota quota-controller-manager sandbox-apiserver >&2
case " ${parts[*]} " in
  *" controller "* | *" admission "* | *" cluster "* | *" kubectl-quota "*)
    KUBEBUILDER_ASSETS=$(bash tests/k8s/build.sh)
    export KUBEBUILDER_ASSETS
    ;;
esac

machine() {
  printf '%s cores of %s, %s GB, Linux %s; %s\n' "$(nproc)" \
    "$(sed -nE 's/^model name\s*: (.*)$/\1/p' /proc/cpuinfo | head -n 1)" \
    "$(awk '/^MemTotal/ { printf "%.0f", $2 / 1e6 }' /proc/meminfo)" "$(uname -r)" "$(date -u +%F)"
}

# part NAME TIER COMMAND…: what it prints, under a heading and the machine it was measured on.
part() {
  local name=$1 tier=$2 started=$SECONDS code=0
  shift 2
  mkdir -p "$results/$(dirname "$name")"
  { printf '# %s\n\n%s\n\n' "$name" "$(machine)"; QCM_E2E_SERVER=$tier "$@"; } \
    | tee "$results/$name.md.new" || code=$?
  # What failed half-way leaves the tables that were there.
  if [ $code -eq 0 ]; then
    mv "$results/$name.md.new" "$results/$name.md"
  else
    rm "$results/$name.md.new"
  fi
  echo "$name: $(((SECONDS - started) / 60)) min $(((SECONDS - started) % 60)) s" >&2
  return $code
}

# ask PART TIER PROGRAM QUESTION…: asks each question, with the flags.
ask() {
  local name=$1 tier=$2 program=$3 question
  shift 3
  for question in "$@"; do
    part "$name/$question" "$tier" "$bin/$program" "${flags[@]}" "$question" || failed=1
  done
}

given=()
while [[ ${1:-} == --* ]]; do
  given+=("$1" "$2")
  shift 2
done
failed=0
for name in "${parts[@]}"; do
  questions=("$@")
  flags=("${given[@]}")
  case $name in
    controller)
      [ ${#questions[@]} -gt 0 ] || questions=(0 1000 30000 100000)
      part controller real "$bin/controller_bench" --out "$results" "${questions[@]}" || failed=1
      ;;
    scale)
      [ ${#questions[@]} -gt 0 ] || questions=(memory new-quota burst recounts defined)
      flags+=(--out "$results")
      ask scale sandbox scale_bench "${questions[@]}"
      ;;
    churn) part churn sandbox "$bin/scale_bench" churn || failed=1 ;;
    load) part load sandbox "$bin/load_bench" || failed=1 ;;
    admission)
      [ ${#questions[@]} -gt 0 ] ||
        questions=(rate quiet limit two replicas namespaces leak killed memory)
      ask admission real admission_bench "${questions[@]}"
      ;;
    cluster)
      [ ${#questions[@]} -gt 0 ] || questions=(cluster both defined tree reach groups)
      for question in "${questions[@]}"; do
        case $question in
          groups) ask cluster sandbox scale_bench groups ;;
          *) ask cluster real admission_bench "$question" ;;
        esac
      done
      ;;
    kubectl-quota) part kubectl-quota real "$bin/kubectl_quota_bench" || failed=1 ;;
  esac
done
bash tests/bench/readme.sh
exit $failed
