// The webhook configuration as the API server evaluates it: every expression compiles, and the
// webhook is called only for requests that can need quota. The webhook here allows everything and
// records its calls.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <mutex>
#include <random>

#include "pkg/config/yaml.h"
#include "pkg/quota/core/core_quota.h"
#include "pkg/quota/usage/defined_evaluator.h"
#include "pkg/webhook/stored_configuration.h"
#include "tests/e2e/harness/custom_kind.h"
#include "tests/e2e/harness/scenario.h"
#include "tests/e2e/harness/stub_server.h"
#include "tests/source_dir.h"

namespace e2e::webhook_rules_test {
namespace {

using Calls = std::vector<std::string>;  // "UPDATE pods/resize"

// The API server's calls for one namespace.
class Notes {
 public:
  explicit Notes(std::string ns) : ns_(std::move(ns)) {}

  http::Response Answer(const http::Request& request) {
    const json::Value review = Json(request.body);
    Take(*review.At({"request"}));
    json::Object response{{"uid", review.StringAt({"request", "uid"})}, {"allowed", true}};
    const json::Value answer = json::Object{{"apiVersion", "admission.k8s.io/v1"},
                                            {"kind", "AdmissionReview"},
                                            {"response", std::move(response)}};
    http::Response made{.status = 200, .headers = {}, .body = json::Write(answer)};
    made.headers.Set("Content-Type", "application/json");
    return made;
  }
  // Calls since the last look, each once: the API server may repeat a call for the same write.
  Calls Look() {
    const std::lock_guard<std::mutex> lock(mutex_);
    calls_.erase(std::unique(calls_.begin(), calls_.end()), calls_.end());
    return std::exchange(calls_, {});
  }

 private:
  void Take(const json::Value& request) {
    if (request.StringAt({"namespace"}) != ns_) return;
    std::string call(request.StringAt({"operation"}));
    call.append(" ").append(request.StringAt({"resource", "resource"}));
    const std::string_view subresource = request.StringAt({"subResource"});
    if (!subresource.empty()) call.append("/").append(subresource);
    const std::lock_guard<std::mutex> lock(mutex_);
    calls_.push_back(std::move(call));
  }

  const std::string ns_;
  std::mutex mutex_;
  Calls calls_;
};

// All core evaluators, a counted kind, and `more`; sorted.
std::vector<webhook::GuardedResource> AllOfCore(const std::vector<quota::Evaluator>& more = {}) {
  const quota::QuotaApi core = quota::CoreQuotaApi();
  std::vector<webhook::GuardedResource> guarded;
  for (const auto& evaluator : core.evaluators) {
    guarded.push_back(webhook::Guarded("core", evaluator));
  }
  guarded.push_back(webhook::Guarded("core", *core.object_counter({"apps", "deployments"})));
  for (const auto& evaluator : more) guarded.push_back(webhook::Guarded("core", evaluator));
  std::sort(guarded.begin(), guarded.end());
  return guarded;
}

// These resources, guarded by a webhook of ours until it is destroyed.
class Guarding {
 public:
  explicit Guarding(const ServerOptions& options = {},
                    const std::vector<quota::Evaluator>& more = {})
      : scenario_(options),
        notes_(scenario_.ns()),
        pair_(authority_.Server("webhook")),
        webhook_([this](const http::Request& request) { return notes_.Answer(request); }, &pair_) {
    options_.name = FreshName("webhook-rules");
    options_.endpoint =
        webhook::AdmissionUrl{.host = "127.0.0.1", .port = webhook_.port(), .path = ""};
    desired_ =
        webhook::DesiredConfiguration(options_, AllOfCore(more), ReadFile(authority_.cert_path()));
    stored_ = api().Create(Collection(), desired_);
    WaitUntilAsked();
  }
  ~Guarding() { api().Delete(Collection() + "/" + options_.name); }

  [[nodiscard]] Api& api() { return scenario_.api(); }
  [[nodiscard]] Scenario& scenario() { return scenario_; }
  [[nodiscard]] const json::Value& desired() const { return desired_; }
  [[nodiscard]] const json::Value& stored() const { return stored_; }

