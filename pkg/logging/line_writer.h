#pragma once

// Writes lines to a descriptor that may be a pipe which nobody reads. What cannot be written at
// once is lost and counted: the writer never waits, unless it is told to.
//
// One thread at a time.

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace logging {

class LineWriter {
 public:
  // Makes the line that says how many lines were lost.
  using Tell = std::function<std::string(std::uint64_t lost)>;
  LineWriter(int descriptor, Tell tell) : descriptor_(descriptor), tell_(std::move(tell)) {}

  // Writes `line`, which ends with a line feed, by one call if it has at most 4 KiB. Waits at most
  // `patience` for a reader. Lines lost before are reported first.
  void Write(std::string_view line, std::chrono::milliseconds patience = {});

  [[nodiscard]] std::uint64_t lost() const { return lost_; }  // since the start

 private:
  bool WriteAll(std::string_view text, std::chrono::milliseconds patience);

  const int descriptor_;
  const Tell tell_;
  std::uint64_t lost_ = 0;
  std::uint64_t told_ = 0;  // of those
  bool cut_ = false;        // a part of the last line was written, without its end
};

}  // namespace logging
