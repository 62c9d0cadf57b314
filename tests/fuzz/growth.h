#pragma once

// Large inputs that are made of small ones, to measure whether a target takes time in proportion to
// its input. In an input of JSON each object and each list is grown by itself, by members with
// other names. Other texts are repeated: as a whole, line by line, and one byte of them.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace fuzz {

struct Grown {
  std::string place;  // what was grown: "spec.containers[].resources.requests", "lines"
  std::string text;
};

// The input grown to about so many bytes, once in each place, or only in `place` if it is not "".
std::vector<Grown> Grow(std::string_view input, std::size_t bytes, std::string_view place = "");

}  // namespace fuzz
