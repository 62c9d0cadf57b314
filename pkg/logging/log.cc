#include "pkg/logging/log.h"

#include <execinfo.h>
#include <glog/logging.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <string>

#include "pkg/logging/line_writer.h"
#include "pkg/logging/record.h"

namespace logging {
namespace {

using namespace std::chrono_literals;

constexpr int kMostFrames = 64;
// For the last words of a program.
constexpr std::chrono::milliseconds kLastPatience{1'000};

Level LevelOf(google::LogSeverity severity) {
  switch (severity) {
    case google::GLOG_INFO:
      return Level::kInfo;
    case google::GLOG_WARNING:
      return Level::kWarning;
    case google::GLOG_ERROR:
      return Level::kError;
    default:
      return Level::kFatal;
  }
}

// Computed here, because glog 0.6's own offset is an hour off in summer.
std::chrono::seconds ZoneAt(std::time_t time) {
  std::tm local{};
  return std::chrono::seconds(::localtime_r(&time, &local) == nullptr ? 0 : local.tm_gmtoff);
}

std::string StackTrace() {
  std::array<void*, kMostFrames> frames{};
  const int depth = ::backtrace(frames.data(), kMostFrames);
  char** const names = ::backtrace_symbols(frames.data(), depth);
  std::string trace;
  for (int i = 0; names != nullptr && i < depth; ++i) trace.append(names[i]).append("\n");
  std::free(names);
  return trace;
}

class StandardError final : public google::LogSink {
 public:
  void send(google::LogSeverity severity, const char*, const char* file, int line,
            const google::LogMessageTime& time, const char* message, size_t length) override {
    const bool in_json = format == Format::kJson;
    dying_ = in_json && severity == google::GLOG_FATAL;
    const std::string stack = dying_ ? StackTrace() : "";
    const Record record{.level = LevelOf(severity),
                        .time = std::chrono::system_clock::from_time_t(time.timestamp()) +
                                std::chrono::microseconds(time.usec()),
                        .zone = ZoneAt(time.timestamp()),
                        .file = file,
                        .line = line,
                        .message = {message, length},
                        .stack = stack};
    writer.Write(Line(record), severity == google::GLOG_FATAL ? kLastPatience : 0ms);
  }

  // After a fatal record glog would print the stack line by line, and then abort.
  void WaitTillSent() override {
    if (dying_) std::abort();
  }

  Format format = Format::kText;
  LineWriter writer{STDERR_FILENO, [this](std::uint64_t lost) {
                      const auto now = std::chrono::system_clock::now();
                      const std::string message =
                          "records of the log were lost, because standard error was not read or "
                          "is full: lost=" +
                          std::to_string(lost);
                      return Line({.level = Level::kWarning,
                                   .time = now,
                                   .zone = ZoneAt(std::chrono::system_clock::to_time_t(now)),
                                   .file = "log.cc",
                                   .line = __LINE__,
                                   .message = message});
                    }};

 private:
  [[nodiscard]] std::string Line(const Record& record) const {
    return format == Format::kJson ? ToJson(record) : ToText(record);
  }

  bool dying_ = false;
};

// Never destroyed: records may be written until the process ends.
StandardError& Sink() {
  static auto* const sink = new StandardError;
  return *sink;
}

}  // namespace

void Start(const char* program) {
  google::InitGoogleLogging(program);
  // Neither files nor glog's own lines.
  FLAGS_logtostderr = false;
  FLAGS_stderrthreshold = google::NUM_SEVERITIES;
  for (int severity = 0; severity < google::NUM_SEVERITIES; ++severity) {
    google::SetLogDestination(severity, "");
  }
  google::AddLogSink(&Sink());
}

void SetFormat(Format format) { Sink().format = format; }

Format CurrentFormat() { return Sink().format; }

void PrintFatalError(std::string_view program, std::string_view message) {
  if (CurrentFormat() == Format::kJson) {
    LOG(ERROR) << message;
    return;
  }
  Sink().writer.Write(std::string(program).append(": ").append(message).append("\n"),
                      kLastPatience);
}

}  // namespace logging
