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
    controller) echo 'Counting, compared with kube-controller-manager' ;;
    scale) echo 'Size, new quotas, bursts' ;;
    churn) echo 'Changes of one quota' ;;
    load) echo 'Many quotas' ;;
    admission) echo 'Admission, compared with other ways to enforce a quota' ;;
    cluster) echo 'ClusterQuotas' ;;
    kubectl-quota) echo 'kubectl quota' ;;
  esac
}
# plot NAME TEXT
plot() { [ ! -e "$results/$1.svg" ] || printf '\n![%s](results/%s.svg)\n' "$2" "$1"; }

# The files of a part, in the order in which they are shown.
files() {
  local question
  case $1 in
    scale) set -- scale memory new-quota burst recounts defined ;;
    admission) set -- admission rate quiet limit two replicas namespaces leak killed memory ;;
    cluster) set -- cluster cluster both defined tree reach groups ;;
  esac
  [ ! -e "$results/$1.md" ] || echo "$results/$1.md"
  for question in "${@:2}"; do
    [ ! -e "$results/$1/$question.md" ] || echo "$results/$1/$question.md"
  done
}

# The machine and the date stand where they differ from those above.
section() {
  local file machine='' new
  printf '\n## %s\n' "$(title "$1")"
  for file in $(files "$1"); do
    new=$(sed -n 3p "$file")
    [ "$new" = "$machine" ] || printf '\n%s\n' "$new"
    machine=$new
    tail -n +4 "$file" | cat -s
  done
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
  for part in controller scale churn load admission cluster kubectl-quota; do
    [ -z "$(files "$part")" ] || section "$part"
  done
  echo
  awk -v mark="$end" '$0 == mark { shown = 1 } shown' "$readme"
} >"$text"
cat "$text" >"$readme"
