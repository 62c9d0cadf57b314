// Prints which scenario runs and how long it took: scenarios take seconds, and a stuck one must be
// known. Lets the harness fail a scenario whose daemon or server ended.
// Must come before the header: selects the listener interface.
#define CATCH_CONFIG_EXTERNAL_INTERFACES
#include <catch2/catch.hpp>
#include <cstdio>
#include <string>

#include "tests/e2e/harness/process.h"

namespace {

class Progress : public Catch::TestEventListenerBase {
 public:
  using TestEventListenerBase::TestEventListenerBase;
  void testCaseStarting(const Catch::TestCaseInfo& info) override {
    timer_.start();
    std::printf("scenario: %s ...\n", info.name.c_str());
    std::fflush(stdout);
    e2e::OnReportedEnd([](const std::string& text) { FAIL_CHECK(text); });
  }
  void testCaseEnded(const Catch::TestCaseStats& stats) override {
    std::printf("scenario: %s: %s in %.1f s\n", stats.testInfo.name.c_str(),
                stats.totals.assertions.allOk() ? "ok" : "FAILED", timer_.getElapsedSeconds());
    std::fflush(stdout);
    e2e::OnReportedEnd(nullptr);
  }

 private:
  Catch::Timer timer_;
};

}  // namespace

CATCH_REGISTER_LISTENER(Progress)
