// The definitions of our kinds against the parser of the daemon: what an API server accepts, the
// daemon reads completely, and what it refuses without need is listed here.
#include <catch2/catch.hpp>
#include <filesystem>
#include <functional>
#include <set>

#include "pkg/config/yaml.h"
#include "pkg/inspect/applied.h"
#include "pkg/quota/cluster/cluster_quota.h"
#include "pkg/quota/karmada/karmada_quota.h"
#include "pkg/quota/quantity_field.h"
#include "pkg/quota/uncountable_names.h"
#include "pkg/quota/usage/usage_definition.h"
#include "tests/e2e/harness/cluster_quotas.h"
#include "tests/e2e/harness/federation.h"
#include "tests/e2e/harness/files.h"
#include "tests/e2e/harness/odd_quotas.h"
#include "tests/source_dir.h"

namespace e2e::definitions_test {
namespace {

constexpr std::uint64_t kSeed = 20261127;

// What definitions refuse although the parser reads it: a part of the server's message.
const std::vector<std::string> kStricter = {
    // Some evaluator owns such a name, but no object of a valid cluster counts under it.
    "a name can never be counted",
    // A part of an object is no mistake of the format, but nobody means it.
    "counted in whole numbers",
    // The parser enforces what can be enforced of limits and guarantees that contradict each other,
    // and what no object can match limits nothing.
    "must not be above hard", "only what is limited in hard can be guaranteed",
    "with a scope of pods only", "with the scope BestEffort only",
    "with the scope VolumeAttributesClass only", "with a scope only pods", "exclude each other",
    "a quota cannot be its own parent",
    "should match '^[a-z0-9]",  // a parent that no ClusterQuota is called: it is not found
    "In and NotIn need at least one", "must be Exists for a scope that has no class",
    "Exists and DoesNotExist take no values",
    R"(supported values: "PriorityClass")",  // a scope that does not exist
    "must be Terminating, NotTerminating",
    // The parser trims blanks, reads numbers that are not whole, and reads "." and "+" as zero.
    "must be a quantity that is not negative", R"(must be of type integer,string: "number")",
    R"(should match '^\+?)",
    // A negative limit is read, as in ironcore's quotas, and admits nothing.
    "should be greater than or equal to 0",
    // Bounds of the cost of a rule: longer texts and lists are read.
    "Too long: may not be", "must have at most",
    "should be at least 1 chars",   // an empty parent is none
    "cannot unmarshal number",      // the parser reads numbers of any size
    R"(supported values: "Deny")",  // "" is read as Deny
};

// Why the daemon does not read all of the object, and count all of its limits; "" if it does.
using Unread = std::function<std::string(const json::Value& object)>;

std::string WhyUnread(const base::Result<quota::Quota>& quota) {
  if (!quota) return quota.error().message;
  if (!quota->unreadable.why.empty()) return quota->unreadable.why;
  return quota->garbage.why;
}

std::string Unreadable(const json::Value& object, std::string_view member) {
  return quota::ReadAmounts(object.At({"status", member}), member, quota::Negative::kUnreadable)
      .why;
}

std::string UnreadQuota(const quota::QuotaApi& api, const json::Value& object) {
  const auto quota = quota::ParseQuota(object, api.form);
  if (std::string why = WhyUnread(quota); !why.empty()) return why;
  for (const std::string& name : quota::UncountableNames(api, quota->hard)) {
    const bool definable = api.form.cluster && quota::usage::WhyNoName(name).empty();
    if (!definable) return "nobody counts '" + name + "'";
  }
  if (std::string why = Unreadable(object, "available"); !why.empty()) return why;
  for (const json::Value& one : object.ArrayAt({"status", "largest"})) {
    const auto read = quota::ReadAmounts(one.At({"used"}), "largest", quota::Negative::kUnreadable);
    if (!read.why.empty()) return read.why;
  }
  return "";
}

std::string UnreadApplied(const json::Value& object) {
  if (std::string why = WhyUnread(inspect::QuotaOfApplied(object)); !why.empty()) return why;
  for (const char* member : {"available", "usedInNamespace", "guaranteedBelow"}) {
    if (std::string why = Unreadable(object, member); !why.empty()) return why;
  }
  return "";
}

// Sends each object with one of its parts as a dry run, and compares the answer with the parser.
class Definitions {
 public:
  Definitions(Api& api, Unread unread) : api_(api), unread_(std::move(unread)) {}

