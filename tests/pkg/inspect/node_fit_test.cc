#include "pkg/inspect/node_fit.h"

#include <catch2/catch.hpp>
#include <string>

#include "pkg/config/yaml.h"

namespace inspect::node_fit_test {
namespace {

bool Runs(const std::string& spec, const std::string& node) {
  return DaemonRunsOn(*config::ParseYaml(spec), *config::ParseYaml(node));
}

// Whether a pod with this spec runs on a node with only this taint.
bool RunsBeside(const std::string& taint, const std::string& effect,
                const std::string& spec = "{}") {
  return Runs(spec, "spec: {taints: [{key: " + taint + ", effect: " + effect + "}]}");
}

// Whether a pod whose affinity has this expression runs on the node n1 with the labels disk=ssd and
// cores=8.
bool Matches(const std::string& expression, const char* kind = "matchExpressions") {
  return Runs(
      std::string("affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution:"
                  " {nodeSelectorTerms: [{") +
          kind + ": [" + expression + "]}]}}}",
      "metadata: {name: n1, labels: {disk: ssd, cores: \"8\"}}");
}

}  // namespace

// As AddOrUpdateDaemonPodTolerations does it (kubernetes v1.36.3,
// pkg/controller/daemon/util/daemonset_util.go).
TEST_CASE("node fit: a DaemonSet pod tolerates the conditions of a node", "[inspect]") {
  struct Row {
    const char* taint;
    bool at_start;  // with the effect NoSchedule
    bool running;   // with the effect NoExecute
    bool at_start_in_host_network;
  };
  const Row rows[] = {
      {"not-ready", false, true, false},           {"unreachable", false, true, false},
      {"disk-pressure", true, false, true},        {"memory-pressure", true, false, true},
      {"pid-pressure", true, false, true},         {"unschedulable", true, false, true},
      {"network-unavailable", false, false, true}, {"out-of-service", false, false, false}};
  for (const Row& row : rows) {
    INFO(row.taint);
    const std::string ours = std::string("node.kubernetes.io/") + row.taint;
    CHECK(RunsBeside(ours, "NoSchedule") == row.at_start);
    CHECK(RunsBeside(ours, "NoExecute") == row.running);
    CHECK(RunsBeside(ours, "NoSchedule", "hostNetwork: false") == row.at_start);
    CHECK(RunsBeside(ours, "NoSchedule", "hostNetwork: true") == row.at_start_in_host_network);
    CHECK(RunsBeside(ours, "NoExecute", "hostNetwork: true") == row.running);
    CHECK(RunsBeside(ours, "PreferNoSchedule"));
    CHECK_FALSE(RunsBeside(row.taint, "NoSchedule"));
    CHECK_FALSE(RunsBeside(row.taint, "NoExecute"));
  }
}

TEST_CASE("node fit: each operator of node affinity", "[inspect]") {
  struct Row {
    const char* expression;
    bool matches;
  };
  const Row rows[] = {{"{key: disk, operator: In, values: [hdd, ssd]}", true},
                      {"{key: disk, operator: In, values: [hdd]}", false},
                      {"{key: none, operator: In, values: [ssd]}", false},
                      {"{key: disk, operator: NotIn, values: [hdd]}", true},
                      {"{key: disk, operator: NotIn, values: [hdd, ssd]}", false},
                      {"{key: none, operator: NotIn, values: [ssd]}", true},
                      {"{key: disk, operator: Exists}", true},
                      {"{key: none, operator: Exists}", false},
                      {"{key: disk, operator: DoesNotExist}", false},
                      {"{key: none, operator: DoesNotExist}", true},
                      {"{key: cores, operator: Gt, values: [\"7\"]}", true},
                      {"{key: cores, operator: Gt, values: [\"8\"]}", false},
                      {"{key: cores, operator: Lt, values: [\"9\"]}", true},
                      {"{key: cores, operator: Lt, values: [\"8\"]}", false},
                      {"{key: cores, operator: Lt, values: [\"7\"]}", false},
                      {"{key: cores, operator: Lt, values: [\"9\", \"10\"]}", false},
                      {"{key: disk, operator: Lt, values: [\"9\"]}", false},
                      {"{key: none, operator: Lt, values: [\"9\"]}", false},
                      {"{key: disk, operator: Near, values: [ssd]}", false}};
  for (const Row& row : rows) {
    INFO(row.expression);
    CHECK(Matches(row.expression) == row.matches);
  }
  CHECK(Matches("{key: metadata.name, operator: In, values: [n1]}", "matchFields"));
  CHECK(Matches("{key: metadata.name, operator: NotIn, values: [n2]}", "matchFields"));
  CHECK_FALSE(Matches("{key: metadata.name, operator: NotIn, values: [n1]}", "matchFields"));
}

}  // namespace inspect::node_fit_test
