#pragma once

// What the command lines of our programs have in common: flags with dashes, a --help that lists the
// program's own flags, and one line and exit code 2 for a wrong one.
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
  std::string flags_file;             // end of the path of the source that defines its flags
  std::vector<std::string> borrowed;  // flags of libraries that --help lists too
};

// Fills the flags. --help and --version print and end the process with 0; a flag that is unknown or
// has no value ends it with 2, after one line. Errors: kInvalidArgument for an argument that is no
// flag.
base::Result<void> Parse(const Program& program, int argc, char** argv);

// "flag --resync-period: <why>"; `name` as gflags has it.
base::Error BadFlag(std::string_view name, std::string_view why);

}  // namespace command_line
