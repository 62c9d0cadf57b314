#!/usr/bin/env bash
# Tests the alert rules of manifests/monitoring with promtool: they are valid, and fire or stay
# silent as alerts_test.yaml says. Each alert is fired by a test and described in
# manifests/monitoring/README.md.
#
# Exit code 77: there is no promtool (prometheus.sh).
set -euo pipefail
cd "$(dirname "$0")"
promtool=$(bash prometheus.sh promtool) || exit $?
root=$(cd ../.. && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# The spec of a PrometheusRule is a rule file of Prometheus.
awk '/^spec:/ { inside = 1; next } inside { sub(/^  /, ""); print }' \
  "$root/manifests/monitoring/prometheus-rule.yaml" >"$folder/rules.yaml"
cp alerts_test.yaml "$folder/"
"$promtool" check rules --lint-fatal "$folder/rules.yaml"
(cd "$folder" && "$promtool" test rules alerts_test.yaml)

# Checks each query of the dashboard as a rule, with its variables filled in.
# shellcheck disable=SC2016 # the variables are Grafana's
{
  echo 'groups: [{name: dashboard, rules: ['
  sed -nE 's/^ *"expr": (".*"),?$/{record: "panel:\#:query", expr: \1},/p' \
    "$root/manifests/dashboard/quota-controller-manager.json" |
    sed -e 's/\$__rate_interval/5m/g' -e 's/\$[a-z]*/.*/g' | awk '{ sub(/#/, NR); print }'
  echo ']}]'
} >"$folder/dashboard.yaml"
"$promtool" check rules "$folder/dashboard.yaml"

mapfile -t alerts < <(sed -nE 's/^ *- alert: (.*)$/\1/p' "$folder/rules.yaml")
failed=0
for alert in "${alerts[@]}"; do
  # A test of silence also names the alert: look for one with expected labels.
  grep -A1 "alertname: $alert\$" alerts_test.yaml | grep -q 'exp_alerts:$' || {
    echo "no test fires $alert"
    failed=1
  }
  grep -q "| \`$alert\` |" "$root/manifests/monitoring/README.md" || {
    echo "manifests/monitoring/README.md does not say what to do about $alert"
    failed=1
  }
done
exit $failed
