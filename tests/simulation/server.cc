#include "tests/simulation/server.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include "pkg/quota/quota.h"
#include "tests/simulation/discovery.h"

namespace simulation {
namespace {

using base::Error;
using base::ErrorCode;

constexpr std::string_view kLeases = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases";

Error Refusal(ErrorCode code, int status, const std::string& what) {
  return {.code = code, .message = what, .http_status = status};
}

Error Away() { return Refusal(ErrorCode::kUnavailable, 503, "the server is away"); }

// The number of versions that other writers of a cluster use up after a backup. So a restored
// server does not reach the old versions again before all replicas have noticed the restore.
constexpr std::uint64_t kOfOthers = 1'000;

client::ApiResponse Ok(std::string body) {
  return {.status = 200, .headers = {}, .body = std::move(body)};
}

// RFC 7386 for a flat map of amounts.
void Merge(const json::Value* patch, std::optional<Amounts>& amounts, Texts& texts) {
  if (patch == nullptr) return;
  if (!amounts) amounts.emplace();
  for (const auto& [name, value] : *patch->AsObject()) {
    texts.erase(name);
    if (value.IsNull()) {
      amounts->erase(name);
      continue;
    }
    const std::string& text = *value.AsString();
    (*amounts)[name] = AmountIn(text).value_or(kUnreadable);
    if (text != std::to_string(amounts->at(name))) texts[name] = text;
  }
}

// RFC 7386.
void MergeInto(json::Value& target, const json::Value& patch) {
  const json::Object* members = patch.AsObject();
  if (members == nullptr) {
    target = patch;
    return;
  }
  if (!target.IsObject()) target = json::Object();
  for (const auto& [name, value] : *members) {
    if (value.IsNull()) {
      target.AsObject()->Erase(name);
    } else {
      MergeInto((*target.AsObject())[name], value);
    }
  }
}

// Merges the members of a ClusterQuota's status that the model does not know.
void MergeFurther(const json::Value* status, StoredQuota& quota) {
  if (status == nullptr || !quota.tree) return;
  json::Value patch = *status;
  for (const char* known : {"hard", "used", "reservations"}) patch.AsObject()->Erase(known);
  json::Value further = std::move(quota.further);
  MergeInto(further, patch);
  quota.further = std::move(*further.AsObject());
}

std::string ManagerOf(const client::ApiRequest& request) {
  for (const auto& [name, value] : request.query) {
    if (name == "fieldManager") return value;
  }
  return "unknown";
}

// The manager that changed a name last owns it, as in managedFields.
void NoteManager(const StoredQuota& before, StoredQuota& quota, const std::string& manager) {
  const Amounts used = quota.status_used.value_or(Amounts());
  std::erase_if(quota.used_by, [&](const auto& entry) { return !used.contains(entry.first); });
  for (const auto& [name, amount] : used) {
    const bool same = before.status_used && before.status_used->contains(name) &&
                      before.status_used->at(name) == amount;
    if (!same) quota.used_by[name] = manager;
  }
}

// The server then answers with the metadata of the objects only.
bool AsksForMetadata(const client::ApiRequest& request) {
  return request.accept.find("as=PartialObjectMetadataList") != std::string::npos;
}

// Returns "" if the request asks for all objects.
std::string NameAskedFor(const client::ApiRequest& request) {
  constexpr std::string_view kByName = "metadata.name=";
  for (const auto& [name, value] : request.query) {
    if (name == "fieldSelector" && value.starts_with(kByName)) return value.substr(kByName.size());
  }
  return "";
}

}  // namespace

// "/api/v1[/namespaces/NS]/RESOURCE[/NAME[/status]]", or "/apis/GROUP/VERSION…".
struct Server::Path {
  std::string ns;
  std::string resource;
  std::string name;
  bool status = false;

