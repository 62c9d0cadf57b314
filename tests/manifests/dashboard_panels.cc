#include "tests/manifests/dashboard_panels.h"

#include <regex>

#include "tests/e2e/harness/api.h"
#include "tests/e2e/harness/files.h"

namespace e2e {
namespace {

std::string Filled(const std::string& expression, const std::string& rate_interval) {
  static const std::regex rate(R"(\$__rate_interval)");
  static const std::regex variable(R"(\$[a-z]+)");
  return std::regex_replace(std::regex_replace(expression, rate, rate_interval), variable, ".*");
}

}  // namespace

std::vector<DashboardPanel> DashboardPanels(const std::string& path,
                                            const std::string& rate_interval) {
  const json::Value dashboard = Json(ReadFile(path));
  std::vector<DashboardPanel> panels;
  std::string row;
  for (const json::Value& panel : *dashboard.At({"panels"})->AsArray()) {
    const std::string title(panel.StringAt({"title"}));
    if (panel.StringAt({"type"}) == "row") {
      row = title;
      continue;
    }
    DashboardPanel made{.row = row,
                        .title = title,
                        .unit = std::string(panel.StringAt({"fieldConfig", "defaults", "unit"})),
                        .queries = {}};
    for (const json::Value& query : *panel.At({"targets"})->AsArray()) {
      made.queries.push_back(
          {.expression = Filled(std::string(query.StringAt({"expr"})), rate_interval),
           .legend = std::string(query.StringAt({"legendFormat"}))});
    }
    panels.push_back(std::move(made));
  }
  return panels;
}

}  // namespace e2e
