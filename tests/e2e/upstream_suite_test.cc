// Runs upstream's own end-to-end tests of ResourceQuota (tests/suite) beside a daemon. QCM_SUITE is
// the program that runs them. They need no nodes, but kube-controller-manager with all its
// controllers.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <regex>

#include "pkg/quota/quota.h"
#include "tests/e2e/harness/admission.h"
#include "tests/e2e/harness/cluster_quotas.h"
#include "tests/e2e/harness/watch_follower.h"

namespace e2e::upstream_suite_test {
namespace {

constexpr int kTests = 28;
constexpr int kParts = 4;  // run in parallel, as in upstream's CI

// Returns the number of passed tests from the log; -1 if the log has no summary.
int Passed(const std::string& log) {
  std::smatch found;
  static const std::regex summary(R"((\d+) Passed)");
  return std::regex_search(log, found, summary) ? std::stoi(found[1]) : -1;
}

// Runs all tests and checks that each passes.
void RunSuite(const std::string& kubeconfig) {
  const char* const program = std::getenv("QCM_SUITE");
  REQUIRE(program != nullptr);
  const TempDir dir;
  const auto log = [&](int part) { return dir.path() + "/part-" + std::to_string(part) + ".log"; };
  std::vector<std::unique_ptr<Process>> parts;
  parts.reserve(kParts);
  for (int part = 0; part < kParts; ++part) {
    parts.push_back(std::make_unique<Process>(
        ProcessOptions{.argv = {program, "--kubeconfig=" + kubeconfig, "--provider=skeleton",
                                "--e2e-verify-service-account=false", "--ginkgo.no-color",
                                "--part=" + std::to_string(part), "--of=" + std::to_string(kParts)},
                       .log_path = log(part)}));
  }
  int passed = 0;
  for (int part = 0; part < kParts; ++part) {
    const auto code = parts[static_cast<std::size_t>(part)]->Wait(10min);
    const std::string text = ReadFile(log(part));
    passed += std::max(0, Passed(text));
    INFO(Tail(text, 100));
    CHECK(code == 0);
  }
  CHECK(passed == kTests);
}

// Counts the events of ResourceQuotas, and those in which a quota has an annotation. Only a daemon
// would add one: its reservations.
class Annotated {
 public:
  explicit Annotated(Scenario& s)
      : follower_(s.server().Kubeconfig(), PathOf("resourcequotas"),
                  std::string(s.api()
                                  .Get(PathOf("namespaces", "", s.ns()))
                                  .StringAt({"metadata", "resourceVersion"})),
                  [this](const std::string& /*type*/, const json::Value& quota) { Note(quota); }) {}

  [[nodiscard]] std::pair<int, int> SeenAndAnnotated() const {
    const std::lock_guard lock(mutex_);
    return {seen_, annotated_};
  }

 private:
  void Note(const json::Value& quota) {
    const std::lock_guard lock(mutex_);
    ++seen_;
    const json::Value* annotations = quota.At({"metadata", "annotations"});
    if (annotations != nullptr && !annotations->AsObject()->empty()) ++annotated_;
  }