  Calls Look() { return notes_.Look(); }
  Calls Create(const std::string& resource, const json::Value& object) {
    const json::Value written = scenario_.Create(resource, object);
    Settle(scenario_.Path(resource, written.StringAt({"metadata", "name"})), written);
    return notes_.Look();
  }
  Calls Patch(const std::string& path, const std::string& patch) {
    Settle(path, api().MergePatch(path, Json(patch)));
    return notes_.Look();
  }
  Calls Update(const std::string& path, const json::Value& object) {
    const auto answer = api().Do({.verb = "PUT",
                                  .path = path,
                                  .content_type = std::string(client::kJson),
                                  .body = json::Write(object)});
    if (!answer) throw std::runtime_error(answer.error().message);
    Settle(path, *json::Parse(answer->body));
    return notes_.Look();
  }
  Calls Post(const std::string& path, const std::string& body) {
    const auto answer = api().Do(
        {.verb = "POST", .path = path, .content_type = std::string(client::kJson), .body = body});
    if (!answer) throw std::runtime_error(answer.error().message);
    return notes_.Look();
  }

 private:
  // The API server first tries an update on its watch cache's object, which can be older than the
  // last write. It would call the webhook with a change from that older version, and then try
  // again. A read at a version is answered once the cache has it.
  void Settle(const std::string& path, const json::Value& written) {
    const std::string version(written.StringAt({"metadata", "resourceVersion"}));
    const auto read = api().Do({.path = path, .query = {{"resourceVersion", version}}});
    if (!read) throw std::runtime_error(read.error().message);
  }

  static std::string Collection() { return webhook::kWebhookConfigurations.Path(); }

  // The API server uses a configuration a moment after it is stored.
  void WaitUntilAsked() {
    int tries = 0;
    Eventually("the API server calls the webhook", [&]() -> std::string {
      const Calls calls = Create("secrets", Secret("probe-" + std::to_string(tries++)));
      return calls.empty() ? "not asked about a secret" : "";
    });
  }

