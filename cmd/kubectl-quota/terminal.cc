#include "cmd/kubectl-quota/terminal.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>

#include "pkg/base/text.h"
#include "pkg/inspect/foreign_text.h"

namespace kubectl_quota {
namespace {

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool SpeaksUtf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string locale = base::ToLower(Variable(name));
    if (locale.empty()) continue;
    return locale.find("utf-8") != std::string::npos || locale.find("utf8") != std::string::npos;
  }
  return false;
}

}  // namespace

TerminalTraits ReadTraits() {
  const bool terminal = isatty(STDOUT_FILENO) != 0;
  const bool wanted = Variable("NO_COLOR").empty() && Variable("TERM") != "dumb";
  return {.colours = terminal && wanted,
          .unicode = SpeaksUtf8(),
          .progress_line = isatty(STDERR_FILENO) != 0 && Variable("TERM") != "dumb"};
}

bool Terminal::Write(std::string_view text) {
  EndProgress();
  std::cout << inspect::HarmlessOutput(text) << std::flush;
  return std::cout.good();
}

void Terminal::Warn(const std::string& text) {
  if (std::ranges::find(warnings_, text) != warnings_.end()) return;
  warnings_.push_back(text);
  Fail(inspect::Line("Warning: " + text));
}

void Terminal::Doubt(const std::string& text) {
  if (std::ranges::find(doubts_, text) == doubts_.end()) doubts_.push_back(text);
  Warn(text);
}

void Terminal::Fail(std::string_view text) {
  EndProgress();
  std::cerr << inspect::HarmlessOutput(text) << std::flush;
}

void Terminal::Reading(std::string what) {
  reading_ = std::move(what);
  read_ = 0;
}

base::Task<void> Terminal::ShowProgress(base::Scheduler& scheduler) {
  using namespace std::chrono_literals;
  const auto pause = traits_.progress_line ? 200ms : 10'000ms;
  co_await base::DeferCancellation();
  co_await scheduler.Sleep(traits_.progress_line ? 1s : pause);
  while (!co_await base::Stopping()) {
    const std::string line =
        inspect::Harmless("reading " + reading_) + ": " + std::to_string(read_);
    if (!reading_.empty()) std::cerr << (traits_.progress_line ? "\r\x1b[K" : "") << line;
    if (!reading_.empty()) std::cerr << (traits_.progress_line ? "" : "\n") << std::flush;
    progress_shown_ = progress_shown_ || !reading_.empty();
    co_await scheduler.Sleep(pause);
  }
}

void Terminal::EndProgress() {
  if (progress_shown_ && traits_.progress_line) std::cerr << "\r\x1b[K" << std::flush;
  progress_shown_ = false;
}

}  // namespace kubectl_quota
