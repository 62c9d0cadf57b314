{{- define "qcm.namespace" -}}
{{- .Values.namespace.name | default .Release.Namespace -}}
{{- end -}}

{{- define "qcm.labels" -}}
app.kubernetes.io/name: quota-controller-manager
{{- end -}}

{{/* The labels of every object of the chart, besides its own. Selectors use qcm.labels, which never
     change. */}}
{{- define "qcm.standardLabels" -}}
{{ include "qcm.labels" . }}
app.kubernetes.io/component: controller
app.kubernetes.io/instance: {{ .Release.Name | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service | quote }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | quote }}
{{- end -}}

{{/* The objects of a file, with the labels of every object: (list . DEFINITION). */}}
{{- define "qcm.objects" -}}
{{- $top := index . 0 -}}
{{- $common := dict }}
{{- range $name, $value := $top.Values.commonLabels }}
{{- $_ := set $common $name (toString $value) }}
{{- end }}
{{- range $text := regexSplit "(?m)^---$" (include (index . 1) $top) -1 }}
{{- $object := printf "%s\n" $text | fromYaml }}
{{- with $object.Error }}{{ fail . }}{{ end }}
{{- if $object.kind }}
{{- $standard := include "qcm.standardLabels" $top | fromYaml }}
{{- $labels := merge (dict) ($object.metadata.labels | default dict) $standard $common }}
{{- $_ := set $object.metadata "labels" $labels }}
---
{{ toYaml $object }}
{{- end }}
{{- end }}
{{- end -}}

{{/* Labels or annotations of the values: `--set` makes true and 1 of what must be text. */}}
{{- define "qcm.texts" -}}
{{- range $name, $value := . }}
{{ $name }}: {{ $value | quote }}
{{- end }}
{{- end -}}

