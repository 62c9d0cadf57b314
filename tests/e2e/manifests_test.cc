// manifests/ on a real API server: every object is accepted, and no role grants more than needed.
#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "tests/e2e/harness/admission.h"
#include "tests/e2e/harness/cluster_quotas.h"
#include "tests/e2e/harness/installation.h"
#include "tests/e2e/harness/wait.h"
#include "tests/source_dir.h"

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

// Returns whether the daemon's ServiceAccount may do this in all namespaces.
bool Allowed(Api& api, const std::string& verb, const std::string& group,
             const std::string& resource) {
  json::Value review = Json(R"({"apiVersion":"authorization.k8s.io/v1",
      "kind":"SubjectAccessReview"})");
  review.Make({"spec", "user"}) =
      std::string("system:serviceaccount:") + kQuotaSystem + ":quota-controller-manager";
  review.Make({"spec", "resourceAttributes", "verb"}) = verb;
  review.Make({"spec", "resourceAttributes", "group"}) = group;
  review.Make({"spec", "resourceAttributes", "resource"}) = resource;
  const json::Value answer =
      api.Create("/apis/authorization.k8s.io/v1/subjectaccessreviews", review);
  const json::Value* allowed = answer.At({"status", "allowed"});
  return allowed != nullptr && allowed->AsBool().value_or(false);
}

// The namespaced kinds of Kubernetes itself that can be listed: their groups have no dot, or are
// of k8s.io.
std::set<std::pair<std::string, std::string>> BuiltinKinds(Api& api) {
  std::map<std::string, std::string> groups{{"", "/api/v1"}};
  const json::Value all = api.Get("/apis");
  for (const json::Value& group : *all.At({"groups"})->AsArray()) {
    const std::string name(group.StringAt({"name"}));
    if (name.find('.') != std::string::npos && !name.ends_with(".k8s.io")) continue;
    groups[name] = "/apis/" + std::string(group.StringAt({"preferredVersion", "groupVersion"}));
  }
  std::set<std::pair<std::string, std::string>> kinds;
  for (const auto& [group, path] : groups) {
    const json::Value served = api.Get(path);
    for (const json::Value& kind : *served.At({"resources"})->AsArray()) {
      const bool namespaced = kind.At({"namespaced"})->AsBool().value_or(false);
      if (!namespaced || !Texts(kind.At({"verbs"})).contains("list")) continue;
      kinds.emplace(group, kind.StringAt({"name"}));
    }
  }
  return kinds;
}

}  // namespace

TEST_CASE(
    "the shipped roles allow the daemon to list every kind of Kubernetes except Secrets, which "
    "need an extra role",
    "[e2e][manifests][real-only]") {
  Installation installation;
  Api& api = installation.api();
  for (const std::string& folder : ManifestFolders()) installation.Apply(folder);
  const auto secrets = [&](const std::string& verb) { return Allowed(api, verb, "", "secrets"); };
  CHECK_FALSE(secrets("get"));
  CHECK_FALSE(secrets("list"));
  CHECK_FALSE(secrets("watch"));
  const auto kinds = BuiltinKinds(api);
  CHECK(kinds.size() > 25);
  for (const auto& [group, resource] : kinds) {
    if (resource == "secrets") continue;
    INFO(group << "/" << resource);
    CHECK(Allowed(api, "list", group, resource));
    CHECK(Allowed(api, "watch", group, resource));
  }
  installation.Kubectl({"apply", "-f", kCountSecrets});
  Eventually("Secrets are listed", [&] { return secrets("list") ? "" : "not allowed"; });
  CHECK(secrets("watch"));
  CHECK_FALSE(secrets("get"));
}

TEST_CASE("every object in manifests/ is accepted by a kube-apiserver, without a warning",
          "[e2e][manifests][real-only][slow][server]") {
  Installation installation;
  for (const std::string& folder : ManifestFolders()) {
    INFO(folder);
    // The namespace first: it sets the pod security level.
    CHECK_NOTHROW(installation.Apply(folder));
    CHECK_NOTHROW(installation.Apply(folder));  // and again, as in an upgrade
  }
  installation.Kubectl({"apply", "-f", tests::SourcePath("/manifests/manual-webhook")});
}

TEST_CASE("kubectl shows a warning when a ClusterQuota with children is deleted",
          "[e2e][manifests][real-only][since-1.30]") {
  Installation installation;
  installation.Apply("cluster-enforced");
  installation.Kubectl({"apply", "-f", kDeletionWarning});
  installation.Kubectl({"wait", "--for=condition=Established", "--timeout=60s", "crd", "--all"});
  for (const char* name : {"company", "alone", "planned"}) {
    installation.api().Create(ClusterQuotas::Path(), ClusterQuotas::Quota(name, json::Object{}));
  }
  for (const char* parent : {"company", "planned"}) {
    installation.api().MergePatch(ClusterQuotas::Path(parent) + "/status",
                                  Json(R"({"status":{"children":2}})"));
  }
  const auto deletion = [&](const std::string& name, bool dry_run) {
    std::vector<std::string> arguments{"delete", "clusterquota", name};
    if (dry_run) arguments.emplace_back("--dry-run=server");
    return installation.Kubectl(std::move(arguments));
  };
  const std::string warning =
      "ClusterQuota company has 2 children: without it only their own limits hold, and their Ready "
      "is False, ParentNotFound";
  // An API server takes some seconds to follow a new policy.
  std::string shown;
  Eventually("kubectl warns", [&] {
    shown = deletion("company", true);
    return shown.find(warning) != std::string::npos ? std::string() : shown;
  });
  CHECK_THAT(shown, Catch::StartsWith("Warning: "));
  CHECK_THAT(deletion("alone", false), !Catch::Contains("Warning"));
  installation.Kubectl({"annotate", "clusterquota", "planned",
                        "quota-controller-manager.io/delete-with-children=true"});
  CHECK_THAT(deletion("planned", false), !Catch::Contains("Warning"));
  CHECK_THAT(deletion("company", false), Catch::Contains(warning));
  CHECK_FALSE(installation.api().Exists(ClusterQuotas::Path("company")));
}

