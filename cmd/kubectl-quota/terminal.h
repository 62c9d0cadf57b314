#pragma once

// Where the answer goes: stdout, with colours if it is a terminal; warnings and progress to stderr.
// Single-threaded.

#include <string>
#include <string_view>
#include <vector>

#include "pkg/base/scheduler.h"

namespace kubectl_quota {

struct TerminalTraits {
  bool colours = false;
  bool unicode = false;
  bool progress_line = false;  // stderr is a terminal: a line that is written over
};

// As NO_COLOR, TERM and the locale say.
TerminalTraits ReadTraits();

class Terminal {
 public:
  explicit Terminal(TerminalTraits traits) : traits_(traits) {}
  ~Terminal() { EndProgress(); }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  [[nodiscard]] const TerminalTraits& traits() const { return traits_; }
  // False once nobody reads any more.
  bool Write(std::string_view text);
  // "Warning: <text>", once each.
  void Warn(const std::string& text);
  [[nodiscard]] const std::vector<std::string>& warnings() const { return warnings_; }
  void Fail(std::string_view text);

  // What is being read, for the line that Progress() writes.
  void Reading(std::string what);
  void CountRead() { ++read_; }
  // Writes the line every now and then, from one second on, until it is cancelled.
  base::Task<void> ShowProgress(base::Scheduler& scheduler);

 private:
  void EndProgress();

  TerminalTraits traits_;
  std::string reading_;
  std::vector<std::string> warnings_;
  std::size_t read_ = 0;
  bool progress_shown_ = false;
};

}  // namespace kubectl_quota
