#include "tests/e2e/harness/trial.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cctype>
#include <sstream>

#include "pkg/quantity/quantity.h"
#include "tests/e2e/harness/objects.h"
#include "tests/e2e/harness/process.h"
#include "tests/e2e/harness/scenario.h"

namespace e2e {
namespace {

bool IsKind(const json::Value& object, std::string_view kind) {
  return object.StringAt({"kind"}) == kind;
}

bool IsClusterScoped(const json::Value& object) {
  return IsKind(object, "Namespace") || object.StringAt({"kind"}).ends_with("Class");
}

std::string ResourceOf(const json::Value& object) {
  std::string resource;
  for (const char c : object.StringAt({"kind"})) resource += static_cast<char>(std::tolower(c));
  return resource + (resource.ends_with('s') ? "es" : "s");
}

// What turns `last` into `now`, as the strategic merge patch of `kubectl apply` does. null if there
// is nothing to change.
json::Value PatchOf(const json::Value& last, const json::Value& now) {
  const json::Object* before = last.AsObject();
  const json::Object* after = now.AsObject();
  if (before != nullptr && after != nullptr) {
    json::Value patch;
    for (const auto& [name, value] : *after) {
      const json::Value* old = before->Find(name);
      json::Value part = old == nullptr ? value : PatchOf(*old, value);
      if (!part.IsNull()) patch.Make({name}) = std::move(part);
    }
    for (const auto& [name, value] : *before) {
      if (after->Find(name) == nullptr) patch.Make({name}) = json::Value();
    }
    return patch;
  }
  if (last == now) return {};
  const json::Array* list = last.AsArray();
  const json::Array* changed = now.AsArray();
  const bool same_items = list != nullptr && changed != nullptr && list->size() == changed->size();
  if (!same_items || list->front().StringAt({"name"}).empty()) return now;
  json::Array patches;
  for (std::size_t i = 0; i < list->size(); ++i) {
    json::Value patch = PatchOf((*list)[i], (*changed)[i]);
    patch.Make({"name"}) = (*changed)[i].StringAt({"name"});
    patches.push_back(std::move(patch));
  }
  return patches;
}

std::string Between(const std::string& text, const std::string& begin, const std::string& end) {
  const std::size_t from = text.find(begin);
  if (from == std::string::npos) return "";
  const std::size_t to = text.find(end, from);
  if (to == std::string::npos) return "";
  return text.substr(from + begin.size(), to - from - begin.size());
}

quantity::Quantity Amount(const std::string& text) {
  const auto parsed = quantity::Quantity::Parse(text);
  return parsed ? *parsed : quantity::Quantity();
}

std::int64_t Number(const json::Value& object, std::initializer_list<std::string_view> path,
                    std::int64_t fallback) {
  const json::Value* value = object.At(path);
  return value == nullptr ? fallback : value->AsInt64().value_or(fallback);
}

// True if the controller replaces pods of another template.
bool Replaces(const json::Value& workload) {
  if (IsKind(workload, "Deployment")) {
    const json::Value* paused = workload.At({"spec", "paused"});
    return paused == nullptr || !paused->AsBool().value_or(false);
  }
  const bool stateful = IsKind(workload, "StatefulSet") || IsKind(workload, "DaemonSet");
  return stateful && workload.StringAt({"spec", "updateStrategy", "type"}) != "OnDelete";
}

bool IsPredictable(const json::Value& workload) {
  if (!IsKind(workload, "Deployment")) return true;
  if (workload.StringAt({"spec", "strategy", "type"}) == "Recreate") return true;
  const json::Value* rolling = workload.At({"spec", "strategy", "rollingUpdate"});
  if (rolling == nullptr || Number(*rolling, {"maxUnavailable"}, 1) != 0) return false;
  const std::string_view surge = rolling->StringAt({"maxSurge"});
  return surge == "1%" || surge == "100%";
}

}  // namespace

void MakeReady(Api& api) {
  client::ApiRequest list;
  list.path = "/api/v1/pods";
  list.query = {{"fieldSelector", "status.phase=Pending"}};
  const auto answer = api.Do(std::move(list));
  REQUIRE(answer.has_value());
  std::vector<client::ApiRequest> requests;
  const json::Value pods = Json(answer->body);
  for (const json::Value& pod : pods.ArrayAt({"items"})) {
    client::ApiRequest request;
    request.verb = "PATCH";
    request.path = "/api/v1/namespaces/" + std::string(pod.StringAt({"metadata", "namespace"})) +
                   "/pods/" + std::string(pod.StringAt({"metadata", "name"})) + "/status";
    request.content_type = client::kStrategicMergePatch;
    request.body = R"({"status": {"phase": "Running", "conditions": [{"type": "Ready",
        "status": "True"}]}})";
    requests.push_back(std::move(request));
  }
  api.DoAll(std::move(requests), 8);
}

