#include "tests/pkg/admission/sample_reviews.h"

#include "pkg/json/value.h"

namespace admission::test {
namespace {

// clang-format off
const char* const kPod =
    R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"web-6d4cf56db6-abcde",)"
    R"("generateName":"web-6d4cf56db6-","namespace":"team-a",)"
    R"("uid":"0c1a0b86-5f5c-4f0f-8d5f-6a1c1f7f0e01","resourceVersion":"48151","generation":1,)"
    R"("creationTimestamp":"2026-11-21T06:00:00Z","labels":{"app":"web",)"
    R"("pod-template-hash":"6d4cf56db6"},"ownerReferences":[{"apiVersion":"apps/v1",)"
    R"("kind":"ReplicaSet","name":"web-6d4cf56db6",)"
    R"("uid":"7f3c0f0e-2b1c-4d6f-9a55-0c4e1f1f5a11","controller":true,)"
    R"("blockOwnerDeletion":true}],"managedFields":[{"manager":"kube-controller-manager",)"
    R"("operation":"Update","apiVersion":"v1","time":"2026-11-21T06:00:00Z",)"
    R"("fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:generateName":{},"f:labels":{".":{)"
    R"(},"f:app":{},"f:pod-template-hash":{}},"f:ownerReferences":{".":{},"k:{)"
    R"(\"uid\":\"7f3c0f0e-2b1c-4d6f-9a55-0c4e1f1f5a11\"}":{}}},"f:spec":{"f:containers":{"k:{)"
    R"(\"name\":\"web\"}":{".":{},"f:env":{".":{},"k:{\"name\":\"POD_NAME\"}":{".":{},)"
    R"("f:name":{},"f:valueFrom":{}}},"f:image":{},"f:imagePullPolicy":{},"f:name":{},)"
    R"("f:ports":{".":{},"k:{\"containerPort\":8080,\"protocol\":\"TCP\"}":{".":{},)"
    R"("f:containerPort":{},"f:protocol":{}}},"f:resources":{".":{},"f:limits":{".":{},)"
    R"("f:cpu":{},"f:memory":{}},"f:requests":{".":{},"f:cpu":{},"f:memory":{}}},)"
    R"("f:terminationMessagePath":{},"f:terminationMessagePolicy":{}},"k:{)"
    R"(\"name\":\"sidecar\"}":{".":{},"f:env":{".":{},"k:{\"name\":\"POD_NAME\"}":{".":{},)"
    R"("f:name":{},"f:valueFrom":{}}},"f:image":{},"f:imagePullPolicy":{},"f:name":{},)"
    R"("f:ports":{".":{},"k:{\"containerPort\":8080,\"protocol\":\"TCP\"}":{".":{},)"
    R"("f:containerPort":{},"f:protocol":{}}},"f:resources":{".":{},"f:limits":{".":{},)"
    R"("f:cpu":{},"f:memory":{}},"f:requests":{".":{},"f:cpu":{},"f:memory":{}}},)"
    R"("f:terminationMessagePath":{},"f:terminationMessagePolicy":{}}},"f:dnsPolicy":{},)"
    R"("f:enableServiceLinks":{},"f:restartPolicy":{},"f:schedulerName":{},)"
    R"("f:securityContext":{},"f:terminationGracePeriodSeconds":{}}}}]},"spec":{"volumes":[{)"
    R"("name":"kube-api-access-x7x9z","projected":{"sources":[{"serviceAccountToken":{)"
    R"("expirationSeconds":3607,"path":"token"}},{"configMap":{"name":"kube-root-ca.crt",)"
    R"("items":[{"key":"ca.crt","path":"ca.crt"}]}},{"downwardAPI":{"items":[{)"
    R"("path":"namespace","fieldRef":{"apiVersion":"v1","fieldPath":"metadata.namespace"}}]}}],)"
    R"("defaultMode":420}},{"name":"config","configMap":{"name":"web","defaultMode":420}}],)"
    R"("containers":[{"name":"web","image":"@IMAGE@","ports":[{"containerPort":8080,)"
    R"("protocol":"TCP"}],"env":[{"name":"POD_NAME","valueFrom":{"fieldRef":{"apiVersion":"v1",)"
    R"("fieldPath":"metadata.name"}}},{"name":"LEVEL","value":"info"}],"resources":{"limits":{)"
    R"("cpu":"500m","memory":"256Mi"},"requests":{"cpu":"250m","memory":"128Mi"}},)"
    R"("volumeMounts":[{"name":"kube-api-access-x7x9z","readOnly":true,)"
    R"("mountPath":"/var/run/secrets/kubernetes.io/serviceaccount"},{"name":"config",)"
    R"("mountPath":"/etc/web"}],"readinessProbe":{"httpGet":{"path":"/healthz","port":8080,)"
    R"("scheme":"HTTP"},"timeoutSeconds":1,"periodSeconds":10,"successThreshold":1,)"
    R"("failureThreshold":3},"terminationMessagePath":"/dev/termination-log",)"
    R"("terminationMessagePolicy":"File","imagePullPolicy":"IfNotPresent","securityContext":{)"
    R"("capabilities":{"drop":["ALL"]},"runAsNonRoot":true,"allowPrivilegeEscalation":false}},{)"
    R"("name":"sidecar","image":"@IMAGE@","ports":[{"containerPort":8080,"protocol":"TCP"}],)"
    R"("env":[{"name":"POD_NAME","valueFrom":{"fieldRef":{"apiVersion":"v1",)"
    R"("fieldPath":"metadata.name"}}},{"name":"LEVEL","value":"info"}],"resources":{"limits":{)"
    R"("cpu":"500m","memory":"256Mi"},"requests":{"cpu":"250m","memory":"128Mi"}},)"
    R"("volumeMounts":[{"name":"kube-api-access-x7x9z","readOnly":true,)"
    R"("mountPath":"/var/run/secrets/kubernetes.io/serviceaccount"},{"name":"config",)"
    R"("mountPath":"/etc/web"}],"readinessProbe":{"httpGet":{"path":"/healthz","port":8080,)"
    R"("scheme":"HTTP"},"timeoutSeconds":1,"periodSeconds":10,"successThreshold":1,)"
    R"("failureThreshold":3},"terminationMessagePath":"/dev/termination-log",)"
    R"("terminationMessagePolicy":"File","imagePullPolicy":"IfNotPresent","securityContext":{)"
    R"("capabilities":{"drop":["ALL"]},"runAsNonRoot":true,"allowPrivilegeEscalation":false}}],)"
    R"("restartPolicy":"Always","terminationGracePeriodSeconds":30,"dnsPolicy":"ClusterFirst",)"
    R"("serviceAccountName":"default","serviceAccount":"default","nodeName":"node-17",)"
    R"("securityContext":{},"schedulerName":"default-scheduler","tolerations":[{)"
    R"("key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute",)"
    R"("tolerationSeconds":300},{"key":"node.kubernetes.io/unreachable","operator":"Exists",)"
    R"("effect":"NoExecute","tolerationSeconds":300}],"priority":0,"enableServiceLinks":true,)"
    R"("preemptionPolicy":"PreemptLowerPriority"},"status":{"phase":"Running","conditions":[{)"
    R"("type":"Ready","status":"True","lastProbeTime":null,)"
    R"("lastTransitionTime":"2026-11-21T06:00:05Z"}],"qosClass":"Burstable"}})";
// clang-format on

std::string Replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at)) {
    text.replace(at, from.size(), to);
    at += to.size();
  }
  return text;
}

}  // namespace

std::string PodText(const std::string& image) { return Replaced(kPod, "@IMAGE@", image); }

std::string ReviewText(const SampleReview& review) {
  const std::string resource =
      R"({"group":")" + review.group + R"(","version":"v1","resource":")" + review.resource + "\"}";
  std::string text = R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{)";
  text += R"("uid":"705ab4f5-6393-11e8-b7cc-42010a800002",)";
  text += R"("kind":{"group":"","version":"v1","kind":"Pod"},"resource":)" + resource;
  if (!review.subresource.empty()) text += R"(,"subResource":")" + review.subresource + "\"";
  text += R"(,"requestKind":{"group":"","version":"v1","kind":"Pod"},"requestResource":)";
  text += resource;
  if (!review.name.empty()) text += R"(,"name":")" + review.name + "\"";
  text += R"(,"namespace":"team-a","operation":")" + review.operation + R"(","userInfo":{)";
  text += R"("username":"system:serviceaccount:kube-system:replicaset-controller","uid":"a1",)";
  text += R"("groups":["system:serviceaccounts","system:authenticated"]},"object":)";
  text += review.object + R"(,"oldObject":)" + review.old_object;
  text += std::string(R"(,"dryRun":)") + (review.dry_run ? "true" : "false");
  return text + R"(,"options":{"kind":"UpdateOptions","apiVersion":"meta.k8s.io/v1"}}})" + "\n";
}

}  // namespace admission::test
