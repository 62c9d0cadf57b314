#include "pkg/inspect/holders.h"

#include <catch2/catch.hpp>

#include "pkg/inspect/who_view.h"
#include "pkg/quota/core/core_quota.h"

namespace holders_test {

using inspect::HolderBook;
using inspect::ObjectName;

const base::WallTime kNow{std::chrono::hours(24 * 365 * 50)};

quota::Evaluator PodEvaluator() {
  for (auto& evaluator : quota::CoreQuotaApi().evaluators) {
    if (evaluator.resource.resource == "pods") return evaluator;
  }
  return {};
}

quota::Quota Quota(const std::string& used) {
  return *quota::ParseQuota(*json::Parse(
      R"({"metadata": {"name": "q", "namespace": "a", "uid": "1", "resourceVersion": "1"},
          "spec": {"hard": {"requests.cpu": "10"}}, "status": {"hard": {"requests.cpu": "10"},
          "used": {"requests.cpu": ")" +
      used + R"("}}})"));
}

struct PodSpec {
  std::string name;
  std::string cpu;
  std::string owner_kind = "";
  std::string owner = "";
  std::string label = "";
  bool deleting = false;
};

json::Value Pod(const PodSpec& spec) {
  auto pod = *json::Parse(R"({"metadata": {"namespace": "a"}, "spec": {"containers": [{"name": "c",
      "resources": {"requests": {"cpu": ")" +
                          spec.cpu + R"("}}}]}})");
  pod.Make({"metadata", "name"}) = spec.name;
  pod.Make({"metadata", "uid"}) = "uid-" + spec.name;
  if (!spec.owner.empty()) {
    pod.Make({"metadata", "ownerReferences"}) =
        json::Array{json::Object{{"apiVersion", "apps/v1"},
                                 {"kind", spec.owner_kind},
                                 {"name", spec.owner},
                                 {"uid", "uid-" + spec.owner},
                                 {"controller", true}}};
  }
  if (!spec.label.empty()) pod.Make({"metadata", "labels", "team"}) = spec.label;
  if (spec.deleting) pod.Make({"metadata", "deletionTimestamp"}) = "2026-01-01T00:00:00Z";
  return pod;
}

class Book {
 public:
  explicit Book(const std::string& used, const std::string& by = "owner")
      : book(Quota(used), {"requests.cpu"}, *inspect::ParseGrouping(by)) {}
  void Add(const PodSpec& spec) {
    static const quota::Evaluator evaluator = PodEvaluator();
    REQUIRE(book.Add(evaluator, nullptr, Pod(spec), {"pod", "", spec.name}, {kNow}).has_value());
  }
  std::string Text(std::size_t most = 10) {
    return inspect::PrintTable(inspect::WhoTable({{"requests.cpu", book.HoldersOf("requests.cpu")}},
                                                 {.most = most, .wide = false}),
                               {.titles = false});
  }
  HolderBook book;
};

TEST_CASE("holders: owners are followed through any kinds", "[inspect]") {
  Book b("3500m");
  b.Add({.name = "w1", .cpu = "500m", .owner_kind = "ReplicaSet", .owner = "web-1"});
  b.Add({.name = "w2", .cpu = "1", .owner_kind = "ReplicaSet", .owner = "web-2"});
  b.Add({.name = "r", .cpu = "1500m", .owner_kind = "Rollout", .owner = "green"});
  b.Add({.name = "alone", .cpu = "500m"});
  CHECK(b.book.MissingOwners() ==
        std::set<inspect::OwnerKind>{{"apps/v1", "ReplicaSet"}, {"apps/v1", "Rollout"}});
  for (const char* set : {"web-1", "web-2"}) {
    b.book.owners().Add(Pod({.name = set, .cpu = "0", .owner_kind = "Deployment", .owner = "web"}));
  }
  b.book.owners().SetRead({"apps/v1", "ReplicaSet"});
  b.book.owners().SetRead({"apps/v1", "Rollout"});
  CHECK(b.book.MissingOwners() == std::set<inspect::OwnerKind>{{"apps/v1", "Deployment"}});
  b.book.owners().SetRead({"apps/v1", "Deployment"});
  CHECK(b.book.MissingOwners().empty());
  CHECK(b.Text() ==
        "requests.cpu   deployment.apps/web   1500m   42%   2\n"
        "requests.cpu   rollout.apps/green    1500m   42%   1\n"
        "requests.cpu   pod/alone             500m    14%   1\n");
  CHECK(b.book.HoldersOf("requests.cpu")[0].below.size() == 2);
}