  Scenario scenario_;
  Notes notes_;
  TempDir dir_;
  CertificateAuthority authority_{dir_.path(), "ca"};
  KeyPair pair_;
  StubServer webhook_;
  webhook::ConfigurationOptions options_;
  json::Value desired_;
  json::Value stored_;
};

const char* const kLabel = R"({"metadata":{"labels":{"a":"b"}}})";
const char* const kFinalizer = R"({"metadata":{"finalizers":["example.com/keep"]}})";
const char* const kNoFinalizer = R"({"metadata":{"finalizers":null}})";

}  // namespace

TEST_CASE("the webhook configuration is stored as intended", "[e2e][admission][server]") {
  Guarding guarding;
  INFO(json::Write(guarding.stored()));
  CHECK(webhook::SameConfiguration(guarding.stored(), guarding.desired()));
  CHECK(webhook::GuardedAsDesired(guarding.stored(), guarding.desired()) ==
        webhook::GuardedAsDesired(guarding.desired(), guarding.desired()));
  CHECK(webhook::GuardedBy(guarding.stored()) == webhook::GuardedBy(guarding.desired()));
  // It accepts its own patch, and then nothing is left to patch.
  const std::string path = webhook::kWebhookConfigurations.Path() + "/" +
                           std::string(guarding.stored().StringAt({"metadata", "name"}));
  json::Value other = guarding.desired();
  other.Make({"webhooks"}).AsArray()->pop_back();
  const json::Value patched =
      guarding.api().MergePatch(path, webhook::ConfigurationPatch(guarding.stored(), other));
  CHECK(webhook::SameConfiguration(patched, other));
}

TEST_CASE("the manual webhook configuration is used, and guards the same requests",
          "[e2e][admission][server]") {
  Scenario scenario;
  const auto manifest = config::ParseYaml(
      ReadFile(tests::SourcePath("/manifests/manual-webhook/webhook-configuration.yaml")));
  REQUIRE(manifest.has_value());
  json::Value own = *manifest;
  // Selects no namespace, so that other scenarios are not disturbed.
  for (json::Value& webhook : *own.Make({"webhooks"}).AsArray()) {
    webhook.Make({"namespaceSelector", "matchLabels", "nobody"}) = "has-this";
  }
  const std::string path = webhook::kWebhookConfigurations.Path();
  const json::Value stored = scenario.api().Create(path, own);
  scenario.api().Delete(path + "/" + std::string(own.StringAt({"metadata", "name"})));
  const auto guarded = webhook::GuardedBy(stored);
  CHECK(guarded == AllOfCore());
  own = *manifest;
  own.Make({"metadata", "labels", std::string(webhook::kManagedByLabel)}) = webhook::kManagedByUs;
  webhook::ConfigurationOptions options;
  options.endpoint = webhook::ServiceReference{
      .ns = "quota-system", .name = "quota-controller-manager", .port = 443};
  CHECK(webhook::SameConfiguration(own, webhook::DesiredConfiguration(options, guarded, "")));
}

TEST_CASE("the shipped rights allow the daemon to change its webhook configuration and no other",
          "[e2e][admission][real-only][server]") {
  Scenario scenario;
  const auto documents = config::ParseYamlDocuments(
      ReadFile(tests::SourcePath("/manifests/base/quota-controller-manager.yaml")));
  REQUIRE(documents.has_value());
  const std::string role = FreshName("webhook-keeper");
  json::Value ours;
  for (json::Value document : *documents) {
    const std::string_view kind = document.StringAt({"kind"});
    if (kind == "ValidatingWebhookConfiguration") ours = document;
    if (kind != "ClusterRole" ||
        document.StringAt({"metadata", "name"}) != "quota-controller-manager") {
      continue;
    }
    document.Make({"metadata", "name"}) = role;
    scenario.api().Create(PathOf("clusterroles"), document);
  }
  scenario.api().Create(PathOf("clusterrolebindings"),
                        Json(R"({"metadata":{"name":")" + role + R"("},
               "roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":")" +
                             role + R"("},"subjects":[{"kind":"User","name":"stranger"}]})"));
  TempDir dir;
  KubeconfigFields fields = scenario.server().Fields();
  fields.token = "e2e-stranger-token";
  Api daemon(dir.Write("kubeconfig", KubeconfigText(fields)));
  const std::string path = webhook::kWebhookConfigurations.Path();
  const std::string own = path + "/quota-controller-manager";
  const auto may_list = [&](http::Query query) {
    return daemon.Do({.path = path, .query = std::move(query)}).has_value();
  };
  Eventually("the role is in effect", [&]() -> std::string {
    return may_list({{"fieldSelector", "metadata.name=quota-controller-manager"}}) ? "" : "not yet";
  });
  daemon.Create(path, ours);
  daemon.MergePatch(own, Json(R"({"metadata":{"annotations":{"a":"b"}}})"));
  CHECK(daemon
            .Do({.path = path,
                 .query = {{"watch", "1"},
                           {"timeoutSeconds", "1"},
                           {"fieldSelector", "metadata.name=quota-controller-manager"}}})
            .has_value());
  // Others' configurations are read for their timeouts, and never changed.
  CHECK(may_list({}));
  json::Value others = ours;
  others.Make({"metadata", "name"}) = "e2e-others";
  scenario.api().Create(path, others);
  CHECK_FALSE(daemon.Do({.path = path + "/e2e-others"}).has_value());
  CHECK_FALSE(daemon
                  .Do({.verb = "PATCH",
                       .path = path + "/e2e-others",
                       .content_type = std::string(client::kMergePatch),
                       .body = R"({"metadata":{"annotations":{"a":"b"}}})"})
                  .has_value());
  CHECK_FALSE(daemon.Do({.verb = "DELETE", .path = path + "/e2e-others"}).has_value());
  scenario.api().Delete(path + "/e2e-others");
  scenario.api().Delete(own);
  scenario.api().Delete(PathOf("clusterrolebindings", {}, role));
  scenario.api().Delete(PathOf("clusterroles", {}, role));
}

