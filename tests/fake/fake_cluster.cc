#include "tests/fake/fake_cluster.h"

#include <algorithm>

#include "pkg/base/text.h"

namespace fake {
namespace {

base::Error Failure(base::ErrorCode code, int status, std::string message) {
  return {.code = code, .message = std::move(message), .http_status = status};
}

api::ObjectKey KeyOf(const json::Value& object) {
  return {std::string(object.StringAt({"metadata", "namespace"})),
          std::string(object.StringAt({"metadata", "name"}))};
}

// RFC 7386.
void Merge(json::Value& target, const json::Value& patch) {
  if (!patch.IsObject()) {
    target = patch;
    return;
  }
  if (!target.IsObject()) target = json::Object();
  for (const auto& [name, value] : *patch.AsObject()) {
    if (value.IsNull()) {
      target.AsObject()->Erase(name);
    } else {
      Merge((*target.AsObject())[name], value);
    }
  }
}

// An "add" of RFC 6902, to a member of an object.
void Add(json::Value& target, const json::Value& operation) {
  json::Value* at = &target;
  std::string path(operation.StringAt({"path"}).substr(1));
  for (std::size_t slash = path.find('/'); slash != std::string::npos; slash = path.find('/')) {
    at = &at->Make({path.substr(0, slash)});
    path.erase(0, slash + 1);
  }
  at->Make({path}) = *operation.At({"value"});
}

// The body of a list: one piece, then the end.
class TextBody final : public http::BodyStream {
 public:
  explicit TextBody(std::string text) : text_(std::move(text)) {}
  base::Task<base::Result<std::optional<std::string>>> Read(std::chrono::milliseconds) override {
    if (done_) co_return std::optional<std::string>();
    done_ = true;
    co_return std::optional<std::string>(text_);
  }

 private:
  std::string text_;
  bool done_ = false;
};

}  // namespace

// The body of a watch: the events after its version as they come, until the watch is cut.
class WatchBody final : public http::BodyStream {
 public:
  WatchBody(FakeCluster& cluster, api::GroupVersionResource resource, std::uint64_t since)
      : cluster_(cluster),
        resource_(std::move(resource)),
        since_(since),
        alarm_(cluster.scheduler_.NewAlarm()) {
    collection().watchers.insert(alarm_.get());
    cuts_ = collection().cuts;
    silences_ = collection().silences;
  }
  ~WatchBody() override {
    const auto found = cluster_.collections_.find(resource_);
    if (found != cluster_.collections_.end()) found->second.watchers.erase(alarm_.get());
  }

  base::Task<base::Result<std::optional<std::string>>> Read(
      std::chrono::milliseconds timeout) override {
    const base::TimePoint deadline = cluster_.scheduler_.Now() + timeout;
    for (;;) {
      const auto found = cluster_.collections_.find(resource_);
      if (found == cluster_.collections_.end() || found->second.cuts != cuts_) {
        co_return std::optional<std::string>();
      }
      std::string text = Pending(found->second);
      if (!text.empty()) co_return std::optional<std::string>(std::move(text));
      const bool stopping = co_await base::Stopping();
      if (stopping) co_return Failure(base::ErrorCode::kCancelled, 0, "cancelled");
      if (cluster_.scheduler_.Now() >= deadline) {
        co_return Failure(base::ErrorCode::kTimeout, 0, "silence");
      }
      co_await alarm_->WaitUntil(deadline);
    }
  }

 private:
  FakeCluster::Collection& collection() { return cluster_.collections_.at(resource_); }

  std::string Pending(const FakeCluster::Collection& from) {
    std::string text;
    if (since_ < from.expired_below) {
      since_ = ~std::uint64_t{0};
      return "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":"
             "\"Failure\",\"reason\":\"Expired\",\"code\":410,\"message\":\"too old\"}}\n";
    }
    if (cluster_.held_.contains(resource_) || silences_ != from.silences) return text;
    auto event = std::upper_bound(
        from.history.begin(), from.history.end(), since_,
        [](std::uint64_t since, const FakeCluster::Event& later) { return since < later.version; });
    for (; event != from.history.end(); ++event) {
      text += event->line;
      since_ = event->version;
    }
    return text;
  }

