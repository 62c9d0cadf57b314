#!/usr/bin/env bash
# From a fresh Debian 12 machine to a counted quota: bash cmd/quickstart.sh
#
#   karmada          instead: one KarmadaQuota over three member clusters, counted and enforced
#   ironcore         instead: two ResourceQuotas of an ironcore cloud, counted and enforced
#   cluster          instead: ClusterQuotas of two teams under one company, counted and enforced
#   usage            instead: a kind of another project, limited by what a UsageDefinition says
#   --keep           keep the API server, the daemon and the namespace, and say how to go on
#   --kubeconfig F   run the story in a temporary namespace of your own cluster; meanwhile the
#                    daemon runs against it and counts every quota that it finds
#
# Ctrl-C and errors leave no process behind.
set -euo pipefail

keep=false
kubeconfig=
tale=core
usage() {
  echo "usage: bash cmd/quickstart.sh [karmada|ironcore|cluster|usage] [--keep]" \
    "[--kubeconfig FILE]" >&2
  exit 2
}
while [ $# -gt 0 ]; do
  case $1 in
    karmada | ironcore | cluster | usage) tale=$1 ;;
    --keep) keep=true ;;
    --kubeconfig=*) kubeconfig=${1#*=} ;;
    --kubeconfig) [ $# -ge 2 ] || usage; kubeconfig=$2; shift ;;
    *) usage ;;
  esac
  shift
done
# The quota API that the story is about.
quota_api=$tale
[ "$tale" != usage ] || quota_api=cluster
fail() { echo "quickstart: $*" >&2; exit 1; }
if [ -n "$kubeconfig" ]; then
  [ "$tale" = core ] || fail "$tale goes without --kubeconfig: it brings definitions of its own, \
which your server may have already"
  [ -r "$kubeconfig" ] || fail "cannot read the kubeconfig $kubeconfig"
  kubeconfig=$(realpath "$kubeconfig")
fi
cd "$(dirname "$0")/.."

home=$(mktemp -d "${TMPDIR:-/tmp}/quota-quickstart.XXXXXX")
processes=()
story=
# stop PID…: sends SIGTERM to each. Before a child has executed its program, it would inherit this
# script's trap, and the signal would be lost.
stop() {
  local pid
  for pid in "$@"; do
    while [ "/proc/$pid/exe" -ef "/proc/$$/exe" ]; do sleep 0.01; done
    kill "$pid" 2>/dev/null || true
  done
}
finish() {
  local code=$?
  trap - EXIT INT TERM
  # End the story first: it deletes its namespace, for which it needs the API server.
  if [ -n "$story" ]; then
    stop "$story"
    wait "$story" 2>/dev/null || true
  fi
  if [ $code -ne 0 ] && [ -s "$home/daemon.log" ]; then
    echo "the daemon's last lines:" >&2
    tail -n 5 "$home/daemon.log" >&2
  fi
  if [ $code -ne 0 ] || ! $keep; then
    # A program started a moment ago may not be in `processes` yet, but it is one of the jobs.
    # shellcheck disable=SC2046 # numbers
    stop $(jobs -p)
    # After webhook calls an API server takes ten seconds to end; this one has nothing to save.
    if [ "$tale" != core ] && [ ${#processes[@]} -gt 0 ]; then
      kill -KILL "${processes[0]}" 2>/dev/null || true
    fi
    wait 2>/dev/null || true
    rm -rf "$home"
  fi
  exit $code
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# start LOG PROGRAM…: starts it in the background. Without --keep the kernel ends it when this
# script ends, for whatever reason; with --keep it outlives the terminal.
start() {
  local log=$1
  shift
  if $keep; then
    setsid "$@" >"$log" 2>&1 </dev/null &
  else
    setpriv --pdeathsig TERM "$@" >"$log" 2>&1 </dev/null &
  fi
  processes+=($!)
}

# Prints an unused port of 127.0.0.1, below the range that the kernel gives to clients.
free_port() {
  local port
  for _ in {1..100}; do
    port=$((20000 + (RANDOM << 15 | RANDOM) % 12000))
    (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || { echo $port; return; }
  done
  fail "no port is free"
}

# Text to read during the first build: what will be counted, and where to go from here.
meanwhile() {
  case $tale in
    core)
      cat <<'END'

  Meanwhile: this is what you are about to see counted.

    apiVersion: v1
    kind: ResourceQuota
    metadata: {name: compute}
    spec:
      hard: {pods: "10", requests.cpu: "2", requests.memory: 4Gi}

  Three pods are created, and status.used follows. Then one is deleted; the time until
  `used` falls is shown. kube-controller-manager needs up to some seconds for that.
END
      ;;
    karmada)
      cat <<'END'

  Meanwhile: this is what you are about to see. A KarmadaQuota limits CPU and memory over three
  member clusters. Two bindings fit, a third one is refused at admission, and usage falls when
  one is deleted.
END
      ;;
    ironcore)
      cat <<'END'

  Meanwhile: this is what you are about to see. One ResourceQuota of an ironcore cloud limits
  the CPU, memory and storage of machines and volumes, another the machines of one class. What
  would exceed them is refused. Usage falls when a machine terminates and when a class changes.
END
      ;;
    cluster)
      cat <<'END'

  Meanwhile: this is what you are about to see. A company has a limit over the namespaces of two
  teams. One borrows what the other leaves, but not what is guaranteed to the other. Another
  limit is tried: it warns, and refuses nothing.
END
      ;;
    usage)
      cat <<'END'

  Meanwhile: this is what you are about to see. A UsageDefinition says what a Bucket uses, a kind
  that the daemon has no code for. A ClusterQuota limits that over the namespaces of a team. One
  bucket too many is refused, and one that would grow too large. Usage falls when one is deleted.