TEST_CASE("no kind of manifests/ is in the category all, which kubectl delete all --all deletes",
          "[e2e][manifests][server]") {
  Scenario s;
  const ClusterQuotas quotas(s.api());
  const AppliedQuotas applied(s.api());
  const UsageDefinitions definitions(s.api());
  // Each of the definitions reaches discovery on its own.
  json::Value served;
  Eventually("all kinds are served", [&]() -> std::string {
    served = s.api().Get("/apis/quota-controller-manager.io/v1alpha1");
    std::set<std::string> names;
    for (const json::Value& kind : served.ArrayAt({"resources"})) {
      names.emplace(kind.StringAt({"name"}));
    }
    const bool all = names.contains("clusterquotas") && names.contains("appliedclusterquotas") &&
                     names.contains("usagedefinitions");
    return all ? "" : json::Write(served);
  });
  for (const json::Value& kind : served.ArrayAt({"resources"})) {
    INFO(json::Write(kind));
    CHECK_FALSE(Texts(kind.At({"categories"})).contains("all"));
  }
}

TEST_CASE("the shipped pods are admitted to a restricted namespace",
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

TEST_CASE("the folder for GKE has the quota that critical pods need",
          "[e2e][manifests][real-only]") {
  const TempDir dir;
  const std::string demands = dir.Write("admission.yaml", R"(
apiVersion: apiserver.config.k8s.io/v1
kind: AdmissionConfiguration
plugins:
- name: ResourceQuota
  configuration:
    apiVersion: apiserver.config.k8s.io/v1
    kind: ResourceQuotaConfiguration
    limitedResources:
    - resource: pods
      matchScopes:
      - scopeName: PriorityClass
        operator: In
        values: [system-node-critical, system-cluster-critical]
)");
  Installation installation({.quota_plugin = true, .admission_config = demands});
  const auto replica = [&](const std::string& folder) {
    for (json::Value& object : RenderManifests(folder)) {
      if (object.StringAt({"kind"}) != "Deployment") continue;
      json::Value pod = *object.At({"spec", "template"});
      pod.Make({"metadata", "name"}) = FreshName("replica");
      return ToAttempt(installation.api().Do(PostOf(PathOf("pods", kQuotaSystem), pod)));
    }
    throw std::runtime_error("no Deployment in " + folder);
  };
  installation.Apply("base");
  const Attempt refused = replica("base");
  INFO(refused.Text());
  CHECK_FALSE(refused.ok());
  CHECK(refused.message.find("insufficient quota to match these scopes") != std::string::npos);
  installation.Apply("gke");
  const Daemon counts(installation.AsDeployed("gke"));  // for GKE's own controller
  Eventually("a replica is admitted", [&] {
    const Attempt attempt = replica("gke");
    return attempt.ok() ? std::string() : attempt.Text();
  });
}

TEST_CASE("the shipped roles have no verb * and allow only the writes that the daemon makes",
          "[e2e][manifests][real-only]") {
  const std::set<std::string> allowed{"patch resourcequotas/status",
                                      "patch clusterquotas/status",
                                      "patch usagedefinitions/status",
                                      "create appliedclusterquotas",
                                      "patch appliedclusterquotas",
                                      "delete appliedclusterquotas",
                                      "create definedquotas",
                                      "patch definedquotas",
                                      "delete definedquotas",
                                      "patch definedquotas/status",
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
  // These roles are for users, not for the daemon.
  const std::set<std::string> of_people{"clusterquotas-edit", "karmadaquotas-edit",
                                        "usagedefinitions-edit"};
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
        CHECK_FALSE(Texts(rule.At({"apiGroups"})).contains("*"));
        if (of_people.contains(name)) continue;
        for (const std::string& write : Writes(rule)) {
          CHECK(allowed.contains(write));
          // Restricted to a name or a namespace wherever RBAC can do that.
          const bool narrow =
              write.ends_with("secrets") || write == "update leases" ||
              write == "patch validatingwebhookconfigurations" ||
              (write.starts_with("delete ") && !write.ends_with(" appliedclusterquotas") &&
               !write.ends_with(" definedquotas"));
          CHECK((!narrow || !Texts(rule.At({"resourceNames"})).empty()));
        }
      }
    }
  }
  CHECK(roles > 10);
}

}  // namespace e2e::manifests_test
