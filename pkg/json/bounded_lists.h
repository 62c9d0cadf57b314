#pragma once

// Counts the elements of bounded lists (projection.h), together with those of the lists in them;
// both parsers of projections use it. One thread.

#include <cstddef>
#include <limits>

namespace json {

class BoundedLists {
 public:
  explicit BoundedLists(std::size_t most_elements) : most_(most_elements) {}
  // A bounded list begins inside of so many open containers.
  void Begin(std::size_t depth) {
    if (outermost_ != kNone) return;
    outermost_ = depth;
    elements_ = 0;
  }
  // An element of some list begins. Returns true if the outermost bounded list has too many.
  bool Add() { return outermost_ != kNone && ++elements_ > most_; }
  // The outermost bounded list has ended, or is left out.
  void End() { outermost_ = kNone; }
  // Inside of how many open containers the outermost bounded list is; more than there can be if
  // there is none.
  [[nodiscard]] std::size_t outermost() const { return outermost_; }

 private:
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

  const std::size_t most_;
  std::size_t outermost_ = kNone;
  std::size_t elements_ = 0;
};

}  // namespace json
