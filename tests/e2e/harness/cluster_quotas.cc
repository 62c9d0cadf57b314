#include "tests/e2e/harness/cluster_quotas.h"

#include <algorithm>
#include <stdexcept>

#include "pkg/config/yaml.h"
#include "tests/e2e/harness/files.h"
#include "tests/source_dir.h"

namespace e2e {
namespace {

constexpr const char* kCollection = "/apis/quota-controller-manager.io/v1alpha1/clusterquotas";
constexpr const char* kDefinition = "clusterquotas.quota-controller-manager.io";
constexpr const char* kUsageDefinition = "usagedefinitions.quota-controller-manager.io";
constexpr const char* kAppliedDefinition = "appliedclusterquotas.quota-controller-manager.io";
constexpr const char* kDefinedDefinition = "definedquotas.quota-controller-manager.io";
constexpr const char* kUsageCollection =
    "/apis/quota-controller-manager.io/v1alpha1/usagedefinitions";

// Creates a CRD of manifests/crds. Returns once `collection` is served.
void DefineQuotas(Api& api, const std::string& file, const std::string& collection) {
  const auto definition =
      config::ParseYaml(ReadFile(tests::SourcePath("/manifests/crds/") + file + ".yaml"));
  if (!definition) throw std::runtime_error(definition.error().message);
  api.Create(PathOf("customresourcedefinitions"), *definition);
  WaitServed(api, collection);
}

void Undefine(Api& api, const std::string& definition) {
  const std::string path = PathOf("customresourcedefinitions", "", definition);
  (void)api.Do({.verb = "DELETE", .path = path, .timeout = Stretched(10s)});
  // The server deletes all its objects first, and some scenarios have a thousand.
  (void)PollUntil([&] { return !api.Exists(path); }, Stretched(60s));
}

}  // namespace

std::string ConditionOf(const json::Value& object, const std::string& type) {
  const json::Value* conditions = object.At({"status", "conditions"});
  if (conditions == nullptr) return "";
  for (const json::Value& one : *conditions->AsArray()) {
    if (one.StringAt({"type"}) != type) continue;
    return std::string(one.StringAt({"status"})) + " " + std::string(one.StringAt({"reason"})) +
           ": " + std::string(one.StringAt({"message"}));
  }
  return "";
}

ServerOptions Managed() { return {.quota_plugin = true, .controllers = true}; }

ClusterQuotas::ClusterQuotas(Api& api, bool installed) : api_(api), installed_(installed) {
  if (!installed) DefineQuotas(api_, "clusterquota-crd", kCollection);
}

ClusterQuotas::~ClusterQuotas() {
  if (!installed_) Undefine(api_, kDefinition);
}

json::Value UsageDefinitions::Create(const std::string& name, const std::string& spec) {
  json::Value object = Definition(name, Json(spec));
  const std::size_t dot = name.find('.');
  object.Make({"spec", "resource", "resource"}) = name.substr(0, dot);
  object.Make({"spec", "resource", "group"}) = dot == std::string::npos ? "" : name.substr(dot + 1);
  return api_.Create(Path(), object);
}

void UsageDefinitions::WaitCondition(const std::string& name, const std::string& type,
                                     const std::string& begin) {
  Eventually("the condition " + type + " of " + name + " is " + begin, [&]() -> std::string {
    const std::string is = ConditionOf(api_.Get(Path(name)), type);
    return is.starts_with(begin) ? "" : "it is: " + is;
  });
}

AppliedQuotas::AppliedQuotas(Api& api) : api_(api) {
  DefineQuotas(api_, "appliedclusterquota-crd",
               "/apis/quota-controller-manager.io/v1alpha1/appliedclusterquotas");
}

DefinedQuotas::DefinedQuotas(Api& api) : api_(api) {
  DefineQuotas(api_, "definedquota-crd",
               "/apis/quota-controller-manager.io/v1alpha1/definedquotas");
}

DefinedQuotas::~DefinedQuotas() { Undefine(api_, kDefinedDefinition); }

std::string DefinedQuotas::Path(const std::string& ns, const std::string& name) {
  return "/apis/quota-controller-manager.io/v1alpha1/namespaces/" + ns + "/definedquotas" +
         (name.empty() ? "" : "/" + name);
}

void DefinedQuotas::WaitEnforced(const std::string& ns, const std::string& name,
                                 const Quantities& hard) {
  Eventually("the DefinedQuota " + name + " enforces its limits", [&]() -> std::string {
    const auto answer = api_.Do({.path = Path(ns, name)});
    if (!answer) return answer.error().message;
    return Unenforced(Json(answer->body), hard);
  });
}

void DefinedQuotas::WaitGone(const std::string& ns, const std::string& name) {
  Eventually("there is no DefinedQuota " + name,
             [&]() -> std::string { return api_.Exists(Path(ns, name)) ? "it is there" : ""; });
}

AppliedQuotas::~AppliedQuotas() { Undefine(api_, kAppliedDefinition); }

std::string AppliedQuotas::Path(const std::string& ns, const std::string& name) {
  return "/apis/quota-controller-manager.io/v1alpha1/namespaces/" + ns + "/appliedclusterquotas" +
         (name.empty() ? "" : "/" + name);
}

void AppliedQuotas::WaitStatus(const std::string& ns, const std::string& quota,
                               const json::Value& members) {
  // The daemon writes each object at most every ten seconds.
  Eventually(
      "the AppliedClusterQuota " + ns + "/" + quota + " has " + json::Write(members),
      [&]() -> std::string {
        const auto answer = api_.Do({.path = Path(ns, quota)});
        if (!answer) return answer.error().message;
        const json::Value object = Json(answer->body);
        for (const auto& [member, value] : *members.AsObject()) {
          const json::Value* found = object.At({"status", member});
          if (found == nullptr || *found != value) return answer->body;
        }
        return "";
      },
      Patience() + Stretched(15s));
}

void AppliedQuotas::WaitGone(const std::string& ns, const std::string& quota) {
  Eventually(
      "there is no AppliedClusterQuota " + ns + "/" + quota,
      [&]() -> std::string { return api_.Exists(Path(ns, quota)) ? "it is there" : ""; },
      Patience() + Stretched(15s));
}

UsageDefinitions::UsageDefinitions(Api& api) : api_(api) {
  DefineQuotas(api_, "usagedefinition-crd", kUsageCollection);
}

UsageDefinitions::~UsageDefinitions() { Undefine(api_, kUsageDefinition); }

std::string UsageDefinitions::Path(const std::string& name) {
  return kUsageCollection + (name.empty() ? "" : "/" + name);
}

json::Value UsageDefinitions::Definition(const std::string& name, const json::Value& spec) {
  return json::Object{{"apiVersion", "quota-controller-manager.io/v1alpha1"},
                      {"kind", "UsageDefinition"},
                      {"metadata", json::Object{{"name", name}}},
                      {"spec", spec}};
}

std::string ClusterQuotas::Path(const std::string& name) {
  return kCollection + (name.empty() ? "" : "/" + name);
}

json::Value ClusterQuotas::Quota(const std::string& name, const json::Value& spec) {
  return json::Object{{"apiVersion", "quota-controller-manager.io/v1alpha1"},
                      {"kind", "ClusterQuota"},
                      {"metadata", json::Object{{"name", name}}},
                      {"spec", spec}};
}

void ClusterQuotas::WaitUsed(const std::string& name, const Quantities& used) {
  Eventually("cluster quota " + name + " uses " + ToText(used), [&]() -> std::string {
    const json::Value quota = Get(name);
    const auto seen = ToQuantities(quota.At({"status", "used"}));
    const auto hard = ToQuantities(quota.At({"status", "hard"}));
    if (seen == used && hard == ToQuantities(quota.At({"spec", "hard"}))) return "";
    return json::Write(quota);
  });
}

void ClusterQuotas::WaitStatus(const std::string& name, const json::Value& members) {
  Eventually("the status of cluster quota " + name + " has " + json::Write(members),
             [&]() -> std::string {
               const json::Value quota = Get(name);
               for (const auto& [member, value] : *members.AsObject()) {
                 const json::Value* found = quota.At({"status", member});
                 if (found == nullptr || *found != value) return json::Write(quota);
               }
               return "";
             });
}

std::string ClusterQuotas::Condition(const std::string& name, const std::string& type) {
  return ConditionOf(Get(name), type);
}

void ClusterQuotas::WaitCondition(const std::string& name, const std::string& type,
                                  const std::string& begin, std::chrono::milliseconds timeout) {
  Eventually(
      "cluster quota " + name + " has the condition " + type + " " + begin,
      [&]() -> std::string {
        const std::string condition = Condition(name, type);
        return condition.starts_with(begin) ? "" : "it is: " + condition;
      },
      timeout);
}

TeamNamespace::TeamNamespace(Api& api, const std::string& team, const std::string& name)
    : api_(api), name_(name) {
  json::Value ns = Namespace(name_);
  ns.Make({"metadata", "labels"}) = json::Object{{"team", team}};
  api_.Create(PathOf("namespaces"), ns);
}

TeamNamespace::~TeamNamespace() {
  for (const std::string& path : {Pods(), PathOf("namespaces", "", name_)}) {
    (void)api_.Do({.verb = "DELETE", .path = path, .query = {{"gracePeriodSeconds", "0"}}});
  }
}

Attempt TeamNamespace::Try(const std::string& pod, bool dry_run) {
  client::ApiRequest request = PostOf(Pods(), Pod(pod));
  if (dry_run) request.query.emplace_back("dryRun", "All");
  return ToAttempt(api_.Do(std::move(request)));
}

void TeamNamespace::Relabel(const std::string& team) {
  api_.MergePatch(PathOf("namespaces", "", name_),
                  Json(R"({"metadata":{"labels":{"team":")" + team + R"("}}})"));
}

std::size_t TeamNamespace::CountPods() {
  const json::Value list = api_.Get(Pods());
  const json::Value* items = list.At({"items"});
  return items == nullptr || items->AsArray() == nullptr ? 0 : items->AsArray()->size();
}

std::string SelectTeam(const std::string& team, const std::string& more) {
  return R"({"namespaceSelector":{"matchLabels":{"team":")" + team + R"("}},)" + more + "}";
}

bool IsSaid(Api& api, const std::string& quota, const std::string& reason) {
  const json::Value events = api.Get(PathOf("events", "default"));
  const json::Value* items = events.At({"items"});
  if (items == nullptr || items->AsArray() == nullptr) return false;
  return std::ranges::any_of(*items->AsArray(), [&](const json::Value& event) {
    return event.StringAt({"involvedObject", "kind"}) == "ClusterQuota" &&
           event.StringAt({"involvedObject", "name"}) == quota &&
           event.StringAt({"reason"}) == reason;
  });
}

}  // namespace e2e
