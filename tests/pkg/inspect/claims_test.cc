#include "pkg/inspect/claims.h"

#include <catch2/catch.hpp>

#include "pkg/config/yaml.h"
#include "pkg/inspect/workload.h"

namespace claims_test {

using inspect::Expand;
using inspect::ExpandChange;
using inspect::Surroundings;

json::Value Yaml(const std::string& text) {
  INFO(text);
  const auto value = config::ParseYaml(text);
  REQUIRE(value.has_value());
  return *value;
}

constexpr const char* kPodSpec =
    "{containers: [{name: c, image: a}], resourceClaims: [{name: own, resourceClaimName: mine}, "
    "{name: g, resourceClaimTemplateName: gpu}]}";

json::Value Workload(const std::string& head, const std::string& spec) {
  return Yaml(head + "\nmetadata: {name: w, namespace: shop}\nspec: " + spec + "\n");
}

json::Value Deployment(const std::string& pod_spec) {
  return Workload("apiVersion: apps/v1\nkind: Deployment",
                  "{replicas: 4, template: {spec: " + pod_spec + "}}");
}

Surroundings WithTemplate() {
  return {.claim_templates = inspect::ClaimTemplates{
              {"gpu", Yaml("apiVersion: resource.k8s.io/v1beta1\nkind: ResourceClaimTemplate\n"
                           "spec: {metadata: {labels: {a: b}}, spec: {devices: {}}}\n")}}};
}

// "Pod×3" for each piece that is a pod or a claim; "Pod×4 for 3, ResourceClaim" of a rollout: the
// new objects, and what goes with an old one.
std::string Pieces(const base::Result<inspect::Expansion>& expansion) {
  REQUIRE(expansion.has_value());
  std::string text;
  for (const auto& piece : expansion->pieces) {
    const std::string kind(piece.object.StringAt({"kind"}));
    if (kind != "Pod" && kind != "ResourceClaim") continue;
    text += (text.empty() ? "" : ", ") + kind + "×" + std::to_string(piece.count);
  }
  for (const auto& rollout : expansion->rollouts) {
    for (const auto& piece : rollout.each) {
      text += (text.empty() ? "" : ", ") + std::string(piece.object.StringAt({"kind"})) + "×" +
              std::to_string(rollout.fresh);
    }
    for (const auto& pod : rollout.old) {
      text += " for " + std::to_string(pod.count);
      for (const auto& object : pod.objects) text += " " + std::string(object.StringAt({"kind"}));
    }
  }
  return text;
}

TEST_CASE("claims: each pod has a claim from its template", "[inspect]") {
  const auto pod = Expand(Workload("apiVersion: v1\nkind: Pod", kPodSpec), WithTemplate());
  REQUIRE(Pieces(pod) == "ResourceClaim×1, Pod×1");
  CHECK(pod->pieces[0].object ==
        Yaml("{apiVersion: resource.k8s.io/v1beta1, kind: ResourceClaim, metadata: {namespace: "
             "shop, name: w-g-…, labels: {a: b}}, spec: {devices: {}}}"));
  CHECK(Pieces(Expand(Deployment(kPodSpec), WithTemplate())) == "ResourceClaim×4, Pod×4");
  const auto cron = Workload(
      "apiVersion: batch/v1\nkind: CronJob",
      "{jobTemplate: {spec: {parallelism: 2, template: {spec: " + std::string(kPodSpec) + "}}}}");
  CHECK(Pieces(Expand(cron, WithTemplate())) == "ResourceClaim×2, Pod×2, Pod×8");
  CHECK(inspect::ClaimTemplatesOf(cron) == std::set<std::string>{"gpu"});
}

TEST_CASE("claims: a rollout deletes the claims of the pods that it deletes", "[inspect]") {
  std::string other = kPodSpec;
  other.replace(other.find("image: a"), 8, "image: b");
  CHECK(Pieces(ExpandChange(Deployment(kPodSpec), Deployment(other), WithTemplate())) ==
        "ResourceClaim×4, Pod×4 for 4 ResourceClaim Pod");
  SECTION("claims from a template that is gone are not subtracted") {
    other.replace(other.find("gpu"), 3, "old");
    CHECK(Pieces(ExpandChange(Deployment(kPodSpec), Deployment(other), WithTemplate())) ==
          "ResourceClaim×4, Pod×4 for 4 Pod");
  }
}

TEST_CASE("claims: a missing template is an error where claims are limited", "[inspect]") {
  const auto lacking = Expand(Deployment(kPodSpec), {.claim_templates = inspect::ClaimTemplates()});
  REQUIRE(lacking.has_error());
  CHECK(lacking.error().message ==
        "deployment.apps/w: there is no ResourceClaimTemplate \"gpu\", so the needs of its claims "
        "are not known");
  CHECK(Pieces(Expand(Deployment(kPodSpec), {})) == "Pod×4");
}

}  // namespace claims_test