  static Path Of(const std::string& text) {
    std::vector<std::string> parts;
    const bool grouped = text.starts_with("/apis/");
    const std::size_t begin = grouped ? text.find('/', text.find('/', 6) + 1) : 7;
    for (std::size_t at = begin; at < text.size();) {
      const std::size_t end = std::min(text.find('/', at + 1), text.size());
      parts.push_back(text.substr(at + 1, end - at - 1));
      at = end;
    }
    Path path;
    if (parts.size() > 2 && parts[0] == "namespaces") {
      path.ns = parts[1];
      parts.erase(parts.begin(), parts.begin() + 2);
    }
    if (!parts.empty()) path.resource = parts[0];
    if (parts.size() > 1) path.name = parts[1];
    path.status = parts.size() > 2 && parts[2] == "status";
    return path;
  }
};

std::optional<Resource> Server::CollectionAt(const std::string& path) {
  if (path.ends_with("/resourcequotas")) return Resource::kQuotas;
  if (path.ends_with("/clusterquotas")) return Resource::kClusterQuotas;
  if (path.ends_with("/namespaces")) return Resource::kNamespaces;
  if (path.ends_with("/persistentvolumeclaims")) return Resource::kClaims;
  if (path.ends_with("/secrets")) return Resource::kSecrets;
  if (path.ends_with("/machines")) return Resource::kMachines;
  if (path.ends_with("/machineclasses")) return Resource::kClasses;
  if (path.ends_with("/validatingwebhookconfigurations")) return Resource::kWebhooks;
  return std::nullopt;
}

const std::vector<Server::Event>& Server::History(Resource resource) const {
  static const std::vector<Event> none;
  const auto found = history_.find(resource);
  return found == history_.end() ? none : found->second;
}

const std::map<Server::Key, Thing>& Server::things(Resource resource) const {
  if (resource == Resource::kMachines) return machines_;
  return resource == Resource::kClaims ? claims_ : secrets_;
}

std::map<Server::Key, Thing>& Server::ThingsOf(Resource resource) {
  return const_cast<std::map<Key, Thing>&>(std::as_const(*this).things(resource));
}

const Thing* Server::FindThing(Resource resource, const Key& key) const {
  const auto found = things(resource).find(key);
  return found == things(resource).end() ? nullptr : &found->second;
}

const Thing* Server::FindEarlier(Resource resource, const Key& key) const {
  const Thing* stored = FindThing(resource, key);
  if (stored == nullptr) return nullptr;
  const auto earlier = earlier_.find(stored->uid);
  return earlier == earlier_.end() ? stored : &earlier->second;
}

const StoredQuota* Server::FindQuota(const Key& key) const {
  const auto found = quotas_.find(key);
  return found == quotas_.end() ? nullptr : &found->second;
}

Amounts Server::TrueUse(const StoredQuota& quota) const {
  Amounts use;
  for (const auto& [name, limit] : quota.hard) use[name] = 0;
  for (const auto* things : {&claims_, &secrets_, &machines_}) {
    for (const auto& [key, thing] : *things) {
      for (const auto& [name, amount] : CountedBy(quota, thing)) {
        if (use.contains(name)) use[name] = Sum(use[name], amount);
      }
    }
  }
  for (const auto* things : {&claims_, &machines_}) {
    for (const auto& stored : *things) {
      const Thing& thing = stored.second;
      // A quota over many namespaces counts what can be read.
      const bool least = quota.tree && thing.size == kUnreadable;
      if (least || !Matches(quota, thing)) continue;
      std::erase_if(use, [&](const auto& e) { return IsUnknown(thing, e.first, classes_); });
    }
  }
  return use;
}

std::string Server::NewUid() {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "00000000-0000-4000-8000-%012llu",
                static_cast<unsigned long long>(++uids_));
  return text.data();
}

void Server::Announce(Resource resource, const char* type, const std::string& json) {
  std::string line = R"({"type":")";
  line.append(type).append(R"(","object":)").append(json).append("}\n");
  history_[resource].push_back({version_, std::move(line)});
  observer_.OnHistory(resource);
}

