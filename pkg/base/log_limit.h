#pragma once

// Bounds how many lines the log gets about one kind of problem, however many subjects have it: at
// most twenty in five minutes, and at most five of them about one subject. Users can make objects
// fail as often as they like, and an outage makes thousands of quotas fail at once. The first lines
// tell what is wrong; the others are counted, and a later line tells their number.
// Single-threaded.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pkg/base/clock.h"

namespace base {

class LogLimit {
 public:
  static constexpr std::chrono::minutes kPeriod{5};
  static constexpr std::size_t kMost = 20;
  static constexpr std::size_t kMostOfOne = 5;

  // A line about the subject is due. Returns what to add to the line: "", or " omitted=7" if so
  // many were not logged before it, and " further=omitted" if the next ones may not be. nullopt: it
  // must not be logged, because there are `most` lines already, or too many about the subject.
  std::optional<std::string> Take(std::string_view subject, TimePoint now,
                                  std::size_t most = kMost) {
    std::erase_if(lines_, [now](const Line& line) { return now >= line.until; });
    const Line line{.subject = std::hash<std::string_view>()(subject), .until = now + kPeriod};
    const auto of_one =
        static_cast<std::size_t>(std::ranges::count(lines_, line.subject, &Line::subject));
    if (lines_.size() >= most || of_one >= kMostOfOne) {
      ++omitted_;
      return std::nullopt;
    }
    lines_.push_back(line);
    const std::size_t omitted = std::exchange(omitted_, 0);
    std::string more = omitted == 0 ? "" : " omitted=" + std::to_string(omitted);
    if (lines_.size() >= most || of_one + 1 == kMostOfOne) more += " further=omitted";
    return more;
  }

 private:
  struct Line {
    std::size_t subject;  // its hash
    TimePoint until;      // when it does not count any more
  };

  std::vector<Line> lines_;  // of the last five minutes
  std::size_t omitted_ = 0;  // since the last line
};

}  // namespace base
