#pragma once

// Tells CLI11 where the values of flags and arguments go. The options must outlive the app.

#include <string>
#include <vector>

#include "cmd/kubectl-quota/arguments.h"

namespace CLI {
class App;
}  // namespace CLI

namespace kubectl_quota {

// Values of flags that are not in their final form.
struct RawFlags {
  std::string request_timeout;
  std::vector<std::string> as_user_extra;  // "KEY=VALUE"
  std::string dry_run = "none";
  std::string quota_name;  // of who, if the argument before it is the kind
};

// What every command has, with kubectl's names and meanings.
void AddCommonFlags(CLI::App& app, Options& options, RawFlags& raw);
void AddFlagsOf(Command command, CLI::App& app, Options& options, RawFlags& raw);

}  // namespace kubectl_quota
