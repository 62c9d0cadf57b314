#include "pkg/inspect/made.h"

#include <catch2/catch.hpp>

#include "pkg/config/yaml.h"
#include "pkg/inspect/workload.h"

namespace made_test {

using inspect::Made;

json::Value Yaml(const std::string& text) {
  auto value = config::ParseYaml(text);
  INFO(text);
  REQUIRE(value.has_value());
  return *value;
}

json::Value Template(const std::string& container, const std::string& more = "") {
  return Yaml("{metadata: {labels: {a: w" + more + "}}, spec: {containers: [{name: c, " +
              container + "}]}}");
}

TEST_CASE("made: templates are the same with and without the API's defaults", "[inspect]") {
  const auto given = Template(
      "image: 'i:1', ports: [{containerPort: 80}], livenessProbe: {tcpSocket: {port: 80}}");
  auto stored = Yaml(
      "{metadata: {creationTimestamp: null, labels: {a: w, pod-template-hash: x}}, spec: "
      "{restartPolicy: Always, dnsPolicy: ClusterFirst, schedulerName: default-scheduler, "
      "terminationGracePeriodSeconds: 30, securityContext: {}, containers: [{name: c, image: "
      "'i:1', "
      "imagePullPolicy: IfNotPresent, resources: {}, terminationMessagePath: /dev/termination-log, "
      "terminationMessagePolicy: File, ports: [{containerPort: 80, protocol: TCP}], livenessProbe: "
      "{tcpSocket: {port: 80}, failureThreshold: 3, periodSeconds: 10, successThreshold: 1, "
      "timeoutSeconds: 1}}]}}");
  CHECK(inspect::SameTemplate(given, stored));
  CHECK(inspect::SameTemplate(stored, given));
  SECTION("but nothing else may differ") {
    CHECK_FALSE(inspect::SameTemplate(Template("image: 'i:2'"), Template("image: 'i:1'")));
    CHECK_FALSE(inspect::SameTemplate(Template("image: 'i:1'"),
                                      Template("image: 'i:1', resources: {limits: {cpu: 1}}")));
    CHECK_FALSE(
        inspect::SameTemplate(Template("image: 'i:1'", ", b: c"), Template("image: 'i:1'")));
    stored.Make({"spec", "restartPolicy"}) = "Never";
    CHECK_FALSE(inspect::SameTemplate(given, stored));
    const auto differs = [](const std::string& one, const std::string& other) {
      INFO(one << " or " << other);
      CHECK_FALSE(inspect::SameTemplate(Template(one), Template(other)));
      CHECK_FALSE(inspect::SameTemplate(Template(other), Template(one)));
    };
    // Of a container that makes a sidecar of an init container, so it is no default there.
    differs("image: 'i:1', restartPolicy: Always", "image: 'i:1'");
    differs("image: 'i:1', imagePullPolicy: Always", "image: 'i:1'");
    differs("image: 'r:5000/i:1', imagePullPolicy: Always", "image: 'r:5000/i:1'");
    differs("image: 'i@sha256:a', imagePullPolicy: Always", "image: 'i@sha256:a'");
    differs("image: i, imagePullPolicy: IfNotPresent", "image: i");
    differs("image: 'r:5000/i', imagePullPolicy: IfNotPresent", "image: 'r:5000/i'");
    differs("env: [{name: a, value: '1'}]", "env: [{name: a, value: '1.0'}]");
    differs("env: [{name: a, value: 1024Mi}]", "env: [{name: a, value: 1Gi}]");
  }
  SECTION("the default of the pull policy follows the tag") {
    for (const char* image : {"i", "'i:latest'", "'r:5000/i'", "'i:latest@sha256:a'"}) {
      const std::string named = "image: " + std::string(image);
      CHECK(inspect::SameTemplate(Template(named + ", imagePullPolicy: Always"), Template(named)));
    }
    CHECK(inspect::SameTemplate(Template("image: 'i@sha256:a', imagePullPolicy: IfNotPresent"),
                                Template("image: 'i@sha256:a'")));
    CHECK(inspect::SameTemplate(Template("resources: {requests: {cpu: 0.5, memory: 1024Mi}}"),
                                Template("resources: {requests: {cpu: 500m, memory: 1Gi}}")));
  }
}

// A pod of a revision, with what it requests.
std::string Pod(const std::string& uid, const std::string& set, const std::string& cpu) {
  return "{apiVersion: v1, kind: Pod, metadata: {name: " + uid + ", uid: " + uid +
         ", labels: {controller-revision-hash: " + set + "}, ownerReferences: [{uid: " + set +
         "}]}, spec: {containers: [{name: c, resources: {requests: {cpu: " + cpu + "}}}]}}";
}

std::string Workload(const std::string& kind, const std::string& image, const std::string& more) {
  return "{apiVersion: apps/v1, kind: " + kind + ", metadata: {name: w, uid: w}, spec: {" + more +
         "template: {metadata: {labels: {a: w}}, spec: {containers: [{name: c, image: '" + image +
         "'}]}}}, status: {replicas: 4, currentNumberScheduled: 4}}";
}

// Three pods of the revision "one" with other requests than the template, and one of "two".
Made Stock(const std::string& kind) {
  Made made;
  for (const auto& [name, image] : {std::pair("one", "i:1"), std::pair("two", "i:2")}) {
    json::Value revision = Yaml(std::string("{metadata: {uid: ") + name + ", name: " + name + "}}");
    const json::Value pod_template = Template("image: '" + std::string(image) + "'");
    if (kind == "Deployment") {
      revision.Make({"spec", "template"}) = pod_template;
    } else {
      revision.Make({"data", "spec", "template"}) = pod_template;
      revision.Make({"data", "spec", "template", "$patch"}) = "replace";
    }
    made.revisions.push_back(std::move(revision));
  }
  for (const char* cpu : {"1", "2", "3"})
    made.pods.push_back(Yaml(Pod("p" + std::string(cpu), "one", cpu)));
  made.pods.push_back(Yaml(Pod("p4", "two", "4")));
  made.claims.emplace("p2",
                      Yaml("{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: x}}"));
  return made;
}

// "ReplicaSet, Pod×4 for p1 p2+x p3, spare 1".
std::string Told(const std::string& kind, const std::string& image, const std::string& more,
                 const std::string& stored = "i:2") {
  const inspect::Surroundings around{.nodes_for = [](const json::Value&) { return 4; }};
  const auto expansion = inspect::ExpandChange(
      Yaml(Workload(kind, image, more)), Yaml(Workload(kind, stored, more)), around, Stock(kind));
  REQUIRE(expansion.has_value());
  CHECK(expansion->uncounted.empty());
  std::string text;
  for (const auto& piece : expansion->pieces) {
    if (piece.stored) continue;
    text += (text.empty() ? "" : ", ") + std::string(piece.object.StringAt({"kind"})) + "×" +
            std::to_string(piece.count);
  }
  for (const auto& rollout : expansion->rollouts) {
    text += (text.empty() ? "Pod×" : ", Pod×") + std::to_string(rollout.fresh) + " for";
    for (const auto& old : rollout.old) {
      text += " " + std::string(old.objects.front().StringAt({"metadata", "name"}));
      for (std::size_t i = 1; i < old.objects.size(); ++i) {
        text += "+" + std::string(old.objects[i].StringAt({"metadata", "name"}));
      }
    }
    text += ", spare " + std::to_string(rollout.spare);
  }
  return text;
}

TEST_CASE("made: a rollout replaces the stored pods, with their claims", "[inspect]") {
  const std::string four = "replicas: 4, ";
  CHECK(Told("Deployment", "i:3", four) == "ReplicaSet×1, Pod×4 for p1 p2+x p3 p4, spare 1");
  CHECK(Told("StatefulSet", "i:3", four) ==
        "ControllerRevision×1, Pod×4 for p1 p2+x p3 p4, spare 0");
  CHECK(Told("DaemonSet", "i:3", "") == "ControllerRevision×1, Pod×4 for p1 p2+x p3 p4, spare 0");
  CHECK(Told("Deployment", "i:3", four + "strategy: {type: Recreate}, ") ==
        "ReplicaSet×1, Pod×4 for p1 p2+x p3 p4, spare -4");
}

TEST_CASE("made: a return to an earlier template makes no revision, and keeps its pods",
          "[inspect]") {
  const std::string four = "replicas: 4, ";
  for (const char* kind : {"Deployment", "StatefulSet"}) {
    CHECK(Told(kind, "i:1", four) ==
          std::string("Pod×1 for p4, spare ") + (kind == std::string("Deployment") ? "1" : "0"));
  }
  SECTION("a rollout that is on its way goes on") {
    CHECK(Told("Deployment", "i:2", four) == "Pod×3 for p1 p2+x p3, spare 1");
  }
  SECTION("if the present template has no revision yet, all pods are taken to have it") {
    CHECK(Told("Deployment", "i:4", "replicas: 5, ", "i:4") == "Pod×1");
  }
}

TEST_CASE("made: an update strategy OnDelete keeps the pods and makes a revision", "[inspect]") {
  const std::string on_delete = "updateStrategy: {type: OnDelete}, ";
  CHECK(Told("StatefulSet", "i:3", "replicas: 4, " + on_delete) == "ControllerRevision×1");
  CHECK(Told("DaemonSet", "i:3", on_delete) == "ControllerRevision×1");
  CHECK(Told("DaemonSet", "i:1", on_delete).empty());
  CHECK(Told("Deployment", "i:3", "replicas: 4, paused: true, ").empty());
}

TEST_CASE("made: without its pods, what a rollout frees is not known", "[inspect]") {
  const auto expansion =
      inspect::ExpandChange(Yaml(Workload("Deployment", "i:3", "replicas: 4, ")),
                            Yaml(Workload("Deployment", "i:2", "replicas: 4, ")), {});
  REQUIRE(expansion.has_value());
  CHECK(expansion->uncounted ==
        std::vector<std::string>{
            "deployment.apps/w: the pods that its rollout replaces cannot be seen"});
}

}  // namespace made_test