bool Trial::IsPolicy(const json::Value& manifest) {
  return IsClusterScoped(manifest) || IsKind(manifest, "ResourceQuota");
}

std::string Trial::CollectionOf(const json::Value& object) const {
  const std::string version(object.StringAt({"apiVersion"}));
  const std::string root = version == "v1" ? "/api/v1" : "/apis/" + version;
  return root + (IsClusterScoped(object) ? "" : "/namespaces/" + ns_) + "/" + ResourceOf(object);
}

std::string Trial::PathOf(const json::Value& object) const {
  return CollectionOf(object) + "/" + std::string(object.StringAt({"metadata", "name"}));
}

void Trial::MakeRules() {
  const bool in_files = std::ranges::any_of(
      made_.manifests, [](const json::Value& manifest) { return IsKind(manifest, "Namespace"); });
  if (in_files) return;
  api_->Create("/api/v1/namespaces", Namespace(ns_));
  Eventually("the namespace is born", [&]() -> std::string {
    const std::string path = "/api/v1/namespaces/" + ns_;
    const bool born = api_->Exists(path + "/configmaps/kube-root-ca.crt") &&
                      api_->Exists(path + "/serviceaccounts/default");
    return born ? "" : ns_;
  });
  for (const json::Value& rule : made_.rules) ApplyOne(rule);
}

std::set<std::string> Trial::QuotaNames() {
  std::set<std::string> names;
  for (const auto& [path, object] : applied_) {
    if (IsKind(object, "ResourceQuota")) names.emplace(object.StringAt({"metadata", "name"}));
  }
  return names;
}

json::Value Trial::QuotaNow(const std::string& name) {
  return api_->Get("/api/v1/namespaces/" + ns_ + "/resourcequotas/" + name);
}

std::string Trial::Uncounted() {
  for (const std::string& name : QuotaNames()) {
    const json::Value quota = QuotaNow(name);
    const json::Value* used = quota.At({"status", "used"});
    const json::Value* hard = quota.At({"spec", "hard"});
    const json::Value* enforced = quota.At({"status", "hard"});
    if (used == nullptr || enforced == nullptr || *enforced != *hard) return json::Write(quota);
    if (used->AsObject()->size() != hard->AsObject()->size()) return json::Write(quota);
  }
  return "";
}

void Trial::Check(const std::string& kubeconfig, const TempDir& dir) {
  Remember();
  std::string text;
  for (const json::Value& manifest : made_.manifests) text += json::Write(manifest) + "\n---\n";
  if (ns_.ends_with('3')) {
    json::Array items;
    for (const json::Value& manifest : made_.manifests) items.push_back(manifest);
    text = json::Write(
        json::Object{{"apiVersion", "v1"}, {"kind", "List"}, {"items", std::move(items)}});
  }
  const std::string file = dir.Write(ns_ + ".yaml", text);
  const auto asked = RunProgram({.argv = {BuiltProgram("kubectl-quota"), "check", "-f", file, "-n",
                                          ns_, "-o", "json", "--kubeconfig", kubeconfig}},
                                Patience());
  INFO(asked.output << text);
  REQUIRE((asked.exit_code == 0 || asked.exit_code == 1));
  said_ = Json(asked.output.substr(asked.output.find('{')));  // behind a line of progress
  CHECK(Fits() == (asked.exit_code == 0));
}

