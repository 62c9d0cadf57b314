// The resource of a kind that no server tells.

#include <catch2/catch.hpp>

#include "tests/cmd/kubectl-quota/plugin.h"

namespace check_plurals_test {
namespace {

using Catch::Matchers::Contains;
using kubectl_quota_tests::Plugin;
using kubectl_quota_tests::Told;

Told Check(Plugin& plugin, const std::string& kind, const std::string& plural,
           const std::string& more = "") {
  std::string files = more;
  for (const char* name : {"a", "b"}) {
    files +=
        "---\n{apiVersion: chaos.org/v1, kind: " + kind + ", metadata: {name: " + name + "}}\n";
  }
  return plugin.CheckFiles(files, "{count/" + plural + ".chaos.org: 1}");
}

}  // namespace

TEST_CASE("check: the plural of a kind is that of a quota that names it", "[kubectl-quota]") {
  Plugin plugin;
  const auto [kind, plural] =
      GENERATE(std::pair("PodChaos", "podchaos"), std::pair("Policy", "policies"),
               std::pair("Kafka", "kafkas"), std::pair("Redis", "redises"),
               std::pair("Redis", "redis"), std::pair("Box", "boxes"));
  const Told told = Check(plugin, kind, plural);
  INFO(kind);
  CHECK(told.code == 1);
  CHECK_THAT(told.output, Contains("0        2       2       1       no, lacks 1"));
}

TEST_CASE("check: the usual plural of a kind goes before one that is like it", "[kubectl-quota]") {
  Plugin plugin;
  const Told told = plugin.CheckFiles("{apiVersion: chaos.org/v1, kind: VM, metadata: {name: a}}",
                                      "{count/vmis.chaos.org: 5, count/vms.chaos.org: 5}");
  CHECK_THAT(told.output,
             Contains("count/vms.chaos.org   0        1") && !Contains("count/vmis.chaos.org"));
}

TEST_CASE("check: a definition in the files tells the plural", "[kubectl-quota]") {
  Plugin plugin;
  const std::string definition =
      "---\n{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: "
      "mice.chaos.org}, spec: {group: chaos.org, scope: Namespaced, names: {kind: Mouse, plural: "
      "mice}}}\n";
  CHECK(Check(plugin, "Mouse", "mice", definition).code == 1);
  SECTION("without it the plural is a guess") {
    const Told told = Check(plugin, "Mouse", "mice");
    CHECK(told.code == 3);
    CHECK_THAT(told.output,
               Contains("note: mouse.chaos.org/a: counted as mouses.chaos.org, but the plural is "
                        "guessed: a CustomResourceDefinition tells it\n"));
  }
}

}  // namespace check_plurals_test
