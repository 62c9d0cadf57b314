// Names of UsageDefinitions in ResourceQuotas, beside the API server's own plugin and controller.
#include <catch2/catch.hpp>

#include "tests/e2e/harness/cluster_quotas.h"
#include "tests/e2e/harness/custom_kind.h"

namespace e2e::usage_resource_quota_test {
namespace {

using Catch::Matchers::Contains;

AdmissionOptions Enforcing(const std::string& quota_apis, const ServerOptions& server = Managed()) {
  return {.server = server, .more_flags = {"--enforce=" + quota_apis}};
}

// A kind whose objects have a size that is defined, and a daemon that decides by it.
struct Sized {
  explicit Sized(const AdmissionOptions& options = Enforcing("cluster,defined")) : a(options) {
    a.api().Create(PathOf("customresourcedefinitions"), kind.Definition());
    WaitServed(a.api(), kind.Path(a.scenario().ns()));
    definitions.Create(kind.Crd(),
                       R"({"usage":[{"name":")" + bytes + R"(","path":".spec.size"}]})");
    definitions.WaitCondition(kind.Crd(), "Ready", "True");
  }
  ~Sized() {
    (void)a.api().Do(
        {.verb = "DELETE", .path = PathOf("customresourcedefinitions", "", kind.Crd())});
  }
  Sized(const Sized&) = delete;
  Sized& operator=(const Sized&) = delete;

  [[nodiscard]] const std::string& ns() { return a.scenario().ns(); }
  [[nodiscard]] client::ApiRequest Creation(const std::string& name, const std::string& size) {
    json::Value object = kind.Object(name);
    object.Make({"spec", "size"}) = size;
    return PostOf(kind.Path(ns()), object);
  }
  Attempt Create(const std::string& name, const std::string& size) {
    return ToAttempt(a.api().Do(Creation(name, size)));
  }
  // Without storing it.
  Attempt Try(const std::string& size) {
    client::ApiRequest request = Creation("tried", size);
    request.query = {{"dryRun", "All"}};
    return ToAttempt(a.api().Do(std::move(request)));
  }
  void EventuallyRefused(const std::string& size) {
    Eventually(size + " is refused", [&]() -> std::string {
      const Attempt attempt = Try(size);
      return attempt.exceeded() ? "" : attempt.Text();
    });
  }
  void EventuallyFits(const std::string& size) {
    Eventually(size + " fits", [&]() -> std::string {
      const Attempt attempt = Try(size);
      return attempt.ok() ? "" : attempt.Text();
    });
  }
  void Limit(const std::string& quota, const Quantities& hard) {
    a.scenario().Create("resourcequotas", Quota(quota, hard));
  }
  // Returns the name of a ClusterQuota over the namespace.
  std::string LimitTeam(const std::string& limit) {
    std::string team = FreshName("team");
    a.api().MergePatch("/api/v1/namespaces/" + ns(),
                       Json(R"({"metadata":{"labels":{"team":")" + team + R"("}}})"));
    quotas.Create(team, SelectTeam(team, R"("hard":{")" + bytes + R"(":")" + limit + R"("})"));
    quotas.WaitUsed(team, {{bytes, "0"}});
    return team;
  }
  [[nodiscard]] std::string PathOfQuota(const std::string& quota) {
    return PathOf("resourcequotas", ns(), quota);
  }

