// Three hundred custom kinds: kinds that no quota names are not watched, and a broken one affects
// nobody else.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdio>
#include <sstream>

#include "tests/e2e/harness/custom_kind.h"
#include "tests/e2e/harness/faults.h"

namespace e2e::many_kinds_test {
namespace {

constexpr int kNamespaces = 50;
constexpr int kKindsEach = 6;  // that the quota of each namespace names
constexpr int kKinds = kNamespaces * kKindsEach;
constexpr int kKindsOfGroup = 30;

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point began) {
  return std::chrono::duration<double>(Clock::now() - began).count();
}

std::vector<CustomKind> MakeKinds() {
  std::vector<CustomKind> kinds;
  for (int i = 0; i < kKinds; ++i) {
    CustomKind kind("things" + std::to_string(i));
    kind.kind = "Thing" + std::to_string(i);
    if (i % kKindsOfGroup != 0) kind.group = kinds.back().group;
    kinds.push_back(kind);
  }
  return kinds;
}

client::ApiRequest Post(const std::string& path, const json::Value& object) {
  return {.verb = "POST",
          .path = path,
          .content_type = std::string(client::kJson),
          .body = json::Write(object)};
}

void DoAll(Scenario& s, std::vector<client::ApiRequest> requests) {
  for (const auto& answer : s.api().DoAll(std::move(requests), 8)) {
    if (!answer) throw std::runtime_error(answer.error().message);
  }
}

// Returns when the server serves all kinds: it adds them to its discovery some time after their
// definitions were stored.
void Install(Scenario& s, const std::vector<CustomKind>& kinds) {
  std::vector<client::ApiRequest> requests;
  requests.reserve(kinds.size());
  for (const CustomKind& kind : kinds) {
    requests.push_back(Post(PathOf("customresourcedefinitions"), kind.Definition()));
  }
  DoAll(s, std::move(requests));
  Eventually(
      "all kinds are served",
      [&]() -> std::string {
        const auto answer = s.api().Do(
            {.path = "/apis",
             .accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"});
        if (!answer) return answer.error().message;
        for (const CustomKind& kind : kinds) {
          if (answer->body.find("\"" + kind.plural + "\"") == std::string::npos) return kind.plural;
        }
        return "";
      },
      Stretched(120s));
}

// The open watches on the server, except its own.
int OpenWatches(Scenario& s) {
  if (CurrentTier() == Tier::kSandbox) {
    const auto counts = s.api().Get("/sandbox/requests");
    return static_cast<int>(counts.At({"openWatches"})->AsInt64().value_or(-1));
  }
  const auto answer = s.api().Do({.path = "/metrics"});
  if (!answer) throw std::runtime_error(answer.error().message);
  int open = 0;
  std::istringstream lines(answer->body);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("apiserver_longrunning_requests{")) continue;
    const auto has = [&](const char* label) { return line.find(label) != std::string::npos; };
    if (!has(R"(verb="WATCH")")) continue;
    if (!has(".test\"") && !has(R"(resource="pods")") && !has(R"(resource="resourcequotas")")) {
      continue;
    }
    open += std::stoi(line.substr(line.rfind(' ')));
  }
  return open;
}

// A watch is opened after the list of the first count.
void WaitWatches(Scenario& s, int wanted) {
  Eventually(std::to_string(wanted) + " watches are open", [&]() -> std::string {
    const int open = OpenWatches(s);
    return open == wanted ? "" : std::to_string(open);
  });
}

// Namespaces, each with a quota on pods and on some of the kinds.
class Tenants {
 public:
  Tenants(Scenario& s, const std::vector<CustomKind>& kinds) : s_(s) {
    std::vector<client::ApiRequest> namespaces;
    std::vector<client::ApiRequest> quotas;
    auto kind = kinds.begin();
    for (int i = 0; i < kNamespaces; ++i) {
      names_.push_back(i == 0 ? s.ns() : FreshName("e2e-tenant"));
      if (i > 0) namespaces.push_back(Post(PathOf("namespaces"), Namespace(names_.back())));
      Quantities hard{{"pods", "9"}};
      for (int k = 0; k < kKindsEach; ++k) hard[(kind++)->CountName()] = "9";
      quotas.push_back(Post(PathOf("resourcequotas", names_.back()), Quota("tenant", hard)));
    }
    DoAll(s, std::move(namespaces));
    DoAll(s, std::move(quotas));
  }

  // Creates or deletes the pod "p" in every namespace. Returns the seconds from the last request
  // until the last namespace was right.
  double Round(const std::string& verb) {
    std::vector<client::ApiRequest> requests;
    for (const std::string& ns : names_) {
      requests.push_back(verb == "POST"
                             ? Post(PathOf("pods", ns), Pod("p"))
                             : client::ApiRequest{.verb = "DELETE",
                                                  .path = PathOf("pods", ns, "p"),
                                                  .query = {{"gracePeriodSeconds", "0"}}});
    }
    DoAll(s_, std::move(requests));
    const auto began = Clock::now();
    WaitPods(verb == "POST" ? "1" : "0");
    return SecondsSince(began);
  }
  void WaitPods(const std::string& pods) {
    Eventually("pods of all namespaces are counted", [&]() -> std::string {
      int wrong = 0;
      for (const auto& [ns, quota] : Quotas()) {
        if (quota.StringAt({"status", "used", "pods"}) != pods) ++wrong;
      }
      return wrong == 0 ? "" : std::to_string(wrong) + " namespaces are not right";
    });
  }
  void WaitComplete(const Quantities& exceptions) {
    Eventually("each name of each quota has a count", [&]() -> std::string {
      for (const auto& [ns, quota] : Quotas()) {
        for (const auto& [name, limit] : ToQuantities(quota.At({"spec", "hard"}))) {
          const auto exception = exceptions.find(name);
          const std::string wanted = exception == exceptions.end() ? "0" : exception->second;
          if (quota.StringAt({"status", "used", name}) != wanted) return name;
        }
      }
      return "";
    });
  }

