// The output of kubectl on both tiers, with the daemon's status.
#include <catch2/catch.hpp>

#include "tests/e2e/harness/plugin_scenario.h"

namespace e2e::kubectl_test {
namespace {

class KubectlUser {
 public:
  explicit KubectlUser(Scenario& scenario) : scenario_(scenario) {}
  std::string operator()(std::vector<std::string> arguments) {
    std::vector<std::string> argv{Kubectl(), "--kubeconfig=" + scenario_.server().Kubeconfig(),
                                  "--cache-dir=" + dir_.path(), "--namespace=" + scenario_.ns()};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    const auto result = RunProgram({.argv = argv}, Patience());
    INFO(result.output);
    CHECK(result.exit_code == 0);
    return result.output;
  }
  std::string File(const std::string& text) { return dir_.Write("manifest.yaml", text); }

 private:
  Scenario& scenario_;
  TempDir dir_;
};

struct Row {
  std::string name;
  std::string used;
  std::string hard;
};

// The output of `kubectl describe quota`: each column is two wider than its widest cell.
std::string Described(const std::string& name, const std::string& ns,
                      const std::vector<Row>& rows) {
  std::vector<Row> table{{"Resource", "Used", "Hard"}, {"--------", "----", "----"}};
  table.insert(table.end(), rows.begin(), rows.end());
  std::size_t first = std::string("Namespace:").size();
  std::size_t second = 0;
  for (const Row& row : table) {
    first = std::max(first, row.name.size());
    second = std::max(second, row.used.size());
  }
  const auto cell = [](std::string text, std::size_t width) {
    text.resize(width + 2, ' ');
    return text;
  };
  std::string text = cell("Name:", first) + name + "\n" + cell("Namespace:", first) + ns + "\n";
  for (const Row& row : table) {
    text += cell(row.name, first) + cell(row.used, second) + row.hard + "\n";
  }
  return text;
}

}  // namespace

TEST_CASE("kubectl describe shows the usual tables", "[e2e][kubectl][real-only]") {
  Scenario s;
  KubectlUser kubectl(s);
  s.StartDaemon();
  kubectl({"create", "quota", "quota",
           "--hard=cpu=20,memory=1Gi,persistentvolumeclaims=10,pods=10,"
           "replicationcontrollers=20,resourcequotas=3,secrets=10,services=5"});
  kubectl({"create", "quota", "test",
           "--hard=count/deployments.apps=2,count/replicasets.apps=4,count/pods=3,"
           "count/secrets=4"});
  const auto workload = [](const std::string& kind, const std::string& name) {
    return "---\napiVersion: apps/v1\nkind: " + kind + "\nmetadata: {name: " + name +
           "}\nspec:\n  replicas: 0\n  selector: {matchLabels: {app: x}}\n  template:\n"
           "    metadata: {labels: {app: x}}\n    spec:\n      containers:\n"
           "      - {name: c, image: registry.invalid/none:1}\n";
  };
  // A missing request defaults to the limit.
  const auto file = kubectl.File(
      "apiVersion: v1\nkind: Pod\nmetadata: {name: limited}\nspec:\n  containers:\n"
      "  - name: c\n    image: registry.invalid/none:1\n"
      "    resources: {limits: {cpu: 200m, memory: 128Mi}}\n" +
      workload("Deployment", "d") + workload("ReplicaSet", "r1") + workload("ReplicaSet", "r2"));
  kubectl({"apply", "-f", file});
  for (const auto* name : {"s1", "s2", "s3"}) kubectl({"create", "secret", "generic", name});
  kubectl({"create", "service", "clusterip", "web", "--tcp=80:80"});
  s.Create("persistentvolumeclaims", Claim("data", "1Gi"));
  s.Create("replicationcontrollers", ReplicationController("old"));
  s.WaitUsed("quota", {{"cpu", "200m"},
                       {"memory", "128Mi"},
                       {"persistentvolumeclaims", "1"},
                       {"pods", "1"},
                       {"replicationcontrollers", "1"},
                       {"resourcequotas", "2"},
                       {"secrets", "3"},
                       {"services", "1"}});
  CHECK(kubectl({"describe", "quota", "quota"}) == Described("quota", s.ns(),
                                                             {{"cpu", "200m", "20"},
                                                              {"memory", "128Mi", "1Gi"},
                                                              {"persistentvolumeclaims", "1", "10"},
                                                              {"pods", "1", "10"},
                                                              {"replicationcontrollers", "1", "20"},
                                                              {"resourcequotas", "2", "3"},
                                                              {"secrets", "3", "10"},
                                                              {"services", "1", "5"}}));
  CHECK(kubectl({"describe", "quota", "test"}) == Described("test", s.ns(),
                                                            {{"count/deployments.apps", "1", "2"},
                                                             {"count/pods", "1", "3"},
                                                             {"count/replicasets.apps", "2", "4"},
                                                             {"count/secrets", "3", "4"}}));
}

TEST_CASE("kubectl create, describe, get, apply and delete agree", "[e2e][kubectl][real-only]") {
  Scenario s;
  KubectlUser kubectl(s);
  s.StartDaemon();
  kubectl({"create", "quota", "compute", "--hard=pods=10,requests.cpu=2,requests.memory=4Gi"});
  s.Create("pods", Pod("a", {{"cpu", "100m"}, {"memory", "512Mi"}}));
  s.Create("pods", Pod("b", {{"cpu", "500m"}, {"memory", "1Gi"}}));
  s.WaitUsed("compute", {{"pods", "2"}, {"requests.cpu", "600m"}, {"requests.memory", "1536Mi"}});

  CHECK(kubectl({"describe", "quota", "compute"}) ==
        "Name:            compute\n"
        "Namespace:       " +
            s.ns() +
            "\n"
            "Resource         Used    Hard\n"
            "--------         ----    ----\n"
            "pods             2       10\n"
            "requests.cpu     600m    2\n"
            "requests.memory  1536Mi  4Gi\n");
  CHECK(kubectl({"get", "quota", "compute"})
            .find("pods: 2/10, requests.cpu: 600m/2, requests.memory: 1536Mi/4Gi") !=
        std::string::npos);

  const auto file = kubectl.File(
      "apiVersion: v1\nkind: ResourceQuota\nmetadata:\n  name: applied\nspec:\n  hard:\n    pods: "
      "\"3\"\n");
  kubectl({"apply", "-f", file});
  s.WaitUsed("applied", {{"pods", "2"}});
  kubectl({"delete", "pod", "a", "--grace-period=0", "--force"});
  s.WaitUsed("applied", {{"pods", "1"}});
  // A second apply must find its own annotation, which no status write may have removed.
  CHECK(kubectl({"apply", "-f", file}).find("unchanged") != std::string::npos);
  kubectl({"delete", "quota", "applied"});
  CHECK_FALSE(s.api().Exists(s.Path("resourcequotas", "applied")));
}

TEST_CASE("kubectl events shows the events of a quota", "[e2e][kubectl][events][real-only]") {
  Scenario s;
  KubectlUser kubectl(s);
  s.StartDaemon();
  kubectl({"create", "quota", "typo", "--hard=pods=10,example.com/gpu=2"});
  const std::string said = "UnknownResourceName";
  Eventually("the event is there", [&]() -> std::string {
    const auto events = kubectl({"events", "--for=resourcequota/typo"});
    return events.find(said) != std::string::npos ? "" : events;
  });
  const auto events =
      kubectl({"get", "events", "--field-selector=involvedObject.name=typo,type=Warning"});
  INFO(events);
  CHECK(events.find(said + "   resourcequota/typo   nothing is counted under example.com/gpu") !=
        std::string::npos);
  CHECK(kubectl({"events", "--for=resourcequota/other"}).find(said) == std::string::npos);
}

}  // namespace e2e::kubectl_test
