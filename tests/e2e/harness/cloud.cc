#include "tests/e2e/harness/cloud.h"

#include <algorithm>
#include <cstdio>
#include <stdexcept>

#include "pkg/config/yaml.h"
#include "tests/e2e/harness/proxy.h"
#include "tests/source_dir.h"

namespace e2e {
namespace {

// "machines" → "compute.ironcore.dev"
std::string GroupOf(std::string_view resource) {
  if (resource == "resourcequotas") return "core.ironcore.dev";
  return resource.starts_with("machine") ? "compute.ironcore.dev" : "storage.ironcore.dev";
}

json::Value Object(const std::string& group, const std::string& kind, const std::string& name) {
  return json::Object{{"apiVersion", group + "/v1alpha1"},
                      {"kind", kind},
                      {"metadata", json::Object{{"name", name}}}};
}

void Forget(json::Value& object, const std::string& member) {
  json::Object* members = object.AsObject();
  if (members != nullptr) members->Erase(member);
}

// Keeps only the shape of a schema.
void Relax(json::Value& schema) {
  for (const char* rule :
       {"required", "minLength", "maxLength", "pattern", "x-kubernetes-validations"}) {
    Forget(schema, rule);
  }
  if (schema.AsObject() == nullptr) return;
  for (auto& [name, below] : *schema.AsObject()) Relax(below);
}

}  // namespace

json::Value CloudDefinition(const std::string& plural, Rules rules) {
  const std::string path = "/tests/e2e/ironcore/" + plural + "-crd.yaml";
  auto definition = config::ParseYaml(ReadFile(tests::SourcePath(path)));
  if (!definition) throw std::runtime_error(path + ": " + definition.error().message);
  json::Value& version = definition->Make({"spec", "versions"}).AsArray()->front();
  if (rules == Rules::kNone && !plural.starts_with("resourcequotas"))
    Relax(version.Make({"schema", "openAPIV3Schema"}));
  if (rules == Rules::kStatusInObject) Forget(version, "subresources");
  return std::move(*definition);
}

// However the start ends, the destructor deletes the definitions.
Cloud::Cloud(ApiServer& server, const CloudOptions& options) : Cloud(server) { Start(options); }

void Cloud::Start(const CloudOptions& options) {
  ApiServer& server = scenario_.server();
  if (options.serve) ServeAll(options.rules);
  daemon_options_.kubeconfig = options.kubeconfig;
  if (options.kubeconfig.empty()) daemon_options_.kubeconfig = server.Kubeconfig();
  daemon_options_.resync_period = options.resync_period;
  auto& flags = daemon_options_.more_flags;
  flags.push_back("--enforce=" + options.enforce);
  if (!options.enforce.empty()) {
    const std::string address = "127.0.0.1:" + std::to_string(FreePort());
    flags.push_back("--admission-bind-address=" + address);
    flags.push_back("--admission-url=https://" + address);
  }
  flags.insert(flags.end(), options.more_flags.begin(), options.more_flags.end());
  scenario_.StartDaemon(daemon_options_, false);
  started_ = true;
  daemon().WaitUntilReady();
}

Cloud::~Cloud() {
  if (started_) daemon().Finish();
  (void)api().Do({.verb = "DELETE", .path = ConfigurationPath(), .timeout = Stretched(5s)});
  for (const char* plural : kCloudKinds) StopServing(plural);
  const auto gone = [this] {
    return std::none_of(std::begin(kCloudKinds), std::end(kCloudKinds), [this](const char* plural) {
      return api().Exists(
          PathOf("customresourcedefinitions", "", std::string(plural) + "." + GroupOf(plural)));
    });
  };
  (void)PollUntil(gone, Stretched(30s), 50ms);
}

void Cloud::Define(const std::string& plural, Rules rules) {
  // The last definition of this name may still be terminating.
  Eventually("the definition of " + plural + " is stored", [&]() -> std::string {
    const auto answer =
        api().Do(PostOf(PathOf("customresourcedefinitions"), CloudDefinition(plural, rules)));
    return answer ? "" : answer.error().message;
  });
}

void Cloud::Serve(const std::string& plural, Rules rules) {
  Define(plural, rules);
  WaitServed(api(), Path(plural));
}

void Cloud::ServeAll(Rules rules) {
  for (const char* plural : kCloudKinds) Define(plural, rules);
  for (const char* plural : kCloudKinds) WaitServed(api(), Path(plural));
}

void Cloud::StopServing(const std::string& plural) {
  api().Delete(PathOf("customresourcedefinitions", "", plural + "." + GroupOf(plural)));
}

std::string Cloud::Path(std::string_view resource, std::string_view name,
                        std::string_view subresource) const {
  std::string path = "/apis/" + GroupOf(resource) + "/v1alpha1";
  if (!resource.ends_with("classes")) path.append("/namespaces/").append(scenario_.ns());
  path.append("/").append(resource);
  for (const auto part : {name, subresource}) {
    if (!part.empty()) path.append("/").append(part);
  }
  return path;
}

void Cloud::WriteQuota(const std::string& name, const Quantities& hard,
                       const std::string& more_spec) {
  json::Value quota = CloudQuota(name, {});
  if (!more_spec.empty()) quota.Make({"spec"}) = Json(more_spec);
  quota.Make({"spec", "hard"}) = ToObject(hard);
  // A new definition may be served a moment later on some connections.
  Eventually("quota " + name + " is created", [&]() -> std::string {
    const Attempt attempt = Post("resourcequotas", quota);
    return attempt.ok() || attempt.code == 409 ? "" : attempt.Text();
  });
}

void Cloud::Limit(const std::string& name, const Quantities& hard, const std::string& more_spec) {
  WriteQuota(name, hard, more_spec);
  Eventually(
      "quota " + name + " is in force", [&] { return Unenforced(GetQuota(name), hard); },
      Stretched(15s));
}

Attempt Cloud::Post(std::string_view resource, const json::Value& object, bool dry_run) const {
  client::ApiRequest request = PostOf(Path(resource), object);
  if (dry_run) request.query.emplace_back("dryRun", "All");
  return ToAttempt(scenario_.api().Do(std::move(request)));
}

Attempt Cloud::Patch(std::string_view resource, const std::string& name,
                     const std::string& merge_patch) const {
  const auto slash = name.find('/');
  const std::string sub = slash == std::string::npos ? "" : name.substr(slash + 1);
  return ToAttempt(
      scenario_.api().Do(PatchOf(Path(resource, name.substr(0, slash), sub), merge_patch)));
}

Attempt Cloud::Replace(const std::string& path, const json::Value& object) const {
  client::ApiRequest request = PostOf(path, object);
  request.verb = "PUT";
  return ToAttempt(scenario_.api().Do(std::move(request)));
}

void Cloud::Make(std::string_view resource, const json::Value& object) const {
  Eventually(std::string(resource) + " are made", [&]() -> std::string {
    const Attempt attempt = Post(resource, object);
    const bool early = attempt.code == 404 || attempt.code == 429 || attempt.code >= 500;
    if (!attempt.ok() && !early) throw std::runtime_error(attempt.Text());
    return attempt.ok() ? "" : attempt.Text();
  });
}

void Cloud::MakeMachine(const std::string& name, const std::string& machine_class) const {
  Make("machines", Machine(name, machine_class));
}

void Cloud::MakeClass(const std::string& name, const std::string& cpu,
                      const std::string& memory) const {
  Make("machineclasses", MachineClass(name, {{"cpu", cpu}, {"memory", memory}}));
}

void Cloud::SetState(std::string_view resource, const std::string& name,
                     const std::string& state) const {
  const Attempt attempt =
      Patch(resource, name + "/status", R"({"status":{"state":")" + state + "\"}}");
  if (!attempt.ok()) throw std::runtime_error(attempt.Text());
}

