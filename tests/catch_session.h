#pragma once

// Catch2's session for every test program. Catch2 itself is compiled once, in catch_session.cc.

#include <cstddef>
#include <string>
#include <vector>

namespace catch_session {

// Does what Catch2's own main() does.
int Run(int argc, char** argv);

// Returns the names of the test cases that Catch2's arguments select, in its order. Throws if it
// cannot parse them.
std::vector<std::string> Names(const std::vector<std::string>& arguments);

struct CaseResult {
  bool passed = false;
  std::size_t assertions_passed = 0;
  std::size_t assertions_failed = 0;
};

// Runs the test case of this name; Catch2's report goes to stdout. May be called repeatedly, also
// for other names.
CaseResult RunCase(const std::string& name);

}  // namespace catch_session
