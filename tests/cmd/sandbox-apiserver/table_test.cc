#include "cmd/sandbox-apiserver/table.h"

#include <catch2/catch.hpp>

#include "tests/cmd/sandbox-apiserver/core_fixture.h"

namespace sandbox::table_test {
namespace {

using json::Value;

class TableTest : public CoreFixture {
 protected:
  Value Cells(const ResourceType& type, std::string_view object) {
    const Value table =
        MakeTable(type, {std::make_shared<const Value>(J(object))}, J("{}"), clock_.WallNow());
    return *(*table.At({"rows"})->AsArray())[0].At({"cells"});
  }
  static std::string Columns(const Value& table) {
    std::string names;
    for (const Value& column : *table.At({"columnDefinitions"})->AsArray()) {
      names += (names.empty() ? "" : ",") + std::string(column.StringAt({"name"}));
    }
    return names;
  }
};

TEST_CASE_METHOD(TableTest,
                 "table: a quota shows used and hard, with limits in a column of their own",
                 "[sandbox]") {
  CHECK(Cells(*Core("resourcequotas"),
              R"({"metadata":{"name":"test-quota","creationTimestamp":"2024-12-17T23:48:00Z"},
                  "status":{"hard":{"requests.memory":"4Gi","pods":"10","requests.cpu":"2",
                  "limits.cpu":"4"},"used":{"pods":"2","requests.cpu":"600m",
                  "requests.memory":"1536Mi"}}})") ==
        J(R"(["test-quota","pods: 2/10, requests.cpu: 600m/2, requests.memory: 1536Mi/4Gi",
              "limits.cpu: 0/4","12m"])"));
  const Value table =
      MakeTable(*Core("resourcequotas"), {}, J(R"({"resourceVersion":"7"})"), clock_.WallNow());
  CHECK(Columns(table) == "Name,Request,Limit,Age");
  CHECK(*table.At({"rows"}) == J("[]"));
  CHECK(table.StringAt({"metadata", "resourceVersion"}) == "7");
}

TEST_CASE_METHOD(TableTest, "table: pods, events, and kinds without columns of their own",
                 "[sandbox]") {
  CHECK(Cells(*Core("pods"),
              R"({"metadata":{"name":"p","creationTimestamp":"2024-12-17T23:59:55Z"},
                  "spec":{"nodeName":"n","containers":[{},{}]},"status":{"phase":"Running",
                  "containerStatuses":[{"ready":true}]}})") ==
        J(R"(["p","1/2","Running","0","5s"])"));
  CHECK(Cells(*Core("events"),
              R"({"metadata":{"name":"e"},"lastTimestamp":"2024-12-17T00:00:00Z","type":"Warning",
                  "reason":"Full","involvedObject":{"kind":"ResourceQuota","name":"q"},
                  "message":"no more"})") ==
        J(R"(["24h","Warning","Full","resourcequota/q","no more"])"));
  CHECK(Cells(*Type("apps", "v1", "deployments"),
              R"({"metadata":{"name":"d","creationTimestamp":"2024-12-17T00:00:00Z"}})") ==
        J(R"(["d","24h"])"));
}

TEST_CASE_METHOD(TableTest, "table: rows contain the metadata", "[sandbox]") {
  const auto object = std::make_shared<const Value>(
      J(R"({"kind":"LimitRange","metadata":{"name":"l"},"spec":{}})"));
  const Value table = MakeTable(*Core("limitranges"), {object}, J("{}"), clock_.WallNow(), false);
  const Value& row = (*table.At({"rows"})->AsArray())[0];
  CHECK(row.StringAt({"object", "kind"}) == "PartialObjectMetadata");
  CHECK(row.At({"object", "spec"}) == nullptr);
  CHECK(*row.At({"cells"}) == J(R"(["l","<unknown>"])"));
  CHECK(table.At({"columnDefinitions"})->IsNull());
}

TEST_CASE_METHOD(TableTest, "table: a CRD's columns are typed", "[sandbox]") {
  ResourceType type;
  type.custom = true;
  type.columns = {{"Size", "integer", ".spec.size", 0},
                  {"Map", "string", ".spec.map", 0},
                  {"On", "boolean", ".spec.on", 1},
                  {"Since", "date", ".status.since", 0},
                  {"Ready", "string", ".status.conditions[?(@.type==\"Ready\")].status", 0}};
  CHECK(Cells(type,
              R"({"metadata":{"name":"w"},"spec":{"size":2.7,"map":{"a":1},"on":"yes"},
                  "status":{"since":"2024-12-17T23:00:00Z","conditions":[{"type":"A","status":"x"},
                  {"type":"Ready","status":"True"}]}})") ==
        J(R"(["w",2,"{\"a\":1}",null,"60m","True"])"));
  CHECK(Cells(type, R"({"metadata":{"name":"w"},"spec":{"size":1.5e98}})") ==
        J(R"(["w",null,null,null,null,null])"));
  type.columns.clear();
  CHECK(Cells(type, R"({"metadata":{"name":"w","creationTimestamp":"2024-12-17T23:59:00Z"}})") ==
        J(R"(["w","60s"])"));
}

TEST_CASE("table: ages are printed as by kubectl", "[sandbox]") {
  using std::chrono::hours;
  using std::chrono::minutes;
  using std::chrono::seconds;
  CHECK(HumanDuration(seconds(119)) == "119s");
  CHECK(HumanDuration(seconds(312)) == "5m12s");
  CHECK(HumanDuration(minutes(9)) == "9m");
  CHECK(HumanDuration(minutes(179)) == "179m");
  CHECK(HumanDuration(minutes(190)) == "3h10m");
  CHECK(HumanDuration(hours(47)) == "47h");
  CHECK(HumanDuration(hours(24 * 700)) == "700d");
  CHECK(HumanDuration(seconds(-5)) == "0s");
}

}  // namespace
}  // namespace sandbox::table_test