TEST_CASE("holders: a cycle of owners ends", "[inspect]") {
  Book b("1");
  b.Add({.name = "p", .cpu = "1", .owner_kind = "A", .owner = "x"});
  b.book.owners().Add(Pod({.name = "x", .cpu = "0", .owner_kind = "B", .owner = "y"}));
  b.book.owners().Add(Pod({.name = "y", .cpu = "0", .owner_kind = "A", .owner = "x"}));
  CHECK(b.book.HoldersOf("requests.cpu").size() == 1);
  CHECK(b.book.MissingOwners().empty());
}

TEST_CASE("holders: terminating objects and reserved usage are listed separately", "[inspect]") {
  Book b("4");
  b.Add({.name = "a", .cpu = "1"});
  b.Add({.name = "b", .cpu = "2", .deleting = true});
  CHECK(b.Text() ==
        "requests.cpu   pod/a           1   25%   1\n"
        "requests.cpu   <terminating>   2   50%   1\n"
        "requests.cpu   <reserved>      1   25%   -\n");
}

TEST_CASE("holders: objects that may not be listed are not shown as reserved", "[inspect]") {
  Book b("4");
  b.Add({.name = "a", .cpu = "1"});
  b.book.SetIncomplete();
  CHECK(b.Text() ==
        "requests.cpu   pod/a          1   25%   1\n"
        "requests.cpu   <not listed>   3   75%   -\n");
}

TEST_CASE("holders: many holders are shown as a few and the others", "[inspect]") {
  Book b("6");
  for (const char* name : {"a", "b", "c", "d", "e", "f"}) b.Add({.name = name, .cpu = "1"});
  CHECK(b.Text(2) ==
        "requests.cpu   pod/a        1   16%   1\n"
        "requests.cpu   pod/b        1   16%   1\n"
        "requests.cpu   <4 others>   4   66%   4\n");
}

TEST_CASE("holders: they can be grouped by label, object or namespace", "[inspect]") {
  const auto of = [](const std::string& by) {
    Book b("4", by);
    b.Add({.name = "a", .cpu = "1", .label = "blue"});
    b.Add({.name = "b", .cpu = "1", .label = "blue"});
    b.Add({.name = "c", .cpu = "2"});
    return b.Text();
  };
  CHECK(of("label=team") ==
        "requests.cpu   <none>   2   50%   1\n"
        "requests.cpu   blue     2   50%   2\n");
  CHECK(of("namespace") == "requests.cpu   a   4   100%   3\n");
  CHECK(of("object") ==
        "requests.cpu   pod/c   2   50%   1\n"
        "requests.cpu   pod/a   1   25%   1\n"
        "requests.cpu   pod/b   1   25%   1\n");
  CHECK_FALSE(inspect::ParseGrouping("label=").has_value());
}

TEST_CASE("holders: an object that cannot be read is an error that names it", "[inspect]") {
  Book b("4");
  const auto added = b.book.Add(PodEvaluator(), nullptr, Pod({.name = "x", .cpu = "much"}),
                                {"pod", "", "x"}, {.now = kNow});
  REQUIRE_FALSE(added.has_value());
  CHECK_THAT(added.error().message, Catch::Matchers::Contains("pod/x: "));
}

}  // namespace holders_test
