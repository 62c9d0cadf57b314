// The webhook's answers to creations have the messages of the built-in plugin.
#include <catch2/catch.hpp>

#include "tests/e2e/harness/admission.h"
#include "tests/e2e/harness/write_recorder.h"

namespace e2e::admission_decisions_test {
namespace {

json::Value ScopedQuota(const std::string& name, const Quantities& hard, const std::string& scope) {
  json::Value quota = Quota(name, hard);
  quota.Make({"spec", "scopes"}) = json::Array{scope};
  return quota;
}

}  // namespace

TEST_CASE("admission: a refusal names the requested, used and limited amounts",
          "[e2e][admission]") {
  Admission a;
  a.Limit("q", {{"pods", "2"}, {"requests.cpu", "1"}, {"count/secrets", "1"}});
  CHECK(a.Post("pods", Pod("p1", {{"cpu", "600m"}})).ok());
  const Attempt big = a.Post("pods", Pod("big", {{"cpu", "500m"}}));
  CHECK(big.code == 403);
  CHECK(big.reason == "Forbidden");
  CHECK(big.message == Denied("pods \"big\" is forbidden: exceeded quota: q, "
                              "requested: requests.cpu=500m, used: requests.cpu=600m, "
                              "limited: requests.cpu=1"));
  CHECK(a.Post("pods", Pod("p2", {{"cpu", "400m"}})).ok());
  CHECK(a.Post("pods", Pod("p3", {{"cpu", "1m"}})).message ==
        Denied("pods \"p3\" is forbidden: exceeded quota: q, requested: pods=1,requests.cpu=1m, "
               "used: pods=2,requests.cpu=1, limited: pods=2,requests.cpu=1"));
  CHECK(a.Post("secrets", Secret("s1")).ok());
  CHECK(a.Post("secrets", Secret("s2")).message ==
        Denied("secrets \"s2\" is forbidden: exceeded quota: q, requested: count/secrets=1, "
               "used: count/secrets=1, limited: count/secrets=1"));
  a.scenario().WaitUsed("q", {{"pods", "2"}, {"requests.cpu", "1"}, {"count/secrets", "1"}});
  CHECK(a.Count("pods") == 2);
  // A deleted object makes room at once.
  a.scenario().Delete("pods", "p1");
  a.scenario().WaitUsed("q", {{"pods", "1"}, {"requests.cpu", "400m"}, {"count/secrets", "1"}});
  CHECK(a.Post("pods", Pod("p3", {{"cpu", "600m"}})).ok());
}

TEST_CASE("admission: an object must specify what a quota requires", "[e2e][admission]") {
  Admission a;
  a.Limit("q", {{"requests.cpu", "1"}, {"requests.memory", "1Gi"}});
  const Attempt silent = a.Post("pods", Pod("silent"));
  CHECK(silent.code == 403);
  CHECK(silent.reason == "Forbidden");
  CHECK(silent.message ==
        Denied("pods \"silent\" is forbidden: failed quota: q: must specify requests.cpu for: "
               "main; requests.memory for: main"));
  CHECK(a.Post("pods", Pod("half", {{"cpu", "1m"}})).message ==
        Denied("pods \"half\" is forbidden: failed quota: q: must specify requests.memory for: "
               "main"));
  CHECK(a.Post("pods", Pod("says", {{"cpu", "1m"}, {"memory", "1Mi"}})).ok());
}

TEST_CASE("admission: nothing is admitted while usage is unknown", "[e2e][admission]") {
  Admission a;
  a.Limit("q", {{"pods", "5"}});
  const std::string wipe = R"({"status":{"used":null}})";
  // The daemon counts again as soon as it sees the wiped status; until then it must refuse.
  int tries = 0;
  Eventually("a creation meets the wiped status", [&]() -> std::string {
    ++tries;
    a.api().MergePatch(a.scenario().Path("resourcequotas", "q", "status"), Json(wipe));
    const Attempt attempt = a.Post("pods", Pod("p"), true);
    if (attempt.ok()) return "admitted " + std::to_string(tries) + " times";
    CHECK(attempt.code == 403);
    CHECK(attempt.reason == "Forbidden");
    CHECK(attempt.message == Denied("pods \"p\" is forbidden: status unknown for quota: q, "
                                    "resources: pods"));
    return "";
  });
  a.scenario().WaitUsed("q", {{"pods", "0"}});
  CHECK(a.Post("pods", Pod("p")).ok());
}

TEST_CASE("admission: a dry run is judged but not charged", "[e2e][admission]") {
  Admission a;
  a.Limit("q", {{"pods", "1"}});
  WriteRecorder recorder(a.scenario().server().Kubeconfig(), a.scenario().ns(),
                         a.scenario().ResourceVersion("q"));
  for (int i = 0; i < 5; ++i) CHECK(a.Post("pods", Pod("dry-" + std::to_string(i)), true).ok());
  CHECK(a.Post("pods", Pod("p")).ok());
  CHECK(a.Post("pods", Pod("dry"), true).message ==
        Denied("pods \"dry\" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1, "
               "limited: pods=1"));
  a.scenario().WaitUsed("q", {{"pods", "1"}});
  recorder.WaitSeen("q", a.scenario().ResourceVersion("q"));
  CHECK(recorder.Writes("q") == 1);
  CHECK(a.Count("pods") == 1);
}

TEST_CASE("admission: an object must fit every quota, and a refused object is charged to none",
          "[e2e][admission]") {
  Admission a;
  a.Limit("cpu", {{"requests.cpu", "1"}});
  a.Limit("many", {{"pods", "9"}});
  a.LimitScoped(ScopedQuota("modest", {{"pods", "1"}}, "NotBestEffort"));
  a.LimitScoped(ScopedQuota("idle", {{"pods", "3"}}, "BestEffort"));
  CHECK(a.Post("pods", Pod("p1", {{"cpu", "100m"}})).ok());
  CHECK(a.Post("pods", Pod("p2", {{"cpu", "100m"}})).message ==
        Denied("pods \"p2\" is forbidden: exceeded quota: modest, requested: pods=1, "
               "used: pods=1, limited: pods=1"));
  CHECK(a.Post("pods", Pod("p3", {{"cpu", "2"}})).message ==
        Denied("pods \"p3\" is forbidden: exceeded quota: cpu, requested: requests.cpu=2, "
               "used: requests.cpu=100m, limited: requests.cpu=1"));
  a.scenario().WaitUsed("cpu", {{"requests.cpu", "100m"}});
  a.scenario().WaitUsed("many", {{"pods", "1"}});
  a.scenario().WaitUsed("modest", {{"pods", "1"}});
  a.scenario().WaitUsed("idle", {{"pods", "0"}});
}

TEST_CASE("admission: the user is warned when little of a limit is left", "[e2e][admission]") {
  std::vector<std::string> flags;
  std::vector<std::string> said{"quota nearly used up: q: pods 10 of 10"};
  SECTION("by default") {}
  SECTION("unless it is turned off") {
    flags.emplace_back("--warn-near-limits=false");
    said.clear();
  }
  Admission a({.more_flags = flags});
  a.Limit("q", {{"pods", "10"}});
  for (int i = 0; i < 9; ++i) {
    const Attempt attempt = a.Post("pods", Pod("p" + std::to_string(i)));
    CHECK(attempt.ok());
    CHECK(attempt.warnings.empty());
  }
  const Attempt last = a.Post("pods", Pod("last"));
  CHECK(last.ok());
  CHECK(last.warnings == said);
  CHECK(a.Metric("quota_admission_warnings_total") == static_cast<double>(said.size()));
}

}  // namespace e2e::admission_decisions_test
