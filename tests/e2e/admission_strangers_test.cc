// Clients of the daemon's ports that are not API servers: with requests that they never finish,
// they neither fill the daemon's memory nor use all its connections. Reviews are answered all the
// time.
#include <catch2/catch.hpp>

#include "tests/e2e/harness/admission.h"
#include "tests/e2e/harness/https.h"
#include "tests/e2e/harness/sockets.h"
#include "tests/e2e/harness/strangers.h"

namespace e2e::admission_strangers_test {
namespace {

constexpr std::size_t kLargeBody = std::size_t{15} << 20;
constexpr long kMostResident = 200'000'000;

// Memory and the full number of clients are checked only for the shipped build. A handshake takes a
// sanitized daemon many times as long, and clients do not wait for it.
bool IsShipped() { return !IsSanitized(BuiltProgram("quota-controller-manager")); }

void CheckMemory(const Daemon& daemon) {
  if (!IsShipped()) return;
  const long peak = UsageOf(daemon.pid()).peak_resident_bytes;
  INFO("at most " << peak << " bytes were resident");
  CHECK(peak > 0);
  CHECK(peak < kMostResident);
}

json::Value LargeConfigMap(int number) {
  json::Value map = Json(R"({"apiVersion":"v1","kind":"ConfigMap"})");
  map.Make({"metadata", "name"}) = "m" + std::to_string(number);
  map.Make({"data", "text"}) = std::string(900'000, 'x');
  return map;
}

// Creates pods in turn, some of them large, each of which must be admitted: twenty, and more until
// `done`.
void CreateUntil(Admission& a, const std::function<bool()>& done) {
  static int number = 0;
  int created = 0;
  Eventually(
      "it is done, and all the while everything was admitted",
      [&]() -> std::string {
        const bool large = ++number % 8 == 0;
        const Attempt attempt = large ? a.Post("configmaps", LargeConfigMap(number))
                                      : a.Post("pods", Pod("p" + std::to_string(number)));
        if (!attempt.ok()) {
          throw std::runtime_error("after " + std::to_string(created) + ": " + attempt.Text());
        }
        ++created;
        return created >= 20 && done() ? "" : "not yet";
      },
      Stretched(300s));
}

constexpr const char* kAdminToken = "e2e-admin-token";

// The metrics of a daemon that guards them.
std::string GuardedMetrics(const Daemon& daemon) {
  HttpsCall call{.port = daemon.metrics_port(), .method = "GET", .path = "/metrics"};
  call.headers.Set("Authorization", std::string("Bearer ") + kAdminToken);
  return Call(call).body;
}

// The value of a series; -1 if the text does not have it.
double ValueOf(const std::string& text, const std::string& series) {
  const std::size_t at = text.find("\n" + series + " ");
  return at == std::string::npos ? -1 : std::stod(text.substr(at + series.size() + 2));
}

std::string ReviewWith(const std::string& containers) {
  return R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"e2e",)"
         R"("kind":{"group":"","version":"v1","kind":"Pod"},)"
         R"("resource":{"group":"","version":"v1","resource":"pods"},"operation":"CREATE",)"
         R"("namespace":"default","object":{"metadata":{"name":"p"},"spec":{"containers":[)" +
         containers + "]}}}}";
}

}  // namespace

TEST_CASE("strangers: 64 endless bodies of 15 MiB delay no review", "[e2e][admission][strangers]") {
  Admission a;
  a.Limit("q", {{"pods", "100000"}, {"configmaps", "100000"}});
  // Each client from its own address, or all from the API server's.
  const bool apart = GENERATE(true, false);
  const int count = IsShipped() ? 64 : 16;
  const Strangers strangers(
      {.port = a.port(), .count = count, .first = apart ? 2 : 1, .addresses = apart ? count : 1},
      BeginsABody(kLargeBody));
  CreateUntil(a, [&] { return strangers.sent() > std::size_t(count) / 2 * kLargeBody; });
  CheckMemory(a.daemon());
  CHECK(a.Metric("http_server_turned_away_total{reason=\"memory\",server=\"admission\"}") > 0);
  CHECK(a.daemon().Probe("/livez") == 200);
}

TEST_CASE("strangers: endless headers, handshakes and silence delay no review",
          "[e2e][admission][strangers]") {
  Admission a;
  a.Limit("q", {{"pods", "100000"}, {"configmaps", "100000"}});
  const std::uint16_t port = a.port();
  const int most = IsShipped() ? 1000 : 60;
  const auto clients = [&](int count) {
    return Strangers::Where{.port = port, .count = count, .first = 2, .addresses = 50};
  };
  const Strangers headers(clients(most / 2), BeginsAHeader(15 << 10));
  const Strangers hellos(clients(most), AnnouncesALongHello());
  const Strangers silent(clients(most), SaysNothing());
  const Strangers idle(clients(most / 2), ShakesHandsOnly());
  const int enough = most * 9 / 10;
  CreateUntil(a, [&] { return headers.made() + idle.made() > enough && hellos.made() > enough; });
  CheckMemory(a.daemon());
  CHECK(a.daemon().Probe("/livez") == 200);
}

TEST_CASE("strangers: a client with all connections loses them to reviews",
          "[e2e][admission][strangers]") {
  const Conduct conduct = GENERATE(SaysNothing(), ShakesHandsOnly(), BeginsABody(100));
  Admission a;
  a.Limit("q", {{"pods", "100000"}, {"configmaps", "100000"}});
  DaemonOptions few = a.daemon_options();
  few.most_descriptors = 128;
  a.daemon().Restart(few);
  a.daemon().WaitUntilReady();
  const Strangers strangers({.port = a.port(), .count = 200}, conduct);
  Eventually("the strangers are connected",
             [&] { return strangers.made() >= 64 ? std::string() : std::string("not yet"); });
  CreateUntil(a, [] { return true; });
  CHECK(a.Metric("http_server_turned_away_total{reason=\"crowded\",server=\"admission\"}") > 0);
}

TEST_CASE("strangers: a client with all connections of the probe port delays no probe",
          "[e2e][admission][strangers]") {
  Scenario s;
  Daemon& daemon = s.StartDaemon();
  const Strangers at_probes({.port = daemon.probe_port(), .count = 200}, SaysNothing());
  const Strangers at_metrics({.port = daemon.metrics_port(), .count = 200}, SaysNothing());
  Eventually("the strangers are connected", [&] {
    return at_probes.made() >= 200 && at_metrics.made() >= 200 ? std::string()
                                                               : std::string("not yet");
  });
  for (int i = 0; i < 20; ++i) {
    CHECK(daemon.Probe("/livez") == 200);
    CHECK(daemon.Metric("http_server_connections").value_or(0) > 0);
  }
}

TEST_CASE("strangers: TLS records without data hold no port", "[e2e][admission][strangers]") {
  // Handled in one go, so many take two seconds.
  constexpr int kUpdates = 200'000;
  const std::string server = GENERATE("admission", "metrics");
  AdmissionOptions options;
  options.more_flags = {"--metrics-secure=true"};
  Admission a(options);
  a.Limit("q", {{"pods", "100000"}, {"configmaps", "100000"}});
  const std::uint16_t port = server == "admission" ? a.port() : a.daemon().metrics_port();
  const Strangers strangers({.port = port, .count = 2, .addresses = 2}, UpdatesItsKeys(kUpdates));
  const auto turned_away = [&](const std::string& metrics) {
    return ValueOf(metrics,
                   "http_server_turned_away_total{reason=\"malformed\",server=\"" + server + "\"}");
  };
  CreateUntil(a, [&] { return turned_away(GuardedMetrics(a.daemon())) >= 2; });
  const std::string metrics = GuardedMetrics(a.daemon());
  const double seconds = ValueOf(metrics, "quota_event_loop_held_seconds_count");
  CHECK(seconds > 0);
  if (IsShipped()) {
    CHECK(ValueOf(metrics, "quota_event_loop_held_seconds_bucket{le=\"1\"}") == seconds);
  }
  CHECK(a.daemon().Probe("/livez") == 200);
}

TEST_CASE("strangers: a review of many small values does not fill the memory",
          "[e2e][admission][strangers]") {
  Admission a;
  a.Limit("q", {{"pods", "100000"}, {"configmaps", "100000"}});
  std::string containers = "{}";
  while (containers.size() < kLargeBody) containers += ",{}";
  const std::string body = ReviewWith(containers);
  for (int i = 0; i < 3; ++i) {
    const HttpsAnswer answer = Call({.port = a.port(),
                                     .method = "POST",
                                     .path = "/validate/core",
                                     .body = body,
                                     .headers = {{"Content-Type", "application/json"}}});
    INFO(answer.error);
    CHECK(answer.status == 413);
    CHECK(answer.body.find("bytes of memory") != std::string::npos);
  }
  CheckMemory(a.daemon());
  CHECK(a.Post("pods", Pod("after")).ok());
}

}  // namespace e2e::admission_strangers_test
