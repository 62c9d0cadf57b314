#include "pkg/client/process.h"

#include <glog/logging.h>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

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

std::optional<int> Reaped(pid_t pid) {
  int status = 0;
  return ::waitpid(pid, &status, WNOHANG) == pid ? std::optional<int>(status) : std::nullopt;
}

// Waits in the background for a killed process: the kernel does not end one that waits for a dead
// disk or network share.
class Undertaker final : public std::enable_shared_from_this<Undertaker> {
 public:
  Undertaker(pid_t pid, const asio::any_io_executor& executor) : pid_(pid), pause_(executor) {}

  void Wait() {
    if (Reaped(pid_) || ++looks_ > kMostLooks) return;
    pause_.expires_after(kLookInterval);
    pause_.async_wait([self = shared_from_this()](const boost::system::error_code& error) {
      if (!error) self->Wait();
    });
  }

 private:
  static constexpr std::chrono::seconds kLookInterval{1};
  static constexpr int kMostLooks = 60;
  const pid_t pid_;
  asio::steady_timer pause_;
  int looks_ = 0;
};

// A started process and the reading ends of its output. The destructor kills and reaps it.
class Child {
 public:
  // `killed`: the process, or minus its id for its group.
  Child(pid_t pid, pid_t killed, asio::posix::stream_descriptor out,
        asio::posix::stream_descriptor err)
      : output(std::move(out)), errors(std::move(err)), pid_(pid), killed_(killed) {}
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    Kill();
    for (int looks = 0; !Poll(); ++looks) {
      if (looks == kMostLooks) {
        std::make_shared<Undertaker>(pid_, output.get_executor())->Wait();
        return;
      }
      ::poll(nullptr, 0, kLookMillis);  // only waits
    }
  }

  void Kill() {
    // After waitpid() the id may belong to another process.
    if (!status_) ::kill(killed_, SIGKILL);
  }

  // Returns the wait status if the process has ended.
  std::optional<int> Poll() {
    if (!status_) status_ = Reaped(pid_);
    return status_;
  }

  asio::posix::stream_descriptor output;
  asio::posix::stream_descriptor errors;  // not open if standard error is shared
  bool timed_out = false;

 private:
  static constexpr int kLookMillis = 1;
  static constexpr int kMostLooks = 10;
  pid_t pid_;
  pid_t killed_;
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

// Starts the program with `output` as its standard output, and `errors` as its standard error
// unless that is -1. Returns 0 or an errno value.
int Spawn(ProcessOptions& options, int output, int errors, pid_t& pid) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  if (!options.shares_stdin) {
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  }
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  if (errors >= 0) posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO);
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
  const int group = options.shares_terminal ? 0 : POSIX_SPAWN_SETPGROUP;
  posix_spawnattr_setflags(
      &attributes, static_cast<short>(group | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF));
  std::vector<std::string> environment = Merge(options.environment);
  const int code = ::posix_spawnp(&pid, options.arguments.front().c_str(), &actions, &attributes,
                                  Pointers(options.arguments).data(), Pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  return code;
}

struct Pipe {
  int reader = -1;
  int writer = -1;
  bool Open() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return false;
    reader = ends[0];
    writer = ends[1];
    return true;
  }
  // Our copy of the writing end counts as a writer: the pipe would never end.
  void CloseWriter() {
    if (writer >= 0) ::close(std::exchange(writer, -1));
  }
  void Close() {
    CloseWriter();
    if (reader >= 0) ::close(std::exchange(reader, -1));
  }
};

Result<std::shared_ptr<Child>> Start(asio::any_io_executor executor, ProcessOptions& options) {
  Pipe output;
  Pipe errors;
  const bool opened = output.Open() && (options.shares_stderr || errors.Open());
  pid_t pid = 0;
  const int code = opened ? Spawn(options, output.writer, errors.writer, pid) : errno;
  output.CloseWriter();
  errors.CloseWriter();
  if (code != 0) {
    output.Close();
    errors.Close();
    return ProcessError(opened ? "start " + options.arguments.front() : "pipe", code);
  }
  asio::posix::stream_descriptor err(executor);
  if (errors.reader >= 0) err.assign(errors.reader);
  const pid_t killed = options.shares_terminal ? pid : -pid;
  return std::make_shared<Child>(
      pid, killed, asio::posix::stream_descriptor(executor, output.reader), std::move(err));
}

// Keeps the beginning of a standard error, and reads the rest, so that the program need not wait.
class Errors final : public std::enable_shared_from_this<Errors> {
 public:
  explicit Errors(std::shared_ptr<Child> child) : child_(std::move(child)) {}

  void Read() {
    if (!child_->errors.is_open()) return;
    child_->errors.async_read_some(
        asio::buffer(buffer_),
        [self = shared_from_this()](const boost::system::error_code& error, std::size_t bytes) {
          self->Keep(bytes);
          if (!error) self->Read();
        });
  }

  // What the program has written, also if what it started keeps the pipe open.
  std::string Take() {
    boost::system::error_code error;
    if (child_->errors.is_open()) child_->errors.non_blocking(true, error);
    while (child_->errors.is_open() && !error && kept_.size() < kMost) {
      Keep(child_->errors.read_some(asio::buffer(buffer_), error));
    }
    return std::move(kept_);
  }

  void Stop() {
    boost::system::error_code ignored;
    child_->errors.close(ignored);
  }

 private:
  static constexpr std::size_t kMost = std::size_t{4} << 10;
  void Keep(std::size_t bytes) {
    kept_.append(buffer_.data(), std::min(bytes, kMost - kept_.size()));
  }

  std::shared_ptr<Child> child_;
  std::array<char, 4096> buffer_{};
  std::string kept_;
};

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

// Waits for the end of a process that closed its output; usually it has ended already. One that the
// kernel cannot end in time is left to the Undertaker.
base::Task<Result<int>> Reap(std::shared_ptr<Child> child) {
  asio::steady_timer pause(child->output.get_executor());
  while (!child->Poll() && !child->timed_out) {
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
  CHECK(!options.arguments.empty()) << "no program to run";
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
  // Else a reader of a pipe that stays open would hold the child for ever.
  struct Reading {
    std::shared_ptr<Errors> errors;
    ~Reading() { errors->Stop(); }
  } const reading{std::make_shared<Errors>(*child)};
  reading.errors->Read();
  Result<std::string> output = co_await ReadOutput(*child, options.max_output);
  if (!output) co_return output.error().Wrap(options.arguments.front());
  Result<int> status = co_await Reap(*child);
  if (!status) co_return status.error().Wrap(options.arguments.front());
  ProcessResult result;
  result.output = std::move(*output);
  result.errors = reading.errors->Take();
  result.exit_status = *status;
  co_return result;
}

}  // namespace client
