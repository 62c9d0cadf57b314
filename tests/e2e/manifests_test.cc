// manifests/ on a real API server: every object is accepted, and no role grants more than needed.
#include <catch2/catch.hpp>
#include <set>

#include "tests/e2e/harness/admission.h"
#include "tests/e2e/harness/installation.h"

namespace e2e::manifests_test {
namespace {

std::set<std::string> Texts(const json::Value* list) {
  std::set<std::string> texts;
  if (list == nullptr || !list->IsArray()) return texts;
  for (const json::Value& text : *list->AsArray()) texts.emplace(*text.AsString());
  return texts;
}

// "patch resourcequotas/status": the rights of a rule beyond reading.
std::set<std::string> Writes(const json::Value& rule) {
  std::set<std::string> writes;
  for (const std::string& verb : Texts(rule.At({"verbs"}))) {
    if (verb == "get" || verb == "list" || verb == "watch") continue;
    for (const std::string& resource : Texts(rule.At({"resources"}))) {
      writes.insert(std::string(verb).append(" ").append(resource));
    }
  }
  return writes;
}

}  // namespace

TEST_CASE("every object in manifests/ is accepted by a kube-apiserver, without a warning",
          "[e2e][manifests][real-only][slow]") {
  Installation installation;
  for (const std::string& folder : ManifestFolders()) {
    INFO(folder);
    // The namespace first: it sets the pod security level.
    CHECK_NOTHROW(installation.Apply(folder));
    CHECK_NOTHROW(installation.Apply(folder));  // and again, as in an upgrade
  }
  installation.Kubectl({"apply", "-f", QCM_SOURCE_DIR "/manifests/manual-webhook"});
}

TEST_CASE("the shipped pods are let into a namespace that is restricted",
          "[e2e][manifests][real-only]") {
  Installation installation;
  installation.Apply("base");
  for (const std::string& folder : ManifestFolders()) {
    for (json::Value& object : RenderManifests(folder)) {
      if (object.StringAt({"kind"}) != "Deployment") continue;
      INFO(folder);
      json::Value pod = *object.At({"spec", "template"});
      pod.Make({"metadata", "name"}) = FreshName("pod");
      const Attempt made =
          ToAttempt(installation.api().Do(PostOf(PathOf("pods", kQuotaSystem), pod)));
      CHECK(made.Text().starts_with("201"));
      CHECK(made.warnings.empty());
      // A pod that the level forbids is refused, so the check above proves something.
      pod.Make({"metadata", "name"}) = FreshName("pod");
      pod.Make({"spec", "hostNetwork"}) = true;
      CHECK(ToAttempt(installation.api().Do(PostOf(PathOf("pods", kQuotaSystem), pod))).code ==
            403);
    }
  }
}

TEST_CASE("the shipped roles name no verb * and let nothing be written but what the daemon writes",
          "[e2e][manifests][real-only]") {
  const std::set<std::string> allowed{"patch resourcequotas/status",
                                      "patch karmadaquotas/status",
                                      "create events",
                                      "patch events",
                                      "create leases",
                                      "update leases",
                                      "patch secrets",
                                      "create validatingwebhookconfigurations",
                                      "patch validatingwebhookconfigurations",
                                      "delete validatingwebhookconfigurations",
                                      "create tokenreviews",
                                      "create subjectaccessreviews"};
  // For people, not for the daemon.
  const std::set<std::string> of_people{"karmadaquotas-edit"};
  int roles = 0;
  for (const std::string& folder : ManifestFolders()) {
    for (const json::Value& object : RenderManifests(folder)) {
      const std::string_view kind = object.StringAt({"kind"});
      const std::string name(object.StringAt({"metadata", "name"}));
      if (kind != "Role" && kind != "ClusterRole") continue;
      ++roles;
      for (const json::Value& rule : *object.At({"rules"})->AsArray()) {
        INFO(folder << " " << kind << " " << name << ": " << json::Write(rule));
        CHECK_FALSE(Texts(rule.At({"verbs"})).contains("*"));
        const bool all = Texts(rule.At({"resources"})).contains("*") ||
                         Texts(rule.At({"apiGroups"})).contains("*");
        CHECK((!all || name == "quota-controller-manager-count-any"));
        if (of_people.contains(name)) continue;
        for (const std::string& write : Writes(rule)) {
          CHECK(allowed.contains(write));
          // Restricted to a name or a namespace wherever RBAC can do that.
          const bool narrow = write.ends_with("secrets") || write == "update leases" ||
                              write == "patch validatingwebhookconfigurations" ||
                              write.starts_with("delete ");
          CHECK((!narrow || !Texts(rule.At({"resourceNames"})).empty()));
        }
      }
    }
  }
  CHECK(roles > 10);
}

}  // namespace e2e::manifests_test