void Trial::Remember() {
  before_.clear();
  for (const std::string& name : QuotaNames()) {
    const json::Value quota = QuotaNow(name);
    for (const auto& [resource, used] : *quota.At({"status", "used"})->AsObject()) {
      before_[std::string(name).append(" ").append(resource)] = *used.AsString();
    }
  }
}

void Trial::Apply() {
  earlier_.merge(refusals_);
  refusals_.clear();
  for (const json::Value& manifest : made_.manifests) {
    if (IsPolicy(manifest)) ApplyOne(manifest);
  }
  Eventually("the policies are counted", [&] { return Uncounted(); });
  for (const json::Value& manifest : made_.manifests) {
    if (!IsPolicy(manifest)) ApplyOne(manifest);
  }
}

void Trial::ApplyOne(const json::Value& manifest) {
  const bool named = !manifest.StringAt({"metadata", "name"}).empty();
  const std::string path = named ? PathOf(manifest) : "";
  const auto last = applied_.find(path);
  const bool is_new = !named || last == applied_.end();
  client::ApiRequest request;
  request.verb = is_new ? "POST" : "PATCH";
  request.path = is_new ? CollectionOf(manifest) : path;
  request.content_type = is_new ? client::kJson : client::kStrategicMergePatch;
  json::Value body = is_new ? manifest : PatchOf(last->second, manifest);
  if (body.IsNull()) return;
  // The server ignores the uid of an export, but not that of a patch.
  if (!is_new && body.At({"metadata"}) != nullptr) body.Make({"metadata"}).AsObject()->Erase("uid");
  if (named) {
    body.Make({"metadata", "annotations", "kubectl.kubernetes.io/last-applied-configuration"}) =
        json::Write(manifest);
  }
  request.body = json::Write(body);
  const auto answer = api_->Do(std::move(request));
  if (!answer) {
    refusals_.insert(answer.error().message);
    return;
  }
  if (named) applied_[path] = manifest;
  if (IsKind(manifest, "Namespace")) {
    Eventually("the namespace is born", [&]() -> std::string {
      return api_->Exists(path + "/configmaps/kube-root-ca.crt") &&
                     api_->Exists(path + "/serviceaccounts/default")
                 ? ""
                 : ns_;
    });
  }
  const json::Value* suspended = manifest.At({"spec", "suspend"});
  if (!is_new || !IsKind(manifest, "CronJob") || suspended->AsBool() == true) return;
  json::Value job =
      NamedObject("batch/v1", "Job", std::string(manifest.StringAt({"metadata", "name"})) + "-run");
  job.Make({"spec"}) = *manifest.At({"spec", "jobTemplate", "spec"});
  ApplyOne(job);
}

bool Trial::Change(RandomManifests& random) {
  std::erase_if(made_.manifests, [](const json::Value& manifest) {
    return manifest.StringAt({"metadata", "name"}).empty();
  });
  // What an export had is not in the manifests any more, and no object stands there twice.
  std::vector<json::Value> manifests;
  for (json::Value& manifest : made_.manifests) {
    manifest.AsObject()->Erase("status");
    for (const char* member : {"uid", "generation", "creationTimestamp"}) {
      manifest.Make({"metadata"}).AsObject()->Erase(member);
    }
    const std::string path = PathOf(manifest);
    if (applied_.contains(path)) applied_[path] = manifest;
    first_[path] = manifest;
    std::erase_if(manifests, [&](const json::Value& other) { return PathOf(other) == path; });
    manifests.push_back(std::move(manifest));
  }
  made_.manifests = manifests;
  random.Change(made_.manifests);
  return Note(manifests);
}

bool Trial::Return() {
  const std::vector<json::Value> before = made_.manifests;
  for (json::Value& manifest : made_.manifests) {
    const auto first = first_.find(PathOf(manifest));
    const bool has = first != first_.end() && manifest.At({"spec", "template"}) != nullptr;
    if (has && !IsKind(manifest, "Job")) {
      manifest.Make({"spec", "template"}) = *first->second.At({"spec", "template"});
    }
  }
  return Note(before);
}

