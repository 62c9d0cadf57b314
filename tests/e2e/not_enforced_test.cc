// Quotas without conditions that nobody enforces have an event that says so.
#include <catch2/catch.hpp>

#include "tests/e2e/harness/cloud.h"
#include "tests/e2e/harness/federation.h"
#include "tests/e2e/harness/wait.h"

namespace e2e::not_enforced_test {
namespace {

void SetGlass(Api& api, const std::string& value) {
  api.MergePatch(ConfigurationPath(),
                 Json(R"({"metadata":{"annotations":{"quota-controller-manager.io/break-glass":)" +
                      value + "}}}"));
}

void WaitSaid(Scenario& s, const std::string& kind, const std::string& reason,
              const std::string& begin) {
  Eventually("the quota has an event " + reason, [&]() -> std::string {
    const json::Value events = s.api().Get(s.Path("events"));
    for (const json::Value& event : events.ArrayAt({"items"})) {
      const bool same = event.StringAt({"involvedObject", "kind"}) == kind &&
                        event.StringAt({"involvedObject", "name"}) == "q" &&
                        event.StringAt({"reason"}) == reason;
      if (same && event.StringAt({"message"}).starts_with(begin)) return "";
    }
    return "none";
  });
}

// While the glass is broken, and afterwards.
void CheckEvents(Scenario& s, const std::string& kind) {
  SetGlass(s.api(), R"("true")");
  WaitSaid(s, kind, "NotEnforced", "nothing is refused: all requests pass because of");
  SetGlass(s.api(), "null");
  WaitSaid(s, kind, "QuotaHealed", "the quota is enforced again");
}

}  // namespace

TEST_CASE("a ResourceQuota says that the glass is broken", "[e2e][admission][uninstall]") {
  Admission a;
  a.Limit("q", {{"pods", "0"}});
  CheckEvents(a.scenario(), "ResourceQuota");
}

TEST_CASE("a KarmadaQuota says that the glass is broken", "[e2e][karmada][uninstall]") {
  Federation f;
  f.Limit("q", {{"pods", "0"}});
  CheckEvents(f.scenario(), "KarmadaQuota");
}

TEST_CASE("a quota of ironcore says that the glass is broken", "[e2e][ironcore][uninstall]") {
  Cloud c;
  c.Limit("q", {{"count/machines.compute.ironcore.dev", "0"}});
  CheckEvents(c.scenario(), "ResourceQuota");
}

}  // namespace e2e::not_enforced_test
