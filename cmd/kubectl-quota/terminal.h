#pragma once

// The output: answers to stdout, with colours on a terminal; warnings and progress to stderr.
// Single-threaded.

#include <string>
#include <string_view>
#include <vector>

#include "pkg/base/scheduler.h"

namespace kubectl_quota {

struct TerminalTraits {
  bool colours = false;
  bool unicode = false;
  bool progress_line = false;  // stderr is a terminal: the progress line is overwritten
};

// Reads NO_COLOR, TERM and the locale.
TerminalTraits ReadTraits();

class Terminal {
 public:
  explicit Terminal(TerminalTraits traits) : traits_(traits) {}
  ~Terminal() { EndProgress(); }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  [[nodiscard]] const TerminalTraits& traits() const { return traits_; }
  // Returns false once the reader has closed the pipe.
  bool Write(std::string_view text);
  // Prints "Warning: <text>", each text once.
  void Warn(const std::string& text);
  [[nodiscard]] const std::vector<std::string>& warnings() const { return warnings_; }
  // Warns of something that could not be seen, and so may be missing in an answer: `check` cannot
  // say yes, and documents have it as `unknown`.
  void Doubt(const std::string& text);
  [[nodiscard]] const std::vector<std::string>& doubts() const { return doubts_; }
  void Fail(std::string_view text);

  // Sets the text of the progress line.
  void Reading(std::string what);
  void CountRead() { ++read_; }
  // Shows the progress until cancelled: on a terminal from the first second on, elsewhere by a line
  // every ten seconds.
  base::Task<void> ShowProgress(base::Scheduler& scheduler);

 private:
  void EndProgress();

  TerminalTraits traits_;
  std::string reading_;
  std::vector<std::string> warnings_;
  std::vector<std::string> doubts_;
  std::size_t read_ = 0;
  bool progress_shown_ = false;
};

}  // namespace kubectl_quota
