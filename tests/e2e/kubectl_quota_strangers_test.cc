// What a tenant writes where the server allows any text, as the plugin shows it to others.
#include <catch2/catch.hpp>
#include <filesystem>

#include "pkg/config/yaml.h"
#include "tests/e2e/harness/counted_cluster.h"

namespace e2e::kubectl_quota_strangers_test {
namespace {

using Catch::Matchers::Contains;

// Begins as a formula, clears the screen, names the window, begins a line, reverses.
const std::string kEvil = "=EVIL\x1b[2J\x1b]0;t\a\r\nFORGED\xC2\x9B\x32J\xE2\x80\xAE\xE2\x80\xA8";

void CheckShown(const ProgramResult& told, bool document = false) {
  INFO(told.output);
  CHECK_THAT(told.output, Contains("=EVIL", Catch::CaseSensitive::No));
  for (const char* hidden : {"\x1b", "\a", "\xC2\x9B", "\xE2\x80\xAE", "\xE2\x80\xA8"}) {
    CHECK_THAT(told.output, !Contains(hidden));
  }
  CHECK_THAT("\n" + told.output, !Contains("\nFORGED"));
  if (document) CHECK(config::ParseYaml(told.output).has_value());
}

}  // namespace

TEST_CASE("kubectl quota shows what strangers wrote as harmless text", "[e2e][kubectl-quota]") {
  CountedCluster cluster;
  Scenario& s = cluster.scenario();
  s.Create("resourcequotas", Quota("compute", {{"pods", "4"}}));
  cluster.WaitUsed("compute", {{"pods", "0"}});
  json::Value pod = Pod("p");
  pod.Make({"metadata", "ownerReferences"}) =
      json::Array{json::Object{{"apiVersion", "x.io/v1"},
                               {"kind", kEvil},
                               {"name", kEvil},
                               {"uid", "b5e4ed5d-0ea2-47a6-8a2c-a0f8c3ce0c11"},
                               {"controller", true}}};
  s.Create("pods", pod);
  cluster.WaitUsed("compute", {{"pods", "1"}});
  for (const char* format : {"wide", "csv"}) {
    CheckShown(cluster.AskHere({"who", "compute", "-o", format}));
  }
  CHECK_THAT(cluster.AskHere({"who", "compute", "-o", "csv"}).output,
             !Contains("\n=") && !Contains(",="));
  for (const char* format : {"json", "yaml"}) {
    CheckShown(cluster.AskHere({"who", "compute", "-o", format}), true);
  }
  CheckShown(cluster.AskHere({"report"}));
  CheckShown(cluster.AskHere({"who", kEvil}));

  json::Value custom = Json(R"({"apiVersion": "x.io/v1", "spec": {"replicas": 2}})");
  custom.Make({"kind"}) = kEvil;
  custom.Make({"metadata", "name"}) = "x";
  CheckShown(cluster.AskHere({"check", "-f", cluster.File("x.json", json::Write(custom))}));
  const std::string folder = cluster.File("pod.json", json::Write(Pod("q")));
  const auto loops = std::filesystem::path(folder).parent_path() / "loops";
  std::filesystem::create_directory(loops);
  std::filesystem::create_symlink(kEvil + ".yaml", loops / (kEvil + ".yaml"));
  const auto loop = cluster.AskHere({"check", "-f", loops});
  CHECK(loop.exit_code == 2);
  CheckShown(loop);
}

}  // namespace e2e::kubectl_quota_strangers_test