void Cloud::Delete(std::string_view resource, const std::string& name) const {
  scenario_.api().Delete(Path(resource, name));
}

json::Value Cloud::GetQuota(const std::string& name) const {
  return scenario_.api().Get(Path("resourcequotas", name));
}

Quantities Cloud::Used(const std::string& quota) const {
  return ToQuantities(GetQuota(quota).At({"status", "used"}));
}

void Cloud::WaitUsed(const std::string& quota, const Quantities& used,
                     std::chrono::milliseconds timeout) const {
  Eventually(
      "quota " + quota + " uses " + ToText(used),
      [&]() -> std::string {
        const auto seen = Used(quota);
        return seen == used ? "" : "status.used " + ToText(seen);
      },
      timeout);
}

void Cloud::WaitAndTell(const std::string& quota, const Quantities& used,
                        const std::string& what) const {
  const auto began = std::chrono::steady_clock::now();
  WaitUsed(quota, used);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  std::printf("measured: %s after %.2f s\n", what.c_str(), took.count());
}

void Cloud::StaysUsed(const std::string& quota, const Quantities& used,
                      std::chrono::milliseconds period) const {
  Always(
      "quota " + quota + " uses " + ToText(used),
      [&]() -> std::string {
        const auto seen = Used(quota);
        return seen == used ? "" : "status.used " + ToText(seen);
      },
      period);
}

