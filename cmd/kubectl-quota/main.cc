// kubectl-quota explains quotas: who uses them, why they refuse, whether something would fit.
//
// Exit codes: 0 for yes, or if the output is shown; 1 for no; 2 for a wrong call, or no access; 3
// if `check` cannot tell.

#include <glog/logging.h>
#include <signal.h>

#include <boost/asio/io_context.hpp>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "cmd/kubectl-quota/commands.h"
#include "cmd/kubectl-quota/completion.h"
#include "pkg/base/task_group.h"
#include "pkg/client/cluster_config.h"
#include "pkg/client/rest_client.h"

namespace kubectl_quota {
namespace {

// Like kubectl, prefers the user's kubeconfig to the service account, even in a pod.
std::optional<std::string> EnvironmentOfUser(std::string_view name) {
  if (name != "KUBERNETES_SERVICE_HOST") return client::ProcessEnvironment(name);
  const std::string home = client::ProcessEnvironment("HOME").value_or("");
  const bool has_config = !client::ProcessEnvironment("KUBECONFIG").value_or("").empty() ||
                          std::filesystem::exists(home + "/.kube/config");
  return has_config ? std::nullopt : client::ProcessEnvironment(name);
}

base::Result<client::ClusterConfig> LoadConfig(const Place& place) {
  client::LoadOptions load;
  load.kubeconfig = place.kubeconfig;
  load.context = place.context;
  load.environment = EnvironmentOfUser;
  load.home = client::ProcessEnvironment("HOME").value_or("");
  return client::LoadClusterConfig(load);
}

using Performed = std::function<base::Task<Outcome>(Session& session)>;

int RunCommand(const Options& options, Terminal& terminal, Performed perform = Perform) {
  auto config = LoadConfig(options.place);
  if (!config) return Report(terminal, config.error());
  boost::asio::io_context io{1};
  base::RealScheduler scheduler(io.get_executor());
  std::string ns = options.place.ns.empty() ? config->ns : options.place.ns;
  if (options.place.all_namespaces) ns.clear();
  // Pages are passed on to others, so they name the server but not the user's files.
  const http::Url& server = config->server;
  std::string source = server.scheme + "://" + server.Authority() + server.path;
  auto client = client::NewRestClient(io.get_executor(), scheduler, std::move(*config),
                                      {.user_agent = "kubectl-quota/" QCM_VERSION});
  if (!client) return Report(terminal, client.error());
  Cluster cluster(**client, scheduler, terminal);
  Session session{cluster, scheduler, options, std::move(ns), std::move(source)};
  Outcome outcome = kFailed;
  base::TaskGroup progress(io.get_executor());
  base::TaskGroup tasks(io.get_executor());
  progress.Spawn("progress", [&] { return terminal.ShowProgress(scheduler); });
  tasks.Spawn("command", [&]() -> base::Task<void> {
    Outcome performed = co_await perform(session);
    outcome = std::move(performed);
    progress.Cancel();
    co_await (*client)->Close();
  });
  while (!(tasks.empty() && progress.empty()) && io.run_one() > 0) {
  }
  return Report(terminal, outcome);
}

// Reads the labels from the cluster. Errors: kInvalidArgument, after the reason was printed.
base::Result<LabelsByNamespace> ReadLabels(const Options& options, Terminal& terminal,
                                           const std::vector<std::string>& namespaces) {
  const base::Error failed{.code = base::ErrorCode::kInvalidArgument,
                           .message = "the labels of namespace " + namespaces.front() +
                                      " say which ClusterQuotas it is under, and could not be "
                                      "read: add the Namespace to --quota-file"};
  std::optional<LabelsByNamespace> read;
  const int code = RunCommand(options, terminal, [&](Session& session) -> base::Task<Outcome> {
    auto labels = co_await LabelsOf(session.cluster, namespaces);
    if (!labels) co_return labels.error();
    read = std::move(*labels);
    co_return kYes;
  });
  if (code != kYes || !read) return failed;
  return std::move(*read);
}

int Run(const std::vector<std::string>& arguments) {
  const Parsed parsed = ParseArguments(arguments);
  Terminal terminal(ReadTraits());
  if (parsed.leave) {
    if (parsed.leave->exit_code != 0) {
      terminal.Fail(parsed.leave->text);
    } else {
      terminal.Write(parsed.leave->text);
    }
    return parsed.leave->exit_code;
  }
  if (parsed.options.command == Command::kVersion) {
    terminal.Write("kubectl-quota " QCM_VERSION "\n");
    const bool cluster =
        !parsed.options.only_client && LoadConfig(parsed.options.place).has_value();
    if (!cluster) return kYes;
  }
  if (parsed.options.command == Command::kComplete) {
    // Fixed words need no cluster. Without a cluster nothing else is offered.
    const Completion completion = CompletionOf(parsed.options.complete.words);
    if (!completion.AsksCluster() || !LoadConfig(parsed.options.place)) {
      terminal.Write(CompletionText(completion, {}));
      return kYes;
    }
  }
  if (!parsed.options.check.quota_files.empty()) {
    return Report(terminal, CheckOffline(parsed.options, terminal, std::chrono::system_clock::now(),
                                         [&](const std::vector<std::string>& namespaces) {
                                           return ReadLabels(parsed.options, terminal, namespaces);
                                         }));
  }
  return RunCommand(parsed.options, terminal);
}

}  // namespace
}  // namespace kubectl_quota

int main(int argc, char** argv) {
  // The commands themselves report what libraries would log.
  FLAGS_logtostderr = true;
  FLAGS_minloglevel = google::GLOG_FATAL;
  google::InitGoogleLogging(argv[0]);
  signal(SIGPIPE, SIG_IGN);
  return kubectl_quota::Run(std::vector<std::string>(argv + 1, argv + argc));
}
