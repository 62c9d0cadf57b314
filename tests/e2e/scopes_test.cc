// Scopes select what a quota counts: each scope, by `scopes` and by `scopeSelector`, with every
// allowed operator, and objects that move from one scope to another (kubernetes v1.36.3,
// pkg/apis/core/types.go).
#include <catch2/catch.hpp>
#include <cctype>

#include "tests/e2e/harness/scenario.h"

namespace e2e::scopes_test {
namespace {

std::string Selector(const std::string& expressions) {
  return R"({"scopeSelector":{"matchExpressions":[)" + expressions + "]}}";
}

std::string Expression(const std::string& scope, const std::string& op,
                       const std::string& values = "") {
  std::string text = R"({"scopeName":")" + scope + R"(","operator":")" + op + "\"";
  if (!values.empty()) text += R"(,"values":[)" + values + "]";
  return text + "}";
}

// A quota with the one name "pods" or "persistentvolumeclaims", among others in the same namespace.
struct Scoped {
  std::string name;
  std::string spec;
  int used = 0;  // the expected usage at this point of the test
};

class ScopedQuotas {
 public:
  ScopedQuotas(Scenario& scenario, std::string resource, std::vector<Scoped> quotas)
      : scenario_(scenario), resource_(std::move(resource)), quotas_(std::move(quotas)) {
    for (const Scoped& quota : quotas_) {
      auto object = Quota(quota.name, {});
      object.Make({"spec"}) = Json(quota.spec);
      object.Make({"spec", "hard", resource_}) = "100";
      scenario_.Create("resourcequotas", object);
    }
  }

  void Post(const std::string& name, const std::string& spec) {
    json::Value object;
    object.Make({"apiVersion"}) = "v1";
    object.Make({"kind"}) = resource_ == "pods" ? "Pod" : "PersistentVolumeClaim";
    object.Make({"metadata", "name"}) = name;
    object.Make({"spec"}) = Json(spec);
    scenario_.Create(resource_, object);
  }
  // Expects these changes, and no others.
  void Expect(const std::map<std::string, int>& changes) {
    for (Scoped& quota : quotas_) {
      const auto change = changes.find(quota.name);
      if (change != changes.end()) quota.used += change->second;
    }
    WaitCounted();
  }
  void WaitCounted() {
    for (const Scoped& quota : quotas_) {
      scenario_.WaitUsed(quota.name, {{resource_, std::to_string(quota.used)}});
    }
  }

 private:
  Scenario& scenario_;
  std::string resource_;
  std::vector<Scoped> quotas_;
};

const std::string kContainer = R"("containers":[{"name":"c","image":"registry.invalid/none:1"}])";

std::string Idle(const std::string& more = "") { return "{" + kContainer + more + "}"; }

std::string Busy(const std::string& more = "") {
  return R"({"containers":[{"name":"c","image":"registry.invalid/none:1",
      "resources":{"requests":{"cpu":"1m"}}}])" +
         more + "}";
}

std::string Affine(const std::string& kind, const std::string& term) {
  return Idle(R"(,"affinity":{")" + kind +
              R"(":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"zone",
              "labelSelector":{})" +
              term + "}]}}");
}

std::string OfClass(const std::string& name) {
  return Idle(R"(,"priorityClassName":")" + name + "\"");
}

std::string Claim(const std::string& attributes) {
  std::string more;
  if (!attributes.empty()) more = R"(,"volumeAttributesClassName":")" + attributes + "\"";
  return R"({"accessModes":["ReadWriteOnce"],"storageClassName":"none",
      "resources":{"requests":{"storage":"1Gi"}})" +
         more + "}";
}

}  // namespace