void Server::Store(Thing thing) {
  auto& things = ThingsOf(thing.resource);
  thing.version = ++version_;
  const Key key{thing.ns, thing.name};
  const auto held = things.find(key);
  const bool existed = held != things.end();
  const Thing before = existed ? held->second : Thing();
  if (existed) earlier_[before.uid] = before;
  things[key] = thing;
  observer_.OnThing(existed ? &before : nullptr, &thing);
  Announce(thing.resource, existed ? "MODIFIED" : "ADDED", ToJson(thing));
}

void Server::Remove(Resource resource, const Key& key) {
  auto node = ThingsOf(resource).extract(key);
  if (node.empty()) return;
  observer_.OnThing(&node.mapped(), nullptr);
  node.mapped().version = ++version_;
  Announce(resource, "DELETED", ToJson(node.mapped()));
}

void Server::Mark(Resource resource, const Key& key) {
  const Thing* stored = FindThing(resource, key);
  if (stored == nullptr || stored->going) return;
  Thing going = *stored;
  going.going = true;
  Store(std::move(going));
}

void Server::PutQuota(const Key& key, const SpecLimits& limits, bool gold,
                      std::optional<InTree> tree) {
  const StoredQuota* held = FindQuota(key);
  StoredQuota quota = held != nullptr ? *held : StoredQuota{.ns = key.first, .name = key.second};
  const bool existed = held != nullptr;
  const SpecLimits held_limits{quota.hard, quota.unread, quota.scope, quota.said};
  const bool same = held_limits == limits && quota.gold == gold && quota.tree == tree;
  if (existed && same) return;
  const StoredQuota before = quota;
  if (!existed) quota.uid = NewUid();
  quota.hard = limits.hard;
  quota.unread = limits.unread;
  quota.scope = limits.scope;
  quota.said = limits.said;
  quota.gold = gold;
  quota.tree = std::move(tree);
  quota.version = ++version_;
  if (existed) ++quota.generation;
  quotas_[key] = quota;
  if (quota.tree) specs_version_ = version_;
  observer_.OnQuotaSpec(existed ? &before : nullptr, &quota);
  if (quota.tree && !at_once_) UpdateReach();
  Announce(quota.resource(), existed ? "MODIFIED" : "ADDED", ToJson(quota));
}

void Server::PutAtOnce(const std::function<void()>& put) {
  at_once_ = true;
  put();
  at_once_ = false;
  UpdateReach();
}

void Server::RemoveQuota(const Key& key) {
  auto node = quotas_.extract(key);
  if (node.empty()) return;
  observer_.OnQuotaSpec(&node.mapped(), nullptr);
  node.mapped().version = ++version_;
  if (node.mapped().tree) specs_version_ = version_;
  if (node.mapped().tree) UpdateReach();
  Announce(node.mapped().resource(), "DELETED", ToJson(node.mapped()));
}

void Server::PutNamespace(const std::string& name, const Labels& labels) {
  const auto held = namespaces_.find(name);
  const bool existed = held != namespaces_.end();
  if (existed && held->second.labels == labels) return;
  StoredNamespace& stored = namespaces_[name];
  stored.name = name;
  stored.labels = labels;
  if (!existed) stored.uid = NewUid();
  stored.version = labels_version_ = ++version_;
  const bool added = had_.insert(name).second;
  UpdateReach(added ? name : "");
  Announce(Resource::kNamespaces, existed ? "MODIFIED" : "ADDED", ToJson(stored));
}

void Server::MarkNamespace(const std::string& name) {
  const auto held = namespaces_.find(name);
  if (held == namespaces_.end() || held->second.going) return;
  held->second.going = true;
  held->second.version = ++version_;
  Announce(Resource::kNamespaces, "MODIFIED", ToJson(held->second));
}

bool Server::RemoveOneIn(const std::string& ns) {
  for (const Resource resource : {Resource::kClaims, Resource::kSecrets}) {
    const auto first = things(resource).lower_bound({ns, ""});
    if (first == things(resource).end() || first->first.first != ns) continue;
    Remove(resource, Key(first->first));
    return true;
  }
  const auto quota = quotas_.lower_bound({ns, ""});
  if (quota == quotas_.end() || quota->first.first != ns) return false;
  RemoveQuota(Key(quota->first));
  return true;
}

