#include "cmd/quota-controller-manager/uninstall.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <functional>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "controllers/applied/applied_object.h"
#include "pkg/base/manual_scheduler.h"
#include "pkg/base/task_group.h"
#include "pkg/quota/defined/defined_quota.h"
#include "pkg/webhook/certificate_secret.h"
#include "pkg/webhook/ownership.h"
#include "pkg/webhook/webhook_configuration.h"
#include "tests/fake/fake_cluster.h"

namespace uninstall_test {
namespace {

using namespace std::chrono_literals;
using webhook::kWebhookConfigurations;

const api::GroupVersionResource kLeases{"coordination.k8s.io", "v1", "leases"};
const api::GroupVersionResource kSecrets{"", "v1", "secrets"};
const std::string kName = webhook::ConfigurationOptions().name;
const api::ObjectKey kLease{"quota-system", "lease"};

json::Value Ours(const std::string& name, const std::string& ns = "") {
  json::Value object = json::Object{{"metadata", json::Object{{"name", name}}}};
  if (!ns.empty()) object.Make({"metadata", "namespace"}) = ns;
  object.Make({"metadata", "labels", webhook::kManagedByLabel}) = webhook::kManagedByUs;
  return object;
}

json::Value OwnedBy(json::Value object, const std::string& installation) {
  object.Make({"metadata", "annotations", webhook::kInstallationAnnotation}) = installation;
  return object;
}

json::Value Lease(const std::string& holder, const std::string& renewed, int seconds = 6) {
  json::Value lease = Ours(kLease.name, kLease.ns);
  lease.Make({"spec", "holderIdentity"}) = holder;
  lease.Make({"spec", "renewTime"}) = renewed;
  if (seconds > 0) lease.Make({"spec", "leaseDurationSeconds"}) = seconds;
  return lease;
}

// Everything that a daemon with --admission-service leaves.
class Fixture {
 public:
  Fixture() {
    options.admission_service.emplace();
    options.admission_service->ns = kLease.ns;
    options.admission_service->name = "web";
    secret = webhook::SecretCertificatesOf(*options.admission_service).secret;
    cluster.Serve(kWebhookConfigurations, "ValidatingWebhookConfiguration", false);
    cluster.Serve(controllers::AppliedResource(), "AppliedClusterQuota");
    cluster.Serve(quota::DefinedQuotas(), "DefinedQuota");
    cluster.Serve(kLeases, "Lease");
    cluster.Serve(kSecrets, "Secret");
    PutConfiguration();
    cluster.Put(controllers::AppliedResource(), Ours("q", "team-a"));
    cluster.Put(quota::DefinedQuotas(), Ours("q", "team-a"));
    cluster.Put(kSecrets, Ours(secret.name, secret.ns));
    cluster.Put(kLeases, Lease("", ""));
    cluster.fault = [this](const client::ApiRequest& request) { return Meet(request); };
  }
  ~Fixture() { cluster.ForgetFunctions(); }

  void PutConfiguration() {
    cluster.Put(kWebhookConfigurations, OwnedBy(Ours(kName), kLease.ToString()));
  }
  // Returns what is printed, and the error.
  std::string Run() {
    std::ostringstream out;
    std::optional<base::Result<void>> done;
    base::TaskGroup tasks(io.get_executor());
    tasks.Spawn("uninstall", [&]() -> base::Task<void> {
      done = co_await manager::Uninstall(cluster, scheduler, options, kLease, out);
      took = scheduler.Now() - began;
    });
    began = scheduler.Now();
    scheduler.RunFor(2min);
    REQUIRE(done.has_value());
    return *done ? out.str() : out.str() + "error: " + done->error().message;
  }
  // The resources that are left, "webhook applied defined secret lease".
  std::string Left() const {
    std::string left;
    const auto add = [&](const json::Value* object, const std::string& what) {
      if (object != nullptr) left += (left.empty() ? "" : " ") + what;
    };
    add(cluster.Find(kWebhookConfigurations, "", kName), "webhook");
    add(cluster.Find(controllers::AppliedResource(), "team-a", "q"), "applied");
    add(cluster.Find(quota::DefinedQuotas(), "team-a", "q"), "defined");
    add(cluster.Find(kSecrets, secret.ns, secret.name), "secret");
    add(cluster.Find(kLeases, kLease.ns, kLease.name), "lease");
    return left;
  }

  base::asio::io_context io{1};
  base::ManualScheduler scheduler{io};
  fake::FakeCluster cluster{scheduler};
  manager::Options options;
  api::ObjectKey secret;
  std::optional<base::Error> applied_trouble;  // the answer to their deletion
  std::function<void()> on_deleted;            // called after the configuration was deleted
  std::vector<std::string> deleted;            // the last parts of the paths
  base::TimePoint began;
  base::Duration took{};