  // Objects that are created.
  void Create(const std::string& path, const std::vector<json::Value>& objects) {
    std::vector<client::ApiRequest> requests;
    requests.reserve(objects.size());
    for (const json::Value& object : objects) requests.push_back(PostOf(path, object));
    Compare(std::move(requests), objects);
  }
  // Statuses of a stored object.
  void Patch(const std::string& path, const std::vector<json::Value>& statuses) {
    std::vector<client::ApiRequest> requests;
    std::vector<json::Value> objects;
    for (const json::Value& status : statuses) {
      json::Value object = json::Object{{"status", status}};
      requests.push_back(PatchOf(path + "/status", json::Write(object)));
      object.Make({"metadata", "name"}) = "stored";
      objects.push_back(std::move(object));
    }
    Compare(std::move(requests), objects);
  }

  // Also checks that both occurred: else nothing was compared.
  void AddReasonsTo(std::set<std::string>& reasons) const {
    const std::size_t all = accepted_ + refused_;
    INFO(accepted_ << " of " << all << " accepted");
    CHECK(accepted_ * 5 > all);
    CHECK(refused_ * 5 > all);
    reasons.insert(reasons_.begin(), reasons_.end());
  }

 private:
  void Compare(std::vector<client::ApiRequest> requests, const std::vector<json::Value>& sent) {
    for (client::ApiRequest& request : requests) request.query.emplace_back("dryRun", "All");
    const auto answers = api_.DoAll(std::move(requests), 8);
    REQUIRE(answers.size() == sent.size());
    for (std::size_t i = 0; i < sent.size(); ++i) {
      if (answers[i]) {
        ++accepted_;
        const std::string why = UnreadOf(Json(answers[i]->body));
        INFO("accepted: " << json::Write(sent[i]));
        CHECK(why == "");
        continue;
      }
      const Attempt refusal = ToAttempt(answers[i]);
      INFO("refused: " << json::Write(sent[i]) << ": " << refusal.Text());
      // Whatever else: a server that failed says nothing about definitions.
      CHECK((refusal.code == 422 || refusal.code == 400));
      ++refused_;
      if (!UnreadOf(sent[i]).empty()) continue;
      bool known = false;
      for (const std::string& reason : kStricter) {
        if (refusal.message.find(reason) == std::string::npos) continue;
        reasons_.insert(reason);
        known = true;
      }
      CHECK(known);
    }
  }

  // A dry run stores nothing, so its answer has no resourceVersion.
  [[nodiscard]] std::string UnreadOf(json::Value object) const {
    object.Make({"metadata", "uid"}) = "u";
    object.Make({"metadata", "resourceVersion"}) = "1";
    return unread_(object);
  }

