// What does a resync of unchanged pods cost: bytes from the API server, and CPU time?

#include <cstdio>
#include <iostream>
#include <stdexcept>

#include "tests/bench/cpu_time.h"
#include "tests/bench/filler.h"
#include "tests/bench/scale_questions.h"
#include "tests/e2e/harness/api_server.h"
#include "tests/e2e/harness/daemon.h"
#include "tests/e2e/harness/objects.h"
#include "tests/e2e/harness/proxy.h"
#include "tests/e2e/harness/wait.h"

namespace bench {
namespace {

constexpr int kResyncs = 3;

struct Spent {
  double bytes = 0;
  double cpu_ms = 0;
};

class Resyncs {
 public:
  explicit Resyncs(int pods) : server_(e2e::StartServer()), proxy_(server_->port()) {
    e2e::Api api(server_->Kubeconfig());
    api.Create(e2e::PathOf("namespaces"), e2e::Namespace(kNamespace));
    api.Create(e2e::PathOf("resourcequotas", kNamespace), QuotaOfSevenNames());
    Fill(api, kNamespace, 0, pods);
  }

  // Waits until everything is counted for the first time.
  Spent Start() {
    daemon_ = std::make_unique<e2e::Daemon>(
        e2e::DaemonOptions{.kubeconfig = server_->Kubeconfig(proxy_.port()),
                           .resync_period = "20s",
                           .more_flags = {"--quota-apis=core", "--enforce=", "-v=0"}});
    daemon_->WaitUntilReady();
    return {.bytes = static_cast<double>(proxy_.bytes_from_target()), .cpu_ms = CpuMs()};
  }

  // The cost of each resync after the first.
  Spent OfEach() {
    const double first = AwaitMore(Done());
    const Spent before{.bytes = static_cast<double>(proxy_.bytes_from_target()), .cpu_ms = CpuMs()};
    for (double done = first; done < first + kResyncs;) done = AwaitMore(done);
    return {.bytes = (static_cast<double>(proxy_.bytes_from_target()) - before.bytes) / kResyncs,
            .cpu_ms = (CpuMs() - before.cpu_ms) / kResyncs};
  }

 private:
  static constexpr const char* kNamespace = "resyncs";

  double Done() { return daemon_->Metric("quota_resync_total").value_or(0); }
  double CpuMs() { return CpuOfProcess(daemon_->pid()).count() / 1000; }
  double AwaitMore(double than) {
    const bool more = e2e::PollUntil([&] { return Done() > than; }, std::chrono::minutes(2),
                                     std::chrono::milliseconds(100));
    if (!more) throw std::runtime_error("there was no further resync");
    return Done();
  }

  std::unique_ptr<e2e::ApiServer> server_;
  e2e::TcpProxy proxy_;
  std::unique_ptr<e2e::Daemon> daemon_;
};

}  // namespace

void AskResync(const Scale& scale) {
  std::cerr << "resync: " << scale.pods << " pods ...\n";
  Resyncs resyncs(scale.pods);
  const Spent start = resyncs.Start();
  const Spent each = resyncs.OfEach();
  std::printf(
      "\n%d pods of 3 kB that do not change; what the API server sends, and the daemon's processor "
      "time:\n\n"
      "| | MB | bytes a pod | CPU, ms |\n|---|---|---|---|\n"
      "| the first list | %.1f | %.0f | %.0f |\n"
      "| a resync, and 20 s of watching | %.1f | %.0f | %.0f |\n",
      scale.pods, start.bytes / 1e6, start.bytes / scale.pods, start.cpu_ms, each.bytes / 1e6,
      each.bytes / scale.pods, each.cpu_ms);
  std::fflush(stdout);
}

}  // namespace bench
