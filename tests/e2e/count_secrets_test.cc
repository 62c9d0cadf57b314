// Secrets are read only by a daemon that is told to, whatever its account may read.
#include <catch2/catch.hpp>

#include "tests/e2e/harness/admission.h"
#include "tests/e2e/harness/write_recorder.h"

namespace e2e::count_secrets_test {
namespace {

// The messages of the events about the quota.
std::string Said(Scenario& s, const std::string& quota) {
  const auto answer = s.api().Do(
      {.path = s.Path("events"), .query = {{"fieldSelector", "involvedObject.name=" + quota}}});
  json::Value list = Json(answer.value().body);
  std::string said;
  for (const json::Value& event : *list.Make({"items"}).AsArray()) {
    said += std::string(event.StringAt({"reason"})) + ": " +
            std::string(event.StringAt({"message"})) + "\n";
  }
  return said;
}

}  // namespace

TEST_CASE("secrets: without --count-secrets none is read, and the quota says so", "[e2e][access]") {
  Admission a({.more_flags = {"--count-secrets=false"}});
  Scenario& s = a.scenario();
  s.Create("secrets", Secret("one"));
  s.Create("resourcequotas", Quota("q", {{"pods", "5"}, {"secrets", "1"}, {"count/secrets", "1"}}));
  Eventually("pods are counted", [&]() -> std::string {
    const Quantities used = s.Used("q");
    return used == Quantities{{"pods", "0"}} ? "" : "not yet";
  });
  Eventually(
      "the quota is told why",
      [&]() -> std::string {
        const std::string said = Said(s, "q");
        return said.find("--count-secrets") != std::string::npos ? "" : said;
      },
      Stretched(30s));
  CHECK(a.daemon().MetricsText().find("resource=\"secrets\",version") == std::string::npos);
  // Nor does the API server send what is created.
  CHECK(a.Post("secrets", Secret("two")).ok());
  const json::Value configuration =
      a.api().Get("/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/" +
                  std::string(kConfigurationName));
  CHECK(json::Write(configuration).find("\"secrets\"") == std::string::npos);
  CHECK(a.daemon().Log().find("secrets.v1") == std::string::npos);

  DaemonOptions options = a.daemon_options();
  options.more_flags.push_back("--count-secrets");
  a.daemon().Restart(options);
  s.WaitUsed("q", {{"pods", "0"}, {"secrets", "2"}, {"count/secrets", "2"}}, Stretched(30s));
}

}  // namespace e2e::count_secrets_test