  Api& api_;
  Unread unread_;
  std::size_t accepted_ = 0;
  std::size_t refused_ = 0;
  std::set<std::string> reasons_;
};

template <typename Make>
std::vector<json::Value> Several(int count, const Make& make) {
  std::vector<json::Value> made;
  made.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) made.push_back(make());
  return made;
}

const std::vector<std::string> kCoreNames = {
    "cpu",
    "memory",
    "requests.cpu",
    "limits.memory",
    "pods",
    "services",
    "requests.storage",
    "services.nodeports",
    "hugepages-2Mi",
    "requests.hugepages-1Gi",
    "count/deployments.apps",
    "count/pods",
    "requests.example.com/gpu",
    "requests.rdma/hca",
    "requests.deviceclass.resource.kubernetes.io/gpu",
    "example.com/bytes",
    "gold.storageclass.storage.k8s.io/requests.storage",
    "a.b.storageclass.storage.k8s.io/persistentvolumeclaims",
    "gpu.deviceclass.resource.k8s.io/devices"};
const std::vector<std::string> kKarmadaNames = {"cpu",
                                                "memory",
                                                "requests.cpu",
                                                "requests.memory",
                                                "pods",
                                                "services",
                                                "secrets",
                                                "count/deployments.apps",
                                                "count/pods",
                                                "example.com/gpu",
                                                "requests.example.com/gpu",
                                                "rdma/hca"};

void CompareClusterQuotas(std::set<std::string>& reasons) {
  Scenario s;
  const ClusterQuotas served(s.api());
  const quota::QuotaApi api = quota::ClusterQuotaApi();
  OddQuotas odd(kSeed, kCoreNames);
  const auto unread = [&](const json::Value& object) { return UnreadQuota(api, object); };
  Definitions definitions(s.api(), unread);
  const auto tried = [&] { return ClusterQuotas::Quota("tried", odd.ClusterSpec()); };
  definitions.Create(ClusterQuotas::Path(), Several(400, tried));
  s.api().Create(ClusterQuotas::Path(), ClusterQuotas::Quota("stored", Json("{}")));
  const auto status = [&] { return odd.ClusterStatus(); };
  definitions.Patch(ClusterQuotas::Path("stored"), Several(200, status));
  definitions.AddReasonsTo(reasons);
}

json::Value KarmadaQuota(const std::string& name, const json::Value& spec) {
  return json::Object{{"apiVersion", "policy.karmada.io/v1alpha1"},
                      {"kind", "KarmadaQuota"},
                      {"metadata", json::Object{{"name", name}}},
                      {"spec", spec}};
}

void CompareKarmadaQuotas(std::set<std::string>& reasons) {
  Federation f({.reachable = false});
  const quota::QuotaApi api = quota::KarmadaQuotaApi();
  OddQuotas odd(kSeed, kKarmadaNames);
  const auto unread = [&](const json::Value& object) { return UnreadQuota(api, object); };
  Definitions definitions(f.api(), unread);
  const auto tried = [&] { return KarmadaQuota("tried", odd.Spec()); };
  definitions.Create(f.Path("karmadaquotas"), Several(300, tried));
  f.api().Create(f.Path("karmadaquotas"), KarmadaQuota("stored", json::Object{}));
  const auto status = [&] { return odd.Status(); };
  definitions.Patch(f.Path("karmadaquotas", "stored"), Several(150, status));
  definitions.AddReasonsTo(reasons);
}

void CompareAppliedQuotas(std::set<std::string>& reasons) {
  Scenario s;
  const AppliedQuotas served(s.api());
  OddQuotas odd(kSeed, kCoreNames);
  Definitions definitions(s.api(), UnreadApplied);
  const auto tried = [&]() -> json::Value {
    return json::Object{{"apiVersion", "quota-controller-manager.io/v1alpha1"},
                        {"kind", "AppliedClusterQuota"},
                        {"metadata", json::Object{{"name", "tried"}}},
                        {"status", odd.AppliedStatus()}};
  };
  definitions.Create(AppliedQuotas::Path(s.ns()), Several(300, tried));
  definitions.AddReasonsTo(reasons);
}

// The spec of a UsageDefinition of buckets.example.com, with these members instead of its own.
struct TriedUsage {
  const char* members;
  const char* refusal = "";  // a part of the server's message; "": accepted
};

json::Value UsageOf(const char* members) {
  json::Value spec = Json(R"({"resource":{"group":"example.com","resource":"buckets"},
                              "usage":[{"name":"example.com/bytes","path":".spec.size"}]})");
  const json::Value given = Json(members);
  for (const auto& [name, value] : *given.AsObject()) spec.Make({name}) = value;
  return UsageDefinitions::Definition("buckets.example.com", spec);
}

std::string UnreadUsage(const json::Value& object) {
  const auto definition = quota::usage::ParseUsageDefinition(object);
  return definition ? "" : definition.error().message;
}

// Members of the only element of spec.usage, besides its name.
std::string OneUsage(const std::string& members) {
  return R"({"usage":[{"name":"example.com/bytes",)" + members + "}]}";
}