TEST_CASE("an invalid webhook configuration is refused", "[e2e][admission][server][real-only]") {
  Scenario scenario;
  const std::string path = webhook::kWebhookConfigurations.Path();
  const auto refusal = [&](const std::string& webhooks) {
    const auto answer = scenario.api().Do(
        {.verb = "POST",
         .path = path,
         .content_type = std::string(client::kJson),
         .body =
             R"({"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingWebhookConfiguration",
                 "metadata":{"name":"bad-one"},"webhooks":[)" +
             webhooks + "]}"});
    if (answer) scenario.api().Delete(path + "/bad-one");
    return answer ? "accepted" : answer.error().message;
  };
  const std::string rest =
      R"("sideEffects":"None","admissionReviewVersions":["v1"],
         "clientConfig":{"url":"https://127.0.0.1:1/x"})";
  CHECK_THAT(refusal(R"({"name":"short",)" + rest + "}"),
             Catch::Contains("should be a domain with at least three segments"));
  CHECK_THAT(refusal(R"({"name":"a.b.c",)" + rest + R"(},{"name":"a.b.c",)" + rest + "}"),
             Catch::Contains("Duplicate value"));
  CHECK_THAT(refusal(R"({"name":"a.b.c","admissionReviewVersions":["v1"],
                         "clientConfig":{"url":"https://127.0.0.1:1/x"}})"),
             Catch::Contains("webhooks[0].sideEffects: Required value"));
  CHECK_THAT(refusal(R"({"name":"a.b.c","sideEffects":"None","admissionReviewVersions":["v1"],
                         "clientConfig":{"url":"http://127.0.0.1:1/x"}})"),
             Catch::Contains("webhooks[0].clientConfig.url"));
  CHECK_THAT(refusal(R"({"name":"a.b.c","sideEffects":"None","admissionReviewVersions":["v1"],
                         "clientConfig":{}})"),
             Catch::Contains("exactly one of url or service is required"));
  CHECK_THAT(refusal(R"({"name":"a.b.c","failurePolicy":"Maybe",)" + rest + "}"),
             Catch::Contains("webhooks[0].failurePolicy: Unsupported value"));
}

TEST_CASE("pods: the webhook is called only for a create, a resize or a new deadline",
          "[e2e][admission][real-only][server]") {
  Guarding guarding;
  CHECK(guarding.Create("pods", Pod("a", {{"cpu", "100m"}})) == Calls{"CREATE pods"});
  const std::string path = guarding.scenario().Path("pods", "a");
  CHECK(guarding.Patch(path, kLabel).empty());
  CHECK(guarding.Patch(path, kFinalizer).empty());
  CHECK(guarding.Patch(path, kNoFinalizer).empty());
  CHECK(guarding.Patch(path + "/status", R"({"status":{"phase":"Running"}})").empty());
  CHECK(guarding.Patch(path, R"({"spec":{"activeDeadlineSeconds":600}})") == Calls{"UPDATE pods"});
  CHECK(guarding.Patch(path, R"({"spec":{"activeDeadlineSeconds":300}})").empty());
  if (MinorVersion(guarding.api()) >= 33) {
    const json::Value stored = guarding.api().Get(path);
    const std::string container(
        stored.At({"spec", "containers"})->AsArray()->at(0).StringAt({"name"}));
    const auto resized =
        guarding.api().Do({.verb = "PATCH",
                           .path = path + "/resize",
                           .content_type = std::string(client::kStrategicMergePatch),
                           .body = R"({"spec":{"containers":[{"name":")" + container +
                                   R"(","resources":{"requests":{"cpu":"200m"}}}]}})"});
    INFO((resized ? "" : resized.error().message));
    CHECK(resized.has_value());
    CHECK(guarding.Patch(path, R"({"metadata":{"labels":{"c":"d"}}})") ==
          Calls{"UPDATE pods/resize"});
  }
  CHECK(guarding
            .Post(path + "/binding", R"({"apiVersion":"v1","kind":"Binding",
                 "metadata":{"name":"a"},"target":{"kind":"Node","name":"n1"}})")
            .empty());
}

TEST_CASE("services: the webhook is called for a create, and for changes that can need node ports",
          "[e2e][admission][real-only][server]") {
  Guarding guarding;
  CHECK(guarding.Create("services", ClusterIpService("s")) == Calls{"CREATE services"});
  const std::string path = guarding.scenario().Path("services", "s");
  CHECK(guarding.Patch(path, kLabel).empty());
  CHECK(guarding.Patch(path, R"({"spec":{"selector":{"x":"y"}}})").empty());
  CHECK(guarding.Patch(path, R"({"spec":{"type":"NodePort"}})") == Calls{"UPDATE services"});
  CHECK(guarding.Patch(path, R"({"spec":{"selector":{"x":"z"}}})").empty());
  CHECK(guarding.Patch(path, R"({"spec":{"ports":[{"name":"a","port":80},
                                                  {"name":"b","port":81}]}})") ==
        Calls{"UPDATE services"});
  CHECK(guarding.Patch(path, R"({"spec":{"type":"LoadBalancer"}})") == Calls{"UPDATE services"});
  CHECK(guarding.Patch(path, R"({"spec":{"allocateLoadBalancerNodePorts":false}})") ==
        Calls{"UPDATE services"});
  CHECK(guarding
            .Patch(path + "/status",
                   R"({"status":{"loadBalancer":{"ingress":[{"ip":"192.0.2.1"}]}}})")
            .empty());
  CHECK(guarding.Patch(path, R"({"spec":{"type":"ClusterIP"}})").empty());
}

