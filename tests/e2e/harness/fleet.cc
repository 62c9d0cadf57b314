#include "tests/e2e/harness/fleet.h"

#include <signal.h>

#include <algorithm>
#include <stdexcept>

#include "tests/e2e/harness/admission.h"
#include "tests/e2e/harness/sockets.h"

namespace e2e {
namespace {

constexpr const char* kHome = "default";

json::Value ServiceOfThisMachine(const std::string& name) {
  json::Value service = Json(R"({"apiVersion":"v1","kind":"Service",
      "spec":{"type":"ExternalName","externalName":"localhost"}})");
  service.Make({"metadata", "name"}) = name;
  return service;
}

}  // namespace

Fleet::Fleet(Scenario& scenario) : scenario_(scenario), name_(FreshName("fleet")) {
  scenario_.api().Create(PathOf("services", kHome), ServiceOfThisMachine(name_));
}

Fleet::~Fleet() {
  for (const Replica& replica : replicas_) replica.daemon->Kill();
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
  daemon.WaitUntilReady();
  Balance();
  return daemon;
}

std::optional<int> Fleet::ReplaceOldest(std::chrono::milliseconds grace) {
  Add();
  const Replica old = std::move(replicas_.front());
  replicas_.pop_front();
  const auto told = std::chrono::steady_clock::now();
  old.daemon->Signal(SIGTERM);
  if (!PollUntil([&] { return old.daemon->Probe("/readyz") != 200; }, grace)) {
    throw std::runtime_error("a replica that was told to go is ready still");
  }
  Balance();
  const auto left = told + grace - std::chrono::steady_clock::now();
  return old.daemon->WaitEnd(std::chrono::ceil<std::chrono::milliseconds>(left));
}

void Fleet::KillLeader() {
  const auto leader = std::ranges::find_if(replicas_, [](const Replica& replica) {
    return replica.daemon->Metric("leader_election_master_status").value_or(0) == 1;
  });
  if (leader == replicas_.end()) throw std::runtime_error("no replica leads");
  leader->daemon->Kill();
  replicas_.erase(leader);
  Balance();
}

double Fleet::Metric(const std::string& name) const {
  double sum = 0;
  for (const Replica& replica : replicas_) sum += replica.daemon->Metric(name).value_or(0);
  return sum;
}

void Fleet::Balance() {
  std::vector<std::uint16_t> ports;
  for (const Replica& replica : replicas_) ports.push_back(replica.port);
  balancer_.SetTargets(std::move(ports));
}

}  // namespace e2e