const std::vector<std::string> kPaths = {".spec.size",
                                         ".spec.disks[*].size",
                                         ".metadata.labels['example.com/tier']",
                                         R"(.metadata.labels.example\\.com/tier)",
                                         ".['a.b'].c",
                                         R"(.metadata.labels['example\\.com/tier'])",
                                         ".a['b']['c'].d[*][*]",
                                         ".a-b/c_d~e:f",
                                         ".1.2.3.4.5.6.7.8.9.10.11.12.13.14.15.16"};

const std::vector<std::string> kNoPaths = {"spec.size",
                                           ".",
                                           ".spec..size",
                                           ".spec.disks[0].size",
                                           ".spec.disks[?(@.a==1)].size",
                                           ".spec.*",
                                           "..size",
                                           ".[*].size",
                                           ".spec['']",
                                           ".spec['a'b",
                                           ".spec['a']b",
                                           ".spec.['a']",
                                           ".spec.a b",
                                           ".spec.a'b",
                                           R"(.spec.a\\b)",
                                           R"(.spec['a\\b'])",
                                           R"(.spec[\"a\"])",
                                           ".spec.a]",
                                           ".spec.\u00e4",
                                           ".spec['*']",
                                           ".1.2.3.4.5.6.7.8.9.10.11.12.13.14.15.16.17"};