  mutable std::mutex mutex_;
  int seen_ = 0;  // guarded by mutex_, like the next one
  int annotated_ = 0;
  WatchFollower follower_;
};

// Returns the records in the API server's audit log of requests by which the daemon writes
// ResourceQuotas.
std::vector<std::string> DaemonsWrites(const std::string& audit_log) {
  std::vector<std::string> writes;
  std::ifstream lines(audit_log);
  for (std::string line; std::getline(lines, line);) {
    if (line.find(R"("resource":"resourcequotas")") == std::string::npos) continue;
    if (line.find(R"("userAgent":"quota-controller-manager)") == std::string::npos) continue;
    const auto event = json::Parse(line);
    const std::string verb(event ? event->StringAt({"verb"}) : "unreadable");
    if (verb != "get" && verb != "list" && verb != "watch") writes.push_back(line);
  }
  return writes;
}

// A server with a ClusterQuota over all its namespaces. The quota decides each request, and its
// limits are too high to refuse any.
class Beside {
 public:
  // The kinds in `defined` have definitions: each object counts as one under acme.io/<kind>, too.
  explicit Beside(std::vector<std::string> flags, std::vector<std::string> defined = {})
      : admission_(*server_, {.more_flags = std::move(flags), .enforce = false}),
        defined_(std::move(defined)) {
    json::Value everything = Json(R"({"namespaceSelector":{},"hard":{"pods":"100k",
        "services":"100k","secrets":"100k","configmaps":"100k","persistentvolumeclaims":"100k",
        "requests.storage":"1Pi","replicationcontrollers":"100k","resourcequotas":"100k",
        "count/replicasets.apps":"100k","count/resourceclaims.resource.k8s.io":"100k"}})");
    for (const std::string& kind : defined_) {
      everything.Make({"hard", "acme.io/" + kind}) = "100k";
      std::string spec = R"({"usage":[{"name":"acme.io/)";
      spec.append(kind).append(R"(","path":".metadata.annotations.amount","default":"1"}],)");
      spec.append(R"("scopes":[{"name":"acme.io/tier-of-)").append(kind);
      definitions_.Create(kind, spec.append(R"(","path":".metadata.labels.tier"}]})"));
      definitions_.WaitCondition(kind, "Ready", "True");
    }
    quotas_.Create("everything", json::Write(everything));
    controllers_ = StartBuiltinController("*", server_->Kubeconfig(), dir_.path() + "/kcm.log",
                                          {"--resource-quota-sync-period=20s"});
    WaitUntilJudged();
  }

  [[nodiscard]] Scenario& scenario() { return admission_.scenario(); }
  [[nodiscard]] std::string audit_log() const { return dir_.path() + "/audit.log"; }
  [[nodiscard]] double Decisions() { return admission_.Metric("quota_admission_decisions_total"); }
  // Checks that the usage of this quota equals the number of stored objects.
  void CheckCounted() {
    for (const char* resource : {"pods", "services", "secrets", "configmaps",
                                 "persistentvolumeclaims", "replicationcontrollers"}) {
      WaitCounted(resource, resource);
    }
    for (const std::string& kind : defined_) WaitCounted(kind, "acme.io/" + kind);
  }

 private:
  void WaitCounted(const std::string& resource, const std::string& name) {
    Eventually("the usage of " + name + " is right", [&]() -> std::string {
      const auto list = scenario().api().Get(PathOf(resource));
      const auto used = std::string(quotas_.Get("everything").StringAt({"status", "used", name}));
      const auto stored = std::to_string(list.At({"items"})->AsArray()->size());
      return used == stored ? "" : used + " of " + stored;
    });
  }
  void WaitUntilJudged() {
    Eventually(
        "the quota over all namespaces decides each creation",
        [&]() -> std::string {
          const double before = Decisions();
          const Attempt tried = admission_.Post("pods", Pod("tried"), true);
          if (!tried.ok()) return tried.Text();
          return Decisions() > before ? "" : "not asked";
        },
        60s);
  }

  TempDir dir_;
  std::unique_ptr<ApiServer> server_ =
      StartServer({.quota_plugin = true, .audit_log = dir_.path() + "/audit.log"});
  Api api_{server_->Kubeconfig()};
  ClusterQuotas quotas_{api_};
  UsageDefinitions definitions_{api_};
  Admission admission_;
  const std::vector<std::string> defined_;
  std::unique_ptr<Process> controllers_;
};

}  // namespace

TEST_CASE("upstream's tests of ResourceQuota pass beside ClusterQuotas",
          "[e2e][suite][real-only]") {
  Beside beside({"--enforce=cluster"},
                {"pods", "services", "persistentvolumeclaims", "configmaps"});
  const Annotated annotated(beside.scenario());
  const double before = beside.Decisions();
  RunSuite(beside.scenario().server().Kubeconfig());
  CHECK(beside.Decisions() - before >= kTests);
  const auto [seen, with_annotation] = annotated.SeenAndAnnotated();
  CHECK(seen >= kTests);
  CHECK(with_annotation == 0);
  beside.CheckCounted();
}

TEST_CASE(
    "upstream's tests of ResourceQuota pass, and a daemon with only ClusterQuotas writes none",
    "[e2e][suite][real-only]") {
  Beside beside({"--enforce=cluster", "--quota-apis=cluster"});
  const double before = beside.Decisions();
  RunSuite(beside.scenario().server().Kubeconfig());
  CHECK(beside.Decisions() - before >= kTests);
  const std::vector<std::string> writes = DaemonsWrites(beside.audit_log());
  INFO((writes.empty() ? "" : writes.front()));
  CHECK(writes.empty());
  beside.CheckCounted();
}

TEST_CASE("upstream's tests of ResourceQuota pass without the built-in plugin and controller",
          "[e2e][suite][real-only]") {
  const auto server = StartServer({});
  const Admission daemon(*server, {});
  const TempDir dir;
  const auto controllers = StartBuiltinController("*,-resourcequota-controller",
                                                  server->Kubeconfig(), dir.path() + "/kcm.log");
  RunSuite(server->Kubeconfig());
}

}  // namespace e2e::upstream_suite_test