  Admission a;
  ClusterQuotas quotas{a.api()};
  UsageDefinitions definitions{a.api()};
  DefinedQuotas parts{a.api()};
  CustomKind kind{"buckets"};
  const std::string bytes = kind.group + "/bytes";
};

}  // namespace

TEST_CASE("defined quota: a ResourceQuota limits a defined name beside the plugin",
          "[e2e][usage]") {
  Sized f;
  Scenario& s = f.a.scenario();
  CHECK(f.Create("before", "1Gi").ok());
  f.Limit("q", {{f.bytes, "10Gi"}, {"pods", "2"}});
  f.parts.WaitEnforced(f.ns(), "q", {{f.bytes, "10Gi"}});
  f.EventuallyRefused("10Gi");
  CHECK(f.Create("a", "5Gi").ok());
  const Attempt refused = f.Create("b", "5Gi");
  CHECK(refused.code == 403);
  CHECK_THAT(refused.message, Contains("exceeded quota: q, requested: " + f.bytes + "=5Gi, used: " +
                                       f.bytes + "=6Gi, limited: " + f.bytes + "=10Gi"));
  CHECK(f.Create("sizeless", "much").code == 403);
  CHECK(f.a.Post("pods", Pod("p1")).ok());
  s.WaitUsed("q", {{f.bytes, "6Gi"}, {"pods", "1"}});
  Eventually("the refusal is an event of the ResourceQuota", [&]() -> std::string {
    const json::Value events = s.api().Get("/api/v1/namespaces/" + f.ns() + "/events");
    const std::string uid(s.api().Get(f.PathOfQuota("q")).StringAt({"metadata", "uid"}));
    for (const json::Value& event : events.ArrayAt({"items"})) {
      const bool about = event.StringAt({"involvedObject", "kind"}) == "ResourceQuota" &&
                         event.StringAt({"involvedObject", "uid"}) == uid;
      if (about && event.StringAt({"message"}).find("=5Gi") != std::string::npos) return "";
    }
    return json::Write(events);
  });

  s.api().Delete(f.kind.Path(f.ns(), "a"));
  f.EventuallyFits("9Gi");
  CHECK(f.Create("b", "9Gi").ok());
  s.WaitUsed("q", {{f.bytes, "10Gi"}, {"pods", "1"}});
}

TEST_CASE("defined quota: it follows the ResourceQuota, whoever changes either", "[e2e][usage]") {
  Sized f;
  Scenario& s = f.a.scenario();
  const std::string path = DefinedQuotas::Path(f.ns(), "q");
  f.Limit("q", {{"pods", "5"}});
  s.WaitUsed("q", {{"pods", "0"}});
  CHECK_FALSE(s.api().Exists(path));

  s.api().MergePatch(f.PathOfQuota("q"), HardPatch({{f.bytes, "3Gi"}}));
  f.parts.WaitEnforced(f.ns(), "q", {{f.bytes, "3Gi"}});
  f.EventuallyRefused("4Gi");
  s.api().MergePatch(f.PathOfQuota("q"), HardPatch({{f.bytes, "5Gi"}}));
  f.EventuallyFits("4Gi");

  s.api().MergePatch(path, HardPatch({{f.bytes, "50Gi"}}));
  f.parts.WaitEnforced(f.ns(), "q", {{f.bytes, "5Gi"}});
  s.api().Delete(path);
  f.parts.WaitEnforced(f.ns(), "q", {{f.bytes, "5Gi"}});
  f.EventuallyRefused("6Gi");

  s.api().MergePatch(f.PathOfQuota("q"), Json(R"({"spec":{"hard":{")" + f.bytes + R"(":null}}})"));
  f.parts.WaitGone(f.ns(), "q");
  f.EventuallyFits("100Gi");

  f.Limit("r", {{f.bytes, "1Gi"}});
  f.EventuallyRefused("2Gi");
  s.api().Delete(f.PathOfQuota("r"));
  f.parts.WaitGone(f.ns(), "r");
  f.EventuallyFits("100Gi");
  // Another quota of the same name owns it at once, although the first one may not be collected.
  f.Limit("r", {{f.bytes, "1Gi"}});
  f.EventuallyRefused("2Gi");
  const std::string uid(s.api().Get(f.PathOfQuota("r")).StringAt({"metadata", "uid"}));
  Eventually("it belongs to the new quota", [&]() -> std::string {
    const json::Value part = s.api().Get(DefinedQuotas::Path(f.ns(), "r"));
    const std::string text = json::Write(part);
    return text.find(uid) != std::string::npos ? "" : text;
  });
}

// The plugin decides the pods.
TEST_CASE("defined quota: it is exactly full while many clients create, and none gets a conflict",
          "[e2e][usage][real-only]") {
  Sized f;
  f.Limit("q", {{f.bytes, "40Gi"}, {"pods", "60"}});
  f.parts.WaitEnforced(f.ns(), "q", {{f.bytes, "40Gi"}});
  f.a.scenario().WaitUsed("q", {{f.bytes, "0"}, {"pods", "0"}});
  f.EventuallyRefused("41Gi");
  std::vector<client::ApiRequest> requests;
  for (int i = 0; i < 100; ++i) {
    requests.push_back(f.Creation("b" + std::to_string(i), "1Gi"));
    requests.push_back(PostOf(PathOf("pods", f.ns()), Pod("p" + std::to_string(i))));
  }
  int created = 0;
  for (const Attempt& attempt : f.a.DoAll(std::move(requests), 64)) {
    INFO(attempt.Text());
    CHECK((attempt.ok() || attempt.exceeded()));
    created += attempt.ok() ? 1 : 0;
  }
  CHECK(created == 100);
  CHECK(f.a.Count("pods") == 60);
  f.a.scenario().WaitUsed("q", {{f.bytes, "40Gi"}, {"pods", "60"}});
}

TEST_CASE("defined quota: a ClusterQuota limits the same name", "[e2e][cluster][usage]") {
  Sized f;
  const std::string team = f.LimitTeam("8Gi");
  f.Limit("q", {{f.bytes, "5Gi"}});
  f.EventuallyRefused("6Gi");
  CHECK(f.Create("a", "4Gi").ok());
  f.quotas.WaitUsed(team, {{f.bytes, "4Gi"}});
  // What one of them refuses is charged to neither.
  CHECK(f.Create("b", "2Gi").exceeded());
  f.a.api().MergePatch(f.PathOfQuota("q"), HardPatch({{f.bytes, "50Gi"}}));
  Eventually("the ClusterQuota refuses", [&]() -> std::string {
    const Attempt attempt = f.Try("5Gi");
    return attempt.message.find("exceeded cluster quota") != std::string::npos ? ""
                                                                               : attempt.Text();
  });
  CHECK(f.Create("b", "4Gi").ok());
  f.quotas.WaitUsed(team, {{f.bytes, "8Gi"}});
  f.a.scenario().WaitUsed("q", {{f.bytes, "8Gi"}});
}

// The plugin, which is called later, would leave the charges to nobody.
TEST_CASE("defined quota: what the rest of the ResourceQuota refuses is not charged",
          "[e2e][usage]") {
  Sized f;
  const std::string memory = f.kind.group + "/gpu-memory";
  f.definitions.Create("pods", R"({"usage":[{"name":")" + memory +
                                   R"(","path":".metadata.labels['memory']","default":"0"}]})");
  f.definitions.WaitCondition("pods", "Ready", "True");
  f.Limit("q", {{"pods", "1"}, {memory, "80Gi"}});
  f.parts.WaitEnforced(f.ns(), "q", {{memory, "80Gi"}});
  const auto create = [&](const std::string& name) {
    json::Value pod = Pod(name);
    pod.Make({"metadata", "labels", "memory"}) = "10Gi";
    return f.a.Post("pods", pod);
  };
  CHECK(create("first").ok());
  f.a.scenario().WaitUsed("q", {{"pods", "1"}, {memory, "10Gi"}});
  for (int i = 0; i < 10; ++i) {
    const Attempt attempt = create("p" + std::to_string(i));
    CHECK(attempt.exceeded());
    CHECK_THAT(attempt.message, Contains("requested: pods=1"));
  }
  const json::Value part = f.a.api().Get(DefinedQuotas::Path(f.ns(), "q"));
  CHECK(ToQuantities(part.At({"status", "used"})) == Quantities{{memory, "10Gi"}});
}

