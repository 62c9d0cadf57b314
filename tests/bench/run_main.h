#pragma once

// The common part of the benchmarks' main().

#include <exception>
#include <iostream>
#include <string>
#include <vector>

namespace bench {

// Calls `main` with the arguments after the program's name. If it throws, prints the message to
// stderr after that name, and returns exit code 1.
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
