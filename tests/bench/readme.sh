#!/usr/bin/env bash
# Writes what tests/bench/run.sh measured (tests/bench/results) into tests/bench/README.md, between
# the marks:
#   bash tests/bench/readme.sh
set -euo pipefail
cd "$(dirname "$0")/../.."

results=tests/bench/results
readme=tests/bench/README.md
begin='<!-- measured: written by tests/bench/run.sh -->'
end='<!-- /measured -->'

title() {
  case $1 in
    controller) echo 'Counting, beside kube-controller-manager' ;;
    scale) echo 'Size, new quotas, bursts' ;;
    churn) echo 'Changes of one quota' ;;
    load) echo 'Many quotas' ;;
    admission) echo 'Admission, beside what else can guard a quota' ;;
    kubectl-quota) echo 'kubectl quota' ;;
  esac
}
# plot NAME TEXT
plot() { [ ! -e "$results/$1.svg" ] || printf '\n![%s](results/%s.svg)\n' "$2" "$1"; }

section() {
  printf '\n## %s\n' "$(title "$1")"
  tail -n +2 "$results/$1.md" | cat -s
  case $1 in
    controller)
      plot controller "median of DELETE → status.used by pods, ours and the built-in controller's"
      ;;
    scale) plot memory 'resident memory by pods' ;;
  esac
}

for line in "$begin" "$end"; do
  grep -qxF -- "$line" "$readme" || { echo "readme.sh: $readme has no line $line" >&2; exit 1; }
done
text=$(mktemp)
trap 'rm -f "$text"' EXIT
{
  awk -v mark="$begin" '{ print } $0 == mark { exit }' "$readme"
  for part in controller scale churn load admission kubectl-quota; do
    [ ! -e "$results/$part.md" ] || section "$part"
  done
  echo
  awk -v mark="$end" '$0 == mark { shown = 1 } shown' "$readme"
} >"$text"
cat "$text" >"$readme"
