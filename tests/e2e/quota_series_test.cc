// quota_used and quota_hard: what dashboards and alerts see of a quota.
#include <catch2/catch.hpp>

#include "tests/e2e/harness/scenario.h"

namespace e2e::quota_series_test {
namespace {

// The value of one series of the scenario's namespace, as written; "" if there is none.
std::string Series(Scenario& s, const std::string& metric, const std::string& quota,
                   const std::string& resource = "") {
  std::string series = metric + "{namespace=\"" + s.ns();
  series.append("\",quota=\"").append(quota).append("\",quota_api=\"core\"");
  if (!resource.empty()) series.append(",resource=\"").append(resource).append("\"");
  const std::string text = s.daemon().MetricsText();
  const auto at = text.find(series + "} ");
  if (at == std::string::npos) return "";
  const auto begin = at + series.size() + 2;
  return text.substr(begin, text.find('\n', begin) - begin);
}

std::size_t CountOf(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

}  // namespace

TEST_CASE("metrics: limits and usage of a quota are series that end with the quota",
          "[e2e][metrics]") {
  Scenario s;
  s.StartDaemon();
  s.Create("resourcequotas", Quota("q", {{"configmaps", "10"}, {"requests.cpu", "1500m"}}));
  s.Create("configmaps", ConfigMap("one"));
  Eventually("the series show what is counted", [&]() -> std::string {
    const std::string used = Series(s, "quota_used", "q", "configmaps");
    return !used.empty() && used == s.Used("q")["configmaps"] && used != "0" ? ""
                                                                             : "used is " + used;
  });
  CHECK(Series(s, "quota_hard", "q", "configmaps") == "10");
  CHECK(Series(s, "quota_hard", "q", "requests.cpu") == "1.5");
  CHECK(Series(s, "quota_used", "q", "requests.cpu") == "0");
  CHECK(Series(s, "quota_alert_threshold_ratio", "q").empty());
  s.api().MergePatch(
      s.Path("resourcequotas", "q"),
      Json(
          R"({"metadata":{"annotations":{"quota-controller-manager.io/alert-threshold":"75%"}}})"));
  Eventually("the owner's threshold is a series", [&] {
    const std::string threshold = Series(s, "quota_alert_threshold_ratio", "q");
    return threshold == "0.75" ? std::string() : "it is '" + threshold + "'";
  });
  s.Delete("resourcequotas", "q");
  Eventually("no series of the quota is left", [&] {
    const std::string text = s.daemon().MetricsText();
    return text.find("\"" + s.ns() + "\"") == std::string::npos ? std::string() : text;
  });
}

TEST_CASE("metrics: the fullest quotas have series, and a metric counts those left out",
          "[e2e][metrics]") {
  Scenario s;
  s.Create("configmaps", ConfigMap("one"));
  for (int i = 0; i < 5; ++i) {
    s.Create("resourcequotas", Quota("q" + std::to_string(i),
                                     {{"configmaps", i == 4 ? "1" : "100"}, {"secrets", "10"}}));
  }
  Daemon& daemon = s.StartDaemon(DaemonOptions{.more_flags = {"--max-quota-series=6"}});
  for (int i = 0; i < 5; ++i) {
    Eventually("the quotas are counted", [&]() -> std::string {
      return s.Used("q" + std::to_string(i)).size() == 2 ? "" : "not yet";
    });
  }
  Eventually("all but six are left out", [&] {
    const auto omitted = daemon.Metric("quota_series_omitted").value_or(0);
    return omitted >= 14 ? std::string() : std::to_string(omitted);
  });
  const std::string text = daemon.MetricsText();
  CHECK(CountOf(text, "\nquota_used{") + CountOf(text, "\nquota_hard{") == 6);
  // The quotas that are exported are not the first ones by name.
  CHECK(Series(s, "quota_hard", "q4", "configmaps") == "1");
  CHECK(Series(s, "quota_hard", "q3", "configmaps").empty());
  CHECK(CountOf(daemon.Log(), "metrics of quotas are omitted") == 1);
}

}  // namespace e2e::quota_series_test
