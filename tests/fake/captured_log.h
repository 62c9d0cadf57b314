#pragma once

// TEST ONLY. Captures the log lines of its lifetime. In its own file, because the log's CHECK and
// Catch2's cannot be included together.

#include <memory>
#include <string>
#include <vector>

namespace fake {

class CapturedLog {
 public:
  CapturedLog();
  ~CapturedLog();
  // Returns the lines that contain `text`.
  [[nodiscard]] std::vector<std::string> With(const std::string& text) const;

 private:
  class Sink;
  std::unique_ptr<Sink> sink_;
};

}  // namespace fake
