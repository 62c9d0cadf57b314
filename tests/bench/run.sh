#!/usr/bin/env bash
# Measures the daemon beside the built-in quota controller on a real kube-apiserver:
#   bash tests/bench/run.sh [SIZE…]       namespace sizes in pods, rising; default 0 1000 30000
# The Markdown table goes to stdout. 30 000 pods need about 8 GB of memory and five minutes.
set -euo pipefail
cd "$(dirname "$0")/../.."
bash .ci/install-packages.sh >&2
assets=$(bash tests/k8s/build.sh)
bash cmd/build.sh release controller_bench quota-controller-manager >&2
QCM_E2E_SERVER=real KUBEBUILDER_ASSETS=$assets exec build/bin/controller_bench "$@"
