#include "tests/e2e/harness/plugin_scenario.h"

#include <cstdlib>

namespace e2e {

std::string Kubectl() {
  const char* assets = std::getenv("KUBEBUILDER_ASSETS");
  if (assets != nullptr && *assets != '\0') return std::string(assets) + "/kubectl";
  return FindProgram("kubectl");
}

ProgramResult AskPlugin(const std::string& kubeconfig, const std::vector<std::string>& arguments,
                        const std::string& locale) {
  std::vector<std::string> argv{BuiltProgram("kubectl-quota"), "--kubeconfig=" + kubeconfig};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  return RunProgram({.argv = argv, .env = {{"LC_ALL", locale}}}, Patience());
}

ProgramResult PluginScenario::AskHere(std::vector<std::string> arguments) {
  arguments.push_back("--namespace=" + s_.ns());
  return Ask(arguments);
}

std::string PluginScenario::KubeconfigOfStranger() {
  auto fields = s_.server().Fields();
  fields.token = "e2e-stranger-token";
  return File("stranger.kubeconfig", KubeconfigText(fields));
}

void PluginScenario::AllowStranger(const std::string& groups, const std::string& resources) {
  const std::string rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/" + s_.ns();
  s_.api().Create(rbac + "/roles",
                  Json(R"({"metadata": {"name": "viewer"}, "rules": [{"apiGroups": )" + groups +
                       R"(, "resources": )" + resources + R"(, "verbs": ["get", "list"]}]})"));
  s_.api().Create(rbac + "/rolebindings", Json(R"({"metadata": {"name": "viewer"},
      "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "viewer"},
      "subjects": [
        {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "stranger"}]})"));
}

}  // namespace e2e
