#include "pkg/inspect/top_view.h"

#include <catch2/catch.hpp>

namespace top_view_test {

using inspect::UsageLine;

std::vector<UsageLine> Lines() {
  const auto amount = [](const char* text) { return *quota::Quantity::Parse(text); };
  return {{.kind = "",
           .quota = {"team-a", "compute"},
           .name = "requests.cpu",
           .hard = amount("4"),
           .used = amount("4")},
          {.kind = "",
           .quota = {"team-a", "compute"},
           .name = "requests.memory",
           .hard = amount("8Gi"),
           .used = amount("1536Mi")},
          {.kind = "karmadaquota.policy.karmada.io",
           .quota = {"team-b", "all"},
           .name = "pods",
           .hard = amount("20"),
           .scopes = "PriorityClass",
           .stale = true}};
}

TEST_CASE("top: each quota and name has a line", "[inspect]") {
  CHECK(
      inspect::PrintTable(inspect::TopTable(Lines(), {.unicode = false}), {}) ==
      "QUOTA                                RESOURCE          USED/HARD    USED%   FREE     FULL\n"
      "compute                              requests.cpu      4/4          100%    0        "
      "##########\n"
      "compute                              requests.memory   1536Mi/8Gi   18%     6656Mi   "
      "#.........\n"
      "karmadaquota.policy.karmada.io/all   pods              -/20         -       -        "
      "..........\n");
}

TEST_CASE("top: wide adds scopes and state, and -A adds a column", "[inspect]") {
  auto lines = Lines();
  lines.erase(lines.begin());
  CHECK(inspect::PrintTable(
            inspect::TopTable(lines, {.namespaces = true, .wide = true, .unicode = true}), {}) ==
        "NAMESPACE   QUOTA                                RESOURCE          USED/HARD    USED%   "
        "FREE     FULL         SCOPES          STATE\n"
        "team-a      compute                              requests.memory   1536Mi/8Gi   18%     "
        "6656Mi   █░░░░░░░░░   <none>\n"
        "team-b      karmadaquota.policy.karmada.io/all   pods              -/20         -       "
        "-        ░░░░░░░░░░   PriorityClass   not counted yet\n");
}

TEST_CASE("top: csv has plain numbers", "[inspect]") {
  auto lines = Lines();
  lines[0].used = *quota::Quantity::Parse("500m");
  CHECK(inspect::PrintCsv(inspect::TopSheet(lines), true) ==
        "namespace,quota,resource,used,hard,free,ratio\r\n"
        "team-a,compute,requests.cpu,0.5,4,3.5,0.1250\r\n"
        "team-a,compute,requests.memory,1610612736,8589934592,6979321856,0.1875\r\n"
        "team-b,karmadaquota.policy.karmada.io/all,pods,,20,,\r\n");
}

TEST_CASE("top: the document has every known field", "[inspect]") {
  CHECK(json::Write(inspect::TopValue(Lines())) ==
        R"({"apiVersion":"cli.quota-controller-manager.io/v1alpha1",)"
        R"("kind":"QuotaUsageList","items":[)"
        R"({"namespace":"team-a","quota":"compute","resource":"requests.cpu","hard":"4",)"
        R"("used":"4","free":"0","ratio":1.0000},)"
        R"({"namespace":"team-a","quota":"compute","resource":"requests.memory","hard":"8Gi",)"
        R"("used":"1536Mi","free":"6656Mi","ratio":0.1875},)"
        R"({"namespace":"team-b","quota":"karmadaquota.policy.karmada.io/all",)"
        R"("resource":"pods","hard":"20","scopes":"PriorityClass","stale":true}]})");
}

}  // namespace top_view_test