  FakeCluster& cluster_;
  api::GroupVersionResource resource_;
  std::uint64_t since_;
  std::uint64_t cuts_ = 0;
  std::uint64_t silences_ = 0;
  std::unique_ptr<base::Alarm> alarm_;
};

void FakeCluster::Serve(const api::GroupVersionResource& resource, const std::string& kind,
                        bool namespaced) {
  collections_[resource].kind = kind;
  collections_[resource].namespaced = namespaced;
}

void FakeCluster::StopServing(const api::GroupVersionResource& resource) {
  CutWatches(resource);
  collections_.erase(resource);
}

json::Value FakeCluster::Stamp(const Collection& collection, json::Value object) {
  const auto held = collection.objects.find(KeyOf(object));
  if (object.StringAt({"metadata", "uid"}).empty()) {
    object.Make({"metadata", "uid"}) =
        held != collection.objects.end()
            ? std::string(held->second.StringAt({"metadata", "uid"}))
            : "00000000-0000-4000-8000-" + std::to_string(100'000'000'000 + ++uids_);
  }
  object.Make({"metadata", "resourceVersion"}) = std::to_string(++version_);
  return object;
}

void FakeCluster::Announce(const api::GroupVersionResource& resource, Collection& collection,
                           std::string_view type, const json::Value& object) {
  collection.history.push_back({version_, "{\"type\":\"" + std::string(type) +
                                              "\",\"object\":" + json::Write(object) + "}\n"});
  if (held_.contains(resource)) return;
  for (base::Alarm* watcher : collection.watchers) watcher->Wake();
}

std::string FakeCluster::Put(const api::GroupVersionResource& resource, json::Value object) {
  Collection& collection = collections_.at(resource);
  object = Stamp(collection, std::move(object));
  const api::ObjectKey key = KeyOf(object);
  const bool existed = collection.objects.contains(key);
  collection.objects[key] = object;
  Announce(resource, collection, existed ? "MODIFIED" : "ADDED", object);
  return std::to_string(version_);
}

void FakeCluster::Delete(const api::GroupVersionResource& resource, const std::string& ns,
                         const std::string& name) {
  Collection& collection = collections_.at(resource);
  auto node = collection.objects.extract({ns, name});
  if (node.empty()) return;
  node.mapped().Make({"metadata", "resourceVersion"}) = std::to_string(++version_);
  Announce(resource, collection, "DELETED", node.mapped());
}

void FakeCluster::PutUnseen(const api::GroupVersionResource& resource, json::Value object) {
  Collection& collection = collections_.at(resource);
  object = Stamp(collection, std::move(object));
  const api::ObjectKey key = KeyOf(object);
  collection.objects[key] = std::move(object);
}

void FakeCluster::DeleteUnseen(const api::GroupVersionResource& resource, const std::string& ns,
                               const std::string& name) {
  collections_.at(resource).objects.erase({ns, name});
  ++version_;
}

const json::Value* FakeCluster::Find(const api::GroupVersionResource& resource,
                                     const std::string& ns, const std::string& name) const {
  const Collection& collection = collections_.at(resource);
  const auto found = collection.objects.find({ns, name});
  return found == collection.objects.end() ? nullptr : &found->second;
}

void FakeCluster::Release(const api::GroupVersionResource& resource) {
  held_.erase(resource);
  for (base::Alarm* watcher : collections_.at(resource).watchers) watcher->Wake();
}

void FakeCluster::Silence(const api::GroupVersionResource& resource) {
  ++collections_.at(resource).silences;
}

void FakeCluster::CutWatches(const api::GroupVersionResource& resource, bool expire) {
  Collection& collection = collections_.at(resource);
  ++collection.cuts;
  if (expire) collection.expired_below = ++version_;
  for (base::Alarm* watcher : collection.watchers) watcher->Wake();
}

void FakeCluster::Backup() {
  for (const auto& [resource, collection] : collections_) backup_[resource] = collection.objects;
  backup_version_ = version_;
}

void FakeCluster::PutBack() {
  version_ = backup_version_;
  for (auto& [resource, collection] : collections_) {
    collection.objects = backup_[resource];
    std::erase_if(collection.history,
                  [this](const Event& event) { return event.version > version_; });
    CutWatches(resource);
  }
}

FakeCluster::Collection* FakeCluster::Route(const std::string& path, api::ObjectKey* key) {
  for (auto& [resource, collection] : collections_) {
    if (path == resource.Path()) return &collection;
    if (path.ends_with("/" + resource.resource) && collection.namespaced) {
      const std::string before = path.substr(0, path.size() - resource.resource.size() - 1);
      key->ns = before.substr(before.rfind('/') + 1);
      if (path == resource.Path(key->ns)) return &collection;
      key->ns.clear();
    }
    for (const auto& [object_key, object] : collection.objects) {
      const std::string own = resource.Path(object_key.ns, object_key.name);
      if (path != own && path != own + "/status") continue;
      *key = object_key;
      return &collection;
    }
  }
  return nullptr;
}

// Returns the element with this name; adds an empty one at the front if there is none.
json::Value& ElementOf(json::Array& array, std::initializer_list<std::string_view> path,
                       const std::string& name, const json::Value& fresh) {
  const auto found = std::find_if(array.begin(), array.end(), [&](const json::Value& known) {
    return known.StringAt(path) == name;
  });
  if (found != array.end()) return *found;
  return *array.insert(array.begin(), fresh);
}

json::Array FakeCluster::DescribeGroups(bool core) const {
  json::Array groups;
  const auto version_of = [&](const std::string& group,
                              const std::string& version) -> json::Value& {
    json::Value& entry = ElementOf(
        groups, {"metadata", "name"}, group,
        json::Object{{"metadata", json::Object{{"name", group}}}, {"versions", json::Array{}}});
    return ElementOf(*entry.Make({"versions"}).AsArray(), {"version"}, version,
                     json::Object{{"version", version},
                                  {"freshness", stale_.contains(group) ? "Stale" : "Current"},
                                  {"resources", json::Array{}}});
  };
  for (const auto& [resource, collection] : collections_) {
    if (resource.group.empty() != core || hidden.contains(resource.group)) continue;
    json::Value& version = version_of(resource.group, resource.version);
    if (stale_.contains(resource.group)) continue;
    const auto shorts = short_names.find(resource.resource);
    json::Array short_list;
    if (shorts != short_names.end()) {
      for (const std::string& name : shorts->second) short_list.emplace_back(name);
    }
    const auto singular = singulars.find(resource.resource);
    version.Make({"resources"})
        .AsArray()
        ->push_back(json::Object{
            {"resource", resource.resource},
            {"responseKind", json::Object{{"group", resource.group},
                                          {"version", resource.version},
                                          {"kind", collection.kind}}},
            {"scope", collection.namespaced ? "Namespaced" : "Cluster"},
            {"singularResource",
             singular == singulars.end() ? base::ToLower(collection.kind) : singular->second},
            {"shortNames", std::move(short_list)},
            {"verbs", json::Array{"create", "delete", "get", "list", "patch", "update", "watch"}}});
  }
  for (const std::string& group : stale_) {
    if (!core) version_of(group, "v1");
  }
  return groups;
}

void FakeCluster::SetStale(const std::string& group, bool stale) {
  stale ? (void)stale_.insert(group) : (void)stale_.erase(group);
  for (const auto& [resource, collection] : collections_) {
    if (resource.group == group) CutWatches(resource);
  }
}

std::optional<base::Error> FakeCluster::Away(const std::string& path) const {
  for (const std::string& group : stale_) {
    if (path.starts_with("/apis/" + group + "/")) {
      return Failure(base::ErrorCode::kUnavailable, 503, "service unavailable");
    }
  }
  return std::nullopt;
}

base::Result<client::ApiResponse> FakeCluster::Discover(const std::string& path) const {
  client::ApiResponse response{.status = 200};
  response.headers.Set("Content-Type",
                       "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");
  response.body = json::Write(json::Object{{"kind", "APIGroupDiscoveryList"},
                                           {"apiVersion", "apidiscovery.k8s.io/v2"},
                                           {"metadata", json::Object{}},
                                           {"items", DescribeGroups(path == "/api")}});
  return response;
}

base::Result<client::ApiResponse> FakeCluster::Patch(Collection& collection,
                                                     const api::ObjectKey& key,
                                                     const client::ApiRequest& request) {
  const auto patch = json::Parse(request.body);
  if (!patch) return patch.error();
  json::Value& object = collection.objects.at(key);
  json::Value patched = object;
  if (patch->IsArray()) {
    for (const json::Value& operation : *patch->AsArray()) Add(patched, operation);
  } else {
    Merge(patched, *patch);
  }
  const std::string_view guard = patched.StringAt({"metadata", "resourceVersion"});
  if (guard != object.StringAt({"metadata", "resourceVersion"})) {
    return Failure(base::ErrorCode::kConflict, 409, "the object has been modified");
  }
  Put(ResourceOf(collection), patched);
  return client::ApiResponse{.status = 200, .body = json::Write(collection.objects.at(key))};
}

const api::GroupVersionResource& FakeCluster::ResourceOf(const Collection& collection) const {
  return std::ranges::find_if(collections_,
                              [&](const auto& entry) { return &entry.second == &collection; })
      ->first;
}

base::Result<client::ApiResponse> FakeCluster::Create(Collection& collection,
                                                      const client::ApiRequest& request) {
  const auto object = json::Parse(request.body);
  if (!object) return object.error();
  const api::ObjectKey key = KeyOf(*object);
  if (collection.objects.contains(key)) {
    return Failure(base::ErrorCode::kAlreadyExists, 409, "it already exists");
  }
  Put(ResourceOf(collection), *object);
  return client::ApiResponse{.status = 201, .body = json::Write(collection.objects.at(key))};
}

base::Result<client::ApiResponse> FakeCluster::Remove(Collection& collection,
                                                      const api::ObjectKey& key,
                                                      const client::ApiRequest& request) {
  const auto options = json::Parse(request.body.empty() ? "{}" : request.body);
  if (!options) return options.error();
  const std::string_view guard = options->StringAt({"preconditions", "resourceVersion"});
  const json::Value& object = collection.objects.at(key);
  if (!guard.empty() && guard != object.StringAt({"metadata", "resourceVersion"})) {
    return Failure(base::ErrorCode::kConflict, 409, "the object has been modified");
  }
  Delete(ResourceOf(collection), key.ns, key.name);
  return client::ApiResponse{.status = 200, .body = R"({"kind":"Status","status":"Success"})"};
}

base::Task<base::Result<client::ApiResponse>> FakeCluster::Do(client::ApiRequest request) {
  if (request.verb == "PATCH" && patch_delay > base::Duration::zero()) {
    co_await scheduler_.Sleep(std::min<base::Duration>(patch_delay, request.timeout));
    if (patch_delay >= request.timeout) {
      co_return base::Error{.code = base::ErrorCode::kTimeout, .message = "no answer"};
    }
  }
  if (request.verb != "GET") writes.push_back(request);
  if (fault) {
    if (auto error = fault(request)) co_return *error;
  }
  if (stall) co_await scheduler_.Sleep(stall(request));
  if (auto error = Away(request.path)) co_return *error;
  if (request.path == "/api" || request.path == "/apis") co_return Discover(request.path);
  if (request.path == "/version") {
    co_return client::ApiResponse{
        .status = 200, .body = R"({"major":"1","minor":")" + std::to_string(minor) + "\"}"};
  }
  if (const auto document = documents.find(request.path); document != documents.end()) {
    client::ApiResponse answer{.status = 304};
    answer.headers.Set("ETag", std::to_string(std::hash<std::string>()(document->second)));
    if (request.if_none_match == answer.headers.Get("ETag")) co_return answer;
    ++document_reads;
    answer.status = 200;
    answer.body = document->second;
    co_return answer;
  }
  api::ObjectKey key;
  Collection* collection = Route(request.path, &key);
  const bool whole = collection != nullptr && key.name.empty() && request.verb == "GET";
  if (whole) {
    ++lists;
    co_return client::ApiResponse{.status = 200, .body = ListBody(*collection, {.ns = key.ns})};
  }
  const bool creates = collection != nullptr && key.name.empty() && request.verb == "POST";
  if (creates) co_return Create(*collection, request);
  if (collection == nullptr || !collection->objects.contains(key)) {
    co_return Failure(base::ErrorCode::kNotFound, 404, "not found: " + request.path);
  }
  if (request.verb == "DELETE") co_return Remove(*collection, key, request);
  if (request.verb == "PATCH") {
    auto patched = Patch(*collection, key, request);
    if (patch_answer_delay > base::Duration::zero()) co_await scheduler_.Sleep(patch_answer_delay);
    if (!lose_answer || !lose_answer(request)) co_return patched;
    co_return lost;
  }
  co_return client::ApiResponse{.status = 200, .body = json::Write(collection->objects.at(key))};
}

FakeCluster::Selection FakeCluster::SelectionOf(const client::ApiRequest& request,
                                                const std::string& ns) {
  Selection selection{.ns = ns};
  selection.metadata = request.accept.find("as=PartialObjectMetadataList") != std::string::npos;
  for (const auto& [name, value] : request.query) {
    if (name == "fieldSelector") selection.name = value.substr(value.find('=') + 1);
  }
  return selection;
}

std::string FakeCluster::ListBody(const Collection& collection, const Selection& selection) const {
  json::Array items;
  for (const auto& [key, object] : collection.objects) {
    const bool selected = (selection.ns.empty() || selection.ns == key.ns) &&
                          (selection.name.empty() || selection.name == key.name);
    if (!selected) continue;
    items.push_back(object);
    if (!selection.metadata) continue;
    items.back() = json::Object{{"metadata", *object.At({"metadata"})}};
  }
  return json::Write(
      json::Object{{"kind", collection.kind + "List"},
                   {"metadata", json::Object{{"resourceVersion", std::to_string(version_)}}},
                   {"items", std::move(items)}});
}

base::Task<base::Result<std::unique_ptr<http::BodyStream>>> FakeCluster::Stream(
    client::ApiRequest request) {
  if (fault) {
    if (auto error = fault(request)) co_return *error;
  }
  if (auto error = Away(request.path)) co_return *error;
  if (stall) co_await scheduler_.Sleep(stall(request));
  api::ObjectKey key;
  Collection* collection = Route(request.path, &key);
  if (collection == nullptr) {
    co_return Failure(base::ErrorCode::kNotFound, 404, "not found: " + request.path);
  }
  std::string since;
  bool watch = false;
  for (const auto& [name, value] : request.query) {
    if (name == "watch") watch = true;
    if (name == "resourceVersion") since = value;
  }
  std::unique_ptr<http::BodyStream> body;
  if (watch) {
    ++watches;
    for (const auto& [resource, own] : collections_) {
      if (&own != collection) continue;
      body = std::make_unique<WatchBody>(*this, resource, std::stoull(since));
    }
  } else {
    ++lists;
    listed.push_back(request);
    body = std::make_unique<TextBody>(ListBody(*collection, SelectionOf(request, key.ns)));
  }
  co_return base::Result<std::unique_ptr<http::BodyStream>>(std::move(body));
}

}  // namespace fake
