// What does counting cost? Runs the daemon and the built-in quota controller in turn on the same
// kube-apiserver with the same pods, and a bare client that only downloads the pods in the daemon's
// format. Prints Markdown tables; writes its progress to stderr.
//
//   controller_bench [--out FOLDER] [SIZE…]
//
// SIZE is a number of pods in the namespace. Sizes rise; the default is 0 1000 30000.

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "tests/bench/bare_list.h"
#include "tests/bench/controller_report.h"
#include "tests/bench/filler.h"
#include "tests/bench/quota_watch.h"
#include "tests/e2e/harness/api_server.h"
#include "tests/e2e/harness/objects.h"
#include "tests/e2e/harness/wait.h"

namespace bench {
namespace {

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
    Measured measured{.contender = contender, .pods = alive_};
    const bool ours = contender == Contender::kDaemon;
    for (int left = ours ? kStarts : 1; left > 0; --left) {
      if (ours) {
        measured.bare_seconds.push_back(
            SecondsOfBareList(server_->Kubeconfig(), e2e::PathOf("pods", kNamespace)));
      }
      MeasureStart(left == 1, measured);
    }
    return measured;
  }

 private:
  static constexpr const char* kNamespace = "bench";

  void MeasureStart(bool last, Measured& measured) {
    // Nobody has counted yet: this measures the first status from nothing.
    api_.MergePatch(e2e::PathOf("resourcequotas", kNamespace, "q", "status"),
                    e2e::Json(R"({"status":{"hard":null,"used":null}})"));
    QuotaWatch watch(server_->Kubeconfig(), e2e::PathOf("resourcequotas", kNamespace));
    const auto began = std::chrono::steady_clock::now();
    const auto process = Start(measured.contender, server_->Kubeconfig(), folder_.path());
    watch.WaitForPods(alive_, std::chrono::seconds(300));
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    measured.seconds_to_counted.push_back(took.count());
    measured.cpu_to_counted.push_back(e2e::UsageOf(process->pid()).cpu_seconds);
    if (!last) return;
    if (alive_ > 0) MeasureDeletions(watch, process->pid(), measured);
    measured.resident_mb = Megabytes(e2e::UsageOf(process->pid()).resident_bytes);
  }

  void MeasureDeletions(QuotaWatch& watch, int pid, Measured& measured) {
    const double before = e2e::UsageOf(pid).cpu_seconds;
    for (int i = 0; i < kDeletions; ++i) {
      // Single deletions, not a burst: each finds an idle controller.
      e2e::PollUntil([] { return false; }, std::chrono::milliseconds(200));
      const auto pod = e2e::PathOf("pods", kNamespace, "p" + std::to_string(--next_));
      measured.delete_ms.push_back(watch.TimeDelete(pod, --alive_).shown_ms);
    }
    measured.cpu_ms_per_delete = (e2e::UsageOf(pid).cpu_seconds - before) * 1000 / kDeletions;
  }

  std::unique_ptr<e2e::ApiServer> server_;
  e2e::Api api_;
  e2e::TempDir folder_;
  int next_ = 0;  // pods p0 … p<next - 1> exist
  int alive_ = 0;
};

int Main(const std::vector<int>& sizes, const std::string& out) {
  Bench bench;
  std::vector<Measured> rows;
  for (const int pods : sizes) {
    for (const auto contender :
         {Contender::kDaemon, Contender::kDaemonOfJson, Contender::kBuiltin}) {
      bench.FillTo(pods);
      rows.push_back(bench.Measure(contender));
    }
  }
  PrintRows(rows);
  PrintTargets(rows);
  if (!out.empty()) DrawRows(rows, out);
  return 0;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  std::vector<int> sizes;
  std::string out;
  for (int i = 1; i < argc; ++i) {
    if (std::string(argv[i]) == "--out" && i + 1 < argc) {
      out = argv[++i];
    } else {
      sizes.push_back(std::atoi(argv[i]));
    }
  }
  if (sizes.empty()) sizes = {0, 1000, 30000};
  try {
    return bench::Main(sizes, out);
  } catch (const std::exception& error) {
    std::cerr << "controller_bench: " << error.what() << "\n";
    return 1;
  }
}
