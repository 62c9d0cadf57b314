#pragma once

// Scenarios of kubectl quota: the plugin as a user calls it, and its output.

#include <string>
#include <vector>

#include "tests/e2e/harness/files.h"
#include "tests/e2e/harness/process.h"
#include "tests/e2e/harness/scenario.h"

namespace e2e {

// Runs the plugin until it ends. In the locale "C" its output is ASCII.
ProgramResult AskPlugin(const std::string& kubeconfig, const std::vector<std::string>& arguments,
                        const std::string& locale = "C");

// Returns the path of the server's own kubectl, else of the one on PATH.
std::string Kubectl();

class PluginScenario {
 public:
  explicit PluginScenario(const ServerOptions& options = {}) : s_(options) {}

  [[nodiscard]] Scenario& scenario() { return s_; }
  // As the administrator of the server.
  ProgramResult Ask(const std::vector<std::string>& arguments) {
    return AskPlugin(s_.server().Kubeconfig(), arguments);
  }
  // The same, in the scenario's namespace.
  ProgramResult AskHere(std::vector<std::string> arguments);

  // Returns the kubeconfig of a user without rights. Only a real server tells users apart.
  std::string KubeconfigOfStranger();
  // Lets that user get and list these resources of the API groups in the scenario's namespace.
  // `groups` and `resources` are JSON lists.
  void AllowStranger(const std::string& groups, const std::string& resources);

  // Writes a file, and returns its path.
  std::string File(const std::string& name, const std::string& text) {
    return dir_.Write(name, text);
  }

 private:
  Scenario s_;
  TempDir dir_;
};

}  // namespace e2e
