// kubectl-quota explains quotas: who uses them, why they refuse, whether something would fit.
//
// Exit codes: 0 for yes, or if the output is shown; 1 for no, or if something in it is lost or
// unknown; 2 for a wrong call, or no access; 3 if `check` cannot tell.

#include <glog/logging.h>
#include <signal.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "cmd/kubectl-quota/commands.h"
#include "cmd/kubectl-quota/completion.h"
#include "pkg/base/task_group.h"
#include "pkg/client/cluster_config.h"
#include "pkg/client/rest_client.h"
#include "pkg/inspect/foreign_text.h"

namespace kubectl_quota {
namespace {

// The level of -v from which kubectl prints requests.
constexpr int kPrintRequests = 6;

// What an exec plugin may do with standard input, as in kubectl.
client::PluginInput InputOf(const Options& options) {
  if (options.check.ReadsStdin()) return client::PluginInput::kTaken;
  return ::isatty(STDIN_FILENO) == 1 ? client::PluginInput::kTerminal
                                     : client::PluginInput::kNotTerminal;
}

base::Result<client::ClusterConfig> LoadConfig(const Options& options) {
  client::LoadOptions load;
  load.kubeconfig = options.place.kubeconfig;
  load.context = options.place.context;
  load.environment = client::ProcessEnvironment;
  load.home = client::ProcessEnvironment("HOME").value_or("");
  load.caller.flags = options.place.flags;
  load.caller.input = InputOf(options);
  return client::LoadClusterConfig(load);
}

// Prints each request, as kubectl does with -v=6.
class RequestPrinter final : public client::RequestObserver {
 public:
  // `server`: "https://10.0.0.1:6443". The terminal must outlive it.
  RequestPrinter(Terminal& terminal, std::string server)
      : terminal_(terminal), server_(std::move(server)) {}
  void OnExchange(const client::Exchange& exchange) override {
    const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(exchange.took);
    terminal_.Fail(
        inspect::Line(std::string(exchange.verb) + " " + server_ + std::string(exchange.target) +
                      " " + (exchange.code == 0 ? "no answer" : std::to_string(exchange.code)) +
                      " in " + std::to_string(took.count()) + " ms"));
  }
  void OnRetry(std::string_view verb, int code) override {
    terminal_.Fail(inspect::Line(std::string(verb) + " is repeated after " +
                                 (code == 0 ? "no answer" : std::to_string(code))));
  }

 private:
  Terminal& terminal_;
  std::string server_;
};

using Performed = std::function<base::Task<Outcome>(Session& session)>;

int RunCommand(const Options& options, Terminal& terminal, Performed perform = Perform) {
  auto config = LoadConfig(options);
  if (!config) return Report(terminal, config.error());
  boost::asio::io_context io{1};
  base::RealScheduler scheduler(io.get_executor());
  std::string ns = options.place.ns.empty() ? config->ns : options.place.ns;
  if (options.place.all_namespaces) ns.clear();
  // Pages are passed on to others, so they name the server but not the user's files.
  const http::Url& server = config->server;
  const std::string authority = server.scheme + "://" + server.Authority();
  std::string source = authority + server.path;
  RequestPrinter printer(terminal, authority);
  auto client =
      client::NewRestClient(io.get_executor(), scheduler, std::move(*config),
                            {.user_agent = "kubectl-quota/" QCM_VERSION,
                             .observer = options.verbosity >= kPrintRequests ? &printer : nullptr,
                             .timeout = options.place.request_timeout});
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
    const bool cluster = !parsed.options.only_client && LoadConfig(parsed.options).has_value();
    if (!cluster) return kYes;
  }
  if (parsed.options.command == Command::kComplete) {
    // Fixed words need no cluster. Without a cluster nothing else is offered.
    const Completion completion = CompletionOf(parsed.options.complete.words);
    if (!completion.AsksCluster() || !LoadConfig(parsed.options)) {
      terminal.Write(CompletionText(completion, {}));
      return kYes;
    }
  }
  if (const auto outcome = PerformWithFiles(parsed.options, terminal)) {
    return Report(terminal, *outcome);
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