 private:
  std::map<std::string, json::Value> Quotas() {
    std::map<std::string, json::Value> quotas;
    const auto list = s_.api().Get(PathOf("resourcequotas"));
    for (const auto& quota : *list.At({"items"})->AsArray()) {
      if (quota.StringAt({"metadata", "name"}) != "tenant") continue;
      quotas[std::string(quota.StringAt({"metadata", "namespace"}))] = quota;
    }
    return quotas;
  }

  Scenario& s_;
  std::vector<std::string> names_;
};

// REQUIRES: the kind has one object. From now on no version of it can be listed.
void Break(Scenario& s, const CustomKind& kind) {
  if (CurrentTier() == Tier::kSandbox) {
    const std::string whom = R"("resource":")" + kind.plural + "\"";
    Inject(s, R"([{"fault":"answer","verb":"list",)" + whom + R"(,"code":500,"times":-1},
        {"fault":"answer","verb":"watch",)" +
                  whom + R"(,"code":503,"times":-1},
        {"fault":"drop-watches",)" +
                  whom + R"(,"reset":true}])");
    return;
  }
  BreakConversion(s, kind);
  // The version that is readable without the webhook is no longer served.
  const auto path = PathOf("customresourcedefinitions", "", kind.Crd());
  auto definition = s.api().Get(path);
  for (json::Value& version : *definition.Make({"spec", "versions"}).AsArray()) {
    version.Make({"served"}) = version.StringAt({"name"}) == "v2";
  }
  json::Value patch;
  patch.Make({"spec", "versions"}) = *definition.At({"spec", "versions"});
  s.api().MergePatch(path, patch);
}

void Mend(Scenario& s, const CustomKind& kind) {
  if (CurrentTier() == Tier::kSandbox) {
    ClearFaults(s);
  } else {
    MendConversion(s, kind);
  }
}

std::string SyncedMetric(const CustomKind& kind, int value) {
  return "quota_tracked_synced{quota_api=\"core\",resource=\"" + kind.Crd() + "\"} " +
         std::to_string(value);
}

}  // namespace

TEST_CASE("only the named ones of 300 kinds are watched, and a broken kind does not affect others",
          "[e2e][kinds][load][slow]") {
  const auto server = StartServer();
  Scenario s(*server);
  const auto kinds = MakeKinds();
  Install(s, kinds);
  const CustomKind& broken = kinds.front();
  CreateCustom(s, broken, "one");

  s.Create("resourcequotas", Quota("q", {{"pods", "9"}}));
  const int before = OpenWatches(s);
  auto& daemon = s.StartDaemon();
  s.WaitUsed("q", {{"pods", "0"}});
  WaitWatches(s, before + 2);  // of quotas and of pods

  auto began = Clock::now();
  Tenants tenants(s, kinds);
  tenants.WaitComplete({{broken.CountName(), "1"}});
  std::printf("measured: %d kinds named at once were counted after %.2f s\n", kKinds,
              SecondsSince(began));
  WaitWatches(s, before + 2 + kKinds);

  Break(s, broken);
  Eventually("the daemon says that the kind is stale", [&]() -> std::string {
    return daemon.MetricsText().find(SyncedMetric(broken, 0)) != std::string::npos ? ""
                                                                                   : "it does not";
  });
  double worst = 0;
  for (int round = 0; round < 3; ++round) {
    for (const auto* verb : {"POST", "DELETE"}) worst = std::max(worst, tenants.Round(verb));
  }
  std::printf("measured: beside a broken kind the last of %d namespaces was right after %.3f s\n",
              kNamespaces, worst);
  // A new daemon that cannot list the kind keeps the last value as well.
  s.StopDaemon();
  auto& second = s.StartDaemon();
  tenants.Round("POST");
  tenants.Round("DELETE");
  tenants.WaitComplete({{broken.CountName(), "1"}});
  CHECK(second.MetricsText().find(SyncedMetric(broken, 0)) != std::string::npos);

  began = Clock::now();
  Mend(s, broken);
  Eventually("the daemon says that the kind is counted again", [&]() -> std::string {
    return second.MetricsText().find(SyncedMetric(broken, 1)) != std::string::npos ? ""
                                                                                   : "it does not";
  });
  std::printf("measured: a kind that was mended was counted after %.2f s\n", SecondsSince(began));
  const auto version = CurrentTier() == Tier::kSandbox ? "v1" : "v2";
  s.api().Delete("/apis/" + broken.group + "/" + version + "/namespaces/" + s.ns() + "/" +
                 broken.plural + "/one");
  tenants.WaitComplete({});
}

}  // namespace e2e::many_kinds_test
