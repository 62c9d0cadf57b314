// Very many watch events at once: what happens to memory, and to requests that wait for admission?

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <thread>
#include <vector>

#include "pkg/base/scheduler.h"
#include "pkg/base/task_group.h"
#include "pkg/http/client.h"
#include "pkg/quantity/quantity.h"
#include "tests/bench/cpu_time.h"
#include "tests/bench/paper_cluster.h"
#include "tests/bench/scale_questions.h"
#include "tests/bench/verdict.h"
#include "tests/e2e/harness/api.h"
#include "tests/e2e/harness/files.h"
#include "tests/e2e/harness/process.h"
#include "tests/e2e/harness/sockets.h"
#include "tests/e2e/harness/wait.h"
#include "tests/pkg/admission/sample_reviews.h"

namespace bench {
namespace {

using std::chrono::steady_clock;
using Millis = std::chrono::duration<double, std::milli>;

constexpr int kPods = 10'000;
constexpr int kEventsAPiece = 16;
constexpr double kMostStallMs = 10;
constexpr double kMostMoreMegabytes = 20;

// Asks for one admission after another, each a few milliseconds after the last, on its own thread,
// until it is destroyed.
class Asker {
 public:
  explicit Asker(const std::string& url) {
    http::ClientOptions options;
    options.server = http::ParseUrl(url).value();
    options.tls.insecure = true;
    options.gzip = false;
    client_ = http::NewClient(io_.get_executor(), options).value();
    tasks_.Spawn("asker", [this] { return Ask(); });
    thread_ = std::thread([this] { io_.run(); });
  }
  ~Asker() {
    stop_ = true;
    thread_.join();
  }

  // Milliseconds of all requests since the last call; sorted.
  std::vector<double> TakeTimes() {
    const std::lock_guard lock(mutex_);
    std::vector<double> times = std::exchange(times_, {});
    std::sort(times.begin(), times.end());
    return times;
  }
  [[nodiscard]] int refused() const { return refused_; }

 private:
  base::Task<void> Ask() {
    while (!stop_) {
      http::Request request;
      request.method = "POST";
      request.target = "/validate/core?timeout=10s";
      request.headers = {{"Accept", "application/json"}, {"Content-Type", "application/json"}};
      // A dry run, because the server is busy sending, and a status write would wait for it.
      request.body = admission::test::ReviewText({.dry_run = true});
      const auto began = steady_clock::now();
      const auto answer = co_await client_->Do(std::move(request), std::chrono::seconds(10));
      const bool allowed = answer && answer->body.find("\"allowed\":true") != std::string::npos;
      if (allowed) {
        const std::lock_guard lock(mutex_);
        times_.push_back(Millis(steady_clock::now() - began).count());
      } else {
        ++refused_;
      }
      co_await scheduler_.Sleep(std::chrono::milliseconds(2));
    }
    client_->CloseIdle();
  }

  base::asio::io_context io_{1};
  base::RealScheduler scheduler_{io_.get_executor()};
  std::unique_ptr<http::Client> client_;
  base::TaskGroup tasks_{io_.get_executor()};
  std::mutex mutex_;
  std::vector<double> times_;  // guarded by mutex_
  std::atomic<int> refused_{0};
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

// The highest resident memory so far, in megabytes.
double PeakMegabytes(int pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("VmHWM:", 0) == 0) return std::stod(line.substr(6)) * 1024 / 1e6;
  }
  return 0;
}

void ForgetPeak(int pid) { std::ofstream("/proc/" + std::to_string(pid) + "/clear_refs") << "5"; }

std::unique_ptr<e2e::Process> StartEnforcing(const PaperCluster& cluster, const std::string& folder,
                                             const std::string& address) {
  return std::make_unique<e2e::Process>(e2e::ProcessOptions{
      .argv = {e2e::BuiltProgram("quota-controller-manager"),
               "--kubeconfig=" + cluster.Kubeconfig(), "--leader-elect=false",
               "--metrics-bind-address=", "--health-probe-bind-address=", "--quota-apis=core",
               "--enforce=core", "--admission-bind-address=" + address,
               "--admission-url=https://" + address, "--manage-webhook=false"},
      .log_path = folder + "/daemon.log"});
}

PaperCluster::Source EventSource(int events) {
  return [events, next = 0]() mutable {
    std::string bytes;
    for (const int end = std::min(events, next + kEventsAPiece); next < end; ++next) {
      bytes += PaperPodEvent("MODIFIED", next % kPods, 1 + next);
    }
    return bytes;
  };
}

double At(const std::vector<double>& sorted, double share) {
  if (sorted.empty()) return 0;
  return sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1))];
}

}  // namespace

void AskBurst(const Scale& scale) {
  std::cerr << "burst: " << scale.events << " events ...\n";
  PaperCluster cluster(kPods, 0);
  cluster.PutQuota("q", e2e::Json(R"({"hard":{"pods":"10M","requests.cpu":"10M"}})"));
  const e2e::TempDir folder;
  const std::string address = "127.0.0.1:" + std::to_string(e2e::FreePort());
  const auto daemon = StartEnforcing(cluster, folder.path(), address);
  const auto all = quantity::Quantity::FromInt(kPods).ToString();
  if (!cluster.WaitForUsed("q", "pods", all, std::chrono::minutes(1))) {
    throw std::runtime_error("nothing was counted:\n" +
                             e2e::ReadFile(folder.path() + "/daemon.log"));
  }
  Asker asker("https://" + address);
  (void)e2e::PollUntil([] { return false; }, std::chrono::seconds(20));  // the heap is trimmed
  const std::vector<double> quiet = asker.TakeTimes();
  const double before = static_cast<double>(e2e::UsageOf(daemon->pid()).resident_bytes) / 1e6;
  ForgetPeak(daemon->pid());
  const Micros cpu = CpuOfProcess(daemon->pid());
  const auto began = steady_clock::now();
  cluster.SendEvents("pods", EventSource(scale.events));
  const std::chrono::duration<double> took = steady_clock::now() - began;
  const std::vector<double> busy = asker.TakeTimes();
  const double cpu_each = (CpuOfProcess(daemon->pid()) - cpu).count() / scale.events;
  const double more = PeakMegabytes(daemon->pid()) - before;
  std::printf(
      "\n%d watch events of pods of 5 kB at once, each of which changes what is used, while one "
      "client asks for admissions one after another:\n\n"
      "| | |\n|---|---|\n"
      "| events taken a second | %.0f |\n"
      "| CPU an event, admission and status writes included, µs | %.1f |\n"
      "| resident before, MB; most beyond that during the burst, MB | %.1f; %s |\n"
      "| a review without load: median, p99, slowest of %zu, ms | %.2f, %.2f, %.2f |\n"
      "| a review during the burst: median, p99, slowest of %zu, ms | %.2f, %.2f, %s |\n"
      "| reviews not answered | %d |\n",
      scale.events, scale.events / took.count(), cpu_each, before,
      AtMost(more, kMostMoreMegabytes).c_str(), quiet.size(), At(quiet, 0.5), At(quiet, 0.99),
      At(quiet, 1), busy.size(), At(busy, 0.5), At(busy, 0.99),
      AtMost(At(busy, 1), kMostStallMs).c_str(), asker.refused());
  std::fflush(stdout);
}

}  // namespace bench
