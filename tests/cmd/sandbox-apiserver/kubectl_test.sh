#!/usr/bin/env bash
# Usual kubectl commands against the sandbox: bash kubectl_test.sh SANDBOX_APISERVER
#
# kubectl is $QCM_KUBECTL, else the one on PATH; without one the exit code is 77 (skipped). It has
# its own home and discovery cache. Prints the steps that differ from the expectation; exit code 1
# if there are any.
set -uo pipefail

server=${1:?usage: kubectl_test.sh SANDBOX_APISERVER}
kubectl=${QCM_KUBECTL:-$(command -v kubectl || true)}
if [ -z "$kubectl" ] || [ ! -x "$kubectl" ]; then
  echo "SKIPPED: no kubectl (QCM_KUBECTL or PATH)"
  exit 77
fi

home=$(mktemp -d)
export HOME=$home KUBECONFIG=$home/kubeconfig
"$server" --bind-address=127.0.0.1:0 "--kubeconfig-out=$KUBECONFIG" >"$home/server.log" 2>&1 &
server_pid=$!
trap 'kill "$server_pid" 2>/dev/null; wait "$server_pid" 2>/dev/null; rm -rf "$home"' EXIT
for _ in {1..100}; do [ -s "$KUBECONFIG" ] && break; sleep 0.1; done
[ -s "$KUBECONFIG" ] || { cat "$home/server.log"; echo "FAILED: the server did not start"; exit 1; }

failures=0
k() { timeout 30 "$kubectl" "--cache-dir=$home/cache" "$@"; }
# is EXPECTED COMMAND…: compares the whole output, including standard error.
is() {
  local expected=$1 actual
  shift
  actual=$("$@" 2>&1)
  [ "$actual" = "$expected" ] && return
  failures=$((failures + 1))
  printf 'FAILED: %s\n--- expected\n%s\n--- actual\n%s\n' "$*" "$expected" "$actual"
}
# has PATTERN COMMAND…: a line of the output must match.
has() {
  local pattern=$1 actual
  shift
  actual=$("$@" 2>&1)
  grep -Eq -- "$pattern" <<<"$actual" && return
  failures=$((failures + 1))
  printf 'FAILED: %s\n--- no line like\n%s\n--- actual\n%s\n' "$*" "$pattern" "$actual"
}
manifest() { printf '%s\n' "$2" >"$home/$1.yaml"; }

manifest pod 'apiVersion: v1
kind: Pod
metadata: {name: p, labels: {app: x}}
spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 100m}}}]}'
manifest crd 'apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget, shortNames: [wd]}
  versions:
  - name: v1
    served: true
    storage: true
    additionalPrinterColumns: [{name: Size, type: integer, jsonPath: .spec.size}]
    schema:
      openAPIV3Schema:
        type: object
        properties: {spec: {type: object, properties: {size: {type: integer, minimum: 1}}}}'
manifest widget 'apiVersion: example.com/v1
kind: Widget
metadata: {name: w}
spec: {size: 3}'

is 'namespace/a created' k create namespace a
k config set-context --current --namespace=a >/dev/null

# Quotas, with the exact text of describe.
is 'resourcequota/q created' k create quota q --hard=pods=10,requests.cpu=2,requests.memory=4Gi
is 'resourcequota/be created' k create quota be --hard=pods=5 --scopes=BestEffort
is 'resourcequota/q patched' k patch quota q --subresource=status --type=merge -p '{"status":{
  "hard":{"pods":"10","requests.cpu":"2","requests.memory":"4Gi"},
  "used":{"pods":"2","requests.cpu":"600m","requests.memory":"1536Mi"}}}'
is 'Name:            q
Namespace:       a
Resource         Used    Hard
--------         ----    ----
pods             2       10
requests.cpu     600m    2
requests.memory  1536Mi  4Gi' k describe quota q
has '^q +pods: 2/10, requests.cpu: 600m/2, requests.memory: 1536Mi/4Gi +' k get quota q
has '^  pods +2 +10$' k describe namespace a

# The life of one object.
is 'pod/p created' k apply -f "$home/pod.yaml"
is 'pod/p unchanged' k apply -f "$home/pod.yaml"
sed 's/app: x/app: z/' "$home/pod.yaml" >"$home/changed.yaml"
is 'pod/p configured' k apply -f "$home/changed.yaml"
is 'pod/p serverside-applied' k apply --server-side --force-conflicts -f "$home/changed.yaml"
is 'pod/p labeled' k label pod p tier=gold
is 'pod/p annotated' k annotate pod p note=1
is 'pod/p patched' k patch pod p --type=json -p '[{"op":"remove","path":"/metadata/labels/tier"}]'
has '^p +0/1 +Pending +0 ' k get pods
has '^  name: p$' k get pod p -o yaml
has '^ +cpu: +100m$' k describe pod p
is '{"app":"z"}' k get pod p -o 'jsonpath={.metadata.labels}'
is 'Error from server (NotFound): pods "nope" not found' k get pod nope
exists='Error from server (AlreadyExists): error when creating "'"$home"'/pod.yaml"'
is "$exists: pods \"p\" already exists" k create -f "$home/pod.yaml"

# A watch sees the deletion, and so does `kubectl wait`.
timeout 20 "$kubectl" "--cache-dir=$home/cache" get pods -w --output-watch-events \
  >"$home/watch" 2>&1 &
watch_pid=$!
for _ in {1..100}; do grep -qs ADDED "$home/watch" && break; sleep 0.1; done
k wait --for=delete pod/p --timeout=20s >"$home/wait" 2>&1 &
wait_pid=$!
has '^pod "p" force deleted' k delete pod p --grace-period=0 --force
wait "$wait_pid"
for _ in {1..100}; do grep -qs DELETED "$home/watch" && break; sleep 0.1; done
kill "$watch_pid" 2>/dev/null
has '^ADDED +p ' cat "$home/watch"
has '^DELETED +p ' cat "$home/watch"

# Typed creations, which send protobuf.
is 'secret/s created' k create secret generic s --from-literal=a=b
is 'configmap/c created' k create configmap c --from-literal=a=b
is 'deployment.apps/d created' k create deployment d --image=nginx --replicas=0
is 'service/v created' k create service clusterip v --tcp=80:8080
is 'Yg==' k get secret s -o 'jsonpath={.data.a}'
is '0' k get deployment d -o 'jsonpath={.spec.replicas}'
is 'yes' k auth can-i get pods

# A new kind.
is 'customresourcedefinition.apiextensions.k8s.io/widgets.example.com created' \
  k apply -f "$home/crd.yaml"
is 'customresourcedefinition.apiextensions.k8s.io/widgets.example.com condition met' \
  k wait --for=condition=Established crd/widgets.example.com --timeout=10s
is 'widget.example.com/w created' k apply -f "$home/widget.yaml"
is 'widget.example.com/w unchanged' k apply -f "$home/widget.yaml"
is 'NAME   SIZE
w      3' k get wd
has 'spec.size in body should be greater than or equal to 1' \
  k patch widget w --type=merge -p '{"spec":{"size":0}}'
is 'widget.example.com "w" deleted from a namespace' k delete widget w

# A dry run stores nothing; a deleted namespace deletes its contents.
has '^  name: b$' k create namespace b --dry-run=server -o yaml
is 'Error from server (NotFound): namespaces "b" not found' k get namespace b
is 'namespace "a" deleted' k delete namespace a
is 'No resources found in a namespace.' k get pods,secrets,configmaps,quota

[ "$failures" -eq 0 ] || { echo "$failures steps failed"; exit 1; }
echo "kubectl and the sandbox agree"