void Cloud::WaitSaid(const std::string& quota, const std::string& reason, const std::string& words,
                     std::chrono::milliseconds timeout) const {
  Eventually(
      "an event " + reason + " on quota " + quota + " says: " + words,
      [&]() -> std::string {
        const json::Value list = scenario_.api().Get(scenario_.Path("events"));
        std::string said;
        for (const json::Value& event : *list.At({"items"})->AsArray()) {
          if (event.StringAt({"involvedObject", "name"}) != quota) continue;
          const std::string message(event.StringAt({"message"}));
          if (event.StringAt({"reason"}) == reason && message.find(words) != std::string::npos)
            return "";
          said.append(event.StringAt({"reason"})).append(": ").append(message).append("\n");
        }
        return said.empty() ? "nothing is said" : said;
      },
      timeout);
}

std::size_t Cloud::Count(std::string_view resource) const {
  return scenario_.api().Get(Path(resource)).At({"items"})->AsArray()->size();
}

json::Value MachineClass(const std::string& name, const Quantities& capabilities) {
  json::Value made = Object("compute.ironcore.dev", "MachineClass", name);
  made.Make({"capabilities"}) = ToObject(capabilities);
  return made;
}

json::Value VolumeClass(const std::string& name) {
  json::Value made = Object("storage.ironcore.dev", "VolumeClass", name);
  made.Make({"capabilities"}) = json::Object{{"tps", "200Mi"}, {"iops", "4000"}};
  return made;
}

json::Value BucketClass(const std::string& name, const Quantities& capabilities) {
  json::Value made = Object("storage.ironcore.dev", "BucketClass", name);
  made.Make({"capabilities"}) = ToObject(capabilities);
  return made;
}

json::Value Machine(const std::string& name, const std::string& machine_class) {
  json::Value made = Object("compute.ironcore.dev", "Machine", name);
  made.Make({"spec", "machineClassRef", "name"}) = machine_class;
  made.Make({"spec", "power"}) = "On";
  return made;
}

json::Value Volume(const std::string& name, const std::string& volume_class,
                   const std::string& size) {
  json::Value made = Object("storage.ironcore.dev", "Volume", name);
  made.Make({"spec"}) = json::Object();
  if (volume_class.empty()) return made;
  made.Make({"spec", "volumeClassRef", "name"}) = volume_class;
  made.Make({"spec", "resources", "storage"}) = size;
  return made;
}

json::Value Bucket(const std::string& name, const std::string& bucket_class) {
  json::Value made = Object("storage.ironcore.dev", "Bucket", name);
  made.Make({"spec"}) = json::Object();
  if (!bucket_class.empty()) made.Make({"spec", "bucketClassRef", "name"}) = bucket_class;
  return made;
}

json::Value CloudQuota(const std::string& name, const Quantities& hard) {
  json::Value made = Object("core.ironcore.dev", "ResourceQuota", name);
  made.Make({"spec", "hard"}) = ToObject(hard);
  return made;
}

std::string Selector(const std::vector<Expression>& expressions) {
  json::Array list;
  for (const Expression& expression : expressions) {
    json::Object one{{"scopeName", expression.scope}, {"operator", expression.op}};
    json::Array values(expression.values.begin(), expression.values.end());
    if (!values.empty()) one.Set("values", std::move(values));
    list.emplace_back(std::move(one));
  }
  json::Value selector;
  selector.Make({"scopeSelector", "matchExpressions"}) = std::move(list);
  return json::Write(selector);
}

}  // namespace e2e