TEST_CASE("claims: the webhook is called for a create, and for changes of size or class",
          "[e2e][admission][real-only][server]") {
  Guarding guarding;
  const std::string name = FreshName("grows");
  const std::string classes = "/apis/storage.k8s.io/v1/storageclasses";
  guarding.api().Create(
      classes,
      Json(R"({"apiVersion":"storage.k8s.io/v1","kind":"StorageClass","metadata":{"name":")" +
           name + R"("},"provisioner":"example.com/disk","allowVolumeExpansion":true})"));
  json::Value claim = Claim("c", "1Gi");
  claim.Make({"spec", "storageClassName"}) = name;
  CHECK(guarding.Create("persistentvolumeclaims", claim) == Calls{"CREATE persistentvolumeclaims"});
  const std::string path = guarding.scenario().Path("persistentvolumeclaims", "c");
  CHECK(guarding.Patch(path, kLabel).empty());
  CHECK(guarding.Patch(path, R"({"spec":{"volumeName":"pv-1"}})").empty());
  CHECK(guarding
            .Patch(path + "/status", R"({"status":{"phase":"Bound","capacity":{"storage":"1Gi"}}})")
            .empty());
  CHECK(guarding.Patch(path, R"({"spec":{"resources":{"requests":{"storage":"2Gi"}}}})") ==
        Calls{"UPDATE persistentvolumeclaims"});
  if (MinorVersion(guarding.api()) >= 34) {
    CHECK(guarding.Patch(path, R"({"spec":{"volumeAttributesClassName":"gold"}})") ==
          Calls{"UPDATE persistentvolumeclaims"});
  }
  CHECK(guarding.Patch(path, R"({"metadata":{"annotations":{"note":"x"}}})").empty());
  // A claim without a class, and one without annotations, are valid.
  CHECK(guarding.Create("persistentvolumeclaims", Claim("d", "1Gi")) ==
        Calls{"CREATE persistentvolumeclaims"});
  CHECK(guarding.Patch(guarding.scenario().Path("persistentvolumeclaims", "d"), kLabel).empty());
  guarding.api().Delete(classes + "/" + name);
}

TEST_CASE("the webhook is called only for a create of kinds that are only counted",
          "[e2e][admission][real-only][server]") {
  Guarding guarding;
  CHECK(guarding.Create("deployments", Deployment("d")) == Calls{"CREATE deployments"});
  const std::string deployment = guarding.scenario().Path("deployments", "d");
  CHECK(guarding.Patch(deployment, R"({"spec":{"replicas":7}})").empty());
  CHECK(guarding.Patch(deployment + "/scale", R"({"spec":{"replicas":8}})").empty());
  CHECK(guarding.Create("configmaps", ConfigMap("m")) == Calls{"CREATE configmaps"});
  CHECK(
      guarding.Patch(guarding.scenario().Path("configmaps", "m"), R"({"data":{"a":"b"}})").empty());
  CHECK(guarding.Create("secrets", Secret("s")) == Calls{"CREATE secrets"});
  CHECK(guarding.Patch(guarding.scenario().Path("secrets", "s"), kLabel).empty());
  // A dry run is reviewed, too.
  const auto dry = guarding.api().Do({.verb = "POST",
                                      .path = guarding.scenario().Path("configmaps"),
                                      .query = {{"dryRun", "All"}},
                                      .content_type = std::string(client::kJson),
                                      .body = json::Write(ConfigMap("n"))});
  CHECK(dry.has_value());
  CHECK(guarding.Look() == Calls{"CREATE configmaps"});
}

// Draws objects whose members differ in what a definition reads and in what it does not.
class DrawnObjects {
 public:
  explicit DrawnObjects(const CustomKind& kind) : kind_(kind) {}

