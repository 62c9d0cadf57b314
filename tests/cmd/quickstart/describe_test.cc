#include "cmd/quickstart/describe.h"

#include <catch2/catch.hpp>

namespace quickstart::describe_test {
namespace {

std::string Describe(std::string_view quota) { return DescribeQuota(json::Parse(quota).value()); }

}  // namespace

TEST_CASE("describe: columns are as wide as kubectl's", "[quickstart]") {
  CHECK(Describe(R"({"metadata":{"name":"test-quota","namespace":"team-a"},"status":{
          "hard":{"requests.memory":"4Gi","pods":"10","limits.cpu":"4","requests.cpu":"2"},
          "used":{"limits.cpu":"1","pods":"2","requests.cpu":"600m","requests.memory":"1536Mi"}}})") ==
        "Name:            test-quota\n"
        "Namespace:       team-a\n"
        "Resource         Used    Hard\n"
        "--------         ----    ----\n"
        "limits.cpu       1       4\n"
        "pods             2       10\n"
        "requests.cpu     600m    2\n"
        "requests.memory  1536Mi  4Gi\n");
}

TEST_CASE("describe: a name that is not counted yet shows 0", "[quickstart]") {
  CHECK(Describe(R"({"metadata":{"name":"q","namespace":"n"},"status":{"hard":{"pods":"5"}}})") ==
        "Name:       q\n"
        "Namespace:  n\n"
        "Resource    Used  Hard\n"
        "--------    ----  ----\n"
        "pods        0     5\n");
}

TEST_CASE("describe: a quota without a status has no rows", "[quickstart]") {
  CHECK(Describe(R"({"metadata":{"name":"q","namespace":"n"},"spec":{"hard":{"pods":"5"}}})") ==
        "Name:       q\n"
        "Namespace:  n\n"
        "Resource    Used  Hard\n"
        "--------    ----  ----\n");
}

TEST_CASE("describe: used takes the notation of hard, rounded up", "[quickstart]") {
  const auto text = Describe(R"({"metadata":{"name":"q","namespace":"n"},
      "status":{"hard":{"memory":"1Ki"},"used":{"memory":"500m"}}})");
  CHECK(text.find("memory      1     1Ki\n") != std::string::npos);
}

TEST_CASE("list: a KarmadaQuota's columns are three spaces apart, as in kubectl", "[quickstart]") {
  const auto quota = json::Parse(R"({"metadata":{"name":"q"},
      "status":{"hard":{"cpu":"100"},"used":{"cpu":"80"}}})");
  REQUIRE(quota.has_value());
  CHECK(ListKarmadaQuota(*quota) ==
        "NAME   HARD            USED\n"
        "q      {\"cpu\":\"100\"}   {\"cpu\":\"80\"}\n");
  const auto fresh = json::Parse(R"({"metadata":{"name":"business-a"}})");
  REQUIRE(fresh.has_value());
  CHECK(ListKarmadaQuota(*fresh) ==
        "NAME         HARD   USED\n"
        "business-a          \n");
}

TEST_CASE("list: a quota of ironcore shows used and limit of each name, sorted", "[quickstart]") {
  const auto quota = json::Parse(R"({"metadata":{"name":"team-a"},"status":{
      "hard":{"requests.memory":"80Gi","requests.cpu":"20","count/networks.x":3},
      "used":{"requests.memory":"68Gi","requests.cpu":"18"}}})");
  REQUIRE(quota.has_value());
  CHECK(ListIroncoreQuota(*quota) ==
        "NAME     REQUEST\n"
        "team-a   count/networks.x: 0/3, requests.cpu: 18/20, requests.memory: 68Gi/80Gi\n");
}

TEST_CASE("list: the usage of a ClusterQuota is the summary of its status", "[quickstart]") {
  const auto quota = json::Parse(R"({"metadata":{"name":"team-a"},"status":{
      "summary":"example.com/bucket-bytes: 90Gi/100Gi"}})");
  REQUIRE(quota.has_value());
  CHECK(ListUsage(*quota) ==
        "NAME     USED/HARD\n"
        "team-a   example.com/bucket-bytes: 90Gi/100Gi\n");
}

}  // namespace quickstart::describe_test
