#pragma once

// The common part of our programs' command lines: flags with dashes, a --help with the program's
// own flags, and one line and exit code 2 for a wrong flag.
//
// Called once, from main().

#include <string>
#include <string_view>
#include <vector>

#include "pkg/base/error.h"

namespace command_line {

struct Program {
  std::string name;
  std::string version;
  std::string_view usage;             // printed above the flags
  std::string flags_folder;           // of the source files that define its flags
  std::vector<std::string> borrowed;  // flags of libraries that --help lists too
};

// Sets the flags. --help and --version print and exit with 0. An unknown flag, or a flag without
// its value, exits with 2 after one line. Errors: kInvalidArgument for an argument that is not a
// flag.
base::Result<void> Parse(const Program& program, int argc, char** argv);

// Returns "flag --resync-period: <why>"; `name` is gflags' name of the flag.
base::Error BadFlag(std::string_view name, std::string_view why);

}  // namespace command_line
