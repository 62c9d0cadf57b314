#include "pkg/logging/line_writer.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <climits>

namespace logging {
namespace {

// True if a write of PIPE_BUF bytes would not wait. Also true if it would fail.
bool IsReady(int descriptor, std::chrono::milliseconds patience) {
  pollfd wanted{.fd = descriptor, .events = POLLOUT, .revents = 0};
  return ::poll(&wanted, 1, static_cast<int>(patience.count())) > 0;
}

}  // namespace

void LineWriter::Write(std::string_view line, std::chrono::milliseconds patience) {
  if (lost_ > told_) {
    const std::string report = (cut_ ? "\n" : "") + tell_(lost_ - told_);
    if (!WriteAll(report, patience)) {
      ++lost_;
      return;
    }
    told_ = lost_;
    cut_ = false;
  }
  if (!WriteAll(line, patience)) ++lost_;
}

// The descriptor is not made non-blocking: that would change it for all processes that share it.
// After poll() a pipe takes PIPE_BUF bytes without waiting.
bool LineWriter::WriteAll(std::string_view text, std::chrono::milliseconds patience) {
  bool begun = false;
  while (!text.empty()) {
    if (!IsReady(descriptor_, patience)) break;
    const ssize_t written =
        ::write(descriptor_, text.data(), std::min<std::size_t>(text.size(), PIPE_BUF));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) break;
    begun = true;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  if (!text.empty() && begun) cut_ = true;
  return text.empty();
}

}  // namespace logging
