// Kinds that are created, changed, deleted and created again, and API groups whose server is away.
// Only the names of these kinds wait. All other names are counted as usual.
#include <catch2/catch.hpp>
#include <cstdio>

#include "tests/e2e/harness/custom_kind.h"
#include "tests/e2e/harness/faults.h"

namespace e2e::served_kinds_test {
namespace {

std::string Version(const std::string& name, bool served, bool storage) {
  const auto flag = [](bool value) { return std::string(value ? "true" : "false"); };
  return R"({"name":")" + name + R"(","served":)" + flag(served) + R"(,"storage":)" +
         flag(storage) +
         R"(,"schema":{"openAPIV3Schema":{"type":"object",
             "x-kubernetes-preserve-unknown-fields":true}}})";
}

void SetVersions(Scenario& s, const CustomKind& kind, const std::string& versions) {
  s.api().MergePatch(PathOf("customresourcedefinitions", "", kind.Crd()),
                     Json(R"({"spec":{"versions":[)" + versions + "]}}"));
}

void CreateInVersion(Scenario& s, const CustomKind& kind, const std::string& version,
                     const std::string& name) {
  auto object = kind.Object(name);
  object.Make({"apiVersion"}) = kind.group + "/" + version;
  const auto path =
      "/apis/" + kind.group + "/" + version + "/namespaces/" + s.ns() + "/" + kind.plural;
  Eventually("an object of " + kind.Crd() + " " + version + " can be created",
             [&]() -> std::string {
               const auto answer = s.api().Do({.verb = "POST",
                                               .path = path,
                                               .content_type = std::string(client::kJson),
                                               .body = json::Write(object)});
               return answer ? "" : answer.error().message;
             });
}

// Waits, and prints how long it took. The daemon promises five seconds.
void WaitAndTell(Scenario& s, const Quantities& used, const std::string& what) {
  const auto began = std::chrono::steady_clock::now();
  s.WaitUsed("q", used);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  std::printf("measured: %s after %.2f s\n", what.c_str(), took.count());
}

// An API group whose server is away: a kind served until now, or an unknown one.
class DeadGroup {
 public:
  DeadGroup(Scenario& s, std::string group) : s_(s), group_(std::move(group)) {
    if (CurrentTier() == Tier::kSandbox) {
      Inject(s_, R"({"fault":"stale-group","group":")" + group_ + "\"}");
    } else {
      Redirect();
    }
    WaitFreshness("Stale");
  }

  // The server returns; without `served` the group is gone.
  void Revive(bool served) {
    if (CurrentTier() == Tier::kSandbox) {
      ClearFaults(s_);
    } else {
      s_.api().Delete(Path());  // the server creates the APIService of a custom kind again
    }
    WaitFreshness(served ? "Current" : "");
  }

 private:
  [[nodiscard]] std::string Name() const { return "v1." + group_; }
  [[nodiscard]] std::string Path() const { return PathOf("apiservices", "", Name()); }

  // Points the APIService to a service that does not exist. The server only manages those with its
  // label.
  void Redirect() {
    auto service = Json(R"({"apiVersion":"apiregistration.k8s.io/v1","kind":"APIService",
        "metadata":{"labels":{"kube-aggregator.kubernetes.io/automanaged":null}},
        "spec":{"version":"v1","groupPriorityMinimum":1000,"versionPriority":100,
        "insecureSkipTLSVerify":true,"service":{"namespace":"default","name":"nobody"}}})");
    service.Make({"metadata", "name"}) = Name();
    service.Make({"spec", "group"}) = group_;
    if (s_.api().Exists(Path())) {
      s_.api().MergePatch(Path(), service);
      return;
    }
    service.Make({"metadata", "labels"}) = json::Object();
    s_.api().Create(PathOf("apiservices"), service);
  }

  void WaitFreshness(const std::string& wanted) {
    Eventually("discovery calls " + group_ + " " + (wanted.empty() ? "absent" : wanted),
               [&]() -> std::string {
                 const auto now = Freshness();
                 return now == wanted ? "" : "it is \"" + now + "\"";
               });
  }

  [[nodiscard]] std::string Freshness() {
    const auto answer = s_.api().Do(
        {.path = "/apis",
         .accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"
                   "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList"});
    if (!answer) throw std::runtime_error(answer.error().message);
    const auto list = Json(answer->body);
    for (const auto& group : *list.At({"items"})->AsArray()) {
      if (group.StringAt({"metadata", "name"}) != group_) continue;
      return std::string((*group.At({"versions"})->AsArray())[0].StringAt({"freshness"}));
    }
    return "";
  }

  Scenario& s_;
  std::string group_;
};

}  // namespace

