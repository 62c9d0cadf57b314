#pragma once

// What main() of a benchmark does besides its work.

#include <exception>
#include <iostream>
#include <string>
#include <vector>

namespace bench {

// Calls `main` with the arguments behind the program's name. What it throws is said on stderr,
// behind that name, and makes the exit code 1.
inline int RunMain(const char* name, int argc, char** argv,
                   int (*main)(const std::vector<std::string>& arguments)) {
  try {
    return main({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::cerr << name << ": " << error.what() << "\n";
    return 1;
  }
}

}  // namespace bench
