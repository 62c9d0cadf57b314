#include <catch2/catch.hpp>

#include "pkg/config/yaml.h"
#include "tests/cmd/kubectl-quota/plugin.h"

namespace kubectl_why_test {

using Catch::Matchers::Contains;
using kubectl_quota_tests::Plugin;

const api::GroupVersionResource kQuotas{"", "v1", "resourcequotas"};
const api::GroupVersionResource kPods{"", "v1", "pods"};
const api::GroupVersionResource kClaims{"", "v1", "persistentvolumeclaims"};
const api::GroupVersionResource kLimitRanges{"", "v1", "limitranges"};
const api::GroupVersionResource kStatefulSets{"apps", "v1", "statefulsets"};
const api::GroupVersionResource kReplicaSets{"apps", "v1", "replicasets"};

// A cluster whose quota has no pod left, with ReplicaSets "a" and "b" and the pod "waits".
class Full : public Plugin {
 public:
  Full() {
    cluster.Serve(kPods, "Pod");
    cluster.Serve(kReplicaSets, "ReplicaSet");
    Put(kQuotas,
        "{apiVersion: v1, kind: ResourceQuota, metadata: {name: q, namespace: shop}, spec: {hard: "
        "{pods: 1}}, status: {hard: {pods: 1}, used: {pods: 1}}}");
    for (const char* name : {"a", "b"}) {
      Put(kReplicaSets,
          "{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: " + std::string(name) +
              ", namespace: shop}, spec: {replicas: 2, template: {spec: {containers: [{name: "
              "c}]}}}}");
    }
    Put(kPods,
        "{apiVersion: v1, kind: Pod, metadata: {name: waits, namespace: shop}, spec: {containers: "
        "[{name: c}]}, status: {phase: Pending, conditions: [{type: PodScheduled, status: "
        "'False', message: no nodes}]}}");
  }
};

TEST_CASE("why: one object is one document, also a pod", "[kubectl-quota]") {
  Full plugin;
  const auto set = plugin.Ask({"why", "rs/a", "-o", "json"});
  CHECK(set.code == 1);
  const auto value = json::Parse(set.output);
  REQUIRE(value.has_value());
  CHECK(value->StringAt({"object"}) == "replicaset.apps/a");
  const auto pod = plugin.Ask({"why", "waits", "-o", "json"});
  CHECK(pod.code == 0);
  const auto told = json::Parse(pod.output);
  REQUIRE(told.has_value());
  CHECK(json::Write(*told) ==
        R"({"apiVersion":"cli.quota-controller-manager.io/v1alpha1",)"
        R"("kind":"QuotaExplanation","object":"pod/waits","wants":1,"has":1,"refused":false,)"
        R"("quotas":[],"phase":"Pending","message":"no nodes"})");
  CHECK(plugin.Ask({"why", "waits"}).output ==
        "pod/waits is stored, so no quota refuses it: it is Pending: no nodes\n");
}

TEST_CASE("why: a type may stand in front of its names, as in kubectl", "[kubectl-quota]") {
  Full plugin;
  const std::string a = plugin.Ask({"why", "rs/a"}).output;
  const std::string b = plugin.Ask({"why", "rs/b"}).output;
  for (const char* type :
       {"rs", "replicaset", "ReplicaSets", "replicasets.apps", "rs.apps", "replicasets.v1.apps"}) {
    INFO(type);
    CHECK(plugin.Ask({"why", type, "a", "b"}).output == a + b);
    CHECK(plugin.Ask({"why", std::string(type) + "/a"}).output == a);
  }
  CHECK(plugin.Ask({"why", "pod", "waits"}).output == plugin.Ask({"why", "waits"}).output);
  CHECK(plugin.Ask({"why", "waits", "waits"}).code == 0);
}

TEST_CASE("why: discovery tells the singular and the short names of a type", "[kubectl-quota]") {
  Full plugin;
  const api::GroupVersionResource autoscalers{"autoscaling", "v2", "horizontalpodautoscalers"};
  plugin.Put(autoscalers,
             "{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: web, "
             "namespace: shop}, spec: {maxReplicas: 2}}");
  const std::string full = plugin.Ask({"why", "horizontalpodautoscaler/web"}).warnings;
  CHECK_THAT(full, Contains("horizontalpodautoscaler.autoscaling/web has no pod template: name "
                            "what makes pods"));
  for (const char* word : {"hpa", "HPA", "hpa.autoscaling", "hpa.v2.autoscaling"}) {
    INFO(word);
    CHECK(plugin.Ask({"why", std::string(word) + "/web"}).warnings == full);
    CHECK(plugin.Ask({"why", word, "web"}).warnings == full);
  }
  SECTION("of custom kinds, too, of which a full name comes first") {
    const auto serve = [&](const std::string& group, const std::string& plural,
                           const std::string& kind) {
      plugin.cluster.Serve({group, "v1", plural}, kind);
      plugin.Put({group, "v1", plural}, "{apiVersion: " + group + "/v1, kind: " + kind +
                                            ", metadata: {name: x, namespace: shop}}");
    };
    // The fake cluster lists groups from the last one to the first.
    serve("b.io", "gadgets", "Gadget");
    serve("a.io", "wheels", "Wheel");
    serve("c.io", "oxen", "OxKind");
    plugin.cluster.short_names["gadgets"] = {"gd", "wheels"};
    plugin.cluster.short_names["wheels"] = {"gd"};
    plugin.cluster.singulars["oxen"] = "ox";
    const auto meant = [&](const std::string& word) {
      const std::string told = plugin.Ask({"why", word + "/x"}).warnings;
      return told.substr(0, told.find(" has no"));
    };
    CHECK(meant("gd") == "error: gadget.b.io/x");
    CHECK(meant("gd.a.io") == "error: wheel.a.io/x");
    CHECK(meant("wheels") == "error: wheel.a.io/x");
    CHECK(meant("ox") == "error: oxkind.c.io/x");
    CHECK(meant("oxkind") == "error: oxkind.c.io/x");
    CHECK_THAT(plugin.Ask({"why", "gagdets/x"}).warnings, Contains("did you mean \"gadgets\"?"));
  }
}

TEST_CASE("why: a type that is mistyped or has no name is an error that helps", "[kubectl-quota]") {
  Full plugin;
  const auto told = [&](const std::vector<std::string>& words) {
    std::vector<std::string> call{"why"};
    call.insert(call.end(), words.begin(), words.end());
    const auto answer = plugin.Ask(call);
    CHECK(answer.code == 2);
    return answer.warnings;
  };
  const std::string unknown = "error: the server doesn't have a resource type ";
  CHECK(told({"repliacset/a"}) == unknown + "\"repliacset\"; did you mean \"replicaset\"?\n");
  CHECK(told({"replcaset", "a"}) == unknown + "\"replcaset\"; did you mean \"replicaset\"?\n");
  CHECK(told({"moon/a"}) == unknown + "\"moon\"\n");
  plugin.cluster.singulars["pods"] = "";  // a server need not tell it
  CHECK(told({"/a"}) == unknown + "\"\"\n");
  CHECK(told({"rs.batch/a"}) == unknown + "\"rs.batch\"\n");
  CHECK(told({"rs"}) == "error: a name is missing behind rs; a pod of that name is pod/rs\n");
  CHECK(told({"rs/"}) == "error: a name is missing behind rs; a pod of that name is pod/rs\n");
  CHECK_THAT(told({"waist"}), Contains("not found: "));
}

TEST_CASE("why: several objects are one List", "[kubectl-quota]") {
  Full plugin;
  for (const std::string output : {"json", "yaml"}) {
    const auto told = plugin.Ask({"why", "rs/a", "rs/b", "waits", "-o", output});
    CHECK(told.code == 1);
    const auto list = config::ParseYaml(told.output);
    REQUIRE(list.has_value());
    CHECK(list->StringAt({"apiVersion"}) == "v1");
    CHECK(list->StringAt({"kind"}) == "List");
    REQUIRE(list->ArrayAt({"items"}).size() == 3);
    CHECK(list->ArrayAt({"items"})[1].StringAt({"object"}) == "replicaset.apps/b");
  }
  SECTION("texts follow each other") {
    const auto text = plugin.Ask({"why", "rs/a", "waits"}).output;
    CHECK_THAT(text, Catch::Matchers::StartsWith("replicaset.apps/a wants 2 pods and has 0") &&
                         Contains("\npod/waits is stored"));
  }
  SECTION("an error is no document") {
    const auto told = plugin.Ask({"why", "rs/a", "rs/none", "-o", "json"});
    CHECK(told.code == 2);
    CHECK(told.output.empty());
  }
}

// A StatefulSet "db" of three replicas with a claim each, one of which runs. Its quota has all the
// storage that two claims use.
class Storage : public Plugin {
 public:
  Storage() {
    cluster.Serve(kPods, "Pod");
    cluster.Serve(kClaims, "PersistentVolumeClaim");
    cluster.Serve(kStatefulSets, "StatefulSet");
    Put(kQuotas,
        "{apiVersion: v1, kind: ResourceQuota, metadata: {name: q, namespace: shop}, spec: {hard: "
        "{requests.storage: 2Gi, pods: 9}}, status: {hard: {requests.storage: 2Gi, pods: 9}, used: "
        "{requests.storage: 2Gi, pods: 1}}}");
    Put(kStatefulSets,
        "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: db, namespace: shop, uid: db}, "
        "spec: {replicas: 3, template: {spec: {containers: [{name: c}]}}, volumeClaimTemplates: "
        "[{metadata: {name: data}, spec: {resources: {requests: {storage: 1Gi}}}}]}}");
    Put(kPods,
        "{apiVersion: v1, kind: Pod, metadata: {name: db-0, namespace: shop, ownerReferences: "
        "[{apiVersion: apps/v1, kind: StatefulSet, name: db, uid: db, controller: true}]}, spec: "
        "{containers: [{name: c}]}, status: {phase: Running}}");
    Claim("data-db-0");
  }
  void Claim(const std::string& name) {
    Put(kClaims, "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: " + name +
                     ", namespace: shop}, spec: {resources: {requests: {storage: 1Gi}}}}");
  }
};

TEST_CASE("why: a StatefulSet needs the claims of its pods first", "[kubectl-quota]") {
  Storage plugin;
  SECTION("the next pod needs a claim") {
    plugin.Claim("other");
    const auto told = plugin.Ask({"why", "sts/db"});
    CHECK(told.code == 1);
    CHECK(told.output ==
          "statefulset.apps/db wants 3 pods and has 1: each needs pods=1 requests.storage=1Gi\n"
          "  quota q   pods 1/9, fits\n"
          "  quota q   requests.storage 2Gi/2Gi, 0 free, lacks 1Gi for the next, 2Gi for all   ← "
          "refuses\n"
          "room: raise requests.storage of quota q to 4Gi\n");
  }
  SECTION("the claim of the next pod exists") {
    plugin.Claim("data-db-1");
    const auto told = plugin.Ask({"why", "sts/db"});
    CHECK(told.code == 0);
    CHECK_THAT(told.output,
               Contains("each needs pods=1\n") &&
                   Contains("quota q   requests.storage 2Gi/2Gi, 0 free, lacks 1Gi for all\n") &&
                   Contains("no quota refuses the next one\n"));
  }
  SECTION("all claims exist") {
    plugin.Claim("data-db-1");
    plugin.Claim("data-db-2");
    CHECK_THAT(plugin.Ask({"why", "sts/db"}).output, !Contains("storage"));
  }
  SECTION("what a LimitRange refuses") {
    plugin.cluster.Serve(kLimitRanges, "LimitRange");
    plugin.Put(kLimitRanges,
               "{apiVersion: v1, kind: LimitRange, metadata: {name: l, namespace: shop}, spec: "
               "{limits: [{type: PersistentVolumeClaim, max: {storage: 500Mi}}]}}");
    CHECK_THAT(plugin.Ask({"why", "sts/db"}).output,
               Contains("the server   maximum storage usage per PersistentVolumeClaim is 500Mi"));
  }
}

TEST_CASE("why: only what goes at once is offered for deletion", "[kubectl-quota]") {
  Storage plugin;
  const auto room = [&] {
    const std::string output = plugin.Ask({"why", "sts/db"}).output;
    return output.substr(output.find("room: "));
  };
  const auto big = [&](const std::string& more) {
    plugin.Put(kClaims,
               "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: big, "
               "namespace: shop, finalizers: [kubernetes.io/pvc-protection" +
                   more + "]}, spec: {resources: {requests: {storage: 5Gi}}}}");
  };
  const auto pod = [&](const std::string& phase) {
    plugin.Put(kPods,
               "{apiVersion: v1, kind: Pod, metadata: {name: user, namespace: shop}, spec: "
               "{containers: [{name: c}], volumes: [{name: v, persistentVolumeClaim: {claimName: "
               "big}}]}, status: {phase: " +
                   phase + "}}");
  };
  const std::string raise = "room: raise requests.storage of quota q to 4Gi";
  const std::string both = raise + ", or delete persistentvolumeclaim/big (requests.storage=5Gi)";
  big("");
  CHECK(room() == both + "\n");
  SECTION("not a claim that a pod uses") {
    pod("Running");
    CHECK(room() == raise + "\n");
    pod("Succeeded");
    CHECK(room() == both + "\n");
  }
  SECTION("not an object with another finalizer") {
    big(", example.org/backup");
    CHECK(room() == raise + "\n");
  }
}

TEST_CASE("why: a DaemonSet of a user who may not list nodes", "[kubectl-quota]") {
  Full plugin;
  const api::GroupVersionResource sets{"apps", "v1", "daemonsets"};
  const api::GroupVersionResource events{"", "v1", "events"};
  plugin.cluster.Serve({"", "v1", "nodes"}, "Node", false);
  plugin.cluster.Serve(events, "Event");
  plugin.cluster.fault = [](const client::ApiRequest& request) -> std::optional<base::Error> {
    if (request.path.find("/nodes") == std::string::npos) return std::nullopt;
    return base::Error{.code = base::ErrorCode::kForbidden, .message = "forbidden"};
  };
  const auto put = [&](const std::string& status) {
    plugin.Put(sets,
               "{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: agent, namespace: shop, "
               "uid: ds}, spec: {template: {spec: {containers: [{name: c}]}}}" +
                   status + "}");
  };
  // The fake compares any field selector with names.
  plugin.Put(
      events,
      "{apiVersion: v1, kind: Event, metadata: {name: Warning, namespace: shop}, type: Warning, "
      "reason: FailedCreate, involvedObject: {apiVersion: apps/v1, kind: DaemonSet, name: "
      "agent, uid: ds}, message: 'exceeded quota: q'}");
  put("");
  const auto told = plugin.Ask({"why", "ds/agent"});
  INFO(told.output << told.warnings);
  CHECK(told.code == 1);
  CHECK_THAT(told.output,
             Contains("daemonset.apps/agent wants ? pods and has 0 (the nodes may not be listed): "
                      "each needs pods=1\n") &&
                 Contains("← refuses") && Contains("exceeded quota: q"));
  const auto value = json::Parse(plugin.Ask({"why", "ds/agent", "-o", "json"}).output);
  REQUIRE(value.has_value());
  CHECK(value->At({"wants"}) == nullptr);
  CHECK(value->ArrayAt({"unknown"}).size() == 1);
  put(", status: {desiredNumberScheduled: 3}");
  CHECK_THAT(plugin.Ask({"why", "ds/agent"}).output, Contains("wants 3 pods and has 0: each"));
}

}  // namespace kubectl_why_test