const std::vector<TriedUsage> kTriedUsages = {
    {R"({})"},
    {R"({"usage":[{"name":"example.com/bytes","path":".spec.size","times":".spec.n","default":"1Gi",
                   "timesDefault":0},
                  {"name":"a.b.example.com/A_b.c-d","path":".spec.n","default":5}]})"},
    {R"({"usage":[{"name":"example.com/iops","times":".spec.n","timesDefault":"2","class":{
                     "path":".spec.tier","field":".spec.iops",
                     "resource":{"group":"example.com","resource":"tiers"}}},
                  {"name":"example.com/bytes","path":".spec.size"},
                  {"name":"example.com/rate","times":".spec.n","timesDefault":"2","class":{
                     "path":".spec.tier","field":".spec.rate",
                     "resource":{"group":"example.com","resource":"tiers"}}}]})"},
    {R"({"countsWhile":{"path":".status.phase","notIn":["Released",""]},
         "scopes":[{"name":"example.com/tier","path":".metadata.labels['tier']"},
                   {"name":"example.com/bytes","path":".spec.region"}]})"},
    {R"({"countsWhile":{"path":".status.phase","in":["Bound"]},"scopes":[]})"},
    {R"({"invalidAmountPolicy":"Ignore","usage":[
         {"name":"example.com/bytes","path":".spec.size","format":"BinarySI"},
         {"name":"example.com/iops","format":"DecimalSI","class":{"path":".spec.tier",
          "field":".iops","resource":{"resource":"tiers"},"optional":true,
          "displayName":"storage tier"}}]})"},
    {R"({"countsWhile":{"path":".status.phase","in":["a"],"statusSubresourceOnly":true},
         "invalidAmountPolicy":"Unknown"})"},
    {R"({"countsWhile":{"path":".['status']['phase']","in":["a"],"statusSubresourceOnly":true}})"},
    {R"({"countsWhile":{"path":".spec.phase","in":["a"],"statusSubresourceOnly":false}})"},
    // The name, and the resource.
    {R"({"resource":{"group":"example.org","resource":"buckets"}})", "metadata.name must be"},
    {R"({"resource":{"resource":"buckets"}})", "metadata.name must be"},
    {R"({"resource":{"group":"Example.com","resource":"buckets"}})", "spec.resource.group"},
    {R"({"resource":{"group":"example.com","resource":"a.b"}})", "spec.resource.resource"},
    {R"({"resource":{"group":"example.com"}})", "spec.resource.resource"},
    {R"({"resource":{"group":"example-.com","resource":"buckets"}})", "spec.resource.group"},
    {R"({"resource":{"group":"example.com.","resource":"buckets"}})", "spec.resource.group"},
    {R"({"resource":null})", "spec.resource"},
    // What is used.
    {R"({"usage":null})", "must have at least one name in usage or scopes"},
    {R"({"usage":[]})", "must have at least one name in usage or scopes"},
    {R"({"usage":[{"name":"example.com/bytes"}]})", "must have either a path or a class"},
    {R"({"usage":[{"path":".spec.size"}]})", "spec.usage[0].name"},
    {R"({"usage":[{"name":"example.com/bytes","path":".spec.size","class":{"path":".spec.tier",
         "field":".spec.iops","resource":{"resource":"tiers"}}}]})",
     "must have either a path or a class"},
    {R"({"usage":[{"name":"example.com/bytes","class":{"path":".spec.tier",
         "resource":{"resource":"tiers"}}}]})",
     "class.field"},
    {R"({"usage":[{"name":"example.com/bytes","class":{"path":".spec.tier",
         "field":".spec.iops"}}]})",
     "class.resource"},
    {R"({"usage":[{"name":"example.com/bytes","path":".spec.size"},
                  {"name":"example.com/bytes","path":".spec.n"}]})",
     "Duplicate value"},
    {R"({"usage":[{"name":"example.com/iops","class":{"path":".spec.tier","field":".spec.iops",
                     "resource":{"resource":"tiers"}}},
                  {"name":"example.com/rate","class":{"path":".spec.class","field":".spec.rate",
                     "resource":{"resource":"tiers"}}}]})",
     "must have the same class.path"},
    {R"({"usage":[{"name":"example.com/iops","class":{"path":".spec.tier","field":".spec.iops",
                     "resource":{"resource":"tiers"}}},
                  {"name":"example.com/rate","times":".spec.n","class":{"path":".spec.tier",
                     "field":".spec.rate","resource":{"resource":"tiers"}}}]})",
     "must have the same class.path"},
    {R"({"usage":[{"name":"example.com/iops","class":{"path":".spec.tier","field":".spec.iops",
                     "resource":{"resource":"tiers"},"optional":true}},
                  {"name":"example.com/rate","class":{"path":".spec.tier","field":".spec.rate",
                     "resource":{"resource":"tiers"}}}]})",
     "must have the same class.path"},
    {R"({"usage":[{"name":"example.com/iops","class":{"path":".spec.tier","field":".spec.iops",
                     "resource":{"resource":"tiers"}}},
                  {"name":"example.com/rate","class":{"path":".spec.tier","field":".spec.rate",
                     "resource":{"resource":"tiers"},"displayName":"tier"}}]})",
     "must have the same class.path"},
    {R"({"usage":[{"name":"example.com/iops","class":{"path":".spec.tier","field":".spec.iops",
                     "resource":{"resource":"tiers"},"displayName":"tier."}}]})",
     "displayName"},
    {R"({"usage":[{"name":"example.com/bytes","path":".spec.size","format":"Binary"}]})",
     "spec.usage[0].format"},
    {R"({"invalidAmountPolicy":"Zero"})", "spec.invalidAmountPolicy"},
    // What is counted, and how it is told apart.
    {R"({"countsWhile":{"path":".spec.phase","in":["a"],"statusSubresourceOnly":true}})",
     "needs a path in .status"},
    {R"({"countsWhile":{"path":".statuses.a","in":["a"],"statusSubresourceOnly":true}})",
     "needs a path in .status"},
    {R"({"countsWhile":{"path":".status.phase"}})", "must have either in or notIn"},
    {R"({"countsWhile":{"path":".status.phase","in":["a"],"notIn":["b"]}})",
     "must have either in or notIn"},
    {R"({"countsWhile":{"path":".status.phase","in":[]}})", "should have at least 1 items"},
    {R"({"countsWhile":{"path":".status.phase","in":[1]}})", "must be of type string"},
    {R"({"countsWhile":{"in":["a"]}})", "spec.countsWhile.path"},
    {R"({"countsWhile":{"path":".spec.disks[*].phase","in":["a"]}})", "without [*]"},
    {R"({"scopes":[{"name":"example.com/tier","path":".spec.disks[*].tier"}]})", "without [*]"},
    {R"({"scopes":[{"name":"example.com/tier"}]})", "spec.scopes[0].path"},
    {R"({"scopes":[{"name":"tier","path":".spec.tier"}]})", "must be a domain of yours"},
    {R"({"scopes":[{"name":"example.com/tier","path":".spec.a"},
                   {"name":"example.com/tier","path":".spec.b"}]})",
     "Duplicate value"}};

