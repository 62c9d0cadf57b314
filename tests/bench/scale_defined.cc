// 100 UsageDefinitions with 100 000 custom objects of 20 kB: memory, the start, an event.

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <stdexcept>
#include <vector>

#include "tests/bench/bare_list.h"
#include "tests/bench/cpu_time.h"
#include "tests/bench/paper_cluster.h"
#include "tests/bench/scale_questions.h"
#include "tests/bench/verdict.h"
#include "tests/e2e/harness/api.h"
#include "tests/e2e/harness/daemon.h"
#include "tests/e2e/harness/wait.h"

namespace bench {
namespace {

using std::chrono::steady_clock;

constexpr PaperKinds kKinds{.kinds = 100, .objects = 1000};
constexpr int kNamespaces = 100;
constexpr int kKindsPerQuota = 5;  // with four names each; a ClusterQuota may have 30
constexpr int kRounds = 5;
constexpr int kEventsAtOnce = 4;
constexpr double kMostMegabytes = 60;
constexpr double kMostTimesBare = 1.2;
constexpr double kMostEventMicros = 60;
constexpr std::chrono::minutes kPatient{3};
constexpr std::chrono::seconds kTrimmedAfter{17};

double SecondsSince(steady_clock::time_point began) {
  return std::chrono::duration<double>(steady_clock::now() - began).count();
}

double MedianOf(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

std::string QuotaOf(int kind) { return "q" + std::to_string(kind / kKindsPerQuota); }

// The changes of all objects of a kind.
PaperCluster::Source Events(int kind) {
  return [kind, next = 0]() mutable {
    std::string bytes;
    for (const int end = std::min(kKinds.objects, next + kEventsAtOnce); next < end; ++next) {
      bytes += PaperObjectEvent(kind, next, kNamespaces, 2000 + next);
    }
    return bytes;
  };
}

struct Starts {
  std::vector<double> bare;
  std::vector<double> counted;
  std::vector<double> cpu;
};

class Defined {
 public:
  Defined() {
    for (int first = 0; first < kKinds.kinds; first += kKindsPerQuota) {
      json::Value spec = e2e::Json(R"({"namespaceSelector":{"matchLabels":{"team":"a"}}})");
      for (int kind = first; kind < std::min(kKinds.kinds, first + kKindsPerQuota); ++kind) {
        for (const char* what : {"storage", "cpu", "backup", "iops"}) {
          spec.Make({"hard", PaperName(kind, what)}) = "1Ei";
        }
      }
      cluster_.PutQuota(QuotaOf(first), spec);
    }
  }

  void MeasureStart(Starts& starts) {
    const auto began = steady_clock::now();
    for (int kind = 0; kind < kKinds.kinds; ++kind) {
      SecondsOfBareList(cluster_.Kubeconfig(), PathOf(kind));
    }
    starts.bare.push_back(SecondsSince(began));
    const auto started = steady_clock::now();
    daemon_ = std::make_unique<e2e::Daemon>(
        e2e::DaemonOptions{.kubeconfig = cluster_.Kubeconfig(),
                           .more_flags = {"--quota-apis=cluster", "--enforce=", "-v=0"}});
    WaitUsed(0);
    starts.counted.push_back(SecondsSince(started));
    starts.cpu.push_back(CpuOfProcess(daemon_->pid()).count() / 1e6);
  }

  double MeasureMegabytes() {
    (void)e2e::PollUntil([] { return false; }, kTrimmedAfter);
    return static_cast<double>(e2e::UsageOf(daemon_->pid()).resident_bytes) / 1e6;
  }

  double MeasureEventMicros() {
    const Micros before = CpuOfProcess(daemon_->pid());
    for (int kind = 0; kind < kKinds.kinds; ++kind) {
      cluster_.SendEvents(PaperKind(kind), Events(kind));
    }
    WaitUsed(kKinds.objects);
    return (CpuOfProcess(daemon_->pid()) - before).count() / (kKinds.kinds * kKinds.objects);
  }

 private:
  static std::string PathOf(int kind) {
    return std::string("/apis/") + kPaperGroup + "/v1/" + PaperKind(kind);
  }

  void WaitUsed(int changed) {
    for (int kind = 0; kind < kKinds.kinds; ++kind) {
      WaitUsed(kind, "storage", PaperStorage(kKinds, changed));
      WaitUsed(kind, "iops", PaperIops(kKinds));
    }
  }
  void WaitUsed(int kind, const char* what, const std::string& amount) {
    const std::string name = PaperName(kind, what);
    if (cluster_.WaitForUsed(QuotaOf(kind), name, amount, kPatient)) return;
    throw std::runtime_error(name + " never became " + amount + ":\n" + daemon_->Log());
  }

  PaperCluster cluster_{0, 0, kNamespaces, kKinds};
  std::unique_ptr<e2e::Daemon> daemon_;
};

}  // namespace

void AskDefinitions(const Scale& /*scale*/) {
  Starts starts;
  double megabytes = 0;
  double event_micros = 0;
  for (int round = 1; round <= kRounds; ++round) {
    std::cerr << "defined: start " << round << " of " << kRounds << " ...\n";
    Defined defined;
    defined.MeasureStart(starts);
    if (round < kRounds) continue;
    megabytes = defined.MeasureMegabytes();
    event_micros = defined.MeasureEventMicros();
  }
  const std::size_t bytes = PaperObjectEvent(0, 0, kNamespaces, 1).size();
  const double counted = MedianOf(starts.counted);
  const double bare = MedianOf(starts.bare);
  std::printf(
      "\n%d UsageDefinitions of four names and a scope, and %d custom objects of %.1f kB in %d "
      "namespaces under %d ClusterQuotas, on a server that makes the objects up; medians of %d "
      "starts; %d events, each of which changes what is used:\n\n"
      "| resident MB | start → counted, s | a bare client's download of the lists, s | ratio | CPU "
      "until counted, s | CPU an event, µs |\n|---|---|---|---|---|---|\n"
      "| %s | %.2f | %.2f | %s | %.2f | %s |\n",
      kKinds.kinds, kKinds.kinds * kKinds.objects, static_cast<double>(bytes) / 1e3, kNamespaces,
      kKinds.kinds / kKindsPerQuota, kRounds, kKinds.kinds * kKinds.objects,
      AtMost(megabytes, kMostMegabytes).c_str(), counted, bare,
      AtMost(counted / bare, kMostTimesBare, 2).c_str(), MedianOf(starts.cpu),
      AtMost(event_micros, kMostEventMicros).c_str());
  std::fflush(stdout);
}

}  // namespace bench
