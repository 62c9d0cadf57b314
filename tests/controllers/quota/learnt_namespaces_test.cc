// Labels of namespaces that the watch has not shown are read live, and kept for as long as a
// request may rely on them.
#include "tests/controllers/quota/cluster_charging_fixture.h"

namespace learnt_namespaces_test {
namespace {

using namespace std::chrono_literals;

constexpr int kMost = 10'000;

struct Unknown : fixture::Clustered {
  Unknown() {
    Put(fixture::ClusterQuota("q", "red", {{"pods", "9"}}));
    RunFor(1s);
  }
  // Learns the labels of so many namespaces that do not exist yet. Returns the last error, or "".
  std::string Learn(int namespaces) {
    std::string trouble;
    calls.Spawn("learn", [this, namespaces, &trouble]() -> base::Task<void> {
      for (int i = 0; i < namespaces; ++i) {
        const base::TimePoint deadline = scheduler.Now() + 5s;
        const std::string name = "n" + std::to_string(next++);
        const auto learnt = co_await controller2->quota_book().Refresh(name, deadline);
        if (!learnt) trouble = learnt.error().message;
      }
    });
    scheduler.RunUntilIdle();
    return trouble;
  }

  int next = 0;
};

}  // namespace

TEST_CASE("reservations: only so many namespaces are learnt at once, and they are forgotten",
          "[controllers]") {
  Unknown f;
  CHECK(f.Learn(kMost).empty());
  CHECK(f.Learn(1) == "too many namespaces that are not known yet");
  f.RunFor(31s);
  CHECK(f.Learn(1).empty());
}

}  // namespace learnt_namespaces_test
