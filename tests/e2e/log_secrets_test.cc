// The log contains no secret, even at the highest verbosity.
#include <catch2/catch.hpp>

#include "pkg/base/base64.h"
#include "tests/e2e/harness/https.h"
#include "tests/e2e/harness/scenario.h"

namespace e2e::log_secrets_test {
namespace {

// The middle of a PEM key or another long text, which cannot appear by accident.
std::string Core(const std::string& text) { return text.substr(text.size() / 2, 24); }

}  // namespace

TEST_CASE("log: it has no token, key or Secret at the highest verbosity and with many failures",
          "[e2e][access]") {
  const auto server = StartServer();
  Scenario s(*server);
  const std::string password = "a-secret-of-a-tenant-which-is-long";
  json::Value secret = Secret("tenant");
  secret.Make({"data", "password"}) = base::EncodeBase64(password);
  s.Create("secrets", secret);
  s.Create("resourcequotas", Quota("q", {{"secrets", "10"}, {"pods", "5"}}));
  Daemon& daemon =
      s.StartDaemon(DaemonOptions{.more_flags = {"-v=9", "--metrics-secure=true", "--enforce=core",
                                                 "--admission-failure-policy=Ignore",
                                                 "--admission-bind-address=127.0.0.1:0",
                                                 "--admission-service=" + s.ns() + "/web:443"}},
                    false);
  const std::string path = s.Path("secrets", "web-certificate");
  Eventually("the certificate is stored", [&] {
    return s.api().Exists(path) ? std::string() : "not yet: " + Tail(daemon.Log(), 5);
  });
  const json::Value stored = s.api().Get(path);
  std::vector<std::string> secrets{server->Fields().token, "a-scraper-without-rights", password,
                                   base::EncodeBase64(password), "PRIVATE KEY"};
  for (const char* key : {"tls.key", "ca.key"}) {
    const std::string encoded(stored.StringAt({"data", key}));
    REQUIRE(encoded.size() > 100);
    secrets.push_back(Core(encoded));
    secrets.push_back(Core(base::DecodeBase64(encoded).value()));
  }
  const auto scrape = [&](const std::string& token) {
    HttpsCall call{.port = daemon.metrics_port(), .path = "/metrics"};
    call.headers.Set("Authorization", "Bearer " + token);
    return Call(call).status;
  };
  CHECK(scrape(server->Fields().token) == 200);
  CHECK(scrape("a-scraper-without-rights") == 401);
  // A garbled Secret, a change by a tenant, and then no API server.
  json::Value garbled = json::Object{};
  garbled.Make({"data", "tls.crt"}) = base::EncodeBase64("no certificate");
  s.api().MergePatch(path, garbled);
  s.Create("secrets", Secret("another"));
  server->Kill();
  daemon.WaitForLog("Connection refused");
  CHECK(scrape("a-scraper-without-rights-2") == 503);
  const std::string log = daemon.Log();
  CHECK(log.size() > 1000);
  for (const std::string& one : secrets) {
    INFO(one);
    CHECK(log.find(one) == std::string::npos);
  }
  CHECK(daemon.Stop() == 0);
}

}  // namespace e2e::log_secrets_test
