#include "tests/e2e/harness/installation.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include "pkg/config/yaml.h"
#include "tests/e2e/harness/proxy.h"
#include "tests/e2e/harness/wait.h"
#include "tests/source_dir.h"

namespace e2e {
namespace {

const std::string kManifests = tests::SourcePath("/manifests/");
const std::string kDefinitions = tests::SourcePath("/tests/e2e/manifests");

}  // namespace

std::string KubectlProgram() {
  const char* assets = std::getenv("KUBEBUILDER_ASSETS");
  if (assets == nullptr || *assets == '\0') throw std::runtime_error("no KUBEBUILDER_ASSETS");
  return std::string(assets) + "/kubectl";
}

Installation::Installation(const ServerOptions& options)
    : server_(StartServer(options)), api_(std::make_unique<Api>(server_->Kubeconfig())) {
  Kubectl({"apply", "-f", kDefinitions});
  Kubectl({"wait", "--for=condition=Established", "--timeout=60s", "-f", kDefinitions});
}

std::string Installation::Kubectl(std::vector<std::string> arguments) {
  std::vector<std::string> argv;
  argv.push_back(KubectlProgram());
  argv.push_back("--kubeconfig=" + server_->Kubeconfig());
  argv.push_back("--cache-dir=" + dir_.path());
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  auto result = RunProgram({.argv = argv}, Stretched(90s));
  // On a busy machine the server may need a minute to serve a kind that was just defined.
  const bool slow = result.output.find("Error from server (Timeout)") != std::string::npos;
  if (result.exit_code != 0 && slow) result = RunProgram({.argv = argv}, Stretched(90s));
  if (result.exit_code == 0) return std::move(result.output);
  std::string command = "kubectl";
  for (const std::string& argument : arguments) command.append(" ").append(argument);
  throw std::runtime_error(command + ":\n" + result.output);
}

void Installation::Apply(const std::string& folder) {
  const std::string output = Kubectl({"apply", "-k", kManifests + folder});
  // The daemon may have created its configuration, which kubectl takes over with this remark.
  constexpr std::string_view kTakesOver =
      "Warning: resource validatingwebhookconfigurations/quota-controller-manager is missing the "
      "kubectl.kubernetes.io/last-applied-configuration annotation";
  std::size_t at = output.find("Warning");
  if (at != std::string::npos && output.compare(at, kTakesOver.size(), kTakesOver) == 0) {
    at = output.find("Warning", at + 1);
  }
  if (at != std::string::npos) throw std::runtime_error(folder + ":\n" + output);
}

DaemonOptions Installation::AsDeployed(const std::string& folder,
                                       std::vector<std::string> more_flags) {
  DaemonOptions options{.kubeconfig = KubeconfigOfDaemon()};
  options.more_flags = DeployedArguments(folder);
  options.more_flags.push_back("--leader-elect=true");
  options.more_flags.push_back(std::string("--leader-elect-resource-namespace=") + kQuotaSystem);
  std::ranges::move(more_flags, std::back_inserter(options.more_flags));
  return options;
}

DaemonOptions Installation::Enforcing(const std::string& folder,
                                      std::vector<std::string> more_flags) {
  DaemonOptions options = AsDeployed(folder);
  std::erase_if(options.more_flags,
                [](const std::string& flag) { return flag.starts_with("--admission-service="); });
  const std::string address = "127.0.0.1:" + std::to_string(FreePort());
  options.more_flags.push_back("--admission-bind-address=" + address);
  options.more_flags.push_back("--admission-url=https://" + address);
  std::ranges::move(more_flags, std::back_inserter(options.more_flags));
  return options;
}

std::string Installation::KubeconfigOf(const std::string& account) {
  const json::Value answer = api_->Create(
      PathOf("serviceaccounts", kQuotaSystem, account, "token"),
      Json(R"({"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","spec":{}})"));
  KubeconfigFields fields = server_->Fields();
  fields.token = answer.StringAt({"status", "token"});
  return dir_.Write(account + ".kubeconfig", KubeconfigText(fields));
}

std::vector<std::string> ManifestFolders() {
  namespace fs = std::filesystem;
  std::vector<std::string> folders;
  for (const auto& entry : fs::recursive_directory_iterator(kManifests)) {
    if (entry.path().filename() != "kustomization.yaml") continue;
    const auto parsed = config::ParseYaml(ReadFile(entry.path()));
    if (!parsed) throw std::runtime_error(entry.path().string() + ": " + parsed.error().message);
    // A Component is not an installation but a part of several.
    if (parsed->StringAt({"kind"}) != "Kustomization") continue;
    folders.push_back(fs::relative(entry.path().parent_path(), kManifests));
  }
  std::ranges::sort(folders);
  return folders;
}

std::vector<json::Value> RenderManifests(const std::string& folder) {
  ProcessOptions kubectl;
  kubectl.argv.push_back(KubectlProgram());
  kubectl.argv.emplace_back("kustomize");
  kubectl.argv.push_back(kManifests + folder);
  const auto result = RunProgram(kubectl, Stretched(30s));
  if (result.exit_code != 0) throw std::runtime_error(folder + ":\n" + result.output);
  auto documents = config::ParseYamlDocuments(result.output);
  if (!documents) throw std::runtime_error(folder + ": " + documents.error().message);
  return std::move(*documents);
}

std::vector<std::string> DeployedArguments(const std::string& folder) {
  std::vector<std::string> arguments;
  for (json::Value& object : RenderManifests(folder)) {
    if (object.StringAt({"kind"}) != "Deployment") continue;
    json::Value& containers = object.Make({"spec", "template", "spec", "containers"});
    for (const json::Value& argument : *containers.AsArray()->front().At({"args"})->AsArray()) {
      arguments.emplace_back(*argument.AsString());
    }
  }
  if (arguments.empty()) throw std::runtime_error("no Deployment in " + folder);
  return arguments;
}

}  // namespace e2e
