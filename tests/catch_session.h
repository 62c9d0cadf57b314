#pragma once

// Catch2's session, for every test program. Catch2 itself is compiled once, in catch_session.cc.

#include <cstddef>
#include <string>
#include <vector>

namespace catch_session {

// What Catch2's own main() does.
int Run(int argc, char** argv);

// The names of the test cases that arguments of Catch2 select, in its order. Throws if it does not
// understand them.
std::vector<std::string> Names(const std::vector<std::string>& arguments);

struct CaseResult {
  bool passed = false;
  std::size_t assertions_passed = 0;
  std::size_t assertions_failed = 0;
};

// Runs the one test case of this name; Catch2's report goes to stdout. May be called again and
// again, for other names too.
CaseResult RunCase(const std::string& name);

}  // namespace catch_session
