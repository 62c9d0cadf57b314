// The daemon cannot reach the API server, quotas are deleted, somebody else writes, or the daemon
// is killed. Each answer is still correct and in time, and everything recovers without help.
#include <atomic>
#include <catch2/catch.hpp>
#include <functional>
#include <future>
#include <thread>

#include "tests/e2e/harness/crowd.h"
#include "tests/e2e/harness/proxy.h"

namespace e2e::admission_outage_test {
namespace {

// True if the API server says that the webhook gave no decision.
bool Failed(const Attempt& attempt) {
  const auto says = [&](const char* words) {
    return attempt.message.find(words) != std::string::npos;
  };
  return attempt.code == 500 && attempt.reason == "InternalError" &&
         says("failed calling webhook \"") &&
         says("core.quota-controller-manager.io\": failed to call webhook: ");
}

// Sends the requests while the test goes on. The scenario must outlive the future.
std::future<std::vector<Attempt>> SendAside(Scenario& s, std::vector<client::ApiRequest> requests,
                                            std::size_t parallel) {
  return std::async(std::launch::async, [kubeconfig = s.server().Kubeconfig(),
                                         requests = std::move(requests), parallel]() mutable {
    Api api(kubeconfig);
    std::vector<Attempt> attempts;
    for (const auto& answer : api.DoAll(std::move(requests), parallel)) {
      attempts.push_back(ToAttempt(answer));
    }
    return attempts;
  });
}

// Repeats a function on its own thread until it is destroyed.
class Loop {
 public:
  Loop(const std::string& kubeconfig, const std::function<void(Api&, int)>& turn)
      : done_(std::async(std::launch::async, [this, kubeconfig, turn] {
          Api api(kubeconfig);
          for (int i = 0; !stop_; ++i) {
            turn(api, i);
            ++turns_;
          }
        })) {}
  ~Loop() {
    stop_ = true;
    done_.wait();
  }
  [[nodiscard]] int turns() const { return turns_; }

