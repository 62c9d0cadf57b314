#!/usr/bin/env bash
# The quickstart runs all its steps and leaves nothing behind, even when it is stopped.
set -euo pipefail
cd "$(dirname "$0")/../../.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export TMPDIR=$folder
fail() { echo "quickstart_test: $*" >&2; cat "$folder/out" >&2; exit 1; }
# Each process that it starts has a path in $folder among its arguments.
nothing_left() {
  for _ in {1..50}; do
    pgrep -f -- "$folder/quota-quickstart" >/dev/null || break
    read -rt 0.1 <> <(:) || true
  done
  ! pgrep -af -- "$folder/quota-quickstart" || fail "left a process behind after $1"
  [ -z "$(ls -d "$folder"/quota-quickstart.* 2>/dev/null)" ] || fail "left files behind after $1"
}

bash cmd/quickstart.sh >"$folder/out" 2>&1 || fail "exit code $?"
grep -qE '^counted after [0-9.]+ ms:$' "$folder/out" || fail "no count"
grep -qE '^usage fell after [0-9.]+ ms:$' "$folder/out" || fail "no fall"
[ "$(grep -cE '^pods +3 +10$' "$folder/out")" -eq 1 ] || fail "three pods are not shown once"
[ "$(grep -cE '^pods +2 +10$' "$folder/out")" -eq 1 ] || fail "two pods are not shown once"
nothing_left "a whole run"

bash cmd/quickstart.sh karmada >"$folder/out" 2>&1 || fail "karmada: exit code $?"
shows() {
  local hard='\{"cpu":"100","memory":"400Gi"\}' used="\\{\"cpu\":\"$1\",\"memory\":\"$2\"\\}"
  grep -cxE "business-a +$hard +$used" "$folder/out" || true
}
[ "$(shows 80 160Gi)" -eq 2 ] || fail "80 CPU are not shown twice"
[ "$(shows 40 80Gi)" -eq 1 ] || fail "40 CPU are not shown once"
refusal='resourcebindings.work.karmada.io "batch-deployment" is forbidden: exceeded quota: '
refusal+='business-a, requested: cpu=40, used: cpu=80, limited: cpu=100'
grep -qF "denied the request: $refusal" "$folder/out" || fail "no refusal"
grep -qE '^usage fell after [0-9.]+ ms:$' "$folder/out" || fail "no fall"
nothing_left "the story of karmada"
if bash cmd/quickstart.sh karmada --kubeconfig /dev/null >"$folder/out" 2>&1; then
  fail "took a cluster for karmada"
fi
grep -q 'karmada goes without --kubeconfig' "$folder/out" || fail "does not say why not"

bash cmd/quickstart.sh ironcore >"$folder/out" 2>&1 || fail "ironcore: exit code $?"
total() {
  local used="requests.cpu: $1/20, requests.memory: $2/80Gi, requests.storage: 50Gi/500Gi"
  grep -cx "team-a-total   $used" "$folder/out" || true
}
[ "$(total 18 68Gi)" -eq 2 ] ||
  fail "18 CPU are not shown twice: counted, and when a machine has terminated"
[ "$(total 18 66Gi)" -eq 1 ] || fail "66Gi are not shown once: when a class has changed"
refused() { # MACHINE QUOTA REQUESTED USED LIMITED
  local refusal="machines.compute.ironcore.dev \"$1\" is forbidden: exceeded quota: $2, "
  refusal+="requested: $3, used: $4, limited: $5"
  grep -qF "denied the request: $refusal" "$folder/out" || fail "no refusal: $refusal"
}
one=count/machines.compute.ironcore.dev=1
refused db-2 team-a-large-machines $one $one $one
refused web-3 team-a-total requests.cpu=2 requests.cpu=20 requests.cpu=20
grep -qE '^its CPU is free after [0-9.]+ ms:$' "$folder/out" || fail "no terminated machine"
grep -qE '^its two machines that live count anew after [0-9.]+ ms:$' "$folder/out" ||
  fail "no changed class"
nothing_left "the story of ironcore"

bash cmd/quickstart.sh cluster >"$folder/out" 2>&1 || fail "cluster: exit code $?"
company() { grep -cxE "company +$1/10" "$folder/out" || true; }
for used in 6 10 9; do
  [ "$(company $used)" -eq 1 ] || fail "$used pods of the company are not shown once"
done
grep -qx 'in its namespace team-a sees .*: company pods: 0/10; team-a pods: 0/8' "$folder/out" ||
  fail "team-a does not see its quotas"
refusal='pods "one-more" is forbidden: exceeded cluster quota: company (above team-a), requested: '
refusal+='pods=1, used: pods=6, limited: pods=10, guaranteed to others: pods=4'
grep -qF "denied the request: $refusal" "$folder/out" || fail "no refusal: $refusal"
grep -qE '^usage fell after [0-9.]+ ms:$' "$folder/out" || fail "no fall"
grep -q '^Warning: .*exceeded cluster quota: trial' "$folder/out" || fail "no warning"
nothing_left "the story of ClusterQuotas"

bash cmd/quickstart.sh usage >"$folder/out" 2>&1 || fail "usage: exit code $?"
bytes=example.com/bucket-bytes
for used in 90Gi 30Gi; do
  [ "$(grep -cx "team-a   $bytes: $used/100Gi" "$folder/out")" -eq 1 ] ||
    fail "$used of the team are not shown once"
done
refused_bucket() { # BUCKET REQUESTED
  local refusal="buckets.storage.example.com \"$1\" is forbidden: exceeded cluster quota: team-a, "
  refusal+="requested: $bytes=$2, used: $bytes=90Gi, limited: $bytes=100Gi"
  grep -qF "denied the request: $refusal" "$folder/out" || fail "no refusal: $refusal"
}
refused_bucket backup 20Gi
refused_bucket logs 15Gi
grep -qE '^usage fell after [0-9.]+ ms:$' "$folder/out" || fail "no fall"
grep -q 'kubectl quota usage-definition test -f' "$folder/out" || fail "does not say how to go on"
nothing_left "the story of a UsageDefinition"

# Stop it as soon as it has something to leave behind. Remove the previous output first: a child
# that is stopped before it has executed the quickstart would still run this script's trap.
rm "$folder/out"
setsid bash cmd/quickstart.sh >"$folder/out" 2>&1 &
quickstart=$!
until grep -qs '^\[3/4\]' "$folder/out"; do kill -0 "$quickstart" || fail "ended early"; done
kill -TERM "$quickstart"
if wait "$quickstart"; then fail "a stopped run ends with 0"; fi
nothing_left "SIGTERM"

if bash cmd/quickstart.sh --kubeconfig /no/such/file >"$folder/out" 2>&1; then
  fail "took a file that is not there"
fi
grep -q '/no/such/file' "$folder/out" || fail "does not name the file"
