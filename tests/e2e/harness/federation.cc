#include "tests/e2e/harness/federation.h"

#include <stdexcept>

#include "pkg/config/yaml.h"
#include "tests/e2e/harness/files.h"
#include "tests/e2e/harness/proxy.h"
#include "tests/source_dir.h"

namespace e2e {
namespace {

constexpr const char* kBindings = "/apis/work.karmada.io/v1alpha2";
constexpr const char* kQuotas = "/apis/policy.karmada.io/v1alpha1";

const char* GroupPathOf(std::string_view resource) {
  return resource == "resourcebindings" ? kBindings : kQuotas;
}

json::Value DefinitionOf(const std::string& plural) {
  const std::string path = plural == "karmadaquotas" ? "/manifests/karmada/karmadaquota-crd.yaml"
                                                     : "/tests/e2e/karmada/" + plural + "-crd.yaml";
  const auto definition = config::ParseYaml(ReadFile(tests::SourcePath(path)));
  if (!definition) throw std::runtime_error(path + ": " + definition.error().message);
  return *definition;
}

std::string NameOf(const std::string& plural) {
  return plural + (plural == "resourcebindings" ? ".work.karmada.io" : ".policy.karmada.io");
}

}  // namespace

Federation::Federation(const FederationOptions& options)
    : scenario_(SharedServer()), reachable_(options.reachable) {
  if (options.serve) {
    Serve("karmadaquotas");
    Serve("resourcebindings");
  }
  DaemonOptions daemon{.kubeconfig = scenario_.server().Kubeconfig(),
                       .more_flags = options.more_flags};
  if (reachable_) {
    const std::string address = "127.0.0.1:" + std::to_string(FreePort());
    daemon.more_flags.push_back("--admission-bind-address=" + address);
    daemon.more_flags.push_back("--admission-url=https://" + address);
  }
  if (options.shipped_rights) {
    GrantShippedRights();
    daemon.kubeconfig = KubeconfigOfDaemon();
  }
  scenario_.StartDaemon(std::move(daemon));
}

void Federation::GrantShippedRights() {
  const auto documents =
      config::ParseYamlDocuments(ReadFile(tests::SourcePath("/manifests/karmada/rbac.yaml")));
  if (!documents) throw std::runtime_error(documents.error().message);
  for (const json::Value& document : *documents) {
    std::string path = "/apis/rbac.authorization.k8s.io/v1/";
    const std::string_view ns = document.StringAt({"metadata", "namespace"});
    if (!ns.empty()) path.append("namespaces/").append(ns).append("/");
    const std::string_view kind = document.StringAt({"kind"});
    const bool cluster = kind.starts_with("Cluster");
    const bool binds = kind.ends_with("Binding");
    path += std::string(cluster ? "cluster" : "") + (binds ? "rolebindings" : "roles");
    api().Delete(path + "/" + std::string(document.StringAt({"metadata", "name"})));
    api().Create(path, document);
  }
}

std::string Federation::KubeconfigOfDaemon() {
  KubeconfigFields fields = scenario_.server().Fields();
  const KeyPair pair = scenario_.server().ClientCertificate("/CN=quota-controller-manager");
  fields.token.clear();
  fields.extra_user_lines =
      "    client-certificate: " + pair.cert_path + "\n    client-key: " + pair.key_path + "\n";
  return dir_.Write("kubeconfig", KubeconfigText(fields));
}

Federation::~Federation() {
  daemon().Finish();
  (void)api().Do({.verb = "DELETE", .path = ConfigurationPath(), .timeout = Stretched(5s)});
  // An API server uses a deleted configuration for a moment longer.
  const auto open = [this] {
    for (const std::string plural :
         {"karmadaquotas", "resourcebindings", "federatedresourcequotas"}) {
      StopServing(plural);
      if (api().Exists(PathOf("customresourcedefinitions", "", NameOf(plural)))) return false;
    }
    return true;
  };
  (void)PollUntil(open, Stretched(20s), 100ms);
}

void Federation::Serve(const std::string& plural) {
  // The last definition of this name may still be terminating.
  Eventually("the definition of " + plural + " is stored", [&]() -> std::string {
    const auto answer = api().Do(PostOf(PathOf("customresourcedefinitions"), DefinitionOf(plural)));
    return answer ? "" : answer.error().message;
  });
  WaitServed(api(), Path(plural));
}

void Federation::StopServing(const std::string& plural) {
  if (plural == "resourcebindings") {
    const auto answer = api().Do({.path = Path(plural)});
    const json::Value list = answer ? Json(answer->body) : json::Value();
    const json::Value* items = list.At({"items"});
    for (const json::Value& one : items != nullptr ? *items->AsArray() : json::Array()) {
      Delete(std::string(one.StringAt({"metadata", "name"})));
    }
  }
  api().Delete(PathOf("customresourcedefinitions", "", NameOf(plural)));
}

std::string Federation::Path(std::string_view resource, std::string_view name,
                             std::string_view subresource) const {
  std::string path = std::string(GroupPathOf(resource)) + "/namespaces/" + scenario_.ns() + "/";
  path.append(resource);
  for (const auto part : {name, subresource}) {
    if (!part.empty()) path.append("/").append(part);
  }
  return path;
}

void Federation::Limit(const std::string& name, const Quantities& hard,
                       const std::string& more_spec) {
  json::Value quota =
      more_spec.empty() ? json::Value(json::Object{}) : Json(R"({"spec":)" + more_spec + "}");
  quota.Make({"apiVersion"}) = "policy.karmada.io/v1alpha1";
  quota.Make({"kind"}) = "KarmadaQuota";
  quota.Make({"metadata", "name"}) = name;
  quota.Make({"spec", "hard"}) = ToObject(hard);
  // A new definition may be served a moment later on some connections.
  Eventually("quota " + name + " is created", [&]() -> std::string {
    const Attempt attempt = ToAttempt(api().Do(PostOf(Path("karmadaquotas"), quota)));
    return attempt.ok() || attempt.code == 409 ? "" : attempt.Text();
  });
  Eventually(
      "quota " + name + " is counted", [&] { return Unenforced(GetQuota(name), hard); },
      Stretched(15s));
}

Attempt Federation::Post(const json::Value& binding) const {
  return ToAttempt(scenario_.api().Do(PostOf(Path("resourcebindings"), binding)));
}

Attempt Federation::Patch(const std::string& binding, const std::string& merge_patch) const {
  return ToAttempt(scenario_.api().Do(PatchOf(Path("resourcebindings", binding), merge_patch)));
}

void Federation::Delete(const std::string& binding) {
  const std::string path = Path("resourcebindings", binding);
  (void)api().Do({.verb = "DELETE", .path = path});
  (void)api().Do(PatchOf(path, R"({"metadata":{"finalizers":null}})"));
}

json::Value Federation::GetQuota(const std::string& name) const {
  return scenario_.api().Get(Path("karmadaquotas", name));
}

void Federation::WaitUsed(const std::string& quota, const Quantities& used,
                          std::chrono::milliseconds timeout) const {
  Eventually(
      "quota " + quota + " uses " + ToText(used),
      [&]() -> std::string {
        const auto seen = ToQuantities(GetQuota(quota).At({"status", "used"}));
        return seen == used ? "" : "status.used " + ToText(seen);
      },
      timeout);
}

std::size_t Federation::Count() const {
  return scenario_.api().Get(Path("resourcebindings")).At({"items"})->AsArray()->size();
}

json::Value BindingOf(const std::string& name, const std::string& api_version,
                      const std::string& kind) {
  return json::Object{
      {"apiVersion", "work.karmada.io/v1alpha2"},
      {"kind", "ResourceBinding"},
      {"metadata",
       json::Object{{"name", name}, {"finalizers", json::Array{"karmada.io/binding-controller"}}}},
      {"spec",
       json::Object{{"resource",
                     json::Object{{"apiVersion", api_version}, {"kind", kind}, {"name", name}}}}}};
}

json::Value Binding(const std::string& name, int replicas, const Quantities& requests,
                    const std::string& priority_class) {
  json::Value binding = BindingOf(name, "apps/v1", "Deployment");
  binding.Make({"spec", "replicas"}) = replicas;
  json::Object requirements{{"resourceRequest", ToObject(requests)}};
  if (!priority_class.empty()) requirements.Set("priorityClassName", priority_class);
  binding.Make({"spec", "replicaRequirements"}) = std::move(requirements);
  return binding;
}

std::string Placed(const std::vector<std::pair<std::string, int>>& clusters) {
  json::Array list;
  for (const auto& [name, replicas] : clusters) {
    list.emplace_back(json::Object{{"name", name}, {"replicas", replicas}});
  }
  return json::Write(json::Object{{"spec", json::Object{{"clusters", std::move(list)}}}});
}

}  // namespace e2e