const std::vector<std::pair<std::string, const char*>> kDefinedNames = {
    {"example.com/bytes", ""},
    {"notkubernetes.io/bytes", ""},
    {"1-a.b/C", ""},
    {"bytes", "must be a domain of yours"},
    {"count/buckets", "must be a domain of yours"},
    {"rdma/hca", "must be a domain of yours"},
    {"Example.com/bytes", "must be a domain of yours"},
    {"example.com/", "must be a domain of yours"},
    {"example.com/-a", "must be a domain of yours"},
    {"example.com/a/b", "must be a domain of yours"},
    {"example..com/a", "must be a domain of yours"},
    {"example.com/" + std::string(63, 'a'), ""},
    {"example.com/" + std::string(64, 'a'), "must be a domain of yours"},
    {std::string(251, 'a') + ".b/c", ""},
    {std::string(252, 'a') + ".b/c", "must be a domain of yours"},
    {"requests.example.com/gpu", "must not begin with requests. or limits."},
    {"limits.example.com/gpu", "must not begin with requests. or limits."},
    {"kubernetes.io/a", "must not have a domain of Kubernetes"},
    {"a.kubernetes.io/a", "must not have a domain of Kubernetes"},
    {"k8s.io/a", "must not have a domain of Kubernetes"},
    {"gold.storageclass.storage.k8s.io/a", "must not have a domain of Kubernetes"}};

// What the parser reads, although the definition refuses it.
const std::vector<std::pair<std::string, const char*>> kStricterUsages = {
    {OneUsage(R"("path":".spec.a*b")"), "must be a path such as"},
    {OneUsage(R"("path":".spec.size","default":" 5")"), R"(should match '^\+?)"},
    {OneUsage(R"("path":".spec.size","default":1.5)"), "must be of type integer,string"},
    {R"({"countsWhile":{"path":".a","in":[")" + std::string(254, 'a') + R"("]}})",
     "Too long: may not be"}};

