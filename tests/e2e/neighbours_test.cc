// Beside the quota components that a cluster already has: both are right, and neither undoes the
// other's work.
#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/e2e/harness/crowd.h"
#include "tests/e2e/harness/scenario.h"
#include "tests/e2e/harness/write_recorder.h"

namespace e2e::neighbours_test {
namespace {

// Creates up to `count` pods under a limit that the built-in plugin enforces; returns how many were
// admitted.
int CreateUntilRefused(Scenario& s, int count) {
  int created = 0;
  for (int i = 0; i < count; ++i) {
    const auto answer = s.api().Do({.verb = "POST",
                                    .path = s.Path("pods"),
                                    .content_type = std::string(client::kJson),
                                    .body = json::Write(Pod("p" + std::to_string(i)))});
    if (answer) {
      ++created;
    } else {
      CHECK(answer.error().message.find("exceeded quota") != std::string::npos);
    }
  }
  return created;
}

// Checks that the quota's version stays the same for `period`.
void StaysUnwritten(Scenario& s, const std::string& quota, std::chrono::milliseconds period) {
  const auto version = s.ResourceVersion(quota);
  Always(
      "quota " + quota + " is not written",
      [&]() -> std::string {
        const auto now = s.ResourceVersion(quota);
        return now == version ? "" : json::Write(s.GetQuota(quota));
      },
      period);
}

}  // namespace

TEST_CASE("beside the built-in plugin: concurrent creations and deletions never exceed the limit",
          "[e2e][neighbours][real-only]") {
  constexpr std::size_t kLimit = 40;
  Scenario s({.quota_plugin = true});
  s.Create("resourcequotas", Quota("q", {{"pods", std::to_string(kLimit)}}));
  s.StartDaemon();
  s.WaitUsed("q", {{"pods", "0"}});
  Crowd crowd(s);
  std::size_t most = 0;
  for (int round = 0; round < 25; ++round) {
    crowd.Round(60, 32);
    most = std::max(most, crowd.Names().size());
  }
  CHECK(most <= kLimit);
  CHECK(most >= kLimit / 2);  // the load really reached the limit
  s.WaitUsed("q", {{"pods", std::to_string(crowd.Names().size())}}, 30s);
}

TEST_CASE("beside the built-in plugin: it charges, and the daemon counts and releases",
          "[e2e][neighbours][real-only]") {
  Scenario s({.quota_plugin = true});
  s.Create("resourcequotas", Quota("q", {{"pods", "10"}}));
  s.StartDaemon();
  s.WaitUsed("q", {{"pods", "0"}});
  CHECK(CreateUntilRefused(s, 14) == 10);
  s.WaitUsed("q", {{"pods", "10"}});
  s.Delete("pods", "p0");
  s.Delete("pods", "p1");
  s.WaitUsed("q", {{"pods", "8"}});
  s.Create("pods", Pod("again"));
  s.WaitUsed("q", {{"pods", "9"}});
  StaysUnwritten(s, "q", 17s);  // longer than a charge is held
}

TEST_CASE("a charge of the built-in plugin for an object that is never stored ends",
          "[e2e][neighbours][real-only]") {
  Scenario s({.quota_plugin = true});
  s.Create("resourcequotas", Quota("q", {{"pods", "10"}}));
  s.StartDaemon();
  s.Create("pods", Pod("taken"));
  s.WaitUsed("q", {{"pods", "1"}});
  // The plugin charges before the store reports that the name exists.
  for (int i = 0; i < 3; ++i) {
    CHECK_FALSE(s.api()
                    .Do({.verb = "POST",
                         .path = s.Path("pods"),
                         .content_type = std::string(client::kJson),
                         .body = json::Write(Pod("taken"))})
                    .has_value());
  }
  s.WaitUsed("q", {{"pods", "1"}}, 30s);
}

TEST_CASE("beside the built-in plugin and controller: all agree and none overwrites another",
          "[e2e][neighbours][controller-manager][real-only]") {
  Scenario s({.quota_plugin = true});
  TempDir dir;
  const auto quota = s.Create(
      "resourcequotas", Quota("q", {{"pods", "50"}, {"requests.cpu", "4"}, {"secrets", "5"}}));
  const auto controller = StartBuiltinController(
      "resourcequota-controller", s.server().Kubeconfig(), dir.path() + "/controller.log");
  s.StartDaemon("2s");
  s.WaitUsed("q", {{"pods", "0"}, {"requests.cpu", "0"}, {"secrets", "0"}}, 60s);
  WriteRecorder recorder(s.server().Kubeconfig(), s.ns(), s.ResourceVersion("q"));

  constexpr int kPods = 30;
  for (int i = 0; i < kPods; ++i) {
    s.Create("pods", Pod("p" + std::to_string(i), {{"cpu", "100m"}}));
  }
  for (int i = 0; i < 10; ++i) s.Delete("pods", "p" + std::to_string(i));
  s.WaitUsed("q", {{"pods", "20"}, {"requests.cpu", "2"}, {"secrets", "0"}}, 60s);
  // A charge may be held for 15 s; after that nobody has a reason to write.
  Eventually(
      "the quota comes to rest",
      [&, last = std::string(), since = std::chrono::steady_clock::now()]() mutable -> std::string {
        const auto version = s.ResourceVersion("q");
        const auto now = std::chrono::steady_clock::now();
        if (version != last) {
          last = version;
          since = now;
        }
        return now - since >= 17s ? "" : "still written";
      },
      60s);
  s.WaitUsed("q", {{"pods", "20"}, {"requests.cpu", "2"}, {"secrets", "0"}});
  recorder.WaitSeen("q", s.ResourceVersion("q"));
  // The plugin writes at most once for each creation; both may write for each deletion.
  CHECK(recorder.Writes("q") <= kPods + 2 * 10 + kPods);
}

}  // namespace e2e::neighbours_test