bool Trial::Note(const std::vector<json::Value>& before) {
  rolling_.clear();
  shrinks_ = false;
  sure_ = false;
  int changed = 0;
  bool only_template = true;
  for (const json::Value& manifest : made_.manifests) {
    const auto was = std::ranges::find_if(
        before, [&](const json::Value& other) { return PathOf(other) == PathOf(manifest); });
    if (was != before.end() && *was == manifest) continue;
    ++changed;
    if (was == before.end()) continue;
    for (const char* field : {"replicas", "parallelism"}) {
      shrinks_ =
          shrinks_ || Number(manifest, {"spec", field}, 1) < Number(*was, {"spec", field}, 1);
    }
    if (!Replaces(manifest)) continue;
    const bool same = *was->At({"spec", "template"}) == *manifest.At({"spec", "template"});
    const bool resumed = was->At({"spec", "paused"}) != nullptr;
    if (same && !resumed) continue;
    rolling_.push_back(PathOf(manifest));
    const json::Value* now = manifest.At({"spec", "replicas"});
    const json::Value* then = was->At({"spec", "replicas"});
    only_template = (now == nullptr || *now == *then) && IsPredictable(manifest) && !resumed;
  }
  const bool scaled = std::ranges::any_of(made_.manifests, [](const json::Value& manifest) {
    return IsKind(manifest, "HorizontalPodAutoscaler");
  });
  // Its manifest may want fewer pods than the autoscaler made.
  shrinks_ = shrinks_ || (scaled && changed > 0);
  sure_ = changed == 1 && rolling_.size() == 1 && only_template && !scaled;
  return changed > 0;
}

bool Trial::AsksNothing() const {
  return Fits() && std::ranges::all_of(said_.ArrayAt({"items"}), [](const json::Value& line) {
           return Amount(std::string(line.StringAt({"asked"}))).IsZero();
         });
}

std::string Trial::NotTrue() {
  LookForRefusals();
  if (!rolling_.empty()) {
    // Usage falls a little after pods are gone, so a rollout may be refused for a moment.
    std::string wrong = NotRolledOut();
    if (Fits()) return wrong.empty() ? UsageNotTrue() : wrong;
    if (!sure_) return "";
    if (wrong.empty()) return "it was rolled out";
    return refusals_.empty() && !IsSilent() ? "nothing is refused" : "";
  }
  for (const std::string& refusal : refusals_) {
    if (!WasForeseen(refusal)) return "not foreseen: " + refusal;
  }
  if (Fits()) return UsageNotTrue();
  bool beyond = false;  // what is there already exceeds a limit of the files
  for (const std::string& name : QuotaNames()) {
    const json::Value quota = QuotaNow(name);
    for (const auto& [resource, used] : *quota.At({"status", "used"})->AsObject()) {
      const json::Value* hard = quota.At({"status", "hard", resource});
      beyond = beyond || Amount(*used.AsString()) > Amount(*hard->AsString());
    }
  }
  return refusals_.empty() && !beyond && !IsSilent() ? "nothing is refused" : "";
}

std::string Trial::UsageNotTrue() {
  for (const std::string& quota : QuotaNames()) {
    const json::Value counted = QuotaNow(quota);
    for (const auto& [name, used] : *counted.At({"status", "used"})->AsObject()) {
      const std::string foreseen = Foreseen(quota, name);
      const auto now = Amount(*used.AsString());
      const auto then = Amount(foreseen);
      const bool highest = !rolling_.empty() || shrinks_;
      if (highest ? now > then : now != then) {
        std::string told = name;
        return told.append(" used ").append(*used.AsString()).append(", foreseen ") + foreseen;
      }
    }
  }
  return "";
}