{{- define "qcm.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{/* The default of the daemon's flag --exempt-namespaces. */}}
{{- define "qcm.usualExemptNamespaces" }}
kube-system,
kube-public,
kube-node-lease,
calico-apiserver,
calico-system,
tigera-operator,
cilium,
kube-flannel,
metallb-system,
coredns,
external-dns,
local-path-storage,
longhorn-system,
openebs,
rook-ceph,
cert-manager,
argocd,
flux-system,
gatekeeper-system,
kyverno,
cattle-system,
gke-managed-system
{{ end -}}

{{/* True for the daemon's own objects; "" for a Karmada API server. */}}
{{- define "qcm.daemon" -}}
{{- if eq .Values.install "daemon" }}true{{ end -}}
{{- end -}}

{{/* True where the API server is the one of this cluster, and its rights are the daemon's. */}}
{{- define "qcm.here" -}}
{{- if and (include "qcm.daemon" .) (not .Values.kubeconfigSecret) }}true{{ end -}}
{{- end -}}

{{- define "qcm.certManager" -}}
{{- if and .Values.enforce (eq .Values.certificate "cert-manager") }}true{{ end -}}
{{- end -}}

{{- define "qcm.clientCA" -}}
{{- if .Values.enforce }}{{ .Values.clientCA }}{{ end -}}
{{- end -}}

{{/* True where the pod mounts something. */}}
{{- define "qcm.volumes" -}}
{{- if or (include "qcm.certManager" .) .Values.kubeconfigSecret (include "qcm.clientCA" .) -}}
true
{{- end -}}
{{- end -}}

{{/* The files of mounted Secrets are readable for the pod's group, which OpenShift chooses. */}}
{{- define "qcm.podSecurityContext" -}}
{{- $context := deepCopy (.Values.podSecurityContext | default dict) -}}
{{- $secrets := or (include "qcm.certManager" .) .Values.kubeconfigSecret -}}
{{- if and $secrets $context.runAsGroup -}}
{{- $_ := set $context "fsGroup" $context.runAsGroup -}}
{{- end -}}
{{ toYaml $context }}
{{- end -}}

{{- define "qcm.subjects" -}}
- kind: ServiceAccount
  name: quota-controller-manager
  namespace: {{ include "qcm.namespace" . | quote }}
{{- end -}}

{{/* One binding of a role to the ServiceAccount: (list . KIND NAME). */}}
{{- define "qcm.binding" -}}
{{- $top := index . 0 -}}{{- $kind := index . 1 -}}{{- $name := index . 2 -}}
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ $kind }}Binding
metadata:
  name: {{ $name }}
  {{- if eq $kind "Role" }}
  namespace: {{ include "qcm.namespace" $top | quote }}
  {{- end }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: {{ $kind }}
  name: {{ $name }}
subjects:
  {{- include "qcm.subjects" $top | nindent 2 }}
{{- end -}}

{{/* The marks by which the daemon knows an object to be its own; Helm writes its own name into
     managed-by. */}}
{{- define "qcm.ownership" -}}
app.kubernetes.io/managed-by: quota-controller-manager
quota-controller-manager.io/managed: "true"
{{- end -}}

{{/* The quota APIs to count, separated by commas: by default those that the chart's roles allow to
     count. "" for another API server, whose roles are not the chart's: the daemon's default. */}}
{{- define "qcm.quotaApis" -}}
{{- if .Values.quotaApis -}}
{{ join "," .Values.quotaApis }}
{{- else if not .Values.kubeconfigSecret -}}
core,cluster{{ if .Values.ironcore }},ironcore{{ end }}
{{- end -}}
{{- end -}}

{{/* The arguments for another API server than that of this cluster. */}}
{{- define "qcm.apiServer" -}}
{{- if .Values.kubeconfigSecret }}
- --kubeconfig=/etc/quota-controller-manager/karmada/kubeconfig
- --leader-elect-resource-namespace=kube-system
{{- end }}
{{- end -}}

{{- define "qcm.arguments" -}}
{{- $apis := include "qcm.quotaApis" . }}
{{- range .Values.enforce }}
{{- /* Parts of ResourceQuotas are counted with them. */}}
{{- $counted := ternary "core" . (eq . "defined") }}
{{- if and $apis (not (has $counted (splitList "," $apis))) }}
{{- fail (printf "enforce names %s, but quotaApis counts only %s" . $apis) }}
{{- end }}
{{- end -}}
- --resync-period={{ .Values.resyncPeriod }}
{{- with $apis }}
- --quota-apis={{ . }}
{{- end }}
{{- include "qcm.apiServer" . }}
{{- if .Values.enforce }}
{{- if .Values.kubeconfigSecret }}
- --admission-url=https://quota-controller-manager.{{ include "qcm.namespace" . }}.svc:443
{{- else }}
- --admission-service={{ include "qcm.namespace" . }}/quota-controller-manager:443
{{- end }}
{{- end }}
{{- if include "qcm.certManager" . }}
- --admission-cert-dir=/etc/quota-controller-manager/certificate
{{- end }}
{{- if not .Values.appliedClusterQuotas }}
- --applied-cluster-quotas=false
{{- end }}
{{- with .Values.enforce }}
- --enforce={{ join "," . }}
{{- end }}
{{- if include "qcm.clientCA" . }}
- --admission-client-ca=/etc/quota-controller-manager/client-ca/ca.crt
{{- end }}
{{- with .Values.exemptNamespaces }}
- --exempt-namespaces={{ join "," . }}
{{- end }}
{{- with .Values.exemptNamespaceSelector }}
- {{ printf "--exempt-namespace-selector=%s" . | quote }}
{{- end }}
{{- if ne .Values.failurePolicy "Fail" }}
- --admission-failure-policy={{ .Values.failurePolicy }}
{{- end }}
{{- if ne (int .Values.admissionPort) 9443 }}
- --admission-bind-address=:{{ .Values.admissionPort }}
{{- end }}
{{- if ne .Values.admissionTimeout "10s" }}
- --admission-timeout={{ .Values.admissionTimeout }}
{{- end }}
{{- range .Values.extraArgs }}
- {{ . | quote }}
{{- end }}
{{- end -}}

{{/* A part of `helm test`: made in the order of the weights, and deleted afterwards. */}}
{{- define "qcm.testHook" -}}
helm.sh/hook: test
helm.sh/hook-weight: {{ . | quote }}
helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
{{- end -}}

{{/* An alert about quotas in namespaces, with labels of these namespaces where kube-state-metrics
     knows them. */}}
{{- define "qcm.withOwners" -}}
(
  ({{ .expr }})
  * on {{ .labels }}namespace) group_left ({{ .owners }})
  max by {{ .labels }}namespace, {{ .owners }}) (kube_namespace_labels)
)
or on {{ .labels }}quota_api, namespace, quota, resource)
({{ .expr }})
{{- end -}}