// The daemon refuses for the plugin what the plugin would refuse, and that is nothing here.
TEST_CASE("defined quota: a full one that nobody enforces refuses nothing for a ClusterQuota",
          "[e2e][cluster][usage]") {
  Sized f(Enforcing("cluster"));
  const std::string team = f.LimitTeam("8Gi");
  f.Limit("q", {{f.bytes, "2Gi"}});
  CHECK(f.Create("a", "2Gi").ok());
  f.a.scenario().WaitUsed("q", {{f.bytes, "2Gi"}});
  CHECK(f.Create("b", "3Gi").ok());
  f.quotas.WaitUsed(team, {{f.bytes, "5Gi"}});
  f.a.scenario().WaitUsed("q", {{f.bytes, "5Gi"}});
  CHECK_FALSE(f.a.api().Exists(DefinedQuotas::Path(f.ns(), "q")));
}

TEST_CASE("defined quota: none is needed where ResourceQuotas are decided as a whole",
          "[e2e][usage]") {
  Sized f(Enforcing("core,defined", {}));
  Scenario& s = f.a.scenario();
  // As an earlier daemon may have left it.
  json::Value left = Quota("left", {{f.bytes, "1Gi"}});
  left.Make({"apiVersion"}) = "quota-controller-manager.io/v1alpha1";
  left.Make({"kind"}) = "DefinedQuota";
  s.api().Create(DefinedQuotas::Path(f.ns()), left);
  f.Limit("q", {{f.bytes, "5Gi"}});
  f.EventuallyRefused("6Gi");
  f.parts.WaitGone(f.ns(), "left");
  CHECK(f.Create("a", "5Gi").ok());
  s.WaitUsed("q", {{f.bytes, "5Gi"}});
  CHECK_FALSE(s.api().Exists(DefinedQuotas::Path(f.ns(), "q")));
}

}  // namespace e2e::usage_resource_quota_test
