// The dashboard on live data: a real Prometheus scrapes a daemon while the quickstart's stories are
// told, and is then asked every query of every panel. Needs QCM_PROMETHEUS. QCM_PICTURES=FOLDER
// also draws there what the queries give.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <stdexcept>
#include <thread>

#include "tests/bench/svg_plot.h"
#include "tests/e2e/harness/admission.h"
#include "tests/e2e/harness/cluster_quotas.h"
#include "tests/e2e/harness/proxy.h"
#include "tests/manifests/dashboard_panels.h"
#include "tests/manifests/live_prometheus.h"
#include "tests/source_dir.h"

namespace e2e::dashboard_test {
namespace {

const std::string kSource = tests::SourcePath("/");
const std::string kDashboard = kSource + "manifests/dashboard/quota-controller-manager.json";

double Now() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

void RunStory(const std::string& kubeconfig, const std::vector<std::string>& arguments) {
  ProcessOptions program;
  program.argv = {BuiltProgram("quickstart-story"), "--kubeconfig=" + kubeconfig, "--keep"};
  program.argv.insert(program.argv.end(), arguments.begin(), arguments.end());
  const auto result = RunProgram(program, Stretched(60s));
  if (result.exit_code != 0) throw std::runtime_error(arguments.front() + ":\n" + result.output);
}

// What the queries of one panel gave.
struct Answers {
  DashboardPanel panel;
  std::vector<std::vector<Series>> series;  // by query
};

// "{{quota_api}} p50" with the labels filled in; without a legend all labels.
std::string NameOf(const PanelQuery& query, const Series& series) {
  std::string name = query.legend;
  for (const auto& [label, value] : series.labels) {
    const std::string place = "{{" + label + "}}";
    if (query.legend.empty()) name.append(name.empty() ? "" : " ").append(value);
    for (auto at = name.find(place); at != std::string::npos; at = name.find(place)) {
      name.replace(at, place.size(), value);
    }
  }
  return name;
}

// How to draw a panel's values: the unit, the factor from Grafana's unit, and the unit for values
// that are all below a thousandth.
struct Drawing {
  std::string unit;
  double factor;
  std::string small_unit;
};

Drawing DrawingOf(const std::string& unit) {
  static const std::map<std::string, Drawing> drawings{{"s", {"ms", 1e3, "µs"}},
                                                       {"percentunit", {"%", 100, ""}},
                                                       {"bytes", {"MB", 1e-6, "kB"}},
                                                       {"reqps", {"a second", 1, "in 1000 s"}},
                                                       {"ops", {"a second", 1, "in 1000 s"}},
                                                       {"wps", {"a second", 1, "in 1000 s"}}};
  const auto found = drawings.find(unit);
  return found == drawings.end() ? Drawing{"count", 1, "thousandths"} : found->second;
}

double Greatest(const bench::Curve& curve) {
  double greatest = 0;
  for (const auto& [time, value] : curve.points) greatest = std::max(greatest, value);
  return greatest;
}

// Keeps the curves with the greatest values whose names fit into the legend.
void KeepGreatest(std::vector<bench::Curve>& curves) {
  constexpr std::array kColors{"#1f77b4", "#d62728", "#2ca02c", "#ff9f40", "#9467bd", "#8c564b"};
  constexpr std::size_t kLetters = 80;
  std::ranges::stable_sort(curves, [](const bench::Curve& one, const bench::Curve& other) {
    return Greatest(one) > Greatest(other);
  });
  std::size_t kept = 0;
  for (std::size_t letters = 0; kept < std::min(curves.size(), kColors.size()); ++kept) {
    letters += curves[kept].name.size() + 2;
    if (kept > 0 && letters > kLetters) break;
    curves[kept].color = kColors[kept];
  }
  curves.resize(kept);
}

bench::Panel Drawn(const Answers& answers, double begin) {
  const Drawing drawing = DrawingOf(answers.panel.unit);
  bench::Panel panel{.title = answers.panel.title, .unit = drawing.unit, .curves = {}};
  double greatest = 0;
  for (std::size_t i = 0; i < answers.series.size(); ++i) {
    for (const Series& series : answers.series[i]) {
      bench::Curve curve{
          .name = NameOf(answers.panel.queries[i], series), .color = {}, .points = {}};
      for (const auto& [time, value] : series.points) {
        curve.points.emplace_back(time - begin, value * drawing.factor);
      }
      greatest = std::max(greatest, Greatest(curve));
      panel.curves.push_back(std::move(curve));
    }
  }
  if (greatest > 0 && greatest < 1 && !drawing.small_unit.empty()) {
    panel.unit = drawing.small_unit;
    for (bench::Curve& curve : panel.curves) {
      for (auto& [time, value] : curve.points) value *= 1000;
    }
  }
  KeepGreatest(panel.curves);
  return panel;
}

bool ShowsMoreThanZero(const std::vector<Series>& series) {
  return std::ranges::any_of(series, [](const Series& one) {
    return std::ranges::any_of(one.points, [](const auto& point) { return point.second > 0; });
  });
}

// One file for each row of the dashboard, named for it.
void Draw(const std::vector<Answers>& all, double begin, const std::string& folder) {
  std::map<std::string, bench::Plot> plots;
  for (const Answers& answers : all) {
    bench::Panel panel = Drawn(answers, begin);
    if (panel.curves.empty() || answers.panel.row == "Now") continue;  // numbers, not curves
    plots[answers.panel.row].panels.push_back(std::move(panel));
  }
  for (auto& [row, plot] : plots) {
    plot.title = "Dashboard, row " + row;
    plot.subtitle = "asked of a Prometheus that scrapes a daemon during the quickstart's stories";
    plot.x_title = "seconds";
    std::string name = row;
    name.front() = static_cast<char>(name.front() - 'A' + 'a');
    std::string path = folder;
    path.append("/dashboard-").append(name).append(".svg");
    std::ofstream(path) << bench::ToSvg(plot);
  }
}

}  // namespace

TEST_CASE("every panel of the dashboard shows data after the quickstart's stories", "[dashboard]") {
  const char* prometheus_program = std::getenv("QCM_PROMETHEUS");
  if (prometheus_program == nullptr) throw std::runtime_error("the test needs QCM_PROMETHEUS");
  const auto server = StartServer();
  const std::string kubeconfig = server->Kubeconfig();
  for (const auto& file : std::filesystem::directory_iterator(kSource + "tests/e2e/ironcore")) {
    if (file.path().string().ends_with("-crd.yaml")) {
      RunStory(kubeconfig, {"--define=" + file.path().string()});
    }
  }
  // A limit in mode Warn, which the first story exceeds.
  RunStory(kubeconfig, {"--define=" + kSource + "manifests/crds/clusterquota-crd.yaml"});
  Api api(kubeconfig);
  api.Create(ClusterQuotas::Path(), ClusterQuotas::Quota("trial", Json(R"({"hard": {"pods": "1"},
      "namespaceSelector": {}, "enforcement": "Warn"})")));
  const TempDir dir;
  CertificateAuthority authority(dir.path(), "authority");
  const KeyPair pair = authority.Server("webhook");
  dir.Write("tls.crt", ReadFile(pair.cert_path));
  dir.Write("tls.key", ReadFile(pair.key_path));
  dir.Write("ca.crt", ReadFile(authority.cert_path()));
  const std::string address = "127.0.0.1:" + std::to_string(FreePort());
  Daemon daemon(
      {.kubeconfig = kubeconfig,
       .resync_period = "2s",
       .more_flags = {"--enforce=core,ironcore,cluster", "--leader-elect=true",
                      "--metrics-secure=true", "--admission-bind-address=" + address,
                      "--admission-url=https://" + address, "--admission-cert-dir=" + dir.path()}});
  daemon.WaitUntilReady();
  LivePrometheus prometheus(prometheus_program, {.port = daemon.metrics_port(),
                                                 .ca_path = authority.cert_path(),
                                                 .server_name = "127.0.0.1",
                                                 .token = server->Fields().token});
  Eventually("the daemon is scraped", [&] { return prometheus.Trouble(); });

  const double begin = Now();
  RunStory(kubeconfig, {"--story=core", "--namespace=team-core"});
  RunStory(kubeconfig, {"--story=ironcore", "--namespace=team-ironcore"});
  // Admitted, and then not stored, because the name is taken: its usage stays reserved for a while.
  const json::Value twice = Pod("twice", {{"cpu", "100m"}, {"memory", "64Mi"}});
  api.Create(PathOf("pods", "team-core"), twice);
  CHECK(ToAttempt(api.Do(PostOf(PathOf("pods", "team-core"), twice))).reason == "AlreadyExists");
  const char* pictures = std::getenv("QCM_PICTURES");
  // One round of the stories takes two seconds, which is too short for a picture.
  for (int i = 0; pictures != nullptr && i < 10; ++i) {
    std::this_thread::sleep_for(4s);
    RunStory(kubeconfig, {"--story=core", "--namespace=team-" + std::to_string(i)});
  }
  const auto panels = DashboardPanels(kDashboard, LivePrometheus::kRateInterval);
  CHECK(panels.size() > 20);

  // These have nothing to show as long as all is well; manifests/monitoring/README.md says so, too.
  const std::map<std::string, std::string> quiet{
      {"Quotas reported stale", "no quota was told that a kind cannot be counted"}};
  // These happen once or twice here. They must be visible, although their series begin then.
  const std::set<std::string> rare{"Requests that quotas refused",
                                   "Requests that quotas on trial would refuse",
                                   "Usage reserved as a share of the limit"};
  const std::string readme = ReadFile(kSource + "manifests/monitoring/README.md");
  std::vector<Answers> all;
  const auto unanswered = [&] {
    std::string missing;
    all.clear();
    const double end = Now();
    for (const DashboardPanel& panel : panels) {
      Answers answers{.panel = panel, .series = {}};
      for (const PanelQuery& query : panel.queries) {
        answers.series.push_back(prometheus.Range(query.expression, begin, end));
        const bool expected = !quiet.contains(panel.title);
        if (answers.series.back().empty() == expected) {
          missing.append("\n").append(panel.title).append(": ").append(query.expression);
        }
        if (rare.contains(panel.title) && !ShowsMoreThanZero(answers.series.back())) {
          missing.append("\nonly zeros: ").append(panel.title);
        }
      }
      all.push_back(std::move(answers));
    }
    return missing;
  };
  Eventually("every query is answered", unanswered);
  for (const auto& [title, reason] : quiet) {
    std::string line = "| ";
    line.append(title).append(" | ").append(reason);
    INFO(line);
    CHECK(readme.find(line) != std::string::npos);
  }
  if (pictures != nullptr) Draw(all, begin, pictures);
}

TEST_CASE("the dashboard counts once what every replica exports, and for each cluster",
          "[dashboard]") {
  const std::set<std::string> same{"quota_quotas", "quota_tracked_objects", "quota_stale_quotas",
                                   "quota_reservations"};
  std::set<std::string> found;
  for (const DashboardPanel& panel : DashboardPanels(kDashboard, LivePrometheus::kRateInterval)) {
    for (const PanelQuery& query : panel.queries) {
      for (const std::string& metric : same) {
        const std::size_t at = query.expression.find("(" + metric + "{");
        if (at == std::string::npos) continue;
        found.insert(metric);
        INFO(panel.title << ": " << query.expression);
        CHECK(query.expression.starts_with("sum by ("));
        CHECK(query.expression.substr(0, at).find("(max by (cluster, ") != std::string::npos);
      }
    }
  }
  CHECK(found == same);
}

}  // namespace e2e::dashboard_test