void Server::RemoveNamespace(const std::string& name) {
  if (!namespaces_.contains(name)) return;
  while (RemoveOneIn(name)) continue;
  auto node = namespaces_.extract(name);
  node.mapped().version = labels_version_ = ++version_;
  UpdateReach();
  Announce(Resource::kNamespaces, "DELETED", ToJson(node.mapped()));
}

const StoredNamespace* Server::FindNamespace(const std::string& name) const {
  const auto found = namespaces_.find(name);
  return found == namespaces_.end() ? nullptr : &found->second;
}

bool Server::TakesNew(const std::string& ns) const {
  const StoredNamespace* const stored = FindNamespace(ns);
  return !HasTree(api_) || (stored != nullptr && !stored->going);
}

bool Server::HasNamespace(const std::string& name) const {
  return !HasTree(api_) || namespaces_.contains(name);
}

void Server::UpdateReach(const std::string& added) {
  if (!HasTree(api_)) return;
  std::vector<std::pair<const StoredQuota*, bool>> changed;
  auto reaches = ReachesOf(quotas_, namespaces_);
  for (auto& [key, quota] : quotas_) {
    std::set<std::string> reach = std::move(reaches[key]);
    if (reach == quota.reach) continue;
    std::set<std::string> before = std::exchange(quota.reach, reach);
    // A new namespace moves no usage, so a quota does not gain by it.
    before.insert(added);
    const bool gained = !std::ranges::includes(before, reach);
    changed.emplace_back(&quota, gained);
  }
  // All reaches are computed before the observer looks at any of them.
  observer_.OnTree();
  for (const auto& [quota, gained] : changed) observer_.OnReach(*quota, gained);
}

void Server::PutClass(const std::string& name, const Amounts& says) {
  const auto held = classes_.find(name);
  const bool existed = held != classes_.end();
  if (existed && held->second.says == says) return;
  const StoredClass before = existed ? held->second : StoredClass();
  StoredClass& stored = classes_[name];
  stored.name = name;
  stored.says = says;
  if (!existed) stored.uid = NewUid();
  stored.version = classes_version_ = ++version_;
  observer_.OnClass(existed ? &before : nullptr, &stored);
  Announce(Resource::kClasses, existed ? "MODIFIED" : "ADDED", ToJson(stored));
}

void Server::RemoveClass(const std::string& name) {
  auto node = classes_.extract(name);
  if (node.empty()) return;
  node.mapped().version = classes_version_ = ++version_;
  observer_.OnClass(&node.mapped(), nullptr);
  Announce(Resource::kClasses, "DELETED", ToJson(node.mapped()));
}

void Server::WriteStatus(const Key& key, const Amounts& hard, const Amounts& used) {
  const auto found = quotas_.find(key);
  if (found == quotas_.end()) return;
  const StoredQuota before = found->second;
  StoredQuota& quota = found->second;
  if (quota.status_hard == hard && quota.status_used == used) return;
  quota.status_hard = hard;
  quota.status_used = used;
  quota.hard_texts.clear();
  quota.used_texts.clear();
  Edited(before, quota);
}

void Server::WriteText(const Key& key, bool used, const std::string& name,
                       const std::string& text) {
  const auto found = quotas_.find(key);
  if (found == quotas_.end()) return;
  const StoredQuota before = found->second;
  StoredQuota& quota = found->second;
  std::optional<Amounts>& amounts = used ? quota.status_used : quota.status_hard;
  Texts& texts = used ? quota.used_texts : quota.hard_texts;
  const json::Object one{{name, text}};
  const json::Value patch(one);
  Merge(&patch, amounts, texts);
  Edited(before, quota);
}

void Server::WriteReservations(const Key& key, const std::string& text) {
  const auto found = quotas_.find(key);
  if (found == quotas_.end() || found->second.reservations == text) return;
  const StoredQuota before = found->second;
  found->second.reservations = text;
  Edited(before, found->second);
}

