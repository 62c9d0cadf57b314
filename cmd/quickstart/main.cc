// The part of cmd/quickstart.sh that talks to the API server.

#include <gflags/gflags.h>
#include <glog/logging.h>
#include <signal.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iostream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>

#include "cmd/quickstart/story.h"
#include "pkg/base/task_group.h"
#include "pkg/client/cluster_config.h"
#include "pkg/client/rest_client.h"
#include "pkg/config/yaml.h"

DEFINE_string(kubeconfig, "", "Kubeconfig of the cluster to run the story in.");
DEFINE_string(namespace, "quota-quickstart", "Name of the namespace to create.");
DEFINE_string(story, "core", "The story to run: core, karmada, ironcore, cluster or usage.");
DEFINE_string(define, "", "Instead of a story: create the CustomResourceDefinition in this file.");
DEFINE_bool(keep, false, "Do not delete the namespace.");

namespace {

base::Result<std::unique_ptr<client::RestClient>> Connect(boost::asio::io_context& io,
                                                          base::Scheduler& scheduler) {
  client::LoadOptions load;
  load.kubeconfig = FLAGS_kubeconfig;
  load.environment = client::ProcessEnvironment;
  load.home = client::ProcessEnvironment("HOME").value_or("");
  auto config = client::LoadClusterConfig(load);
  if (!config) return config.error();
  return client::NewRestClient(io.get_executor(), scheduler, std::move(*config),
                               {.user_agent = client::UserAgent("quickstart")});
}

// Runs one task to its end; Ctrl-C cancels it if `interruptible`. Returns false after a failure,
// which it has printed.
bool RunTask(boost::asio::io_context& io, bool interruptible,
             std::function<base::Task<base::Result<void>>()> task) {
  bool worked = false;
  base::TaskGroup tasks(io.get_executor());
  for (const int stop : {SIGINT, SIGTERM}) signal(stop, SIG_IGN);
  boost::asio::signal_set signals(io);
  if (interruptible) {
    signals.add(SIGINT);
    signals.add(SIGTERM);
    signals.async_wait([&](auto error, int) {
      if (!error) tasks.Cancel();
    });
  }
  const auto run = [&]() -> base::Task<void> {
    auto result = co_await task();
    worked = result.has_value();
    if (worked) co_return;
    const bool interrupted = result.error().Is(base::ErrorCode::kCancelled);
    std::cerr << (interrupted ? "interrupted" : result.error().message) << "\n";
  };
  tasks.Spawn("quickstart", run);
  io.restart();
  while (!tasks.empty() && io.run_one() > 0) {
  }
  return worked;
}

base::Result<json::Value> ReadYaml(const std::string& path) {
  std::ifstream file(path);
  if (!file)
    return base::Error{.code = base::ErrorCode::kInvalidArgument, .message = "cannot read " + path};
  return config::ParseYaml(std::string(std::istreambuf_iterator<char>(file), {}));
}

base::Task<base::Result<void>> Define(client::ApiClient& client, base::Scheduler& scheduler) {
  auto definition = ReadYaml(FLAGS_define);
  if (!definition) co_return definition.error();
  co_return co_await quickstart::Define(client, scheduler, std::move(*definition));
}

int Work(boost::asio::io_context& io, base::Scheduler& scheduler, client::ApiClient& client) {
  if (!FLAGS_define.empty()) {
    return RunTask(io, true, [&] { return Define(client, scheduler); }) ? 0 : 1;
  }
  auto* tell = quickstart::TellStory;
  if (FLAGS_story == "karmada") tell = quickstart::TellKarmadaStory;
  if (FLAGS_story == "ironcore") tell = quickstart::TellIroncoreStory;
  if (FLAGS_story == "cluster") tell = quickstart::TellClusterStory;
  if (FLAGS_story == "usage") tell = quickstart::TellUsageStory;
  const bool told = RunTask(
      io, true, [&] { return tell(client, scheduler, {.ns = FLAGS_namespace}, std::cout); });
  if (told && FLAGS_keep) return 0;
  // Also after a failure and after Ctrl-C: it may be the user's own cluster.
  const bool cleaned =
      RunTask(io, false, [&] { return quickstart::CleanUp(client, FLAGS_namespace); });
  return told && cleaned ? 0 : 1;
}

base::Task<base::Result<void>> Close(client::RestClient& client) {
  co_await client.Close();
  co_return base::Result<void>();
}

int Run() {
  boost::asio::io_context io{1};
  base::RealScheduler scheduler(io.get_executor());
  auto client = Connect(io, scheduler);
  if (!client) {
    std::cerr << client.error().message << "\n";
    return 2;
  }
  const int exit_code = Work(io, scheduler, **client);
  RunTask(io, false, [&] { return Close(**client); });
  return exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  // The daemon beside us logs everything that our client would warn about.
  FLAGS_logtostderr = true;
  FLAGS_minloglevel = google::GLOG_ERROR;
  google::InitGoogleLogging(argv[0]);
  signal(SIGPIPE, SIG_IGN);
  gflags::ParseCommandLineFlags(&argc, &argv, true);
  return Run();
}
