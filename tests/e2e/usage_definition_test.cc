// UsageDefinitions: what objects of custom kinds use is counted and refused without code.
#include <catch2/catch.hpp>
#include <thread>

#include "tests/e2e/harness/cluster_quotas.h"
#include "tests/e2e/harness/custom_kind.h"
#include "tests/e2e/harness/plugin_scenario.h"

namespace e2e::usage_definition_test {
namespace {

using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

const AdmissionOptions kEnforced{.server = Managed(), .more_flags = {"--enforce=cluster"}};
const AdmissionOptions kCounted{.server = Managed(), .enforce = false};

// A kind with sizes, and names of its own.
struct Buckets {
  explicit Buckets(Scenario& s) : kind("buckets"), scenario(s) {
    s.api().Create(PathOf("customresourcedefinitions"), kind.Definition());
    WaitServed(s.api(), kind.Path(s.ns()));
  }
  ~Buckets() {
    (void)scenario.api().Do(
        {.verb = "DELETE", .path = PathOf("customresourcedefinitions", "", kind.Crd())});
  }
  Buckets(const Buckets&) = delete;
  Buckets& operator=(const Buckets&) = delete;

  [[nodiscard]] std::string Bytes() const { return kind.group + "/bytes"; }
  [[nodiscard]] std::string Rate() const { return kind.group + "/rate"; }
  // A definition of the amount of bytes by this path.
  [[nodiscard]] std::string SizeBy(const std::string& path) const {
    return R"({"usage":[{"name":")" + Bytes() + R"(","path":")" + path + R"("}]})";
  }
  [[nodiscard]] json::Value Object(const std::string& name, const std::string& spec) const {
    json::Value object = kind.Object(name);
    object.Make({"spec"}) = Json(spec);
    return object;
  }
  Attempt Create(const std::string& ns, const std::string& name, const std::string& spec) {
    return ToAttempt(scenario.api().Do(PostOf(kind.Path(ns), Object(name, spec))));
  }
  // Without storing it.
  Attempt Try(const std::string& ns, const std::string& spec) {
    client::ApiRequest request = PostOf(kind.Path(ns), Object("tried", spec));
    request.query = {{"dryRun", "All"}};
    return ToAttempt(scenario.api().Do(std::move(request)));
  }
  Attempt Change(const std::string& ns, const std::string& name, const std::string& patch) {
    return ToAttempt(scenario.api().Do(PatchOf(kind.Path(ns, name), patch)));
  }

  // From now on the spec has these members only, and the API server says so.
  void Declare(const std::string& members) {
    const std::string schema = R"({"type":"object","properties":{"spec":{"type":"object",)"
                               R"("properties":)" +
                               members + "}}}";
    const std::string version = R"({"name":"v1","served":true,"storage":true,"schema":)"
                                R"({"openAPIV3Schema":)" +
                                schema + "}}";
    scenario.api().MergePatch(PathOf("customresourcedefinitions", "", kind.Crd()),
                              Json(R"({"spec":{"versions":[)" + version + "]}}"));
    Eventually("the schema is served", [&]() -> std::string {
      const auto answer = scenario.api().Do({.path = "/openapi/v3/apis/" + kind.group + "/v1"});
      if (!answer) return answer.error().message;
      const json::Value document = Json(answer->body);
      for (const auto& [name, one] : *document.At({"components", "schemas"})->AsObject()) {
        const json::Value* spec = one.At({"properties", "spec", "properties"});
        if (spec != nullptr && *spec == Json(members)) return "";
      }
      return "it has other members";
    });
  }

