#!/usr/bin/env bash
# The alert rules of manifests/monitoring through promtool: they are valid, and fire and stay silent
# as alerts_test.yaml says; each is fired by some test, and explained in
# manifests/monitoring/README.md.
#
# Exit 77: there is no promtool (promtool.sh).
set -euo pipefail
cd "$(dirname "$0")"
promtool=$(bash promtool.sh) || exit $?
root=$(cd ../.. && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# A PrometheusRule's spec is what Prometheus itself reads.
awk '/^spec:/ { inside = 1; next } inside { sub(/^  /, ""); print }' \
  "$root/manifests/monitoring/prometheus-rule.yaml" >"$folder/rules.yaml"
cp alerts_test.yaml "$folder/"
"$promtool" check rules --lint-fatal "$folder/rules.yaml"
(cd "$folder" && "$promtool" test rules alerts_test.yaml)

# What the dashboard asks is PromQL: each query as a rule, with its variables filled in.
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
  # A silent test names the alert, too: what must be there is one with labels expected.
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
