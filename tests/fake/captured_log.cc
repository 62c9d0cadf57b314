#include "tests/fake/captured_log.h"

#include <glog/logging.h>

namespace fake {

class CapturedLog::Sink final : public google::LogSink {
 public:
  Sink() { google::AddLogSink(this); }
  ~Sink() override { google::RemoveLogSink(this); }
  void send(google::LogSeverity, const char*, const char*, int, const google::LogMessageTime&,
            const char* message, size_t length) override {
    lines.emplace_back(message, length);
  }
  std::vector<std::string> lines;
};

CapturedLog::CapturedLog() : sink_(std::make_unique<Sink>()) {}
CapturedLog::~CapturedLog() = default;

std::vector<std::string> CapturedLog::With(const std::string& text) const {
  std::vector<std::string> found;
  for (const auto& line : sink_->lines) {
    if (line.find(text) != std::string::npos) found.push_back(line);
  }
  return found;
}

}  // namespace fake
