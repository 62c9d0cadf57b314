// One ClusterQuota over 10 000 namespaces: memory, events, recounts, the start.

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <stdexcept>
#include <vector>

#include "pkg/quantity/quantity.h"
#include "tests/bench/cpu_time.h"
#include "tests/bench/paper_cluster.h"
#include "tests/bench/paper_kinds.h"
#include "tests/bench/scale_questions.h"
#include "tests/bench/verdict.h"
#include "tests/e2e/harness/api.h"
#include "tests/e2e/harness/daemon.h"
#include "tests/e2e/harness/wait.h"

namespace bench {
namespace {

using std::chrono::steady_clock;

constexpr int kNamespaces = 10'000;
constexpr int kFewPods = 100'000;
constexpr int kEvents = 100'000;
constexpr int kEventsAtOnce = 16;
constexpr int kTimesLooked = 21;
constexpr double kMostMoreBytes = 2;  // an object, beside one ResourceQuota of one namespace
constexpr double kMostEventMicros = 30;
constexpr double kMostRecount = 1;  // ms
constexpr std::chrono::minutes kPatient{3};
constexpr std::chrono::seconds kTrimmedAfter{17};

// The measurements with so many pods.
struct SizeOfQuota {
  int pods = 0;
  double megabytes = 0;
  double start_seconds = 0;
  double start_cpu = 0;
  double event_micros = 0;
  double recount_ms = 0;
  double new_quota_ms = 0;
};

PaperCluster::Source Events(int namespaces, int pods) {
  return [namespaces, pods, next = 0]() mutable {
    std::string bytes;
    for (const int end = std::min(kEvents, next + kEventsAtOnce); next < end; ++next) {
      const int pod = next % pods;
      bytes += namespaces == 0
                   ? PaperPodEvent("MODIFIED", pod, 1 + next)
                   : PaperPodEventIn(PaperNamespace(pod % namespaces), "MODIFIED", pod, 1 + next);
    }
    return bytes;
  };
}

class OneQuota {
 public:
  // Without namespaces: a ResourceQuota.
  OneQuota(int namespaces, int pods) : namespaces_(namespaces), cluster_(pods, 0, namespaces) {
    size_.pods = pods;
  }

  SizeOfQuota Measure() {
    cluster_.PutQuota("q", Spec());
    Start();
    Rest(kTrimmedAfter);
    size_.megabytes = static_cast<double>(e2e::UsageOf(daemon_->pid()).resident_bytes) / 1e6;
    MeasureRecounts();
    MeasureNewQuota();
    MeasureEvents();
    return size_;
  }

 private:
  [[nodiscard]] json::Value Spec() const {
    json::Value spec = e2e::Json(R"({"hard":{"pods":"10M","cpu":"10M","memory":"10Pi",
        "requests.cpu":"10M","requests.memory":"10Pi","limits.cpu":"10M","limits.memory":"10Pi"}})");
    if (namespaces_ > 0) spec.Make({"namespaceSelector", "matchLabels", "team"}) = "a";
    return spec;
  }
  static void Rest(std::chrono::milliseconds time) {
    (void)e2e::PollUntil([] { return false; }, time);
  }
  PaperCluster::Moment WaitCounted(const std::string& quota) {
    const auto all = quantity::Quantity::FromInt(size_.pods).ToString();
    const auto written = cluster_.WaitForUsed(quota, "pods", all, kPatient);
    if (!written) throw std::runtime_error(quota + " was never counted:\n" + daemon_->Log());
    return *written;
  }

  void Start() {
    const auto began = steady_clock::now();
    daemon_ = std::make_unique<e2e::Daemon>(
        e2e::DaemonOptions{.kubeconfig = cluster_.Kubeconfig(),
                           .more_flags = {"--quota-apis=core,cluster", "--enforce=", "-v=0"}});
    size_.start_seconds = std::chrono::duration<double>(WaitCounted("q") - began).count();
    size_.start_cpu = CpuOfProcess(daemon_->pid()).count() / 1e6;
  }

  // Sends an unchanged event of the quota, which causes a recount without a write.
  void MeasureRecounts() {
    const double sum = Total("quota_reconcile_duration_seconds_sum");
    const double count = Total("quota_reconcile_duration_seconds_count");
    for (int i = 0; i < kTimesLooked; ++i) {
      cluster_.PutQuota("q", Spec());
      Rest(std::chrono::milliseconds(50));
    }
    size_.recount_ms = 1000 * (Total("quota_reconcile_duration_seconds_sum") - sum) /
                       (Total("quota_reconcile_duration_seconds_count") - count);
  }
  double Total(const std::string& metric) { return daemon_->Metric(metric).value_or(0); }

  void MeasureNewQuota() {
    const auto sent = cluster_.PutQuota("another", Spec());
    size_.new_quota_ms =
        std::chrono::duration<double, std::milli>(WaitCounted("another") - sent).count();
  }

  void MeasureEvents() {
    const Micros before = CpuOfProcess(daemon_->pid());
    cluster_.SendEvents("pods", Events(namespaces_, size_.pods));
    size_.event_micros = (CpuOfProcess(daemon_->pid()) - before).count() / kEvents;
  }

  int namespaces_;
  PaperCluster cluster_;
  std::unique_ptr<e2e::Daemon> daemon_;
  SizeOfQuota size_;
};

void PrintSize(const char* what, const SizeOfQuota& size, bool judged) {
  std::printf(
      "| %s | %d | %.1f | %.2f | %.2f | %s | %s | %.1f |\n", what, size.pods, size.megabytes,
      size.start_seconds, size.start_cpu,
      (judged ? AtMost(size.event_micros, kMostEventMicros) : Plain(size.event_micros)).c_str(),
      (judged ? AtMost(size.recount_ms, kMostRecount, 3) : Plain(size.recount_ms, 3)).c_str(),
      size.new_quota_ms);
  std::fflush(stdout);
}

}  // namespace

void AskGroups(const Scale& scale) {
  std::printf(
      "\nOne ClusterQuota over %d namespaces, beside one ResourceQuota of one namespace with as "
      "many pods, on a server that makes the objects up; %d events, each of which changes what is "
      "used:\n\n"
      "| quota | pods | resident MB | start → counted, s | CPU until counted, s | CPU an event, µs "
      "| a recount, ms | a second quota → counted, ms |\n|---|---|---|---|---|---|---|---|\n",
      kNamespaces, kEvents);
  std::vector<double> more;  // megabytes
  std::vector<int> pods{kFewPods};
  if (scale.most_objects > kFewPods) pods.push_back(scale.most_objects);
  for (const int many : pods) {
    std::cerr << "groups: " << many << " pods ...\n";
    const SizeOfQuota one = OneQuota(0, many).Measure();
    PrintSize("ResourceQuota", one, false);
    const SizeOfQuota all = OneQuota(kNamespaces, many).Measure();
    PrintSize("ClusterQuota", all, true);
    more.push_back(all.megabytes - one.megabytes);
  }
  const double each = (more.back() - more.front()) * 1e6 / (pods.back() - pods.front());
  if (pods.size() > 1) {
    std::printf("\nBeyond the first %d, a pod needs %s bytes more than under the ResourceQuota.\n",
                kFewPods, AtMost(each, kMostMoreBytes).c_str());
  }
  std::fflush(stdout);
}

}  // namespace bench
