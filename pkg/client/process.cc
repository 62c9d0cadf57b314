#include "pkg/client/process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <memory>
#include <optional>

#include "pkg/base/asio.h"

namespace client {
namespace {

namespace asio = boost::asio;
using base::Error;
using base::ErrorCode;
using base::Result;

constexpr std::chrono::milliseconds kReapInterval{5};

Error ProcessError(const std::string& what, int code) {
  return {.code = code == ENOENT ? ErrorCode::kNotFound
                  : code == EACCES || code == ENOEXEC || code == ENOTDIR
                      ? ErrorCode::kInvalidArgument
                      : ErrorCode::kInternal,
          .message = what + ": " + std::strerror(code)};
}

// A started process and the reading end of its output. The destructor kills and reaps it.
class Child {
 public:
  Child(pid_t pid, asio::posix::stream_descriptor pipe) : output(std::move(pipe)), pid_(pid) {}
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    Kill();
    while (!status_ && ::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }

  void Kill() {
    // A negative id addresses the process group. After waitpid() the id may belong to another
    // process.
    if (!status_) ::kill(-pid_, SIGKILL);
  }

  // Returns the wait status if the process has ended.
  std::optional<int> Poll() {
    int status = 0;
    if (!status_ && ::waitpid(pid_, &status, WNOHANG) == pid_) status_ = status;
    return status_;
  }

  asio::posix::stream_descriptor output;
  bool timed_out = false;

 private:
  pid_t pid_;
  std::optional<int> status_;
};

std::string_view NameOf(std::string_view variable) {
  return variable.substr(0, variable.find('='));
}

// Returns our environment with `additions`, which replace variables of the same name.
std::vector<std::string> Merge(const std::vector<std::string>& additions) {
  std::vector<std::string> merged = additions;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    bool replaced = false;
    for (const std::string& addition : additions) {
      replaced = replaced || NameOf(addition) == NameOf(*variable);
    }
    if (!replaced) merged.emplace_back(*variable);
  }
  return merged;
}

std::vector<char*> Pointers(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  pointers.reserve(strings.size() + 1);
  for (std::string& text : strings) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Starts the program with `output` as its standard output. Returns 0 or an errno value.
int Spawn(ProcessOptions& options, int output, pid_t& pid) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  // Asio's sockets have no FD_CLOEXEC. What the program leaves running would keep our ports.
  posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
  // The daemon ignores SIGPIPE, for example; the program must not inherit that.
  sigset_t none;
  sigset_t all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  // Its own group, so that Kill() also reaches what the program starts.
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  std::vector<std::string> environment = Merge(options.environment);
  const int code = ::posix_spawnp(&pid, options.arguments.front().c_str(), &actions, &attributes,
                                  Pointers(options.arguments).data(), Pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  return code;
}

Result<std::shared_ptr<Child>> Start(asio::any_io_executor executor, ProcessOptions& options) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return ProcessError("pipe", errno);
  pid_t pid = 0;
  const int code = Spawn(options, ends[1], pid);
  // Else the pipe would never end: our copy counts as a writer.
  ::close(ends[1]);
  if (code != 0) {
    ::close(ends[0]);
    return ProcessError("start " + options.arguments.front(), code);
  }
  return std::make_shared<Child>(pid, asio::posix::stream_descriptor(executor, ends[0]));
}

base::Task<Result<std::string>> ReadOutput(std::shared_ptr<Child> child, std::size_t limit) {
  std::string output;
  std::array<char, 4096> buffer{};
  for (;;) {
    const auto [ec, count] =
        co_await child->output.async_read_some(asio::buffer(buffer), base::kTuple);
    output.append(buffer.data(), count);
    // Checked first, because the deadline's cancel() also reports operation_aborted.
    if (child->timed_out) {
      co_return Error{.code = ErrorCode::kTimeout, .message = "it did not end in time"};
    }
    if (ec == asio::error::operation_aborted) {
      co_return Error{.code = ErrorCode::kCancelled, .message = "cancelled"};
    }
    if (ec == asio::error::eof) co_return output;
    if (ec) co_return Error{.code = ErrorCode::kInternal, .message = "read: " + ec.message()};
    if (output.size() > limit) {
      co_return Error{.code = ErrorCode::kTooLarge, .message = "its output is too large"};
    }
  }
}

// Waits for the end of a process that closed its output; usually it has ended already.
base::Task<Result<int>> Reap(std::shared_ptr<Child> child) {
  asio::steady_timer pause(child->output.get_executor());
  while (!child->Poll()) {
    pause.expires_after(kReapInterval);
    const auto [ec] = co_await pause.async_wait(base::kTuple);
    if (ec) co_return Error{.code = ErrorCode::kCancelled, .message = "cancelled"};
  }
  if (child->timed_out) {
    co_return Error{.code = ErrorCode::kTimeout, .message = "it did not end in time"};
  }
  const int status = *child->Poll();
  co_return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

base::Task<Result<ProcessResult>> RunProcess(asio::any_io_executor executor,
                                             ProcessOptions options) {
  Result<std::shared_ptr<Child>> child = Start(executor, options);
  if (!child) co_return child.error();
  asio::steady_timer deadline(executor, options.timeout);
  // The handler may run after this function has ended, so it holds the child, not the frame.
  deadline.async_wait([child = *child](boost::system::error_code ec) {
    if (ec) return;
    child->timed_out = true;
    child->Kill();
    child->output.cancel();
  });
  Result<std::string> output = co_await ReadOutput(*child, options.max_output);
  if (!output) co_return output.error().Wrap(options.arguments.front());
  Result<int> status = co_await Reap(*child);
  if (!status) co_return status.error().Wrap(options.arguments.front());
  ProcessResult result;
  result.output = std::move(*output);
  result.exit_status = *status;
  co_return result;
}

}  // namespace client
