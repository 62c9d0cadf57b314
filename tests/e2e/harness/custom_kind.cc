#include "tests/e2e/harness/custom_kind.h"

namespace e2e {

std::string CustomKind::Path(const std::string& ns, const std::string& name) const {
  const auto path = "/apis/" + group + "/v1/namespaces/" + ns + "/" + plural;
  return name.empty() ? path : path + "/" + name;
}

json::Value CustomKind::Object(const std::string& name) const {
  json::Value object;
  object.Make({"kind"}) = kind;
  object.Make({"apiVersion"}) = group + "/v1";
  object.Make({"metadata", "name"}) = name;
  return object;
}

json::Value CustomKind::Definition() const {
  auto crd = Json(R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
      "spec":{"scope":"Namespaced","versions":[{"name":"v1",
      "served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object",
      "x-kubernetes-preserve-unknown-fields":true}}}]}})");
  crd.Make({"metadata", "name"}) = Crd();
  crd.Make({"spec", "group"}) = group;
  crd.Make({"spec", "names", "plural"}) = plural;
  crd.Make({"spec", "names", "kind"}) = kind;
  return crd;
}

void CreateCustom(Scenario& s, const CustomKind& kind, const std::string& name) {
  Eventually("an object of " + kind.Crd() + " can be created", [&]() -> std::string {
    const auto answer = s.api().Do({.verb = "POST",
                                    .path = kind.Path(s.ns()),
                                    .content_type = std::string(client::kJson),
                                    .body = json::Write(kind.Object(name))});
    return answer ? "" : answer.error().message;
  });
}

void BreakConversion(Scenario& s, const CustomKind& kind) {
  // Adds a preferred second version, and a conversion webhook at which nobody listens.
  const auto patch = Json(R"({"spec":{"conversion":{"strategy":"Webhook","webhook":{
      "conversionReviewVersions":["v1"],"clientConfig":{"url":"https://127.0.0.1:1/convert"}}},
      "versions":[{"name":"v2","served":true,"storage":false,"schema":{"openAPIV3Schema":{
      "type":"object","x-kubernetes-preserve-unknown-fields":true}}},{"name":"v1","served":true,
      "storage":true,"schema":{"openAPIV3Schema":{"type":"object",
      "x-kubernetes-preserve-unknown-fields":true}}}]}})");
  s.api().MergePatch(PathOf("customresourcedefinitions", "", kind.Crd()), patch);
  Eventually("the broken version is served", [&]() -> std::string {
    const auto path = "/apis/" + kind.group + "/v2/" + kind.plural;
    const auto answer = s.api().Do({.path = path});
    if (answer) return "it can be listed";
    // 429 while the server cannot fill its own cache of the kind, 500 without a cache.
    const int status = answer.error().http_status;
    return status == 429 || status >= 500 ? "" : answer.error().message;
  });
}

void MendConversion(Scenario& s, const CustomKind& kind) {
  s.api().MergePatch(PathOf("customresourcedefinitions", "", kind.Crd()),
                     Json(R"({"spec":{"conversion":{"strategy":"None","webhook":null}}})"));
}

}  // namespace e2e
