#pragma once

// TEST ONLY. Processes that log. The log's CHECK and Catch2's cannot be included together.

#include <string>

namespace log_children {

struct Run {
  std::string text;  // of standard error
  int signal = 0;    // that ended it
};

Run RunEveryLevel(bool in_json);
Run RunFatal(bool in_json);
Run RunWithoutReader();

}  // namespace log_children