void Server::WriteFurther(const Key& key, const json::Object& further) {
  const auto found = quotas_.find(key);
  if (found == quotas_.end() || found->second.further == further) return;
  const StoredQuota before = found->second;
  found->second.further = further;
  Edited(before, found->second);
}

void Server::Edited(const StoredQuota& before, StoredQuota& quota) {
  quota.version = ++version_;
  NoteManager(before, quota, "somebody");
  observer_.OnStatus(before, quota);
  Announce(quota.resource(), "MODIFIED", ToJson(quota));
}

base::Result<client::ApiResponse> Server::PatchStatus(const Key& key,
                                                      const client::ApiRequest& request) {
  const auto patch = json::Parse(request.body);
  if (!patch) return patch.error();
  StoredQuota& quota = quotas_.at(key);
  const std::string_view version = patch->StringAt({"metadata", "resourceVersion"});
  const std::string_view uid = patch->StringAt({"metadata", "uid"});
  // As in the API server, a patch without a version or uid has no such guard.
  const bool other = (!version.empty() && version != std::to_string(quota.version)) ||
                     (!uid.empty() && uid != quota.uid);
  if (other) return Refusal(ErrorCode::kConflict, 409, "the object has been modified");
  const StoredQuota before = quota;
  Merge(patch->At({"status", "hard"}), quota.status_hard, quota.hard_texts);
  Merge(patch->At({"status", "used"}), quota.status_used, quota.used_texts);
  MergeFurther(patch->At({"status"}), quota);
  const std::string_view reservations =
      quota.tree ? patch->StringAt({"status", "reservations"})
                 : patch->StringAt({"metadata", "annotations", quota::kReservations});
  if (!reservations.empty()) quota.reservations = reservations;
  const bool changed =
      before.status_hard != quota.status_hard || before.status_used != quota.status_used ||
      before.hard_texts != quota.hard_texts || before.used_texts != quota.used_texts ||
      before.reservations != quota.reservations || before.further != quota.further;
  // A write that changes nothing makes no version and no event. The judge still sees it, because a
  // replica should not make such a write.
  if (changed) quota.version = ++version_;
  NoteManager(before, quota, ManagerOf(request));
  observer_.OnStatus(before, quota);
  if (changed) Announce(quota.resource(), "MODIFIED", ToJson(quota));
  return Ok(ToJson(quota));
}

base::Result<client::ApiResponse> Server::HandleLease(const client::ApiRequest& request) {
  if (request.verb == "GET" || request.verb == "PUT") {
    if (lease_.IsNull()) return Refusal(ErrorCode::kNotFound, 404, "no lease");
  }
  if (request.verb == "GET") return Ok(lease_text_);
  const bool exists = request.verb == "POST" && !lease_.IsNull();
  if (exists) return Refusal(ErrorCode::kAlreadyExists, 409, "the lease exists");
  auto body = json::Parse(request.body);
  if (!body) return body.error();
  const auto version_of = [](const json::Value& lease) {
    return lease.StringAt({"metadata", "resourceVersion"});
  };
  if (request.verb == "PUT" && version_of(*body) != version_of(lease_)) {
    return Refusal(ErrorCode::kConflict, 409, "the lease was modified");
  }
  lease_ = std::move(*body);
  lease_.Make({"metadata", "resourceVersion"}) = std::to_string(++version_);
  lease_.Make({"metadata", "uid"}) = "lease";
  lease_text_ = json::Write(lease_);
  return Ok(lease_text_);
}