void CompareUsageDefinitions() {
  Scenario s;
  const UsageDefinitions served(s.api());
  const auto attempt = [&](const json::Value& object) {
    client::ApiRequest request = PostOf(UsageDefinitions::Path(), object);
    request.query.emplace_back("dryRun", "All");
    return ToAttempt(s.api().Do(std::move(request)));
  };
  const auto check = [&](const json::Value& object, std::string_view refusal) {
    const Attempt answer = attempt(object);
    INFO(json::Write(object) << ": " << answer.Text() << "; parser: " << UnreadUsage(object));
    CHECK(answer.ok() == refusal.empty());
    CHECK(answer.message.find(refusal) != std::string::npos);
    CHECK(UnreadUsage(object).empty() == refusal.empty());
  };
  for (const TriedUsage& tried : kTriedUsages) check(UsageOf(tried.members), tried.refusal);
  for (const auto& [name, refusal] : kDefinedNames) {
    json::Value named = UsageOf("{}");
    named.Make({"spec", "usage"}) =
        json::Array{json::Object{{"name", name}, {"path", ".spec.size"}}};
    check(named, refusal);
  }
  for (const std::string& path : kPaths) {
    check(UsageOf(OneUsage(R"("path":")" + path + R"(")").c_str()), "");
  }
  for (const std::string& path : kNoPaths) {
    check(UsageOf(OneUsage(R"("path":")" + path + R"(")").c_str()), "must be a path such as");
    check(UsageOf(OneUsage(R"("path":".a","times":")" + path + R"(")").c_str()),
          "must be a path such as");
  }
  for (const char* amount : {"5", R"("5")", R"("1.5Gi")", R"("1e3")", R"("500m")", "0"}) {
    check(UsageOf(OneUsage(std::string(R"("path":".a","default":)") + amount).c_str()), "");
  }
  const std::vector<std::pair<std::string, const char*>> no_amounts = {
      {"-1", "should be greater than or equal to 0"},
      {R"("-1")", "should match"},
      {R"("much")", "should match"},
      {R"("")", "should match"},
      {R"("1GB")", "should match"},
      {"true", "must be of type integer,string"}};
  for (const auto& [amount, refusal] : no_amounts) {
    check(UsageOf(OneUsage(R"("path":".a","default":)" + amount).c_str()), refusal);
    check(UsageOf(OneUsage(R"("path":".a","times":".b","timesDefault":)" + amount).c_str()),
          refusal);
  }
  check(UsageOf(OneUsage(R"("path":".a","timesDefault":1)").c_str()), "needs times");
  // Of the core group.
  check(UsageDefinitions::Definition("pods", Json(R"({"resource":{"group":"","resource":"pods"},
                             "usage":[{"name":"example.com/gpu-bytes","path":".spec.x"}]})")),
        "");
  check(UsageDefinitions::Definition(
            "a--b.1.x-y.example.com",
            Json(R"({"resource":{"group":"1.x-y.example.com","resource":"a--b"},
                     "usage":[{"name":"example.com/bytes","path":".spec.x"}]})")),
        "");
  for (const auto& [members, refusal] : kStricterUsages) {
    const json::Value object = UsageOf(members.c_str());
    const Attempt answer = attempt(object);
    INFO(members << ": " << answer.Text());
    CHECK_FALSE(answer.ok());
    CHECK(answer.message.find(refusal) != std::string::npos);
    CHECK(UnreadUsage(object).empty());
  }
}

// The samples, and a status as the daemon writes it.
void TryUsageSamples() {
  Scenario s;
  const UsageDefinitions served(s.api());
  int samples = 0;
  for (const auto& file :
       std::filesystem::directory_iterator(tests::SourcePath("/manifests/samples/usage"))) {
    if (file.path().extension() != ".yaml") continue;
    INFO(file.path().string());
    const auto sample = config::ParseYaml(ReadFile(file.path().string()));
    REQUIRE(sample.has_value());
    const json::Value stored = s.api().Create(UsageDefinitions::Path(), *sample);
    CHECK(stored.StringAt({"metadata", "name"}) == sample->StringAt({"metadata", "name"}));
    const json::Value written = s.api().MergePatch(
        UsageDefinitions::Path(std::string(stored.StringAt({"metadata", "name"}))) + "/status",
        Json(R"({"status":{"observedGeneration":1,"counted":1832,"conditions":[
            {"type":"Ready","status":"False","reason":"Forbidden","message":"grant list, watch",
             "observedGeneration":1,"lastTransitionTime":"2026-11-29T00:00:00Z"},
            {"type":"Stalled","status":"True","reason":"Forbidden","message":"",
             "observedGeneration":1,"lastTransitionTime":"2026-11-29T00:00:00Z"}]}})"));
    CHECK(json::Write(*written.At({"status", "counted"})) == "1832");
    ++samples;
  }
  CHECK(samples >= 4);
}

}  // namespace

TEST_CASE("definitions: what a server accepts of our kinds is read completely",
          "[e2e][cluster][karmada][applied][definitions][real-only][server]") {
  std::set<std::string> reasons;
  CompareClusterQuotas(reasons);
  CompareKarmadaQuotas(reasons);
  CompareAppliedQuotas(reasons);
  for (const std::string& reason : kStricter) {
    INFO(reason);
    CHECK(reasons.contains(reason));
  }
}

TEST_CASE("definitions: a server accepts the UsageDefinitions that the daemon reads, and no others",
          "[e2e][cluster][definitions][real-only][server]") {
  CompareUsageDefinitions();
}

TEST_CASE("definitions: a server takes the samples of UsageDefinitions, and their status",
          "[e2e][cluster][definitions][server]") {
  TryUsageSamples();
}

}  // namespace e2e::definitions_test
