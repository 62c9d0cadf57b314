// What ClusterQuotas count: the objects of all namespaces that they reach.
#include <catch2/catch.hpp>

#include "tests/e2e/harness/cluster_quotas.h"

namespace e2e::cluster_quota_test {
namespace {

// A namespace with these labels, while it lives.
class Labelled {
 public:
  Labelled(Api& api, const std::string& team) : api_(api), name_(FreshName("team")) {
    json::Value ns = Namespace(name_);
    ns.Make({"metadata", "labels"}) = json::Object{{"team", team}};
    api_.Create(PathOf("namespaces"), ns);
  }
  ~Labelled() {
    for (const std::string& path : {PathOf("pods", name_), PathOf("namespaces", "", name_)}) {
      (void)api_.Do({.verb = "DELETE", .path = path, .query = {{"gracePeriodSeconds", "0"}}});
    }
  }
  Labelled(const Labelled&) = delete;
  Labelled& operator=(const Labelled&) = delete;

  void Create(const std::string& pod) { api_.Create(PathOf("pods", name_), Pod(pod)); }
  void Delete(const std::string& pod) { api_.Delete(PathOf("pods", name_, pod)); }
  void Relabel(const std::string& team) {
    api_.MergePatch(PathOf("namespaces", "", name_),
                    Json(R"({"metadata":{"labels":{"team":")" + team + R"("}}})"));
  }

 private:
  Api& api_;
  std::string name_;
};

std::string Select(const std::string& team, const std::string& more) {
  return R"({"namespaceSelector":{"matchLabels":{"team":")" + team + R"("}},)" + more + "}";
}

}  // namespace

TEST_CASE("cluster: a quota counts what is in all namespaces that it selects", "[e2e][cluster]") {
  Scenario s;
  ClusterQuotas quotas(s.api());
  const std::string a = FreshName("a");
  const std::string b = FreshName("b");
  Labelled first(s.api(), a);
  Labelled second(s.api(), a);
  first.Create("one");
  quotas.Create(a, Select(a, R"("hard":{"pods":"5"})"));
  quotas.Create(b, Select(b, R"("hard":{"pods":"5"})"));
  s.StartDaemon();
  quotas.WaitUsed(a, {{"pods", "1"}});
  quotas.WaitUsed(b, {{"pods", "0"}});
  quotas.WaitStatus(a, Json(R"({"namespaces":2,"children":0,"available":{"pods":"4"}})"));
  second.Create("two");
  second.Create("three");
  quotas.WaitUsed(a, {{"pods", "3"}});
  second.Delete("two");
  quotas.WaitUsed(a, {{"pods", "2"}});
  second.Relabel(b);
  quotas.WaitUsed(a, {{"pods", "1"}});
  quotas.WaitUsed(b, {{"pods", "1"}});
  quotas.WaitStatus(a, Json(R"({"namespaces":1,"available":{"pods":"4"}})"));
  quotas.WaitStatus(b, Json(R"({"namespaces":1,"available":{"pods":"4"}})"));
  const Labelled later(s.api(), a);
  quotas.WaitStatus(a, Json(R"({"namespaces":2})"));
}

TEST_CASE("cluster: a quota without a namespace has events and metrics", "[e2e][cluster]") {
  Scenario s;
  ClusterQuotas quotas(s.api());
  const std::string a = FreshName("a");
  Labelled ns(s.api(), a);
  ns.Create("one");
  quotas.Create(a, Select(a, R"("hard":{"pods":"1"})"));
  const Daemon& daemon = s.StartDaemon();
  quotas.WaitUsed(a, {{"pods", "1"}});
  CHECK_THAT(daemon.MetricsText(), Catch::Contains(R"(quota_used{namespace="",quota=")" + a +
                                                   R"(",quota_api="cluster",resource="pods"} 1)"));
  s.api().MergePatch(ClusterQuotas::Path(a), HardPatch({{"pods", "0"}}));
  Eventually("it is told that the limit lies below what is used", [&]() -> std::string {
    const json::Value events = s.api().Get(PathOf("events", "default"));
    for (const json::Value& event : *events.At({"items"})->AsArray()) {
      const bool about = event.StringAt({"involvedObject", "kind"}) == "ClusterQuota" &&
                         event.StringAt({"involvedObject", "name"}) == a;
      if (about && event.StringAt({"reason"}) == "QuotaExceeded") return "";
    }
    return "no such event";
  });
  quotas.WaitStatus(a, Json(R"({"available":{"pods":"0"}})"));
}

TEST_CASE("cluster: what is used below a quota is used there, too", "[e2e][cluster]") {
  Scenario s;
  ClusterQuotas quotas(s.api());
  s.StartDaemon();
  const std::string a = FreshName("a");
  const std::string company = FreshName("company");
  Labelled ns(s.api(), a);
  quotas.Create(a, Select(a, R"("parent":")" + company + R"(","hard":{"pods":"5"})"));
  quotas.WaitUsed(a, {{"pods", "0"}});
  const auto ready = [&](const std::string& name) -> std::string {
    const json::Value quota = quotas.Get(name);
    const json::Value* conditions = quota.At({"status", "conditions"});
    if (conditions == nullptr) return "";
    for (const json::Value& condition : *conditions->AsArray()) {
      if (condition.StringAt({"type"}) != "Ready") continue;
      return std::string(condition.StringAt({"status"})) + " " +
             std::string(condition.StringAt({"reason"}));
    }
    return "";
  };
  Eventually("the parent is missed", [&]() -> std::string {
    const std::string text = ready(a);
    return text == "False ParentNotFound" ? "" : text;
  });
  quotas.Create(company, R"({"hard":{"pods":"2"}})");
  quotas.WaitStatus(company, Json(R"({"namespaces":1,"children":1})"));
  Eventually("all is counted", [&]() -> std::string {
    return ready(a) == "True Counted" && ready(company) == "True Counted" ? "" : ready(a);
  });
  ns.Create("one");
  quotas.WaitUsed(a, {{"pods", "1"}});
  quotas.WaitUsed(company, {{"pods", "1"}});
  // It follows from the quota above, some seconds later.
  quotas.WaitStatus(a, Json(R"({"available":{"pods":"1"}})"));
}

}  // namespace e2e::cluster_quota_test
