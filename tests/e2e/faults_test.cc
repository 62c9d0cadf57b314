// Faults that only the sandbox can inject: answers that a healthy API server does not give. After
// each fault the status becomes correct, and no wrong status is written during the fault.
#include <catch2/catch.hpp>

#include "tests/e2e/harness/faults.h"

namespace e2e::faults_test {
namespace {

struct Misbehaviour {
  std::string name;
  std::string faults;
};

}  // namespace

TEST_CASE("failed status writes are repeated", "[e2e][faults][sandbox-only]") {
  const std::string status = R"("verb":"patch","resource":"resourcequotas","subresource":"status")";
  const std::vector<Misbehaviour> cases{
      {"409", R"({"fault":"answer",)" + status + R"(,"code":409,"times":3})"},
      {"429", R"({"fault":"answer",)" + status + R"(,"code":429,"retryAfterSeconds":1,"times":2})"},
      {"500", R"({"fault":"answer",)" + status + R"(,"code":500,"times":3})"},
      {"503", R"({"fault":"answer",)" + status + R"(,"code":503,"times":3})"},
      {"403", R"({"fault":"answer",)" + status + R"(,"code":403,"times":2})"},
      {"no JSON", R"({"fault":"replace-body",)" + status +
                      R"(,"body":"<html>busy</html>","contentType":"text/html","times":2})"},
      {"truncated", R"({"fault":"truncate-body",)" + status + R"(,"bytes":20,"times":2})"},
  };
  Scenario s;
  s.Create("resourcequotas", Quota("q", {{"pods", "100"}}));
  auto& daemon = s.StartDaemon();
  s.WaitUsed("q", {{"pods", "0"}});
  int pods = 0;
  for (const auto& misbehaviour : cases) {
    INFO(misbehaviour.name);
    Inject(s, misbehaviour.faults);
    s.Create("pods", Pod("p" + std::to_string(pods++)));
    s.WaitUsed("q", {{"pods", std::to_string(pods)}});
    CHECK(daemon.Running());
  }
}

TEST_CASE("spoilt lists and watches are repeated", "[e2e][faults][sandbox-only][slow]") {
  const std::vector<Misbehaviour> cases{
      {"watches dropped", R"({"fault":"drop-watches","resource":"pods","reset":true})"},
      {"watches ended cleanly", R"({"fault":"drop-watches","resource":"pods","reset":false})"},
      {"an unknown event", R"({"fault":"send-event","resource":"pods","type":"BOGUS"})"},
      {"an event larger than any buffer",
       R"({"fault":"send-event","resource":"pods","type":"MODIFIED","bytes":40000000})"},
      {"bytes that are no JSON",
       R"({"fault":"send-event","resource":"pods","raw":"}{ not json\n"})"},
      {"an error event", R"({"fault":"send-event","resource":"pods","type":"ERROR","code":500})"},
      {"events repeated", R"({"fault":"repeat-event","resource":"pods","by":3})"},
      {"versions expired, list truncated",
       R"([{"fault":"truncate-body","resource":"pods","verb":"list","bytes":100,"times":2},
           {"fault":"expire"},{"fault":"drop-watches","resource":"pods","reset":true}])"},
      {"versions expired, list is HTML",
       R"([{"fault":"replace-body","resource":"pods","verb":"list","body":"<html>","contentType":"text/html"},
           {"fault":"expire"},{"fault":"drop-watches","resource":"pods"}])"},
      {"versions expired, list is 429 and 503",
       R"([{"fault":"answer","resource":"pods","verb":"list","code":429,"retryAfterSeconds":1},
           {"fault":"answer","resource":"pods","verb":"list","code":503},
           {"fault":"expire"},{"fault":"drop-watches","resource":"pods"}])"},
      {"watch refused",
       R"([{"fault":"answer","resource":"pods","verb":"watch","code":429,"retryAfterSeconds":1},
           {"fault":"answer","resource":"pods","verb":"watch","code":500},
           {"fault":"drop-watches","resource":"pods"}])"},
      {"quotas' versions expired",
       R"([{"fault":"expire"},{"fault":"drop-watches","resource":"resourcequotas","reset":true}])"},
  };
  for (const auto& misbehaviour : cases) {
    DYNAMIC_SECTION(misbehaviour.name) {
      Scenario s;
      s.Create("resourcequotas", Quota("q", {{"pods", "100"}, {"cpu", "10"}}));
      s.Create("pods", Pod("before", {{"cpu", "100m"}}));
      s.Create("pods", Pod("stays", {{"cpu", "200m"}}));
      auto& daemon = s.StartDaemon();
      s.WaitUsed("q", {{"pods", "2"}, {"cpu", "300m"}});

      Inject(s, misbehaviour.faults);
      s.Delete("pods", "before");
      s.Create("pods", Pod("after", {{"cpu", "1"}}));
      s.WaitUsed("q", {{"pods", "2"}, {"cpu", "1200m"}}, Stretched(45s));
      CHECK(daemon.Running());
      ClearFaults(s);
    }
  }
}

TEST_CASE("a failed list changes no count: unknown is never zero", "[e2e][faults][sandbox-only]") {
  Scenario s;
  s.Create("pods", Pod("a"));
  s.Create("secrets", Secret("x"));
  s.Create("resourcequotas", Quota("q", {{"pods", "10"}, {"secrets", "10"}}));
  s.StartDaemon();
  s.WaitUsed("q", {{"pods", "1"}, {"secrets", "1"}});
  s.StopDaemon();

  Inject(s, R"({"fault":"answer","resource":"pods","verb":"list","code":403,"times":-1})");
  s.Delete("pods", "a");
  s.Create("secrets", Secret("y"));
  auto& daemon = s.StartDaemon();
  // Secrets are still counted; pods keep the last known value.
  s.WaitUsed("q", {{"pods", "1"}, {"secrets", "2"}});
  daemon.WaitForLog("403");
  ClearFaults(s);
  s.WaitUsed("q", {{"pods", "0"}, {"secrets", "2"}}, Stretched(60s));
}

TEST_CASE("a quota with a malformed quantity does not affect others",
          "[e2e][faults][sandbox-only]") {
  Scenario s;
  s.Create("resourcequotas", Quota("good", {{"pods", "10"}}));
  s.Create("resourcequotas", Quota("bad", {{"pods", "10"}}));
  auto& daemon = s.StartDaemon();
  s.WaitUsed("good", {{"pods", "0"}});
  s.WaitUsed("bad", {{"pods", "0"}});
  // No server stores such a quota, so the fault sends a made-up event.
  auto event = s.GetQuota("bad");
  event.Make({"spec", "hard", "pods"}) = "ten";
  event.Make({"metadata", "resourceVersion"}) = "9000000000000000000";
  json::Value line;
  line.Make({"type"}) = "MODIFIED";
  line.Make({"object"}) = event;
  json::Value fault;
  fault.Make({"fault"}) = "send-event";
  fault.Make({"resource"}) = "resourcequotas";
  fault.Make({"raw"}) = json::Write(line) + "\n";
  Inject(s, json::Write(fault));
  daemon.WaitForLog("bad");

  s.Create("pods", Pod("a"));
  s.WaitUsed("good", {{"pods", "1"}});
  CHECK(daemon.Running());
  s.Delete("pods", "a");
  s.WaitUsed("good", {{"pods", "0"}});
}

}  // namespace e2e::faults_test
