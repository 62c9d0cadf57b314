// An API server that picks an endpoint of the webhook's Service for each request (feature gate
// WebhookRoundTripLoadBalancing, on in Kubernetes 1.37, with --enable-aggregator-routing). Before,
// each connection stayed with one endpoint. Here each request of one client is decided by another
// replica.
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <signal.h>

#include <catch2/catch.hpp>
#include <memory>

#include "tests/e2e/harness/admission.h"
#include "tests/e2e/harness/crowd.h"
#include "tests/e2e/harness/sockets.h"

namespace e2e::admission_endpoints_test {
namespace {

constexpr const char* kHome = "default";
constexpr const char* kSlices = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";

// An address of this machine that an EndpointSlice may have: none of loopback. Throws if there is
// none.
std::string AddressOfThisMachine() {
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) throw std::runtime_error("the addresses cannot be read");
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(all, freeifaddrs);
  for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next) {
    const bool usable = one->ifa_addr != nullptr && one->ifa_addr->sa_family == AF_INET &&
                        (one->ifa_flags & IFF_UP) != 0 && (one->ifa_flags & IFF_LOOPBACK) == 0;
    if (!usable) continue;
    char text[INET_ADDRSTRLEN];
    const auto* address = reinterpret_cast<const sockaddr_in*>(one->ifa_addr);
    if (inet_ntop(AF_INET, &address->sin_addr, text, sizeof text) != nullptr) return text;
  }
  throw std::runtime_error("this machine has no address but loopback");
}

// Replicas behind a Service with an EndpointSlice for each of them, as they differ by their ports.
class Replicas {
 public:
  explicit Replicas(Scenario& scenario) : scenario_(scenario) {
    json::Value service = Json(R"({"apiVersion":"v1","kind":"Service","spec":{"ports":[
        {"port":443,"targetPort":9443}]}})");
    service.Make({"metadata", "name"}) = kName;
    scenario_.api().Create(PathOf("services", kHome), service);
  }

  Daemon& Add() {
    const std::uint16_t port = FreePort();
    const std::string number = std::to_string(daemons_.size());
    daemons_.push_back(std::make_unique<Daemon>(DaemonOptions{
        .kubeconfig = scenario_.server().Kubeconfig(),
        .more_flags = {"--enforce=core",
                       "--admission-bind-address=" + address_ + ":" + std::to_string(port),
                       std::string("--admission-service=default/") + kName + ":443",
                       "--leader-elect=true", "--leader-elect-identity=replica-" + number,
                       std::string("--leader-elect-resource-name=") + kName,
                       "--leader-elect-resource-namespace=default"}}));
    json::Value slice = Json(R"({"apiVersion":"discovery.k8s.io/v1","kind":"EndpointSlice",
        "addressType":"IPv4","endpoints":[{"addresses":[")" +
                             address_ + R"("],"conditions":{"ready":true}}],"ports":[{"name":"",
        "protocol":"TCP","port":)" +
                             std::to_string(port) + "}]}");
    slice.Make({"metadata", "name"}) = SliceName(daemons_.size() - 1);
    slice.Make({"metadata", "labels", "kubernetes.io/service-name"}) = kName;
    daemons_.back()->WaitUntilReady();
    scenario_.api().Create(kSlices, slice);
    return *daemons_.back();
  }
  // As kubelet and the EndpointSlice controller do it: the replica is told first, the API server
  // learns of it a little later.
  std::optional<int> Stop(std::size_t at) {
    daemons_[at]->Signal(SIGTERM);
    scenario_.api().Delete(std::string(kSlices) + "/" + SliceName(at));
    return daemons_[at]->WaitEnd(Stretched(std::chrono::seconds(20)));
  }

 private:
  static constexpr const char* kName = "replicas";
  static std::string SliceName(std::size_t at) {
    return std::string(kName) + "-" + std::to_string(at);
  }

  Scenario& scenario_;
  const std::string address_ = AddressOfThisMachine();
  std::vector<std::unique_ptr<Daemon>> daemons_;
};

double Decisions(const Daemon& daemon) {
  return daemon.Metric("quota_admission_decisions_total").value_or(0);
}

}  // namespace

TEST_CASE("admission: replicas share the requests of one connection",
          "[e2e][admission][server][real-only][since-1.37]") {
  constexpr std::size_t kLimit = 30;
  const auto server = StartServer({.aggregator_routing = true});
  Scenario s(*server);
  Replicas replicas(s);
  Daemon& first = replicas.Add();
  Daemon& second = replicas.Add();
  s.Create("resourcequotas", Quota("q", {{"pods", std::to_string(kLimit)}}));
  Eventually("the quota is enforced", [&] {
    return Unenforced(s.GetQuota("q"), {{"pods", std::to_string(kLimit)}});
  });

  // One after the other: the API server has one idle connection to the Service, and before 1.37 it
  // sends them all there.
  for (int i = 0; i < 20; ++i) {
    client::ApiRequest request = PostOf(s.Path("pods"), Pod("one"));
    request.query.emplace_back("dryRun", "All");
    const Attempt attempt = ToAttempt(s.api().Do(std::move(request)));
    if (!attempt.ok()) FAIL_CHECK(attempt.Text());
  }
  CHECK(Decisions(first) >= 1);
  CHECK(Decisions(second) >= 1);

  const HeadCount heads(server->Kubeconfig(), s.Path("pods"), s.ResourceVersion("q"));
  Crowd crowd(s);
  for (int round = 0; round < 5; ++round) {
    for (const Attempt& attempt : crowd.Round(80, 32)) {
      if (!attempt.ok() && !attempt.exceeded()) FAIL_CHECK(attempt.Text());
    }
  }
  const double of_first = Decisions(first);
  const double of_second = Decisions(second);
  CHECK(of_first > 50);
  CHECK(of_second > 50);
  heads.WaitFor(crowd.Names().size());
  CHECK(heads.most() <= kLimit);
  CHECK(heads.most() >= kLimit / 2);

  CHECK(replicas.Stop(0) == std::optional<int>(0));
  for (const Attempt& attempt : crowd.Round(80, 32)) {
    if (!attempt.ok() && !attempt.exceeded()) FAIL_CHECK(attempt.Text());
  }
  CHECK(Decisions(second) > of_second + 50);
  const std::size_t left = crowd.Names().size();
  heads.WaitFor(left);
  CHECK(heads.most() <= kLimit);
  s.WaitUsed("q", {{"pods", std::to_string(left)}}, AfterAHold());
}

}  // namespace e2e::admission_endpoints_test
