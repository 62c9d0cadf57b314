// What does counting cost? The daemon beside the built-in quota controller, one after the other, on
// the same kube-apiserver with the same pods. Prints a Markdown table; says on stderr what it is
// doing.
//
//   controller_bench [SIZE…]      sizes of the namespace, rising; default 0 1000 30000

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "tests/bench/contender.h"
#include "tests/bench/filler.h"
#include "tests/bench/quota_watch.h"
#include "tests/e2e/harness/api_server.h"
#include "tests/e2e/harness/objects.h"
#include "tests/e2e/harness/wait.h"

namespace bench {
namespace {

constexpr int kDeletions = 31;

struct Measured {
  Contender contender = Contender::kDaemon;
  int pods = 0;
  double seconds_to_counted = 0;
  double cpu_to_counted = 0;
  double resident_mb = 0;
  std::vector<double> delete_ms;  // sorted
  double cpu_ms_per_delete = 0;
};

double Median(const std::vector<double>& sorted) {
  return sorted.empty() ? 0 : sorted[sorted.size() / 2];
}

double Megabytes(long bytes) { return static_cast<double>(bytes) / 1e6; }

class Bench {
 public:
  Bench() : server_(e2e::StartServer()), api_(server_->Kubeconfig()) {
    api_.Create(e2e::PathOf("namespaces"), e2e::Namespace(kNamespace));
    api_.Create(e2e::PathOf("resourcequotas", kNamespace), QuotaOfSevenNames());
  }

  void FillTo(int pods) {
    if (pods <= alive_) return;
    std::cerr << "filling to " << pods << " pods ...\n";
    const double rate = Fill(api_, kNamespace, next_, next_ + pods - alive_);
    next_ += pods - alive_;
    alive_ = pods;
    std::cerr << "  " << static_cast<int>(rate) << " a second\n";
  }

  Measured Measure(Contender contender) {
    std::cerr << NameOf(contender) << " at " << alive_ << " pods ...\n";
    // Nobody has counted yet: what is measured is a first status, from nothing.
    api_.MergePatch(e2e::PathOf("resourcequotas", kNamespace, "q", "status"),
                    e2e::Json(R"({"status":{"hard":null,"used":null}})"));
    QuotaWatch watch(server_->Kubeconfig(), kNamespace);
    Measured measured{.contender = contender, .pods = alive_};
    const auto began = std::chrono::steady_clock::now();
    const auto process = Start(contender, server_->Kubeconfig(), folder_.path());
    watch.WaitForPods(alive_, std::chrono::seconds(300));
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    measured.seconds_to_counted = took.count();
    measured.cpu_to_counted = e2e::UsageOf(process->pid()).cpu_seconds;
    if (alive_ > 0) MeasureDeletions(watch, process->pid(), measured);
    measured.resident_mb = Megabytes(e2e::UsageOf(process->pid()).resident_bytes);
    return measured;
  }

 private:
  static constexpr const char* kNamespace = "bench";

  void MeasureDeletions(QuotaWatch& watch, int pid, Measured& measured) {
    const double before = e2e::UsageOf(pid).cpu_seconds;
    for (int i = 0; i < kDeletions; ++i) {
      // Single deletions, not a burst: each finds the controller idle.
      e2e::PollUntil([] { return false; }, std::chrono::milliseconds(200));
      const auto name = "p" + std::to_string(--next_);
      measured.delete_ms.push_back(watch.TimeDelete(name, --alive_).count());
    }
    measured.cpu_ms_per_delete = (e2e::UsageOf(pid).cpu_seconds - before) * 1000 / kDeletions;
    std::sort(measured.delete_ms.begin(), measured.delete_ms.end());
  }

  std::unique_ptr<e2e::ApiServer> server_;
  e2e::Api api_;
  e2e::TempDir folder_;
  int next_ = 0;  // pods p0 … p<next - 1> exist
  int alive_ = 0;
};

void Print(const std::vector<Measured>& rows) {
  std::printf(
      "| pods | controller | resident MB | start → counted, s | CPU until counted, s | "
      "DELETE → status.used, median ms | slowest of %d, ms | CPU per deletion, ms |\n"
      "|---|---|---|---|---|---|---|---|\n",
      kDeletions);
  for (const auto& row : rows) {
    std::printf("| %d | %s | %.1f | %.2f | %.2f |", row.pods, NameOf(row.contender).c_str(),
                row.resident_mb, row.seconds_to_counted, row.cpu_to_counted);
    if (row.delete_ms.empty()) {
      std::printf(" – | – | – |\n");
    } else {
      std::printf(" %.1f | %.1f | %.1f |\n", Median(row.delete_ms), row.delete_ms.back(),
                  row.cpu_ms_per_delete);
    }
  }
}

int Main(const std::vector<int>& sizes) {
  Bench bench;
  std::vector<Measured> rows;
  for (const int pods : sizes) {
    for (const auto contender :
         {Contender::kDaemon, Contender::kDaemonOfJson, Contender::kBuiltin}) {
      bench.FillTo(pods);
      rows.push_back(bench.Measure(contender));
    }
  }
  Print(rows);
  return 0;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  std::vector<int> sizes;
  for (int i = 1; i < argc; ++i) sizes.push_back(std::atoi(argv[i]));
  if (sizes.empty()) sizes = {0, 1000, 30000};
  try {
    return bench::Main(sizes);
  } catch (const std::exception& error) {
    std::cerr << "controller_bench: " << error.what() << "\n";
    return 1;
  }
}