END
      ;;
  esac
  cat <<END

  In a cluster:    kubectl apply -k manifests/base     (manifests/README.md)
  What is counted: pkg/quota/$quota_api/README.md

END
}

echo "[1/4] packages"
bash .ci/install-packages.sh

echo "[2/4] building (the first time takes two minutes with two cores)"
[ -x build/bin/quickstart-story ] || meanwhile
targets=(quota-controller-manager quickstart-story)
[ -n "$kubeconfig" ] || targets+=(sandbox-apiserver)
NINJA_STATUS="[%f/%t] %e s " bash cmd/build.sh release "${targets[@]}"

if [ -z "$kubeconfig" ]; then
  echo "[3/4] starting an API server in memory and the daemon"
  kubeconfig=$home/kubeconfig
  start "$home/apiserver.log" build/bin/sandbox-apiserver \
    --bind-address=127.0.0.1:0 "--kubeconfig-out=$kubeconfig"
  for _ in {1..100}; do
    [ -s "$kubeconfig" ] && break
    kill -0 "${processes[0]}" 2>/dev/null || break
    sleep 0.1
  done
  [ -s "$kubeconfig" ] || {
    cat "$home/apiserver.log" >&2
    fail "the sandbox API server did not start"
  }
  where="the API server in memory"
else
  echo "[3/4] starting the daemon against your cluster"
  where="your cluster"
fi
flags=()
if [ "$tale" != core ]; then
  # Karmada ships its own definition of a binding; this one has only the fields that are counted.
  definitions=(manifests/karmada/karmadaquota-crd.yaml tests/e2e/karmada/resourcebindings-crd.yaml)
  # These are not all of ironcore, either, whose own API server serves its kinds.
  [ "$tale" != ironcore ] || definitions=(tests/e2e/ironcore/*-crd.yaml)
  [ "$tale" != cluster ] || definitions=(
    manifests/crds/appliedclusterquota-crd.yaml manifests/crds/clusterquota-crd.yaml
    manifests/crds/usagedefinition-crd.yaml)
  # The last one is the kind of the other project.
  [ "$tale" != usage ] || definitions=(manifests/crds/*-crd.yaml tests/e2e/usage/bucket-crd.yaml)
  for definition in "${definitions[@]}"; do
    build/bin/quickstart-story "--kubeconfig=$kubeconfig" "--define=$definition" ||
      fail "cannot apply $definition"
    echo "applied $definition"
  done
  address=127.0.0.1:$(free_port)
  flags=("--quota-apis=$quota_api" "--enforce=$quota_api"
    "--admission-bind-address=$address" "--admission-url=https://$address")
fi
# Without a lease the daemon leaves nothing in your cluster, and waits for nobody.
start "$home/daemon.log" build/bin/quota-controller-manager "--kubeconfig=$kubeconfig" \
  --leader-elect=false --metrics-bind-address= --health-probe-bind-address= "${flags[@]}"
daemon=${processes[-1]}

case $tale in
  core) what="a quota" ;;
  karmada) what="a KarmadaQuota" ;;
  ironcore) what="two quotas of ironcore" ;;
  cluster) what="three ClusterQuotas" ;;
  usage) what="a limit for a kind of another project" ;;
esac
echo "[4/4] $what in $where"
echo
namespace=quota-quickstart-$$
arguments=("--kubeconfig=$kubeconfig" "--namespace=$namespace" "--story=$tale")
if $keep; then arguments+=(--keep); fi
# In the background, because a signal interrupts `wait` but not a program in the foreground.
setpriv --pdeathsig TERM build/bin/quickstart-story "${arguments[@]}" </dev/null &
story=$!
wait "$story" || {
  story=
  kill -0 "$daemon" 2>/dev/null || echo "quickstart: the daemon has ended" >&2
  fail "the story did not finish"
}
story=

echo
case $tale in
  core) looks=("describe quota compute" "delete pod web-2 --grace-period=0 --force") ;;
  karmada) looks=("get karmadaquota" "delete resourcebinding shop-deployment") ;;
  ironcore) looks=("get resourcequotas.core.ironcore.dev" "delete machine db-1") ;;
  cluster) looks=("get clusterquotas" "get clusterquota company -o yaml") ;;
  usage) looks=("get usagedefinitions,clusterquotas" "get buckets --all-namespaces") ;;
esac
if $keep; then
  cat <<END
Both go on running. To look around:
  kubectl --kubeconfig $kubeconfig -n $namespace ${looks[0]}
  kubectl --kubeconfig $kubeconfig -n $namespace ${looks[1]}
  tail -f $home/daemon.log
To end it:
  kill ${processes[*]}; rm -r $home
END
elif [ "$tale" = usage ]; then
  cat <<END
All of it is gone again. To go on:
  bash cmd/quickstart.sh usage --keep       leaves it running, for kubectl and curiosity
  manifests/samples/usage/README.md         definitions of seven kinds, pods among them
  manifests/API.md                          everything that a UsageDefinition can say
  pkg/quota/cluster/README.md               how a ClusterQuota limits it
To try a definition on objects in files, without a cluster, in cmd/kubectl-quota:
  kubectl quota usage-definition test -f examples/usage-definition.yaml -f examples/buckets.yaml
END
elif [ "$tale" != core ]; then
  cat <<END
All of it is gone again. To go on:
  bash cmd/quickstart.sh $tale --keep       leaves it running, for kubectl and curiosity
  pkg/quota/$tale/README.md                 how to run it against a server of your own
END
else
  cat <<END
All of it is gone again. To go on:
  bash cmd/quickstart.sh --keep             leaves it running, for kubectl and curiosity
  bash cmd/quickstart.sh --kubeconfig FILE  the same in your own cluster
  bash tests/run.sh                         everything that proves it
END
fi
