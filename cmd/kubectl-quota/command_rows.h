#pragma once

// The commands as a table: names, help and output formats. Any thread.

#include <set>
#include <string>
#include <vector>

#include "cmd/kubectl-quota/arguments.h"

namespace kubectl_quota {

struct CommandRow {
  Command command;
  const char* name;
  const char* about;
  std::set<std::string> outputs;  // values of -o
  bool all_namespaces;
  const char* examples;             // lines
  std::set<std::string> actions{};  // the words of which one must follow, if any
  const char* alias = "";           // another name
};

// The default command first.
const std::vector<CommandRow>& Rows();

// The names of all commands, and "help".
std::vector<std::string> CommandNames();

// The end of the help of one command, and of the program.
std::string FooterOf(const CommandRow& row);
std::string FooterOfAll();

}  // namespace kubectl_quota
