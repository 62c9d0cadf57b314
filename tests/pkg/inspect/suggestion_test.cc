#include "pkg/inspect/suggestion.h"

#include <catch2/catch.hpp>

namespace suggestion_test {

TEST_CASE("suggestion: numbers are rounded up to round ones", "[inspect]") {
  struct Row {
    const char* name;
    const char* used;
    const char* suggested;
  };
  const Row row =
      GENERATE(Row{"pods", "5", "6"}, Row{"pods", "6", "8"}, Row{"requests.cpu", "1250m", "1500m"},
               Row{"limits.cpu", "14", "17"}, Row{"requests.memory", "1Gi", "1280Mi"},
               Row{"requests.memory", "40Gi", "48Gi"}, Row{"requests.storage", "1", "64Mi"},
               Row{"requests.memory", "1G", "1152Mi"}, Row{"pods", "0", "0"});
  INFO(row.name << " " << row.used);
  CHECK(inspect::WithHeadroom(row.name, *quota::Quantity::Parse(row.used), 20).ToString() ==
        row.suggested);
}

TEST_CASE("suggestion: the headroom is a share of the usage", "[inspect]") {
  CHECK(*inspect::ParseHeadroom("20%") == 20);
  CHECK(*inspect::ParseHeadroom("0.2") == 20);
  CHECK(*inspect::ParseHeadroom("0") == 0);
  for (const char* wrong : {"", "%", "much", "-1%", "1001%", "2 0%"}) {
    INFO(wrong);
    CHECK_FALSE(inspect::ParseHeadroom(wrong).has_value());
  }
}

TEST_CASE("suggestion: the manifest limits the names in use", "[inspect]") {
  const auto amount = [](const char* text) { return *quota::Quantity::Parse(text); };
  CHECK(inspect::SuggestionText(
            "team-a",
            {{"pods", amount("5")}, {"requests.memory", amount("1Gi")}, {"secrets", amount("0")}},
            20) ==
        "# What is used now, and 20 % more:\n"
        "#   pods: 5\n"
        "#   requests.memory: 1Gi\n"
        "apiVersion: v1\n"
        "kind: ResourceQuota\n"
        "metadata:\n"
        "  name: suggested\n"
        "  namespace: team-a\n"
        "spec:\n"
        "  hard:\n"
        "    pods: \"6\"\n"
        "    requests.memory: 1280Mi\n");
}

}  // namespace suggestion_test
