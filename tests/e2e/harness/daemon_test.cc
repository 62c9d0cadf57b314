// A daemon that ends by itself fails its test, whoever notices first.
#include "tests/e2e/harness/daemon.h"

#include <catch2/catch.hpp>

#include "tests/e2e/harness/wait.h"

namespace e2e::daemon_test {
namespace {

// Collects the reports, which would fail this test.
class Reports {
 public:
  Reports() {
    OnReportedEnd([this](const std::string& text) { texts_.push_back(text); });
  }
  ~Reports() { OnReportedEnd(nullptr); }
  Reports(const Reports&) = delete;
  Reports& operator=(const Reports&) = delete;

  [[nodiscard]] const std::vector<std::string>& texts() const { return texts_; }

 private:
  std::vector<std::string> texts_;
};

// Plays the daemon: a script, which says "here" first.
class Script {
 public:
  explicit Script(const std::string& then)
      : path_(dir_.Write("daemon", "#!/bin/sh\necho here\n" + then + "\n", 0700)) {}
  [[nodiscard]] DaemonOptions Options() const { return {.program = path_}; }

 private:
  TempDir dir_;
  std::string path_;
};

void WaitUntilEnded(const Daemon& daemon) {
  Eventually("the daemon ended", [&] { return daemon.Running() ? "it runs" : ""; });
}

}  // namespace

TEST_CASE("a daemon that ended by itself is reported when it is killed, restarted or forgotten",
          "[daemon]") {
  const Reports reports;
  const Script script("kill -ABRT $$");
  const Script sound("exec sleep 60");
  {
    Daemon daemon(script.Options());
    WaitUntilEnded(daemon);
    SECTION("killed") { daemon.Kill(); }
    SECTION("restarted") { daemon.Restart(sound.Options()); }
    SECTION("forgotten") {}
  }
  REQUIRE(reports.texts().size() == 1);
  CHECK_THAT(reports.texts()[0], Catch::Contains("exit code 134") && Catch::Contains("here"));
}

TEST_CASE("a daemon is not reported that the test ends, or whose end it waits for", "[daemon]") {
  const Reports reports;
  {
    const Script script("trap 'exit 0' TERM; while :; do sleep 0.01; done");
    Daemon daemon(script.Options());
    daemon.WaitForLog("here");
    SECTION("killed") { daemon.Kill(); }
    SECTION("stopped") { CHECK(daemon.Stop() == 0); }
    SECTION("forgotten") {}
  }
  {
    const Script script("exit 3");
    Daemon daemon(script.Options());
    CHECK(daemon.WaitEnd(Patience()) == 3);
  }
  CHECK(reports.texts().empty());
}

}  // namespace e2e::daemon_test