 private:
  std::optional<base::Error> Meet(const client::ApiRequest& request) {
    if (request.verb != "DELETE") {
      if (on_deleted && !deleted.empty() && request.verb == "GET") std::exchange(on_deleted, {})();
      return std::nullopt;
    }
    deleted.push_back(request.path.substr(request.path.rfind('/') + 1));
    // The fake has no deletion of a collection.
    if (request.path == quota::DefinedQuotas().Path("team-a")) {
      cluster.Delete(quota::DefinedQuotas(), "team-a", "q");
    }
    if (request.path != controllers::AppliedResource().Path("team-a")) return std::nullopt;
    if (!applied_trouble) cluster.Delete(controllers::AppliedResource(), "team-a", "q");
    return applied_trouble;
  }
};

}  // namespace

TEST_CASE("uninstall: everything is removed, the rules first and the lease last", "[manager]") {
  Fixture f;
  CHECK(f.Run() == "validatingwebhookconfiguration " + kName +
                       ": deleted\n"
                       "appliedclusterquotas: 1 deleted in 1 namespaces\n"
                       "definedquotas: 1 deleted in 1 namespaces\n"
                       "secret " +
                       f.secret.ToString() +
                       ": deleted\n"
                       "lease quota-system/lease: deleted\n");
  CHECK(f.Left().empty());
  CHECK(f.deleted == std::vector<std::string>{kName, "appliedclusterquotas", "definedquotas",
                                              f.secret.name, "lease"});
}

TEST_CASE("uninstall: nothing is removed while a daemon renews the lease", "[manager]") {
  Fixture f;
  f.cluster.Put(kLeases, Lease("pod-1", "t0"));
  base::TaskGroup tasks(f.io.get_executor());
  tasks.Spawn("renew", [&]() -> base::Task<void> {
    co_await f.scheduler.Sleep(4s);
    f.cluster.Put(kLeases, Lease("pod-1", "t1"));
  });
  const std::string said = f.Run();
  CHECK(said.starts_with("lease quota-system/lease: held by pod-1, waiting to see whether"));
  CHECK(said.find("error: a daemon still runs, pod-1, and would create everything again") !=
        std::string::npos);
  CHECK(f.Left() == "webhook applied defined secret lease");
}

TEST_CASE("uninstall: a lease that is not renewed expires by our own clock", "[manager]") {
  const auto [seconds, lasts] = GENERATE(table<int, int>({{6, 6}, {0, 15}}));
  Fixture f;
  f.cluster.Put(kLeases, Lease("dead", "t0", seconds));
  f.Run();
  CHECK(f.Left().empty());
  const base::Duration until_restored = 3s;
  CHECK(f.took > std::chrono::seconds(lasts) + until_restored);
  CHECK(f.took < std::chrono::seconds(lasts + 2) + until_restored);
}

TEST_CASE("uninstall: a daemon without a lease is found by what it restores", "[manager]") {
  Fixture f;
  SECTION("the rules") {
    f.on_deleted = [&] { f.PutConfiguration(); };
    CHECK(f.Run().ends_with("error: validatingwebhookconfiguration " + kName +
                            " was created again by a daemon that still runs: stop it"));
    CHECK(f.Left() == "webhook secret lease");
  }
  SECTION("an AppliedClusterQuota") {
    f.on_deleted = [&] { f.cluster.Put(controllers::AppliedResource(), Ours("new", "team-b")); };
    CHECK(f.Run().ends_with(
        "error: appliedclusterquotas were created again by a daemon that still runs: stop it"));
    CHECK(f.Left() == "secret lease");
  }
  SECTION("but others may create rules of this name") {
    f.on_deleted = [&] { f.cluster.Put(kWebhookConfigurations, OwnedBy(Ours(kName), "other/l")); };
    CHECK(f.Run().find("error") == std::string::npos);
    CHECK(f.Left() == "webhook");
  }
}

TEST_CASE("uninstall: what belongs to others is kept", "[manager]") {
  Fixture f;
  SECTION("another installation's rules, and the AppliedClusterQuotas with them") {
    f.cluster.Put(kWebhookConfigurations, OwnedBy(Ours(kName), "other/lease"));
    const std::string said = f.Run();
    CHECK(said.find("belongs to the installation other/lease, left unchanged\n"
                    "appliedclusterquotas: left unchanged, too\n") != std::string::npos);
    CHECK(f.Left() == "webhook applied defined");
  }
  SECTION("rules and a Secret without our label") {
    json::Value plain = json::Object{{"metadata", json::Object{{"name", kName}}}};
    f.cluster.Put(kWebhookConfigurations, plain);
    plain.Make({"metadata", "name"}) = f.secret.name;
    plain.Make({"metadata", "namespace"}) = f.secret.ns;
    f.cluster.Put(kSecrets, plain);
    CHECK(f.Run().find("does not have our label, left unchanged") != std::string::npos);
    CHECK(f.Left() == "webhook secret");
  }
  SECTION("a Secret that no flag names") {
    f.options.admission_service.reset();
    f.Run();
    CHECK(f.Left() == "secret");
  }
}

TEST_CASE("uninstall: AppliedClusterQuotas that cannot be deleted do not keep the rest",
          "[manager]") {
  Fixture f;
  f.applied_trouble = base::Error{.code = base::ErrorCode::kForbidden, .message = "not yours"};
  CHECK(f.Run().ends_with("error: appliedclusterquotas: not yours"));
  CHECK(f.Left() == "applied");
}

TEST_CASE("uninstall: rules that cannot be deleted end it", "[manager]") {
  Fixture f;
  f.cluster.fault = [](const client::ApiRequest& request) -> std::optional<base::Error> {
    if (request.verb != "DELETE") return std::nullopt;
    return base::Error{.code = base::ErrorCode::kForbidden, .message = "not yours"};
  };
  CHECK(f.Run() == "error: not yours");
  CHECK(f.Left() == "webhook applied defined secret lease");
}

}  // namespace uninstall_test
