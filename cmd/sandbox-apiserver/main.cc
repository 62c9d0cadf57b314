// sandbox-apiserver: an API server in memory, for first runs and tests.
//
// Exit codes: 0 after SIGTERM or SIGINT; 1 if it cannot listen at the address or write the
// kubeconfig; 2 for a wrong flag.

#include <gflags/gflags.h>
#include <glog/logging.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "cmd/sandbox-apiserver/flags.h"
#include "pkg/base/task_group.h"

namespace {

namespace asio = boost::asio;

int Refuse(const base::Error& error) {
  std::cerr << "sandbox-apiserver: " << error.message << "\n";
  return error.Is(base::ErrorCode::kInvalidArgument) ? 2 : 1;
}

// Written to a temporary file and renamed, so that readers see all of it or nothing.
bool WriteKubeconfig(const std::string& path, const std::string& text) {
  namespace fs = std::filesystem;
  const std::string partial = path + ".partial";
  std::error_code error;
  fs::remove(partial, error);
  std::ofstream file(partial);
  fs::permissions(partial, fs::perms::owner_read | fs::perms::owner_write, error);
  file << text;
  file.close();
  if (!file) return false;
  fs::rename(partial, path, error);
  return !error;
}

}  // namespace

int main(int argc, char** argv) {
  FLAGS_logtostderr = true;
  FLAGS_log_year_in_prefix = false;
  google::InitGoogleLogging(argv[0]);
  base::Result<sandbox_apiserver::Flags> flags = sandbox_apiserver::ParseFlags(argc, argv);
  if (!flags) return Refuse(flags.error());
  std::signal(SIGPIPE, SIG_IGN);  // a closed connection is only an error of that write

  asio::io_context io{1};
  auto server = sandbox::ApiServer::New(io.get_executor(), std::move(flags->server));
  if (!server) return Refuse(server.error());
  const std::string& out = flags->kubeconfig_out;
  if (!out.empty() && !WriteKubeconfig(out, (*server)->Kubeconfig())) {
    return Refuse({.message = "cannot write the kubeconfig " + out});
  }
  std::cout << "sandbox-apiserver listens on " << (*server)->url()
            << " (in memory, not for production)\n";
  if (!out.empty()) std::cout << "kubeconfig: " << out << "\n";
  std::cout.flush();

  asio::signal_set signals(io, SIGINT, SIGTERM);
  signals.async_wait([&server](boost::system::error_code error, int) {
    if (!error) (*server)->Stop();
  });
  base::TaskGroup tasks(io.get_executor());
  tasks.Spawn("server", [&server, &signals]() -> base::Task<void> {
    co_await (*server)->Run();
    signals.cancel();
  });
  io.run();
  return 0;
}
