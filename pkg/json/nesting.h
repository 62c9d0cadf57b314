#pragma once

#include <cstddef>

namespace json {

// Where a scan stands in a JSON value.
struct Nesting {
  std::size_t depth = 0;  // open objects and arrays
  bool in_string = false;
  bool escaped = false;  // the next byte, in a string
};

}  // namespace json
