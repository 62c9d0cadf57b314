// Creations in many namespaces at once, each of which needs a write of its own: how many TLS
// handshakes with the API server do they cost the daemon?

#include <cstdio>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/bench/admission_questions.h"
#include "tests/bench/filler.h"
#include "tests/bench/load.h"
#include "tests/bench/verdict.h"
#include "tests/e2e/harness/api_server.h"
#include "tests/e2e/harness/daemon.h"
#include "tests/e2e/harness/objects.h"
#include "tests/e2e/harness/proxy.h"
#include "tests/e2e/harness/sockets.h"
#include "tests/e2e/harness/wait.h"

namespace bench {
namespace {

constexpr std::size_t kNamespaces = 100;
constexpr int kWarmUp = 5;  // creations in each namespace
constexpr int kCreationsEach = 30;
constexpr double kMostHandshakes = 10;  // for 1 000 writes
constexpr std::chrono::seconds kLongest{60};

// An API server with a daemon behind a relay that counts connections, and the namespaces.
class ManyNamespaces {
 public:
  ManyNamespaces() {
    const std::string address = "127.0.0.1:" + std::to_string(e2e::FreePort());
    daemon_ = std::make_unique<e2e::Daemon>(
        e2e::DaemonOptions{.kubeconfig = server_->Kubeconfig(relay_.port()),
                           .more_flags = {"--enforce=core", "--admission-bind-address=" + address,
                                          "--admission-url=https://" + address}});
    daemon_->WaitUntilReady();
    for (std::size_t i = 0; i < kNamespaces; ++i) {
      names_.push_back("tenant-" + std::to_string(i));
      api_.Create(e2e::PathOf("namespaces"), e2e::Namespace(names_.back()));
      api_.Create(e2e::PathOf("resourcequotas", names_.back()), e2e::Quota("q", hard_));
    }
    for (const std::string& ns : names_) {
      e2e::Eventually(
          "the quota of " + ns + " is enforced",
          [&] { return e2e::Unenforced(api_.Get(e2e::PathOf("resourcequotas", ns, "q")), hard_); },
          kLongest);
    }
  }

  [[nodiscard]] std::string Kubeconfig() { return server_->Kubeconfig(); }
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  // Connections of the daemon so far.
  [[nodiscard]] int Handshakes() const { return relay_.accepted(); }
  // Its writes so far.
  [[nodiscard]] double Patches() const {
    std::istringstream lines(daemon_->MetricsText());
    double sum = 0;
    for (std::string line; std::getline(lines, line);) {
      const bool counts = line.starts_with("rest_client_requests_total{") &&
                          line.find("method=\"PATCH\"") != std::string::npos;
      if (counts) sum += std::stod(line.substr(line.rfind(' ')));
    }
    return sum;
  }

 private:
  const e2e::Quantities hard_{{"pods", "999"}, {"requests.cpu", "999"}};
  std::unique_ptr<e2e::ApiServer> server_ = e2e::StartServer({});
  e2e::TcpProxy relay_{server_->port()};
  e2e::Api api_{server_->Kubeconfig()};
  std::unique_ptr<e2e::Daemon> daemon_;
  std::vector<std::string> names_;
};

// Pods "p<from>" to "p<to - 1>" in each namespace, all namespaces at once.
Tally Create(const ManyNamespaces& many, Load& load, int from, int to) {
  std::size_t next = 0;
  return load.Run([&](Load::Client& client) -> base::Task<void> {
    const std::string path = e2e::PathOf("pods", many.names().at(next++));
    for (int i = from; i < to; ++i) {
      client::ApiRequest create{.verb = "POST",
                                .path = path,
                                .content_type = std::string(client::kJson),
                                .body = PodJson(i)};
      co_await client.Must(std::move(create));
    }
  });
}

}  // namespace

void AskNamespaces() {
  std::cerr << "namespaces: starting the servers ...\n";
  ManyNamespaces many;
  Load load(many.Kubeconfig(), kNamespaces);
  Create(many, load, 0, kWarmUp);
  const int handshakes_before = many.Handshakes();
  const double patches_before = many.Patches();
  const Tally tally = Create(many, load, kWarmUp, kWarmUp + kCreationsEach);
  const int handshakes = many.Handshakes() - handshakes_before;
  const double patches = many.Patches() - patches_before;
  std::printf(
      "\n%zu clients create %d pods each, everyone in a namespace with a quota of its own:\n\n"
      "| creations/s | quota writes | new connections to the API server for them | for 1 000 "
      "writes |\n|---|---|---|---|\n| %.0f | %.0f | %d | %s |\n",
      kNamespaces, kCreationsEach, kNamespaces * kCreationsEach / tally.seconds, patches,
      handshakes, AtMost(handshakes * 1000.0 / patches, kMostHandshakes).c_str());
  std::fflush(stdout);
}

}  // namespace bench