TEST_CASE("a kind is counted through its versions, its end and its return",
          "[e2e][kinds][server]") {
  Scenario s;
  const CustomKind things("things");
  s.Create("resourcequotas", Quota("q", {{things.CountName(), "9"}}));
  s.StartDaemon();
  s.api().Create(PathOf("customresourcedefinitions"), things.Definition());
  WaitAndTell(s, {{things.CountName(), "0"}}, "a new kind was counted");
  CreateCustom(s, things, "one");
  s.WaitUsed("q", {{things.CountName(), "1"}});

  // A new version becomes the stored one; then the old one is no longer served.
  SetVersions(s, things, Version("v2", true, true) + "," + Version("v1", true, false));
  CreateInVersion(s, things, "v2", "two");
  s.WaitUsed("q", {{things.CountName(), "2"}});
  SetVersions(s, things, Version("v2", true, true) + "," + Version("v1", false, false));
  CreateInVersion(s, things, "v2", "three");
  WaitAndTell(s, {{things.CountName(), "3"}}, "the version that is left was counted");
  s.daemon().WaitForLog("resource=things.v2." + things.group);
  s.api().Delete("/apis/" + things.group + "/v2/namespaces/" + s.ns() + "/things/one");
  s.WaitUsed("q", {{things.CountName(), "2"}});

  s.api().Delete(PathOf("customresourcedefinitions", "", things.Crd()));
  s.daemon().WaitForLog("no longer counting resource=things.v2." + things.group);
  Eventually("the kind can be defined again", [&]() -> std::string {
    return s.api().Exists(PathOf("customresourcedefinitions", "", things.Crd())) ? "still there"
                                                                                 : "";
  });
  s.api().Create(PathOf("customresourcedefinitions"), things.Definition());
  CreateCustom(s, things, "again");
  WaitAndTell(s, {{things.CountName(), "1"}}, "a kind that came again was counted");
  s.api().Delete(PathOf("customresourcedefinitions", "", things.Crd()));
}

TEST_CASE("an aggregated API that was never up causes no delay, and is counted once it is up",
          "[e2e][kinds][server]") {
  Scenario s;
  const CustomKind things("things");
  DeadGroup dead(s, things.group);
  s.Create("resourcequotas", Quota("q", {{"pods", "9"}, {things.CountName(), "9"}}));
  s.StartDaemon();  // it becomes ready, although that group's resources are unknown
  WaitAndTell(s, {{"pods", "0"}}, "beside a dead API group a first count");
  s.Create("pods", Pod("p"));
  s.WaitUsed("q", {{"pods", "1"}});
  s.daemon().WaitForLog("cannot say that it serves");

  dead.Revive(false);
  s.api().Create(PathOf("customresourcedefinitions"), things.Definition());
  WaitAndTell(s, {{"pods", "1"}, {things.CountName(), "0"}}, "a kind of a revived group");
  s.api().Delete(PathOf("customresourcedefinitions", "", things.Crd()));
}

TEST_CASE("an aggregated API that dies keeps its count until it is back", "[e2e][kinds][server]") {
  Scenario s;
  const CustomKind things("things");
  s.api().Create(PathOf("customresourcedefinitions"), things.Definition());
  CreateCustom(s, things, "one");
  s.Create("resourcequotas", Quota("q", {{"pods", "9"}, {things.CountName(), "9"}}));
  s.StartDaemon();
  s.WaitUsed("q", {{"pods", "0"}, {things.CountName(), "1"}});

  DeadGroup dead(s, things.group);
  s.Create("pods", Pod("a"));
  s.WaitUsed("q", {{"pods", "1"}, {things.CountName(), "1"}});
  // A daemon that never saw the kind keeps its predecessor's value.
  s.StopDaemon();
  s.StartDaemon();
  s.Create("pods", Pod("b"));
  s.WaitUsed("q", {{"pods", "2"}, {things.CountName(), "1"}});

  dead.Revive(true);
  CreateCustom(s, things, "two");
  WaitAndTell(s, {{"pods", "2"}, {things.CountName(), "2"}}, "a group that was dead");
  s.api().Delete(PathOf("customresourcedefinitions", "", things.Crd()));
}

TEST_CASE("a kind that the daemon may not list keeps its value, and is counted once it may",
          "[e2e][kinds][server]") {
  Scenario s;
  s.Create("resourcequotas", Quota("q", {{"pods", "9"}, {"configmaps", "9"}}));
  s.Create("configmaps", ConfigMap("one"));
  s.StartDaemon();
  s.WaitUsed("q", {{"pods", "0"}, {"configmaps", "1"}});
  s.StopDaemon();

  s.Create("configmaps", ConfigMap("two"));
  Restricted restricted(s, "configmaps");
  auto& daemon = s.StartDaemon("5m", restricted.kubeconfig());
  s.Create("pods", Pod("p"));
  s.WaitUsed("q", {{"pods", "1"}, {"configmaps", "1"}});
  daemon.WaitForLog("403");
  CHECK(daemon.MetricsText().find(
            R"(quota_tracked_synced{quota_api="core",resource="configmaps"} 0)") !=
        std::string::npos);
  restricted.Allow();
  s.WaitUsed("q", {{"pods", "1"}, {"configmaps", "2"}});
}

}  // namespace e2e::served_kinds_test
