// Runs the example of pkg/quota/cluster/README.md and checks the statements about it. A real server
// also runs its own quota plugin and controllers, as on every managed cluster.
#include <catch2/catch.hpp>

#include "pkg/config/yaml.h"
#include "tests/e2e/harness/admission.h"
#include "tests/e2e/harness/cluster_quotas.h"
#include "tests/e2e/harness/files.h"
#include "tests/e2e/harness/plugin_scenario.h"
#include "tests/source_dir.h"

namespace e2e::cluster_readme_test {
namespace {

using Catch::Matchers::Contains;

std::string FirstExample() {
  const std::string readme = ReadFile(tests::SourcePath("/pkg/quota/cluster/README.md"));
  const std::string begin = "```yaml\n";
  const std::size_t at = readme.find(begin) + begin.size();
  return readme.substr(at, readme.find("```", at) - at);
}

}  // namespace

TEST_CASE("cluster: the example of the README works as documented",
          "[e2e][cluster][kubectl-quota][server]") {
  Admission a({.server = Managed(), .more_flags = {"--enforce=cluster"}});
  Scenario& s = a.scenario();
  ClusterQuotas quotas(s.api());
  s.api().MergePatch(PathOf("namespaces", "", s.ns()),
                     Json(R"({"metadata": {"labels": {"team": "a"}}})"));
  const auto examples = config::ParseYamlDocuments(FirstExample());
  REQUIRE(examples.has_value());
  for (const json::Value& quota : *examples) s.api().Create(ClusterQuotas::Path(), quota);
  for (const char* name : {"company", "team-a", "team-b", "trial"}) {
    quotas.WaitUsed(name, {{"pods", "0"}});
  }
  TempDir dir;
  const auto ask = [&](const std::vector<std::string>& arguments) {
    return AskPlugin(s.server().Kubeconfig(), arguments, "C.UTF-8");
  };
  Eventually("the rules are stored: the quota in mode Warn returns a warning", [&] {
    const Attempt tried = a.Post("pods", Pod("p0"), true);
    return tried.ok() && a.Metric("quota_admission_decisions_total") > 0 ? "" : tried.Text();
  });
  for (int i = 0; i < 6; ++i) {
    const Attempt made = a.Post("pods", Pod("p" + std::to_string(i)));
    INFO(made.Text());
    REQUIRE(made.ok());
    const std::string warned = made.warnings.empty() ? "" : made.warnings.front();
    CHECK(warned == (i < 4 ? ""
                           : "would be refused: exceeded cluster quota: trial, requested: pods=1, "
                             "used: pods=" +
                                 std::to_string(i) + ", limited: pods=4"));
  }
  quotas.WaitUsed("company", {{"pods", "6"}});
  quotas.WaitUsed("trial", {{"pods", "6"}});
  const std::string file = dir.Write("seventh.yaml", json::Write(Pod("seventh")));
  const auto check = ask({"check", "-f", file, "-n", s.ns()});
  CHECK(check.exit_code == 1);
  const std::string refusal =
      "exceeded cluster quota: company (above team-a), requested: pods=1, used: pods=6, limited: "
      "pods=10, guaranteed to others: pods=4";
  CHECK_THAT(check.output, Contains("\n" + refusal + "\n"));
  const Attempt seventh = a.Post("pods", Pod("seventh"));
  CHECK(seventh.code == 403);
  CHECK_THAT(seventh.message,
             Catch::Matchers::EndsWith("pods \"seventh\" is forbidden: " + refusal));
  Eventually("kubectl quota tree prints the tree of the README", [&]() -> std::string {
    const auto tree = ask({"tree"}).output;
    const std::string readme = ReadFile(tests::SourcePath("/pkg/quota/cluster/README.md"));
    return readme.find("$ kubectl quota tree\n" + tree + "```") != std::string::npos ? "" : tree;
  });
}

}  // namespace e2e::cluster_readme_test
