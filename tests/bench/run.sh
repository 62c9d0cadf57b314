#!/usr/bin/env bash
# Measures the daemon beside what Kubernetes has built in, on real kube-apiservers:
#   bash tests/bench/run.sh                         everything, about 25 minutes
#   bash tests/bench/run.sh controller [SIZE…]      counting; sizes of the namespace in pods, rising;
#                                                   default 0 1000 30000
#   bash tests/bench/run.sh admission [QUESTION…]   rate, quiet, limit, two, leak, memory; default all
# Markdown tables go to stdout. 30 000 pods need about 8 GB of memory and five minutes.
set -euo pipefail
cd "$(dirname "$0")/../.."

what=${1:-all}
shift || true
case $what in
  all | controller | admission) ;;
  *) echo "usage: bash tests/bench/run.sh [controller [SIZE…] | admission [QUESTION…]]" >&2; exit 2 ;;
esac

bash .ci/install-packages.sh >&2
KUBEBUILDER_ASSETS=$(bash tests/k8s/build.sh)
export KUBEBUILDER_ASSETS QCM_E2E_SERVER=real
bash cmd/build.sh release controller_bench admission_bench allow_everything \
  quota-controller-manager >&2
[ "$what" = admission ] || build/bin/controller_bench "$@"
[ "$what" = controller ] || build/bin/admission_bench "$@"
