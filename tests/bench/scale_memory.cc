// How much memory do 10³ … 10⁶ pods need, and 100 000 pods with as many other objects?

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <vector>

#include "pkg/quantity/quantity.h"
#include "tests/bench/contender.h"
#include "tests/bench/paper_cluster.h"
#include "tests/bench/scale_questions.h"
#include "tests/bench/svg_plot.h"
#include "tests/bench/verdict.h"
#include "tests/e2e/harness/api.h"
#include "tests/e2e/harness/files.h"
#include "tests/e2e/harness/wait.h"

namespace bench {
namespace {

using std::chrono::steady_clock;

constexpr double kMostMegabytes = 45;   // with 100 000 pods and as many others
constexpr double kMostBytesEach = 150;  // for each further object
// The daemon trims its heap every 15 s, after a list.
constexpr std::chrono::seconds kUntilTrimmed{17};

struct Point {
  int pods = 0;
  int others = 0;
  double megabytes = 0;
  double seconds_to_counted = 0;
  double cpu_to_counted = 0;
  [[nodiscard]] int objects() const { return pods + others; }
};

void MustBeCounted(PaperCluster& cluster, const std::string& name, int number) {
  const auto text = quantity::Quantity::FromInt(number).ToString();
  if (!cluster.WaitForUsed("q", name, text, std::chrono::minutes(5))) {
    throw std::runtime_error(name + " never became " + text);
  }
}

Point Measure(int pods, int others) {
  std::cerr << "memory: " << pods << " pods and " << others << " other objects ...\n";
  PaperCluster cluster(pods, others);
  json::Value spec =
      e2e::Json(R"({"hard":{"pods":"10M","cpu":"10M","memory":"10Pi","requests.cpu":"10M",)"
                R"("requests.memory":"10Pi","limits.cpu":"10M","limits.memory":"10Pi"}})");
  if (others > 0) {
    spec.Make({"hard", "secrets"}) = "10M";
    spec.Make({"hard", "configmaps"}) = "10M";
  }
  cluster.PutQuota("q", spec);
  const e2e::TempDir folder;
  const auto began = steady_clock::now();
  const auto daemon = Start(Contender::kDaemon, cluster.Kubeconfig(), folder.path());
  MustBeCounted(cluster, "pods", pods);
  if (others > 0) MustBeCounted(cluster, "secrets", others / 2);
  Point point{.pods = pods, .others = others};
  point.seconds_to_counted = std::chrono::duration<double>(steady_clock::now() - began).count();
  point.cpu_to_counted = e2e::UsageOf(daemon->pid()).cpu_seconds;
  (void)e2e::PollUntil([] { return false; }, kUntilTrimmed);
  point.megabytes = static_cast<double>(e2e::UsageOf(daemon->pid()).resident_bytes) / 1e6;
  return point;
}

void Print(const std::vector<Point>& points) {
  std::printf(
      "\nResident memory, on a server that makes the objects up as it lists them (pods of 5 kB and "
      "ten workloads in protobuf, of Secrets and ConfigMaps their metadata):\n\n"
      "| pods | others | resident MB | bytes for each object beyond the first %d | start → "
      "counted, "
      "s | CPU until counted, s |\n|---|---|---|---|---|---|\n",
      points.front().objects());
  for (const Point& point : points) {
    const int more = point.objects() - points.front().objects();
    const double each = more > 0 ? (point.megabytes - points.front().megabytes) * 1e6 / more : 0;
    const std::string megabytes = point.objects() == 200'000
                                      ? AtMost(point.megabytes, kMostMegabytes)
                                      : std::to_string(point.megabytes).substr(0, 5);
    std::printf("| %d | %d | %s | %s | %.2f | %.2f |\n", point.pods, point.others,
                megabytes.c_str(), more > 0 ? AtMost(each, kMostBytesEach, 0).c_str() : "–",
                point.seconds_to_counted, point.cpu_to_counted);
  }
  std::fflush(stdout);
}

void Draw(const std::vector<Point>& points, const std::string& folder) {
  Curve pods{.name = "pods", .color = "#1f77b4", .points = {}};
  Curve mixed{.name = "pods and as many others", .color = "#d62728", .points = {}, .dots = true};
  for (const Point& point : points) {
    (point.others > 0 ? mixed : pods).points.emplace_back(point.objects(), point.megabytes);
  }
  const Plot plot{.title = "quota-controller-manager: resident memory",
                  .subtitle = "when all objects were counted and the heap was trimmed",
                  .panels = {{.title = "resident", .unit = "MB", .curves = {pods, mixed}}},
                  .marks = {},
                  .x_title = "objects",
                  .log_x = true};
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/memory.svg") << ToSvg(plot);
}

}  // namespace

void AskMemoryOfObjects(const Scale& scale) {
  std::vector<Point> points;
  for (int pods = 1000; pods <= scale.most_objects; pods *= 10) {
    points.push_back(Measure(pods, 0));
    const int others = 100'000;
    if (pods == others) points.push_back(Measure(pods, others));
  }
  Print(points);
  if (!scale.out.empty()) Draw(points, scale.out);
}

}  // namespace bench