  json::Value Draw() {
    json::Value object = kind_.Object("a");
    object.Make({"spec"}) = json::Object();
    Put(object, {"spec", "size"}, {"", "1", R"("1")", "2", "null"});
    Put(object, {"spec", "tier"}, {"", R"("fast")", R"("slow")"});
    Put(object, {"spec", "disks"},
        {"", "[]", R"([{"gb":1,"n":2}])", R"([{"gb":1,"n":3}])", R"([{"gb":1,"n":2},{"gb":2}])"});
    Put(object, {"metadata", "labels", "acme.io/tier"}, {"", R"("gold")", R"("silver")"});
    Put(object, {"metadata", "labels", "other"}, {"", R"("x")", R"("y")"});
    Put(object, {"metadata", "annotations", "note"}, {"", R"("x")", R"("y")"});
    Put(object, {"spec", "sizes"}, {"", "1", "2"});
    Put(object, {"status", "size"}, {"", "1", "2"});
    return object;
  }

 private:
  // Mostly the same as before, so that few members change at once.
  void Put(json::Value& object, std::initializer_list<std::string_view> path,
           const std::vector<std::string>& texts) {
    const std::string key(std::data(path)[path.size() - 1]);
    const std::string id = std::string(*path.begin()) + key;
    if (random_() % 4 == 0) last_[id] = random_() % texts.size();
    const std::string& text = texts[last_[id]];
    if (!text.empty()) object.Make(path) = Json(text);
  }

  const CustomKind& kind_;
  std::mt19937 random_{7};
  std::map<std::string, std::size_t> last_;
};

// True if the definition reads the changed member.
bool Differ(const json::Value& a, const json::Value& b,
            std::initializer_list<std::string_view> path) {
  const json::Value* in_a = a.At(path);
  const json::Value* in_b = b.At(path);
  if (in_a == nullptr || in_b == nullptr) return in_a != in_b;
  return *in_a != *in_b;
}

TEST_CASE("definitions: the webhook is called for exactly the updates that change a path",
          "[e2e][admission][real-only][server]") {
  const CustomKind kind("boxes");
  json::Value object = Json(R"({"spec":{"usage":[
      {"name":"acme.io/size","path":".spec.size"},
      {"name":"acme.io/disks","path":".spec.disks[*].gb","times":".spec.disks[*].n"},
      {"name":"acme.io/status","path":".status.size"}],
      "countsWhile":{"path":".spec.tier","notIn":["slow"]},
      "scopes":[{"name":"acme.io/tier","path":".metadata.labels['acme.io/tier']"}]}})");
  object.Make({"metadata", "name"}) = kind.Crd();
  object.Make({"spec", "resource"}) =
      json::Object{{"group", kind.group}, {"resource", kind.plural}};
  const auto definition = quota::usage::ParseUsageDefinition(object);
  REQUIRE(definition.has_value());
  Guarding guarding({}, {quota::usage::EvaluatorOf(*definition)});
  Api& api = guarding.api();
  api.Create(PathOf("customresourcedefinitions"), kind.Definition());
  const std::string ns = guarding.scenario().ns();
  const std::string path = kind.Path(ns, "a");
  WaitServed(api, kind.Path(ns));
  DrawnObjects drawn(kind);
  api.Create(kind.Path(ns), drawn.Draw());
  (void)guarding.Look();
  int asked = 0;
  int spared = 0;
  for (int i = 0; i < 400; ++i) {
    const json::Value before = api.Get(path);
    json::Value after = drawn.Draw();
    after.Make({"metadata", "resourceVersion"}) = *before.At({"metadata", "resourceVersion"});
    const Calls calls = guarding.Update(path, after);
    const bool changed = Differ(before, after, {"spec", "size"}) ||
                         Differ(before, after, {"spec", "disks"}) ||
                         Differ(before, after, {"spec", "tier"}) ||
                         Differ(before, after, {"metadata", "labels", "acme.io/tier"});
    INFO(json::Write(before) << " -> " << json::Write(after));
    REQUIRE(calls == (changed ? Calls{"UPDATE boxes"} : Calls{}));
    ++(changed ? asked : spared);
  }
  CHECK(asked > 100);
  CHECK(spared > 50);
  api.Delete(PathOf("customresourcedefinitions", "", kind.Crd()));
}

}  // namespace e2e::webhook_rules_test
