#include "tests/e2e/harness/fleet.h"

#include <signal.h>

#include <algorithm>
#include <stdexcept>

#include "tests/e2e/harness/admission.h"
#include "tests/e2e/harness/installation.h"
#include "tests/e2e/harness/sockets.h"

namespace e2e {
namespace {

constexpr const char* kHome = "default";
// In a cluster this takes longer: a probe every two seconds, three failures, and every node must
// learn.
constexpr std::chrono::milliseconds kProbePeriod{200};
constexpr std::chrono::milliseconds kUntilNodesKnow{1000};
constexpr int kFailureThreshold = 3;

json::Value ServiceOfThisMachine(const std::string& name) {
  json::Value service = Json(R"({"apiVersion":"v1","kind":"Service",
      "spec":{"type":"ExternalName","externalName":"localhost"}})");
  service.Make({"metadata", "name"}) = name;
  return service;
}

// Returns whether the Service of manifests/ publishes addresses that are not ready.
bool PublishesUnready() {
  for (const json::Value& object : RenderManifests("core-enforced")) {
    const json::Value* publishes = object.At({"spec", "publishNotReadyAddresses"});
    if (object.StringAt({"kind"}) == "Service" && publishes != nullptr) return *publishes == true;
  }
  return false;
}

}  // namespace

Fleet::Fleet(Scenario& scenario)
    : scenario_(scenario), publishes_unready_(PublishesUnready()), name_(FreshName("fleet")) {
  scenario_.api().Create(PathOf("services", kHome), ServiceOfThisMachine(name_));
  kubelet_ = std::thread([this] {
    while (!stop_) {
      ProbeAll();
      std::this_thread::sleep_for(kProbePeriod);
    }
  });
}

Fleet::~Fleet() {
  stop_ = true;
  kubelet_.join();
  for (const Replica& replica : replicas_) {
    if (replica.daemon) replica.daemon->Finish();
  }
  for (const std::string& path :
       {ConfigurationPath(), PathOf("services", kHome, name_), PathOf("leases", kHome, name_),
        PathOf("secrets", kHome, name_ + "-certificate")}) {
    (void)scenario_.api().Do({.verb = "DELETE", .path = path, .timeout = Stretched(5s)});
  }
}

void Fleet::AddFlags(const std::vector<std::string>& flags) {
  more_flags_.insert(more_flags_.end(), flags.begin(), flags.end());
}

Daemon& Fleet::Add() {
  const std::uint16_t port = FreePort();
  DaemonOptions options{
      .kubeconfig = scenario_.server().Kubeconfig(),
      .more_flags = {
          "--enforce=core", "--admission-bind-address=127.0.0.1:" + std::to_string(port),
          "--admission-service=default/" + name_ + ":" + std::to_string(balancer_.port()),
          "--leader-elect=true", "--leader-elect-identity=replica-" + std::to_string(++started_),
          "--leader-elect-resource-name=" + name_, "--leader-elect-resource-namespace=default"}};
  options.more_flags.insert(options.more_flags.end(), more_flags_.begin(), more_flags_.end());
  replicas_.push_back({std::make_unique<Daemon>(options), port});
  Daemon& daemon = *replicas_.back().daemon;
  Publish(port, daemon.probe_port());
  daemon.WaitUntilReady();
  Eventually("the replica is asked", [&] { return IsReady(port) ? "" : "not yet"; });
  return daemon;
}

void Fleet::AddWithoutImage() {
  const std::uint16_t port = FreePort();
  replicas_.push_back({nullptr, port});
  Publish(port, 0);
}

std::optional<int> Fleet::ReplaceOldest(std::chrono::milliseconds grace) {
  Add();
  const Replica old = std::move(replicas_.front());
  replicas_.pop_front();
  const auto told = std::chrono::steady_clock::now();
  old.daemon->Signal(SIGTERM);
  std::this_thread::sleep_for(kUntilNodesKnow);
  Withdraw(old.port);
  const auto left = told + grace - std::chrono::steady_clock::now();
  return old.daemon->WaitEnd(std::chrono::ceil<std::chrono::milliseconds>(left));
}

void Fleet::KillLeader() {
  const auto leader = std::ranges::find_if(replicas_, [](const Replica& replica) {
    return replica.daemon &&
           replica.daemon->Metric("leader_election_master_status").value_or(0) == 1;
  });
  if (leader == replicas_.end()) throw std::runtime_error("no replica leads");
  leader->daemon->Kill();
  Withdraw(leader->port);
  replicas_.erase(leader);
}

double Fleet::Metric(const std::string& name) const {
  double sum = 0;
  for (const Replica& replica : replicas_) {
    if (replica.daemon) sum += replica.daemon->Metric(name).value_or(0);
  }
  return sum;
}

void Fleet::Publish(std::uint16_t port, std::uint16_t probe_port) {
  const std::lock_guard lock(mutex_);
  addresses_.push_back({.port = port, .probe_port = probe_port});
  Balance();
}

void Fleet::Withdraw(std::uint16_t port) {
  const std::lock_guard lock(mutex_);
  std::erase_if(addresses_, [&](const Address& address) { return address.port == port; });
  Balance();
}

bool Fleet::IsReady(std::uint16_t port) const {
  const std::lock_guard lock(mutex_);
  return std::ranges::any_of(
      addresses_, [&](const Address& address) { return address.port == port && address.ready; });
}

void Fleet::ProbeAll() {
  std::vector<Address> probed;
  {
    const std::lock_guard lock(mutex_);
    probed = addresses_;
  }
  for (Address& address : probed) {
    address.ready =
        address.probe_port != 0 && PlainGet(address.probe_port, "/readyz").status == 200;
  }
  const std::lock_guard lock(mutex_);
  for (const Address& seen : probed) {
    const auto known = std::ranges::find(addresses_, seen.port, &Address::port);
    if (known == addresses_.end()) continue;  // removed meanwhile
    known->failed_probes = seen.ready ? 0 : known->failed_probes + 1;
    known->ready = seen.ready || (known->ready && known->failed_probes < kFailureThreshold);
  }
  Balance();
}

void Fleet::Balance() {
  std::vector<std::uint16_t> ports;
  for (const Address& address : addresses_) {
    if (address.ready || publishes_unready_) ports.push_back(address.port);
  }
  balancer_.SetTargets(std::move(ports));
}

}  // namespace e2e
