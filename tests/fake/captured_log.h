#pragma once

// TEST ONLY. The log lines of its lifetime. In a file of its own, because the log's CHECK and
// Catch2's cannot be included together.

#include <memory>
#include <string>
#include <vector>

namespace fake {

class CapturedLog {
 public:
  CapturedLog();
  ~CapturedLog();
  // The lines that contain `text`.
  [[nodiscard]] std::vector<std::string> With(const std::string& text) const;

 private:
  class Sink;
  std::unique_ptr<Sink> sink_;
};

}  // namespace fake