std::string Server::ListBody(Resource resource, const std::string& ns, const std::string& name,
                             bool metadata) const {
  std::string items;
  const auto add = [&](const std::string& of, const std::string& json) {
    if (!ns.empty() && ns != of) return;
    if (!items.empty()) items += ",";
    items += json;
  };
  if (resource == Resource::kQuotas || resource == Resource::kClusterQuotas) {
    for (const auto& [key, quota] : quotas_) {
      if (quota.resource() == resource) add(key.first, ToJson(quota));
    }
  } else if (resource == Resource::kClasses) {
    for (const auto& [of_name, of] : classes_) add("", ToJson(of));
  } else if (resource == Resource::kNamespaces) {
    for (const auto& [of_name, of] : namespaces_) {
      if (name.empty() || name == of_name) add("", ToJson(of));
    }
  } else if (resource == Resource::kWebhooks) {
    for (const auto& [of_name, webhook] : webhooks_) add("", ToJson(webhook));
  } else {
    for (const auto& [key, thing] : things(resource)) {
      add(key.first, metadata ? MetadataToJson(thing) : ToJson(thing));
    }
  }
  std::string text = R"({"kind":")";
  text.append(metadata ? "PartialObjectMetadataList" : "List");
  text += R"(","apiVersion":"v1","metadata":{"resourceVersion":")";
  text.append(std::to_string(version_)).append(R"("},"items":[)");
  return text.append(items).append("]}");
}

void Server::PutWebhook(const std::string& name, int seconds) {
  const bool existed = webhooks_.contains(name);
  if (!existed && seconds == 0) return;
  StoredWebhook& webhook = webhooks_[name];
  webhook = {.name = name, .version = ++version_, .seconds = seconds};
  const char* const changed = existed ? "MODIFIED" : "ADDED";
  const std::string json = ToJson(webhook);
  if (seconds == 0) webhooks_.erase(name);
  Announce(Resource::kWebhooks, seconds == 0 ? "DELETED" : changed, json);
}

base::Duration Server::SlowestWebhook() const {
  int seconds = 0;
  for (const auto& [name, webhook] : webhooks_) seconds = std::max(seconds, webhook.seconds);
  return std::chrono::seconds(seconds);
}

void Server::Backup() {
  backup_ = {version_, quotas_, claims_, secrets_, earlier_, webhooks_, lease_, namespaces_};
  version_ += kOfOthers;
}

void Server::Restore(bool silent) {
  version_ = backup_.version;
  quotas_ = backup_.quotas;
  claims_ = backup_.claims;
  secrets_ = backup_.secrets;
  earlier_ = backup_.earlier;
  webhooks_ = backup_.webhooks;
  lease_ = backup_.lease;
  lease_text_ = json::Write(lease_);
  namespaces_ = backup_.namespaces;
  // etcd has no events from before a restore, so a watch from an older version gets 410.
  history_.clear();
  oldest_ = version_;
  silent_ = silent;
  away_ = false;
  ++restores_;
  labels_version_ = specs_version_ = version_;
  UpdateReach();
}

base::Result<bool> Server::ShowsFrom(std::uint64_t version) const {
  if (away_) return Away();
  if (version < oldest_) return Refusal(ErrorCode::kExpired, 410, "too old resource version");
  if (version <= version_) return true;
  if (silent_) return false;
  Error error = Refusal(ErrorCode::kTimeout, 504, "Too large resource version");
  error.too_large_resource_version = true;
  return error;
}

base::Result<client::ApiResponse> Server::Handle(const client::ApiRequest& request) {
  if (away_) return Away();
  if (request.path == "/api") return Discover(true, api_);
  if (request.path == "/apis") return Discover(false, api_);
  if (request.path == "/version") return Ok(R"({"major":"1","minor":"36"})");
  if (request.path.starts_with(kLeases)) return HandleLease(request);
  const Path path = Path::Of(request.path);
  const std::optional<Resource> resource = CollectionAt("/" + path.resource);
  if (!resource) return Refusal(ErrorCode::kNotFound, 404, "no such path: " + request.path);
  if (path.name.empty())
    return Ok(ListBody(*resource, path.ns, NameAskedFor(request), AsksForMetadata(request)));
  const Key key{path.ns, path.name};
  const StoredQuota* const quota = FindQuota(key);
  if (quota == nullptr || quota->resource() != *resource)
    return Refusal(ErrorCode::kNotFound, 404, "not found: " + request.path);
  if (request.verb == "PATCH" && path.status) return PatchStatus(key, request);
  return Ok(ToJson(*quota));
}

}  // namespace simulation
