#include "tests/manifests/live_prometheus.h"

#include <cmath>
#include <cstdlib>
#include <stdexcept>

#include "pkg/http/message.h"
#include "tests/e2e/harness/api.h"
#include "tests/e2e/harness/daemon.h"
#include "tests/e2e/harness/proxy.h"
#include "tests/e2e/harness/wait.h"

namespace e2e {
namespace {

std::string Configuration(const ScrapeTarget& target) {
  return "global: {scrape_interval: 1s, scrape_timeout: 1s}\n"
         "scrape_configs:\n"
         "- job_name: quota-controller-manager\n"
         "  honor_labels: true\n"
         "  scheme: https\n"
         "  authorization: {credentials: '" +
         target.token +
         "'}\n"
         "  tls_config: {ca_file: '" +
         target.ca_path + "', server_name: '" + target.server_name +
         "'}\n"
         "  static_configs:\n"
         "  - targets: ['127.0.0.1:" +
         std::to_string(target.port) +
         "']\n"
         "    labels: {namespace: quota-system, pod: quota-controller-manager-0,\n"
         "             service: quota-controller-manager-metrics, endpoint: metrics,\n"
         "             container: manager}\n";
}

Series ToSeries(const json::Value& result) {
  Series series;
  for (const auto& [name, value] : *result.At({"metric"})->AsObject()) {
    series.labels[name] = *value.AsString();
  }
  for (const json::Value& point : *result.At({"values"})->AsArray()) {
    const json::Array& pair = *point.AsArray();
    const double value = std::strtod(pair.at(1).AsString()->c_str(), nullptr);  // "NaN", "+Inf"
    if (std::isfinite(value)) series.points.emplace_back(pair.at(0).AsDouble().value_or(0), value);
  }
  return series;
}

}  // namespace

LivePrometheus::LivePrometheus(const std::string& program, const ScrapeTarget& target)
    : port_(FreePort()) {
  process_ = std::make_unique<Process>(ProcessOptions{
      .argv = {program, "--config.file=" + dir_.Write("prometheus.yaml", Configuration(target)),
               "--storage.tsdb.path=" + dir_.path() + "/data", "--log.level=warn",
               "--web.listen-address=127.0.0.1:" + std::to_string(port_)},
      .log_path = log_path_});
  Eventually("Prometheus is ready", [this]() -> std::string {
    if (!process_->Running()) {
      throw std::runtime_error("Prometheus ended:\n" + Tail(ReadFile(log_path_), 20));
    }
    return PlainGet(port_, "/-/ready").status == 200 ? "" : "not yet";
  });
}

json::Value LivePrometheus::Ask(const std::string& path) {
  const PlainAnswer answer = PlainGet(port_, path);
  if (answer.status == 200) return Json(answer.body);
  throw std::runtime_error(path + ": " + std::to_string(answer.status) + " " + answer.body);
}

std::vector<Series> LivePrometheus::Range(const std::string& query, double begin, double end) {
  const http::Query parameters{{"query", query},
                               {"start", std::to_string(begin)},
                               {"end", std::to_string(end)},
                               {"step", "1"}};
  const json::Value answer = Ask("/api/v1/query_range?" + http::EncodeQuery(parameters));
  std::vector<Series> all;
  for (const json::Value& result : *answer.At({"data", "result"})->AsArray()) {
    Series series = ToSeries(result);
    if (!series.points.empty()) all.push_back(std::move(series));
  }
  return all;
}

std::string LivePrometheus::Trouble() {
  const json::Value answer = Ask("/api/v1/targets");
  const json::Array& targets = *answer.At({"data", "activeTargets"})->AsArray();
  if (targets.empty()) return "no target yet";
  if (targets.front().StringAt({"health"}) == "up") return "";
  const std::string error(targets.front().StringAt({"lastError"}));
  return error.empty() ? "not scraped yet" : error;
}

}  // namespace e2e
