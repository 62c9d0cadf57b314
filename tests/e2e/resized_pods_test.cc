// Pods that are being resized, as each version of Kubernetes counts them (pkg/quota/rules.h), and
// the same by kube-controller-manager of the server's version, if it is there. No kubelet runs, so
// the scenario stores what one would report.
#include <catch2/catch.hpp>

#include "tests/e2e/harness/story.h"

namespace e2e::resized_pods_test {
namespace {

struct Row {
  std::string name;
  std::string spec;
  std::string resize;  // the wanted resources from now on; "": as created
  std::string status;
  std::string up_to_136;
  std::string from_137;
};

std::string Wanted(const std::string& name, const std::string& cpu) {
  return R"({"name":")" + name + R"(","image":"registry.invalid/none:1","resources":{"requests":)" +
         R"({"cpu":")" + cpu + R"("}}})";
}

// `resources` begin with a comma.
std::string Reported(const std::string& name, const std::string& resources) {
  return R"({"name":")" + name + R"(","image":"i","imageID":"i","ready":false,"restartCount":0)" +
         resources + "}";
}

std::string Actual(const std::string& cpu) {
  return R"(,"resources":{"requests":{"cpu":")" + cpu + R"("}})";
}

std::string Allocated(const std::string& cpu) {
  return R"(,"allocatedResources":{"cpu":")" + cpu + R"("})";
}

// A container of 200m and one of 100m.
const std::string kTwo =
    R"("containers":[)" + Wanted("a", "200m") + "," + Wanted("b", "100m") + "]";

const std::vector<Row> kRows = {
    {"one container gets what another one gives back", kTwo,
     R"("containers":[)" + Wanted("a", "100m") + "," + Wanted("b", "200m") + "]",
     R"("containerStatuses":[)" + Reported("a", Actual("200m") + Allocated("200m")) + "," +
         Reported("b", Actual("100m") + Allocated("100m")) + "]",
     "400m", "300m"},
    {"allocated, and nothing is said about the actual amount", kTwo, "",
     R"("containerStatuses":[)" + Reported("a", Allocated("500m")) + "]", "300m", "600m"},
    {"refused by the node, which reports one container", kTwo, "",
     R"("conditions":[{"type":"PodResizePending","status":"True","reason":"Infeasible"}],)"
     R"("containerStatuses":[)" +
         Reported("b", Actual("80m")) + "]",
     "280m", "80m"},
    {"an init container shrinks",
     R"("initContainers":[)" + Wanted("i", "4") + R"(],"containers":[)" + Wanted("a", "1") + "]",
     "", R"("initContainerStatuses":[)" + Reported("i", Actual("9")) + "]", "4", "9"},
};

}  // namespace

TEST_CASE("pods that are being resized count as the server's version counts them",
          "[e2e][evaluators][since-1.33][server]") {
  Scenario s;
  s.StartDaemon();
  const bool since_137 = MinorVersion(s.api()) >= 37;
  std::vector<std::unique_ptr<Story>> stories;
  std::vector<std::string> used;
  for (const Row& row : kRows) {
    INFO(row.name);
    Story& story =
        *stories.emplace_back(std::make_unique<Story>(s, std::vector<std::string>{"requests.cpu"}));
    story.Do(
        {"POST pods",
         R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{)" + row.spec + "}}",
         ""});
    if (!row.resize.empty()) {
      story.Do({"PATCH pods/p/resize", R"({"spec":{)" + row.resize + "}}", ""});
    }
    used.push_back(since_137 ? row.from_137 : row.up_to_136);
    story.Play({"PATCH pods/p/status", R"({"status":{)" + row.status + "}}",
                "requests.cpu=" + used.back()});
  }
  if (!HaveBuiltinController()) return;

  s.StopDaemon();
  TempDir dir;
  const auto controller = StartBuiltinController(
      "resourcequota-controller", s.server().Kubeconfig(), dir.path() + "/controller.log");
  for (std::size_t i = 0; i < kRows.size(); ++i) {
    INFO(kRows[i].name);
    const std::string path = PathOf("resourcequotas", stories[i]->ns());
    s.api().Create(path, Quota("theirs", {{"requests.cpu", "1000"}}));
    Eventually(
        "kube-controller-manager counts " + used[i],
        [&]() -> std::string {
          const auto theirs = s.api().Get(path + "/theirs");
          const std::string now(theirs.StringAt({"status", "used", "requests.cpu"}));
          return now == used[i] ? "" : "used: " + now;
        },
        60s);
  }
}

}  // namespace e2e::resized_pods_test