std::string Trial::NotRolledOut() {
  for (const std::string& path : rolling_) {
    const json::Value now = api_->Get(path);
    const bool seen = Number(now, {"status", "observedGeneration"}, 0) ==
                      Number(now, {"metadata", "generation"}, -1);
    bool done = false;
    if (IsKind(now, "DaemonSet")) {
      const auto wanted = Number(now, {"status", "desiredNumberScheduled"}, 0);
      done = Number(now, {"status", "updatedNumberScheduled"}, 0) == wanted &&
             Number(now, {"status", "numberAvailable"}, 0) == wanted;
    } else {
      const auto wanted = Number(now, {"spec", "replicas"}, 1);
      const auto kept = Number(now, {"spec", "updateStrategy", "rollingUpdate", "partition"}, 0);
      const auto updated = Number(now, {"status", "updatedReplicas"}, 0);
      done = Number(now, {"status", "replicas"}, 0) == wanted &&
             Number(now, {"status", "readyReplicas"}, 0) == wanted && updated >= wanted - kept;
    }
    if (!seen || !done) return "not rolled out: " + json::Write(now);
  }
  return "";
}

void Trial::LookForRefusals() {
  client::ApiRequest request;
  request.path = "/api/v1/namespaces/" + ns_ + "/events";
  request.query = {{"fieldSelector", "type=Warning"}};
  const auto answer = api_->Do(std::move(request));
  REQUIRE(answer.has_value());
  const json::Value events = Json(answer->body);
  for (const json::Value& event : *events.At({"items"})->AsArray()) {
    const std::string message(event.StringAt({"message"}));
    const bool of_quota = message.find("quota") != std::string::npos;
    const bool refused = of_quota || event.StringAt({"reason"}) == "FailedCreate";
    if (refused && !earlier_.contains(message)) refusals_.insert(message);
  }
}

// True if `check` predicted this refusal: either with the same message, or by the same quota for
// the same names.
bool Trial::WasForeseen(const std::string& refusal) const {
  for (const json::Value& objection : *said_.At({"objections"})->AsArray()) {
    if (refusal.find(objection.StringAt({"message"})) != std::string::npos) return true;
  }
  const std::string exceeded = Between(refusal, "exceeded quota: ", ", requested: ");
  std::istringstream names(Between(refusal, ", requested: ", ", used: "));
  bool all = !exceeded.empty();
  for (std::string name; all && std::getline(names, name, ',');) {
    all = Lacks(exceeded, name.substr(0, name.find('=')));
  }
  return all;
}

bool Trial::Lacks(const std::string& quota, const std::string& name) const {
  return std::ranges::any_of(*said_.At({"items"})->AsArray(), [&](const json::Value& line) {
    return line.At({"lacking"}) != nullptr && line.StringAt({"quota"}) == quota &&
           line.StringAt({"resource"}) == name;
  });
}

// True if something is refused of which controllers report no Event.
bool Trial::IsSilent() const {
  return std::ranges::any_of(said_.ArrayAt({"items"}), [](const json::Value& line) {
    const std::string_view name = line.StringAt({"resource"});
    return line.At({"lacking"}) != nullptr &&
           (name == "count/controllerrevisions.apps" || name == "count/endpoints");
  });
}

// A name that `check` does not mention keeps its usage.
std::string Trial::Foreseen(const std::string& quota, const std::string& name) const {
  for (const json::Value& line : *said_.At({"items"})->AsArray()) {
    const bool same = line.StringAt({"quota"}) == quota && line.StringAt({"resource"}) == name;
    if (same) return std::string(line.StringAt({"after"}));
  }
  const auto before = before_.find(std::string(quota).append(" ") + name);
  if (before != before_.end()) return before->second;
  // The quota is new, and the namespace has one ConfigMap from the start.
  return name == "configmaps" ? "1" : "0";
}

std::string Trial::Story() const {
  std::string text = ns_ + " said " + json::Write(said_) + "\n";
  for (const auto* list : {&made_.rules, &made_.manifests}) {
    for (const json::Value& object : *list) text += json::Write(object) + "\n";
  }
  for (const auto& [path, object] : first_) text += "first: " + json::Write(object) + "\n";
  return text;
}

}  // namespace e2e
