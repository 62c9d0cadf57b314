// A kubeconfig: merged with itself it is the same, and a context that names no file gives a
// connection or an error.

#include "pkg/client/kubeconfig.h"

#include "pkg/client/context_resolver.h"
#include "pkg/client/exec_plugin.h"
#include "pkg/config/yaml.h"
#include "tests/fuzz/target.h"

namespace {

using client::Kubeconfig;

constexpr const char* kFile = "/home/a/.kube/config";

// Removes file names, so that nothing outside of the input is read.
void WithoutFiles(Kubeconfig& config) {
  for (auto& [name, cluster] : config.clusters) cluster.ca_file.clear();
  for (auto& [name, user] : config.users) {
    user.cert_file.clear();
    user.key_file.clear();
    user.token_file.clear();
  }
}

void CheckMerge(const Kubeconfig& config) {
  Kubeconfig twice = config;
  client::MergeKubeconfig(twice, config);
  fuzz::Require(twice.clusters.size() == config.clusters.size() &&
                    twice.users.size() == config.users.size() &&
                    twice.contexts.size() == config.contexts.size() &&
                    twice.current_context == config.current_context,
                "merged with itself it is the same");
  Kubeconfig empty;
  client::MergeKubeconfig(empty, config);
  fuzz::Require(empty.users.size() == config.users.size(), "merged into nothing it is all there");
}

void CheckContext(const Kubeconfig& config, const std::string& context) {
  const client::Environment none = [](std::string_view) -> std::optional<std::string> {
    return std::nullopt;
  };
  const auto resolved = client::ResolveContext(config, context, kFile, none);
  if (!resolved) {
    fuzz::Require(resolved.error().Is(base::ErrorCode::kInvalidArgument), "the file is wrong");
    fuzz::Require(!resolved.error().message.empty(), "and why");
    return;
  }
  fuzz::Require(!resolved->server.host.empty() && resolved->server.port != 0, "somewhere to go");
  const std::string described = resolved->Describe();
  for (const std::string* secret : {&resolved->token, &resolved->password}) {
    const bool told = secret->size() > 12 && described.find(*secret) != std::string::npos;
    fuzz::Require(!told || context.find(*secret) != std::string::npos ||
                      resolved->server.host.find(*secret) != std::string::npos ||
                      resolved->server.path.find(*secret) != std::string::npos ||
                      resolved->source.find(*secret) != std::string::npos,
                  "no secret is told");
  }
  if (resolved->exec) (void)client::ExecInfo(*resolved);
}

FUZZ_TARGET(kubeconfig) {
  const auto document = config::ParseYaml(input);
  if (!document) return;
  auto config = client::ParseKubeconfig(*document, kFile);
  if (!config) {
    fuzz::Require(config.error().Is(base::ErrorCode::kInvalidArgument), "the file is wrong");
    return;
  }
  CheckMerge(*config);
  WithoutFiles(*config);
  CheckContext(*config, "");
  for (const auto& [name, context] : config->contexts) CheckContext(*config, name);
}

}  // namespace