 private:
  std::atomic<bool> stop_{false};
  std::atomic<int> turns_{0};
  std::future<void> done_;
};

}  // namespace

TEST_CASE("admission: no decision is wrong while the daemon cannot reach the API server",
          "[e2e][admission][outage]") {
  TcpProxy proxy(SharedServer().port());
  Admission a({.kubeconfig = SharedServer().Kubeconfig(proxy.port())});
  a.Limit("q", {{"pods", "3"}});
  CHECK(a.Post("pods", Pod("before")).ok());
  a.scenario().WaitUsed("q", {{"pods", "1"}});
  SECTION("silent") { proxy.Stall(true); }
  SECTION("refusing") {
    proxy.Refuse(true);
    proxy.Cut();
  }
  // Which of the two it is depends on whether the daemon noticed the broken watch before the
  // request.
  const std::string undecided = "resource quota evaluation timed out";
  const std::string unread = "quotas of namespace " + a.scenario().ns() + " cannot be read";
  const auto begun = std::chrono::steady_clock::now();
  for (const Attempt& attempt : a.DoAll(Creations(a.scenario(), "lost-", 8), 8)) {
    INFO(attempt.Text());
    CHECK(Failed(attempt));
    CHECK((attempt.message.find(undecided) != std::string::npos ||
           attempt.message.find(unread) != std::string::npos));
  }
  CHECK(std::chrono::steady_clock::now() - begun < Stretched(7s));
  CHECK(a.Count("pods") == 1);
  proxy.Stall(false);
  proxy.Refuse(false);
  a.scenario().WaitUsed("q", {{"pods", "1"}}, AfterAHold());
  // A status write that was sent when the server fell silent may only take effect now. Its charge
  // has no object, and is released after the hold.
  for (const char* name : {"after", "third"}) {
    const auto admitted = [&]() -> std::string {
      const Attempt attempt = a.Post("pods", Pod(name));
      return attempt.ok() ? "" : attempt.Text();
    };
    Eventually("creations are admitted again", admitted, AfterAHold());
  }
  CHECK(a.Post("pods", Pod("fourth")).exceeded());
  a.scenario().WaitUsed("q", {{"pods", "3"}}, AfterAHold());
}

TEST_CASE("admission: another writer in a tight loop delays requests but stops none",
          "[e2e][admission][outage]") {
  Admission a;
  a.Limit("q", {{"pods", "60"}});
  const std::string quota = a.scenario().Path("resourcequotas", "q");
  const Loop writer(a.scenario().server().Kubeconfig(), [&quota](Api& api, int turn) {
    const json::Value patch = json::Object{
        {"metadata", json::Object{{"annotations", json::Object{{"turn", std::to_string(turn)}}}}}};
    const json::Value written = api.MergePatch(quota, patch);
    // A sanitizer slows the daemon down, not this loop. Without pauses in that case the daemon
    // loses each race, which no daemon of usual speed does. So every eighth turn waits for it.
    if (Stretched(1ms) == 1ms || turn % 8 != 7) return;
    const auto version = written.StringAt({"metadata", "resourceVersion"});
    const auto wrote = [&] {
      return api.Get(quota).StringAt({"metadata", "resourceVersion"}) != version;
    };
    PollUntil(wrote, 1s);
  });
  // On a busy machine the writer makes few turns while 80 pods are created.
  int rounds = 0;
  for (int limit = 60; rounds < 10 && writer.turns() <= 10; ++rounds, limit += 60) {
    const std::string text = std::to_string(limit);
    a.api().MergePatch(quota, Json(R"({"spec":{"hard":{"pods":")" + text + R"("}}})"));
    Eventually("the limit is enforced", [&]() -> std::string {
      const auto stored = a.scenario().GetQuota("q");
      return stored.StringAt({"status", "hard", "pods"}) == text ? "" : json::Write(stored);
    });
    const std::string prefix = "p" + text + "-";
    int created = 0;
    for (const Attempt& attempt : a.DoAll(Creations(a.scenario(), prefix, 80), 16)) {
      INFO(attempt.Text());
      CHECK((attempt.ok() || attempt.exceeded()));
      if (attempt.ok()) ++created;
    }
    CHECK(created == 60);
    a.scenario().WaitUsed("q", {{"pods", text}}, AfterAHold());
  }
  CHECK(writer.turns() > 10);
}

TEST_CASE("admission: a deleted quota does not limit requests that wait for its write",
          "[e2e][admission][outage]") {
  TcpProxy proxy(SharedServer().port());
  Admission a({.kubeconfig = SharedServer().Kubeconfig(proxy.port())});
  a.Limit("q", {{"pods", "10"}});
  proxy.Stall(true);
  const double calls = a.Metric("quota_admission_batch_requests_count");
  auto waiting = SendAside(a.scenario(), Creations(a.scenario(), "p", 20), 20);
  Eventually("requests wait for the quota", [&]() -> std::string {
    return a.Metric("quota_admission_batch_requests_count") > calls ? "" : "none";
  });
  a.scenario().Delete("resourcequotas", "q");
  proxy.Stall(false);
  for (const Attempt& attempt : waiting.get()) CHECK(attempt.Text() == "201 : ");
  CHECK(a.Count("pods") == 20);
}

TEST_CASE("admission: the deletion of a namespace delays no other request",
          "[e2e][admission][outage][controller-manager]") {
  Admission a;
  a.Limit("q", {{"pods", "1000"}});
  const std::string doomed = FreshName("doomed");
  const std::string path = PathOf("pods", doomed);
  a.api().Create(PathOf("namespaces"), Namespace(doomed));
  a.api().Create(PathOf("resourcequotas", doomed), Quota("q", {{"pods", "1000"}}));
  TempDir dir;
  std::unique_ptr<Process> collector;
  if (CurrentTier() == Tier::kReal) {
    collector = StartBuiltinController("namespace-controller", a.scenario().server().Kubeconfig(),
                                       dir.path() + "/controller.log");
  }
  std::atomic<int> ended{0};
  std::atomic<int> strange{0};
  const Loop there(a.scenario().server().Kubeconfig(), [&](Api& api, int turn) {
    const Attempt attempt = ToAttempt(api.Do(PostOf(path, Pod("p" + std::to_string(turn)))));
    const bool gone =
        attempt.code == 404 || attempt.message.find("is being terminated") != std::string::npos;
    if (gone) ++ended;
    if (!attempt.ok() && !gone && !attempt.exceeded()) ++strange;
  });
  Eventually("pods are created", [&]() -> std::string { return there.turns() > 20 ? "" : "few"; });
  a.api().Delete(PathOf("namespaces", "", doomed));
  for (int i = 0; i < 50; ++i) {
    const Attempt attempt = a.Post("pods", Pod("p" + std::to_string(i)));
    if (!attempt.ok()) FAIL_CHECK(attempt.Text());
  }
  Eventually("pods are refused there", [&]() -> std::string { return ended > 5 ? "" : "few"; });
  CHECK(strange == 0);
  if (CurrentTier() == Tier::kSandbox || collector) {
    const auto exists = [&]() -> std::string {
      return a.api().Exists(PathOf("namespaces", "", doomed)) ? "it exists" : "";
    };
    Eventually("the namespace is deleted", exists, 120s);  // the built-in controller takes its time
  }
  a.scenario().WaitUsed("q", {{"pods", "50"}});
}

TEST_CASE("admission: a cleared status is restored under load", "[e2e][admission][outage]") {
  Admission a;
  a.Limit("q", {{"pods", "50"}});
  auto creations = SendAside(a.scenario(), Creations(a.scenario(), "p", 200), 8);
  for (int i = 0; i < 10; ++i) {
    a.api().MergePatch(a.scenario().Path("resourcequotas", "q", "status"),
                       Json(R"({"status":{"used":null}})"));
  }
  int created = 0;
  for (const Attempt& attempt : creations.get()) {
    INFO(attempt.Text());
    const bool unknown = attempt.message.find("status unknown for quota") != std::string::npos;
    CHECK((attempt.ok() || attempt.exceeded() || unknown));
    if (attempt.ok()) ++created;
  }
  CHECK(created <= 50);
  CHECK(a.Count("pods") == static_cast<std::size_t>(created));
  a.scenario().WaitUsed("q", {{"pods", std::to_string(created)}}, AfterAHold());
  a.api().MergePatch(a.scenario().Path("resourcequotas", "q", "status"),
                     Json(R"({"status":{"hard":null,"used":null}})"));
  a.scenario().WaitUsed("q", {{"pods", std::to_string(created)}});
}

TEST_CASE("admission: creations are refused only while the killed daemon is away",
          "[e2e][admission][outage]") {
  Admission a;
  a.Limit("q", {{"pods", "40"}});
  const HeadCount heads(a.scenario().server().Kubeconfig(), a.scenario().Path("pods"),
                        a.scenario().ResourceVersion("q"));
  Crowd crowd(a.scenario());
  const auto undecided = [&](int rounds) {
    std::string text;
    for (int i = 0; i < rounds; ++i) {
      for (const Attempt& attempt : crowd.Round(60, 16)) {
        if (attempt.ok() || attempt.exceeded()) continue;
        CHECK(Failed(attempt));
        text = attempt.Text();
      }
    }
    return text;
  };
  CHECK(undecided(3) == "");
  auto falling = SendAside(a.scenario(), Creations(a.scenario(), "falling-", 60), 16);
  a.daemon().Kill();
  for (const Attempt& attempt : falling.get()) {
    INFO(attempt.Text());
    CHECK((attempt.ok() || attempt.exceeded() || Failed(attempt)));
  }
  const Attempt away = a.Post("pods", Pod("away"));
  INFO(away.Text());
  CHECK(Failed(away));
  a.daemon().Start();
  a.daemon().WaitUntilReady();
  CHECK(undecided(3) == "");
  const std::size_t left = crowd.Names().size();
  heads.WaitFor(left);
  CHECK(heads.most() <= 40);
  a.scenario().WaitUsed("q", {{"pods", std::to_string(left)}}, AfterAHold());
}

// A start reads from the quotas what is reserved, so nothing has to wait for a hold.
TEST_CASE("admission: objects deleted while no daemon ran are free after the first complete list",
          "[e2e][admission]") {
  Admission a;
  a.Limit("q", {{"pods", "20"}});
  for (const client::ApiRequest& creation : Creations(a.scenario(), "kept-", 12)) {
    CHECK(ToAttempt(a.api().Do(creation)).ok());
  }
  a.scenario().WaitUsed("q", {{"pods", "12"}});
  Eventually("nothing is reserved any more", [&]() -> std::string {
    const double reserved = a.Metric("quota_reservations");
    return reserved == 0 ? "" : "reservations: " + std::to_string(reserved);
  });
  a.daemon().Kill();
  for (int i = 0; i < 5; ++i) a.scenario().Delete("pods", "kept-" + std::to_string(i));
  a.daemon().Start();
  a.daemon().WaitUntilReady();
  a.scenario().WaitUsed("q", {{"pods", "7"}}, std::chrono::seconds(5));
  CHECK(a.Post("pods", Pod("next")).ok());
  a.scenario().WaitUsed("q", {{"pods", "8"}});
}

}  // namespace e2e::admission_outage_test
