// API servers of two versions over one etcd, as during the upgrade of a control plane. The daemon
// reaches both through one address. Hidden, because it needs two versions: tests/run.sh --versions
// runs it with the older one in QCM_OLDER_ASSETS and the newer one in QCM_NEWER_ASSETS.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <stdexcept>
#include <thread>

#include "tests/e2e/harness/admission.h"
#include "tests/e2e/harness/load_balancer.h"

namespace e2e::version_skew_test {
namespace {

constexpr int kLimit = 12;
constexpr const char* kConfigMaps = "count/configmaps";

std::string Folder(const char* variable) {
  const char* folder = std::getenv(variable);
  if (folder == nullptr) throw std::runtime_error(std::string(variable) + " is not set");
  return folder;
}

struct Member {
  explicit Member(std::unique_ptr<ApiServer> started) : server(std::move(started)) {}
  [[nodiscard]] std::string Version() {
    return std::string(api.Get("/version").StringAt({"gitVersion"}));
  }
  std::unique_ptr<ApiServer> server;
  Api api{server->Kubeconfig()};
};

// Returns a kubeconfig for an address in front of both servers. It trusts the CAs of both.
std::string KubeconfigOfBoth(const TempDir& dir, const Member& a, const Member& b,
                             std::uint16_t port) {
  KubeconfigFields fields = a.server->Fields();
  fields.server = "https://127.0.0.1:" + std::to_string(port);
  fields.ca_path =
      dir.Write("both.crt", ReadFile(fields.ca_path) + ReadFile(b.server->Fields().ca_path));
  return dir.Write("both.kubeconfig", KubeconfigText(fields));
}

void AwaitUsed(Member& member, const std::string& ns, int pods) {
  Eventually("used is " + std::to_string(pods) + " pods", [&] {
    const json::Value quota = member.api.Get(PathOf("resourcequotas", ns, "q"));
    const Quantities used = ToQuantities(quota.At({"status", "used"}));
    const Quantities wanted{{"pods", std::to_string(pods)}, {kConfigMaps, "1"}};
    return used == wanted ? "" : ToText(used);
  });
}

// Waits until each of these servers calls the daemon.
void AwaitGuarded(const std::vector<Member*>& members, const std::string& ns) {
  for (Member* member : members) {
    Eventually(member->Version() + " refuses what exceeds", [&] {
      client::ApiRequest request = PostOf(PathOf("configmaps", ns), ConfigMap("too-many"));
      request.query.emplace_back("dryRun", "All");
      const Attempt attempt = ToAttempt(member->api.Do(std::move(request)));
      return attempt.exceeded() ? "" : attempt.Text();
    });
  }
}

// Creates as many pods as fit through all servers at once, and deletes them through another server.
void FillAndEmpty(const std::string& phase, Scenario& s, const std::vector<Member*>& members) {
  INFO(phase);
  AwaitGuarded(members, s.ns());
  std::vector<std::vector<base::Result<client::ApiResponse>>> answers(members.size());
  {
    std::vector<std::jthread> clients;
    for (std::size_t i = 0; i < members.size(); ++i) {
      const std::string prefix = phase + "-" + std::to_string(i) + "-";
      clients.emplace_back([&s, prefix, member = members[i], &mine = answers[i]] {
        mine = member->api.DoAll(Creations(s, prefix, kLimit), 8);
      });
    }
  }
  int created = 0;
  for (const auto& mine : answers) {
    for (const auto& answer : mine) {
      const Attempt attempt = ToAttempt(answer);
      if (attempt.ok()) ++created;
      if (!attempt.ok() && !attempt.exceeded()) FAIL_CHECK(attempt.Text());
    }
  }
  CHECK(created == kLimit);
  for (Member* member : members) AwaitUsed(*member, s.ns(), kLimit);
  Member& last = *members.back();
  const json::Value pods = last.api.Get(s.Path("pods"));
  CHECK(pods.At({"items"})->AsArray()->size() == static_cast<std::size_t>(kLimit));
  for (const json::Value& pod : *pods.At({"items"})->AsArray()) {
    last.api.Delete(s.Path("pods", pod.StringAt({"metadata", "name"})));
  }
  for (Member* member : members) AwaitUsed(*member, s.ns(), 0);
}

}  // namespace

TEST_CASE("API servers of two versions over one etcd are counted and guarded as one",
          "[.][e2e][skew][real-only]") {
  Member older(StartServer({.assets = Folder("QCM_OLDER_ASSETS")}));
  Member newer(older.server->StartBeside({.assets = Folder("QCM_NEWER_ASSETS")}));
  REQUIRE(older.Version() != newer.Version());
  LoadBalancer balancer;
  balancer.SetTargets({older.server->port()});
  const TempDir dir;
  const std::string lease = FreshName("quota");
  Admission a(*older.server,
              {.kubeconfig = KubeconfigOfBoth(dir, older, newer, balancer.port()),
               .more_flags = {"--leader-elect=true", "--leader-elect-resource-namespace=default",
                              "--leader-elect-resource-name=" + lease}});
  Scenario& s = a.scenario();
  s.Create("configmaps", ConfigMap("only"));
  a.Limit("q", {{"pods", std::to_string(kLimit)}, {kConfigMaps, "1"}});
  // The older server may not serve this kind.
  s.Create("resourcequotas", Quota("claims", {{"count/resourceclaims.resource.k8s.io", "5"}}));
  FillAndEmpty("older", s, {&older});

  balancer.SetTargets({older.server->port(), newer.server->port()});
  FillAndEmpty("both", s, {&older, &newer});

  older.server->Kill();
  balancer.SetTargets({newer.server->port()});
  FillAndEmpty("newer", s, {&newer});
  Eventually("a kind of the newer one is counted", [&] {
    const json::Value quota = newer.api.Get(PathOf("resourcequotas", s.ns(), "claims"));
    return Unenforced(quota, {{"count/resourceclaims.resource.k8s.io", "5"}});
  });

  older.server->Start();
  balancer.SetTargets({older.server->port(), newer.server->port()});
  FillAndEmpty("both-again", s, {&newer, &older});

  newer.server->Kill();
  balancer.SetTargets({older.server->port()});
  FillAndEmpty("back", s, {&older});
  CHECK(a.daemon().Running());
}

}  // namespace e2e::version_skew_test