TEST_CASE("a pod is charged to the quotas of its deadline, its effort and its affinity",
          "[e2e][scopes][server]") {
  Scenario s;
  const std::vector<std::string> scopes{"Terminating", "NotTerminating", "BestEffort",
                                        "NotBestEffort", "CrossNamespacePodAffinity"};
  std::vector<Scoped> quotas{{"all", "{}"},
                             {"both", R"({"scopes":["Terminating","BestEffort"]})"},
                             {"mixed", R"({"scopes":["NotTerminating"],"scopeSelector":
                                 {"matchExpressions":[)" +
                                           Expression("NotBestEffort", "Exists") + "]}}"}};
  for (const std::string& scope : scopes) {
    std::string name = scope;
    for (char& c : name) c = static_cast<char>(std::tolower(c));
    quotas.push_back({name, R"({"scopes":[")" + scope + R"("]})"});
    quotas.push_back({name + "-selected", Selector(Expression(scope, "Exists"))});
  }
  ScopedQuotas pods(s, "pods", quotas);
  const auto changes = [](const std::map<std::string, int>& wanted) {
    std::map<std::string, int> both = wanted;
    for (const auto& [name, change] : wanted) both[name + "-selected"] = change;
    return both;
  };
  s.StartDaemon();
  pods.Expect({});

  pods.Post("idle", Idle());
  pods.Expect(changes({{"all", 1}, {"notterminating", 1}, {"besteffort", 1}}));
  pods.Post("busy", Busy());
  pods.Expect(changes({{"all", 1}, {"notterminating", 1}, {"notbesteffort", 1}, {"mixed", 1}}));
  pods.Post("brief", Idle(R"(,"activeDeadlineSeconds":3600)"));
  pods.Expect(changes({{"all", 1}, {"terminating", 1}, {"besteffort", 1}, {"both", 1}}));
  const std::map<std::string, int> affine{
      {"all", 1}, {"notterminating", 1}, {"besteffort", 1}, {"crossnamespacepodaffinity", 1}};
  pods.Post("named", Affine("podAffinity", R"(,"namespaces":["default"])"));
  pods.Expect(changes(affine));
  pods.Post("selected", Affine("podAntiAffinity", R"(,"namespaceSelector":{})"));
  pods.Expect(changes(affine));
  pods.Post("own", Affine("podAffinity", ""));
  pods.Expect(changes({{"all", 1}, {"notterminating", 1}, {"besteffort", 1}}));

  // A deadline moves a pod from one scope to the other.
  s.api().MergePatch(s.Path("pods", "busy"), Json(R"({"spec":{"activeDeadlineSeconds":60}})"));
  pods.Expect(changes({{"notterminating", -1}, {"terminating", 1}, {"mixed", -1}}));
  // A daemon that starts afterwards must count the same.
  s.StopDaemon();
  s.api().MergePatch(s.Path("pods", "idle"), Json(R"({"spec":{"activeDeadlineSeconds":60}})"));
  s.Delete("pods", "brief");
  s.Delete("pods", "named");
  s.StartDaemon();
  pods.Expect(changes({{"all", -2},
                       {"notterminating", -2},
                       {"besteffort", -2},
                       {"crossnamespacepodaffinity", -1}}));
}

TEST_CASE("a pod is charged to the quotas that select its priority class", "[e2e][scopes]") {
  Scenario s;
  const auto high = FreshName("high");
  const auto low = FreshName("low");
  s.api().Create(PathOf("priorityclasses"), PriorityClass(high, 1000));
  s.api().Create(PathOf("priorityclasses"), PriorityClass(low, 10));
  const std::string quoted = "\"" + high + "\"";
  ScopedQuotas pods(
      s, "pods",
      {{"in", Selector(Expression("PriorityClass", "In", quoted))},
       {"in-both", Selector(Expression("PriorityClass", "In", quoted + ",\"" + low + "\""))},
       {"not-in", Selector(Expression("PriorityClass", "NotIn", quoted))},
       {"exists", Selector(Expression("PriorityClass", "Exists"))},
       {"scope", R"({"scopes":["PriorityClass"]})"},
       {"absent", Selector(Expression("PriorityClass", "DoesNotExist"))},
       {"two", Selector(Expression("PriorityClass", "Exists") + "," +
                        Expression("PriorityClass", "NotIn", quoted))}});
  s.StartDaemon();
  pods.Post("h", OfClass(high));
  pods.Expect({{"in", 1}, {"in-both", 1}, {"exists", 1}, {"scope", 1}});
  pods.Post("l", OfClass(low));
  pods.Expect({{"in-both", 1}, {"not-in", 1}, {"exists", 1}, {"scope", 1}, {"two", 1}});
  pods.Post("none", Idle());
  pods.Expect({{"not-in", 1}, {"absent", 1}});
  s.StopDaemon();
  s.Delete("pods", "h");
  s.StartDaemon();
  pods.Expect({{"in", -1}, {"in-both", -1}, {"exists", -1}, {"scope", -1}});
  s.Delete("pods", "l");
  s.Delete("pods", "none");
  pods.Expect({{"in-both", -1},
               {"not-in", -2},
               {"exists", -1},
               {"scope", -1},
               {"two", -1},
               {"absent", -1}});
  s.api().Delete(PathOf("priorityclasses", "", high));
  s.api().Delete(PathOf("priorityclasses", "", low));
}

TEST_CASE("a claim is charged to the quotas of all its volume attributes classes",
          "[e2e][scopes][since-1.34][server]") {
  Scenario s;
  const std::string scope = "VolumeAttributesClass";
  ScopedQuotas claims(s, "persistentvolumeclaims",
                      {{"gold", Selector(Expression(scope, "In", R"("gold")"))},
                       {"silver", Selector(Expression(scope, "In", R"("silver")"))},
                       {"not-gold", Selector(Expression(scope, "NotIn", R"("gold")"))},
                       {"exists", Selector(Expression(scope, "Exists"))},
                       {"scope", R"({"scopes":["VolumeAttributesClass"]})"},
                       {"absent", Selector(Expression(scope, "DoesNotExist"))}});
  s.StartDaemon();
  claims.Post("plain", Claim(""));
  claims.Expect({{"not-gold", 1}, {"absent", 1}});
  claims.Post("g", Claim("gold"));
  claims.Expect({{"gold", 1}, {"exists", 1}, {"scope", 1}});

  // While it changes from gold to silver it is charged to both.
  const auto status = [&](const char* text) {
    s.api().MergePatch(s.Path("persistentvolumeclaims", "g", "status"), Json(text));
  };
  status(R"({"status":{"phase":"Bound","currentVolumeAttributesClassName":"gold"}})");
  s.api().MergePatch(s.Path("persistentvolumeclaims", "g"),
                     Json(R"({"spec":{"volumeAttributesClassName":"silver"}})"));
  claims.Expect({{"silver", 1}, {"not-gold", 1}});
  status(R"({"status":{"currentVolumeAttributesClassName":"silver"}})");
  claims.Expect({{"gold", -1}});
  // A change in progress counts as well.
  status(R"({"status":{"modifyVolumeStatus":{"targetVolumeAttributesClassName":"gold",
      "status":"Pending"}}})");
  claims.Expect({{"gold", 1}});

  s.StopDaemon();
  status(R"({"status":{"modifyVolumeStatus":null}})");
  s.StartDaemon();
  claims.Expect({{"gold", -1}});
  for (const auto* name : {"plain", "g"}) {
    s.api().MergePatch(s.Path("persistentvolumeclaims", name),
                       Json(R"({"metadata":{"finalizers":null}})"));
    s.Delete("persistentvolumeclaims", name);
  }
  claims.Expect({{"silver", -1}, {"not-gold", -2}, {"exists", -1}, {"scope", -1}, {"absent", -1}});
}

}  // namespace e2e::scopes_test
