#include "pkg/inspect/fit.h"

#include <catch2/catch.hpp>

#include "pkg/inspect/check_view.h"
#include "pkg/quota/core/core_quota.h"

namespace fit_test {

using inspect::Counter;
using inspect::FitBook;
using inspect::Piece;

const base::WallTime kThen{std::chrono::hours(24 * 365 * 50)};

const quota::Evaluator& Pods() {
  static const quota::QuotaApi api = quota::CoreQuotaApi();
  return *api.evaluators.Find({"", "pods"});
}

quota::Quota QuotaOf(const std::string& name, const std::string& hard, const std::string& used,
                     const std::string& more = "") {
  auto quota = quota::ParseQuota(*json::Parse(
      R"({"metadata": {"name": ")" + name + R"(", "namespace": "a", "uid": "1",
          "resourceVersion": "1"}, "spec": {"hard": )" +
      hard + more + R"(}, "status": {"hard": )" + hard + R"(, "used": )" + used + "}}"));
  REQUIRE(quota.has_value());
  return *quota;
}

Piece PodPiece(const std::string& requests, std::int64_t count = 1) {
  return {.object = *json::Parse(R"({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"},
                                     "spec": {"containers": [{"name": "c", "resources":
                                     {"requests": )" +
                                 requests + "}}]}}"),
          .count = count,
          .of = {"deployment", "apps", "web"}};
}

std::string Table(const FitBook& book) {
  return inspect::PrintTable(inspect::CheckTable({{"a", book}}), {.titles = false});
}

TEST_CASE("fit: the needs of all pieces are added up for every quota", "[inspect]") {
  FitBook book({QuotaOf("compute", R"({"pods": "9", "requests.cpu": "4"})",
                        R"({"pods": "2", "requests.cpu": "2"})"),
                QuotaOf("other", R"({"secrets": "1"})", R"({"secrets": "1"})")});
  REQUIRE(book.Add({&Pods(), nullptr}, PodPiece(R"({"cpu": "500m"})", 3), kThen).has_value());
  CHECK(book.Fits());
  REQUIRE(book.Add({&Pods(), nullptr}, PodPiece(R"({"cpu": "1"})", 2), kThen).has_value());
  CHECK_FALSE(book.Fits());
  CHECK(Table(book) ==
        "compute   pods           2   5       7       9   yes\n"
        "compute   requests.cpu   2   3500m   5500m   4   no, lacks 1500m\n");
  CHECK(inspect::CheckVerdict({.spaces = {{"a", book}}, .notes = {}, .server = {}}) ==
        "No: 1 of 2 limits would be exceeded.\n");
}

TEST_CASE("fit: missing requirements of a pod are reported whatever is free", "[inspect]") {
  FitBook book({QuotaOf("compute", R"({"limits.cpu": "4", "pods": "5"})",
                        R"({"limits.cpu": "0", "pods": "0"})")});
  REQUIRE(book.Add({&Pods(), nullptr}, PodPiece(R"({"cpu": "1"})", 2), kThen).has_value());
  CHECK_FALSE(book.Fits());
  CHECK(inspect::CheckVerdict({.spaces = {{"a", book}}, .notes = {}, .server = {}}) ==
        "deployment.apps/web: failed quota: compute: must specify limits.cpu for: c\n"
        "No: 1 object or its pods would be refused whatever is free.\n");
  CHECK(Table(book) == "compute   pods   0   2   2   5   yes\n");
}

// New pods of these requests in place of old ones, of which each list is one.
inspect::Rollout RolloutOf(const std::string& requests, std::int64_t fresh, std::int64_t spare,
                           const std::vector<std::string>& old) {
  inspect::Rollout rollout{.of = {"deployment", "apps", "web"},
                           .each = {PodPiece(requests)},
                           .fresh = fresh,
                           .old = {},
                           .spare = spare};
  for (const std::string& one : old) rollout.old.push_back({.objects = {PodPiece(one).object}});
  return rollout;
}

const Counter* PodCounter(const json::Value&) {
  static const Counter counter{&Pods(), nullptr};
  return &counter;
}

TEST_CASE("fit: the largest usage on the way of a rollout counts", "[inspect]") {
  const auto table = [](const inspect::Rollout& rollout) {
    FitBook book({QuotaOf("compute", R"({"requests.cpu": "4"})", R"({"requests.cpu": "2"})")});
    REQUIRE(book.Add(PodCounter, rollout, kThen).has_value());
    return Table(book);
  };
  const std::string half = R"({"cpu": "500m"})";
  const std::string quarter = R"({"cpu": "250m"})";
  const std::string tenth = R"({"cpu": "100m"})";
  // Smaller pods need most when the first is added, larger ones when the last is.
  CHECK(table(RolloutOf(quarter, 4, 1, {half, half, half, half})) ==
        "compute   requests.cpu   2   250m   2250m   4   yes\n");
  CHECK(table(RolloutOf(half, 4, 1, {quarter, quarter, quarter, quarter})) ==
        "compute   requests.cpu   2   1250m   3250m   4   yes\n");
  // Of unlike pods those that free least go first.
  CHECK(table(RolloutOf(quarter, 4, 0, {half, tenth, half, tenth})) ==
        "compute   requests.cpu   2   300m   2300m   4   yes\n");
  CHECK(table(RolloutOf(quarter, 1, 0, {tenth, tenth, tenth, tenth})) ==
        "compute   requests.cpu   2   150m   2150m   4   yes\n");
  // All go first.
  CHECK(table(RolloutOf(half, 4, -4, {quarter, quarter, quarter, quarter})) ==
        "compute   requests.cpu   2   1   3   4   yes\n");
  CHECK(table(RolloutOf(quarter, 4, -4, {half, half, half, half})).empty());
  CHECK(table(RolloutOf(half, 3, 5, {quarter})) ==
        "compute   requests.cpu   2   1500m   3500m   4   yes\n");
}

TEST_CASE("fit: what is created in place of something else needs usage within the limit",
          "[inspect]") {
  const auto table = [](const std::string& used, const inspect::Rollout& rollout) {
    FitBook book(
        {QuotaOf("compute", R"({"requests.cpu": "2"})", R"({"requests.cpu": ")" + used + "\"}")});
    REQUIRE(book.Add(PodCounter, rollout, kThen).has_value());
    return Table(book);
  };
  const std::string one = R"({"cpu": "1"})";
  // One after the other, or all at once.
  CHECK(table("2", RolloutOf(one, 2, 0, {one, one})).empty());
  CHECK(table("3", RolloutOf(one, 3, 0, {one, one, one})) ==
        "compute   requests.cpu   3   0   3   2   no, lacks 1\n");
  CHECK(table("3", RolloutOf(one, 3, -3, {one, one, one})) ==
        "compute   requests.cpu   3   0   3   2   no, lacks 1\n");
  // One goes before, so that it fits.
  CHECK(table("3", RolloutOf(one, 2, -1, {one, one, one})).empty());
  CHECK(table("4", RolloutOf(one, 2, -1, {one, one, one})) ==
        "compute   requests.cpu   4   -1   3   2   no, lacks 1\n");
  SECTION("also what an update frees") {
    FitBook book({QuotaOf("compute", R"({"requests.cpu": "1"})", R"({"requests.cpu": "2"})")});
    Piece less = PodPiece(R"({"cpu": "0"})");
    less.stored = PodPiece(one).object;
    REQUIRE(book.Add({&Pods(), nullptr}, less, kThen).has_value());
    CHECK(book.Fits());
    REQUIRE(book.Add({&Pods(), nullptr}, PodPiece(one), kThen).has_value());
    CHECK(Table(book) == "compute   requests.cpu   2   0   2   1   no, lacks 1\n");
  }
  SECTION("what a rollout frees is not there for others") {
    FitBook book({QuotaOf("compute", R"({"requests.cpu": "3"})", R"({"requests.cpu": "3"})")});
    REQUIRE(book.Add(PodCounter, RolloutOf(one, 2, -1, {one, one, one}), kThen).has_value());
    REQUIRE(book.Add({&Pods(), nullptr}, PodPiece(one), kThen).has_value());
    CHECK(Table(book) == "compute   requests.cpu   3   1   4   3   no, lacks 1\n");
    const auto parts = book.PartsOf(book.Lines().front());
    REQUIRE(parts.size() == 1);
    CHECK(parts.front().amount == quota::Quantity::FromInt(1));
  }
}

TEST_CASE("fit: no rollout waits for another one", "[inspect]") {
  FitBook book({QuotaOf("compute", R"({"requests.cpu": "4"})", R"({"requests.cpu": "2"})")});
  const std::string one = R"({"cpu": "1"})";
  const std::string half = R"({"cpu": "500m"})";
  REQUIRE(book.Add(PodCounter, RolloutOf(half, 1, 0, {one}), kThen).has_value());
  REQUIRE(book.Add(PodCounter, RolloutOf(one, 1, 0, {half}), kThen).has_value());
  CHECK(Table(book) == "compute   requests.cpu   2   500m   2500m   4   yes\n");
}

TEST_CASE("fit: what an update frees is there for the pieces after it", "[inspect]") {
  const auto table = [](bool freed_first) {
    FitBook book({QuotaOf("compute", R"({"requests.cpu": "2"})", R"({"requests.cpu": "2"})")});
    Piece less = PodPiece(R"({"cpu": "500m"})");
    less.stored = PodPiece(R"({"cpu": "1500m"})").object;
    const Piece more = PodPiece(R"({"cpu": "1"})");
    for (const Piece& piece : {freed_first ? less : more, freed_first ? more : less}) {
      REQUIRE(book.Add({&Pods(), nullptr}, piece, kThen).has_value());
    }
    return Table(book);
  };
  CHECK(table(true) == "compute   requests.cpu   2   0   2   2   yes\n");
  CHECK(table(false) == "compute   requests.cpu   2   1   3   2   no, lacks 1\n");
}

TEST_CASE("fit: of a limit that is changed just now the smaller one counts", "[inspect]") {
  const auto table = [](const char* before, const char* after) {
    quota::Quota quota = QuotaOf("compute", before, R"({"requests.cpu": "2"})");
    quota.hard = quota::ResourceList(QuotaOf("compute", after, "{}").hard);
    FitBook book({quota});
    REQUIRE(book.Add({&Pods(), nullptr}, PodPiece(R"({"cpu": "1"})"), kThen).has_value());
    return Table(book);
  };
  const std::string refused = "compute   requests.cpu   2   1   3   2   no, lacks 1\n";
  CHECK(table(R"({"requests.cpu": "2"})", R"({"requests.cpu": "4"})") == refused);
  CHECK(table(R"({"requests.cpu": "4"})", R"({"requests.cpu": "2"})") == refused);
  // Removed, or new and not counted yet.
  CHECK(table(R"({"requests.cpu": "2"})", R"({"secrets": "4"})") == refused);
  CHECK(table(R"({"requests.cpu": "4"})", R"({"requests.cpu": "4", "pods": "1"})") ==
        "compute   pods           -   1   1   1   not counted yet\n"
        "compute   requests.cpu   2   1   3   4   yes\n");
}

TEST_CASE("fit: a limit that is already exceeded does not refuse other names", "[inspect]") {
  FitBook book({QuotaOf("compute", R"({"pods": "9", "requests.cpu": "1"})",
                        R"({"pods": "2", "requests.cpu": "3"})")});
  REQUIRE(book.Add({&Pods(), nullptr}, PodPiece(R"({"cpu": "0"})"), kThen).has_value());
  CHECK(book.Fits());
}

TEST_CASE("fit: scopes decide which quotas count a pod", "[inspect]") {
  FitBook book({QuotaOf("best-effort", R"({"pods": "0"})", R"({"pods": "0"})",
                        R"(, "scopes": ["BestEffort"])")});
  REQUIRE(book.Add({&Pods(), nullptr}, PodPiece(R"({"cpu": "1"})"), kThen).has_value());
  CHECK(book.Fits());
  REQUIRE(book.Add({&Pods(), nullptr}, PodPiece("{}"), kThen).has_value());
  CHECK_FALSE(book.Fits());
}

TEST_CASE("fit: an update needs the difference", "[inspect]") {
  FitBook book({QuotaOf("compute", R"({"requests.cpu": "4"})", R"({"requests.cpu": "3"})")});
  Piece piece = PodPiece(R"({"cpu": "2"})");
  piece.stored = PodPiece(R"({"cpu": "1500m"})").object;
  REQUIRE(book.Add({&Pods(), nullptr}, piece, kThen).has_value());
  CHECK(Table(book) == "compute   requests.cpu   3   500m   3500m   4   yes\n");
}

TEST_CASE("fit: junit has a case for each limit and each requirement", "[inspect]") {
  FitBook book(
      {QuotaOf("q", R"({"pods": "1", "limits.cpu": "1"})", R"({"pods": "1", "limits.cpu": "0"})")});
  REQUIRE(book.Add({&Pods(), nullptr}, PodPiece("{}"), kThen).has_value());
  CHECK(inspect::CheckJunit({.spaces = {{"a", book}}, .notes = {}, .server = {}}) ==
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
        "  <testsuite name=\"quota of a\" tests=\"2\" failures=\"2\">\n"
        "    <testcase classname=\"quota q\" name=\"pods\">\n"
        "      <failure message=\"used 1, asked 1, limit 1: lacks 1\"/>\n    </testcase>\n"
        "    <testcase classname=\"deployment.apps/web\" name=\"what is demanded of it\">\n"
        "      <failure message=\"failed quota: q: must specify limits.cpu for: c\"/>\n"
        "    </testcase>\n  </testsuite>\n</testsuites>\n");
}

TEST_CASE("fit: different answers of a server are marked", "[inspect]") {
  const inspect::ObjectName pod{"pod", "", "p"};
  CHECK(inspect::ServerText({{pod, "", false}, {pod, "no \x1b room", true}}) ==
        "server: pod/p is accepted\nserver: pod/p is refused: no   room\n");
  CHECK(inspect::ServerText({{pod, "", true}, {pod, "no", false}}) ==
        "server: pod/p is accepted (check foresees a refusal)\n"
        "server: pod/p is refused: no (check foresees no refusal)\n");
}

TEST_CASE("fit: documents have the server's answers", "[inspect]") {
  const inspect::ObjectName pod{"pod", "", "p"};
  const inspect::Checked checked{
      .spaces = {},
      .notes = {},
      .server = {{.of = pod}, {.of = pod, .refusal = "no"}, {.of = pod, .unknown = "forbidden"}}};
  CHECK_THAT(json::Write(inspect::CheckValue(checked)),
             Catch::Matchers::Contains(
                 R"("server":[{"object":"pod/p","accepted":true,"foreseen":true},)"
                 R"({"object":"pod/p","accepted":false,"message":"no","foreseen":false},)"
                 R"({"object":"pod/p","unknown":"forbidden"}])"));
  CHECK_THAT(inspect::CheckJunit(checked),
             Catch::Matchers::Contains(
                 "  <testsuite name=\"server\" tests=\"3\" failures=\"1\" skipped=\"1\">\n"
                 "    <testcase classname=\"pod/p\" name=\"dry run\"/>\n"));
  CHECK_THAT(inspect::ServerText(checked.server),
             Catch::Matchers::Contains("server: pod/p is not judged: forbidden\n"));
}

TEST_CASE("fit: the answer is yes if nothing is limited", "[inspect]") {
  const FitBook book(std::vector<quota::Quota>{});
  CHECK(inspect::CheckVerdict({.spaces = {{"a", book}}, .notes = {}, .server = {}}) ==
        "Yes: no quota limits any of it.\n");
  CHECK(json::Write(inspect::CheckValue({.spaces = {{"a", book}}, .notes = {"n"}, .server = {}})) ==
        R"({"apiVersion":"cli.quota-controller-manager.io/v1alpha1",)"
        R"("kind":"QuotaCheck","fits":true,"items":[],"objections":[],"notes":["n"]})");
}

}  // namespace fit_test