  CustomKind kind;
  Scenario& scenario;
};

json::Value SpecOf(const std::string& spec) { return json::Object{{"spec", Json(spec)}}; }

std::string Limits(const Quantities& hard) {
  json::Value spec;
  for (const auto& [name, amount] : hard) spec.Make({"hard", name}) = amount;
  std::string text = json::Write(spec);
  return text.substr(1, text.size() - 2);
}

// A daemon that enforces ClusterQuotas, a team with a namespace, and a kind without a definition.
struct Enforced {
  Admission a{kEnforced};
  ClusterQuotas quotas{a.api()};
  UsageDefinitions definitions{a.api()};
  Buckets buckets{a.scenario()};
  const std::string bytes = buckets.Bytes();
  const std::string name = buckets.kind.Crd();  // of its definition
  const std::string team = FreshName("team");
  TeamNamespace ns{a.api(), team};
};

}  // namespace

TEST_CASE_METHOD(Enforced, "usage definition: a ClusterQuota limits a field of a custom kind",
                 "[e2e][cluster][usage]") {
  CHECK(buckets.Create(ns.name(), "before", R"({"size":"3Gi"})").ok());

  definitions.Create(name, buckets.SizeBy(".spec.size"));
  definitions.WaitCondition(name, "Ready", "True NotLimited");
  quotas.Create(team, SelectTeam(team, Limits({{bytes, "10Gi"}})));
  quotas.WaitUsed(team, {{bytes, "3Gi"}});
  definitions.WaitCondition(name, "Ready", "True Counting");
  CHECK(definitions.Get(name).At({"status", "counted"})->AsInt64() == 1);

  CHECK(buckets.Create(ns.name(), "fits", R"({"size":"5Gi"})").ok());
  const Attempt refused = buckets.Create(ns.name(), "large", R"({"size":"4Gi"})");
  CHECK(refused.code == 403);
  CHECK_THAT(refused.message, Contains("exceeded cluster quota: " + team));
  CHECK_THAT(refused.message, Contains("requested: " + bytes + "=4Gi"));
  // Without its size nobody knows what it uses.
  const Attempt unknown = buckets.Create(ns.name(), "sizeless", R"({"tier":"fast"})");
  CHECK(unknown.code == 403);
  CHECK_THAT(unknown.message, Contains("spec.size: is missing"));

  CHECK(buckets.Change(ns.name(), "fits", R"({"spec":{"size":"8Gi"}})").code == 403);
  CHECK(buckets.Change(ns.name(), "fits", R"({"spec":{"tier":"fast"}})").ok());
  CHECK(buckets.Change(ns.name(), "fits", R"({"spec":{"size":"7Gi"}})").ok());
  quotas.WaitUsed(team, {{bytes, "10Gi"}});
  a.api().Delete(buckets.kind.Path(ns.name(), "before"));
  quotas.WaitUsed(team, {{bytes, "7Gi"}});
}

TEST_CASE_METHOD(
    Enforced,
    "usage definition: a name follows its definition, and the rest of the quota is unmoved",
    "[e2e][cluster][usage]") {
  definitions.Create(name, buckets.SizeBy(".spec.size"));
  definitions.WaitCondition(name, "Ready", "True NotLimited");
  quotas.Create(team, SelectTeam(team, Limits({{bytes, "10Gi"}, {"pods", "2"}})));
  quotas.WaitUsed(team, {{bytes, "0"}, {"pods", "0"}});
  CHECK(buckets.Create(ns.name(), "a", R"({"size":"3Gi","quota":{"max":"5Gi"}})").ok());
  ns.Create("p1");
  quotas.WaitUsed(team, {{bytes, "3Gi"}, {"pods", "1"}});

  a.api().MergePatch(UsageDefinitions::Path(name), SpecOf(buckets.SizeBy(".spec.quota.max")));
  quotas.WaitUsed(team, {{bytes, "5Gi"}, {"pods", "1"}});
  CHECK(buckets.Create(ns.name(), "b", R"({"size":"1","quota":{"max":"6Gi"}})").code == 403);

  a.api().Delete(UsageDefinitions::Path(name));
  Eventually("objects are not refused for a name without a definition", [&]() -> std::string {
    const Attempt attempt = buckets.Create(ns.name(), "b", R"({"size":"100Gi"})");
    return attempt.ok() ? "" : attempt.Text();
  });
  ns.Create("p2");
  CHECK(ns.Try("p3").code == 403);
  quotas.WaitUsed(team, {{bytes, "5Gi"}, {"pods", "2"}});

  definitions.Create(name, buckets.SizeBy(".spec.size"));
  quotas.WaitUsed(team, {{bytes, "103Gi"}, {"pods", "2"}});
}

TEST_CASE_METHOD(Enforced, "usage definition: definitions change while clients create",
                 "[e2e][cluster][usage]") {
  definitions.Create(name, buckets.SizeBy(".spec.size"));
  definitions.WaitCondition(name, "Ready", "True NotLimited");
  quotas.Create(team, SelectTeam(team, Limits({{bytes, "100Ti"}})));
  quotas.WaitUsed(team, {{bytes, "0"}});
  int created = 0;
  for (int round = 0; round < 8; ++round) {
    std::vector<client::ApiRequest> requests;
    for (int i = 0; i < 60; ++i) {
      const std::string bucket = "b" + std::to_string(round) + "-" + std::to_string(i);
      requests.push_back(PostOf(buckets.kind.Path(ns.name()),
                                buckets.Object(bucket, R"({"size":"1Gi","max":"2Gi"})")));
    }
    std::thread change([&, round] {
      Api admin(a.scenario().server().Kubeconfig());
      const std::string path = round % 2 == 0 ? ".spec.max" : ".spec.size";
      if (round % 4 == 3) {
        admin.Delete(UsageDefinitions::Path(name));
      } else if (round % 4 == 0 && round > 0) {
        json::Value object = UsageDefinitions::Definition(name, Json(buckets.SizeBy(path)));
        object.Make({"spec", "resource"}) =
            json::Object{{"group", buckets.kind.group}, {"resource", buckets.kind.plural}};
        admin.Create(UsageDefinitions::Path(), object);
      } else {
        admin.MergePatch(UsageDefinitions::Path(name), SpecOf(buckets.SizeBy(path)));
      }
    });
    for (const Attempt& attempt : a.DoAll(std::move(requests), 60)) {
      INFO(attempt.Text());
      CHECK(attempt.ok());
      created += attempt.ok() ? 1 : 0;
    }
    change.join();
  }
  // The last round has deleted it.
  definitions.Create(name, buckets.SizeBy(".spec.max"));
  quotas.WaitUsed(team, {{bytes, std::to_string(2 * created) + "Gi"}});
}

TEST_CASE_METHOD(Enforced, "usage definition: the older definition owns a name",
                 "[e2e][cluster][usage]") {
  const std::string other = "volumes." + buckets.kind.group;
  definitions.Create(name, buckets.SizeBy(".spec.size"));
  definitions.WaitCondition(name, "Ready", "True");
  // If both are created in the same second, the first name counts as the older one.
  definitions.Create(other, buckets.SizeBy(".spec.capacity"));
  definitions.WaitCondition(other, "Ready", "False NameTaken: " + buckets.Bytes());
  definitions.WaitCondition(other, "Stalled", "True NameTaken");
  a.api().Delete(UsageDefinitions::Path(name));
  definitions.WaitCondition(other, "Ready", "False NotServed");
  definitions.Create("secrets", buckets.SizeBy(".data.size"));
  definitions.WaitCondition("secrets", "Ready", "False NotSupported");
}

TEST_CASE("usage definition: a ResourceQuota counts its names beside Kubernetes' own controller",
          "[e2e][usage]") {
  Admission a(kCounted);
  UsageDefinitions definitions(a.api());
  Buckets buckets(a.scenario());
  const std::string bytes = buckets.Bytes();
  Scenario& s = a.scenario();
  definitions.Create(buckets.kind.Crd(), buckets.SizeBy(".spec.size"));
  s.Create("resourcequotas", Quota("q", {{bytes, "10Gi"}, {"pods", "5"}}));
  s.WaitUsed("q", {{bytes, "0"}, {"pods", "0"}});
  CHECK(buckets.Create(s.ns(), "a", R"({"size":"3Gi"})").ok());
  s.Create("pods", Pod("p"));
  s.WaitUsed("q", {{bytes, "3Gi"}, {"pods", "1"}});
  a.api().Delete(buckets.kind.Path(s.ns(), "a"));
  s.WaitUsed("q", {{bytes, "0"}, {"pods", "1"}});
}

TEST_CASE_METHOD(
    Enforced,
    "usage definition: a restarted daemon decides nothing before it knows the definitions",
    "[e2e][cluster][usage]") {
  definitions.Create(name, buckets.SizeBy(".spec.size"));
  // A limit that comes before its definition is shown before it is enforced.
  definitions.WaitCondition(name, "Ready", "True NotLimited");
  quotas.Create(team, SelectTeam(team, Limits({{bytes, "10Gi"}})));
  quotas.WaitUsed(team, {{bytes, "0"}});
  CHECK(buckets.Create(ns.name(), "a", R"({"size":"9Gi"})").ok());
  for (int i = 0; i < 3; ++i) {
    a.scenario().StopDaemon();
    a.scenario().StartDaemon(a.daemon_options(), false);
    Eventually("creations are refused again", [&]() -> std::string {
      const Attempt attempt = buckets.Create(ns.name(), "b", R"({"size":"2Gi"})");
      REQUIRE_FALSE(attempt.ok());
      return attempt.message.find("exceeded") != std::string::npos ? "" : attempt.Text();
    });
  }
}

// A reader that refused it would refuse the list of the whole kind.
TEST_CASE_METHOD(Enforced, "usage definition: a deep object concerns only its own namespace",
                 "[e2e][cluster][usage][real-only]") {
  const std::string stranger = FreshName("stranger");
  const TeamNamespace elsewhere(a.api(), stranger);
  std::string nested;
  for (int i = 0; i < 150; ++i) nested += R"([{"x":)";
  nested += "1";
  for (int i = 0; i < 150; ++i) nested += "}]";
  // The harness writes no deep values.
  const auto create = [&](const std::string& spec) {
    client::ApiRequest request =
        PostOf(buckets.kind.Path(elsewhere.name()), buckets.Object(FreshName("deep"), R"("SPEC")"));
    const std::string place = R"("SPEC")";
    request.body.replace(request.body.find(place), place.size(), spec);
    return ToAttempt(a.api().Do(std::move(request)));
  };
  const std::string size = R"({"size":)" + nested + "}";
  const std::string beside = R"({"a\u0026b":1,"x":)" + nested + "}";
  CHECK(create(size).code == 201);
  CHECK(create(beside).code == 201);
  CHECK(buckets.Create(ns.name(), "plain", R"({"size":"3Gi"})").ok());
  definitions.Create(name, buckets.SizeBy(".spec.size"));
  quotas.Create(team, SelectTeam(team, Limits({{bytes, "10Gi"}})));
  quotas.WaitUsed(team, {{bytes, "3Gi"}});
  definitions.WaitCondition(name, "Ready", "True Counting");
  // While the kind is watched, too.
  CHECK(create(size).code == 201);
  a.api().Delete(buckets.kind.Path(ns.name(), "plain"));
  quotas.WaitUsed(team, {{bytes, "0"}});
}

TEST_CASE_METHOD(
    Enforced, "usage definition: while a conversion webhook is gone, only its kind is not counted",
    "[e2e][cluster][usage][real-only]") {
  definitions.Create(name, buckets.SizeBy(".spec.size"));
  definitions.WaitCondition(name, "Ready", "True NotLimited");
  quotas.Create(team, SelectTeam(team, Limits({{bytes, "10Gi"}, {"pods", "5"}})));
  quotas.WaitUsed(team, {{bytes, "0"}, {"pods", "0"}});
  CHECK(buckets.Create(ns.name(), "a", R"({"size":"3Gi"})").ok());
  quotas.WaitUsed(team, {{bytes, "3Gi"}, {"pods", "0"}});

  // Without the version in its status the definition reads the preferred one.
  a.scenario().StopDaemon();
  a.api().MergePatch(
      "/apis/quota-controller-manager.io/v1alpha1/usagedefinitions/" + name + "/status",
      Json(R"({"status":{"version":null}})"));
  BreakConversion(a.scenario(), buckets.kind);
  a.scenario().StartDaemon(a.daemon_options(), false);
  definitions.WaitCondition(name, "Ready", "False NotCountedYet");
  definitions.WaitCondition(name, "Stalled", "False");
  Eventually("pods are created", [&]() -> std::string {
    const Attempt attempt = ns.Try("p1");
    return attempt.ok() ? "" : attempt.Text();
  });
  quotas.WaitUsed(team, {{bytes, "3Gi"}, {"pods", "1"}});
  CHECK_FALSE(buckets.Create(ns.name(), "b", R"({"size":"8Gi"})").ok());

  MendConversion(a.scenario(), buckets.kind);
  definitions.WaitCondition(name, "Ready", "True Counting");
  Eventually("buckets are created", [&]() -> std::string {
    const Attempt attempt = buckets.Create(ns.name(), "b", R"({"size":"7Gi"})");
    return attempt.ok() ? "" : attempt.Text();
  });
  CHECK(buckets.Create(ns.name(), "c", R"({"size":"1"})").code == 403);
  quotas.WaitUsed(team, {{bytes, "10Gi"}, {"pods", "1"}});
}

// CEL has no optional selection by name from a list: it is an error, and the API server refuses
// what it cannot evaluate.
TEST_CASE_METHOD(
    Enforced, "usage definition: an object is changed and deleted whatever is on the way of a path",
    "[e2e][cluster][usage][real-only][server]") {
  const std::vector<std::string> specs{
      R"("text")",
      "7",
      "[]",
      R"(["a"])",
      R"({"values":[]})",
      R"({"values":["a",{"size":"1Gi"}]})",
      R"({"values":"text"})",
      R"({"values":{"tier":[{"size":"1Gi"}]}})",
      R"({"values":{"tier":true}})",
      R"({"values":{"tier":{"size":["1Gi"]}}})",
      R"({"values":{"tier":{"size":"1Gi"}}})",
      "{}",
  };
  for (std::size_t i = 0; i < specs.size(); ++i) {
    CHECK(buckets.Create(ns.name(), "b" + std::to_string(i), specs[i]).code == 201);
  }
  definitions.Create(
      name, R"({"usage":[{"name":")" + bytes + R"(","path":".spec.values.tier.size"}],)" +
                R"("countsWhile":{"path":".spec.values.phase.name","notIn":["Gone"]},)" +
                R"("scopes":[{"name":"example.com/tier","path":".spec.values['a-b'].c"}]})");
  quotas.Create(team, SelectTeam(team, Limits({{bytes, "10Gi"}})));
  definitions.WaitCondition(name, "Ready", "True Counting");
  Eventually("updates are decided", [&]() -> std::string {
    const Attempt grows = buckets.Change(ns.name(), "b10",
                                         R"({"spec":{"values":{"tier":{"size":)"
                                         R"("100Gi"}}}})");
    return grows.code == 403 ? "" : grows.Text();
  });
  for (std::size_t i = 0; i < specs.size(); ++i) {
    INFO(specs[i]);
    const std::string object = "b" + std::to_string(i);
    const auto change = [&](const std::string& patch) {
      const Attempt attempt = buckets.Change(ns.name(), object, patch);
      INFO(patch << ": " << attempt.Text());
      CHECK(attempt.ok());
    };
    change(R"({"metadata":{"labels":{"a":"b"},"finalizers":["example.com/f"]}})");
    if (specs[i].front() == '{') change(R"({"spec":{"other":[1]}})");
    a.api().Delete(buckets.kind.Path(ns.name(), object));
    change(R"({"metadata":{"finalizers":null}})");
  }
}

namespace {

// What `usage-definition test` says of the stored definition and the stored CRD of the kind.
std::string PluginTells(Api& api, const CustomKind& kind) {
  const TempDir dir;
  const std::string crd = dir.Write(
      "crd.json", json::Write(api.Get(PathOf("customresourcedefinitions", "", kind.Crd()))));
  const std::string definition =
      dir.Write("definition.json", json::Write(api.Get(UsageDefinitions::Path(kind.Crd()))));
  const ProgramResult told =
      AskPlugin("/nowhere", {"usage-definition", "test", "-f", crd, "-f", definition});
  CHECK(told.exit_code == 1);
  return told.output;
}

}  // namespace

TEST_CASE_METHOD(Enforced, "usage definition: a path that the schema lacks is told",
                 "[e2e][cluster][usage]") {
  buckets.Declare(R"({"size":{"type":"string"},"tier":{"type":"string"}})");
  definitions.Create(name, buckets.SizeBy(".spec.siez"));
  definitions.WaitCondition(name, "Ready",
                            "False PathNotInSchema: spec.usage[0].path: spec.siez is not in the "
                            "schema of Thing (" +
                                buckets.kind.group + "/v1): spec has size, tier");
  definitions.WaitCondition(name, "Stalled", "True PathNotInSchema");
  const std::string ready = ConditionOf(definitions.Get(name), "Ready");
  const std::string told = PluginTells(a.api(), buckets.kind);
  INFO(told << json::Write(definitions.Get(name)));
  CHECK(told.ends_with(": " + ready.substr(ready.find(' ') + 1) + "\n"));
  // It refuses nothing.
  quotas.Create(team, SelectTeam(team, Limits({{bytes, "10Gi"}, {"pods", "1"}})));
  ns.Create("p1");
  quotas.WaitUsed(team, {{"pods", "1"}});
  CHECK(buckets.Create(ns.name(), "a", R"({"size":"3Gi"})").ok());

  a.api().MergePatch(UsageDefinitions::Path(name), SpecOf(buckets.SizeBy(".spec.size")));
  quotas.WaitUsed(team, {{bytes, "3Gi"}, {"pods", "1"}});
  definitions.WaitCondition(name, "Ready", "True Counting");
  // The limit is older than its definition, so it is enforced a moment after it is shown.
  Eventually("the limit is enforced", [&]() -> std::string {
    const Attempt attempt = buckets.Try(ns.name(), R"({"size":"8Gi"})");
    return attempt.code == 403 ? "" : attempt.Text();
  });
  // A schema that loses the field ends no limit, not even after a restart.
  buckets.Declare(R"({"tier":{"type":"string"}})");
  a.scenario().StopDaemon();
  a.scenario().StartDaemon(a.daemon_options(), false);
  definitions.WaitCondition(name, "Ready",
                            "False PathLost: it stays in force, and new objects cannot have one of "
                            "its paths: spec.usage[0].path: spec.size");
  Eventually("creations are refused again", [&]() -> std::string {
    const Attempt attempt = buckets.Try(ns.name(), R"({"tier":"fast"})");
    return attempt.code == 403 ? "" : attempt.Text();
  });
}

TEST_CASE_METHOD(Enforced, "usage definition: a schema that gets the field puts it into force",
                 "[e2e][cluster][usage]") {
  buckets.Declare(R"({"tier":{"type":"string"}})");
  definitions.Create(name, buckets.SizeBy(".spec.size"));
  definitions.WaitCondition(name, "Ready", "False PathNotInSchema");
  buckets.Declare(R"({"size":{"type":"string"}})");
  definitions.WaitCondition(name, "Ready", "True NotLimited");
  quotas.Create(team, SelectTeam(team, Limits({{bytes, "10Gi"}})));
  quotas.WaitUsed(team, {{bytes, "0"}});
  // The daemon's watch shows its own write of status.hard a moment later.
  Eventually("the limit is enforced", [&]() -> std::string {
    const Attempt attempt = buckets.Try(ns.name(), R"({"size":"11Gi"})");
    return attempt.code == 403 ? "" : attempt.Text();
  });
}

// The sandbox has no subresource scale.
TEST_CASE_METHOD(Enforced, "usage definition: an update through scale is decided",
                 "[e2e][cluster][usage][real-only]") {
  const std::string path = PathOf("customresourcedefinitions", "", buckets.kind.Crd());
  json::Value versions = *a.api().Get(path).At({"spec", "versions"});
  versions.AsArray()->front().Make({"subresources"}) = Json(
      R"({"scale":{"specReplicasPath":".spec.copies","statusReplicasPath":".status.copies"}})");
  json::Value patch;
  patch.Make({"spec", "versions"}) = versions;
  a.api().MergePatch(path, patch);
  definitions.Create(name, R"({"usage":[{"name":")" + bytes +
                               R"(","path":".spec.size","times":".spec.copies"}]})");
  definitions.WaitCondition(name, "Ready", "True NotLimited");
  quotas.Create(team, SelectTeam(team, Limits({{bytes, "10Gi"}})));
  quotas.WaitUsed(team, {{bytes, "0"}});
  CHECK(buckets.Create(ns.name(), "b", R"({"size":"2Gi","copies":3})").ok());
  quotas.WaitUsed(team, {{bytes, "6Gi"}});

  const std::string scale = buckets.kind.Path(ns.name(), "b") + "/scale";
  const auto scale_to = [&](int copies) {
    return ToAttempt(
        a.api().Do(PatchOf(scale, R"({"spec":{"replicas":)" + std::to_string(copies) + "}}")));
  };
  Eventually("the object can be scaled", [&]() -> std::string {
    const Attempt attempt = scale_to(3);
    return attempt.ok() ? "" : attempt.Text();
  });
  const Attempt refused = scale_to(6);
  CHECK(refused.code == 403);
  CHECK_THAT(refused.message, Contains("requested: " + bytes + "=6Gi, used: " + bytes + "=6Gi"));
  CHECK(scale_to(5).ok());
  quotas.WaitUsed(team, {{bytes, "10Gi"}});
  CHECK(scale_to(6).code == 403);
  CHECK(scale_to(0).ok());
  quotas.WaitUsed(team, {{bytes, "0"}});
}

TEST_CASE_METHOD(Enforced, "usage definition: kubectl scale of a Deployment is decided",
                 "[e2e][cluster][usage][real-only]") {
  const std::string copies = buckets.kind.group + "/copies";
  definitions.Create("deployments.apps",
                     R"({"usage":[{"name":")" + copies + R"(","path":".spec.replicas"}]})");
  definitions.WaitCondition("deployments.apps", "Ready", "True NotLimited");
  quotas.Create(team, SelectTeam(team, Limits({{copies, "4"}})));
  quotas.WaitUsed(team, {{copies, "0"}});
  const std::string path = PathOf("deployments", ns.name());
  CHECK(ToAttempt(a.api().Do(PostOf(path, DeploymentOf("d", 3)))).ok());
  const auto scale_to = [&](const std::string& replicas) {
    return ToAttempt(
        a.api().Do(PatchOf(path + "/d/scale", R"({"spec":{"replicas":)" + replicas + "}}")));
  };
  CHECK(scale_to("5").code == 403);
  CHECK(scale_to("4").ok());
  quotas.WaitUsed(team, {{copies, "4"}});
}

}  // namespace e2e::usage_definition_test
