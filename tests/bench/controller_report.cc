#include "tests/bench/controller_report.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "tests/bench/svg_plot.h"
#include "tests/bench/verdict.h"

namespace bench {
namespace {

constexpr double kMostDeleteMs = 20;
constexpr double kMostDeleteRatio = 1.5;  // largest size relative to the smallest
constexpr double kMostDeleteCpuMs = 3;
constexpr double kMostStartRatio = 1.2;  // relative to the bare client
constexpr double kMostStartCpu = 1;      // seconds
constexpr int kStartSize = 30'000;       // the size at which starts are judged, minus deleted pods
constexpr double kMostMegabytes = 45;

double MedianOf(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

double MostOf(const std::vector<double>& values) {
  return values.empty() ? 0 : *std::max_element(values.begin(), values.end());
}

std::vector<Measured> Only(const std::vector<Measured>& rows, Contender contender) {
  std::vector<Measured> kept;
  for (const Measured& row : rows) {
    if (row.contender == contender && row.pods > 0) kept.push_back(row);
  }
  return kept;
}

std::string Plain(double value, int digits) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

std::string Beside(double peer, double own) {
  return Plain(peer, 1) + " (" + Plain(peer / std::max(0.01, own), 0) + " times)";
}

void PrintTarget(const Measured& row, const Measured* peer) {
  const double ms = MedianOf(row.delete_ms);
  const double start = MedianOf(row.seconds_to_counted);
  const double bare = MedianOf(row.bare_seconds);
  const double cpu = MedianOf(row.cpu_to_counted);
  const bool judged = row.pods <= kStartSize && row.pods > kStartSize * 9 / 10;
  const auto of_start = [&](double value, double target) {
    return judged ? AtMost(value, target, 2) : Plain(value, 2);
  };
  std::printf(
      "| %d | %s | %s | %s | %s | %s | %.2f | %.2f | %s | %s |\n", row.pods,
      AtMost(row.resident_mb, kMostMegabytes).c_str(), AtMost(ms, kMostDeleteMs).c_str(),
      peer != nullptr ? Beside(MedianOf(peer->delete_ms), ms).c_str() : "–",
      AtMost(row.cpu_ms_per_delete, kMostDeleteCpuMs).c_str(),
      peer != nullptr ? Beside(peer->cpu_ms_per_delete, row.cpu_ms_per_delete).c_str() : "–", start,
      bare, of_start(start / bare, kMostStartRatio).c_str(), of_start(cpu, kMostStartCpu).c_str());
}

}  // namespace

void PrintRows(const std::vector<Measured>& rows) {
  std::printf(
      "| pods | controller | resident MB | start → counted, s | CPU until counted, s | "
      "DELETE → status.used, median ms | slowest of %d, ms | CPU per deletion, ms |\n"
      "|---|---|---|---|---|---|---|---|\n",
      kDeletions);
  for (const auto& row : rows) {
    std::printf("| %d | %s | %.1f | %.2f | %.2f |", row.pods, NameOf(row.contender).c_str(),
                row.resident_mb, MedianOf(row.seconds_to_counted), MedianOf(row.cpu_to_counted));
    if (row.delete_ms.empty()) {
      std::printf(" – | – | – |\n");
    } else {
      std::printf(" %.1f | %.1f | %.1f |\n", MedianOf(row.delete_ms), MostOf(row.delete_ms),
                  row.cpu_ms_per_delete);
    }
  }
  // See accounting::kCatchesUp.
  std::printf(
      "\nThe slowest deletion of %s is the first one, if the first list took more than a second: "
      "for three seconds after that list no usage is lowered, on purpose, because the watch may "
      "not have shown yet what was admitted during the list.\n",
      NameOf(Contender::kDaemon).c_str());
  std::fflush(stdout);
}

void PrintTargets(const std::vector<Measured>& rows) {
  const std::vector<Measured> ours = Only(rows, Contender::kDaemon);
  const std::vector<Measured> peers = Only(rows, Contender::kBuiltin);
  if (ours.empty()) return;
  std::printf(
      "\nThe daemon and its targets; medians of %d deletions and of %d starts:\n\n"
      "| pods | resident MB | DELETE → status.used, ms | kube-controller-manager | CPU per "
      "deletion, ms | kube-controller-manager | start → counted, s | a bare client's download of "
      "that list, s | ratio | CPU until counted, s |\n"
      "|---|---|---|---|---|---|---|---|---|---|\n",
      kDeletions, kStarts);
  double least = MedianOf(ours.front().delete_ms);
  double most = least;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    PrintTarget(ours[i], i < peers.size() ? &peers[i] : nullptr);
    least = std::min(least, MedianOf(ours[i].delete_ms));
    most = std::max(most, MedianOf(ours[i].delete_ms));
  }
  std::printf("\nThe largest of these medians of DELETE → status.used is %s times the smallest.\n",
              AtMost(most / least, kMostDeleteRatio, 2).c_str());
  std::fflush(stdout);
}

void DrawRows(const std::vector<Measured>& rows, const std::string& folder) {
  Plot plot{.title = "quota-controller-manager beside kube-controller-manager",
            .subtitle =
                "one namespace, one quota of seven names, one kube-apiserver, one after "
                "the other",
            .panels = {},
            .marks = {},
            .x_title = "pods in the namespace",
            .log_x = true};
  const auto add = [&](const char* title, const char* unit, auto value) {
    Panel panel{.title = title, .unit = unit, .curves = {}};
    for (const auto& [contender, color] :
         {std::pair(Contender::kDaemon, "#1f77b4"), std::pair(Contender::kBuiltin, "#d62728")}) {
      Curve curve{.name = NameOf(contender), .color = color, .points = {}};
      for (const Measured& row : Only(rows, contender)) {
        curve.points.emplace_back(row.pods, value(row));
      }
      panel.curves.push_back(std::move(curve));
    }
    plot.panels.push_back(std::move(panel));
  };
  add("resident memory", "MB", [](const Measured& row) { return row.resident_mb; });
  add("DELETE → status.used, median", "ms",
      [](const Measured& row) { return MedianOf(row.delete_ms); });
  add("CPU per deletion", "ms", [](const Measured& row) { return row.cpu_ms_per_delete; });
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/controller.svg") << ToSvg(plot);
}

}  // namespace bench
