#!/usr/bin/env bash
# Everything that can be installed renders: kubectl builds each folder of manifests/ with a
# kustomization.yaml without a warning, and the kustomizes of older kubectls build as many objects.
# helm lints the chart with its own values and with those of each row of the table in
# manifests/README.md. The helm commands there render, as a shell reads them. In another namespace,
# by the overlay that is there, or by sed, no object keeps the old one.
#
# kubectl is $QCM_KUBECTL, else that of tests/k8s/build.sh; helm is that of helm.sh, which uses
# $QCM_HELM; older kustomizes are those of kustomize.sh.
#
# Exit code 77: one of them is not available here.
set -euo pipefail
cd "$(dirname "$0")/../.."
if [ -z "${QCM_KUBECTL:-}" ]; then
  assets=$(bash tests/k8s/build.sh) || exit $?
  QCM_KUBECTL=$assets/kubectl
fi
helm=$(bash tests/manifests/helm.sh) || exit $?
kustomizes=()
for version in $(bash tests/manifests/kustomize.sh --list); do
  kustomizes+=("$(bash tests/manifests/kustomize.sh "$version")") || exit $?
done
chart=manifests/helm/quota-controller-manager
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
passed=0 failed=0

# judge WHAT CODE: the output is in $folder/out and $folder/err.
judge() {
  if [ "$2" -eq 0 ]; then
    echo "ok $1"
    passed=$((passed + 1))
  else
    sed 's/^/    /' "$folder/err" "$folder/out"
    echo "FAILED $1"
    failed=$((failed + 1))
  fi
}

# build FOLDER: a deprecated field is only a warning on standard error. A component is built with
# the base, because it may consist of patches alone.
build() {
  local code=0 folder_to_build=$1 objects program
  if grep -q '^kind: Component$' "$1/kustomization.yaml"; then
    folder_to_build=$folder
    printf 'resources: [%s]\ncomponents: [%s]\n' \
      "$(realpath --relative-to="$folder" manifests/base)" \
      "$(realpath --relative-to="$folder" "$1")" >"$folder/kustomization.yaml"
  fi
  "$QCM_KUBECTL" kustomize "$folder_to_build" >"$folder/out" 2>"$folder/err" || code=1
  [ -s "$folder/out" ] || code=1
  [ ! -s "$folder/err" ] || code=1
  objects=$(grep -c '^kind: ' "$folder/out" || true)
  : >"$folder/out"
  for program in "${kustomizes[@]}"; do
    "$program" "$folder_to_build" >"$folder/older" 2>&1 || true
    [ "$(cat "$folder/older")" != "$folder_to_build: $objects objects" ] || continue
    echo "kubectl builds $objects objects, $(basename "$program") this:" >>"$folder/err"
    cat "$folder/older" >>"$folder/err"
    code=1
  done
  return "$code"
}

# move FOLDER: the overlay for FOLDER as in manifests/README.md renders what sed makes of it, but
# for a second argument. Namespaces in metadata are not compared: some kustomizes also give one to
# FlowSchemas, which have none, and an API server drops it.
move() {
  local code=0
  awk '/^```/ { if (text ~ /\nnamespace: /) printf "%s", text; text = ""; next }
    { text = text $0 "\n" }' manifests/README.md |
    sed "s|^resources: .*|resources: [$(realpath --relative-to="$folder" "$1")]|" \
      >"$folder/kustomization.yaml"
  comparable() { grep -v '^ *- --admission-service=\|^  namespace: platform-quota$' | sort; }
  "$QCM_KUBECTL" kustomize "$1" 2>"$folder/err" |
    sed 's/quota-system/platform-quota/g' | comparable >"$folder/wanted"
  "$QCM_KUBECTL" kustomize "$folder" 2>>"$folder/err" | comparable >"$folder/out" || code=1
  diff "$folder/wanted" "$folder/out" >>"$folder/err" || code=1
  : >"$folder/out"
  for program in "${kustomizes[@]}"; do
    "$program" "$folder" >>"$folder/err" 2>&1 || code=1
  done
  return "$code"
}

# lint [VALUES]: VALUES as in helm's --set.
lint() {
  local arguments=(--strict --namespace quota-system)
  [ -z "${1:-}" ] || arguments+=("--set=$1")
  "$helm" lint "${arguments[@]}" "$chart" >"$folder/out" 2>"$folder/err"
}

# render COMMAND: helm renders what `helm install …` or `helm upgrade …` installs. The shell splits
# and expands it, as for a user who copies it.
render() {
  local words word arguments=()
  eval "words=(${1#helm * })"
  for word in "${words[@]}"; do
    case $word in
      --create-namespace | --reset-then-reuse-values) ;;
      *) arguments+=("$word") ;;
    esac
  done
  "$helm" template "${arguments[@]}" >"$folder/out" 2>"$folder/err" || return 1
  : >"$folder/out"
}

mapfile -t folders < <(git ls-files 'manifests/*kustomization.yaml' | xargs -n 1 dirname)
for name in "${folders[@]}"; do
  code=0
  build "$name" || code=1
  judge "kubectl kustomize $name" "$code"
done

for name in base gke aks openshift ironcore cluster-enforced core-enforced{,-client-ca}; do
  code=0
  move "manifests/$name" || code=1
  judge "manifests/$name in another namespace" "$code"
done

# The third column of the table; "…" stands for a value of the user's.
mapfile -t installations < <(
  awk -F' *[|] *' '
    /^[|] you want [|] kubectl [|] Helm/ { inside = 1; getline; next }
    !/^[|]/ { inside = 0 }
    inside { gsub(/`/, "", $4); gsub(/…/, "some", $4); print $4 }' manifests/README.md
)
if [ ${#installations[@]} -lt 2 ]; then
  echo "FAILED: manifests/README.md has no table of installations with a column for Helm"
  failed=$((failed + 1))
fi
for values in "${installations[@]}"; do
  code=0
  lint "$values" || code=1
  judge "helm lint ${values:-(the values of the chart)}" "$code"
done

mapfile -t commands < <(
  awk '/^```/ { fenced = !fenced; next } fenced' manifests/README.md |
    sed -e ':a' -e '/\\$/N; s/\\\n//; ta' | grep -E '^helm (install|upgrade) '
)
if [ ${#commands[@]} -lt 3 ]; then
  echo "FAILED: manifests/README.md has fewer than three commands for Helm"
  failed=$((failed + 1))
fi
for command in "${commands[@]}"; do
  code=0
  render "$command" || code=1
  judge "$command" "$code"
done

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
