// The requests of a resync.
#include <catch2/catch.hpp>
#include <random>

#include "tests/e2e/harness/api.h"
#include "tests/e2e/harness/api_server.h"
#include "tests/e2e/harness/daemon.h"
#include "tests/e2e/harness/objects.h"
#include "tests/e2e/harness/proxy.h"
#include "tests/e2e/harness/wait.h"

namespace e2e::resync_test {
namespace {

constexpr int kLargePods = 60;

// A pod with 20 kB outside of its metadata that hardly compress.
json::Value LargePod(int number) {
  constexpr std::string_view kLetters =
      "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWX";
  std::mt19937 random(static_cast<unsigned>(number));
  std::string text;
  while (text.size() < 20'000) text += kLetters[random() % kLetters.size()];
  json::Value pod = Pod("p" + std::to_string(number));
  json::Value& container = pod.Make({"spec", "containers"}).AsArray()->front();
  container.Make({"env"}) = json::Array{json::Object{{"name", "LARGE"}, {"value", text}}};
  return pod;
}

}  // namespace

TEST_CASE("a resync of unchanged objects requests only metadata", "[e2e][resync][server]") {
  const auto server = StartServer();
  Api api(server->Kubeconfig());
  api.Create(PathOf("namespaces"), Namespace("resync"));
  api.Create(PathOf("resourcequotas", "resync"), Quota("q", {{"pods", "1000"}}));
  for (int i = 0; i < kLargePods; ++i) api.Create(PathOf("pods", "resync"), LargePod(i));
  TcpProxy proxy(server->port());
  Daemon daemon({.kubeconfig = server->Kubeconfig(proxy.port()),
                 .resync_period = "1s",
                 .more_flags = {"--quota-apis=core", "--enforce="}});
  daemon.WaitUntilReady();
  const auto first_list = proxy.bytes_from_target();
  CHECK(first_list > kLargePods * 10'000);
  const auto resyncs = [&] { return daemon.Metric("quota_resync_total").value_or(0); };
  const double before = resyncs();
  Eventually("four resyncs are over", [&]() -> std::string {
    return resyncs() >= before + 4 ? "" : std::to_string(resyncs());
  });
  const auto each = (proxy.bytes_from_target() - first_list) / 4;
  INFO("bytes of the first list " << first_list << ", of a resync " << each);
  CHECK(each < first_list / 3);
  CHECK(daemon.Metric("quota_tracked_objects") == kLargePods);
  CHECK(daemon.Metric("quota_resync_drift_objects_total").value_or(0) == 0);
}

}  // namespace e2e::resync_test
