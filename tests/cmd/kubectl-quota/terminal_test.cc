// The progress of a command that reads for long.

#include "cmd/kubectl-quota/terminal.h"

#include <catch2/catch.hpp>
#include <iostream>
#include <sstream>

#include "pkg/base/manual_scheduler.h"
#include "pkg/base/task_group.h"

namespace terminal_test {
namespace {

using namespace std::chrono_literals;

// Holds what is written to stderr while it exists.
class Stderr {
 public:
  ~Stderr() { std::cerr.rdbuf(before_); }
  std::string Take() {
    std::string text = text_.str();
    text_.str("");
    return text;
  }

 private:
  std::ostringstream text_;
  std::streambuf* before_ = std::cerr.rdbuf(text_.rdbuf());
};

}  // namespace

TEST_CASE("terminal: progress is shown after a second, and elsewhere every ten seconds",
          "[kubectl-quota]") {
  const bool on_terminal = GENERATE(true, false);
  base::asio::io_context io{1};
  base::ManualScheduler scheduler{io};
  kubectl_quota::Terminal terminal({.progress_line = on_terminal});
  base::TaskGroup running(io.get_executor());
  Stderr shown;
  terminal.Reading("pods");
  running.Spawn("progress", [&] { return terminal.ShowProgress(scheduler); });
  scheduler.RunFor(999ms);
  CHECK(shown.Take().empty());
  terminal.CountRead();
  scheduler.RunFor(2ms);
  CHECK(shown.Take() == (on_terminal ? "\r\x1b[Kreading pods: 1" : ""));
  scheduler.RunFor(8'998ms);
  shown.Take();
  scheduler.RunFor(2ms);
  CHECK(shown.Take() == (on_terminal ? "\r\x1b[Kreading pods: 1" : "reading pods: 1\n"));
  running.Cancel();
  scheduler.RunFor(1s);
}

}  // namespace terminal_test
