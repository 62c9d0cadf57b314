// TEST ONLY. What a process really writes. Each case runs in a child, because the log is set up
// once in a process, and a fatal record ends it.

#include "tests/pkg/logging/log_children.h"

#include <glog/logging.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <functional>
#include <string>

#include "pkg/logging/log.h"

namespace log_children {
namespace {

// Runs `work` with standard error in a pipe.
Run InChild(const std::function<void()>& work) {
  std::array<int, 2> ends{};
  PCHECK(::pipe(ends.data()) == 0);
  const pid_t child = ::fork();
  PCHECK(child >= 0);
  if (child == 0) {
    std::signal(SIGABRT, SIG_DFL);  // not Catch2's
    ::dup2(ends[1], STDERR_FILENO);
    ::close(ends[0]);
    ::close(ends[1]);
    logging::Start("log_children");
    work();
    ::_exit(0);
  }
  ::close(ends[1]);
  Run run;
  std::array<char, 4096> some{};
  for (ssize_t read = 0; (read = ::read(ends[0], some.data(), some.size())) > 0;) {
    run.text.append(some.data(), static_cast<std::size_t>(read));
  }
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  run.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  return run;
}

}  // namespace

Run RunEveryLevel(bool in_json) {
  return InChild([&] {
    if (in_json) logging::SetFormat(logging::Format::kJson);
    LOG(INFO) << "first a=1";
    VLOG(1) << "not asked for";
    LOG(WARNING) << "second\nline";
    LOG(ERROR) << "third";
    logging::PrintFatalError("log_children", "flag --a: no \"b\"");
  });
}

Run RunFatal(bool in_json) {
  return InChild([&] {
    if (in_json) logging::SetFormat(logging::Format::kJson);
    const int one = 1;
    CHECK_EQ(one, 2) << "odd";
  });
}

Run RunWithoutReader() {
  return InChild([] {
    std::signal(SIGPIPE, SIG_IGN);
    ::close(STDERR_FILENO);
    for (int i = 0; i < 3; ++i) LOG(INFO) << "nobody reads this";
  });
}

}  // namespace log_children
