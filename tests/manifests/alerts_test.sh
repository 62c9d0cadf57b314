#!/usr/bin/env bash
# Tests the alert rules of manifests/monitoring with promtool: they are valid, and fire or stay
# silent as alerts_test.yaml says, without a label "cluster" and with one; with the series of many
# clusters as alerts_clusters_test.yaml says; and as the chart renders them with values as
# alerts_values_test.yaml says. Each alert is fired by a test, and its runbook_url leads to a
# heading of manifests/monitoring/RUNBOOK.md.
#
# Exit code 77: there is no promtool (prometheus.sh) or no helm (helm.sh).
set -euo pipefail
cd "$(dirname "$0")"
promtool=$(bash prometheus.sh promtool) || exit $?
helm=$(bash helm.sh) || exit $?
root=$(cd ../.. && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0

# The spec of a PrometheusRule is a rule file of Prometheus.
spec() {
  awk '/^(---|kind:)/ { inside = 0 } /^spec:/ { inside = 1; next } inside { sub(/^  /, ""); print }'
}
spec <"$root/manifests/monitoring/prometheus-rule.yaml" >"$folder/rules.yaml"
cp alerts*_test.yaml "$folder/"
"$promtool" check rules --lint-fatal "$folder/rules.yaml"
(cd "$folder" && "$promtool" test rules alerts_test.yaml alerts_clusters_test.yaml)

# The same with "cluster" on every series and every alert. Only an alert about nothing has no series
# to take it from.
awk '
  /^  - name: / { from_nothing = /no replica was ever scraped/ }
  from_nothing { next }
  /exp_alerts: \*down/ { next }
  {
    sub(/series: \047[a-z_]+\{/, "&cluster=\"b\",")
    sub(/\{severity: /, "{cluster: b, severity: ")
    print
  }' alerts_test.yaml >"$folder/alerts_test.yaml"
(cd "$folder" && "$promtool" test rules alerts_test.yaml)

# Each clause that names labels keeps those of the cluster, in the form that the chart replaces.
if grep -nE '\b(by|on|ignoring|without) ?\(' "$folder/rules.yaml" |
  grep -vE '\b(by|on) \(cluster, [a-z_, ]+\)'; then
  echo "these do not begin with (cluster, "
  failed=1
fi

# The chart's rules, with and without values for other labels.
rendered() {
  "$helm" template quotas "$root/manifests/helm/quota-controller-manager" 2>/dev/null \
    --show-only templates/monitoring.yaml --set=monitoring.enabled=true "$@" |
    awk '/^kind: PrometheusRule/ { wanted = 1 } /^---/ { wanted = 0 } wanted' | spec
}
rendered --set 'monitoring.clusterLabels={region,site},monitoring.namespaceLabels={label_owner}' \
  --set monitoring.runbookUrl=https://git.example.com/ >"$folder/rules.yaml"
"$promtool" check rules --lint-fatal "$folder/rules.yaml"
(cd "$folder" && "$promtool" test rules alerts_values_test.yaml)
rendered --set 'monitoring.clusterLabels=null' >"$folder/rules.yaml"
"$promtool" check rules --lint-fatal "$folder/rules.yaml"

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
# shellcheck disable=SC2016
if grep -E '^ *"expr": ' "$root/manifests/dashboard/quota-controller-manager.json" |
  sed 's/{cluster=~\\"$cluster\\",//g' | grep -F '{'; then
  echo "these queries leave out the variable cluster"
  failed=1
fi

rules=$root/manifests/monitoring/prometheus-rule.yaml
runbook=manifests/monitoring/RUNBOOK.md
mapfile -t alerts < <(sed -nE 's/^ *- alert: (.*)$/\1/p' "$rules")
mapfile -t headings < <(sed -nE 's/^## (.*)$/\1/p' "$root/$runbook")
[ "${alerts[*]}" = "${headings[*]}" ] || {
  diff <(printf '%s\n' "${alerts[@]}") <(printf '%s\n' "${headings[@]}") || true
  echo "the headings of $runbook are not the alerts, in their order"
  failed=1
}
for alert in "${alerts[@]}"; do
  # A test of silence also names the alert: look for one with expected labels.
  grep -A1 "alertname: $alert\$" alerts_test.yaml | grep -q 'exp_alerts:\( [&*][a-z]*\)\?$' || {
    echo "no test fires $alert"
    failed=1
  }
  awk -v alert="$alert" -v url="$runbook#${alert,,}" '
    $2 == "alert:" { mine = $3 == alert }
    mine && $1 == "runbook_url:" { found = $2 == url }
    END { exit !found }' "$rules" || {
    echo "the runbook_url of $alert is not $runbook#${alert,,}"
    failed=1
  }
done
exit $failed
