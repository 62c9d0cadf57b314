#include "cmd/command_line/command_line.h"

#include <gflags/gflags.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>

// Declared in gflags' sources, not in its header: called after a wrong flag was reported.
namespace GFLAGS_NAMESPACE {
extern void (*gflags_exitfunc)(int);
}

namespace command_line {
namespace {

std::string WithDashes(std::string_view name) {
  std::string dashed(name);
  std::replace(dashed.begin(), dashed.end(), '_', '-');
  return dashed;
}

void PrintHelp(const Program& program) {
  std::vector<gflags::CommandLineFlagInfo> flags;
  gflags::GetAllFlags(&flags);  // by file
  std::ranges::sort(flags, {}, &gflags::CommandLineFlagInfo::name);
  std::cout << program.usage;
  for (const gflags::CommandLineFlagInfo& flag : flags) {
    const bool borrowed = std::find(program.borrowed.begin(), program.borrowed.end(), flag.name) !=
                          program.borrowed.end();
    const bool own = flag.filename.find(program.flags_folder) != std::string::npos;
    if (!own && !borrowed) continue;
    std::cout << "  --" << WithDashes(flag.name) << "=" << flag.default_value << "\n      "
              << flag.description << "\n";
  }
  std::cout << "  --version\n      Print the version and exit.\n"
            << "  --help\n      Print this and exit.\n";
}

// gflags itself would print every flag of every library, and exit with 1.
void HandleHelpAndVersion(const Program& program, int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--help" || argument == "-help" || argument == "-h") {
      PrintHelp(program);
      std::exit(0);
    }
    if (argument == "--version" || argument == "-version") {
      std::cout << program.name << " " << program.version << "\n";
      std::exit(0);
    }
  }
}

}  // namespace

base::Result<void> Parse(const Program& program, int argc, char** argv) {
  HandleHelpAndVersion(program, argc, argv);
  GFLAGS_NAMESPACE::gflags_exitfunc = [](int) { std::exit(2); };
  gflags::ParseCommandLineFlags(&argc, &argv, true);
  if (argc == 1) return {};
  return base::Error{.code = base::ErrorCode::kInvalidArgument,
                     .message = "unexpected argument \"" + std::string(argv[1]) + "\""};
}

base::Error BadFlag(std::string_view name, std::string_view why) {
  return {.code = base::ErrorCode::kInvalidArgument,
          .message = "flag --" + WithDashes(name) + ": " + std::string(why)};
}

}  // namespace command_line
