// The definitions of our kinds against the parser of the daemon: what an API server accepts, the
// daemon reads completely, and what it refuses without need is listed here.
#include <catch2/catch.hpp>
#include <functional>
#include <set>

#include "pkg/inspect/applied.h"
#include "pkg/quota/cluster/cluster_quota.h"
#include "pkg/quota/karmada/karmada_quota.h"
#include "pkg/quota/quantity_field.h"
#include "pkg/quota/uncountable_names.h"
#include "tests/e2e/harness/cluster_quotas.h"
#include "tests/e2e/harness/federation.h"
#include "tests/e2e/harness/odd_quotas.h"

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
    R"(supported values: "Terminating")",
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
  const std::vector<std::string> names = quota::UncountableNames(api, quota->hard);
  if (!names.empty()) return "nobody counts '" + names.front() + "'";
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

}  // namespace e2e::definitions_test
