#pragma once

// The panels of manifests/dashboard, with the variables of Grafana filled in: all jobs, all
// namespaces. Values.

#include <string>
#include <vector>

namespace e2e {

struct PanelQuery {
  std::string expression;
  std::string legend;  // "{{quota_api}} p50"; may be empty
};

struct DashboardPanel {
  std::string row;    // "Admission"
  std::string title;  // "Reviews"
  std::string unit;   // "s", "percentunit", "bytes", "short", …
  std::vector<PanelQuery> queries;
};

// Every panel with queries, in the order of the dashboard.
std::vector<DashboardPanel> DashboardPanels(const std::string& path,
                                            const std::string& rate_interval);

}  // namespace e2e
