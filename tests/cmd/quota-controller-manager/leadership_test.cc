#include "cmd/quota-controller-manager/leadership.h"

#include <catch2/catch.hpp>

#include "pkg/base/manual_scheduler.h"
#include "pkg/client/event_recorder.h"
#include "tests/fake/scripted_client.h"

namespace leadership_test {
namespace {

class NoEvents final : public client::EventRecorder {
 public:
  bool Record(client::Event) override { return true; }
};

struct Fixture {
  manager::Leadership New(const manager::LeaderElection& election) {
    return {scheduler, client, events, config, election, "host", {}};
  }
  base::asio::io_context io{1};
  base::ManualScheduler scheduler{io};
  fake::ScriptedClient client{scheduler};
  NoEvents events;
  client::ClusterConfig config;
};

}  // namespace

TEST_CASE("leadership: the lease is in the flag's namespace, the pod's, or kube-system",
          "[manager]") {
  client::ClusterConfig config;
  config.ns = "quota-system";
  manager::LeaderElection election;
  CHECK(manager::LeaseOf(config, election).ToString() == "kube-system/quota-controller-manager");
  config.in_cluster = true;
  CHECK(manager::LeaseOf(config, election).ToString() == "quota-system/quota-controller-manager");
  election.resource_namespace = "leases";
  election.resource_name = "ours";
  CHECK(manager::LeaseOf(config, election).ToString() == "leases/ours");
}

TEST_CASE("leadership: without election this process leads without a lease", "[manager]") {
  Fixture f;
  const manager::Leadership leadership = f.New({.elect = false});
  CHECK(leadership.Leads());
  CHECK(leadership.Holder().empty());
  CHECK(leadership.Identity().empty());
}

TEST_CASE("leadership: with election no process leads before it holds the lease", "[manager]") {
  Fixture f;
  CHECK_FALSE(f.New({}).Leads());
  CHECK(f.New({.identity = "me"}).Identity() == "me");
  CHECK(f.New({}).Identity().starts_with("host"));
}

}  // namespace leadership_test
