#include "pkg/inspect/workload.h"

#include <catch2/catch.hpp>

#include "pkg/config/yaml.h"

namespace workload_test {

using inspect::Expand;
using inspect::ExpandChange;
using inspect::Surroundings;

json::Value Yaml(const std::string& text) {
  auto value = config::ParseYaml(text);
  INFO(text);
  REQUIRE(value.has_value());
  return *value;
}

// "Deployment, ReplicaSet, Pod×3": the pieces and their numbers; "Pod×4 for 3, spare 1": a rollout.
std::string Pieces(const base::Result<inspect::Expansion>& expansion) {
  REQUIRE(expansion.has_value());
  std::string text;
  for (const auto& piece : expansion->pieces) {
    if (!text.empty()) text += ", ";
    text += piece.object.StringAt({"kind"});
    if (piece.count != 1) text += "×" + std::to_string(piece.count);
    if (piece.stored) text += " stored";
  }
  for (const auto& rollout : expansion->rollouts) {
    std::int64_t old = 0;
    for (const auto& pod : rollout.old) old += pod.count;
    text += ", ";
    text += rollout.each.back().object.StringAt({"kind"});
    text += "×" + std::to_string(rollout.fresh) + " for " + std::to_string(old) + ", spare " +
            std::to_string(rollout.spare);
  }
  return text;
}

std::string Workload(const std::string& kind, const std::string& spec,
                     const std::string& cpu = "100m") {
  const std::string group = kind == "Job" || kind == "CronJob" ? "batch/v1" : "apps/v1";
  return "apiVersion: " + group + "\nkind: " + kind +
         "\nmetadata: {name: w, namespace: a}\nspec:\n" + spec +
         "  template:\n    spec:\n      containers:\n      - {name: c, resources: {requests: "
         "{cpu: " +
         cpu + "}}}\n";
}

TEST_CASE("workload: each kind is expanded into the objects of its controller", "[inspect]") {
  struct Row {
    const char* kind;
    const char* spec;
    const char* pieces;
  };
  const Row row = GENERATE(
      Row{"Deployment", "", "Deployment, ReplicaSet, Pod"},
      Row{"Deployment", "  replicas: 3\n", "Deployment, ReplicaSet, Pod×3"},
      Row{"Deployment", "  replicas: 0\n", "Deployment, ReplicaSet"},
      Row{"Deployment", "  replicas: 3\n  paused: true\n", "Deployment"},
      Row{"ReplicaSet", "  replicas: 2\n", "ReplicaSet, Pod×2"},
      Row{"StatefulSet", "  replicas: 2\n", "StatefulSet, ControllerRevision, Pod×2"},
      Row{"StatefulSet",
          "  replicas: 3\n  volumeClaimTemplates:\n  - metadata: {name: data}\n    spec: {}\n",
          "StatefulSet, ControllerRevision, PersistentVolumeClaim×2, Pod×3"},
      Row{"DaemonSet", "", "DaemonSet, ControllerRevision, Pod×4"}, Row{"Job", "", "Job, Pod"},
      Row{"Job", "  parallelism: 3\n", "Job, Pod×3"},
      Row{"Job", "  parallelism: 3\n  completions: 2\n", "Job, Pod×2"},
      Row{"Job", "  parallelism: 3\n  completions: 9\n", "Job, Pod×3, Pod×6"},
      Row{"Job", "  parallelism: 0\n  completions: 9\n", "Job"},
      Row{"Job", "  suspend: true\n", "Job"});
  Surroundings around{.nodes_for = [](const json::Value&) { return 4; },
                      .claims = {"data-w-1", "data-w-7", "data-other-0"}};
  INFO(row.kind << "\n" << row.spec);
  CHECK(Pieces(Expand(Yaml(Workload(row.kind, row.spec)), around)) == row.pieces);
}

TEST_CASE("workload: a template that the server refuses is refused without pods, too",
          "[inspect]") {
  const std::string kind = GENERATE("Deployment", "CronJob");
  const std::string path =
      kind == "CronJob" ? "spec.jobTemplate.spec.template.spec" : "spec.template.spec";
  const std::string pods =
      "template: {spec: {containers: [{name: c, resources: {requests: "
      "{nvidia.com/gpu: 1}}}]}}";
  const auto object = [&](bool none) {
    return kind == "CronJob"
               ? Yaml(
                     "{apiVersion: batch/v1, kind: CronJob, metadata: {name: w}, spec: {suspend: " +
                     std::string(none ? "true" : "false") + ", jobTemplate: {spec: {" + pods +
                     "}}}}")
               : Yaml(
                     "{apiVersion: apps/v1, kind: Deployment, metadata: {name: w}, spec: "
                     "{replicas: " +
                     std::string(none ? "0" : "1") + ", " + pods + "}}");
  };
  const std::vector<std::string> refusals{path +
                                          ".containers[0].resources.limits: Required value: "
                                          "Limit must be set for non overcommitable "
                                          "resources"};
  for (const bool none : {true, false}) {
    const auto expansion = Expand(object(none), {});
    REQUIRE(expansion.has_value());
    for (const auto& piece : expansion->pieces) CHECK(piece.refusals == refusals);
  }
  const auto job = Expand(
      Yaml("{apiVersion: batch/v1, kind: Job, metadata: {name: w}, spec: {managedBy: a.b/c, " +
           pods + "}}"),
      {});
  REQUIRE(job.has_value());
  CHECK_FALSE(job->pieces.front().refusals.empty());
  const auto change = ExpandChange(object(true), object(true), {});
  REQUIRE(change.has_value());
  CHECK(change->pieces.front().refusals == refusals);
}

TEST_CASE("workload: a stored quota that gets a wrong name is refused", "[inspect]") {
  const auto quota = [](const std::string& name) {
    return Yaml("{apiVersion: v1, kind: ResourceQuota, metadata: {name: q}, spec: {hard: {" + name +
                ": 1}}}");
  };
  const auto change = ExpandChange(quota("pod"), quota("pods"), {});
  REQUIRE(change.has_value());
  CHECK(change->pieces.front().refusals.size() == 1);
}

TEST_CASE("workload: a CronJob is counted with one run, a suspended one without", "[inspect]") {
  const std::string head =
      "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: c, namespace: a}\nspec:\n";
  const std::string run =
      "  jobTemplate:\n    spec:\n      parallelism: 2\n      template:\n        spec:\n          "
      "containers: [{name: c}]\n";
  const auto expansion = Expand(Yaml(head + run), {});
  CHECK(Pieces(expansion) == "CronJob, Job, Job×4, Pod×2, Pod×8");
  CHECK(expansion->pieces.back().object.StringAt({"status", "phase"}) == "Succeeded");
  CHECK(expansion->notes ==
        std::vector<std::string>{"cronjob.batch/c: counted with one run at a time"});
  CHECK(Pieces(Expand(Yaml(head + "  suspend: true\n" + run), {})) == "CronJob");
}

TEST_CASE("workload: unknown parts are noted", "[inspect]") {
  const auto rollout = Expand(
      Yaml("apiVersion: argoproj.io/v1alpha1\nkind: Rollout\nmetadata: {name: r}\nspec: {replicas: "
           "3}\n"),
      {});
  CHECK(Pieces(rollout) == "Rollout");
  REQUIRE(rollout->notes.size() == 1);
  CHECK_THAT(rollout->notes[0],
             Catch::Matchers::Contains("its controller makes of it is not known"));
  const auto daemon = Expand(Yaml(Workload("DaemonSet", "")), {});
  REQUIRE(daemon->notes.size() == 1);
  CHECK_THAT(daemon->notes[0], Catch::Matchers::Contains("give --nodes"));
  CHECK(Expand(Yaml("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n"), {})->notes.empty());
}

TEST_CASE("workload: what operators make of a custom kind is unknown", "[inspect]") {
  const auto unknown = [](const std::string& version, const std::string& kind,
                          const std::string& spec = "{a: b}") {
    const auto expansion = Expand(Yaml("{apiVersion: " + version + ", kind: " + kind +
                                       ", metadata: {name: x}, spec: " + spec + "}"),
                                  {});
    return !expansion->uncounted.empty();
  };
  CHECK(unknown("mongodbcommunity.mongodb.com/v1", "MongoDBCommunity", "{members: 3}"));
  CHECK(unknown("acid.zalan.do/v1", "postgresql", "{numberOfInstances: 2}"));
  CHECK(unknown("elasticsearch.k8s.elastic.co/v1", "Elasticsearch", "{nodeSets: [{count: 5}]}"));
  CHECK(unknown("flink.apache.org/v1beta1", "FlinkDeployment",
                "{taskManager: {resource: {cpu: 8}}}"));
  CHECK(unknown("pxc.percona.com/v1", "PerconaXtraDBCluster", "{pxc: {size: 3}}"));
  CHECK(unknown("cert-manager.io/v1", "Certificate"));
  CHECK(unknown("helm.toolkit.fluxcd.io/v2", "HelmRelease"));
  CHECK(unknown("gateway.networking.k8s.io/v1", "Gateway"));
  CHECK(unknown("monitoring.coreos.com/v1", "Prometheus"));
  CHECK(unknown("tekton.dev/v1", "PipelineRun"));
  CHECK(unknown("sparkoperator.k8s.io/v1beta2", "SparkApplication", "{executor: {instances: 20}}"));
  CHECK_FALSE(unknown("monitoring.coreos.com/v1", "ServiceMonitor"));
  CHECK_FALSE(unknown("networking.istio.io/v1", "VirtualService"));
  CHECK_FALSE(unknown("gateway.networking.k8s.io/v1", "HTTPRoute",
                      "{rules: [{backendRefs: [{name: web, port: 80, weight: 1}]}]}"));
  CHECK_FALSE(unknown("snapshot.storage.k8s.io/v1", "VolumeSnapshot",
                      "{source: {persistentVolumeClaimName: data}}"));
  CHECK_FALSE(unknown("autoscaling.k8s.io/v1", "VerticalPodAutoscaler",
                      "{updatePolicy: {minReplicas: 2}}"));
  CHECK_FALSE(unknown("example.org/v1", "Disk", "{size: 5Gi}"));
}

TEST_CASE("workload: pods of a Job that ended stay with their volume claims", "[inspect]") {
  const std::string pods =
      "template: {spec: {containers: [{name: c}], volumes: [{name: v, ephemeral: "
      "{volumeClaimTemplate: {spec: {}}}}]}}";
  const auto job = [&](const std::string& spec) {
    return Yaml("{apiVersion: batch/v1, kind: Job, metadata: {name: j}, spec: {" + spec +
                "parallelism: 2, completions: 20, " + pods + "}}");
  };
  const std::string all = "PersistentVolumeClaim×2, Pod×2, PersistentVolumeClaim×18, Pod×18";
  const auto expansion = Expand(job(""), {});
  CHECK(Pieces(expansion) == "Job, " + all);
  CHECK(expansion->pieces.back().object.StringAt({"status", "phase"}) == "Succeeded");
  SECTION("a stored Job makes them anyway, unless it is suspended") {
    CHECK(Pieces(ExpandChange(job(""), job(""), {})) == "Job stored");
    CHECK(Pieces(ExpandChange(job("suspend: false, "), job("suspend: true, "), {})) ==
          "Job stored, PersistentVolumeClaim×18, Pod×18, PersistentVolumeClaim×2, Pod×2");
  }
  SECTION("also in the history of a CronJob, which a suspended one lacks") {
    const auto cron = [&](const std::string& suspend) {
      return Yaml("{apiVersion: batch/v1, kind: CronJob, metadata: {name: c}, spec: {suspend: " +
                  suspend + ", jobTemplate: {spec: {" + pods + "}}}}");
    };
    const std::string run =
        "Job, Job×4, PersistentVolumeClaim, Pod, PersistentVolumeClaim×4, Pod×4";
    CHECK(Pieces(Expand(cron("false"), {})) == "CronJob, " + run);
    CHECK(Pieces(ExpandChange(cron("false"), cron("true"), {})) == "CronJob stored, " + run);
  }
}

TEST_CASE("workload: what another controller makes of a Job is unknown", "[inspect]") {
  const auto expansion = [](const std::string& manager) {
    return Expand(Yaml(Workload("Job", "  managedBy: " + manager + "\n")), {});
  };
  const auto other = expansion("kueue.x-k8s.io/multikueue");
  CHECK(Pieces(other) == "Job");
  CHECK(other->uncounted.size() == 1);
  CHECK(Pieces(expansion("kubernetes.io/job-controller")) == "Job, Pod");
  const auto cron = Expand(Yaml("{apiVersion: batch/v1, kind: CronJob, metadata: {name: c}, spec: "
                                "{jobTemplate: {spec: {managedBy: a.b/c, template: {spec: "
                                "{containers: [{name: c}]}}}}}}"),
                           {});
  CHECK(Pieces(cron) == "CronJob, Job, Job×4");
  CHECK(cron->uncounted.size() == 1);
}

TEST_CASE("workload: a CronJob keeps as many finished Jobs as it says", "[inspect]") {
  const auto cron = [](const std::string& spec) {
    return Yaml("{apiVersion: batch/v1, kind: CronJob, metadata: {name: c}, spec: {" + spec +
                "jobTemplate: {spec: {template: {spec: {containers: [{name: c}]}}}}}}");
  };
  const std::string none = "successfulJobsHistoryLimit: 0, failedJobsHistoryLimit: 0, ";
  CHECK(Pieces(Expand(cron(none), {})) == "CronJob, Job, Pod");
  CHECK(Pieces(Expand(cron("successfulJobsHistoryLimit: 7, "), {})) ==
        "CronJob, Job, Job×8, Pod, Pod×8");
  // A stored one has them already.
  CHECK(Pieces(ExpandChange(cron("schedule: b, "), cron("schedule: a, "), {})) ==
        "CronJob stored, Job, Pod");
}

TEST_CASE("workload: a Service with a selector has Endpoints and EndpointSlices", "[inspect]") {
  const auto service = [](const std::string& spec) {
    return Yaml("{apiVersion: v1, kind: Service, metadata: {name: s}, spec: {" + spec + "}}");
  };
  const std::string selector = "selector: {a: b}";
  CHECK(Pieces(Expand(service(selector), {})) == "Service, Endpoints, EndpointSlice");
  CHECK(Pieces(Expand(service(selector + ", ipFamilyPolicy: RequireDualStack"), {})) ==
        "Service, Endpoints, EndpointSlice×2");
  CHECK(Pieces(Expand(service(selector + ", type: ExternalName"), {})) == "Service");
  CHECK(Pieces(Expand(service("selector: {}"), {})) == "Service");
  CHECK(Pieces(ExpandChange(service(selector), service("ports: []"), {})) ==
        "Service stored, Endpoints, EndpointSlice");
  CHECK(Pieces(ExpandChange(service(selector), service(selector), {})) == "Service stored");
}

TEST_CASE("workload: a custom resource that mentions pods anywhere is not wholly counted",
          "[inspect]") {
  const auto uncounted = [](const std::string& object) {
    return Expand(Yaml(object), {})->uncounted.size();
  };
  const auto custom = [&](const std::string& spec) {
    return uncounted("{apiVersion: x.io/v1, kind: Thing, metadata: {name: t}, spec: " + spec + "}");
  };
  CHECK(custom("{instances: 9, storage: {size: 50Gi}}") == 1);
  CHECK(custom("{workers: [{template: {spec: {containers: []}}}]}") == 1);
  CHECK(custom("{template: {spec: {domain: {cpu: {cores: 8}}}}}") == 1);
  CHECK(custom("{templates: [{name: a, container: {image: i}}]}") == 1);
  CHECK(custom("{kafka: {resources: {limits: {cpu: 1}}}}") == 1);
  CHECK(custom("{dnsNames: [a], template: {metadata: {}}}") == 0);
  CHECK(uncounted("{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: i}, spec: "
                  "{rules: [{container: 1}]}}") == 0);
}

TEST_CASE("workload: ephemeral volumes of pods count as claims", "[inspect]") {
  const auto expansion = Expand(
      Yaml("apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers: [{name: c}]\n  "
           "volumes:\n  - name: scratch\n    ephemeral:\n      volumeClaimTemplate:\n        spec: "
           "{resources: {requests: {storage: 1Gi}}}\n"),
      {.defaults = {.storage_class = "fast"}});
  CHECK(Pieces(expansion) == "PersistentVolumeClaim, Pod");
  CHECK(expansion->pieces[0].object.StringAt({"metadata", "name"}) == "p-scratch");
  CHECK(expansion->pieces[0].object.StringAt({"spec", "storageClassName"}) == "fast");
}

TEST_CASE("workload: only changes are charged", "[inspect]") {
  const auto change = [](const std::string& kind, const std::string& before,
                         const std::string& after, const std::string& cpu = "100m",
                         const std::string& status = "") {
    auto stored = Yaml(Workload(kind, before) + status);
    // A server stores the object with defaults, and may write amounts in another notation.
    stored.Make({"spec", "template", "spec", "dnsPolicy"}) = "ClusterFirst";
    return Pieces(ExpandChange(Yaml(Workload(kind, after, cpu)), stored, {}));
  };
  const std::string three = "  replicas: 3\n";
  CHECK(change("Deployment", three, three, "0.1") == "Deployment stored");
  CHECK(change("Deployment", three, "  replicas: 5\n") == "Deployment stored, Pod×2");
  CHECK(change("Deployment", three, "  replicas: 1\n") == "Deployment stored");
  CHECK(change("Deployment", three, "") == "Deployment stored");
  SECTION("pods that were refused are still wanted") {
    CHECK(change("Deployment", three, three, "100m", "status: {replicas: 1}\n") ==
          "Deployment stored, Pod×2");
  }
  SECTION("a rollout has its surge, and keeps as many old pods at its end") {
    CHECK(change("Deployment", "  replicas: 4\n", "  replicas: 4\n", "200m") ==
          "Deployment stored, ReplicaSet, Pod×4 for 4, spare 1");
    const std::string half =
        "  replicas: 4\n  strategy: {rollingUpdate: {maxSurge: 2, maxUnavailable: 0}}\n";
    CHECK(change("Deployment", "  replicas: 4\n", half, "200m") ==
          "Deployment stored, ReplicaSet, Pod×4 for 4, spare 2");
  }
  SECTION("one that recreates has none") {
    CHECK(change("Deployment", "  replicas: 4\n", "  replicas: 4\n  strategy: {type: Recreate}\n",
                 "200m") == "Deployment stored, ReplicaSet, Pod×4 for 4, spare -4");
  }
  SECTION("pods of a ReplicaSet stay as they are") {
    CHECK(change("ReplicaSet", three, "  replicas: 4\n", "200m") == "ReplicaSet stored, Pod");
  }
}

TEST_CASE("workload: pods that a changed Job or DaemonSet adds are charged", "[inspect]") {
  const Surroundings around{.nodes_for = [](const json::Value& spec) {
    return spec.At({"nodeSelector"}) == nullptr ? 5 : 2;
  }};
  const auto change = [&](const std::string& kind, const std::string& before,
                          const std::string& after, const std::string& status) {
    const json::Value stored = Yaml(Workload(kind, before) + "status: " + status + "\n");
    return Pieces(ExpandChange(Yaml(Workload(kind, after)), stored, around));
  };
  const auto job = [&](const char* before, const char* after, const char* status) {
    return change("Job", before, after, status);
  };
  CHECK(job("  parallelism: 2\n", "  parallelism: 5\n", "{active: 2}") == "Job stored, Pod×3");
  CHECK(job("  parallelism: 4\n  suspend: true\n", "  suspend: false\n", "{}") ==
        "Job stored, Pod×4");
  CHECK(job("  parallelism: 4\n  suspend: true\n", "", "{}") == "Job stored");
  CHECK(job("  parallelism: 4\n  completions: 6\n", "  parallelism: 9\n",
            "{active: 1, succeeded: 3}") == "Job stored, Pod×2");
  CHECK(job("  parallelism: 2\n", "  parallelism: 5\n",
            "{conditions: [{type: Complete, status: 'True'}]}") == "Job stored");
  CHECK(job("  parallelism: 2\n", "  parallelism: 5\n",
            "{conditions: [{type: Failed, status: 'False'}]}") == "Job stored, Pod×5");

  auto stored = Yaml(Workload("DaemonSet", "") + "status: {currentNumberScheduled: 2}\n");
  stored.Make({"spec", "template", "spec", "nodeSelector", "disk"}) = "ssd";
  const auto wide = Yaml(Workload("DaemonSet", ""));
  CHECK(Pieces(ExpandChange(wide, stored, around)) == "DaemonSet stored, Pod×3");
}

TEST_CASE("workload: fields that an apply deletes are changes", "[inspect]") {
  const auto applied = [](const json::Value& by, json::Value stored) {
    stored.Make({"metadata", "annotations", "kubectl.kubernetes.io/last-applied-configuration"}) =
        json::Write(by);
    return stored;
  };
  const auto with_limit = [](json::Value object) {
    object.Make({"spec", "template", "spec", "containers"})
        .AsArray()
        ->front()
        .Make({"resources", "limits", "cpu"}) = "1";
    return object;
  };
  const auto web = Yaml(Workload("Deployment", "  replicas: 4\n"));
  const auto limited = with_limit(web);
  const char* rollout = "Deployment stored, ReplicaSet, Pod×4 for 4, spare 1";
  CHECK(Pieces(ExpandChange(web, applied(limited, limited), {})) == rollout);
  CHECK(Pieces(ExpandChange(limited, applied(limited, limited), {})) == "Deployment stored");
  SECTION("a field of another writer stays") {
    CHECK(Pieces(ExpandChange(web, applied(web, limited), {})) == "Deployment stored");
  }
  SECTION("an annotation that is no JSON tells nothing") {
    auto broken = limited;
    broken.Make({"metadata", "annotations", "kubectl.kubernetes.io/last-applied-configuration"}) =
        "{";
    CHECK(Pieces(ExpandChange(web, broken, {})) == "Deployment stored");
  }
  SECTION("new pods of a ReplicaSet have the manifest's template") {
    const auto set = with_limit(Yaml(Workload("ReplicaSet", "  replicas: 2\n")));
    const auto more = Yaml(Workload("ReplicaSet", "  replicas: 3\n"));
    const auto expansion = ExpandChange(more, applied(set, set), {});
    REQUIRE(Pieces(expansion) == "ReplicaSet stored, Pod");
    CHECK_THAT(json::Write(expansion->pieces[1].object), !Catch::Matchers::Contains("limits"));
  }
  SECTION("a deleted suspend or pause starts the pods") {
    const auto held = Yaml(Workload("Job", "  parallelism: 3\n  suspend: true\n"));
    const auto job = Yaml(Workload("Job", "  parallelism: 3\n"));
    CHECK(Pieces(ExpandChange(job, applied(held, held), {})) == "Job stored, Pod×3");
    const auto paused = Yaml(Workload("Deployment", "  replicas: 4\n  paused: true\n") +
                             "status: {observedGeneration: 1}\n");
    CHECK(Pieces(ExpandChange(web, applied(paused, paused), {})) ==
          "Deployment stored, ReplicaSet, Pod×4");
  }
}

TEST_CASE("workload: a stored pod or claim keeps what the server stored", "[inspect]") {
  Surroundings around{.defaults = {.storage_class = "fast"}};
  around.defaults.container_limits = *json::Parse(R"({"cpu": "2"})")->AsObject();
  const auto after = [&](const std::string& manifest, const json::Value& stored) {
    const auto expansion = ExpandChange(Yaml(manifest), stored, around);
    REQUIRE(Pieces(expansion).ends_with(" stored"));
    return expansion->pieces[0].object;
  };
  const std::string pod =
      "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c, image: i}]}\n";
  auto stored = Yaml(pod + "status: {phase: Succeeded}\n");
  CHECK(after(pod, stored) == stored);
  SECTION("its containers are merged by name") {
    stored.Make({"spec", "containers"}) = *json::Parse(
        R"([{"name":"proxy"}, {"name":"c", "image":"i", "resources":{"limits":{"cpu":"1"}}}])");
    CHECK(after(pod, stored) == stored);
    CHECK(after(pod + "status: {phase: Pending}\n", stored) == stored);
  }
  SECTION("a claim keeps its class, and has the new size") {
    const std::string claim =
        "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: d}\nspec: {resources: "
        "{requests: {storage: ";
    auto small = Yaml(claim + "1Gi}}}\n");
    CHECK(after(claim + "1Gi}}}\n", small) == small);
    small.Make({"spec", "storageClassName"}) = "slow";
    auto large = small;
    large.Make({"spec", "resources", "requests", "storage"}) = "2Gi";
    CHECK(after(claim + "2Gi}}}\n", small) == large);
  }
}

TEST_CASE("workload: a paused Deployment that was never rolled out creates nothing", "[inspect]") {
  const Surroundings none;
  const auto with = [](const std::string& spec, const std::string& more) {
    return Yaml(Workload("Deployment", "  replicas: 3\n" + spec) + more);
  };
  const auto stored = with("  paused: true\n", "status: {observedGeneration: 1}\n");
  CHECK(Pieces(ExpandChange(with("", ""), stored, none)) == "Deployment stored");
  CHECK(Pieces(ExpandChange(with("  paused: true\n", ""), stored, none)) == "Deployment stored");
  CHECK(Pieces(ExpandChange(with("  paused: false\n", ""), stored, none)) ==
        "Deployment stored, ReplicaSet, Pod×3");
  auto rolled = stored;
  rolled.Make({"metadata", "annotations", "deployment.kubernetes.io/revision"}) = "1";
  CHECK(Pieces(ExpandChange(with("", ""), rolled, none)) == "Deployment stored, Pod×3");
}

}  // namespace workload_test
