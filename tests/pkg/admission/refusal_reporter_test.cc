#include "pkg/admission/refusal_reporter.h"

#include <catch2/catch.hpp>

#include "pkg/base/manual_scheduler.h"
#include "pkg/base/task_group.h"

namespace refusal_reporter_test {

namespace {

using std::chrono_literals::operator""s;

class Recorder final : public client::EventRecorder {
 public:
  bool Record(client::Event event) override {
    messages.push_back(event.message);
    return !full;
  }
  std::vector<std::string> messages;
  bool full = false;
};

struct Fixture {
  Fixture() {
    running.Spawn("refusals", [this] { return reporter.Run(); });
    scheduler.RunUntilIdle();
  }
  ~Fixture() { Stop(); }
  void Stop() {
    running.Cancel();
    scheduler.RunFor(1s);
  }
  void Refuse(const std::string& message) {
    reporter.Report({.api_version = "v1", .kind = "ResourceQuota"}, {.quota = {"team-a", "q"},
                                                                     .quota_uid = "u",
                                                                     .exceeded = {},
                                                                     .owner = {},
                                                                     .message = message});
  }

  base::asio::io_context io{1};
  base::ManualScheduler scheduler{io};
  Recorder recorder;
  admission::RefusalReporter reporter{scheduler, recorder};
  base::TaskGroup running{io.get_executor()};
};

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("refusal events: the first is recorded before Report() returns, then one a minute",
          "[admission]") {
  Fixture f;
  f.Refuse("a");
  CHECK(f.recorder.messages == Texts{"a"});
  f.Refuse("b");
  f.Refuse("c");
  f.scheduler.RunFor(59s);
  CHECK(f.recorder.messages.size() == 1);
  f.scheduler.RunFor(2s);
  CHECK(f.recorder.messages == Texts{"a", "refused 2 requests within a minute, the last one: c"});
  f.scheduler.RunFor(600s);
  CHECK(f.recorder.messages.size() == 2);
  f.Refuse("d");
  CHECK(f.recorder.messages.back() == "d");
}

TEST_CASE("refusal events: a full queue only loses events", "[admission]") {
  Fixture f;
  f.recorder.full = true;
  f.Refuse("a");
  f.recorder.full = false;
  f.Refuse("b");
  f.scheduler.RunFor(61s);
  CHECK(f.recorder.messages == Texts{"a", "b"});
}

TEST_CASE("refusal events: gathered refusals are recorded when the daemon stops", "[admission]") {
  Fixture f;
  f.Refuse("a");
  f.Refuse("b");
  f.Stop();
  CHECK(f.recorder.messages == Texts{"a", "b"});
}

}  // namespace refusal_reporter_test
