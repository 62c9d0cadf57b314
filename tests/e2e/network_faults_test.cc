// Connections that break, lag, or fall silent while pods are created and deleted at a limit, on
// both sides of the daemon: to the API server, and from there to the webhook.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <random>

#include "tests/e2e/harness/admission.h"
#include "tests/e2e/harness/proxy.h"
#include "tests/e2e/harness/sockets.h"
#include "tests/e2e/harness/under_load.h"

namespace e2e::network_faults_test {
namespace {

std::uint64_t Seed() {
  const char* given = std::getenv("QCM_E2E_SEED");
  return given == nullptr ? std::random_device{}() : std::strtoull(given, nullptr, 10);
}

// Keeps a network fault for this time.
void Hold(std::chrono::milliseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  (void)PollUntil([end] { return std::chrono::steady_clock::now() >= end; }, time + 1s);
}

// Each fault in turn; after each the count becomes right.
void Trouble(TcpProxy& proxy, UnderLoad& load, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (int cuts = 0; cuts < 8; ++cuts) {
    Hold(std::chrono::milliseconds(20 + random() % 400));
    proxy.Cut();
  }
  load.AwaitDecided(30);
  load.ExpectTrue();

  proxy.Slow(std::chrono::milliseconds(100 + random() % 100));
  load.AwaitDecided(20);
  Hold(2s);
  proxy.Slow(0ms);
  load.AwaitDecided(30);
  load.ExpectTrue();

  // The connections are half open until one side closes them.
  proxy.Swallow(true);
  Hold(3s);
  proxy.Swallow(false);
  proxy.Cut();
  load.AwaitDecided(30);
  load.ExpectTrue();
}

}  // namespace

TEST_CASE("under load: cut, slow and half-open connections between daemon and API server",
          "[e2e][faults][load]") {
  const auto seed = Seed();
  INFO("QCM_E2E_SEED=" << seed);
  TcpProxy proxy(SharedServer().port());
  Admission a({.kubeconfig = SharedServer().Kubeconfig(proxy.port())});
  UnderLoad load(a.scenario());
  load.AwaitDecided(30);
  Trouble(proxy, load, seed);
  CHECK(a.daemon().Running());
  CHECK(load.refused() > 0);
}

TEST_CASE("under load: cut, slow and half-open connections between API server and webhook",
          "[e2e][faults][load]") {
  const auto seed = Seed();
  INFO("QCM_E2E_SEED=" << seed);
  const std::uint16_t port = FreePort();
  TcpProxy proxy(port);
  Admission a(
      {.more_flags = {"--admission-bind-address=127.0.0.1:" + std::to_string(port),
                      "--admission-url=https://127.0.0.1:" + std::to_string(proxy.port())}});
  UnderLoad load(a.scenario());
  load.AwaitDecided(30);
  Trouble(proxy, load, seed);
  CHECK(a.daemon().Running());
  CHECK(load.refused() > 0);
}

}  // namespace e2e::network_faults_test
